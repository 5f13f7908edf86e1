//! Householder's reduction of a symmetric matrix to three diagonals.

use pulp::{Simd, WithSimd};

/// Reduces the lower half of a symmetric matrix, column after column, to `T = QᵀAQ`, and some vectors y to `Qᵀy`.
///
/// With the column x below the diagonal, `v = x - αe₁`, `α = ∓‖x‖`, `β = 2/vᵀv`, `p = βAv` and `w = p - (β/2)(pᵀv)v`,
///
/// ```text
/// A ← A - vwᵀ - wvᵀ,     y ← y - β(vᵀy)v
/// ```
///
/// on what is right of and below that column. A is changed by one step and multiplied for the next in the same pass.
pub(crate) struct Tridiagonalise<'a> {
    pub(crate) side: usize,
    /// Column after column.
    pub(crate) matrix: &'a mut [f64],
    pub(crate) vectors: [&'a mut [f64]; 2],
    /// The entries beside the diagonal.
    pub(crate) beside: &'a mut [f64],
}

impl WithSimd for &mut Tridiagonalise<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Tridiagonalise { side, matrix, vectors, beside } = self;
        let side = *side;
        let (mut v, mut w, mut next, mut product) =
            (vec![0.0; side], vec![0.0; side], vec![0.0; side], vec![0.0; side]);
        for k in 0..side.saturating_sub(1) {
            // Column k is up to date; the rest waits for v and w of the step before.
            next[..=k].fill(0.0);
            next[k + 1..].copy_from_slice(&matrix[k * side + k + 1..(k + 1) * side]);
            let x = &mut next[k + 1..];
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let alpha = if x[0] > 0.0 { -norm } else { norm };
            beside[k] = alpha;
            x[0] -= alpha;
            let square: f64 = x.iter().map(|x| x * x).sum();
            let beta = if square > 0.0 { 2.0 / square } else { 0.0 };
            for vector in vectors.iter_mut() {
                let along: f64 = next[k + 1..].iter().zip(&vector[k + 1..]).map(|(v, y)| v * y).sum();
                vector[k + 1..].iter_mut().zip(&next[k + 1..]).for_each(|(y, v)| *y -= beta * along * v);
            }
            product.fill(0.0);
            for j in k + 1..side {
                let column = &mut matrix[j * side + j..(j + 1) * side];
                let (factors, scale) = ((w[j], v[j]), next[j]);
                let sum =
                    pass(simd, column, (&v[j..], &w[j..], factors), (&next[j..], scale), &mut product[j..]);
                product[j] += sum - column[0] * scale;
            }
            // p and w of this step.
            let along: f64 = product.iter().zip(&next).map(|(p, v)| p * v).sum::<f64>() * beta * beta * 0.5;
            for ((w, p), v) in w.iter_mut().zip(&product).zip(&next) {
                *w = beta * p - along * v;
            }
            std::mem::swap(&mut v, &mut next);
            // The column that the next step looks at.
            for i in k + 1..side {
                matrix[(k + 1) * side + i] -= v[i] * w[k + 1] + w[i] * v[k + 1];
            }
            // It is up to date, so the next pass over it is not to change it again.
            (v[k + 1], w[k + 1]) = (0.0, 0.0);
        }
    }
}

/// `a ← a - v wⱼ - w vⱼ`, `p ← p + a s`, and the sum of `a x`.
#[inline(always)]
fn pass<S: Simd>(
    simd: S,
    column: &mut [f64],
    (v, w, (w_j, v_j)): (&[f64], &[f64], (f64, f64)),
    (x, scale): (&[f64], f64),
    product: &mut [f64],
) -> f64 {
    let whole = column.len() / S::F64_LANES * S::F64_LANES;
    let (column, column_rest) = column.split_at_mut(whole);
    let (product, product_rest) = product.split_at_mut(whole);
    let [minus_w, minus_v, factor] = [-w_j, -v_j, scale].map(|number| simd.splat_f64s(number));
    let mut sum = simd.splat_f64s(0.0);
    let columns = S::as_mut_simd_f64s(column).0.iter_mut().zip(S::as_mut_simd_f64s(product).0);
    let vectors = S::as_simd_f64s(&v[..whole]).0.iter().zip(S::as_simd_f64s(&w[..whole]).0);
    for ((a, p), ((&v, &w), &x)) in columns.zip(vectors.zip(S::as_simd_f64s(&x[..whole]).0)) {
        *a = simd.mul_add_e_f64s(v, minus_w, simd.mul_add_e_f64s(w, minus_v, *a));
        *p = simd.mul_add_e_f64s(*a, factor, *p);
        sum = simd.mul_add_e_f64s(*a, x, sum);
    }
    let mut sum = simd.reduce_sum_f64s(sum);
    for (i, (a, p)) in column_rest.iter_mut().zip(product_rest).enumerate() {
        let i = whole + i;
        *a -= v[i] * w_j + w[i] * v_j;
        *p += *a * scale;
        sum += *a * x[i];
    }
    sum
}
