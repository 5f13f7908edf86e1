//! Dense O(d³) steps, taken at construction and at epoch starts, never inside a round.

use nalgebra::{DMatrix, DMatrixView, DMatrixViewMut, DVector};

use crate::band;
use crate::check;
use crate::error::Result;
use crate::kernel::{self, FactoriseSmall, InvertSmall, SMALL, Small, Tridiagonalise};

/// A dense matrix of the API.
pub(crate) type Matrix = DMatrix<f64>;
/// A dense vector of the API.
pub(crate) type Vector = DVector<f64>;

/// Rows up to which products of blocks gain nothing from half of them being 0.
const WORTH: usize = 64;
/// Rows up to which nalgebra's own loops are as fast as those over whole columns of a block.
const TINY: usize = 16;

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
    if side <= TINY {
        let Some(factor) = matrix.clone_owned().cholesky() else { return false };
        matrix.copy_from(&factor.unpack_dirty());
        return true;
    }
    if side <= SMALL {
        let mut columns = small(matrix.as_view());
        if !kernel::run(&mut FactoriseSmall { side, columns: &mut columns }) {
            return false;
        }
        for (mut to, from) in matrix.column_iter_mut().zip(&columns) {
            to.copy_from_slice(&from[..side]);
        }
        return true;
    }
    let half = (side / 2).next_multiple_of(8);
    if !factorise(matrix.view_mut((0, 0), (half, half))) {
        return false;
    }
    let mut below = matrix.view((half, 0), (side - half, half)).transpose();
    solve_lower(matrix.view((0, 0), (half, half)), below.as_view_mut());
    let below = below.transpose();
    subtract_square(below.as_view(), matrix.view_mut((half, half), (side - half, side - half)));
    matrix.view_mut((half, 0), (side - half, half)).copy_from(&below);
    factorise(matrix.view_mut((half, half), (side - half, side - half)))
}

/// A block as the smallest loops want it.
fn small(matrix: DMatrixView<'_, f64>) -> Small {
    let mut columns = [[0.0; SMALL]; SMALL];
    for (to, from) in columns.iter_mut().zip(matrix.column_iter()) {
        to[..matrix.nrows()].iter_mut().zip(&from).for_each(|(to, &from)| *to = from);
    }
    columns
}

/// C⁻¹ of a small lower triangle, of which nothing above the diagonal is looked at.
fn inverse_of_small(factor: DMatrixView<'_, f64>) -> Matrix {
    let side = factor.nrows();
    if side <= TINY {
        let mut inverse = Matrix::identity(side, side);
        factor.solve_lower_triangular_unchecked_mut(&mut inverse);
        return inverse;
    }
    let columns = small(factor);
    let mut rows = [[0.0; SMALL]; SMALL];
    kernel::run(&mut InvertSmall { side, columns: &columns, rows: &mut rows });
    Matrix::from_fn(side, side, |i, j| rows[i][j])
}

/// Takes the lower half of QQᵀ away.
fn subtract_square(q: DMatrixView<'_, f64>, mut from: DMatrixViewMut<'_, f64>) {
    let side = q.nrows();
    if side <= WORTH {
        from.gemm(-1.0, &q, &q.transpose(), 1.0);
        return;
    }
    let half = (side / 2).next_multiple_of(8);
    let (above, below) = (q.rows(0, half), q.rows(half, side - half));
    subtract_square(above, from.view_mut((0, 0), (half, half)));
    from.view_mut((half, 0), (side - half, half)).gemm(-1.0, &below, &above.transpose(), 1.0);
    subtract_square(below, from.view_mut((half, half), (side - half, side - half)));
}

/// Replaces `right` by C⁻¹ `right`; what is above the diagonal of C is not looked at.
fn solve_lower(factor: DMatrixView<'_, f64>, mut right: DMatrixViewMut<'_, f64>) {
    let side = factor.nrows();
    if side <= SMALL {
        let before = right.clone_owned();
        right.gemm(1.0, &inverse_of_small(factor), &before, 0.0);
        return;
    }
    let half = (side / 2).next_multiple_of(8);
    let (mut above, mut below) = right.rows_range_pair_mut(..half, half..);
    solve_lower(factor.view((0, 0), (half, half)), above.as_view_mut());
    below.gemm(-1.0, &factor.view((half, 0), (side - half, half)), &above, 1.0);
    solve_lower(factor.view((half, half), (side - half, side - half)), below.as_view_mut());
}

/// `T right` of a lower triangular T with zeros above its diagonal.
pub(crate) fn lower_product(lower: &Matrix, right: &Matrix) -> Matrix {
    let mut product = Matrix::zeros(right.nrows(), right.ncols());
    add_lower_product(lower.as_view(), right.as_view(), product.as_view_mut());
    product
}

fn add_lower_product(
    lower: DMatrixView<'_, f64>,
    right: DMatrixView<'_, f64>,
    mut to: DMatrixViewMut<'_, f64>,
) {
    let side = lower.nrows();
    if side <= WORTH {
        to.gemm(1.0, &lower, &right, 1.0);
        return;
    }
    let half = (side / 2).next_multiple_of(8);
    let (above, below) = (right.rows(0, half), right.rows(half, side - half));
    add_lower_product(lower.view((0, 0), (half, half)), above, to.rows_mut(0, half));
    to.rows_mut(half, side - half).gemm(1.0, &lower.view((half, 0), (side - half, half)), &above, 1.0);
    let last = lower.view((half, half), (side - half, side - half));
    add_lower_product(last, below, to.rows_mut(half, side - half));
}

/// `T right` of an upper triangular T with zeros below its diagonal.
pub(crate) fn upper_product(upper: &Matrix, right: &Matrix) -> Matrix {
    let mut product = Matrix::zeros(right.nrows(), right.ncols());
    add_upper_product(upper.as_view(), right.as_view(), product.as_view_mut());
    product
}

fn add_upper_product(
    upper: DMatrixView<'_, f64>,
    right: DMatrixView<'_, f64>,
    mut to: DMatrixViewMut<'_, f64>,
) {
    let side = upper.nrows();
    if side <= WORTH {
        to.gemm(1.0, &upper, &right, 1.0);
        return;
    }
    let half = (side / 2).next_multiple_of(8);
    let (above, below) = (right.rows(0, half), right.rows(half, side - half));
    add_upper_product(upper.view((0, 0), (half, half)), above, to.rows_mut(0, half));
    to.rows_mut(0, half).gemm(1.0, &upper.view((0, half), (half, side - half)), &below, 1.0);
    let last = upper.view((half, half), (side - half, side - half));
    add_upper_product(last, below, to.rows_mut(half, side - half));
}

/// `left right`, which is known to be symmetric: half of it is computed.
pub(crate) fn symmetric_product(left: &Matrix, right: &Matrix) -> Matrix {
    let mut product = Matrix::zeros(left.nrows(), right.ncols());
    add_symmetric_product(left.as_view(), right.as_view(), product.as_view_mut());
    product.fill_upper_triangle_with_lower_triangle();
    product
}

/// Adds its lower half.
fn add_symmetric_product(
    left: DMatrixView<'_, f64>,
    right: DMatrixView<'_, f64>,
    mut to: DMatrixViewMut<'_, f64>,
) {
    let side = left.nrows();
    if side <= WORTH {
        to.gemm(1.0, &left, &right, 1.0);
        return;
    }
    let half = (side / 2).next_multiple_of(8);
    let rest = side - half;
    add_symmetric_product(left.rows(0, half), right.columns(0, half), to.view_mut((0, 0), (half, half)));
    to.view_mut((half, 0), (rest, half)).gemm(1.0, &left.rows(half, rest), &right.columns(0, half), 1.0);
    let last = to.view_mut((half, half), (rest, rest));
    add_symmetric_product(left.rows(half, rest), right.columns(half, rest), last);
}

/// Rows from which on three diagonals are found in two stages, because half the matrix does not stay in a core's cache.
const LARGE: usize = 768;

/// A symmetric matrix as seen from directions in which it has three diagonals, `A = QTQᵀ`, with `Qᵀy` of two vectors y. Many
/// regressions with the same matrix and other ridges are cheap then.
#[derive(Debug, Default)]
pub(crate) struct Tridiagonal {
    pub(crate) diagonal: Vec<f64>,
    /// One after each entry of the diagonal; 0 after the last, so that some can follow each other.
    pub(crate) beside: Vec<f64>,
    pub(crate) vectors: [Vec<f64>; 2],
}

impl Tridiagonal {
    /// Adds a matrix beside those that are there, with which it has nothing in common. O(d³).
    pub(crate) fn add(&mut self, mut matrix: Matrix, vectors: [&Vector; 2]) {
        let (side, before) = (matrix.nrows(), self.diagonal.len());
        self.beside.resize(before + side, 0.0);
        let [first, second] = &mut self.vectors;
        first.extend(vectors[0]);
        second.extend(vectors[1]);
        if side >= LARGE {
            let (diagonal, beside) = band::tridiagonal(matrix, [&mut first[before..], &mut second[before..]]);
            self.diagonal.extend(diagonal);
            self.beside[before..].copy_from_slice(&beside);
            return;
        }
        kernel::run(&mut Tridiagonalise {
            side,
            matrix: matrix.as_mut_slice(),
            vectors: [&mut first[before..], &mut second[before..]],
            beside: &mut self.beside[before..],
        });
        self.diagonal.extend(matrix.diagonal().iter());
    }

    /// The pivots of `T + ridge` from the first row on, and the trace of its inverse.
    pub(crate) fn pivots(&self, ridge: f64, pivots: &mut Vec<f64>) -> f64 {
        let Self { diagonal, beside, .. } = self;
        pivots.clear();
        for (i, entry) in diagonal.iter().enumerate() {
            let above = if i > 0 { beside[i - 1] * beside[i - 1] / pivots[i - 1] } else { 0.0 };
            // A is no less than 0; what rounding takes away is not let through.
            pivots.push((entry + ridge - above).max(ridge * 1e-3));
        }
        let (mut trace, mut below) = (0.0, 0.0);
        for i in (0..diagonal.len()).rev() {
            // Pivots from the last row on are this without what comes from above.
            trace += (pivots[i] - below).max(ridge * 1e-3).recip();
            let last = (diagonal[i] + ridge - below).max(ridge * 1e-3);
            below = if i > 0 { beside[i - 1] * beside[i - 1] / last } else { 0.0 };
        }
        trace
    }

    /// `(T + ridge)⁻¹ right`, given the pivots.
    pub(crate) fn solve(&self, pivots: &[f64], right: &[f64], solution: &mut Vec<f64>) {
        solution.clear();
        for (i, entry) in right.iter().enumerate() {
            let above = if i > 0 { self.beside[i - 1] / pivots[i - 1] * solution[i - 1] } else { 0.0 };
            solution.push(entry - above);
        }
        for i in (0..right.len()).rev() {
            let below = if i + 1 < right.len() { self.beside[i] * solution[i + 1] } else { 0.0 };
            solution[i] = (solution[i] - below) / pivots[i];
        }
    }
}

/// C⁻¹ of a lower triangular `factor` with a positive diagonal.
pub(crate) fn invert_lower(factor: &Matrix) -> Matrix {
    let mut inverse = factor.clone();
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
        let inverse = inverse_of_small(factor.as_view());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_diagonals_give_the_regressions_of_the_matrix_itself() {
        for side in [1, 2, 3, 8, 21, 50] {
            let number = |i: usize, j: usize| ((i * 7919 + j * 104_729) % 1009) as f64 / 1009.0 - 0.5;
            let root = Matrix::from_fn(side, side.max(3) - 2, number);
            let matrix = &root * root.transpose();
            let [first, second] = [7, 9].map(|seed| Vector::from_fn(side, |i, _| number(i, seed)));
            let mut three = Tridiagonal::default();
            three.add(matrix.clone(), [&first, &second]);
            three.add(matrix.clone() * 2.0, [&second, &first]);
            for ridge in [1e-3, 0.1, 30.0] {
                let (mut pivots, mut solution) = (Vec::new(), Vec::new());
                let trace = three.pivots(ridge, &mut pivots);
                three.solve(&pivots, &three.vectors[0], &mut solution);
                let inverse =
                    |matrix: Matrix| (matrix + Matrix::identity(side, side) * ridge).try_inverse().unwrap();
                let [one, other] = [inverse(matrix.clone()), inverse(&matrix * 2.0)];
                let close = |a: f64, b: f64| (a - b).abs() < 1e-7 * (1.0 + b.abs());
                assert!(close(trace, one.trace() + other.trace()), "{side} {ridge}");
                let expected = (&one * &first).dot(&first) + (&other * &second).dot(&second);
                let found: f64 = solution.iter().zip(&three.vectors[0]).map(|(a, b)| a * b).sum();
                assert!(close(found, expected), "{side} {ridge}: {found} {expected}");
                let expected = (&one * &first).dot(&second) + (&other * &second).dot(&first);
                let found: f64 = solution.iter().zip(&three.vectors[1]).map(|(a, b)| a * b).sum();
                assert!(close(found, expected), "{side} {ridge}: {found} {expected}");
            }
        }
    }
}
