//! Dense O(d³) steps, taken at construction and at epoch starts, never inside a round.

use nalgebra::{DMatrix, DVector};

use crate::error::{Error, Result};

/// A dense matrix of the API.
pub type Matrix = DMatrix<f64>;
/// A dense vector of the API.
pub type Vector = DVector<f64>;

/// Largest size of a number that the library takes: its square and a sum of squares stay finite.
pub(crate) const LARGEST: f64 = 1e100;

/// Refuses NaN, infinities and numbers whose squares could overflow, naming the first.
pub(crate) fn check_numbers(what: &'static str, numbers: &[f64]) -> Result<()> {
    // `NaN <= LARGEST` is false, so one comparison covers all three.
    match numbers.iter().position(|number| !(number.abs() <= LARGEST)) {
        None => Ok(()),
        Some(index) => Err(Error::NotFinite { what, index, value: numbers[index] }),
    }
}

/// Refuses a vector of another length than `expected`.
pub(crate) fn check_length(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}

/// Lower Cholesky factor C with CCᵀ = `matrix`, or the eigenvalue that stands in the way.
pub(crate) fn cholesky(what: &'static str, matrix: &Matrix) -> Result<Matrix> {
    match matrix.clone().cholesky() {
        Some(factor) => Ok(factor.l()),
        None => Err(Error::NotPositiveDefinite { what, eigenvalue: matrix.symmetric_eigenvalues().min() }),
    }
}

/// C⁻¹ of a lower triangular `factor` with a positive diagonal.
pub(crate) fn invert_lower(factor: &Matrix) -> Matrix {
    let mut inverse = Matrix::identity(factor.nrows(), factor.ncols());
    factor.solve_lower_triangular_mut(&mut inverse);
    inverse
}

/// (CCᵀ)⁻¹ from the lower Cholesky factor C.
pub(crate) fn inverse_from_factor(factor: &Matrix) -> Matrix {
    let inverse = invert_lower(factor);
    inverse.tr_mul(&inverse)
}

/// log det(CCᵀ) from the lower Cholesky factor C.
pub(crate) fn log_det_from_factor(factor: &Matrix) -> f64 {
    2.0 * factor.diagonal().iter().map(|entry| entry.ln()).sum::<f64>()
}

/// (CCᵀ)⁻¹ `right` from the lower Cholesky factor C.
pub(crate) fn solve_from_factor(factor: &Matrix, right: &Vector) -> Vector {
    let mut solution = right.clone();
    factor.solve_lower_triangular_mut(&mut solution);
    factor.tr_solve_lower_triangular_mut(&mut solution);
    solution
}

/// Refuses a matrix that is not a finite, symmetric `dimension x dimension` one.
pub(crate) fn check_symmetric(what: &'static str, dimension: usize, matrix: &Matrix) -> Result<()> {
    check_length(what, dimension * dimension, matrix.len())?;
    check_length(what, dimension, matrix.nrows())?;
    check_numbers(what, matrix.as_slice())?;
    // Matrices computed elsewhere are symmetric up to the rounding of their largest entries.
    let tolerance = 1e-10 * matrix.amax();
    for row in 0..dimension {
        for column in 0..row {
            let (value, mirrored) = (matrix[(row, column)], matrix[(column, row)]);
            if (value - mirrored).abs() > tolerance {
                return Err(Error::NotSymmetric { what, row, column, value, mirrored });
            }
        }
    }
    Ok(())
}
