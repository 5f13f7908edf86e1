//! What live data says about the drift between logs and live truth.
//!
//! The logs leave `θ† ~ N(θ_off, G⁻¹)`, live data of Gram matrix A and moment b belongs to `θ_* = θ† + Δ`;
//! both are divided by their noise variance here, so that matrices are precisions. Integrating θ† out,
//!
//! ```text
//! log p(live | Δ) = hᵀΔ - ½ ΔᵀQΔ + const,     Q = A(A + G)⁻¹G,   h = G(A + G)⁻¹(b - Aθ_off)
//! θ_* | Δ, all data ~ N(θ_pool + RΔ, (A + G)⁻¹),     θ_pool = (A + G)⁻¹(Gθ_off + b),   R = (A + G)⁻¹G
//! ```
//!
//! Q is the parallel sum of A and G: a direction's drift is known as well as the worse known of the two.
//! A may be singular; no ridge is needed.

use crate::dense::{self, Matrix, Vector};
use crate::error::Result;
use crate::statistic::RidgeStatistic;

/// See the module's head.
#[derive(Debug)]
pub(crate) struct DriftLikelihood {
    /// Q.
    pub(crate) information: Matrix,
    /// h.
    pub(crate) shift: Vector,
    /// θ_pool: the estimate if there were no drift.
    pub(crate) pooled: Vector,
    /// (A + G)⁻¹.
    pub(crate) covariance: Matrix,
    /// log det(A + G).
    pub(crate) log_det: f64,
    /// R.
    pub(crate) gain: Matrix,
}

impl DriftLikelihood {
    /// From the logs' precision G and estimate, and live A and b. O(d³).
    pub(crate) fn new(logs: &Matrix, estimate: &Vector, gram: &Matrix, moment: &Vector) -> Result<Self> {
        let factor = dense::cholesky("the pooled precision", &(gram + logs))?;
        // A(A+G)⁻¹G as (C⁻¹A)ᵀ(C⁻¹G) with A+G = CCᵀ: nothing cancels.
        let inverse = dense::invert_lower(&factor);
        let whitened_logs = &inverse * logs;
        let product = (&inverse * gram).tr_mul(&whitened_logs);
        let gain = inverse.tr_mul(&whitened_logs);
        let surprise = moment - gram * estimate;
        Ok(Self {
            information: (&product + product.transpose()) * 0.5,
            shift: gain.tr_mul(&surprise),
            pooled: estimate + dense::solve_from_factor(&factor, &surprise),
            covariance: inverse.tr_mul(&inverse),
            log_det: dense::log_det_from_factor(&factor),
            gain,
        })
    }

    /// Mean and covariance of θ_* when the drift is known up to N(mean, covariance).
    pub(crate) fn live(&self, mean: &Vector, covariance: &Matrix) -> (Vector, Matrix) {
        let spread = &self.gain * covariance * self.gain.transpose();
        (&self.pooled + &self.gain * mean, &self.covariance + spread)
    }
}

/// Columns along which drift is looked for: the coordinate axes times `unit`, and `θ_off` times `relative`,
/// because logs that are off by a factor are common.
pub(crate) fn dictionary(estimate: &Vector, unit: f64, relative: f64) -> Matrix {
    let dimension = estimate.len();
    let mut columns = Matrix::identity(dimension, dimension + 1) * unit;
    columns.set_column(dimension, &(estimate * relative));
    columns
}

/// The live data of several layers in one.
pub(crate) fn merged<'a>(
    dimension: usize,
    parts: impl IntoIterator<Item = &'a RidgeStatistic>,
) -> Result<RidgeStatistic> {
    let mut all = RidgeStatistic::new(dimension)?;
    for part in parts {
        all.merge(part)?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_direction_by_hand() {
        let matrix = |value| Matrix::from_element(1, 1, value);
        let vector = |value| Vector::from_element(1, value);
        // Logs: 2 with precision 4; live: three observations that sum to 3, so that their mean is 1.
        let found = DriftLikelihood::new(&matrix(4.0), &vector(2.0), &matrix(3.0), &vector(3.0)).unwrap();
        // Q = 3·4/7; the drift estimate Q⁻¹h is 1 - 2.
        assert!((found.information[0] - 12.0 / 7.0).abs() < 1e-15);
        assert!((found.shift[0] / found.information[0] + 1.0).abs() < 1e-15);
        assert!((found.pooled[0] - 11.0 / 7.0).abs() < 1e-15);
        // With the drift known to be -1 the estimate is 1, with covariance 1/7; an unknown one adds to it.
        let (mean, covariance) = found.live(&vector(-1.0), &matrix(0.0));
        assert!((mean[0] - 1.0).abs() < 1e-15 && (covariance[0] - 1.0 / 7.0).abs() < 1e-15);
        assert!((found.live(&vector(-1.0), &matrix(1.0)).1[0] - (1.0 / 7.0 + 16.0 / 49.0)).abs() < 1e-15);
    }
}
