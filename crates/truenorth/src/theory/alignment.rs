//! Alignment of the logs' coverage with the certificate: one number for a whole pair of matrices.
//!
//! ```text
//! c_align = λ_max(G_off^½ M⁻¹ G_off^½) = max_x  xᵀ G_off x / xᵀ M x              (Theorem 2)
//! ```
//!
//! It is large where the logs are precise in a direction that the certificate lets drift: there
//! pooling routes the most bias into the estimate.

use nalgebra::DMatrix;

use crate::check;
use crate::dense;
use crate::error::{Error, Result};

/// Bias radius ρ with the alignment `c_align` of its certificate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AlignedBias {
    radius: f64,
    alignment: f64,
}

impl AlignedBias {
    /// From ρ and `c_align`.
    pub fn new(radius: f64, alignment: f64) -> Result<Self> {
        Ok(Self {
            radius: check::at_least_zero("radius", radius)?,
            alignment: check::at_least_zero("alignment", alignment)?,
        })
    }

    /// From the offline precision and a certificate's matrix and radius.
    pub fn of(offline_precision: &DMatrix<f64>, certificate: &DMatrix<f64>, radius: f64) -> Result<Self> {
        Self::new(radius, alignment(offline_precision, certificate)?)
    }

    /// `ρ √c_align`: what the bias adds to the prefactor of a regret bound.
    pub fn scale(&self) -> f64 {
        self.radius * self.alignment.sqrt()
    }
}

/// `c_align` of an offline precision and a certificate's matrix, both symmetric positive definite.
///
/// Computed as the squared spectral norm of `L⁻¹C`, with `M = LLᵀ` and `G_off = CCᵀ`: neither M is
/// inverted nor a square root taken, and the matrix handed to the eigenvalue solver is symmetric
/// to the last bit. O(d³).
pub fn alignment(offline_precision: &DMatrix<f64>, certificate: &DMatrix<f64>) -> Result<f64> {
    let mut ratio = definite("the offline precision", offline_precision)?;
    let factor = definite("the certificate's matrix", certificate)?;
    if factor.len() != ratio.len() {
        let (expected, found) = (ratio.len(), factor.len());
        return Err(Error::Length { what: "the certificate's matrix", expected, found });
    }
    factor.solve_lower_triangular_mut(&mut ratio);
    let value = (&ratio * ratio.transpose()).symmetric_eigenvalues().max();
    if value.is_finite() {
        Ok(value)
    } else {
        Err(Error::Parameter { name: "alignment", range: "finite", value })
    }
}

fn definite(what: &'static str, matrix: &DMatrix<f64>) -> Result<DMatrix<f64>> {
    check::symmetric(what, matrix)?;
    dense::cholesky(what, matrix)
}

/// `ĉ_k` of the learned certificate `M̂_k = (G_on⁻¹ + G_off⁻¹)⁻¹` (Corollary 2).
///
/// ```text
/// G_off^½ (G_on⁻¹ + G_off⁻¹) G_off^½ = G_off^½ G_on⁻¹ G_off^½ + I
/// ```
///
/// So the parallel sum need not be formed, and `ĉ_k` is one more than the alignment of `G_off` with
/// `G_on`: a learned certificate is never better aligned than 1.
pub fn learned_alignment(offline_precision: &DMatrix<f64>, online_precision: &DMatrix<f64>) -> Result<f64> {
    Ok(1.0 + alignment(offline_precision, online_precision)?)
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{Numbers, Trajectory};
    use super::super::pooled::{PooledPath, PooledRadius, RadiusParams};
    use super::*;
    use nalgebra::SymmetricEigen;

    fn root(matrix: &DMatrix<f64>) -> DMatrix<f64> {
        let eigen = SymmetricEigen::new(matrix.clone());
        let roots = DMatrix::from_diagonal(&eigen.eigenvalues.map(f64::sqrt));
        &eigen.eigenvectors * roots * eigen.eigenvectors.transpose()
    }

    /// As the paper writes it: the largest eigenvalue of G^½ M⁻¹ G^½.
    fn as_defined(offline: &DMatrix<f64>, inverse: &DMatrix<f64>) -> f64 {
        let root = root(offline);
        (&root * inverse * &root).symmetric_eigenvalues().max()
    }

    #[test]
    fn diagonal_matrices_by_hand() {
        let diagonal = |a, b| DMatrix::from_diagonal(&nalgebra::DVector::from_vec(vec![a, b]));
        // Ratios 4/8 and 3/0.5: the second direction is well covered and free to drift.
        let aligned = alignment(&diagonal(4.0, 3.0), &diagonal(8.0, 0.5)).unwrap();
        assert!((aligned - 6.0).abs() < 1e-14);
        let bias = AlignedBias::of(&diagonal(4.0, 3.0), &diagonal(8.0, 0.5), 2.0).unwrap();
        assert!((bias.scale() - 2.0 * 6f64.sqrt()).abs() < 1e-14);
    }

    #[test]
    fn agrees_with_the_definition_on_random_matrices() {
        let mut numbers = Numbers::seeded(4);
        for dimension in 1..7 {
            let offline = numbers.precision(dimension, 20);
            let certificate = numbers.precision(dimension, 5) * 0.3;
            let expected = as_defined(&offline, &certificate.clone().try_inverse().unwrap());
            let found = alignment(&offline, &certificate).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-12, "{found} against {expected}");
        }
    }

    #[test]
    fn is_the_smallest_factor_that_dominates() {
        let mut numbers = Numbers::seeded(5);
        let (offline, certificate) = (numbers.precision(4, 12), numbers.precision(4, 3));
        let aligned = alignment(&offline, &certificate).unwrap();
        let smallest = |factor: f64| (&certificate * factor - &offline).symmetric_eigenvalues().min();
        assert!(smallest(aligned * (1.0 + 1e-9)) > 0.0);
        assert!(smallest(aligned * (1.0 - 1e-9)) < 0.0);
    }

    #[test]
    fn learned_alignment_is_that_of_the_parallel_sum() {
        let mut numbers = Numbers::seeded(6);
        let (offline, online) = (numbers.precision(4, 50), numbers.precision(4, 9));
        let [a, b] = [&online, &offline].map(|matrix| matrix.clone().try_inverse().unwrap());
        let expected = as_defined(&offline, &(a + b));
        let found = learned_alignment(&offline, &online).unwrap();
        assert!((found / expected - 1.0).abs() < 1e-12 && found > 1.0);
    }

    #[test]
    fn bounds_the_routed_bias_of_a_played_trajectory() {
        let mut numbers = Numbers::seeded(7);
        let (offline, certificate) = (numbers.precision(3, 25), numbers.precision(3, 2));
        let inverse = certificate.clone().try_inverse().unwrap();
        let played = Trajectory::play(&mut numbers, &offline, 2, &[60], |_| inverse.clone());
        let params = RadiusParams { offline_radius: 0.0, noise: 0.0, delta_pool_min: 0.5 };
        let path = PooledPath::new(PooledRadius::new(params).unwrap(), &played.layers).unwrap();
        // Ψ̃_T ≤ √(2 c_align T Λ̃_T), from the proof of Theorem 2.
        let most = alignment(&offline, &certificate).unwrap().sqrt() * path.potential();
        let routed: f64 = played.routed[0].iter().sum();
        assert!(routed <= most && routed > 0.2 * most, "{routed} against {most}");
    }

    #[test]
    fn impossible_inputs_are_refused() {
        let identity = DMatrix::identity(2, 2);
        let singular = alignment(&identity, &DMatrix::from_element(2, 2, 1.0)).unwrap_err();
        assert!(singular.to_string().starts_with("the certificate's matrix must be positive definite"));
        let larger = alignment(&identity, &DMatrix::identity(3, 3)).unwrap_err();
        assert_eq!(larger, Error::Length { what: "the certificate's matrix", expected: 4, found: 9 });
        assert!(AlignedBias::new(-1.0, 1.0).is_err() && AlignedBias::new(1.0, f64::NAN).is_err());
    }
}
