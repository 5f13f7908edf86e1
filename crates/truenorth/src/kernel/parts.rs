//! Inner loops over the parts of a matrix whose columns fall into parts.

use pulp::{Simd, WithSimd};

use super::{Aligned, Scores};
use crate::blocks::{Blocks, Part, start};
use crate::parted::Parted;
use crate::round::Actions;
use crate::triangle::SIDE;

/// Room for a round.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room {
    x: Outer,
    /// What each action makes of the table.
    sums: Vec<[f64; SIDE]>,
}

/// An action's values and their products, which the next action may have, too.
#[derive(Debug, Clone, Default)]
struct Outer {
    values: Vec<f64>,
    /// What rows of a table of this width are multiplied by, filled up with zeros to whole fours of lines.
    factors: Aligned,
    width: usize,
    /// x_i², and 2 x_i x_j for j < i, as a part stores them; empty until a form asks for them.
    products: Vec<f64>,
    /// Part, place and value of each feature.
    entries: Vec<(usize, usize, f64)>,
}

impl Outer {
    /// Takes the values of an action.
    #[inline(always)]
    fn set(&mut self, values: &[f64], width: usize) {
        if self.values.len() == values.len() && self.width == width && self.has(values) {
            return;
        }
        self.values.clear();
        self.values.extend_from_slice(values);
        self.width = width;
        self.products.clear();
        self.factors.resize((values.len() * width).next_multiple_of(FOUR));
        let factors = self.factors.get_mut();
        factors[values.len() * width..].fill(0.0);
        for (factors, x) in factors.chunks_exact_mut(width).zip(values) {
            factors[..width - 2].fill(*x);
            factors[width - 2..].fill(x * x);
        }
    }

    /// Whether these are the last values, bit for bit; without a branch for each, so that vectors compare them.
    #[inline(always)]
    fn has(&self, values: &[f64]) -> bool {
        let mut differ = 0;
        for (a, b) in values.as_chunks::<SIDE>().0.iter().zip(self.values.as_chunks::<SIDE>().0) {
            for i in 0..SIDE {
                differ |= a[i].to_bits() ^ b[i].to_bits();
            }
        }
        // The last ones, some of them again.
        if let (Some(a), Some(b)) = (values.last_chunk::<SIDE>(), self.values.last_chunk::<SIDE>()) {
            for i in 0..SIDE {
                differ |= a[i].to_bits() ^ b[i].to_bits();
            }
            return differ == 0;
        }
        values.iter().zip(&self.values).all(|(a, b)| a.to_bits() == b.to_bits())
    }

    #[inline(always)]
    fn products(&mut self) -> &[f64] {
        if self.products.is_empty() {
            self.products.reserve(start(self.values.len()));
            for (i, x) in self.values.iter().enumerate() {
                self.products.extend(self.values[..i].iter().map(|y| 2.0 * x * y));
                self.products.push(x * x);
            }
        }
        &self.products
    }
}

/// Numbers of four lines.
const FOUR: usize = 4 * SIDE;
/// By how much a bound of a variance is larger than it has to be: more than rewards can bring by rounding.
const SLACK: f64 = 1e-6;

/// Means and radii of the rows of a round.
pub(crate) struct Rows<'a> {
    pub(crate) known: &'a Parted,
    pub(crate) actions: Actions<'a>,
    /// Factor on the root of the variance.
    pub(crate) norm: f64,
    /// Where only the largest index is asked for, that lies between once the radius and so many times it above the mean: who cannot
    /// have it is given no radius.
    pub(crate) widest: Option<f64>,
    pub(crate) scores: &'a mut Scores,
    pub(crate) room: &'a mut Room,
}

impl WithSimd for &mut Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Rows { known, actions, norm, widest, scores, room } = self;
        let (count, norm) = (actions.count(), *norm);
        // Whole vectors, as after a pass over panels.
        scores.resize(count.next_multiple_of(SIDE));
        let Scores { mean: means, statistical: radii, bias } = &mut **scores;
        let (means, radii) = (&mut means[..count], &mut radii[..count]);
        bias.fill(0.0);
        let Room { x, sums } = &mut **room;
        let table = &known.table;
        sums.resize(count, [0.0; SIDE]);
        let sums = &mut sums[..count];
        // One pass that only multiplies and adds, so that nothing in it waits.
        if let Some((arms, values)) = actions.arms() {
            x.set(values, table.width);
            let factors = x.factors.get();
            for (first, sums) in arms.zip(&mut *sums) {
                table.along_from(simd, first, factors, sums);
            }
        } else {
            for (k, sums) in sums.iter_mut().enumerate() {
                let (columns, values) = actions.entries(k);
                x.set(values, table.width);
                table.along(simd, columns, x.factors.get(), sums);
            }
        }
        // The mean and a for the unknowns are in lanes: what comes of these are products of lines.
        let unknowns = known.common.len();
        let (mut common, mut spread) = ([0.0; SIDE], [[0.0; SIDE]; SIDE]);
        common[0] = 1.0;
        common[1..=unknowns].copy_from_slice(&known.common);
        for (to, row) in spread.iter_mut().zip(known.spread.chunks_exact(unknowns.max(1))) {
            to[1..=unknowns].copy_from_slice(row);
        }
        let mut highest = 0;
        for (k, sums) in sums.iter_mut().enumerate() {
            let mut moved = [0.0; SIDE];
            for (i, row) in spread.iter().enumerate().take(unknowns) {
                for lane in 0..SIDE {
                    moved[lane] += sums[1 + i] * row[lane];
                }
            }
            means[k] = halved(sums, &common);
            sums[0] = halved(sums, &moved);
            radii[k] = 0.0;
            highest = if means[k] > means[highest] { k } else { highest };
        }
        let widest = widest.map(|widest| (widest * norm).powi(2) * (1.0 + SLACK));
        let (mut best, first) = (f64::NEG_INFINITY, widest.map(|_| highest));
        for k in first.into_iter().chain(0..count) {
            let (mean, sums) = (means[k], &sums[k]);
            let (mut square, own) = (sums[0], sums[table.width - 1]);
            if sums[table.width - 2] == 0.0 {
                // All its columns are parts of their own.
                square += own;
            } else {
                let (most, gap) = (own + square.max(0.0), best - mean);
                // What is no number is looked at.
                if widest.is_some_and(|widest| gap > 0.0 && gap * gap > widest * most) {
                    continue;
                }
                let (columns, values) = actions.entries(k);
                x.set(values, table.width);
                square += form(simd, &known.inverse, columns, x);
            }
            radii[k] = norm * f64::sqrt(square.max(0.0));
            // No less than what rounding makes of it.
            let index = mean + radii[k];
            best = best.max(index - 1e-12 * index.abs());
        }
    }
}

/// Sum of the products of two lines, by halves.
#[inline(always)]
fn halved(left: &[f64; SIDE], right: &[f64; SIDE]) -> f64 {
    let mut products = [0.0; SIDE];
    for lane in 0..SIDE {
        products[lane] = left[lane] * right[lane];
    }
    let [a, b, c, d, e, f, g, h] = products;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Several numbers for each column, side by side: what a row of some columns makes of each of them takes one pass, without a sum
/// across vectors.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    /// Numbers for each column: half a line or a whole one.
    width: usize,
    numbers: Aligned,
}

impl Table {
    /// For each column its mean and what the unknowns move, and what goes with squares: whether it is in a part with others, and its limit.
    pub(crate) fn new(mean: &[f64], shared: &[Vec<f64>], limits: &[f64], inverse: &Blocks) -> Self {
        let width = if shared.len() + 3 <= SIDE / 2 { SIDE / 2 } else { SIDE };
        let mut numbers = Aligned::default();
        // A row may be filled up from behind the last column.
        numbers.resize(mean.len() * width + FOUR);
        numbers.get_mut().fill(0.0);
        let mut table = Self { width, numbers };
        for (column, limit) in limits.iter().enumerate() {
            let joined = inverse.part(inverse.place(column).0).side() > 1;
            table.set(column, (mean[column], shared), joined, *limit);
        }
        table
    }

    /// Takes what has become of a column.
    #[inline]
    pub(crate) fn set(
        &mut self,
        column: usize,
        (mean, shared): (f64, &[Vec<f64>]),
        joined: bool,
        limit: f64,
    ) {
        let numbers = &mut self.numbers.get_mut()[column * self.width..][..self.width];
        numbers[0] = mean;
        for (to, shared) in numbers[1..].iter_mut().zip(shared) {
            *to = shared[column];
        }
        numbers[self.width - 2] = f64::from(u8::from(joined));
        numbers[self.width - 1] = limit;
    }

    /// `xᵀ` of each; where the columns of an action follow each other, which they mostly do, line by line.
    #[inline(always)]
    fn along<S: Simd>(&self, simd: S, columns: &[usize], factors: &[f64], to: &mut [f64; SIDE]) {
        match columns {
            [first, .., last] if last - first + 1 == columns.len() => {
                self.along_from(simd, *first, factors, to);
            }
            _ => {
                let width = self.width;
                *to = [0.0; SIDE];
                for (column, factors) in columns.iter().zip(factors.chunks_exact(width)) {
                    let numbers = &self.numbers.get()[column * width..][..width];
                    for i in 0..width {
                        to[i] += factors[i] * numbers[i];
                    }
                }
            }
        }
    }

    /// The same for columns that follow each other from this one on.
    #[inline(always)]
    fn along_from<S: Simd>(&self, simd: S, first: usize, factors: &[f64], to: &mut [f64; SIDE]) {
        let line = lines(simd, &self.numbers.get()[first * self.width..][..factors.len()], factors);
        *to = line;
        if self.width < SIDE {
            for i in 0..SIDE / 2 {
                to[i] = line[i] + line[SIDE / 2 + i];
            }
        }
    }
}

/// Products of lines, four at a time, added up.
#[inline(always)]
fn lines<S: Simd>(simd: S, left: &[f64], right: &[f64]) -> [f64; SIDE] {
    // Which one is known when this is compiled.
    match FOUR / S::F64_LANES {
        4 => lines_by::<S, 4>(simd, left, right),
        8 => lines_by::<S, 8>(simd, left, right),
        16 => lines_by::<S, 16>(simd, left, right),
        _ => lines_by::<S, FOUR>(simd, left, right),
    }
}

#[inline(always)]
fn lines_by<S: Simd, const VECTORS: usize>(simd: S, left: &[f64], right: &[f64]) -> [f64; SIDE] {
    let mut sums = [simd.splat_f64s(0.0); VECTORS];
    for (left, right) in left.as_chunks::<FOUR>().0.iter().zip(right.as_chunks::<FOUR>().0) {
        let (left, right) = (S::as_simd_f64s(left).0, S::as_simd_f64s(right).0);
        for i in 0..VECTORS {
            sums[i] = simd.mul_add_e_f64s(left[i], right[i], sums[i]);
        }
    }
    let (mut line, each) = ([0.0; SIDE], VECTORS / 4);
    for (i, to) in S::as_mut_simd_f64s(&mut line).0.iter_mut().enumerate() {
        let halves =
            [simd.add_f64s(sums[i], sums[2 * each + i]), simd.add_f64s(sums[each + i], sums[3 * each + i])];
        *to = simd.add_f64s(halves[0], halves[1]);
    }
    line
}

/// `xᵀMx`.
#[inline(always)]
fn form<S: Simd>(simd: S, blocks: &Blocks, columns: &[usize], x: &mut Outer) -> f64 {
    match blocks.run(columns) {
        Some((part, 0)) if x.values.len() == part.side() => return dot(simd, &part.entries, x.products()),
        Some((part, place)) => return run(simd, part, place, &x.values),
        None => {}
    }
    let Outer { values, entries, .. } = x;
    entries.clear();
    let mut sum = 0.0;
    for (&column, &value) in columns.iter().zip(&*values) {
        let (part, at) = blocks.place(column);
        // A column that no reward has told about is a part of its own.
        match *blocks.part(part).entries {
            [entry] => sum += value * value * entry,
            _ => entries.push((part, at, value)),
        }
    }
    entries.sort_unstable_by_key(|&(part, at, _)| (part, at));
    for entries in entries.chunk_by(|a, b| a.0 == b.0) {
        let part = blocks.part(entries[0].0);
        for (n, &(_, i, value)) in entries.iter().enumerate() {
            let row = part.row(i);
            let below: f64 = entries[..n].iter().map(|&(_, j, other)| row[j] * other).sum();
            sum += value * (2.0 * below + row[i] * value);
        }
    }
    sum
}

/// The form of values at places that follow each other.
#[inline(always)]
fn run<S: Simd>(simd: S, part: &Part, place: usize, values: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (n, value) in values.iter().enumerate() {
        let row = &part.row(place + n)[place..];
        sum += value * (2.0 * dot(simd, &row[..n], &values[..n]) + row[n] * value);
    }
    sum
}

/// Sum of products, in interleaved parts whose number does not depend on the machine: as many vectors as make up 32 numbers.
#[inline(always)]
fn dot<S: Simd>(simd: S, left: &[f64], right: &[f64]) -> f64 {
    // Which one is known when this is compiled.
    match 32 / S::F64_LANES {
        4 => dot_by::<S, 4>(simd, left, right),
        8 => dot_by::<S, 8>(simd, left, right),
        16 => dot_by::<S, 16>(simd, left, right),
        _ => dot_by::<S, 32>(simd, left, right),
    }
}

#[inline(always)]
fn dot_by<S: Simd, const VECTORS: usize>(simd: S, left: &[f64], right: &[f64]) -> f64 {
    let mut parts = [simd.splat_f64s(0.0); VECTORS];
    let (left, left_rest) = left.as_chunks::<32>();
    let (right, right_rest) = right.as_chunks::<32>();
    for (left, right) in left.iter().zip(right) {
        let (left, right) = (S::as_simd_f64s(left).0, S::as_simd_f64s(right).0);
        for part in 0..VECTORS {
            parts[part] = simd.mul_add_e_f64s(left[part], right[part], parts[part]);
        }
    }
    let (left, left_rest) = left_rest.as_chunks::<SIDE>();
    let (right, right_rest) = right_rest.as_chunks::<SIDE>();
    for (line, (left, right)) in left.iter().zip(right).enumerate() {
        let (left, right) = (S::as_simd_f64s(left).0, S::as_simd_f64s(right).0);
        for i in 0..SIDE / S::F64_LANES {
            let part = line * (SIDE / S::F64_LANES) + i;
            parts[part] = simd.mul_add_e_f64s(left[i], right[i], parts[part]);
        }
    }
    let mut rest = 0.0;
    for (&left, &right) in left_rest.iter().zip(right_rest) {
        rest = if S::IS_SCALAR { left * right + rest } else { left.mul_add(right, rest) };
    }
    let mut sums = [[0.0; SIDE]; 4];
    S::as_mut_simd_f64s(sums.as_flattened_mut()).0.copy_from_slice(&parts);
    let [a, b, c, d] = sums;
    let mut all = [0.0; SIDE];
    for i in 0..SIDE {
        all[i] = (a[i] + b[i]) + (c[i] + d[i]);
    }
    let [a, b, c, d, e, f, g, h] = all;
    rest + (((a + b) + (c + d)) + ((e + f) + (g + h)))
}

/// `w = Mx` for x at some places of a part.
pub(crate) struct Product<'a> {
    pub(crate) part: &'a Part,
    /// Places with their values.
    pub(crate) x: &'a [(usize, f64)],
    pub(crate) to: &'a mut Vec<f64>,
}

impl WithSimd for &mut Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Product { part, x, to } = self;
        to.clear();
        to.resize(part.side(), 0.0);
        for &(i, value) in *x {
            axpy(simd, value, part.row(i), &mut to[..=i]);
            let mut at = start(i + 1) + i;
            for (below, entry) in to[i + 1..].iter_mut().enumerate() {
                *entry += value * part.entries[at];
                at += i + 2 + below;
            }
        }
    }
}

/// `M - factor wwᵀ`, of a part.
pub(crate) struct Shrink<'a> {
    pub(crate) part: &'a mut Part,
    pub(crate) w: &'a [f64],
    pub(crate) factor: f64,
}

impl WithSimd for &mut Shrink<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let mut rest = &mut *self.part.entries;
        for (i, w) in self.w.iter().enumerate() {
            let (row, below) = rest.split_at_mut(i + 1);
            rest = below;
            if *w != 0.0 {
                axpy(simd, -self.factor * w, &self.w[..=i], row);
            }
        }
    }
}

/// Adds `factor` times a vector.
#[inline(always)]
fn axpy<S: Simd>(simd: S, factor: f64, from: &[f64], to: &mut [f64]) {
    let (from, from_rest) = S::as_simd_f64s(from);
    let (to, to_rest) = S::as_mut_simd_f64s(to);
    let vector = simd.splat_f64s(factor);
    for (to, &from) in to.iter_mut().zip(from) {
        *to = simd.mul_add_e_f64s(vector, from, *to);
    }
    for (to, &from) in to_rest.iter_mut().zip(from_rest) {
        *to = if S::IS_SCALAR { factor * from + *to } else { factor.mul_add(from, *to) };
    }
}

#[cfg(test)]
mod tests {
    use pulp::Arch;

    use super::*;
    use crate::parted::{self, NO_LIMIT};
    use crate::round::Row;

    /// Means and radii of rows that follow each other, lie apart, touch several parts or none.
    fn scores(arch: Arch, widest: Option<f64>) -> [Vec<f64>; 2] {
        let number = |i: usize| ((i * 7919) % 10_007) as f64 / 10_007.0 - 0.5;
        let (mut known, mut room) =
            (Parted::ridge((0..60).map(|i| 1.0 + number(i))), parted::Room::default());
        known = known.with_common(vec![(0..60).map(number).collect()], vec![0.3]);
        known.limit(|_| NO_LIMIT);
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in [&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10][..], &[11, 12, 13], &[20, 25, 40], &[0, 12, 58], &[]]
        {
            columns.extend(row);
            values.extend(row.iter().map(|column| number(column + 77)));
            starts.push(columns.len());
        }
        for k in [0, 1, 2, 0] {
            let range = starts[k]..starts[k + 1];
            known.update(Row::sparse(&columns[range.clone()], &values[range]), 0.4, &mut room);
        }
        let actions = Actions::sparse(&starts, &columns, &values, 60).unwrap();
        let (mut scores, mut room) = (Scores::default(), Room::default());
        arch.dispatch(&mut Rows {
            known: &known,
            actions,
            norm: 0.7,
            widest,
            scores: &mut scores,
            room: &mut room,
        });
        [scores.mean, scores.statistical].map(|numbers| numbers[..5].to_vec())
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn vectors_of_four_and_of_eight_agree_to_the_last_bit_on_parts() {
        let (Some(four), Some(eight)) = (pulp::x86::V3::try_new(), pulp::x86::V4::try_new()) else {
            eprintln!("skipped: this processor does not have both");
            return;
        };
        for widest in [None, Some(1.0)] {
            assert_eq!(scores(Arch::V3(four), widest), scores(Arch::V4(eight), widest));
        }
    }

    #[test]
    fn what_is_left_out_cannot_have_the_largest_upper_end() {
        let ([means, radii], [_, some]) = (scores(Arch::new(), None), scores(Arch::new(), Some(1.0)));
        let best = (0..5).map(|k| means[k] + radii[k]).fold(f64::NEG_INFINITY, f64::max);
        for k in 0..5 {
            let same = (some[k] - radii[k]).abs() < f64::EPSILON;
            assert!(same || some[k].abs() < f64::EPSILON && means[k] + radii[k] < best, "{k}");
        }
    }
}
