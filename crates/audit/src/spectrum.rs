//! Eigen-directions of a Gram matrix: where the rows are, and how many directions share them.
//!
//! Columns are divided by their sizes first, so that no direction depends on what a column is measured in.

use truenorth::RidgeStatistic;

use crate::Matrix;
use crate::fit::{Units, quotient};

/// Eigenvalues below this share of the largest are rounding.
const FLOOR: f64 = 1e-12;

/// Entries of an eigenvector below this are rounding.
const CRUMB: f64 = 1e-12;

/// Eigenvalues and eigenvectors of A / n in the units of [`Units`], largest first.
#[derive(Debug, Clone)]
pub(crate) struct Spectrum {
    /// 0 where they are rounding.
    pub(crate) values: Vec<f64>,
    /// Unit vectors as columns; the largest entry of each is positive.
    pub(crate) vectors: Matrix,
    rows: f64,
}

impl Spectrum {
    pub(crate) fn of(data: &RidgeStatistic, units: &Units) -> Self {
        let d = data.dimension();
        let rows = data.count() as f64;
        let entry =
            |gram: &[f64], i: usize, j: usize| gram[i * d + j] / rows / units.columns[i] / units.columns[j];
        let gram = data.gram();
        let moment = Matrix::from_fn(d, d, |i, j| entry(&gram, i, j));
        if rows == 0.0 || moment.iter().any(|entry| !entry.is_finite()) || moment.diagonal().max() <= 0.0 {
            return Self { values: vec![0.0; d], vectors: Matrix::identity(d, d), rows };
        }
        let eigen = moment.symmetric_eigen();
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
        Self { values, vectors, rows }
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

    /// √(qᵀ A q / n): how far a typical row reaches along q.
    pub(crate) fn reach(&self, q: &[f64]) -> f64 {
        let along =
            self.values.iter().zip(self.vectors.column_iter()).map(|(&value, vector)| {
                value * vector.iter().zip(q).map(|(a, b)| a * b).sum::<f64>().powi(2)
            });
        along.sum::<f64>().sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spectrum(data: &RidgeStatistic) -> Spectrum {
        Spectrum::of(data, &Units::of(data, None, 1.0))
    }

    #[test]
    fn two_columns_by_hand() {
        // A = [[5, 4], [4, 5]] from 9 rows: eigenvalues 9 and 1 along (1, 1) and (1, -1); for columns of size 1
        // 9/5 and 1/5.
        let data = RidgeStatistic::from_sums(9, &[5.0, 4.0, 4.0, 5.0], &[0.0, 0.0], 0.0).unwrap();
        let found = spectrum(&data);
        // Their mean is 1, so that they are worth 81/5 and 9/5 rows.
        assert!((found.coverage(0) - 16.2).abs() < 1e-12 && (found.coverage(1) - 1.8).abs() < 1e-12);
        assert!((found.effective_dimension() - 100.0 / 82.0).abs() < 1e-12);
        assert!((found.reach(&[1.0, 0.0]) - 1.0).abs() < 1e-12);
        // A column in thousandths changes nothing.
        let data = RidgeStatistic::from_sums(9, &[5.0, 4000.0, 4000.0, 5e6], &[0.0, 0.0], 0.0).unwrap();
        assert!((spectrum(&data).coverage(1) - 1.8).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_covered_by_no_rows() {
        let found = spectrum(&RidgeStatistic::new(3).unwrap());
        assert!(found.coverage(0) == 0.0 && found.effective_dimension() == 0.0 && !found.is_full());
    }
}
