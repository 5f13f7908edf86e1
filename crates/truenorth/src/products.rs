//! Sums of products of columns: what every regression on them can be computed from.

#![expect(clippy::inline_always, reason = "only what is inlined uses the instructions that were found")]

use std::ops::Range;

use pulp::{Simd, WithSimd};

use crate::kernel;
use crate::triangle::Triangle;

/// Rows that are multiplied at a time: a block of a few dozen columns stays in the second-level cache.
const BLOCK: usize = 1024;

/// Columns of a tile: 4 x 4 sums and 8 columns fit the vector registers.
const TILE: usize = 4;

/// `Σ c_i c_j` over rows, for all pairs of columns, and `Σ c_i⁴`, which tells their units: laid out as a [`RidgeStatistic`](crate::RidgeStatistic) keeps them,
/// which is [made of them](crate::RidgeStatistic::from_products).
///
/// ```
/// use truenorth::CrossProducts;
///
/// let mut products = CrossProducts::new(2);
/// products.add_columns(&[&[1.0, 2.0, 3.0], &[1.0, 0.0, -1.0]]);
/// products.add_row(&[(1, 4.0)], 0.5);
/// assert_eq!((products.get(0, 0), products.get(0, 1), products.get(1, 1)), (14.0, -2.0, 10.0));
/// ```
/// For the sister crate that reads logs; no part of the interface.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "Unchecked"))]
#[doc(hidden)]
pub struct CrossProducts {
    sums: Triangle,
    fourths: Vec<f64>,
}

/// Sums as they were read, which may have come from anywhere.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Unchecked {
    sums: Triangle,
    fourths: Vec<f64>,
}

#[cfg(feature = "serde")]
impl TryFrom<Unchecked> for CrossProducts {
    type Error = crate::error::Error;

    fn try_from(Unchecked { sums, fourths }: Unchecked) -> crate::error::Result<Self> {
        crate::check::length("the list of fourth powers", sums.dimension, fourths.len())?;
        Ok(Self { sums, fourths })
    }
}

impl CrossProducts {
    /// The sums of no rows of this many columns.
    pub fn new(width: usize) -> Self {
        Self { sums: Triangle::zeros(width), fourths: vec![0.0; width] }
    }

    /// Sums that are known: `sum` is asked for row after row, up to the diagonal, `fourth` for each `Σ c_i⁴`.
    pub fn from_fn(
        width: usize,
        sum: impl FnMut(usize, usize) -> f64,
        fourth: impl FnMut(usize) -> f64,
    ) -> Self {
        Self { sums: Triangle::from_fn(width, sum), fourths: (0..width).map(fourth).collect() }
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.sums.dimension
    }

    /// `Σ c_i c_j`.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.sums.get(i.max(j), i.min(j))
    }

    /// `Σ c_i⁴`.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    pub fn fourth(&self, i: usize) -> f64 {
        self.fourths[i]
    }

    /// Adds columns that were 0 so far.
    pub fn grow(&mut self, width: usize) {
        self.sums.grow(width);
        self.fourths.resize(self.sums.dimension, 0.0);
    }

    /// Adds rows that are given column by column.
    ///
    /// # Panics
    ///
    /// If there are more or fewer columns than sums, or if their lengths differ.
    pub fn add_columns(&mut self, columns: &[&[f64]]) {
        assert_eq!(columns.len(), self.width(), "one slice for each column");
        let rows = length(columns);
        kernel::run(&mut AddColumns { columns, rows, sums: &mut self.sums, fourths: &mut self.fourths });
    }

    /// Adds one row, given by its entries that are not 0, times a weight. O(entries²).
    ///
    /// # Panics
    ///
    /// If there is no such column.
    pub fn add_row(&mut self, entries: &[(usize, f64)], weight: f64) {
        for (last, &(i, value)) in entries.iter().enumerate() {
            let weighted = weight * value;
            self.fourths[i] += weighted * value * value * value;
            for &(j, other) in &entries[..=last] {
                *self.sums.entry_mut(i.max(j), i.min(j)) += weighted * other;
            }
        }
    }

    /// Adds the sums of other rows, of the same columns or of the first of them.
    pub fn add(&mut self, other: &Self) {
        self.grow(other.width());
        self.sums.add(&other.sums);
        self.fourths.iter_mut().zip(&other.fourths).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Adds the sums of other rows; their column `i` is column `positions[i]` here.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    pub fn merge(&mut self, other: &Self, positions: &[usize]) {
        for (i, &to) in positions.iter().enumerate() {
            self.fourths[to] += other.fourths[i];
            for (j, &at) in positions[..=i].iter().enumerate() {
                *self.sums.entry_mut(to.max(at), to.min(at)) += other.sums.get(i, j);
            }
        }
    }

    /// All numbers, row after row of the lower triangle, then the fourth powers.
    pub fn entries(&self) -> impl Iterator<Item = f64> {
        self.sums.entries().chain(self.fourths.iter().copied())
    }

    /// Squared length of the longest row of columns of one length: the largest `Σ c_i²`; 0 without rows.
    ///
    /// # Panics
    ///
    /// If the lengths of the columns differ.
    pub fn longest_square(columns: &[&[f64]]) -> f64 {
        kernel::run(&mut LongestSquare { columns, rows: length(columns) })
    }
}

/// The one length of all columns.
fn length(columns: &[&[f64]]) -> usize {
    let rows = columns.first().map_or(0, |column| column.len());
    assert!(columns.iter().all(|column| column.len() == rows), "columns of one length");
    rows
}

/// Rows side by side whose squares are added up in registers.
const SIDE_BY_SIDE: usize = 64;

struct LongestSquare<'a> {
    columns: &'a [&'a [f64]],
    rows: usize,
}

impl WithSimd for &mut LongestSquare<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut longest = 0.0f64;
        for start in (0..self.rows).step_by(SIDE_BY_SIDE) {
            let mut squares = [0.0; SIDE_BY_SIDE];
            for column in self.columns {
                let rows = &column[start..self.rows.min(start + SIDE_BY_SIDE)];
                if let Ok(rows) = <&[f64; SIDE_BY_SIDE]>::try_from(rows) {
                    for (square, x) in squares.iter_mut().zip(rows) {
                        *square += x * x;
                    }
                } else {
                    for (square, x) in squares.iter_mut().zip(rows) {
                        *square += x * x;
                    }
                }
            }
            longest = squares.into_iter().fold(longest, f64::max);
        }
        longest
    }
}

/// Adds the products of columns.
struct AddColumns<'a> {
    columns: &'a [&'a [f64]],
    rows: usize,
    sums: &'a mut Triangle,
    fourths: &'a mut [f64],
}

/// Four columns with four: a vector of partial sums for each pair.
type Tile<S> = [[<S as Simd>::f64s; TILE]; TILE];

impl WithSimd for &mut AddColumns<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let AddColumns { columns, rows, sums, fourths } = self;
        let groups = columns.len().div_ceil(TILE);
        let mut tiles: Vec<Tile<S>> = vec![[[simd.splat_f64s(0.0); TILE]; TILE]; groups * (groups + 1) / 2];
        // A block of rows of eight columns stays in the first-level cache while a tile goes over it.
        for start in (0..*rows).step_by(BLOCK) {
            let end = (*rows).min(start + BLOCK);
            let mut rest = &mut tiles[..];
            for (i, left) in columns.chunks(TILE).enumerate() {
                for (fourth, column) in fourths[i * TILE..].iter_mut().zip(left) {
                    *fourth += fourth_powers(simd, &column[start..end]);
                }
                let (tiles, below) = rest.split_at_mut(i + 1);
                rest = below;
                match left.len() {
                    1 => add_group::<S, 1>(simd, tiles, columns, i, start..end),
                    2 => add_group::<S, 2>(simd, tiles, columns, i, start..end),
                    3 => add_group::<S, 3>(simd, tiles, columns, i, start..end),
                    _ => add_group::<S, TILE>(simd, tiles, columns, i, start..end),
                }
            }
        }
        let mut tiles = tiles.into_iter();
        for i in 0..groups {
            for (j, tile) in (0..=i).zip(&mut tiles) {
                for (a, products) in tile.into_iter().take(columns.len() - i * TILE).enumerate() {
                    let row = i * TILE + a;
                    for (column, product) in (j * TILE..=row).zip(products) {
                        *sums.entry_mut(row, column) += simd.reduce_sum_f64s(product);
                    }
                }
            }
        }
    }
}

/// Σ c⁴.
#[inline(always)]
fn fourth_powers<S: Simd>(simd: S, column: &[f64]) -> f64 {
    let (vectors, rest) = S::as_simd_f64s(column);
    let mut sum = simd.splat_f64s(0.0);
    for &vector in vectors {
        let square = simd.mul_f64s(vector, vector);
        sum = simd.mul_add_f64s(square, square, sum);
    }
    simd.reduce_sum_f64s(sum) + rest.iter().map(|x| x.powi(4)).sum::<f64>()
}

/// Adds the products of a group of columns with all groups up to itself.
#[inline(always)]
fn add_group<S: Simd, const L: usize>(
    simd: S,
    tiles: &mut [Tile<S>],
    columns: &[&[f64]],
    group: usize,
    rows: Range<usize>,
) {
    let left: [&[f64]; L] = std::array::from_fn(|a| &columns[group * TILE + a][rows.clone()]);
    let Some((diagonal, tiles)) = tiles.split_last_mut() else {
        return;
    };
    for (tile, right) in tiles.iter_mut().zip(columns.chunks_exact(TILE)) {
        let right: [&[f64]; TILE] = std::array::from_fn(|b| &right[b][rows.clone()]);
        add_products::<S, L, TILE, false>(simd, tile, left, right);
    }
    add_products::<S, L, L, true>(simd, diagonal, left, left);
}

/// Adds `lᵀr`; on the diagonal, only its lower half.
#[inline(always)]
fn add_products<S: Simd, const L: usize, const R: usize, const DIAGONAL: bool>(
    simd: S,
    tile: &mut Tile<S>,
    left: [&[f64]; L],
    right: [&[f64]; R],
) {
    let (left, right) = (left.map(S::as_simd_f64s), right.map(S::as_simd_f64s));
    let vectors = left[0].0.len();
    let (l, r) = (left.map(|(whole, _)| &whole[..vectors]), right.map(|(whole, _)| &whole[..vectors]));
    let mut sums: [[S::f64s; R]; L] = std::array::from_fn(|a| std::array::from_fn(|b| tile[a][b]));
    let add = |sums: &mut [[S::f64s; R]; L], l: [S::f64s; L], r: [S::f64s; R]| {
        for a in 0..L {
            for b in 0..if DIAGONAL { a + 1 } else { R } {
                sums[a][b] = simd.mul_add_f64s(l[a], r[b], sums[a][b]);
            }
        }
    };
    for k in 0..vectors {
        add(&mut sums, l.map(|column| column[k]), r.map(|column| column[k]));
    }
    if !left[0].1.is_empty() {
        let (l, r) = (left.map(|(_, rest)| rest), right.map(|(_, rest)| rest));
        add(
            &mut sums,
            l.map(|rest| simd.partial_load_f64s(rest)),
            r.map(|rest| simd.partial_load_f64s(rest)),
        );
    }
    for (tile, sums) in tile.iter_mut().zip(sums) {
        tile[..R].copy_from_slice(&sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of numbers that no two rows or columns share.
    fn columns(width: usize, rows: usize) -> Vec<Vec<f64>> {
        let number = |i: usize, row: usize| ((i * 7919 + row * 104_729) % 1009) as f64 / 1009.0 - 0.4;
        (0..width).map(|i| (0..rows).map(|row| number(i, row)).collect()).collect()
    }

    #[test]
    fn every_width_and_length_gives_the_plain_sums() {
        for (width, rows) in [(1, 1), (2, 7), (3, 8), (4, 9), (5, 63), (9, 1024), (22, 1025), (13, 3000)] {
            let columns = columns(width, rows);
            let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            let mut products = CrossProducts::new(width);
            products.add_columns(&slices);
            products.add_columns(&slices);
            for i in 0..width {
                for j in 0..width {
                    let plain: f64 = columns[i].iter().zip(&columns[j]).map(|(a, b)| 2.0 * a * b).sum();
                    let found = products.get(i, j);
                    let fourth: f64 = columns[i].iter().map(|a| 2.0 * a.powi(4)).sum();
                    assert!((products.fourth(i) - fourth).abs() < 1e-11 * rows as f64);
                    assert!(
                        (found - plain).abs() < 1e-11 * rows as f64,
                        "{width} {rows} {i} {j}: {found} {plain}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_longest_row_is_found_wherever_it_is() {
        for (rows, at) in [(1, 0), (64, 63), (65, 64), (200, 130), (1000, 999)] {
            let mut columns = columns(3, rows);
            (columns[0][at], columns[1][at], columns[2][at]) = (1.0, -2.0, 3.0);
            let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            assert!((CrossProducts::longest_square(&slices) - 14.0).abs() < 1e-14);
        }
        assert!(CrossProducts::longest_square(&[]).abs() < 1e-300);
    }

    #[test]
    fn rows_of_few_entries_add_up_to_the_same_as_columns() {
        let columns = columns(6, 40);
        let slices: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let (mut dense, mut sparse) = (CrossProducts::new(6), CrossProducts::new(2));
        dense.add_columns(&slices);
        sparse.grow(6);
        (0..40).for_each(|row| {
            // The order of the entries does not matter.
            let entries: Vec<(usize, f64)> = (0..6).rev().map(|i| (i, columns[i][row])).collect();
            sparse.add_row(&entries, 1.0);
        });
        for (a, b) in dense.entries().zip(sparse.entries()) {
            assert!((a - b).abs() < 1e-13);
        }
    }

    #[test]
    fn merging_puts_columns_where_they_belong() {
        let mut whole = CrossProducts::new(3);
        let mut part = CrossProducts::new(2);
        part.add_row(&[(0, 2.0), (1, 3.0)], 1.0);
        whole.merge(&part, &[2, 0]);
        assert!(whole.entries().eq([9.0, 0.0, 0.0, 6.0, 0.0, 4.0, 81.0, 0.0, 16.0]));
    }
}
