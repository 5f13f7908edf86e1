//! Dense O(d³) steps, taken at construction and at epoch starts, never inside a round.

use std::cell::RefCell;

use nalgebra::{DMatrix, DMatrixView, DVector};

use crate::band;
use crate::check;
use crate::error::Result;
use crate::kernel::{
    self, AddProducts, Combine, Eliminate, FactoriseSmall, InvertSmall, Mirror, Other, Packed, SMALL, Small,
    SolveLower, Tall, Transpose, Tridiagonalise,
};
use crate::spare;

/// A dense matrix of the API.
pub(crate) type Matrix = DMatrix<f64>;
/// A dense vector of the API.
pub(crate) type Vector = DVector<f64>;

/// Rows up to which nalgebra's own loops are as fast as those over whole columns of a block.
const TINY: usize = 16;
/// Columns that are eliminated together.
const TOGETHER: usize = 256;

/// Lower Cholesky factor C with CCᵀ = `matrix`, or the eigenvalue that stands in the way.
pub(crate) fn cholesky(what: &'static str, matrix: &Matrix) -> Result<Matrix> {
    let smallest = |_| check::indefinite(what, matrix.symmetric_eigenvalues().min());
    let mut factor = eliminated(what, spare::copied(matrix), &mut []).map_err(smallest)?;
    factor.fill_upper_triangle(0.0, 1);
    Ok(factor)
}

/// Lower Cholesky factor C of a symmetric matrix, with anything above its diagonal, and `C⁻ᵀ`, upper triangular: the inverse is its
/// square, `C⁻ᵀC⁻¹`.
pub(crate) fn roots(what: &'static str, matrix: Matrix) -> Result<(Matrix, Matrix)> {
    let mut root = identity(matrix.nrows());
    let factor = eliminated(what, matrix, &mut [Beside { rows: &mut root, upper: true }])?;
    Ok((factor, root))
}

/// Ones on the diagonal.
pub(crate) fn identity(side: usize) -> Matrix {
    let mut matrix = spare::zeros(side, side);
    matrix.as_mut_slice().iter_mut().step_by(side + 1).for_each(|entry| *entry = 1.0);
    matrix
}

/// Rows of a matrix beside the one that is factorised, which become `BC⁻ᵀ`.
pub(crate) struct Beside<'a> {
    pub(crate) rows: &'a mut Matrix,
    /// Whether they are the identity, and so stay 0 below their diagonal.
    pub(crate) upper: bool,
}

/// Lower Cholesky factor C of a symmetric matrix, with anything above its diagonal; other rows B become `BC⁻ᵀ`.
pub(crate) fn eliminated(
    what: &'static str,
    mut matrix: Matrix,
    beside: &mut [Beside<'_>],
) -> Result<Matrix> {
    // Of what is left of it, nobody can tell the eigenvalue.
    if factorise(&mut matrix, beside) { Ok(matrix) } else { Err(check::indefinite(what, f64::NAN)) }
}

/// Replaces the lower half of a symmetric matrix by its Cholesky factor, and rows beside it; tells whether it has one.
fn factorise(matrix: &mut Matrix, beside: &mut [Beside<'_>]) -> bool {
    let side = matrix.nrows();
    if side > SMALL {
        return with_room(|room| eliminate(matrix, beside, false, room));
    }
    if side <= TINY {
        let Some(factor) = matrix.clone().cholesky() else { return false };
        matrix.copy_from(&factor.unpack_dirty());
    } else {
        let mut columns = small(matrix.as_view());
        if !kernel::run(&mut FactoriseSmall { side, columns: &mut columns }) {
            return false;
        }
        for (mut to, from) in matrix.column_iter_mut().zip(&columns) {
            to.copy_from_slice(&from[..side]);
        }
    }
    if !beside.is_empty() {
        let inverse = inverse_of_small(matrix.as_view()).transpose();
        for Beside { rows, upper } in beside {
            **rows = if *upper { inverse.clone() } else { &**rows * &inverse };
        }
    }
    true
}

/// The same by some columns at a time:
///
/// ```text
/// ( A  Bᵀ )              ( P    )
/// ( B  C  ),  A = PPᵀ,   ( Q  R ),   QPᵀ = B,   RRᵀ = C - QQᵀ
/// ```
///
/// Where the factor is known, only the rows beside it change.
fn eliminate(matrix: &mut Matrix, beside: &mut [Beside<'_>], known: bool, room: &mut Packed) -> bool {
    let (side, across) = matrix.shape();
    for j in (0..side).step_by(TOGETHER) {
        let columns = TOGETHER.min(side - j);
        let (before, after) = matrix.as_mut_slice().split_at_mut(j * across);
        let numbers = before.get(j..).unwrap_or_default();
        let right = Tall { numbers, across, rows: columns, upper: false };
        if j > 0 && !known {
            let (left, to) = (Tall { rows: side - j, ..right }, &mut after[j..]);
            let (terms, factor, half) = (j, -1.0, true);
            kernel::run(&mut AddProducts { left, right, terms, factor, to, across, half, room });
        }
        let mut others = Vec::with_capacity(beside.len());
        for Beside { rows: matrix, upper } in &mut *beside {
            let across = matrix.nrows();
            let (before, to) = matrix.as_mut_slice().split_at_mut(j * across);
            if j > 0 {
                let rows = if *upper { j } else { across };
                let left = Tall { numbers: before, across, rows, upper: *upper };
                let (terms, factor, half) = (j, -1.0, false);
                kernel::run(&mut AddProducts { left, right, terms, factor, to, across, half, room });
            }
            let rows = if *upper { j + columns } else { across };
            others.push(Other { numbers: to, across, rows, upper: *upper });
        }
        let (matrix, rows, others) = (&mut after[j..], side - j, &mut *others);
        if !kernel::run(&mut Eliminate { matrix, across, rows, columns, known, others, room }) {
            return false;
        }
    }
    true
}

/// Does something with room that a thread keeps: fresh memory takes longer than many a product.
fn with_room<T>(act: impl FnOnce(&mut Packed) -> T) -> T {
    thread_local! {
        static ROOM: RefCell<Packed> = RefCell::default();
    }
    ROOM.with_borrow_mut(act)
}

/// All rows of a matrix.
fn tall(matrix: &Matrix, upper: bool) -> Tall<'_> {
    Tall { numbers: matrix.as_slice(), across: matrix.nrows(), rows: matrix.nrows(), upper }
}

/// `left rightᵀ`; each may be known to be 0 below its diagonal.
pub(crate) fn product_transposed(left: (&Matrix, bool), right: (&Matrix, bool)) -> Matrix {
    if left.0.nrows().max(left.0.ncols()) <= SMALL {
        return left.0 * right.0.transpose();
    }
    let mut product = spare::zeros(left.0.nrows(), right.0.nrows());
    add_product(&mut product, 1.0, left, right, false);
    product
}

/// Adds it, times a factor, to a matrix; perhaps nothing but the lower half.
fn add_product(to: &mut Matrix, factor: f64, left: (&Matrix, bool), right: (&Matrix, bool), half: bool) {
    let (across, terms) = (to.nrows(), left.0.ncols());
    let (left, right, to) = (tall(left.0, left.1), tall(right.0, right.1), to.as_mut_slice());
    with_room(|room| {
        kernel::run(&mut AddProducts { left, right, terms, factor, to, across, half, room });
    });
}

/// Adds `factor · left rightᵀ`, which is known to be symmetric, to the lower half of a symmetric matrix.
pub(crate) fn add_symmetric(to: &mut Matrix, factor: f64, left: (&Matrix, bool), right: (&Matrix, bool)) {
    if to.nrows() <= SMALL {
        to.gemm(factor, left.0, &right.0.transpose(), 1.0);
        return;
    }
    add_product(to, factor, left, right, true);
}

/// `left rightᵀ`, which is known to be symmetric: half of it is computed.
pub(crate) fn symmetric_product(left: (&Matrix, bool), right: (&Matrix, bool)) -> Matrix {
    let mut product = spare::zeros(left.0.nrows(), right.0.nrows());
    add_symmetric(&mut product, 1.0, left, right);
    mirror_up(&mut product);
    product
}

/// The transpose.
pub(crate) fn transposed(matrix: &Matrix) -> Matrix {
    let (rows, columns) = matrix.shape();
    let mut transposed = spare::any(columns, rows);
    let (from, to) = (matrix.as_slice(), transposed.as_mut_slice());
    kernel::run(&mut Transpose { from, to, rows, columns });
    transposed
}

/// Copies what is above the diagonal to its place below.
pub(crate) fn mirror(matrix: &mut Matrix) {
    let side = matrix.nrows();
    kernel::run(&mut Mirror { matrix: matrix.as_mut_slice(), side, down: true });
}

/// Copies what is below the diagonal to its place above.
pub(crate) fn mirror_up(matrix: &mut Matrix) {
    let side = matrix.nrows();
    kernel::run(&mut Mirror { matrix: matrix.as_mut_slice(), side, down: false });
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
    if factor.nrows() <= SMALL {
        return inverse_of_small(factor.as_view());
    }
    transposed_inverse(factor).transpose()
}

/// C⁻ᵀ of more rows than are small.
fn transposed_inverse(factor: &Matrix) -> Matrix {
    let (mut factor, mut root) = (factor.clone(), identity(factor.nrows()));
    with_room(|room| eliminate(&mut factor, &mut [Beside { rows: &mut root, upper: true }], true, room));
    root
}

/// `leftᵀ right`.
pub(crate) fn transposed_product(left: &Matrix, right: &Matrix) -> Matrix {
    left.transpose() * right
}

/// RᵀR of many rows, some of them at a time: a transpose of all of them would need as much memory again.
pub(crate) fn square_of_columns(matrix: &Matrix) -> Matrix {
    let mut square = spare::zeros(matrix.ncols(), matrix.ncols());
    for first in (0..matrix.nrows()).step_by(TOGETHER) {
        let rows = matrix.rows(first, TOGETHER.min(matrix.nrows() - first)).transpose();
        add_symmetric(&mut square, 1.0, (&rows, false), (&rows, false));
    }
    mirror_up(&mut square);
    square
}

/// RᵀR of a lower triangular R, which is given back before the product takes its room.
pub(crate) fn square_of_lower(root: Matrix) -> Matrix {
    let transposed = root.transpose();
    if root.nrows() <= SMALL {
        return transposed * root;
    }
    drop(root);
    symmetric_product((&transposed, true), (&transposed, true))
}

/// (CCᵀ)⁻¹ from the lower Cholesky factor C.
pub(crate) fn inverse_from_factor(factor: &Matrix) -> Matrix {
    if factor.nrows() <= SMALL {
        return square_of_lower(invert_lower(factor));
    }
    let root = transposed_inverse(factor);
    symmetric_product((&root, true), (&root, true))
}

/// Diagonal of UUᵀ, with U upper triangular.
pub(crate) fn diagonal_from_root(root: &Matrix) -> Vector {
    let mut diagonal = Vector::zeros(root.nrows());
    for (j, column) in root.column_iter().enumerate() {
        let there = diagonal.as_mut_slice()[..=j].iter_mut().zip(column.as_slice());
        there.for_each(|(sum, entry)| *sum += entry * entry);
    }
    diagonal
}

/// log det(CCᵀ) from the lower Cholesky factor C.
pub(crate) fn log_det_from_factor(factor: &Matrix) -> f64 {
    2.0 * factor.diagonal().iter().map(|entry| entry.ln()).sum::<f64>()
}

/// The columns of a matrix from one on, times their weights; it may be known to be 0 below its diagonal.
pub(crate) fn combined((matrix, upper): (&Matrix, bool), first: usize, weights: &[f64]) -> Vector {
    let across = matrix.nrows();
    let (columns, known) = (&matrix.as_slice()[first * across..], if upper { first } else { across });
    let mut combined = Vector::zeros(across);
    kernel::run(&mut Combine { columns, across, known, weights, to: combined.as_mut_slice() });
    combined
}

/// Replaces a vector y by `C⁻¹y` of a lower triangular C.
pub(crate) fn solve_lower(factor: &Matrix, right: &mut Vector) {
    kernel::run(&mut SolveLower { factor: factor.as_slice(), right: right.as_mut_slice() });
}

/// (CCᵀ)⁻¹ `right` from the lower Cholesky factor C and `C⁻ᵀ`.
pub(crate) fn solve_from_roots((factor, root): (&Matrix, &Matrix), right: &Vector) -> Vector {
    let mut whitened = right.clone();
    solve_lower(factor, &mut whitened);
    combined((root, true), 0, whitened.as_slice())
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
    fn elimination_and_products_are_those_of_plain_loops_whatever_the_side() {
        for side in [1, 5, 17, 32, 33, 40, 64, 97, 130, 200, 256, 257, 300] {
            let number = |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * j) % 1009) as f64 / 1009.0 - 0.5;
            let [a, b] = [3, side].map(|rows| Matrix::from_fn(rows, side, number));
            let matrix = &b * b.transpose() + Matrix::identity(side, side);
            let close = |a: &Matrix, b: &Matrix| (a - b).amax() < 1e-10 * (1.0 + b.amax());
            let (mut root, mut rows) = (identity(side), a.clone());
            let beside = [(&mut root, true), (&mut rows, false)];
            let mut beside = beside.map(|(rows, upper)| Beside { rows, upper });
            let factor = eliminated("a matrix", matrix.clone(), &mut beside).unwrap().lower_triangle();
            assert!(close(&(&factor * factor.transpose()), &matrix), "{side}");
            assert!(close(&(root.transpose() * &factor), &identity(side)), "{side}");
            assert!(close(&(&rows * factor.transpose()), &a), "{side}");
            assert!(close(&invert_lower(&factor), &root.transpose()), "{side}");
            assert!(
                close(&product_transposed((&root, true), (&a, false)), &(&root * a.transpose())),
                "{side}"
            );
            let square = &root * root.transpose();
            assert!(close(&symmetric_product((&root, true), (&root, true)), &square), "{side}");
            assert!(close(&inverse_from_factor(&factor), &square), "{side}");
            assert!(close(&square_of_lower(factor.clone()), &(factor.transpose() * &factor)), "{side}");
            let error =
                cholesky("a matrix", &(&matrix - identity(side) * (2.0 * matrix.trace()))).unwrap_err();
            assert!(error.is_singular(), "{side}");
        }
        // Nothing is said of numbers that are not the matrix's.
        let indefinite = Matrix::from_row_slice(2, 2, &[1.0, 2.0, 2.0, 1.0]);
        let [whole, half] = [cholesky("M", &indefinite).err(), roots("M", spare::lower(&indefinite)).err()]
            .map(Option::unwrap);
        assert_eq!(whole.to_string(), "M must be positive definite, but its smallest eigenvalue is -1");
        assert_eq!(half.to_string(), "M must be positive definite, but is not");
    }

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
