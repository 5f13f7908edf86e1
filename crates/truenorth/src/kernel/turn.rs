//! Transposes, by blocks of eight rows and columns.

use pulp::{Simd, WithSimd};

use crate::triangle::SIDE;

/// Copies a matrix, column after column, to its transpose.
pub(crate) struct Transpose<'a> {
    pub(crate) from: &'a [f64],
    pub(crate) to: &'a mut [f64],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

impl WithSimd for &mut Transpose<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Transpose { from, to, rows, columns } = self;
        let (rows, columns) = (*rows, *columns);
        for left in (0..columns).step_by(SIDE) {
            for top in (0..rows).step_by(SIDE) {
                if left + SIDE <= columns && top + SIDE <= rows {
                    let block = turned(&from[left * rows + top..], rows);
                    put(&block, &mut to[top * columns + left..], columns);
                    continue;
                }
                for i in top..(top + SIDE).min(rows) {
                    for j in left..(left + SIDE).min(columns) {
                        to[i * columns + j] = from[j * rows + i];
                    }
                }
            }
        }
    }
}

/// Copies one half of a square matrix to the other: what is above the diagonal to its place below, or the other way.
pub(crate) struct Mirror<'a> {
    pub(crate) matrix: &'a mut [f64],
    pub(crate) side: usize,
    pub(crate) down: bool,
}

impl WithSimd for &mut Mirror<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Mirror { matrix, side, down } = self;
        let (side, down) = (*side, *down);
        // Where the entry of row i and column j, which is less, is copied from and to.
        let places = |i: usize, j: usize| {
            let (below, above) = (j * side + i, i * side + j);
            if down { (above, below) } else { (below, above) }
        };
        for left in (0..side).step_by(SIDE) {
            for top in (left..side).step_by(SIDE) {
                if top > left && top + SIDE <= side {
                    let (from, to) = places(top, left);
                    let block = turned(&matrix[from..], side);
                    put(&block, &mut matrix[to..], side);
                    continue;
                }
                for i in top..(top + SIDE).min(side) {
                    for j in left..(left + SIDE).min(i) {
                        let (from, to) = places(i, j);
                        matrix[to] = matrix[from];
                    }
                }
            }
        }
    }
}

type Block = [[f64; SIDE]; SIDE];

/// The transpose of a block whose columns are so far apart.
#[inline(always)]
fn turned(from: &[f64], across: usize) -> Block {
    let mut block = Block::default();
    for (j, column) in from.chunks(across).take(SIDE).enumerate() {
        for i in 0..SIDE {
            block[i][j] = column[i];
        }
    }
    block
}

#[inline(always)]
fn put(block: &Block, to: &mut [f64], across: usize) {
    for (to, from) in to.chunks_mut(across).zip(block) {
        to[..SIDE].copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel;

    #[test]
    fn blocks_and_what_is_beside_them_are_turned() {
        for (rows, columns) in [(1, 1), (8, 8), (3, 20), (17, 9), (24, 33)] {
            let from: Vec<f64> = (0..rows * columns).map(|k| k as f64).collect();
            let mut to = vec![0.0; from.len()];
            kernel::run(&mut Transpose { from: &from, to: &mut to, rows, columns });
            let back: Vec<f64> = (0..from.len()).map(|k| to[k % rows * columns + k / rows]).collect();
            assert_eq!(back, from, "{rows} {columns}");
        }
        for side in [1, 7, 8, 9, 26] {
            for down in [true, false] {
                let before: Vec<f64> = (0..side * side).map(|k| k as f64).collect();
                let mut matrix = before.clone();
                kernel::run(&mut Mirror { matrix: &mut matrix, side, down });
                for (j, i) in (0..side).flat_map(|j| (j..side).map(move |i| (j, i))) {
                    let (below, above) = (j * side + i, i * side + j);
                    let kept = before[if down { above } else { below }];
                    assert_eq!((matrix[below], matrix[above]), (kept, kept), "{side} {down}");
                }
            }
        }
    }
}
