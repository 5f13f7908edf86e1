//! Sums of products of columns: what every regression on them can be computed from.

#![expect(clippy::inline_always, reason = "only what is inlined uses the instructions that were found")]

use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

use crate::lower::Lower;

/// Rows that are multiplied at a time: a block of a few dozen columns stays in the second-level cache.
const BLOCK: usize = 1024;

/// Columns of a tile: 4 x 4 sums and 8 columns fit the vector registers.
const TILE: usize = 4;

/// `Σ c_i c_j` over rows, for all pairs of columns.
///
/// ```
/// use truenorth::CrossProducts;
///
/// let mut products = CrossProducts::new(2);
/// products.add_columns(&[&[1.0, 2.0, 3.0], &[1.0, 0.0, -1.0]]);
/// products.add_row(&[(1, 4.0)], 0.5);
/// assert_eq!((products.get(0, 0), products.get(0, 1), products.get(1, 1)), (14.0, -2.0, 10.0));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossProducts {
    sums: Lower,
}

impl CrossProducts {
    /// The sums of no rows of this many columns.
    pub fn new(width: usize) -> Self {
        Self { sums: Lower::zeros(width) }
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.sums.dimension()
    }

    /// `Σ c_i c_j`.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.sums.row(i.max(j))[i.min(j)]
    }

    /// Adds columns that were 0 so far.
    pub fn grow(&mut self, width: usize) {
        self.sums.grow(width);
    }

    /// Adds rows that are given column by column.
    ///
    /// # Panics
    ///
    /// If there are more or fewer columns than sums, or if their lengths differ.
    pub fn add_columns(&mut self, columns: &[&[f64]]) {
        assert_eq!(columns.len(), self.width(), "one slice for each column");
        let rows = columns.first().map_or(0, |column| column.len());
        assert!(columns.iter().all(|column| column.len() == rows), "columns of one length");
        let arch = Arch::new();
        let mut block: Vec<&[f64]> = Vec::with_capacity(columns.len());
        for start in (0..rows).step_by(BLOCK) {
            block.clear();
            block.extend(columns.iter().map(|column| &column[start..rows.min(start + BLOCK)]));
            arch.dispatch(AddBlock { columns: &block, sums: &mut self.sums });
        }
    }

    /// Adds one row, given by its entries that are not 0, times a weight. O(entries²).
    ///
    /// # Panics
    ///
    /// If there is no such column.
    pub fn add_row(&mut self, entries: &[(usize, f64)], weight: f64) {
        for (last, &(i, value)) in entries.iter().enumerate() {
            let weighted = weight * value;
            for &(j, other) in &entries[..=last] {
                self.sums.row_mut(i.max(j))[i.min(j)] += weighted * other;
            }
        }
    }

    /// Adds the sums of other rows; their column `i` is column `positions[i]` here.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    pub fn merge(&mut self, other: &Self, positions: &[usize]) {
        for (i, &to) in positions.iter().enumerate() {
            for (&sum, &at) in other.sums.row(i).iter().zip(positions) {
                self.sums.row_mut(to.max(at))[to.min(at)] += sum;
            }
        }
    }

    /// The sums of some of the columns, in another order.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    #[must_use]
    pub fn select(&self, columns: &[usize]) -> Self {
        let mut selected = Self::new(columns.len());
        for (to, &i) in columns.iter().enumerate() {
            for (sum, &j) in selected.sums.row_mut(to).iter_mut().zip(columns) {
                *sum = self.get(i, j);
            }
        }
        selected
    }

    /// All numbers, row after row of the lower triangle.
    pub fn entries(&self) -> &[f64] {
        self.sums.entries()
    }

    /// Whether the sizes fit each other: what was read may come from anywhere.
    pub fn is_consistent(&self, width: usize) -> bool {
        self.sums.is_consistent(width)
    }
}

/// Adds the products of a block of rows.
struct AddBlock<'a> {
    columns: &'a [&'a [f64]],
    sums: &'a mut Lower,
}

impl WithSimd for AddBlock<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { columns, sums } = self;
        for (i, left) in columns.chunks(TILE).enumerate() {
            for (j, right) in columns.chunks(TILE).enumerate().take(i + 1) {
                let tile = products(simd, padded(left), padded(right));
                for (a, products) in tile.iter().take(left.len()).enumerate() {
                    let row = sums.row_mut(i * TILE + a);
                    for (sum, product) in row[j * TILE..].iter_mut().zip(&products[..right.len()]) {
                        *sum += product;
                    }
                }
            }
        }
    }
}

/// Four columns; where there are fewer, the last one again.
#[inline(always)]
fn padded<'a>(columns: &[&'a [f64]]) -> [&'a [f64]; TILE] {
    std::array::from_fn(|i| columns[i.min(columns.len() - 1)])
}

/// `lᵀr` of four columns with four.
#[inline(always)]
fn products<S: Simd>(simd: S, left: [&[f64]; TILE], right: [&[f64]; TILE]) -> [[f64; TILE]; TILE] {
    let (left, right) = (left.map(S::as_simd_f64s), right.map(S::as_simd_f64s));
    let vectors = left[0].0.len();
    let (l, r) = (left.map(|(whole, _)| &whole[..vectors]), right.map(|(whole, _)| &whole[..vectors]));
    let mut sums = [[simd.splat_f64s(0.0); TILE]; TILE];
    let add = |sums: &mut [[S::f64s; TILE]; TILE], l: [S::f64s; TILE], r: [S::f64s; TILE]| {
        for a in 0..TILE {
            for b in 0..TILE {
                sums[a][b] = simd.mul_add_f64s(l[a], r[b], sums[a][b]);
            }
        }
    };
    for k in 0..vectors {
        add(&mut sums, [l[0][k], l[1][k], l[2][k], l[3][k]], [r[0][k], r[1][k], r[2][k], r[3][k]]);
    }
    if !left[0].1.is_empty() {
        let (l, r) = (left.map(|(_, rest)| rest), right.map(|(_, rest)| rest));
        add(
            &mut sums,
            l.map(|rest| simd.partial_load_f64s(rest)),
            r.map(|rest| simd.partial_load_f64s(rest)),
        );
    }
    sums.map(|row| row.map(|sum| simd.reduce_sum_f64s(sum)))
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
                    assert!(
                        (found - plain).abs() < 1e-11 * rows as f64,
                        "{width} {rows} {i} {j}: {found} {plain}"
                    );
                }
            }
        }
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
        for (a, b) in dense.entries().iter().zip(sparse.entries()) {
            assert!((a - b).abs() < 1e-13);
        }
    }

    #[test]
    fn merging_puts_columns_where_they_belong() {
        let mut whole = CrossProducts::new(3);
        let mut part = CrossProducts::new(2);
        part.add_row(&[(0, 2.0), (1, 3.0)], 1.0);
        whole.merge(&part, &[2, 0]);
        assert_eq!(whole.entries(), [9.0, 0.0, 0.0, 6.0, 0.0, 4.0]);
    }
}
