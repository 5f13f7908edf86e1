//! Memory that is used again: fresh memory takes longer than many a product. Matrices of a fit that have served leave theirs to the
//! next ones, and a thread keeps some of it until the next fit.

use std::cell::RefCell;

use crate::dense::Matrix;

/// Numbers that a thread keeps room for from one fit to the next, at most: 2 MB.
const MOST: usize = 1 << 18;

thread_local! {
    static SPARE: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) };
}

/// Memory of about so many numbers, if there is some.
fn found(numbers: usize) -> Option<Vec<f64>> {
    let fits = |spare: &Vec<f64>| (numbers..=2 * numbers).contains(&spare.capacity());
    SPARE.with_borrow_mut(|spares| spares.iter().position(fits).map(|at| spares.swap_remove(at)))
}

/// A matrix of zeros.
pub(crate) fn zeros(rows: usize, columns: usize) -> Matrix {
    let Some(mut numbers) = found(rows * columns) else { return Matrix::zeros(rows, columns) };
    numbers.clear();
    numbers.resize(rows * columns, 0.0);
    Matrix::from_vec(rows, columns, numbers)
}

/// A matrix of any numbers.
pub(crate) fn any(rows: usize, columns: usize) -> Matrix {
    let Some(mut numbers) = found(rows * columns) else { return Matrix::zeros(rows, columns) };
    numbers.resize(rows * columns, 0.0);
    Matrix::from_vec(rows, columns, numbers)
}

/// A copy.
pub(crate) fn copied(matrix: &Matrix) -> Matrix {
    let Some(mut numbers) = found(matrix.len()) else { return matrix.clone() };
    numbers.clear();
    numbers.extend_from_slice(matrix.as_slice());
    Matrix::from_vec(matrix.nrows(), matrix.ncols(), numbers)
}

/// A copy of a symmetric matrix, with anything above its diagonal.
pub(crate) fn lower(matrix: &Matrix) -> Matrix {
    let (side, from) = (matrix.nrows(), matrix.as_slice());
    let mut lower = any(side, side);
    for j in 0..side {
        let below = j * side + j..(j + 1) * side;
        lower.as_mut_slice()[below.clone()].copy_from_slice(&from[below]);
    }
    lower
}

/// Leaves the memory of matrices that have served to the next ones of this fit.
pub(crate) fn keep(matrices: impl IntoIterator<Item = Matrix>) {
    // A thread that ends keeps nothing.
    let _ = SPARE.try_with(|spares| {
        spares.borrow_mut().extend(matrices.into_iter().map(|matrix| Vec::from(matrix.data)));
    });
}

/// Gives back what is too much to be kept until the next fit.
pub(crate) fn rest() {
    SPARE.with_borrow_mut(|spares| {
        let mut kept = 0;
        spares.retain(|spare| {
            let fits = kept + spare.capacity() <= MOST;
            kept += if fits { spare.capacity() } else { 0 };
            fits
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_and_little_of_it_is_kept() {
        let place = |matrix: &Matrix| matrix.as_slice().as_ptr();
        let first = copied(&Matrix::from_element(200, 200, 7.0));
        let there = place(&first);
        keep([first]);
        let again = zeros(190, 200);
        assert!(place(&again) == there && again.iter().all(|number| *number == 0.0));
        let half = lower(&Matrix::from_fn(3, 3, |i, j| (i + j) as f64));
        assert_eq!((half[(1, 0)], half[(2, 1)], half[(2, 2)]), (1.0, 3.0, 4.0));
        keep([again].into_iter().chain((0..9).map(|_| Matrix::zeros(200, 200))));
        rest();
        let kept: usize = SPARE.with_borrow(|spares| spares.iter().map(Vec::capacity).sum());
        assert!((1..=MOST).contains(&kept), "{kept}");
    }
}
