//! Checks at the edge: what passes them cannot overflow a formula.
//!
//! Sister crates check what they are given in the same words. No part of the interface.

use nalgebra::DMatrix;

use crate::error::{Error, Reason, Result};
use crate::kernel::{self, Within};

/// Largest size of a number that the library takes: its square and a sum of squares stay finite.
const LARGEST: f64 = 1e50;

/// Refuses NaN, infinities and numbers whose squares could overflow, naming the first.
pub fn numbers(what: &'static str, numbers: &[f64]) -> Result<()> {
    match first_unusable(numbers) {
        None => Ok(()),
        Some(index) => Err(Reason::NotFinite { what, index, value: numbers[index] }.into()),
    }
}

/// Position of the first number that is NaN, infinite or too large.
pub(crate) fn first_unusable(numbers: &[f64]) -> Option<usize> {
    // A few are looked at one by one.
    if numbers.len() > 8 && kernel::run(&mut Within { numbers, limit: LARGEST }) {
        return None;
    }
    numbers.iter().position(|number| !(-LARGEST..=LARGEST).contains(number))
}

/// Refuses a list of another length than `expected`.
pub fn length(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Reason::Length { what, expected, found }.into()) }
}

/// The value itself, if what must hold of it does.
pub fn range(holds: bool, name: &'static str, range: &'static str, value: f64) -> Result<f64> {
    if holds { Ok(value) } else { Err(Reason::Parameter { name, range, value }.into()) }
}

pub fn at_least_zero(name: &'static str, value: f64) -> Result<f64> {
    range((0.0..=LARGEST).contains(&value), name, "at least 0 and at most 1e50", value)
}

pub fn positive(name: &'static str, value: f64) -> Result<f64> {
    range((1e-50..=LARGEST).contains(&value), name, "at least 1e-50 and at most 1e50", value)
}

pub fn probability(name: &'static str, value: f64) -> Result<f64> {
    range(value > 0.0 && value < 1.0, name, "strictly between 0 and 1", value)
}

pub fn at_least_one(name: &'static str, value: u64) -> Result<f64> {
    range(value >= 1, name, "at least 1", value as f64)
}

/// Two choices that exclude each other.
pub fn incompatible(first: &'static str, second: &'static str) -> Error {
    Reason::Incompatible { first, second }.into()
}

/// A parameter is absent that is needed "by" or "for" something.
pub fn missing(name: &'static str, purpose: &'static str) -> Error {
    Reason::Missing { name, purpose }.into()
}

/// A matrix with an eigenvalue that it must not have.
pub fn indefinite(what: &'static str, eigenvalue: f64) -> Error {
    Reason::NotPositiveDefinite { what, eigenvalue }.into()
}

/// Refuses a matrix that is not a finite, symmetric square one.
pub fn symmetric(what: &'static str, matrix: &DMatrix<f64>) -> Result<()> {
    let side = matrix.nrows().max(1);
    length(what, side * side, matrix.len())?;
    numbers(what, matrix.as_slice())?;
    // Matrices computed elsewhere are symmetric up to the rounding of their largest entries.
    let tolerance = 1e-10 * matrix.amax();
    for row in 0..side {
        for column in 0..row {
            let (value, mirrored) = (matrix[(row, column)], matrix[(column, row)]);
            if (value - mirrored).abs() > tolerance {
                return Err(Reason::NotSymmetric { what, row, column, value, mirrored }.into());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definite(what: &'static str, matrix: &DMatrix<f64>) -> Result<DMatrix<f64>> {
        symmetric(what, matrix)?;
        crate::dense::cholesky(what, matrix)
    }

    #[test]
    fn numbers_out_of_range_are_refused_with_name_range_and_value() {
        assert_eq!(
            probability("delta", 1.0).unwrap_err().to_string(),
            "`delta` must be strictly between 0 and 1, but is 1"
        );
        for value in [f64::NAN, f64::INFINITY, -1e-300, 1.1e50] {
            assert!(at_least_zero("noise", value).is_err(), "{value}");
            assert!(positive("noise", value).is_err(), "{value}");
        }
        assert!(positive("noise", 0.0).is_err() && at_least_zero("noise", 0.0).is_ok());
    }

    #[test]
    fn matrices_that_are_not_positive_definite_are_refused_with_the_reason() {
        let says = |side, entries: &[f64]| {
            let matrix = DMatrix::from_row_slice(side, entries.len() / side, entries);
            definite("M", &matrix).unwrap_err().0
        };
        assert_eq!(says(2, &[1.0; 6]), Reason::Length { what: "M", expected: 4, found: 6 });
        assert!(matches!(says(2, &[1.0, f64::NAN, 0.0, 1.0]), Reason::NotFinite { index: 2, .. }));
        assert!(matches!(
            says(2, &[1.0, 0.2, 0.1, 1.0]),
            Reason::NotSymmetric { row: 1, column: 0, value: 0.1, mirrored: 0.2, .. }
        ));
        // Eigenvalues of [[1, 2], [2, 1]]: 3 and -1.
        let Reason::NotPositiveDefinite { eigenvalue, .. } = says(2, &[1.0, 2.0, 2.0, 1.0]) else {
            panic!("an indefinite matrix passed for another failure");
        };
        assert!((eigenvalue + 1.0).abs() < 1e-12);
        let empty = definite("M", &DMatrix::zeros(0, 0));
        assert_eq!(empty, Err(Reason::Length { what: "M", expected: 1, found: 0 }.into()));
    }
}
