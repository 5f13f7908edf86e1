//! Inner loops over the parts of a matrix whose columns fall into parts.

use pulp::{Simd, WithSimd};

use super::Scores;
use crate::blocks::{Blocks, Part, start};
use crate::parted::{MOST_UNKNOWNS, Parted};
use crate::round::Actions;
use crate::triangle::SIDE;

/// Room for the products of an action's features, which the next action may have, too.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outer {
    values: Vec<f64>,
    /// x_i², and 2 x_i x_j for j < i, as a part stores them.
    products: Vec<f64>,
    /// Part, place and value of each feature.
    entries: Vec<(usize, usize, f64)>,
}

impl Outer {
    #[inline(always)]
    fn of(&mut self, values: &[f64]) -> &[f64] {
        // Counted without a branch for each, so that vectors compare them.
        let differ = |(a, b): (&f64, &f64)| usize::from(a.to_bits() != b.to_bits());
        let same = self.values.len() == values.len()
            && self.values.iter().zip(values).map(differ).sum::<usize>() == 0;
        if !same {
            self.values.clear();
            self.values.extend_from_slice(values);
            self.products.clear();
            self.products.reserve(start(values.len()));
            for (i, x) in values.iter().enumerate() {
                self.products.extend(values[..i].iter().map(|y| 2.0 * x * y));
                self.products.push(x * x);
            }
        }
        &self.products
    }
}

/// Means and radii of the rows of a round.
pub(crate) struct Rows<'a> {
    pub(crate) known: &'a Parted,
    pub(crate) actions: Actions<'a>,
    /// Factor on the root of the variance.
    pub(crate) norm: f64,
    pub(crate) scores: &'a mut Scores,
    pub(crate) room: &'a mut Outer,
}

impl WithSimd for &mut Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Rows { known, actions, norm, scores, room } = self;
        // Whole vectors, as after a pass over panels.
        scores.resize(actions.count().next_multiple_of(SIDE));
        let unknowns = known.common.len().min(MOST_UNKNOWNS);
        for k in 0..actions.count() {
            let x = actions.row(k);
            let (columns, values) = (x.columns().unwrap_or_default(), x.values());
            let mut square = square(simd, &known.inverse, columns, values, room);
            let mut mean = along(simd, &known.mean, columns, values);
            let mut a = [0.0; MOST_UNKNOWNS];
            for (i, shared) in known.shared.iter().enumerate().take(unknowns) {
                a[i] = along(simd, shared, columns, values);
                mean += a[i] * known.common[i];
            }
            for (i, row) in known.spread.chunks_exact(unknowns.max(1)).enumerate().take(unknowns) {
                for (c, a_j) in row.iter().zip(&a) {
                    square += a[i] * c * a_j;
                }
            }
            scores.mean[k] = mean;
            scores.statistical[k] = *norm * f64::sqrt(square.max(0.0));
            scores.bias[k] = 0.0;
        }
    }
}

/// `xᵀv`. Mostly, an action has columns that follow each other.
#[inline(always)]
fn along<S: Simd>(simd: S, vector: &[f64], columns: &[usize], values: &[f64]) -> f64 {
    match columns.first() {
        Some(&first) if columns[columns.len() - 1] - first + 1 == columns.len() => {
            dot(simd, &vector[first..][..columns.len()], values)
        }
        _ => {
            let mut sum = 0.0;
            for (&column, value) in columns.iter().zip(values) {
                sum += value * vector[column];
            }
            sum
        }
    }
}

/// `xᵀMx`.
#[inline(always)]
fn square<S: Simd>(simd: S, blocks: &Blocks, columns: &[usize], values: &[f64], room: &mut Outer) -> f64 {
    match blocks.run(columns) {
        Some((part, 0)) if values.len() == part.side() => return dot(simd, &part.entries, room.of(values)),
        Some((part, place)) => return run(simd, part, place, values),
        None => {}
    }
    let Outer { entries, .. } = room;
    entries.clear();
    let mut sum = 0.0;
    for (&column, &value) in columns.iter().zip(values) {
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
    let (left, left_rest) = S::as_simd_f64s(left_rest);
    let (right, right_rest) = S::as_simd_f64s(right_rest);
    for part in 0..VECTORS {
        if part < left.len().min(right.len()) {
            parts[part] = simd.mul_add_e_f64s(left[part], right[part], parts[part]);
        } else if part == left.len() && !left_rest.is_empty() {
            let (left, right) = (simd.partial_load_f64s(left_rest), simd.partial_load_f64s(right_rest));
            parts[part] = simd.mul_add_e_f64s(left, right, parts[part]);
        }
    }
    let mut sums = [[0.0; SIDE]; 4];
    S::as_mut_simd_f64s(sums.as_flattened_mut()).0.copy_from_slice(&parts);
    let [a, b, c, d] = sums;
    let mut all = [0.0; SIDE];
    for i in 0..SIDE {
        all[i] = (a[i] + b[i]) + (c[i] + d[i]);
    }
    let [a, b, c, d, e, f, g, h] = all;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
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
