//! Transposes, by blocks of eight rows and columns.

use pulp::{Simd, WithSimd};

use crate::triangle::SIDE;

/// Copies a matrix, column after column, to its transpose.
pub(crate) struct Transpose<'a> {
    pub(crate) from: &'a [f64],
    pub(crate) rows: usize,
    pub(crate) to: &'a mut [f64],
    pub(crate) columns: usize,
}

impl WithSimd for &mut Transpose<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Transpose { from, rows, to, columns } = self;
        let (rows, columns) = (*rows, *columns);
        for left in (0..columns).step_by(SIDE) {
            for top in (0..rows).step_by(SIDE) {
                let (wide, high) = (SIDE.min(columns - left), SIDE.min(rows - top));
                if wide == SIDE && high == SIDE {
                    let block = turned(&from[left * rows + top..], rows);
                    put(&block, &mut to[top * columns + left..], columns);
                    continue;
                }
                for i in top..top + high {
                    for j in left..left + wide {
                        to[i * columns + j] = from[j * rows + i];
                    }
                }
            }
        }
    }
}

/// Copies one half of a square matrix to the other: what is above the diagonal to its place below, or the other way.
pub(crate) struct Mirror<'a> {
    pub(crate) numbers: &'a mut [f64],
    pub(crate) side: usize,
    pub(crate) down: bool,
}

impl WithSimd for &mut Mirror<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Mirror { numbers, side, down } = self;
        let (side, down) = (*side, *down);
        for left in (0..side).step_by(SIDE) {
            for top in (left..side).step_by(SIDE) {
                let (below, above) = (left * side + top, top * side + left);
                let (from, to) = if down { (above, below) } else { (below, above) };
                if top > left && top + SIDE <= side {
                    let block = turned(&numbers[from..], side);
                    put(&block, &mut numbers[to..], side);
                    continue;
                }
                for i in top..(top + SIDE).min(side) {
                    for j in left..(left + SIDE).min(i) {
                        let (below, above) = (j * side + i, i * side + j);
                        let (from, to) = if down { (above, below) } else { (below, above) };
                        numbers[to] = numbers[from];
                    }
                }
            }
        }
    }
}

type Block = [[f64; SIDE]; SIDE];

/// The transpose of a block.
#[inline(always)]
fn turned(from: &[f64], across: usize) -> Block {
    let columns: [&[f64; SIDE]; SIDE] = std::array::from_fn(|j| from[j * across..].first_chunk().unwrap_or(&[0.0; SIDE]));
    // Pairs, then pairs of pairs, and so on: steps that are single instructions.
    let first: Block = std::array::from_fn(|j| {
        let (a, b) = (columns[j & !1], columns[j | 1]);
        let odd = j & 1;
        [a[odd], b[odd], a[2 + odd], b[2 + odd], a[4 + odd], b[4 + odd], a[6 + odd], b[6 + odd]]
    });
    let second: Block = std::array::from_fn(|j| {
        let (a, b) = (&first[j & !2], &first[j | 2]);
        let k = j & 2;
        [a[k], a[k + 1], b[k], b[k + 1], a[k + 4], a[k + 5], b[k + 4], b[k + 5]]
    });
    std::array::from_fn(|j| {
        let (a, b) = (&second[j & !4], &second[j | 4]);
        let k = j & 4;
        [a[k], a[k + 1], a[k + 2], a[k + 3], b[k], b[k + 1], b[k + 2], b[k + 3]]
    })
}

#[inline(always)]
fn put(block: &Block, to: &mut [f64], across: usize) {
    for (to, from) in to.chunks_mut(across).zip(block) {
        to[..SIDE].copy_from_slice(from);
    }
}
