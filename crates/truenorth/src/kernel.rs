//! The inner loops: quadratic forms of many actions, and the rank-one update.
//!
//! They use the widest vectors of the machine they run on (AVX-512, AVX2 with FMA, or none), found once. Sums are
//! split the same way for every width, so that machines with fused multiply-add agree to the last bit, and an
//! action's numbers do not depend on which lane or panel it stands in.

#![expect(clippy::inline_always, reason = "only what is inlined uses the instructions that were found")]
#![expect(clippy::needless_range_loop, reason = "rows and panels are indices of several arrays, unrolled")]

mod columns;
mod contend;
mod eliminate;
mod forms;
mod lanes;
mod panels;
mod parts;
mod rank;
mod small;
mod tridiagonal;
mod turn;
mod units;
mod update;
mod within;

use std::sync::LazyLock;

use pulp::{Arch, WithSimd};

pub(crate) use columns::{Combine, SolveLower};
pub(crate) use contend::{Contend, Marginals};
pub(crate) use eliminate::{AddProducts, Eliminate, Other, Packed, Tall};
pub(crate) use forms::{Branches, Measured, Sampled, Scores};
pub(crate) use lanes::{Diagonals, InvertLanes, ReduceLanes, SolveLanes, Solved};
pub(crate) use panels::Panels;
pub(crate) use parts::{Product, Room, Rows, Shrink, Table};
pub(crate) use rank::{Contenders, IndexBounds};
pub(crate) use small::{FactoriseSmall, InvertSmall, SMALL, Small};
pub(crate) use tridiagonal::Tridiagonalise;
pub(crate) use turn::{Mirror, Transpose};
pub(crate) use units::{JoinUnits, Offered, SquareInUnits, powers, unit};
pub(crate) use update::{Absorb, AbsorbMany, AddSquare, AddSquares, Carried};
pub(crate) use within::{Falls, Follow, Repeat, Within};

/// Runs one of the loops with the widest vectors there are. It is handed over by reference: a value would be copied
/// from where its parts have just been written, and wait for them.
#[inline]
pub(crate) fn run<'a, Loop, Output>(inner: &'a mut Loop) -> Output
where
    &'a mut Loop: WithSimd<Output = Output>,
{
    ARCH.dispatch(inner)
}

/// The same for a plain loop, of which the compiler makes vectors.
#[inline]
pub(crate) fn wide<Output>(plain: impl FnOnce() -> Output) -> Output {
    ARCH.dispatch(plain)
}

static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Room in memory that starts at a cache line, so that no vector straddles two.
#[derive(Debug, Clone, Default)]
pub(crate) struct Aligned {
    numbers: Vec<f64>,
    start: usize,
    length: usize,
}

impl Aligned {
    /// Numbers of a cache line.
    const LINE: usize = 8;

    /// Makes room for so many numbers, whatever they are.
    fn resize(&mut self, length: usize) {
        if self.numbers.len() < length + Self::LINE {
            self.numbers.resize(length + Self::LINE, 0.0);
        }
        // Where the pointer cannot be aligned, anywhere will do.
        self.start = self.numbers.as_ptr().align_offset(8 * Self::LINE).min(Self::LINE);
        self.length = length;
    }

    fn get(&self) -> &[f64] {
        &self.numbers[self.start..][..self.length]
    }

    fn get_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[self.start..][..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::branch::Radius;
    use crate::dense::{Matrix, Vector};
    use crate::precision::Precision;
    use crate::triangle::Triangle;

    /// Numbers between -0.5 and 0.5 without a pattern.
    fn numbers(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 7919 + seed * 104_729) % 10_007) as f64 / 10_007.0 - 0.5).collect()
    }

    fn map(dimension: usize) -> Matrix {
        Matrix::from_fn(dimension, dimension, |i, j| 0.1 / (1 + i + j) as f64 + f64::from(u8::from(i == j)))
    }

    /// Scores of some actions, by all that a branch can have.
    fn scores(arch: Arch, dimension: usize, count: usize, plain: bool, keep: bool) -> [Vec<f64>; 3] {
        let mut precision = Precision::ridge(&Vector::from_element(dimension, 0.5))
            .with_maps(&[map(dimension), map(dimension)]);
        for seed in 0..5 {
            precision.update(&numbers(dimension, seed), 0.3, &mut Carried::default());
        }
        let (features, rows) = (numbers(count * dimension, 9), (0..count).rev().collect::<Vec<_>>());
        let (bias, offline) = if plain { (0.0, 0.0) } else { (0.7, 0.2) };
        let mut scores = Scores::default();
        arch.dispatch(&mut Branches {
            actions: Some((&features, &rows)),
            dimension,
            panels: &mut Panels::default(),
            keep,
            measured: [
                Some(Measured {
                    precision: &precision,
                    radius: Radius { norm: 1.3, bias, offline },
                    scores: &mut scores,
                }),
                None,
            ],
            whitened: &mut Aligned::default(),
        });
        [scores.mean, scores.statistical, scores.bias].map(|numbers| numbers[..count].to_vec())
    }

    /// Factor, map and estimate after some observations, and the growth of the determinant.
    fn absorbed(arch: Arch, dimension: usize) -> (Triangle, Triangle, Vec<f64>, f64) {
        let (mut factor, mut estimate) =
            (Triangle::from_fn(dimension, |i, j| if i == j { 1.2 } else { 0.0 }), numbers(dimension, 3));
        let mut maps = [Triangle::from_matrix(&map(dimension))];
        let (mut carried, mut growth) = (Carried::default(), 1.0);
        for seed in 0..7 {
            growth *= arch.dispatch(&mut Absorb {
                factor: &mut factor,
                maps: &mut maps,
                estimate: &mut estimate,
                features: &numbers(dimension, seed),
                reward: 0.4,
                carried: &mut carried,
            });
        }
        let [map] = maps;
        (factor, map, estimate, growth)
    }

    const SHAPES: [(usize, usize); 9] =
        [(1, 1), (5, 5), (7, 8), (8, 3), (9, 17), (16, 24), (20, 50), (33, 9), (50, 26)];

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn vectors_of_four_and_of_eight_agree_to_the_last_bit() {
        let (Some(four), Some(eight)) = (pulp::x86::V3::try_new(), pulp::x86::V4::try_new()) else {
            eprintln!("skipped: this processor does not have both");
            return;
        };
        for (dimension, count) in SHAPES {
            for plain in [true, false] {
                let [four, eight] = [Arch::V3(four), Arch::V4(eight)];
                assert_eq!(
                    scores(four, dimension, count, plain, true),
                    scores(eight, dimension, count, plain, true),
                    "{dimension} {count}"
                );
                assert_eq!(absorbed(four, dimension), absorbed(eight, dimension), "{dimension}");
            }
        }
    }

    /// Factor, inverse of its transpose and other rows times that, and products of these, of a matrix of this side.
    fn eliminated(arch: Arch, side: usize, rows: usize) -> [Vec<f64>; 4] {
        let mut matrix = numbers(side * side, 5);
        for i in 0..side {
            matrix[i * side + i] += side as f64;
        }
        let (mut root, mut others) = (vec![0.0; side * side], numbers(rows * side, 7));
        for i in 0..side {
            root[i * side + i] = 1.0;
        }
        let mut room = Packed::default();
        assert!(arch.dispatch(&mut Eliminate {
            matrix: &mut matrix,
            across: side,
            rows: side,
            columns: side,
            known: false,
            others: &mut [
                Other { numbers: &mut root, across: side, rows: side, upper: true },
                Other { numbers: &mut others, across: rows, rows, upper: false },
            ],
            room: &mut room,
        }));
        let upper = Tall { numbers: &root, across: side, rows: side, upper: true };
        let mut product = numbers(side * side, 11);
        arch.dispatch(&mut AddProducts {
            left: upper,
            right: upper,
            terms: side,
            factor: 0.7,
            to: &mut product,
            across: side,
            half: true,
            room: &mut room,
        });
        [matrix, root, others, product]
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn fits_agree_to_the_last_bit_whatever_the_width() {
        let (Some(four), Some(eight)) = (pulp::x86::V3::try_new(), pulp::x86::V4::try_new()) else {
            eprintln!("skipped: this processor does not have both");
            return;
        };
        for (side, rows) in [(1, 1), (7, 3), (8, 25), (9, 24), (31, 32), (50, 49), (64, 7)] {
            let [four, eight] = [Arch::V3(four), Arch::V4(eight)].map(|arch| eliminated(arch, side, rows));
            assert_eq!(four, eight, "{side} {rows}");
        }
    }

    #[test]
    fn without_vectors_the_numbers_are_the_same_up_to_rounding() {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12 * (1.0 + b.abs());
        for (dimension, count) in SHAPES {
            let (found, plain) = (
                scores(Arch::new(), dimension, count, false, true),
                scores(Arch::Scalar, dimension, count, false, true),
            );
            assert!(found.iter().flatten().zip(plain.iter().flatten()).all(|(&a, &b)| close(a, b)));
            let (found, plain) = (absorbed(Arch::new(), dimension), absorbed(Arch::Scalar, dimension));
            let all = |(factor, map, estimate, growth): (Triangle, Triangle, Vec<f64>, f64)| {
                factor.entries().chain(map.entries()).chain(estimate).chain([growth]).collect::<Vec<_>>()
            };
            assert!(all(found).into_iter().zip(all(plain)).all(|(a, b)| close(a, b)), "{dimension}");
        }
    }

    #[test]
    fn few_actions_have_the_numbers_that_they_would_have_in_panels() {
        for dimension in 1..=8 {
            for count in 1..=8 {
                let [alone, paneled] =
                    [false, true].map(|keep| scores(Arch::new(), dimension, count, true, keep));
                assert_eq!(alone, paneled, "{dimension} {count}");
            }
        }
    }
}
