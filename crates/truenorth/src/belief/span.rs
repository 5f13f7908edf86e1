//! Few rows, many columns: a Gram matrix that is the square of a narrow one.
//!
//! n rows of d ≫ n columns leave `A = RRᵀ` with n columns in R, and all that a ridge regression asks of A is to be had from the n by n
//! matrix `K = RᵀR`: its eigenvalues are those of A but for zeros, and
//!
//! ```text
//! (A + λ)⁻¹Rc = R(K + λ)⁻¹c,       λ(A + λ)⁻¹ = I - WWᵀ,   W = RC⁻ᵀ,   K + λ = CCᵀ
//! ```
//!
//! R is found in A itself, because no rows are kept: by Cholesky's steps from those columns on of which most is left, some at a
//! time, until nothing is left of any.

use crate::dense::{self, Beside, Matrix, Tridiagonal, Vector};
use crate::error::Result;
use crate::kernel;

/// What is left of a diagonal entry is rounding below this share of the largest.
const NOTHING: f64 = 1e-13;
/// Columns that are looked at together.
const TOGETHER: usize = 48;

/// See the module's head.
#[derive(Clone)]
pub(super) struct Span {
    /// R.
    root: Matrix,
    /// Rows of R, one for each of its columns, that are lower triangular together.
    pivots: Vec<usize>,
    /// K.
    square: Matrix,
    /// Its Cholesky factor, as long as nobody has asked for what is seen of A: memory is scarce then.
    factor: Option<Matrix>,
}

impl Span {
    /// From the diagonal of A and its columns, if so many columns of R are enough. O(dn²).
    pub(super) fn new(diagonal: Vec<f64>, column: impl Fn(usize, &mut [f64]), most: usize) -> Option<Self> {
        let (root, pivots) = root(diagonal, column, most)?;
        let square = dense::square_of_columns(&root);
        let factor = dense::cholesky("the products of rows", &square).ok()?;
        Some(Self { root, pivots, square, factor: Some(factor) })
    }

    pub(super) fn trace(&self) -> f64 {
        self.square.trace()
    }

    /// c with `Rc = y`, for a sum y of the rows.
    fn within(&self, y: &Vector) -> Vector {
        let mut within = Vector::from_iterator(self.pivots.len(), self.pivots.iter().map(|&i| y[i]));
        self.root.select_rows(&self.pivots).solve_lower_triangular_mut(&mut within);
        within
    }

    /// Adds A and two sums of rows, as seen from directions in which A is not 0, once. O(n³).
    pub(super) fn add_to(&mut self, gram: &mut Tridiagonal, sums: [&Vector; 2]) {
        let Some(factor) = self.factor.take() else { unreachable!("a fit looks for its evidence once") };
        let [first, second] = sums.map(|y| factor.tr_mul(&self.within(y)));
        gram.add(dense::square_of_lower(factor), [&first, &second]);
    }

    /// `(A + λ)⁻¹y` of two sums of rows, log det(I + A/λ), and W, which takes the place of R. O(dn²).
    pub(super) fn regression(self, ridge: f64, sums: [&Vector; 2]) -> Result<([Vector; 2], f64, Matrix)> {
        let within = sums.map(|y| self.within(y));
        let Self { root: mut w, mut square, .. } = self;
        let rank = square.nrows();
        (0..rank).for_each(|i| square[(i, i)] += ridge);
        let factor =
            dense::eliminated("the live precision", square, &mut [Beside { rows: &mut w, upper: false }])?;
        // R(K + λ)⁻¹c = WC⁻¹c.
        let solved = within.map(|mut c| {
            dense::solve_lower(&factor, &mut c);
            dense::combined((&w, false), 0, c.as_slice())
        });
        let growth = dense::log_det_from_factor(&factor) - rank as f64 * ridge.ln();
        Ok((solved, growth, w))
    }
}

/// R and its pivots, from the diagonal of A and its columns, if so many columns of R are enough. O(dn²).
pub(super) fn root(
    diagonal: Vec<f64>,
    column: impl Fn(usize, &mut [f64]),
    most: usize,
) -> Option<(Matrix, Vec<usize>)> {
    let (side, mut left) = (diagonal.len(), diagonal);
    let nothing = NOTHING * left.iter().copied().fold(0.0, f64::max);
    // Room for all of R: what is never written takes no memory, and what grows is moved again and again.
    let (mut root, mut pivots) = (Matrix::from_vec(side, most, vec![0.0; side * most]), Vec::new());
    loop {
        let mut next: Vec<usize> = (0..side).filter(|&i| left[i] > nothing).collect();
        if next.is_empty() {
            break;
        }
        // The first of several that are equal, whatever the order in which they are sorted.
        next.sort_unstable_by(|&i, &j| left[j].total_cmp(&left[i]).then(i.cmp(&j)));
        next.truncate(TOGETHER);
        let mut rest = Matrix::zeros(side, next.len());
        for (k, &pivot) in next.iter().enumerate() {
            column(pivot, rest.column_mut(k).as_mut_slice());
        }
        let first = pivots.len();
        let known = root.columns(0, first);
        rest.gemm(-1.0, &known, &known.select_rows(&next).transpose(), 1.0);
        let taken = eliminate(&mut rest, &next, nothing);
        for &k in &taken {
            left.iter_mut().zip(&rest.column(k)).for_each(|(left, entry)| *left -= entry * entry);
            left[next[k]] = 0.0;
        }
        // What rounding leaves of those that were passed over is nothing, or they would have been taken.
        for &i in &next {
            left[i] = 0.0;
        }
        pivots.extend(taken.iter().map(|&k| next[k]));
        if pivots.len() > most {
            return None;
        }
        for (k, &from) in taken.iter().enumerate() {
            root.set_column(first + k, &rest.column(from));
        }
    }
    // The room itself stays: an allocator that sees matrices of all sizes go keeps more of them.
    let mut numbers = Vec::from(root.data);
    numbers.truncate(side * pivots.len());
    Some((Matrix::from_vec(side, pivots.len(), numbers), pivots))
}

/// Cholesky's steps on some columns, of which each has its own diagonal entry in one of these rows, until nothing is left of those
/// entries. Tells which columns have become one of R's, in their order.
fn eliminate(columns: &mut Matrix, rows: &[usize], nothing: f64) -> Vec<usize> {
    let mut open: Vec<usize> = (0..rows.len()).collect();
    let mut taken: Vec<usize> = Vec::new();
    loop {
        let largest = open
            .iter()
            .copied()
            .reduce(|best, k| if columns[(rows[k], k)] > columns[(rows[best], best)] { k } else { best });
        let Some(k) = largest.filter(|&k| columns[(rows[k], k)] > nothing) else { return taken };
        open.retain(|&other| other != k);
        let pivot = columns[(rows[k], k)].sqrt();
        let mut column = columns.column(k).into_owned() / pivot;
        // Rounding: what was taken before has nothing left there.
        for &before in &taken {
            column[rows[before]] = 0.0;
        }
        let (across, column) = (columns.nrows(), column.as_slice());
        kernel::wide(|| {
            for &other in &open {
                let factor = column[rows[other]];
                let rest = &mut columns.as_mut_slice()[other * across..][..across];
                rest.iter_mut().zip(column).for_each(|(entry, own)| *entry -= factor * own);
            }
        });
        columns.as_mut_slice()[k * across..][..across].copy_from_slice(column);
        taken.push(k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use rand_distr::{Distribution as _, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn regressions_on_few_rows_are_those_of_the_whole_matrix() {
        for (rows, side) in [(1, 5), (7, 60), (60, 130), (110, 240)] {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
            let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
            let mut data = Matrix::from_fn(rows + 1, side, |_, j| if j < 2 { 0.0 } else { normal() });
            // The last row comes twice.
            data.set_row(rows, &data.row(rows - 1).into_owned());
            let gram = data.tr_mul(&data);
            let sums = [(); 2].map(|()| data.tr_mul(&Vector::from_fn(rows + 1, |_, _| normal())));
            let column = |j: usize, to: &mut [f64]| to.copy_from_slice(gram.column(j).as_slice());
            assert!(Span::new(gram.diagonal().as_slice().to_vec(), column, rows - 1).is_none());
            let span = Span::new(gram.diagonal().as_slice().to_vec(), column, rows).unwrap();
            assert_eq!(span.pivots.len(), rows);
            assert!((span.trace() - gram.trace()).abs() < 1e-9 * gram.trace());
            for ridge in [1e-3, 1.0] {
                let plain = &gram + Matrix::identity(side, side) * ridge;
                let inverse = plain.clone().try_inverse().unwrap();
                let ([first, second], growth, w) = span.clone().regression(ridge, sums.each_ref()).unwrap();
                let rest = Matrix::identity(side, side) - &w * w.transpose();
                assert!((rest - &inverse * ridge).amax() < 1e-9, "{rows}");
                assert!((first - &inverse * &sums[0]).amax() < 1e-8, "{rows}");
                assert!((second - &inverse * &sums[1]).amax() < 1e-8, "{rows}");
                let expected = (plain / ridge).cholesky().unwrap().ln_determinant();
                assert!((growth - expected).abs() < 1e-8 * expected, "{growth} {expected}");
                let [mut narrow, mut whole] = [Tridiagonal::default(), Tridiagonal::default()];
                span.clone().add_to(&mut narrow, sums.each_ref());
                whole.add(gram.clone(), sums.each_ref());
                let of = |gram: &Tridiagonal, missing: usize| {
                    let (mut pivots, mut solution) = (Vec::new(), Vec::new());
                    let trace = gram.pivots(ridge, &mut pivots) + missing as f64 / ridge;
                    gram.solve(&pivots, &gram.vectors[0], &mut solution);
                    let form: f64 = solution.iter().zip(&gram.vectors[1]).map(|(a, b)| a * b).sum();
                    (trace, form)
                };
                let (a, b) = (of(&narrow, side - rows), of(&whole, 0));
                assert!(
                    (a.0 / b.0 - 1.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-7 * (1.0 + b.1.abs()),
                    "{a:?} {b:?}"
                );
            }
        }
    }

    #[test]
    fn rows_of_zeros_say_nothing() {
        let (side, nothing) = (9, Vector::zeros(9));
        let mut span = Span::new(vec![0.0; side], |_, to| to.fill(0.0), side / 2).unwrap();
        let mut gram = Tridiagonal::default();
        span.add_to(&mut gram, [&nothing, &nothing]);
        assert!(gram.diagonal.is_empty());
        let (solved, growth, w) = span.regression(0.5, [&nothing, &nothing]).unwrap();
        assert_eq!((solved, growth, w.shape()), ([nothing.clone(), nothing], 0.0, (side, 0)));
    }
}
