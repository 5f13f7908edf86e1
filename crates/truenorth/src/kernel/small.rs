//! Steps of Cholesky's factorisation on blocks that fit into registers and the first cache: what products of blocks end with.

use pulp::{Simd, WithSimd};

/// Rows and columns of a block, at most.
pub(crate) const SMALL: usize = 32;

/// A block, column after column, with as many rows as the largest: columns are whole vectors.
pub(crate) type Small = [[f64; SMALL]; SMALL];

/// Replaces the lower half of the first columns by their Cholesky factor; tells whether there is one. What is above the diagonal is
/// whatever it is.
pub(crate) struct FactoriseSmall<'a> {
    pub(crate) side: usize,
    pub(crate) columns: &'a mut Small,
}

impl WithSimd for &mut FactoriseSmall<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        for j in 0..self.side {
            let (before, rest) = self.columns.split_at_mut(j);
            let first = j / S::F64_LANES;
            let column = &mut S::as_mut_simd_f64s(&mut rest[0]).0[first..];
            for other in before {
                let factor = simd.splat_f64s(-other[j]);
                let other = &S::as_simd_f64s(&*other).0[first..];
                for (entry, &other) in column.iter_mut().zip(other) {
                    *entry = simd.mul_add_e_f64s(factor, other, *entry);
                }
            }
            let pivot = rest[0][j];
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            let scale = simd.splat_f64s(pivot.sqrt().recip());
            for entry in &mut S::as_mut_simd_f64s(&mut rest[0]).0[first..] {
                *entry = simd.mul_f64s(*entry, scale);
            }
            rest[0][j] = pivot.sqrt();
        }
        true
    }
}

/// The inverse of a lower triangle, row after row.
pub(crate) struct InvertSmall<'a> {
    pub(crate) side: usize,
    pub(crate) columns: &'a Small,
    pub(crate) rows: &'a mut Small,
}

impl WithSimd for &mut InvertSmall<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for i in 0..self.side {
            let (before, rest) = self.rows.split_at_mut(i);
            rest[0] = [0.0; SMALL];
            let row = S::as_mut_simd_f64s(&mut rest[0]).0;
            for (k, other) in before.iter().enumerate() {
                let factor = simd.splat_f64s(-self.columns[k][i]);
                let last = k / S::F64_LANES;
                for (entry, &other) in row.iter_mut().zip(&S::as_simd_f64s(other).0[..=last]) {
                    *entry = simd.mul_add_e_f64s(factor, other, *entry);
                }
            }
            rest[0][i] += 1.0;
            let scale = simd.splat_f64s(self.columns[i][i].recip());
            for entry in S::as_mut_simd_f64s(&mut rest[0]).0 {
                *entry = simd.mul_f64s(*entry, scale);
            }
        }
    }
}
