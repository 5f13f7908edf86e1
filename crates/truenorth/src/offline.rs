//! What the logs say: offline precision, estimate, radius, and Proposition 1's region.

use serde::{Deserialize, Serialize};

use crate::certificate::Certificate;
use crate::check;
use crate::dense::{self, Matrix, Vector};
use crate::error::Result;
use crate::statistic::RidgeStatistic;

/// Ridge regression of the logs: `G_off = λI + Σ z zᵀ` and `θ̂_off = G_off⁻¹ Σ z y`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Offline {
    ridge: f64,
    precision: Matrix,
    /// Lower Cholesky factor of the precision.
    factor: Matrix,
    estimate: Vector,
    /// log det(G_off / λ).
    log_det: f64,
}

impl Offline {
    /// Fits the logs; an empty statistic gives the prior, `G_off = λI` and `θ̂_off = 0`.
    pub fn new(logs: &RidgeStatistic, ridge: f64) -> Result<Self> {
        let precision = logs.precision(ridge)?;
        let factor = dense::cholesky("the offline precision", &precision)?;
        let estimate = dense::solve_from_factor(&factor, &Vector::from_column_slice(logs.moment()));
        let log_det = dense::log_det_from_factor(&factor) - logs.dimension() as f64 * ridge.ln();
        Ok(Self { ridge, precision, factor, estimate, log_det })
    }

    /// λ.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// Number of features d.
    pub fn dimension(&self) -> usize {
        self.estimate.len()
    }

    /// Offline precision `G_off`.
    pub fn precision(&self) -> &Matrix {
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
        ridge_radius(noise, self.log_det, delta) + self.ridge.sqrt() * norm_bound
    }

    /// ‖x‖ in the norm of `G_off⁻¹`: how uncertain the logs are about direction `x`.
    pub fn uncertainty(&self, x: &[f64]) -> Result<f64> {
        check::length("the direction", self.dimension(), x.len())?;
        check::numbers("direction entry", x)?;
        let mut whitened = Vector::from_column_slice(x);
        self.factor.solve_lower_triangular_mut(&mut whitened);
        Ok(whitened.norm())
    }

    /// Whether the sizes fit the dimension: deserialised data may disagree with itself.
    pub(crate) fn is_consistent(&self, dimension: usize) -> bool {
        let square = (dimension, dimension);
        let finite = |matrix: &[f64]| matrix.iter().all(|entry| entry.is_finite());
        self.precision.shape() == square
            && self.factor.shape() == square
            && self.estimate.len() == dimension
            && finite(self.precision.as_slice())
            && finite(self.factor.as_slice())
            && finite(self.estimate.as_slice())
            && self.factor.diagonal().iter().all(|&entry| entry > 0.0)
            && self.log_det.is_finite()
    }

    /// The diagonal of G_off⁻¹. O(d³).
    pub(crate) fn variances(&self) -> Vec<f64> {
        dense::invert_lower(&self.factor).column_iter().map(|column| column.norm_squared()).collect()
    }

    /// G_off⁻¹.
    pub(crate) fn covariance(&self) -> Matrix {
        dense::inverse_from_factor(&self.factor)
    }

    /// A root N of `G_off⁻¹`: ‖N w‖ is the norm of w in `G_off⁻¹`.
    pub(crate) fn covariance_root(&self) -> Matrix {
        dense::invert_lower(&self.factor)
    }
}

/// The self-normalised radius that every branch is made of: σ √(log det + 2 log(1/δ)).
pub(crate) fn ridge_radius(noise: f64, log_det: f64, delta: f64) -> f64 {
    noise * (log_det - 2.0 * delta.ln()).sqrt()
}

/// Proposition 1's confidence region for the live parameter, before any live data:
///
/// ```text
/// C_off = { θ̂_off + u + v : ‖u‖ in G_off ≤ β_off,  ‖v‖ in M_bias ≤ ρ }
/// ```
#[derive(Debug, Clone)]
pub struct OfflineRegion<'a> {
    offline: &'a Offline,
    certificate: &'a Certificate,
    radius: f64,
}

impl<'a> OfflineRegion<'a> {
    /// The region for an offline radius β_off, as [`Offline::radius`] gives it.
    pub fn new(offline: &'a Offline, certificate: &'a Certificate, radius: f64) -> Result<Self> {
        check::length("a row of the certificate's matrix", offline.dimension(), certificate.dimension())?;
        check::at_least_zero("radius", radius)?;
        Ok(Self { offline, certificate, radius })
    }

    /// Support function: the largest `xᵀθ` over the region (Proposition 1, Lemma 1).
    ///
    /// ```text
    /// sup xᵀθ = xᵀθ̂_off + β_off ‖x‖ in G_off⁻¹ + ρ ‖x‖ in M_bias⁻¹
    /// ```
    pub fn support(&self, x: &[f64]) -> Result<f64> {
        let center: f64 = x.iter().zip(self.offline.estimate()).map(|(x, estimate)| x * estimate).sum();
        let statistical = self.radius * self.offline.uncertainty(x)?;
        Ok(center + statistical + self.certificate.bias_bound(x)?)
    }

    /// The parameter of the region at which the support function is attained.
    ///
    /// Both ellipsoids are pushed as far along `x` as they go: `u = β_off G_off⁻¹x / ‖x‖` and
    /// `v = ρ M⁻¹x / ‖x‖`, each norm in the inverse of its matrix.
    pub fn extreme_point(&self, x: &[f64]) -> Result<Vector> {
        let direction = Vector::from_column_slice(x);
        let mut point = self.offline.estimate.clone();
        let uncertainty = self.offline.uncertainty(x)?;
        if uncertainty > 0.0 {
            let pushed = dense::solve_from_factor(&self.offline.factor, &direction);
            point += pushed * (self.radius / uncertainty);
            point += self.certificate.worst_drift(x)?;
        }
        Ok(point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_dimensional() -> (Offline, Certificate) {
        let mut logs = RidgeStatistic::new(2).unwrap();
        for _ in 0..3 {
            logs.observe(&[1.0, 0.0], 2.0).unwrap();
        }
        (
            Offline::new(&logs, 1.0).unwrap(),
            Certificate::from_budgets(&[0.1, 0.5]).unwrap().with_radius(1.0).unwrap(),
        )
    }

    #[test]
    fn radius_is_the_papers_at_ridge_one() {
        let (offline, _) = two_dimensional();
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
        assert!((offline.uncertainty(&[0.0, 3.0, 0.0]).unwrap() - 1.5).abs() < 1e-15);
    }

    #[test]
    fn support_is_attained_at_the_extreme_point_and_nowhere_exceeded() {
        let (offline, certificate) = two_dimensional();
        let region = OfflineRegion::new(&offline, &certificate, 0.8).unwrap();
        // Along the first axis: 1.5 + 0.8/2 + 0.1.
        assert!((region.support(&[1.0, 0.0]).unwrap() - 2.0).abs() < 1e-14);
        for step in 0..12 {
            let angle = f64::from(step) * std::f64::consts::TAU / 12.0;
            let x = [angle.cos(), angle.sin()];
            let support = region.support(&x).unwrap();
            let attained = region.extreme_point(&x).unwrap();
            assert!((attained[0] * x[0] + attained[1] * x[1] - support).abs() < 1e-13);
            for other in 0..24 {
                let other = f64::from(other) * std::f64::consts::TAU / 24.0;
                let point = region.extreme_point(&[other.cos(), other.sin()]).unwrap();
                assert!(point[0] * x[0] + point[1] * x[1] <= support + 1e-13);
            }
        }
    }
}
