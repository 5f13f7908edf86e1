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
        let product = dense::transposed_product(&(&inverse * gram), &whitened_logs);
        let gain = dense::transposed_product(&inverse, &whitened_logs);
        let surprise = moment - gram * estimate;
        Ok(Self {
            information: (&product + product.transpose()) * 0.5,
            shift: gain.tr_mul(&surprise),
            pooled: estimate + dense::solve_from_factor(&factor, &surprise),
            covariance: dense::square_of_lower(&inverse),
            log_det: dense::log_det_from_factor(&factor),
            gain,
        })
    }

    /// log ∫ p(live | θ) N(θ; θ_off, G⁻¹) dθ, without drift; `log_det` is that of G.
    pub(crate) fn log_evidence(
        &self,
        log_det: f64,
        estimate: &Vector,
        gram: &Matrix,
        moment: &Vector,
    ) -> f64 {
        let fitted = gram * estimate;
        let surprise = moment - &fitted;
        moment.dot(estimate) - 0.5 * estimate.dot(&fitted)
            + 0.5 * (surprise.dot(&(&self.covariance * &surprise)) - self.log_det + log_det)
    }
}

/// Columns along which drift is looked for: the coordinate axes times `unit`, and `θ_off`, because logs that are off by
/// a factor are common. As a matrix, `B = (unit · I, common)`.
#[derive(Debug)]
pub(crate) struct Dictionary {
    unit: f64,
    common: Vector,
}

impl Dictionary {
    pub(crate) fn new(estimate: &Vector, unit: f64) -> Self {
        Self { unit, common: estimate.clone() }
    }

    /// `Bᵀh`.
    pub(crate) fn project(&self, h: &Vector) -> Vector {
        (h * self.unit).push(self.common.dot(h))
    }

    /// `Bw`.
    pub(crate) fn combine(&self, w: &Vector) -> Vector {
        let last = self.common.len();
        w.rows(0, last) * self.unit + &self.common * w[last]
    }

    /// `BᵀQB`. O(d²).
    pub(crate) fn restrict(&self, q: &Matrix) -> Matrix {
        let last = self.common.len();
        let column = self.project(&(q * &self.common));
        let mut restricted = q.clone().resize(last + 1, last + 1, 0.0);
        restricted *= self.unit * self.unit;
        restricted.set_row(last, &column.transpose());
        restricted.set_column(last, &column);
        restricted
    }

    /// `BSBᵀ`. O(d²).
    pub(crate) fn spread(&self, s: &Matrix) -> Matrix {
        let last = self.common.len();
        let mut spread = s.view((0, 0), (last, last)) * (self.unit * self.unit);
        // What the common column shares with the others, and half of what is its own.
        let shared = s.view((0, last), (last, 1)) * self.unit + &self.common * (0.5 * s[(last, last)]);
        spread.ger(1.0, &shared.column(0), &self.common, 1.0);
        spread.ger(1.0, &self.common, &shared.column(0), 1.0);
        spread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dictionary_is_the_matrix_that_it_stands_for() {
        let (unit, common) = (0.7, Vector::from_vec(vec![1.0, -2.0, 0.5]));
        let dictionary = Dictionary::new(&common, unit);
        let mut b = Matrix::identity(3, 4) * unit;
        b.set_column(3, &common);
        let symmetric = |side: usize| Matrix::from_fn(side, side, |i, j| (1 + i * j + i + j) as f64 / 7.0);
        let vector = |side: usize| Vector::from_fn(side, |i, _| 1.0 / (i + 1) as f64);
        assert!((dictionary.project(&vector(3)) - b.transpose() * vector(3)).amax() < 1e-14);
        assert!((dictionary.combine(&vector(4)) - &b * vector(4)).amax() < 1e-14);
        assert!((dictionary.restrict(&symmetric(3)) - b.transpose() * symmetric(3) * &b).amax() < 1e-13);
        assert!((dictionary.spread(&symmetric(4)) - &b * symmetric(4) * b.transpose()).amax() < 1e-13);
    }

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
        let mean = &found.pooled + &found.gain * vector(-1.0);
        assert!((mean[0] - 1.0).abs() < 1e-15 && (found.covariance[0] - 1.0 / 7.0).abs() < 1e-15);
        assert!(((&found.gain * found.gain.transpose())[0] - 16.0 / 49.0).abs() < 1e-15);
    }
}
