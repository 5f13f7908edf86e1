//! Alignment of the logs' coverage with the certificate: one number for a whole pair of matrices.
//!
//! ```text
//! c_align = λ_max(G_off^½ M⁻¹ G_off^½) = max_x  xᵀ G_off x / xᵀ M x              (Theorem 2)
//! ```
//!
//! It is large where the logs are precise in a direction that the certificate lets drift: there
//! pooling routes the most bias into the estimate.

use truenorth::Result;

use crate::check;

/// `ρ √c_align`: what the bias adds to the prefactor of a regret bound.
pub fn bias_scale(radius: f64, alignment: f64) -> Result<f64> {
    Ok(check::at_least_zero("radius", radius)? * check::at_least_zero("alignment", alignment)?.sqrt())
}

/// `c_align` of an offline precision and a certificate's matrix, both symmetric positive definite, row by row.
///
/// Computed as the squared spectral norm of `L⁻¹C`, with `M = LLᵀ` and `G_off = CCᵀ`: neither M is
/// inverted nor a square root taken, and the matrix handed to the eigenvalue solver is symmetric
/// to the last bit. O(d³).
pub fn alignment(offline_precision: &[f64], certificate: &[f64]) -> Result<f64> {
    let what = "the certificate's matrix";
    let mut ratio = check::factor("the offline precision", offline_precision)?;
    let factor = check::factor(what, certificate)?;
    check::length(what, ratio.len(), factor.len())?;
    factor.solve_lower_triangular_mut(&mut ratio);
    let value = (&ratio * ratio.transpose()).symmetric_eigenvalues().max();
    check::range(value.is_finite(), "alignment", "finite", value)
}

/// `ĉ_k` of the learned certificate `M̂_k = (G_on⁻¹ + G_off⁻¹)⁻¹` (Corollary 2).
///
/// ```text
/// G_off^½ (G_on⁻¹ + G_off⁻¹) G_off^½ = G_off^½ G_on⁻¹ G_off^½ + I
/// ```
///
/// So the parallel sum need not be formed, and `ĉ_k` is one more than the alignment of `G_off` with
/// `G_on`: a learned certificate is never better aligned than 1.
pub fn learned_alignment(offline_precision: &[f64], online_precision: &[f64]) -> Result<f64> {
    Ok(1.0 + alignment(offline_precision, online_precision)?)
}
