//! Dense O(d³) steps, taken at construction and at epoch starts, never inside a round.

use nalgebra::{DMatrix, DMatrixView, DMatrixViewMut, DVector};

use crate::check;
use crate::error::Result;

/// A dense matrix of the API.
pub(crate) type Matrix = DMatrix<f64>;
/// A dense vector of the API.
pub(crate) type Vector = DVector<f64>;

/// Rows up to which nalgebra's own loops are as fast as products of blocks.
const SMALL: usize = 32;

/// Lower Cholesky factor C with CCᵀ = `matrix`, or the eigenvalue that stands in the way.
pub(crate) fn cholesky(what: &'static str, matrix: &Matrix) -> Result<Matrix> {
    let mut factor = matrix.clone();
    if factorise(factor.as_view_mut()) {
        factor.fill_upper_triangle(0.0, 1);
        return Ok(factor);
    }
    Err(check::indefinite(what, matrix.symmetric_eigenvalues().min()))
}

/// Replaces the lower half of a symmetric matrix by its Cholesky factor; tells whether it has one.
///
/// ```text
/// A = PPᵀ,   QPᵀ = B,   RRᵀ = C - QQᵀ       for  ( A  Bᵀ )
///                                                ( B  C  )
/// ```
fn factorise(mut matrix: DMatrixViewMut<'_, f64>) -> bool {
    let side = matrix.nrows();
    if side <= SMALL {
        let Some(factor) = matrix.clone_owned().cholesky() else { return false };
        matrix.copy_from(&factor.unpack_dirty());
        return true;
    }
    let half = (side / 2).next_multiple_of(8);
    if !factorise(matrix.view_mut((0, 0), (half, half))) {
        return false;
    }
    let mut below = matrix.view((half, 0), (side - half, half)).transpose();
    solve_lower(matrix.view((0, 0), (half, half)), below.as_view_mut());
    let below = below.transpose();
    matrix.view_mut((half, half), (side - half, side - half)).gemm(-1.0, &below, &below.transpose(), 1.0);
    matrix.view_mut((half, 0), (side - half, half)).copy_from(&below);
    factorise(matrix.view_mut((half, half), (side - half, side - half)))
}

/// Replaces `right` by C⁻¹ `right`; what is above the diagonal of C is not looked at.
fn solve_lower(factor: DMatrixView<'_, f64>, mut right: DMatrixViewMut<'_, f64>) {
    let side = factor.nrows();
    if side <= SMALL {
        factor.solve_lower_triangular_unchecked_mut(&mut right);
        return;
    }
    let half = (side / 2).next_multiple_of(8);
    let (mut above, mut below) = right.rows_range_pair_mut(..half, half..);
    solve_lower(factor.view((0, 0), (half, half)), above.as_view_mut());
    below.gemm(-1.0, &factor.view((half, 0), (side - half, half)), &above, 1.0);
    solve_lower(factor.view((half, half), (side - half, side - half)), below.as_view_mut());
}

/// C⁻¹ of a lower triangular `factor` with a positive diagonal.
pub(crate) fn invert_lower(factor: &Matrix) -> Matrix {
    let side = factor.nrows();
    if side <= SMALL {
        let mut inverse = Matrix::identity(side, side);
        factor.solve_lower_triangular_unchecked_mut(&mut inverse);
        return inverse;
    }
    let mut inverse = factor.clone();
    inverse.fill_upper_triangle(0.0, 1);
    invert(inverse.as_view_mut());
    inverse
}

/// ```text
/// ( A    )⁻¹    ( A⁻¹             )
/// ( B  C )   =  ( -C⁻¹BA⁻¹   C⁻¹  )
/// ```
fn invert(mut factor: DMatrixViewMut<'_, f64>) {
    let side = factor.nrows();
    if side <= SMALL {
        let mut inverse = Matrix::identity(side, side);
        factor.solve_lower_triangular_unchecked_mut(&mut inverse);
        factor.copy_from(&inverse);
        return;
    }
    let half = (side / 2).next_multiple_of(8);
    invert(factor.view_mut((0, 0), (half, half)));
    let mut below = factor.view((half, 0), (side - half, half)) * factor.view((0, 0), (half, half));
    solve_lower(factor.view((half, half), (side - half, side - half)), below.as_view_mut());
    factor.view_mut((half, 0), (side - half, half)).copy_from(&-below);
    invert(factor.view_mut((half, half), (side - half, side - half)));
}

/// `leftᵀ right`.
pub(crate) fn transposed_product(left: &Matrix, right: &Matrix) -> Matrix {
    left.transpose() * right
}

/// RᵀR of a lower triangular R.
pub(crate) fn square_of_lower(root: &Matrix) -> Matrix {
    let side = root.nrows();
    if side <= SMALL {
        return root.transpose() * root;
    }
    let mut square = Matrix::zeros(side, side);
    add_square_of_lower(root.as_view(), square.as_view_mut());
    square.fill_upper_triangle_with_lower_triangle();
    square
}

/// Adds its lower half.
///
/// ```text
/// ( A    )ᵀ( A    )     ( AᵀA + BᵀB   .   )
/// ( B  C ) ( B  C )  =  (    CᵀB     CᵀC  )
/// ```
fn add_square_of_lower(root: DMatrixView<'_, f64>, mut square: DMatrixViewMut<'_, f64>) {
    let side = root.nrows();
    if side <= SMALL {
        square += root.transpose() * root;
        return;
    }
    let half = (side / 2).next_multiple_of(8);
    let (below, last) =
        (root.view((half, 0), (side - half, half)), root.view((half, half), (side - half, side - half)));
    add_square_of_lower(root.view((0, 0), (half, half)), square.view_mut((0, 0), (half, half)));
    square.view_mut((0, 0), (half, half)).gemm(1.0, &below.transpose(), &below, 1.0);
    square.view_mut((half, 0), (side - half, half)).gemm(1.0, &last.transpose(), &below, 1.0);
    add_square_of_lower(last, square.view_mut((half, half), (side - half, side - half)));
}

/// (CCᵀ)⁻¹ from the lower Cholesky factor C.
pub(crate) fn inverse_from_factor(factor: &Matrix) -> Matrix {
    square_of_lower(&invert_lower(factor))
}

/// Diagonal of (CCᵀ)⁻¹ from the lower Cholesky factor C.
pub(crate) fn inverse_diagonal(factor: &Matrix) -> Vec<f64> {
    invert_lower(factor).column_iter().map(|column| column.norm_squared()).collect()
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
