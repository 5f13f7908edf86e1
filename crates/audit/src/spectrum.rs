//! Eigen-directions of a Gram matrix: where the rows are, and how many directions share them.

use truenorth::RidgeStatistic;

use crate::Matrix;
use crate::fit::quotient;

/// Eigenvalues below this share of the largest are rounding.
const FLOOR: f64 = 1e-12;

/// Entries of an eigenvector below this are rounding.
const CRUMB: f64 = 1e-12;

/// Eigenvalues and eigenvectors of A / n, largest first.
#[derive(Debug, Clone)]
pub(crate) struct Spectrum {
    /// Relative to `unit`; 0 where they are rounding.
    pub(crate) values: Vec<f64>,
    /// Unit vectors as columns; the largest entry of each is positive.
    pub(crate) vectors: Matrix,
    /// The largest mean square of a column.
    pub(crate) unit: f64,
    pub(crate) rows: f64,
}

impl Spectrum {
    pub(crate) fn of(data: &RidgeStatistic) -> Self {
        let d = data.dimension();
        let rows = data.count() as f64;
        let gram = Matrix::from_row_slice(d, d, &data.gram());
        let largest = gram.diagonal().max();
        if rows == 0.0 || largest <= 0.0 {
            return Self { values: vec![0.0; d], vectors: Matrix::identity(d, d), unit: 0.0, rows };
        }
        let eigen = (gram / largest).symmetric_eigen();
        let mut order: Vec<usize> = (0..d).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let floor = FLOOR * eigen.eigenvalues.max();
        let values = order.iter().map(|&k| eigen.eigenvalues[k]);
        let values = values.map(|value| if value > floor { value } else { 0.0 }).collect();
        let mut vectors = eigen.eigenvectors.select_columns(&order);
        for mut vector in vectors.column_iter_mut() {
            let leading = vector[vector.icamax()];
            let sign = if leading < 0.0 { -1.0 } else { 1.0 };
            vector.apply(|entry| *entry = if entry.abs() < CRUMB { 0.0 } else { sign * *entry });
        }
        Self { values, vectors, unit: largest / rows, rows }
    }

    /// λ_k / (tr A / (n d)): rows of an evenly spread design that would cover direction k as well.
    pub(crate) fn coverage(&self, k: usize) -> f64 {
        let mean = self.values.iter().sum::<f64>() / self.values.len() as f64;
        quotient(self.rows * self.values[k], mean)
    }

    /// (Σ λ)² / Σ λ²: how many directions share the rows.
    pub(crate) fn effective_dimension(&self) -> f64 {
        let squares: f64 = self.values.iter().map(|value| value * value).sum();
        quotient(self.values.iter().sum::<f64>().powi(2), squares)
    }

    /// Whether every direction is covered.
    pub(crate) fn is_full(&self) -> bool {
        self.values.iter().all(|&value| value > 0.0)
    }

    /// qᵀ A⁺ q, or nothing where a part of q is not covered.
    pub(crate) fn variance(&self, q: &[f64]) -> Option<f64> {
        let (mut sum, mut outside) = (0.0, 0.0);
        for (value, square) in self.squares(q) {
            if value > 0.0 {
                sum += square / (value * self.unit * self.rows);
            } else {
                outside += square;
            }
        }
        (outside <= 1e-8 && sum > 0.0).then_some(sum)
    }

    /// √(qᵀ A q / n): how far a typical row reaches along q.
    pub(crate) fn reach(&self, q: &[f64]) -> f64 {
        (self.squares(q).map(|(value, square)| value * square).sum::<f64>() * self.unit).sqrt()
    }

    /// λ_k and (q_kᵀ q)² for each eigenvector q_k.
    fn squares(&self, q: &[f64]) -> impl Iterator<Item = (f64, f64)> {
        self.values.iter().zip(self.vectors.column_iter()).map(move |(&value, vector)| {
            (value, vector.iter().zip(q).map(|(a, b)| a * b).sum::<f64>().powi(2))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_columns_by_hand() {
        // A = [[5, 4], [4, 5]] from 9 rows: eigenvalues 9 and 1 along (1, 1) and (1, -1).
        let data = RidgeStatistic::from_sums(9, &[5.0, 4.0, 4.0, 5.0], &[0.0, 0.0], 0.0).unwrap();
        let spectrum = Spectrum::of(&data);
        // tr A / (n d) = 5/9, so that 9 and 1 are worth 81/5 and 9/5 rows.
        assert!((spectrum.coverage(0) - 16.2).abs() < 1e-12 && (spectrum.coverage(1) - 1.8).abs() < 1e-12);
        assert!((spectrum.effective_dimension() - 100.0 / 82.0).abs() < 1e-12);
        let half = 0.5f64.sqrt();
        assert!((spectrum.variance(&[half, half]).unwrap() - 1.0 / 9.0).abs() < 1e-12);
        // (A⁻¹)_11 = 5/9 and A_11 / n = 5/9.
        assert!((spectrum.variance(&[1.0, 0.0]).unwrap() - 5.0 / 9.0).abs() < 1e-12);
        assert!((spectrum.reach(&[1.0, 0.0]) - (5f64 / 9.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn nothing_is_covered_by_no_rows() {
        let spectrum = Spectrum::of(&RidgeStatistic::new(3).unwrap());
        assert!(spectrum.coverage(0) == 0.0 && spectrum.effective_dimension() == 0.0 && !spectrum.is_full());
        assert_eq!(spectrum.variance(&[1.0, 0.0, 0.0]), None);
    }
}
