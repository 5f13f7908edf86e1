//! Dense O(d³) steps, taken at construction and at epoch starts, never inside a round.

use nalgebra::{DMatrix, DVector};

use crate::error::{Error, Result};

/// A dense matrix of the API.
pub type Matrix = DMatrix<f64>;
/// A dense vector of the API.
pub type Vector = DVector<f64>;

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
