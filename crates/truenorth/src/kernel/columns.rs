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
        for (k, column) in self.factor.chunks_exact(side).enumerate() {
            let (own, below) = self.right[k..].split_at_mut(1);
            own[0] /= column[k];
            below.iter_mut().zip(&column[k + 1..]).for_each(|(to, entry)| *to -= entry * own[0]);
        }
    }
}
