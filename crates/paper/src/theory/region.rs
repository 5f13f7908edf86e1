//! Proposition 1's confidence region for the live parameter, before any live data:
//!
//! ```text
//! C_off = { θ̂_off + u + v : ‖u‖ in G_off ≤ β_off,  ‖v‖ in M_bias ≤ ρ }
//! ```

use nalgebra::{DMatrix, DVector};
use truenorth::{Certificate, Offline, Result};

use crate::check;

/// The region of some logs and a certificate.
#[derive(Debug, Clone)]
pub struct OfflineRegion<'a> {
    offline: &'a Offline,
    certificate: &'a Certificate,
    radius: f64,
    /// Lower Cholesky factor of `G_off`.
    factor: DMatrix<f64>,
}

impl<'a> OfflineRegion<'a> {
    /// The region for an offline radius β_off, as [`Offline::radius`] gives it.
    pub fn new(offline: &'a Offline, certificate: &'a Certificate, radius: f64) -> Result<Self> {
        check::length("a row of the certificate's matrix", offline.dimension(), certificate.dimension())?;
        check::at_least_zero("radius", radius)?;
        let factor = check::factor("the offline precision", offline.precision())?;
        Ok(Self { offline, certificate, radius, factor })
    }

    /// Support function: the largest `xᵀθ` over the region (Proposition 1, Lemma 1).
    ///
    /// ```text
    /// sup xᵀθ = xᵀθ̂_off + β_off ‖x‖ in G_off⁻¹ + ρ ‖x‖ in M_bias⁻¹
    /// ```
    pub fn support(&self, x: &[f64]) -> Result<f64> {
        let allowed = self.certificate.bias_bound(x)?;
        let center: f64 = x.iter().zip(self.offline.estimate()).map(|(x, estimate)| x * estimate).sum();
        Ok(center + self.radius * self.whitened(x).norm() + allowed)
    }

    /// The parameter of the region at which the support function is attained.
    ///
    /// Both ellipsoids are pushed as far along `x` as they go: `u = β_off G_off⁻¹x / ‖x‖` and
    /// `v = ρ M⁻¹x / ‖x‖`, each norm in the inverse of its matrix.
    pub fn extreme_point(&self, x: &[f64]) -> Result<Vec<f64>> {
        let drift = self.certificate.worst_drift(x)?;
        let mut pushed = self.whitened(x);
        let uncertainty = pushed.norm();
        let scale = if uncertainty > 0.0 { self.radius / uncertainty } else { 0.0 };
        self.factor.tr_solve_lower_triangular_mut(&mut pushed);
        let parts = self.offline.estimate().iter().zip(&pushed).zip(drift);
        Ok(parts.map(|((estimate, u), v)| estimate + scale * u + v).collect())
    }

    /// C⁻¹x, whose length is that of x in `G_off⁻¹`.
    fn whitened(&self, x: &[f64]) -> DVector<f64> {
        let mut whitened = DVector::from_column_slice(x);
        self.factor.solve_lower_triangular_mut(&mut whitened);
        whitened
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truenorth::RidgeStatistic;

    #[test]
    fn support_is_attained_at_the_extreme_point_and_nowhere_exceeded() {
        let mut logs = RidgeStatistic::new(2).unwrap();
        for _ in 0..3 {
            logs.observe(&[1.0, 0.0], 2.0).unwrap();
        }
        let offline = Offline::new(&logs, 1.0).unwrap();
        let certificate = Certificate::from_budgets(&[0.1, 0.5]).unwrap().with_radius(1.0).unwrap();
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
