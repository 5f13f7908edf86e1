//! Memory that is used again: a thread keeps that of a few matrices from one fit to the next, because fresh memory takes longer than
//! many a product.

use std::cell::RefCell;

use crate::dense::Matrix;

/// Numbers that a thread keeps room for, at most.
const MOST: usize = 1 << 21;

thread_local! {
    static SPARE: RefCell<Vec<Vec<f64>>> = const { RefCell::new(Vec::new()) };
}

/// Room for so many numbers.
fn room(numbers: usize) -> Vec<f64> {
    let fits = |spare: &Vec<f64>| (numbers..=2 * numbers).contains(&spare.capacity());
    let found = SPARE.with_borrow_mut(|spares| spares.iter().position(fits).map(|at| spares.swap_remove(at)));
    found.unwrap_or_else(|| Vec::with_capacity(numbers))
}

/// A matrix of zeros.
pub(crate) fn zeros(rows: usize, columns: usize) -> Matrix {
    let mut numbers = room(rows * columns);
    numbers.clear();
    numbers.resize(rows * columns, 0.0);
    Matrix::from_vec(rows, columns, numbers)
}

/// A copy.
pub(crate) fn copied(matrix: &Matrix) -> Matrix {
    let mut numbers = room(matrix.len());
    numbers.clear();
    numbers.extend_from_slice(matrix.as_slice());
    Matrix::from_vec(matrix.nrows(), matrix.ncols(), numbers)
}

/// Keeps the memory of matrices that have served.
pub(crate) fn keep(matrices: impl IntoIterator<Item = Matrix>) {
    // A thread that ends keeps nothing.
    let _ = SPARE.try_with(|spares| {
        let mut spares = spares.borrow_mut();
        let mut kept: usize = spares.iter().map(Vec::capacity).sum();
        for matrix in matrices {
            let numbers: Vec<f64> = matrix.data.into();
            kept += numbers.capacity();
            if kept > MOST {
                break;
            }
            spares.push(numbers);
        }
    });
}
