//! Inner loops over the parts of a matrix whose columns fall into parts.

use pulp::{Simd, WithSimd};

use super::Scores;
use crate::blocks::{Blocks, Part, start};
use crate::parted::{MOST_UNKNOWNS, Parted};
use crate::round::Actions;
use crate::triangle::SIDE;

/// Room for a round.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room {
    x: Outer,
    /// What the unknowns in common add to an action's variance, and the most that its index can be.
    shared: Vec<f64>,
    most: Vec<f64>,
}

/// An action's values and their products, which the next action may have, too.
#[derive(Debug, Clone, Default)]
struct Outer {
    /// Values and their squares, filled up with zeros to whole lines.
    values: Vec<f64>,
    squares: Vec<f64>,
    length: usize,
    /// x_i², and 2 x_i x_j for j < i, as a part stores them; empty until a form asks for them.
    products: Vec<f64>,
    /// Part, place and value of each feature.
    entries: Vec<(usize, usize, f64)>,
}

impl Outer {
    /// Takes the values of an action.
    #[inline(always)]
    fn set(&mut self, values: &[f64]) {
        if self.length == values.len() && self.has(values) {
            return;
        }
        self.length = values.len();
        self.values.clear();
        self.values.extend_from_slice(values);
        self.values.resize(values.len().next_multiple_of(SIDE), 0.0);
        self.squares.clear();
        self.squares.extend(self.values.iter().map(|x| x * x));
        self.products.clear();
    }

    /// The first column, where the others follow it, and so many behind them that there are whole lines. Mostly there are.
    #[inline(always)]
    fn run(&self, columns: &[usize], dimension: usize) -> Option<usize> {
        let (&first, &last) = (columns.first()?, columns.last()?);
        (last - first + 1 == columns.len() && first + self.values.len() <= dimension).then_some(first)
    }

    /// Whether these are the last values, bit for bit; without a branch for each, so that vectors compare them.
    #[inline(always)]
    fn has(&self, values: &[f64]) -> bool {
        let (lines, rest) = values.as_chunks::<SIDE>();
        let (mine, mine_rest) = self.values[..values.len()].as_chunks::<SIDE>();
        let mut differ = 0;
        for (a, b) in lines.iter().zip(mine) {
            for i in 0..SIDE {
                differ |= a[i].to_bits() ^ b[i].to_bits();
            }
        }
        for (a, b) in rest.iter().zip(mine_rest) {
            differ |= a.to_bits() ^ b.to_bits();
        }
        differ == 0
    }

    #[inline(always)]
    fn products(&mut self) -> &[f64] {
        if self.products.is_empty() {
            self.products.reserve(start(self.length));
            for (i, x) in self.values[..self.length].iter().enumerate() {
                self.products.extend(self.values[..i].iter().map(|y| 2.0 * x * y));
                self.products.push(x * x);
            }
        }
        &self.products
    }
}

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
        let Room { x, shared: squares, most } = &mut **room;
        squares.resize(count, 0.0);
        most.resize(count, 0.0);
        let (squares, most) = (&mut squares[..count], &mut most[..count]);
        let unknowns = known.common.len().min(MOST_UNKNOWNS);
        let widest = widest.filter(|_| known.limits.len() == known.mean.len());
        for k in 0..count {
            let (columns, values) = actions.entries(k);
            x.set(values);
            let run = x.run(columns, known.mean.len());
            let mut mean = along(simd, &known.mean, run, columns, &x.values);
            let (mut a, mut square) = ([0.0; MOST_UNKNOWNS], 0.0);
            for (i, vector) in known.shared.iter().enumerate().take(unknowns) {
                a[i] = along(simd, vector, run, columns, &x.values);
                mean += a[i] * known.common[i];
            }
            for (i, row) in known.spread.chunks_exact(unknowns.max(1)).enumerate().take(unknowns) {
                let mut sum = 0.0;
                for (c, a_j) in row.iter().zip(&a) {
                    sum += c * a_j;
                }
                square += a[i] * sum;
            }
            means[k] = mean;
            squares[k] = square;
            if widest.is_some() {
                most[k] = along(simd, &known.limits, run, columns, &x.squares) + square.max(0.0);
            } else {
                radii[k] = norm * f64::sqrt((square + form(simd, &known.inverse, columns, x)).max(0.0));
            }
        }
        let Some(widest) = widest else { return };
        let (mut best, mut highest) = (f64::NEG_INFINITY, 0);
        for k in 0..count {
            radii[k] = 0.0;
            most[k] = means[k] + widest * (norm * f64::sqrt(most[k] * (1.0 + SLACK)));
        }
        for k in 0..count {
            if most[k] > best {
                (best, highest) = (most[k], k);
            }
        }
        best = f64::NEG_INFINITY;
        for k in [highest].into_iter().chain(0..count) {
            // What is no number is looked at.
            if most[k] < best {
                continue;
            }
            let (columns, values) = actions.entries(k);
            x.set(values);
            radii[k] = norm * f64::sqrt((squares[k] + form(simd, &known.inverse, columns, x)).max(0.0));
            best = best.max(means[k] + radii[k]);
        }
    }
}

/// `xᵀv`, for x filled up to whole lines.
#[inline(always)]
fn along<S: Simd>(simd: S, vector: &[f64], run: Option<usize>, columns: &[usize], values: &[f64]) -> f64 {
    if let Some(first) = run {
        return lines(simd, &vector[first..][..values.len()], values);
    }
    let mut sum = 0.0;
    for (&column, value) in columns.iter().zip(values) {
        sum += value * vector[column];
    }
    sum
}

/// Sum of products of whole lines.
#[inline(always)]
fn lines<S: Simd>(simd: S, left: &[f64], right: &[f64]) -> f64 {
    // Which one is known when this is compiled.
    match SIDE / S::F64_LANES {
        1 => lines_by::<S, 1>(simd, left, right),
        2 => lines_by::<S, 2>(simd, left, right),
        4 => lines_by::<S, 4>(simd, left, right),
        _ => lines_by::<S, SIDE>(simd, left, right),
    }
}

#[inline(always)]
fn lines_by<S: Simd, const VECTORS: usize>(simd: S, left: &[f64], right: &[f64]) -> f64 {
    let mut sums = [simd.splat_f64s(0.0); VECTORS];
    for (left, right) in left.as_chunks::<SIDE>().0.iter().zip(right.as_chunks::<SIDE>().0) {
        let (left, right) = (S::as_simd_f64s(left).0, S::as_simd_f64s(right).0);
        for i in 0..VECTORS {
            sums[i] = simd.mul_add_e_f64s(left[i], right[i], sums[i]);
        }
    }
    // By halves, down to one number, as every vector adds up its own.
    let mut half = VECTORS;
    while half > 1 {
        half /= 2;
        for i in 0..half {
            sums[i] = simd.add_f64s(sums[i], sums[i + half]);
        }
    }
    simd.reduce_sum_f64s(sums[0])
}

/// `xᵀMx`.
#[inline(always)]
fn form<S: Simd>(simd: S, blocks: &Blocks, columns: &[usize], x: &mut Outer) -> f64 {
    match blocks.run(columns) {
        Some((part, 0)) if x.length == part.side() => return dot(simd, &part.entries, x.products()),
        Some((part, place)) => return run(simd, part, place, &x.values[..x.length]),
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
