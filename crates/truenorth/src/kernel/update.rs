//! Rank-one updates: one pass over memory for all triangles that the same vector touches.

use pulp::{Simd, WithSimd};

use crate::triangle::{Block, Line, SIDE, Triangle};

/// Room for what an update carries from row to row.
#[derive(Debug, Clone, Default)]
pub(crate) struct Carried {
    features: Vec<Line>,
    sums: Vec<Line>,
    /// What the estimate carries, and `1 + ‖v‖²` so far, where several rows are absorbed.
    of_estimate: f64,
    pub(crate) growth: f64,
}

impl Carried {
    /// Room for one factor and a vector like this.
    pub(crate) fn of(features: &[f64]) -> Self {
        let mut carried = Self::default();
        carried.prepare(features, 1);
        carried
    }

    /// Copies a vector to whole lines and makes room for so many sums of its length.
    #[inline(always)]
    fn prepare(&mut self, features: &[f64], count: usize) {
        let length = features.len().div_ceil(SIDE);
        if self.features.len() != length || self.sums.len() != count * length {
            self.features.resize(length, Line::default());
            self.sums.resize(count * length, Line::default());
        }
        for (to, from) in self.features.iter_mut().zip(Line::lines(features)) {
            *to = from;
        }
    }
}

/// Absorbs one observation: with `v = Lx`, replaces `U = Lᵀ` by `UK`, every `F` by `FK` and z by `Kᵀ(z + reward · v)`
/// for the upper triangular K with `KKᵀ = I - vvᵀ/(1 + ‖v‖²)`. Returns `1 + ‖v‖²`.
///
/// ```text
/// α_0 = 1,  α_j = α_{j-1} + v_j²,   K_jj = √(α_{j-1}/α_j),   K_ij = -v_i v_j / √(α_{j-1} α_j)
/// ```
///
/// Eight rows of L (columns of U) are read for their `v_j`, and changed at once: nothing below them enters.
pub(crate) struct Absorb<'a> {
    pub(crate) factor: &'a mut Triangle,
    pub(crate) maps: &'a mut [Triangle],
    pub(crate) estimate: &'a mut [f64],
    pub(crate) features: &'a [f64],
    pub(crate) reward: f64,
    pub(crate) carried: &'a mut Carried,
}

impl WithSimd for &mut Absorb<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let Absorb { factor, maps, estimate, features, reward, carried } = self;
        let reward = *reward;
        carried.prepare(features, 1 + maps.len());
        // Σ v_i X_i over the columns passed so far, of U and of every F.
        let Carried { features: lines, sums, .. } = carried;
        let (of_factor, of_maps) = sums.split_at_mut(lines.len());
        let (mut alpha, mut of_estimate) = (1.0, 0.0);
        let mut rest = &mut *factor.blocks;
        let mut whitened = dots(simd, &rest[..1], lines);
        for (t, entries) in estimate.chunks_mut(SIDE).enumerate() {
            let (blocks, below) = rest.split_at_mut(t + 1);
            rest = below;
            let columns = Columns::new(simd, whitened, &mut alpha);
            // Those of the next rows, while the roots of these are being drawn.
            whitened = match rest.get(..t + 2) {
                Some(next) => dots(simd, next, lines),
                None => [0.0; SIDE],
            };
            columns.multiply(simd, blocks, of_factor, entries.len());
            for (map, sums) in maps.iter_mut().zip(of_maps.chunks_exact_mut(lines.len())) {
                columns.multiply(simd, &mut map.blocks[t * (t + 1) / 2..][..=t], sums, entries.len());
            }
            columns.multiply_vector(simd, entries, reward, &mut of_estimate);
        }
        alpha
    }
}

/// Absorbs several observations, one or more, one after the other, in one pass over memory: no row of L is read again once all have
/// changed it. Every number is the one that [`Absorb`] would give.
pub(crate) struct AbsorbMany<'a> {
    pub(crate) factor: &'a mut Triangle,
    pub(crate) estimate: &'a mut [f64],
    /// Features and rewards.
    pub(crate) rows: &'a [(&'a [f64], f64)],
    /// Room for each row, where `1 + ‖v‖²` is left.
    pub(crate) carried: &'a mut Vec<Carried>,
}

impl WithSimd for &mut AbsorbMany<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let AbsorbMany { factor, estimate, rows, carried } = self;
        carried.resize(carried.len().max(rows.len()), Carried::default());
        for (carried, (features, _)) in carried.iter_mut().zip(&**rows) {
            carried.prepare(features, 1);
            (carried.of_estimate, carried.growth) = (0.0, 1.0);
        }
        let mut rest = &mut *factor.blocks;
        for (t, entries) in estimate.chunks_mut(SIDE).enumerate() {
            let (blocks, below) = rest.split_at_mut(t + 1);
            rest = below;
            for (carried, (_, reward)) in carried.iter_mut().zip(&**rows) {
                let Carried { features, sums, of_estimate, growth } = carried;
                let columns = Columns::new(simd, dots(simd, blocks, features), growth);
                columns.multiply(simd, blocks, sums, entries.len());
                columns.multiply_vector(simd, entries, *reward, of_estimate);
            }
        }
    }
}

/// Eight columns of K.
struct Columns {
    /// `v_j`.
    whitened: [f64; SIDE],
    /// `K_jj`.
    scale: [f64; SIDE],
    /// `-K_ij / v_i` for `i < j`.
    mix: [f64; SIDE],
}

impl Columns {
    /// Moves α over these columns.
    #[inline(always)]
    fn new<S: Simd>(simd: S, whitened: [f64; SIDE], alpha: &mut f64) -> Self {
        let passed = running_sums(whitened, whitened);
        let (mut before, mut after) = ([0.0; SIDE], [0.0; SIDE]);
        for j in 0..SIDE {
            before[j] = *alpha + passed[j];
            after[j] = *alpha + passed[j + 1];
        }
        *alpha = after[SIDE - 1];
        let (mut scale, mut mix) = ([0.0; SIDE], [0.0; SIDE]);
        {
            let (before, after) = (S::as_simd_f64s(&before).0, S::as_simd_f64s(&after).0);
            let whitened = S::as_simd_f64s(&whitened).0;
            let (scale, mix) = (S::as_mut_simd_f64s(&mut scale).0, S::as_mut_simd_f64s(&mut mix).0);
            for part in 0..SIDE / S::F64_LANES {
                scale[part] = simd.sqrt_f64s(simd.div_f64s(before[part], after[part]));
                mix[part] = simd.mul_f64s(scale[part], simd.div_f64s(whitened[part], before[part]));
            }
        }
        Self { whitened, scale, mix }
    }

    /// Replaces the first `count` of these columns of X by those of XK, given what the columns before them carry.
    #[inline(always)]
    fn multiply<S: Simd>(&self, simd: S, blocks: &mut [Block], carried: &mut [Line], count: usize) {
        carried[blocks.len() - 1] = Line::default();
        match count {
            8 => self.multiply_first::<S, 8>(simd, blocks, carried),
            7 => self.multiply_first::<S, 7>(simd, blocks, carried),
            6 => self.multiply_first::<S, 6>(simd, blocks, carried),
            5 => self.multiply_first::<S, 5>(simd, blocks, carried),
            4 => self.multiply_first::<S, 4>(simd, blocks, carried),
            3 => self.multiply_first::<S, 3>(simd, blocks, carried),
            2 => self.multiply_first::<S, 2>(simd, blocks, carried),
            _ => self.multiply_first::<S, 1>(simd, blocks, carried),
        }
    }

    /// Replaces these entries of z by those of `Kᵀ(z + reward · v)`, given what those before them carry.
    #[inline(always)]
    fn multiply_vector<S: Simd>(&self, simd: S, entries: &mut [f64], reward: f64, carried: &mut f64) {
        let (mut moved, mut before) = ([0.0; SIDE], [0.0; SIDE]);
        for (moved, &entry) in moved.iter_mut().zip(&*entries) {
            *moved = entry;
        }
        let whitened = S::as_simd_f64s(&self.whitened).0;
        for (moved, &whitened) in S::as_mut_simd_f64s(&mut moved).0.iter_mut().zip(whitened) {
            *moved = simd.mul_add_e_f64s(simd.splat_f64s(reward), whitened, *moved);
        }
        let passed = running_sums(self.whitened, moved);
        for j in 0..SIDE {
            before[j] = *carried + passed[j];
        }
        *carried += passed[SIDE];
        let before = S::as_simd_f64s(&before).0;
        let (scale, mix) = (S::as_simd_f64s(&self.scale).0, S::as_simd_f64s(&self.mix).0);
        for (part, moved) in S::as_mut_simd_f64s(&mut moved).0.iter_mut().enumerate() {
            let kept = simd.mul_f64s(scale[part], *moved);
            *moved = simd.sub_f64s(kept, simd.mul_f64s(mix[part], before[part]));
        }
        for (entry, &moved) in entries.iter_mut().zip(&moved) {
            *entry = moved;
        }
    }

    #[inline(always)]
    fn multiply_first<S: Simd, const ROWS: usize>(
        &self,
        simd: S,
        blocks: &mut [Block],
        carried: &mut [Line],
    ) {
        let splat = |numbers: [f64; SIDE]| numbers.map(|number| simd.splat_f64s(number));
        let (whitened, scale, mix) =
            (splat(self.whitened), splat(self.scale), splat(self.mix.map(|mix| -mix)));
        for (Block(rows), Line(carried)) in blocks.iter_mut().zip(carried) {
            for (part, carried) in S::as_mut_simd_f64s(carried).0.iter_mut().enumerate() {
                let mut sum = *carried;
                for j in 0..ROWS {
                    let entry = &mut S::as_mut_simd_f64s(&mut rows[j]).0[part];
                    let old = *entry;
                    *entry = simd.mul_add_e_f64s(mix[j], sum, simd.mul_f64s(scale[j], old));
                    sum = simd.mul_add_e_f64s(whitened[j], old, sum);
                }
                *carried = sum;
            }
        }
    }
}

/// Sums of the first 0 to 8 products. Pairs and fours are added up first, so that no sum waits for seven others.
#[inline(always)]
fn running_sums(left: [f64; SIDE], right: [f64; SIDE]) -> [f64; SIDE + 1] {
    let mut products = [0.0; SIDE];
    for j in 0..SIDE {
        products[j] = left[j] * right[j];
    }
    let [a, b, c, d, e, f, g, h] = products;
    let (ab, cd, ef, gh) = (a + b, c + d, e + f, g + h);
    let (abcd, efgh) = (ab + cd, ef + gh);
    [0.0, a, ab, ab + c, abcd, abcd + e, abcd + ef, abcd + (ef + g), abcd + efgh]
}

/// Inner products of eight rows with a vector, each in eight interleaved parts whatever the width of a vector is.
#[inline(always)]
fn dots<S: Simd>(simd: S, blocks: &[Block], features: &[Line]) -> [f64; SIDE] {
    // A line is one vector or two; without vectors its numbers are added up one by one.
    let mut sums = [[simd.splat_f64s(0.0); SIDE]; 2];
    for (Block(rows), Line(features)) in blocks.iter().zip(features) {
        for (part, &feature) in S::as_simd_f64s(features).0.iter().enumerate() {
            for (sum, row) in sums[part % 2].iter_mut().zip(rows) {
                *sum = simd.mul_add_e_f64s(S::as_simd_f64s(row).0[part], feature, *sum);
            }
        }
    }
    let [first, second] = sums;
    let mut found = [0.0; SIDE];
    // Loops, not closures: a closure that is not inlined would know of no vectors.
    #[cfg(target_arch = "x86_64")]
    if let Some(&simd) = <dyn std::any::Any>::downcast_ref::<pulp::x86::V4>(&simd) {
        let mut rows = [[0.0; SIDE]; SIDE];
        for j in 0..SIDE {
            S::as_mut_simd_f64s(&mut rows[j]).0[0] = first[j];
        }
        return wide::sums(simd, &rows);
    }
    for j in 0..SIDE {
        let both = S::F64_LANES < SIDE;
        found[j] = simd.reduce_sum_f64s(if both { simd.add_f64s(first[j], second[j]) } else { first[j] });
    }
    found
}

/// The same sums for vectors of eight, in fewer steps.
#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::__m512d;

    use pulp::cast;
    use pulp::x86::V4;

    #[inline(always)]
    pub(super) fn sums(simd: V4, rows: &[[f64; 8]; 8]) -> [f64; 8] {
        let [a, b, c, d, e, f, g, h] = *rows;
        // Halves, quarters and pairs are added, each step for two rows at once.
        let even = quarters(simd, halves(simd, cast(a), cast(c)), halves(simd, cast(e), cast(g)));
        let odd = quarters(simd, halves(simd, cast(b), cast(d)), halves(simd, cast(f), cast(h)));
        let simd = simd.avx512f;
        cast(simd._mm512_add_pd(simd._mm512_unpacklo_pd(even, odd), simd._mm512_unpackhi_pd(even, odd)))
    }

    #[inline(always)]
    fn halves(simd: V4, a: __m512d, b: __m512d) -> __m512d {
        let simd = simd.avx512f;
        let low = simd._mm512_shuffle_f64x2::<0b01_00_01_00>(a, b);
        simd._mm512_add_pd(low, simd._mm512_shuffle_f64x2::<0b11_10_11_10>(a, b))
    }

    #[inline(always)]
    fn quarters(simd: V4, a: __m512d, b: __m512d) -> __m512d {
        let simd = simd.avx512f;
        let even = simd._mm512_shuffle_f64x2::<0b10_00_10_00>(a, b);
        simd._mm512_add_pd(even, simd._mm512_shuffle_f64x2::<0b11_01_11_01>(a, b))
    }
}

/// Adds `Σ xxᵀ` of some vectors to a symmetric matrix.
pub(crate) struct AddSquares<'a> {
    pub(crate) gram: &'a mut Triangle,
    /// One after the other, in whole lines.
    pub(crate) vectors: &'a [Line],
}

impl WithSimd for &mut AddSquares<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let length = self.gram.dimension.div_ceil(SIDE);
        let mut rest = &mut *self.gram.blocks;
        for t in 0..length {
            let (blocks, below) = rest.split_at_mut(t + 1);
            rest = below;
            for (c, Block(sums)) in blocks.iter_mut().enumerate() {
                for vector in self.vectors.chunks_exact(length) {
                    let columns = S::as_simd_f64s(&vector[c].0).0;
                    for (sums, &row) in sums.iter_mut().zip(&vector[t].0) {
                        for (sum, &column) in S::as_mut_simd_f64s(sums).0.iter_mut().zip(columns) {
                            *sum = simd.mul_add_e_f64s(simd.splat_f64s(row), column, *sum);
                        }
                    }
                }
            }
        }
    }
}

/// One diagonal entry of what [`AddSquares`] gives, to the last bit, from what it was.
pub(crate) struct AddSquare<'a> {
    pub(crate) start: f64,
    pub(crate) dimension: usize,
    pub(crate) column: usize,
    pub(crate) vectors: &'a [Line],
}

impl WithSimd for &mut AddSquare<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let mut sum = simd.splat_f64s(self.start);
        for vector in self.vectors.chunks_exact(self.dimension.div_ceil(SIDE)) {
            let number = simd.splat_f64s(vector[self.column / SIDE].0[self.column % SIDE]);
            sum = simd.mul_add_e_f64s(number, number, sum);
        }
        let mut sums = [0.0; SIDE];
        S::as_mut_simd_f64s(&mut sums).0[0] = sum;
        sums[0]
    }
}
