//! Which columns may be in another state, by a bound that takes no logarithm and no division.

use pulp::{Simd, WithSimd};

use super::rank::logarithm;
use crate::triangle::SIDE;

/// Columns that have changed, and those with `p μ²/q - log(1 - q)` above `least`, q = 1 - p v of a variance v: see
/// [`Models`](crate::belief).
pub(crate) struct Contend<'a> {
    pub(crate) means: &'a [f64],
    pub(crate) variances: &'a [f64],
    /// 0 where a column has not changed.
    pub(crate) changed: &'a [u8],
    /// p.
    pub(crate) precision: f64,
    pub(crate) least: f64,
    pub(crate) to: &'a mut Vec<usize>,
}

impl Contend<'_> {
    #[inline(always)]
    fn contends(&self, mean: f64, variance: f64, changed: u8) -> u8 {
        let share = self.precision * variance;
        // Rounding may take more than all of what a column without data has.
        let q = if share < 1.0 { 1.0 - share } else { 0.0 };
        let least = self.least + logarithm(share);
        let below = self.precision * mean * mean <= q * least && least > 0.0;
        u8::from(!below) | changed
    }
}

impl WithSimd for &mut Contend<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.to.clear();
        let (means, means_rest) = self.means.as_chunks::<SIDE>();
        let (variances, variances_rest) = self.variances.as_chunks::<SIDE>();
        let (changed, changed_rest) = self.changed.as_chunks::<SIDE>();
        for (line, ((mean, variance), changed)) in means.iter().zip(variances).zip(changed).enumerate() {
            let mut contends = [0; SIDE];
            for i in 0..SIDE {
                contends[i] = self.contends(mean[i], variance[i], changed[i]);
            }
            if contends != [0; SIDE] {
                for i in 0..SIDE {
                    if contends[i] != 0 {
                        self.to.push(line * SIDE + i);
                    }
                }
            }
        }
        let whole = means.len() * SIDE;
        for i in 0..means_rest.len() {
            if self.contends(means_rest[i], variances_rest[i], changed_rest[i]) != 0 {
                self.to.push(whole + i);
            }
        }
    }
}

/// Mean and variance of each column where all depend on three unknowns: `o - zᵀξ` and `B_jj + zᵀΣz`.
pub(crate) struct Marginals<'a> {
    pub(crate) diagonal: &'a [f64],
    pub(crate) own: &'a [f64],
    pub(crate) z: [&'a [f64]; 3],
    pub(crate) border: [[f64; 3]; 3],
    pub(crate) shared: [f64; 3],
    pub(crate) means: &'a mut [f64],
    pub(crate) variances: &'a mut [f64],
}

impl WithSimd for &mut Marginals<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Marginals { diagonal, own, z, border, shared, means, variances } = self;
        let (length, [[a, b, c], [_, d, e], [.., f]], [g, h, i]) = (means.len(), *border, *shared);
        let (diagonal, own, [x, y, z]) = (&diagonal[..length], &own[..length], z.map(|z| &z[..length]));
        let variances = &mut variances[..length];
        for j in 0..length {
            let (x, y, z) = (x[j], y[j], z[j]);
            means[j] = own[j] - (g * x + h * y + i * z);
            let beside = b * x * y + c * x * z + e * y * z;
            variances[j] = diagonal[j] + (a * x * x + d * y * y + f * z * z + 2.0 * beside);
        }
    }
}
