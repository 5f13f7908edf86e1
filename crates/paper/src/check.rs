//! Checks at the edge of the theorems: the core's, and those of matrices that are given row by row.

use nalgebra::DMatrix;
use truenorth::Result;
pub(crate) use truenorth::check::*;

/// Log-determinants are differences of rounded numbers; a layer without rounds may show -1e-15.
const ROUNDING: f64 = 1e-9;

/// A log-determinant increment: at least 0, with rounding below 0 taken as 0.
pub(crate) fn increment(name: &'static str, value: f64) -> Result<f64> {
    if (-ROUNDING..0.0).contains(&value) { Ok(0.0) } else { at_least_zero(name, value) }
}

/// A symmetric matrix from its entries, row by row.
pub(crate) fn matrix(what: &'static str, entries: &[f64]) -> Result<DMatrix<f64>> {
    let side = entries.len().isqrt().max(1);
    length(what, side * side, entries.len())?;
    numbers(what, entries)?;
    let matrix = DMatrix::from_row_slice(side, side, entries);
    symmetric(what, &matrix)?;
    Ok(matrix)
}

/// Lower Cholesky factor of a symmetric positive definite matrix, given row by row.
pub(crate) fn factor(what: &'static str, entries: &[f64]) -> Result<DMatrix<f64>> {
    let matrix = matrix(what, entries)?;
    let factor = matrix.clone().cholesky();
    factor
        .map(nalgebra::Cholesky::unpack)
        .ok_or_else(|| indefinite(what, matrix.symmetric_eigenvalues().min()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_below_zero_is_zero_and_more_is_refused() {
        assert_eq!(increment("log_det", -1e-14), Ok(0.0));
        assert_eq!(increment("log_det", 0.25), Ok(0.25));
        assert!(increment("log_det", -1e-6).is_err());
    }

    #[test]
    fn matrices_that_are_not_positive_definite_are_refused_with_the_reason() {
        let says = |entries: &[f64]| factor("M", entries).unwrap_err().to_string();
        assert_eq!(says(&[1.0; 6]), "M must hold 4 numbers, but holds 6");
        assert_eq!(says(&[]), "M must hold 1 numbers, but holds 0");
        assert_eq!(
            says(&[1.0, f64::NAN, 0.0, 1.0]),
            "M 1 must be finite and at most 1e50 in size, but is NaN"
        );
        let mirrored = "M must be symmetric, but entry (1, 0) is 0.1 and its mirror image 0.2";
        assert_eq!(says(&[1.0, 0.2, 0.1, 1.0]), mirrored);
        // Eigenvalues of [[1, 2], [2, 1]]: 3 and -1.
        let indefinite = says(&[1.0, 2.0, 2.0, 1.0]);
        let eigenvalue =
            indefinite.strip_prefix("M must be positive definite, but its smallest eigenvalue is ");
        assert!((eigenvalue.unwrap().parse::<f64>().unwrap() + 1.0).abs() < 1e-12, "{indefinite}");
    }
}
