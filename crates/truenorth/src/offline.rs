//! What the logs say: offline precision, estimate, radius.

use crate::check;
use crate::dense::{self, Matrix, Vector};
use crate::error::Result;
use crate::statistic::RidgeStatistic;
use crate::triangle::Triangle;

/// Ridge regression of the logs: `G_off = λI + Σ z zᵀ` and `θ̂_off = G_off⁻¹ Σ z y`.
#[derive(Debug, Clone, PartialEq)]
#[doc(hidden)]
pub struct Offline {
    /// λ, which is multiplied by the square of each column's unit.
    lambda: f64,
    ridge: Vector,
    precision: Matrix,
    /// Lower Cholesky factor of the precision.
    factor: Triangle,
    estimate: Vector,
    /// log det(G_off / λ).
    log_det: f64,
}

impl Offline {
    /// Fits the logs; an empty statistic gives the prior, `G_off = λI` and `θ̂_off = 0`.
    pub fn new(logs: &RidgeStatistic, ridge: f64) -> Result<Self> {
        check::positive("ridge", ridge)?;
        let units = Vector::from_element(logs.dimension(), 1.0);
        Self::with_ridge(ridge, &units, logs.gram_matrix(), &Vector::from_column_slice(logs.moment()))
    }

    /// The same for columns with units: `λu²` takes the place of λ.
    pub(crate) fn with_ridge(lambda: f64, units: &Vector, gram: Matrix, moment: &Vector) -> Result<Self> {
        let ridge = units.map(|unit| lambda * unit * unit);
        let mut precision = gram;
        for (i, ridge) in ridge.iter().enumerate() {
            precision[(i, i)] += ridge;
        }
        let factor = dense::cholesky("the offline precision", &precision)?;
        let estimate = dense::solve_from_factor(&factor, moment);
        // Column by column, so that units cancel before logarithms round.
        let log_det = 2.0
            * factor
                .diagonal()
                .iter()
                .zip(&ridge)
                .map(|(root, ridge)| (root / ridge.sqrt()).ln())
                .sum::<f64>();
        let factor = Triangle::from_matrix(&factor);
        Ok(Self { lambda, ridge, precision, factor, estimate, log_det })
    }

    /// What a sparse policy has instead: no features.
    pub(crate) fn none(lambda: f64) -> Self {
        let (ridge, estimate) = (Vector::zeros(0), Vector::zeros(0));
        let (precision, factor) = (Matrix::zeros(0, 0), Triangle::zeros(0));
        Self { lambda, ridge, precision, factor, estimate, log_det: 0.0 }
    }

    /// λ of each column.
    pub(crate) fn ridge(&self) -> &Vector {
        &self.ridge
    }

    /// Number of features d.
    pub fn dimension(&self) -> usize {
        self.estimate.len()
    }

    /// Offline precision `G_off`, row by row.
    pub fn precision(&self) -> &[f64] {
        self.precision.as_slice()
    }

    pub(crate) fn precision_matrix(&self) -> &Matrix {
        &self.precision
    }

    /// Offline estimate `θ̂_off`.
    pub fn estimate(&self) -> &[f64] {
        self.estimate.as_slice()
    }

    /// log det(G_off / λ): how much the logs know, 0 without logs.
    pub fn log_det(&self) -> f64 {
        self.log_det
    }

    /// Confidence radius of the estimate in the norm of `G_off`, with probability `1 - delta`, for a
    /// `delta` in (0, 1].
    ///
    /// ```text
    /// β_off(δ) = σ √(log det(G_off / λ) + 2 log(1/δ)) + √λ S          (Proposition 1)
    /// ```
    pub fn radius(&self, noise: f64, norm_bound: f64, delta: f64) -> f64 {
        ridge_radius(noise, self.log_det, delta) + self.lambda.sqrt() * norm_bound
    }

    /// G_off⁻¹.
    pub(crate) fn covariance(&self) -> Matrix {
        dense::inverse_from_factor(&self.factor.to_triangular())
    }

    /// A root N of `G_off⁻¹`: ‖N w‖ is the norm of w in `G_off⁻¹`.
    pub(crate) fn covariance_root(&self) -> Matrix {
        dense::invert_lower(&self.factor.to_triangular())
    }
}

/// The self-normalised radius that every branch is made of: σ √(log det + 2 log(1/δ)).
pub(crate) fn ridge_radius(noise: f64, log_det: f64, delta: f64) -> f64 {
    noise * (log_det - 2.0 * delta.ln()).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radius_is_the_papers_at_ridge_one() {
        let mut logs = RidgeStatistic::new(2).unwrap();
        for _ in 0..3 {
            logs.observe(&[1.0, 0.0], 2.0).unwrap();
        }
        let offline = Offline::new(&logs, 1.0).unwrap();
        // G_off = diag(4, 1): log det = log 4; θ̂_off = (6/4, 0).
        assert!((offline.log_det() - 4f64.ln()).abs() < 1e-15);
        assert_eq!(offline.estimate(), [1.5, 0.0]);
        let by_hand = 0.1 * (2.0 * (2.0 / 0.05f64).ln()).sqrt() + 3.0;
        assert!((offline.radius(0.1, 3.0, 0.05) - by_hand).abs() < 1e-14);
    }

    #[test]
    fn without_logs_the_prior_remains() {
        let offline = Offline::new(&RidgeStatistic::new(3).unwrap(), 4.0).unwrap();
        assert!(offline.log_det().abs() < 1e-15);
        // √λ S = 2 · 1.5 when δ = 1 switches the statistical part off.
        assert!((offline.radius(0.7, 1.5, 1.0) - 3.0).abs() < 1e-15);
        assert_eq!(offline.precision()[4].to_bits(), 4f64.to_bits());
    }
}
