//! A large symmetric matrix to three diagonals in two stages, so that most of the work is products of blocks.
//!
//! Householder's reduction goes over the whole matrix for every column, which takes minutes once it does not fit into a cache. Some columns at
//! a time, it leaves a band: with V and T of the reflections that clear a panel, `H = I - VTVᵀ`,
//!
//! ```text
//! HᵀAH = A - VWᵀ - WVᵀ,     P = AVT,   W = P - ½ V Tᵀ(VᵀP)
//! ```
//!
//! Then rotations of neighbours clear the band but for three diagonals, and chase what each puts beside the band out at its end (Schwarz 1968).

use crate::dense::{Matrix, Vector};

/// Diagonals below the middle one that the first stage leaves.
const WIDTH: usize = 16;

/// The diagonal of `T = QᵀAQ` and what is beside it, with a 0 at its end; two vectors y become `Qᵀy`. O(d³).
pub(crate) fn tridiagonal(mut matrix: Matrix, mut vectors: [&mut [f64]; 2]) -> (Vec<f64>, Vec<f64>) {
    let side = matrix.nrows();
    for first in (0..side).step_by(WIDTH).take_while(|first| first + WIDTH + 1 < side) {
        let below = first + WIDTH;
        let rows = side - below;
        let mut panel = matrix.view((below, first), (rows, WIDTH)).into_owned();
        let (v, t) = reflections(&mut panel);
        matrix.view_mut((below, first), (rows, WIDTH)).copy_from(&panel);
        let mut rest = matrix.view_mut((below, below), (rows, rows));
        let p = &rest * &v * &t;
        let w = &p - &v * (t.transpose() * (v.transpose() * &p)) * 0.5;
        let [left, right] = [[&v, &w], [&w, &v]].map(|[one, other]| {
            let mut both = one.clone().resize_horizontally(2 * WIDTH, 0.0);
            both.columns_mut(WIDTH, WIDTH).copy_from(other);
            both
        });
        rest.gemm(-1.0, &left, &right.transpose(), 1.0);
        for vector in &mut vectors {
            let y = Vector::from_column_slice(&vector[below..]);
            let moved = &y - &v * (t.transpose() * (v.transpose() * &y));
            vector[below..].copy_from_slice(moved.as_slice());
        }
    }
    let mut band = Band::new(&matrix);
    drop(matrix);
    for column in 0..side.saturating_sub(2) {
        for below in (2..=WIDTH.min(side - 1 - column)).rev() {
            band.clear(column, column + below, &mut vectors);
        }
    }
    let beside = (0..side).map(|k| if k + 1 < side { band.column(k)[1] } else { 0.0 }).collect();
    ((0..side).map(|k| band.column(k)[0]).collect(), beside)
}

/// Clears a panel below its diagonal, and returns V and T.
fn reflections(panel: &mut Matrix) -> (Matrix, Matrix) {
    let rows = panel.nrows();
    let (mut v, mut t) = (Matrix::zeros(rows, WIDTH), Matrix::zeros(WIDTH, WIDTH));
    for c in 0..WIDTH.min(rows - 1) {
        let mut x = panel.view((c, c), (rows - c, 1)).into_owned();
        let norm = x.norm();
        let alpha = if x[0] > 0.0 { -norm } else { norm };
        x[0] -= alpha;
        let square = x.norm_squared();
        let beta = if square > 0.0 { 2.0 / square } else { 0.0 };
        for other in c + 1..WIDTH {
            let mut column = panel.view_mut((c, other), (rows - c, 1));
            let along = -beta * x.dot(&column);
            column.zip_apply(&x, |entry, x| *entry += along * x);
        }
        panel.view_mut((c, c), (rows - c, 1)).fill(0.0);
        panel[(c, c)] = alpha;
        v.view_mut((c, c), (rows - c, 1)).copy_from(&x);
        let along = v.view((c, 0), (rows - c, c)).tr_mul(&x) * -beta;
        let above = t.view((0, 0), (c, c)) * along;
        t.view_mut((0, c), (c, 1)).copy_from(&above);
        t[(c, c)] = beta;
    }
    (v, t)
}

/// The diagonal and what is below it, column after column, with room for one diagonal more.
struct Band {
    side: usize,
    entries: Vec<f64>,
}

/// Room of a column.
const ROOM: usize = WIDTH + 2;

impl Band {
    fn new(matrix: &Matrix) -> Self {
        let side = matrix.nrows();
        let mut entries = vec![0.0; side * ROOM];
        for (k, column) in entries.chunks_exact_mut(ROOM).enumerate() {
            for i in 0..=WIDTH.min(side - 1 - k) {
                column[i] = matrix[(k + i, k)];
            }
        }
        Self { side, entries }
    }

    fn column(&self, k: usize) -> &[f64] {
        &self.entries[k * ROOM..][..ROOM]
    }

    /// Clears an entry of a column by turning its row and the one above, and what that puts beside the band.
    fn clear(&mut self, mut column: usize, mut row: usize, vectors: &mut [&mut [f64]; 2]) {
        while row < self.side {
            let at = column * ROOM + row - column;
            let (above, entry) = (self.entries[at - 1], self.entries[at]);
            if entry == 0.0 {
                return;
            }
            let length = above.hypot(entry);
            self.turn(row - 1, above / length, entry / length, vectors);
            self.entries[at] = 0.0;
            (column, row) = (row - 1, row + WIDTH);
        }
    }

    /// Turns rows and columns p and p + 1: the first becomes c p + s q, the second c q - s p.
    fn turn(&mut self, p: usize, c: f64, s: f64, vectors: &mut [&mut [f64]; 2]) {
        let (q, turned) = (p + 1, |x: f64, y: f64| (c * x + s * y, c * y - s * x));
        for j in p.saturating_sub(WIDTH)..p {
            let at = j * ROOM + p - j;
            (self.entries[at], self.entries[at + 1]) = turned(self.entries[at], self.entries[at + 1]);
        }
        let (first, second) = self.entries[p * ROOM..].split_at_mut(ROOM);
        let (pp, qp, qq) = (first[0], first[1], second[0]);
        first[0] = c * c * pp + 2.0 * c * s * qp + s * s * qq;
        first[1] = (c * c - s * s) * qp + c * s * (qq - pp);
        second[0] = s * s * pp - 2.0 * c * s * qp + c * c * qq;
        let below = (WIDTH).min(self.side - 1 - q);
        for (x, y) in first[2..2 + below].iter_mut().zip(&mut second[1..=below]) {
            (*x, *y) = turned(*x, *y);
        }
        for vector in vectors {
            (vector[p], vector[q]) = turned(vector[p], vector[q]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::Tridiagonal;
    use rand::SeedableRng as _;
    use rand_distr::{Distribution as _, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn two_stages_give_the_regressions_of_the_matrix_itself() {
        for side in [1, 2, 3, 17, 18, 33, 90, 131] {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(side as u64);
            let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
            let root = Matrix::from_fn(side.max(4) - 3, side, |_, _| normal());
            let matrix = root.tr_mul(&root);
            let vectors = [(); 2].map(|()| Vector::from_fn(side, |_, _| normal()));
            let mut moved = vectors.clone();
            let [first, second] = &mut moved;
            let (diagonal, beside) =
                tridiagonal(matrix.clone(), [first.as_mut_slice(), second.as_mut_slice()]);
            let three =
                Tridiagonal { diagonal, beside, vectors: moved.map(|vector| vector.as_slice().to_vec()) };
            for ridge in [1e-2, 30.0] {
                let inverse = (&matrix + Matrix::identity(side, side) * ridge).try_inverse().unwrap();
                let (mut pivots, mut solution) = (Vec::new(), Vec::new());
                let trace = three.pivots(ridge, &mut pivots);
                three.solve(&pivots, &three.vectors[0], &mut solution);
                let close = |a: f64, b: f64| (a - b).abs() < 1e-8 * (1.0 + b.abs());
                assert!(close(trace, inverse.trace()), "{side} {ridge}: {trace} {}", inverse.trace());
                let form: f64 = solution.iter().zip(&three.vectors[1]).map(|(a, b)| a * b).sum();
                let expected = (&inverse * &vectors[0]).dot(&vectors[1]);
                assert!(close(form, expected), "{side} {ridge}: {form} {expected}");
            }
        }
    }
}
