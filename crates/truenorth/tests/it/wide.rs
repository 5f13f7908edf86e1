//! Double-double numbers, and a dense Cholesky solver in them: the reference of the numerical tests.

use std::ops::{Add, Div, Mul, Sub};

use crate::support::Matrix;

/// An unevaluated sum of two `f64`, about 32 digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wide(f64, f64);

/// A square matrix of them, by rows.
pub(crate) type WideMatrix = Vec<Vec<Wide>>;

impl Wide {
    pub(crate) fn new(value: f64) -> Self {
        Self(value, 0.0)
    }

    pub(crate) fn value(self) -> f64 {
        self.0 + self.1
    }

    fn sqrt(self) -> Self {
        let root = Self::new(self.0.sqrt());
        // One Newton step doubles the digits of the `f64` root.
        root + (self - root * root) / Self::new(2.0 * root.0)
    }
}

/// Exact sum of two numbers (Knuth).
fn two_sum(a: f64, b: f64) -> Wide {
    let sum = a + b;
    let rest = sum - a;
    Wide(sum, (a - (sum - rest)) + (b - rest))
}

impl Add for Wide {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, low) = (two_sum(self.0, other.0), two_sum(self.1, other.1));
        let partial = two_sum(high.0, high.1 + low.0);
        two_sum(partial.0, partial.1 + low.1)
    }
}

impl Sub for Wide {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + Self(-other.0, -other.1)
    }
}

impl Mul for Wide {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = self.0 * other.0;
        let error = self.0.mul_add(other.0, -product);
        two_sum(product, error + (self.0 * other.1 + self.1 * other.0))
    }
}

impl Div for Wide {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let first = Self::new(self.0 / other.0);
        let rest = self - first * other;
        let second = Self::new(rest.0 / other.0);
        let rest = rest - second * other;
        first + second + Self::new(rest.0 / other.0)
    }
}

pub(crate) fn widen(matrix: &Matrix) -> WideMatrix {
    matrix.row_iter().map(|row| row.iter().map(|&entry| Wide::new(entry)).collect()).collect()
}

pub(crate) fn widen_vector(vector: &[f64]) -> Vec<Wide> {
    vector.iter().map(|&entry| Wide::new(entry)).collect()
}

/// a · left + b · right.
pub(crate) fn combine(left: &WideMatrix, a: f64, right: &WideMatrix, b: f64) -> WideMatrix {
    let (a, b) = (Wide::new(a), Wide::new(b));
    let rows = left.iter().zip(right);
    rows.map(|(left, right)| left.iter().zip(right).map(|(&l, &r)| a * l + b * r).collect()).collect()
}

pub(crate) fn times(matrix: &WideMatrix, x: &[Wide]) -> Vec<Wide> {
    matrix.iter().map(|row| inner(row, x)).collect()
}

pub(crate) fn inner(left: &[Wide], right: &[Wide]) -> Wide {
    left.iter().zip(right).fold(Wide::new(0.0), |sum, (&l, &r)| sum + l * r)
}

/// Lower triangular factor.
pub(crate) fn cholesky(matrix: &WideMatrix) -> WideMatrix {
    let mut factor = vec![vec![Wide::new(0.0); matrix.len()]; matrix.len()];
    for i in 0..matrix.len() {
        for j in 0..=i {
            let rest = matrix[i][j] - inner(&factor[i][..j], &factor[j][..j]);
            factor[i][j] = if i == j { rest.sqrt() } else { rest / factor[j][j] };
        }
    }
    factor
}

/// Solves with the factor and its transpose.
pub(crate) fn solve(factor: &WideMatrix, right: &[Wide]) -> Vec<Wide> {
    let mut x = right.to_vec();
    for i in 0..x.len() {
        x[i] = (x[i] - inner(&factor[i][..i], &x[..i])) / factor[i][i];
    }
    for i in (0..x.len()).rev() {
        for j in i + 1..x.len() {
            x[i] = x[i] - factor[j][i] * x[j];
        }
        x[i] = x[i] / factor[i][i];
    }
    x
}

pub(crate) fn inverse(matrix: &WideMatrix) -> WideMatrix {
    let factor = cholesky(matrix);
    let unit =
        |i: usize| (0..matrix.len()).map(|j| Wide::new(f64::from(u8::from(i == j)))).collect::<Vec<_>>();
    (0..matrix.len()).map(|i| solve(&factor, &unit(i))).collect()
}

pub(crate) fn log_det(factor: &WideMatrix) -> f64 {
    2.0 * (0..factor.len()).map(|i| factor[i][i].value().ln()).sum::<f64>()
}

#[test]
fn double_double_arithmetic_has_thirty_digits() {
    let (three, two) = (Wide::new(3.0), Wide::new(2.0));
    let third = Wide::new(1.0) / three;
    assert!((third * three - Wide::new(1.0)).value().abs() < 1e-30);
    assert!((two.sqrt() * two.sqrt() - two).value().abs() < 1e-30);
    assert!((Wide::new(1e20) + third - Wide::new(1e20) - third).value().abs() < 1e-15);
}

#[test]
fn hilbert_matrices_are_inverted_to_twenty_digits() {
    let size = 6;
    let entry = |i: usize, j: usize| Wide::new(1.0) / Wide::new((i + j + 1) as f64);
    let hilbert: WideMatrix = (0..size).map(|i| (0..size).map(|j| entry(i, j)).collect()).collect();
    // The exact inverse of a Hilbert matrix has whole entries.
    let inverse = inverse(&hilbert);
    assert!((inverse[3][3] - Wide::new(3_628_800.0)).value().abs() < 1e-15, "{:?}", inverse[3][3]);
}
