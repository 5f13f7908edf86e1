//! Means and norms of many actions by the branches of a layer.
//!
//! With the packed inverse factor L of a [`Precision`], whitened actions `v = Lx` give everything:
//!
//! ```text
//! ‖x‖² in V⁻¹ = ‖v‖²,    xᵀθ̂ = vᵀz,    ‖N V⁻¹x‖² = ‖Fv‖²
//! ```
//!
//! L is triangular, so a form takes d² flops instead of the 2d² of a square matrix. Eight rows of L meet three panels of
//! actions at a time: their sums stay in registers, and every number that is loaded is used often.

use pulp::{Simd, WithSimd};

use super::{Aligned, Panels};
use crate::branch::{BranchInterval, Radius};
use crate::precision::Precision;
use crate::triangle::{Block, SIDE, Triangle};

/// Means and radii of some actions by one branch; longer than their number by what fills the last panel.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scores {
    pub(crate) mean: Vec<f64>,
    pub(crate) statistical: Vec<f64>,
    pub(crate) bias: Vec<f64>,
}

impl Scores {
    pub(crate) fn push(&mut self, interval: BranchInterval) {
        self.mean.push(interval.mean);
        self.statistical.push(interval.statistical);
        self.bias.push(interval.bias);
    }

    #[inline(always)]
    pub(crate) fn resize(&mut self, length: usize) {
        if self.mean.len() != length {
            for numbers in [&mut self.mean, &mut self.statistical, &mut self.bias] {
                numbers.resize(length, 0.0);
            }
        }
    }
}

/// One branch, and where its numbers go.
pub(crate) struct Measured<'a> {
    pub(crate) precision: &'a Precision,
    pub(crate) radius: Radius,
    pub(crate) scores: &'a mut Scores,
}

impl Measured<'_> {
    /// A few actions of a few features, for which panels are not worth their while. Every number is computed as it
    /// would be in a panel.
    #[inline(always)]
    fn few<S: Simd>(&mut self, features: &[f64], rows: &[usize]) {
        self.scores.resize(SIDE);
        match self.precision.whitened_estimate.len() {
            1 => self.few_of::<S, 1>(features, rows),
            2 => self.few_of::<S, 2>(features, rows),
            3 => self.few_of::<S, 3>(features, rows),
            4 => self.few_of::<S, 4>(features, rows),
            5 => self.few_of::<S, 5>(features, rows),
            6 => self.few_of::<S, 6>(features, rows),
            7 => self.few_of::<S, 7>(features, rows),
            _ => self.few_of::<S, 8>(features, rows),
        }
    }

    #[inline(always)]
    fn few_of<S: Simd, const DIMENSION: usize>(&mut self, features: &[f64], rows: &[usize]) {
        let (estimate, factor) = (&self.precision.whitened_estimate, &*self.precision.factor.blocks);
        let (Some(estimate), [Block(factor)]) = (estimate.first_chunk::<DIMENSION>(), factor) else { return };
        let (actions, _) = features.as_chunks::<DIMENSION>();
        let Scores { mean, statistical, bias } = &mut *self.scores;
        for (((&row, mean), statistical), bias) in rows.iter().zip(mean).zip(statistical).zip(bias) {
            let x = &actions[row];
            let mut square = 0.0;
            (*mean, *bias) = (0.0, 0.0);
            for j in 0..DIMENSION {
                let mut whitened = 0.0;
                for i in 0..=j {
                    whitened = multiply_add::<S>(factor[j][i], x[i], whitened);
                }
                square = multiply_add::<S>(whitened, whitened, square);
                *mean = multiply_add::<S>(estimate[j], whitened, *mean);
            }
            *statistical = self.radius.norm * f64::sqrt(square);
        }
    }
}

/// Fused where vectors are.
#[inline(always)]
fn multiply_add<S: Simd>(a: f64, b: f64, c: f64) -> f64 {
    if S::IS_SCALAR { a * b + c } else { a.mul_add(b, c) }
}

/// Scores actions by the branches of a layer.
pub(crate) struct Branches<'a> {
    /// Features and rows to gather first, unless the panels are as they should be.
    pub(crate) actions: Option<(&'a [f64], &'a [usize])>,
    pub(crate) dimension: usize,
    pub(crate) panels: &'a mut Panels,
    /// Whether the panels will be needed again.
    pub(crate) keep: bool,
    pub(crate) measured: [Option<Measured<'a>>; 2],
    /// Room for the whitened actions of three panels.
    pub(crate) whitened: &'a mut Aligned,
}

impl WithSimd for &mut Branches<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Branches { actions, dimension, panels, keep, measured, whitened } = self;
        let dimension = *dimension;
        if let Some((features, rows)) = *actions {
            let mut radii = measured.iter().flatten().map(|measured| measured.radius);
            let plain = radii.all(|radius| radius.bias <= 0.0 && radius.offline <= 0.0);
            if !*keep && plain && dimension <= SIDE && rows.len() <= SIDE {
                for measured in measured.iter_mut().flatten() {
                    measured.few::<S>(features, rows);
                }
                return;
            }
            panels.gather(simd, features, dimension, rows);
        }
        let panels = S::as_simd_f64s(panels.numbers.get()).0;
        for Measured { precision, radius, scores } in measured.iter_mut().flatten() {
            scores.resize(panels.len() / dimension * S::F64_LANES);
            let maps = [(precision.maps.first(), radius.bias), (precision.maps.get(1), radius.offline)]
                .map(|(map, factor)| map.filter(|_| factor > 0.0).map(|map| (map, factor)));
            if maps.iter().any(Option::is_some) {
                whitened.resize(3 * dimension.next_multiple_of(SIDE) * S::F64_LANES);
            }
            let mut branch = Branch {
                factor: &precision.factor.blocks,
                estimate: &precision.whitened_estimate,
                norm: radius.norm,
                maps,
                whitened: S::as_mut_simd_f64s(whitened.get_mut()).0,
                mean: S::as_mut_simd_f64s(&mut scores.mean).0,
                statistical: S::as_mut_simd_f64s(&mut scores.statistical).0,
                bias: S::as_mut_simd_f64s(&mut scores.bias).0,
            };
            let mut first = 0;
            for group in panels.chunks(3 * dimension) {
                match group.len() / dimension {
                    3 => branch.measure::<3>(simd, group, first),
                    2 => branch.measure::<2>(simd, group, first),
                    _ => branch.measure::<1>(simd, group, first),
                }
                first += 3;
            }
        }
    }
}

struct Branch<'a, S: Simd> {
    factor: &'a [Block],
    estimate: &'a [f64],
    norm: f64,
    /// The certificate's and the logs' own.
    maps: [Option<(&'a Triangle, f64)>; 2],
    whitened: &'a mut [S::f64s],
    mean: &'a mut [S::f64s],
    statistical: &'a mut [S::f64s],
    bias: &'a mut [S::f64s],
}

impl<S: Simd> Branch<'_, S> {
    /// Scores the actions of some panels, of which the first has this index.
    #[inline(always)]
    fn measure<const PANELS: usize>(&mut self, simd: S, panels: &[S::f64s], first: usize) {
        let keep = self.maps.iter().any(Option::is_some).then_some(&mut *self.whitened);
        let panels = split(panels, self.estimate.len());
        let sums = whiten::<S, PANELS>(simd, self.factor, self.estimate, panels, keep);
        let bias = self.routed::<PANELS>(simd, self.maps[0]);
        let offline = self.routed::<PANELS>(simd, self.maps[1]);
        let norm = simd.splat_f64s(self.norm);
        for p in 0..PANELS {
            let statistical = simd.mul_f64s(norm, simd.sqrt_f64s(sums.squares[p]));
            self.mean[first + p] = sums.means[p];
            self.statistical[first + p] = simd.add_f64s(statistical, offline[p]);
            self.bias[first + p] = bias[p];
        }
    }

    /// A map's norms of the actions that were whitened last, times its factor.
    #[inline(always)]
    fn routed<const PANELS: usize>(&self, simd: S, map: Option<(&Triangle, f64)>) -> [S::f64s; PANELS] {
        let mut norms = [simd.splat_f64s(0.0); PANELS];
        if let Some((map, factor)) = map {
            let whitened = split(self.whitened, self.estimate.len().next_multiple_of(SIDE));
            let squares = route::<S, PANELS>(simd, map, whitened);
            for p in 0..PANELS {
                norms[p] = simd.mul_f64s(simd.splat_f64s(factor), simd.sqrt_f64s(squares[p]));
            }
        }
        norms
    }
}

/// The first so many parts of a length.
#[inline(always)]
fn split<V, const PARTS: usize>(numbers: &[V], length: usize) -> [&[V]; PARTS] {
    let mut parts: [&[V]; PARTS] = [&[]; PARTS];
    for p in 0..PARTS {
        parts[p] = &numbers[p * length..][..length];
    }
    parts
}

struct Sums<S: Simd, const PANELS: usize> {
    squares: [S::f64s; PANELS],
    means: [S::f64s; PANELS],
}

/// `‖v‖²` and `vᵀz` of the actions of some panels; keeps `v = Lx` on demand, with zeros beyond the dimension.
#[inline(always)]
fn whiten<S: Simd, const PANELS: usize>(
    simd: S,
    factor: &[Block],
    estimate: &[f64],
    panels: [&[S::f64s]; PANELS],
    mut whitened: Option<&mut [S::f64s]>,
) -> Sums<S, PANELS> {
    let mut sums = Sums { squares: [simd.splat_f64s(0.0); PANELS], means: [simd.splat_f64s(0.0); PANELS] };
    let mut rest = factor;
    for (t, weights) in estimate.chunks(SIDE).enumerate() {
        let (blocks, below) = rest.split_at(t + 1);
        rest = below;
        let mut tile = Tile { blocks, weights, whitened: whitened.as_deref_mut() };
        match weights.len() {
            // Half as many registers hold half as many sums.
            8 if S::F64_LANES < 8 && PANELS > 1 => {
                tile.multiply::<S, PANELS, 0, 4>(simd, panels, &mut sums);
                tile.multiply::<S, PANELS, 4, 8>(simd, panels, &mut sums);
            }
            8 => tile.multiply::<S, PANELS, 0, 8>(simd, panels, &mut sums),
            7 => tile.multiply::<S, PANELS, 0, 7>(simd, panels, &mut sums),
            6 => tile.multiply::<S, PANELS, 0, 6>(simd, panels, &mut sums),
            5 => tile.multiply::<S, PANELS, 0, 5>(simd, panels, &mut sums),
            4 => tile.multiply::<S, PANELS, 0, 4>(simd, panels, &mut sums),
            3 => tile.multiply::<S, PANELS, 0, 3>(simd, panels, &mut sums),
            2 => tile.multiply::<S, PANELS, 0, 2>(simd, panels, &mut sums),
            _ => tile.multiply::<S, PANELS, 0, 1>(simd, panels, &mut sums),
        }
    }
    sums
}

/// Eight rows of a factor, the last of which may have fewer.
struct Tile<'a, V> {
    /// The last one lies on the diagonal.
    blocks: &'a [Block],
    /// z of these rows.
    weights: &'a [f64],
    whitened: Option<&'a mut [V]>,
}

impl<V: Copy> Tile<'_, V> {
    /// `v = Lx` for the rows from FIRST up to END, added up to `‖v‖²` and `vᵀz`.
    #[inline(always)]
    fn multiply<S: Simd<f64s = V>, const PANELS: usize, const FIRST: usize, const END: usize>(
        &mut self,
        simd: S,
        panels: [&[S::f64s]; PANELS],
        sums: &mut Sums<S, PANELS>,
    ) {
        let Some((diagonal, blocks)) = self.blocks.split_last() else { return };
        let zero = simd.splat_f64s(0.0);
        let mut products = [[zero; PANELS]; SIDE];
        let row = blocks.len() * SIDE;
        let full = panels.map(|panel| &panel[..row]);
        for (b, Block(entries)) in blocks.iter().enumerate() {
            for c in 0..SIDE {
                let features = full.map(|panel| panel[b * SIDE + c]);
                for r in FIRST..END {
                    let entry = simd.splat_f64s(entries[r][c]);
                    for p in 0..PANELS {
                        products[r][p] = simd.mul_add_e_f64s(entry, features[p], products[r][p]);
                    }
                }
            }
        }
        let last = panels.map(|panel| &panel[row..][..END]);
        for c in 0..END {
            let features = last.map(|panel| panel[c]);
            for r in FIRST.max(c)..END {
                let entry = simd.splat_f64s(diagonal.0[r][c]);
                for p in 0..PANELS {
                    products[r][p] = simd.mul_add_e_f64s(entry, features[p], products[r][p]);
                }
            }
        }
        for r in FIRST..END {
            let weight = simd.splat_f64s(self.weights[r]);
            for p in 0..PANELS {
                let value = products[r][p];
                sums.squares[p] = simd.mul_add_e_f64s(value, value, sums.squares[p]);
                sums.means[p] = simd.mul_add_e_f64s(weight, value, sums.means[p]);
            }
        }
        if let Some(whitened) = &mut self.whitened {
            let length = panels[0].len().next_multiple_of(SIDE);
            for p in 0..PANELS {
                let whitened = &mut whitened[p * length + row..][..SIDE];
                for r in FIRST..SIDE {
                    whitened[r] = products[r][p];
                }
            }
        }
    }
}

/// `‖Fv‖²` of whitened actions, given the lower triangular `Fᵀ`. d² flops an action.
#[inline(always)]
fn route<S: Simd, const PANELS: usize>(
    simd: S,
    transposed: &Triangle,
    whitened: [&[S::f64s]; PANELS],
) -> [S::f64s; PANELS] {
    let mut squares = [simd.splat_f64s(0.0); PANELS];
    let tiles = transposed.dimension.div_ceil(SIDE);
    for column in 0..tiles {
        // Rows of F are columns of what is stored. Eight of them at a time, or four where registers are few.
        if S::F64_LANES < 8 && PANELS > 1 {
            route_columns::<S, PANELS, 0, 4>(simd, transposed, column, whitened, &mut squares);
            route_columns::<S, PANELS, 4, 8>(simd, transposed, column, whitened, &mut squares);
        } else {
            route_columns::<S, PANELS, 0, 8>(simd, transposed, column, whitened, &mut squares);
        }
    }
    squares
}

#[inline(always)]
fn route_columns<S: Simd, const PANELS: usize, const FIRST: usize, const END: usize>(
    simd: S,
    transposed: &Triangle,
    column: usize,
    whitened: [&[S::f64s]; PANELS],
    squares: &mut [S::f64s; PANELS],
) {
    let mut sums = [[simd.splat_f64s(0.0); PANELS]; SIDE];
    for row in column..whitened[0].len() / SIDE {
        let Block(entries) = &transposed.blocks[row * (row + 1) / 2 + column];
        let values = whitened.map(|whitened| &whitened[row * SIDE..][..SIDE]);
        for j in 0..SIDE {
            for r in FIRST..END {
                for p in 0..PANELS {
                    sums[r][p] =
                        simd.mul_add_e_f64s(simd.splat_f64s(entries[j][r]), values[p][j], sums[r][p]);
                }
            }
        }
    }
    for sums in &sums[FIRST..END] {
        for p in 0..PANELS {
            squares[p] = simd.mul_add_e_f64s(sums[p], sums[p], squares[p]);
        }
    }
}

/// Finds the favourite of every draw of the parameter: `xᵀθ = (Lx)ᵀ(z + deviation · ξ)`.
pub(crate) struct Sampled<'a> {
    pub(crate) precision: &'a Precision,
    pub(crate) panels: &'a Panels,
    pub(crate) deviation: f64,
    /// ξ, draw after draw.
    pub(crate) normals: &'a [f64],
    /// Value and index of each draw's favourite.
    pub(crate) best: &'a mut [(f64, usize)],
    pub(crate) whitened: &'a mut Aligned,
}

impl WithSimd for &mut Sampled<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Sampled { precision, panels, deviation, normals, best, whitened } = self;
        let (factor, estimate) = (&*precision.factor.blocks, &*precision.whitened_estimate);
        let dimension = estimate.len();
        whitened.resize(dimension.next_multiple_of(SIDE) * S::F64_LANES);
        let whitened = S::as_mut_simd_f64s(whitened.get_mut()).0;
        let deviation = simd.splat_f64s(*deviation);
        for (index, panel) in S::as_simd_f64s(panels.numbers.get()).0.chunks_exact(dimension).enumerate() {
            let [means] = whiten(simd, factor, estimate, [panel], Some(&mut *whitened)).means;
            let first = index * S::F64_LANES;
            let lanes = S::F64_LANES.min(panels.count - first);
            for (draw, best) in normals.chunks_exact(dimension).zip(&mut **best) {
                let mut moved = simd.splat_f64s(0.0);
                for (&normal, &value) in draw.iter().zip(&*whitened) {
                    moved = simd.mul_add_e_f64s(simd.splat_f64s(normal), value, moved);
                }
                let mut values = [0.0; SIDE];
                S::as_mut_simd_f64s(&mut values).0[0] = simd.mul_add_e_f64s(deviation, moved, means);
                for (lane, &value) in values[..lanes].iter().enumerate() {
                    if value > best.0 {
                        *best = (value, first + lane);
                    }
                }
            }
        }
    }
}
