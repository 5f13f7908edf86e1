//! Columns of a matrix times the entries of a vector. Every entry is a sum over the same terms in the same order, whatever the width
//! of a vector is.

use pulp::{Simd, WithSimd};

/// Columns that are added together.
const TOGETHER: usize = 4;

/// Adds columns, times their weights, to a vector.
pub(crate) struct Combine<'a> {
    /// One after the other, each of so many numbers.
    pub(crate) columns: &'a [f64],
    pub(crate) across: usize,
    /// Numbers of the first column that are not known to be 0; each has one more than the one before it.
    pub(crate) known: usize,
    pub(crate) weights: &'a [f64],
    pub(crate) to: &'a mut [f64],
}

impl WithSimd for &mut Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let across = self.across;
        let mut groups = self.columns.chunks_exact(TOGETHER * across);
        let mut weights = self.weights.chunks_exact(TOGETHER);
        let mut rows = self.known;
        for (columns, weights) in groups.by_ref().zip(weights.by_ref()) {
            rows = (rows + TOGETHER).min(across);
            let [a, b, c, d] = std::array::from_fn(|k| &columns[k * across..][..rows]);
            let (&[w, x, y, z], to) = (weights.as_array().unwrap_or(&[0.0; TOGETHER]), &mut self.to[..rows]);
            for i in 0..rows {
                to[i] += (a[i] * w + b[i] * x) + (c[i] * y + d[i] * z);
            }
        }
        for (column, weight) in groups.remainder().chunks_exact(across).zip(weights.remainder()) {
            self.to.iter_mut().zip(column).for_each(|(to, entry)| *to += entry * weight);
        }
    }
}

/// Replaces a vector y by `C⁻¹y` of a lower triangle C.
pub(crate) struct SolveLower<'a> {
    /// Column after column.
    pub(crate) factor: &'a [f64],
    pub(crate) right: &'a mut [f64],
}

impl WithSimd for &mut SolveLower<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let side = self.right.len();
        for k in 0..side {
            let (column, (own, below)) = (&self.factor[k * side..][..side], self.right[k..].split_at_mut(1));
            own[0] /= column[k];
            below.iter_mut().zip(&column[k + 1..]).for_each(|(to, entry)| *to -= entry * own[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use pulp::Arch;

    use super::*;

    #[test]
    fn columns_are_combined_and_solved_as_by_hand() {
        let number = |i: usize| ((i * 7919) % 1009) as f64 / 1009.0 - 0.5;
        for side in [1, 3, 4, 9, 17] {
            let upper: Vec<f64> =
                (0..side * side).map(|i| if i % side <= i / side { number(i) + 1.0 } else { 0.0 }).collect();
            let weights: Vec<f64> = (0..side).map(|i| number(i + 5)).collect();
            for (first, known) in [(0, 0), (side / 2, side / 2), (0, side)] {
                let mut to = vec![0.5; side];
                let (columns, weights) = (&upper[first * side..], &weights[first..]);
                Arch::new().dispatch(&mut Combine { columns, across: side, known, weights, to: &mut to });
                for i in 0..side {
                    let sum: f64 = (0..side - first).map(|k| columns[k * side + i] * weights[k]).sum();
                    assert!((to[i] - 0.5 - sum).abs() < 1e-13, "{side} {first} {i}");
                }
            }
            // The transpose is lower triangular.
            let lower: Vec<f64> = (0..side * side).map(|i| upper[i % side * side + i / side]).collect();
            let mut solved = weights.clone();
            Arch::new().dispatch(&mut SolveLower { factor: &lower, right: &mut solved });
            for i in 0..side {
                let sum: f64 = (0..=i).map(|k| lower[k * side + i] * solved[k]).sum();
                assert!((sum - weights[i]).abs() < 1e-9 * (1.0 + sum.abs()), "{side} {i}");
            }
        }
    }
}
