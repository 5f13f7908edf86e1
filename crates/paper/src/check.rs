//! Checks at the edge of the theorems: what passes them cannot overflow a formula.

use nalgebra::DMatrix;
use truenorth::{Error, Result};

/// Largest size of a number that is taken: its square and a sum of squares stay finite.
const LARGEST: f64 = 1e50;

/// Log-determinants are differences of rounded numbers; a layer without rounds may show -1e-15.
const ROUNDING: f64 = 1e-9;

/// The value itself, if what must hold of it does.
pub(crate) fn that(name: &'static str, range: &'static str, value: f64, holds: bool) -> Result<f64> {
    if holds { Ok(value) } else { Err(Error::Parameter { name, range, value }) }
}

pub(crate) fn at_least_zero(name: &'static str, value: f64) -> Result<f64> {
    that(name, "at least 0 and at most 1e50", value, (0.0..=LARGEST).contains(&value))
}

pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64> {
    that(name, "at least 1e-50 and at most 1e50", value, (1e-50..=LARGEST).contains(&value))
}

pub(crate) fn probability(name: &'static str, value: f64) -> Result<f64> {
    that(name, "strictly between 0 and 1", value, value > 0.0 && value < 1.0)
}

pub(crate) fn at_least_one(name: &'static str, value: u64) -> Result<f64> {
    that(name, "at least 1", value as f64, value >= 1)
}

/// A log-determinant increment: at least 0, with rounding below 0 taken as 0.
pub(crate) fn increment(name: &'static str, value: f64) -> Result<f64> {
    if (-ROUNDING..0.0).contains(&value) { Ok(0.0) } else { at_least_zero(name, value) }
}

/// Refuses a list of another length than `expected`.
pub(crate) fn length(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}

/// A symmetric matrix from its entries, row by row.
pub(crate) fn symmetric(what: &'static str, entries: &[f64]) -> Result<DMatrix<f64>> {
    let side = entries.len().isqrt().max(1);
    length(what, side * side, entries.len())?;
    if let Some(index) = entries.iter().position(|entry| !(-LARGEST..=LARGEST).contains(entry)) {
        return Err(Error::NotFinite { what, index, value: entries[index] });
    }
    // Rows are columns.
    let matrix = DMatrix::from_column_slice(side, side, entries);
    // Matrices computed elsewhere are symmetric up to the rounding of their largest entries.
    let tolerance = 1e-10 * matrix.amax();
    for row in 0..side {
        for column in 0..row {
            let (value, mirrored) = (entries[row * side + column], entries[column * side + row]);
            if (value - mirrored).abs() > tolerance {
                return Err(Error::NotSymmetric { what, row, column, value, mirrored });
            }
        }
    }
    Ok(matrix)
}

/// Lower Cholesky factor of a symmetric positive definite matrix, given row by row.
pub(crate) fn factor(what: &'static str, entries: &[f64]) -> Result<DMatrix<f64>> {
    let matrix = symmetric(what, entries)?;
    let eigenvalue = || matrix.symmetric_eigenvalues().min();
    let factor = matrix.clone().cholesky();
    factor
        .map(nalgebra::Cholesky::unpack)
        .ok_or_else(|| Error::NotPositiveDefinite { what, eigenvalue: eigenvalue() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_refused_with_name_range_and_value() {
        let refused = probability("delta", 1.0).unwrap_err().to_string();
        assert_eq!(refused, "`delta` must be strictly between 0 and 1, but is 1");
        for check in [at_least_zero, positive] {
            let impossible = [f64::NAN, f64::INFINITY, -1e-300, 1.1e50];
            assert!(impossible.iter().all(|&value| check("noise", value).is_err()));
        }
        assert!(positive("noise", 0.0).is_err() && at_least_zero("noise", 0.0).is_ok());
    }

    #[test]
    fn rounding_below_zero_is_zero_and_more_is_refused() {
        assert_eq!(increment("log_det", -1e-14), Ok(0.0));
        assert_eq!(increment("log_det", 0.25), Ok(0.25));
        assert!(increment("log_det", -1e-6).is_err());
    }

    #[test]
    fn matrices_that_are_not_positive_definite_are_refused_with_the_reason() {
        let says = |entries: &[f64]| factor("M", entries).unwrap_err();
        assert_eq!(says(&[1.0; 6]), Error::Length { what: "M", expected: 4, found: 6 });
        assert_eq!(says(&[]), Error::Length { what: "M", expected: 1, found: 0 });
        assert!(matches!(says(&[1.0, f64::NAN, 0.0, 1.0]), Error::NotFinite { index: 1, .. }));
        assert!(matches!(
            says(&[1.0, 0.2, 0.1, 1.0]),
            Error::NotSymmetric { row: 1, column: 0, value: 0.1, mirrored: 0.2, .. }
        ));
        // Eigenvalues of [[1, 2], [2, 1]]: 3 and -1.
        let Error::NotPositiveDefinite { eigenvalue, .. } = says(&[1.0, 2.0, 2.0, 1.0]) else {
            panic!("an indefinite matrix passed for another failure");
        };
        assert!((eigenvalue + 1.0).abs() < 1e-12);
    }
}
