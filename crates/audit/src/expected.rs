//! What errors the logs lead to expect where most rewards are the same, as clicks are, or a few are very large.
//!
//! Such errors go with what is expected, and no side shows by itself how sure it is: an item without a click among 60 live
//! rows shows no spread at all, and one with four among 300 logged rows has more of it than the logs have on average. So the
//! errors of both sides are not below those of rewards as the logs' coefficients have them at the live rows,
//!
//! ```text
//! v_i = μ_i (1 - μ_i), μ_i = x_iᵀθ      rewards of 0 and 1
//! v_i ∝ |μ_i - y°|                      others of which most are y°, and the rest on one side of it; on average σ²
//! v_i ∝ μ_i²                            amounts of one sign with heavy tails; on average σ²
//! v_i = σ²                              most are y°, and the rest on both sides of it
//! ```
//!
//! The larger of the variance that no drift would give and the one that is seen makes scores of counts safe, however few they
//! are. Of a Poisson number of which λ are expected, k or what is farther from λ has at most the probability exp(-D/2), where
//! D = 2 (k ln(k/λ) - k + λ) is its deviance (Chernoff); and D is at least the squared score (k - λ)² / max(k, λ).

use crate::fit::{Fit, Units, quotient};
use crate::live::{Live, Outcomes, Rows};
use crate::{Matrix, Vector};

/// Kurtosis of errors above which a few large ones decide how they spread: it is 3 of normal ones, 9 of exponential ones.
const HEAVY: f64 = 20.0;

/// Rows are taken this many at a time.
const BLOCK: usize = 256;

/// Whitened covariances.
#[derive(Debug, Clone)]
pub(crate) struct Expected {
    /// Σ v z zᵀ over the live rows, whitened by the pilot's matrix.
    live: Matrix,
    /// The same, and Σ z zᵀ, whitened by the logs'.
    logged: Matrix,
    seen: Matrix,
}

impl Expected {
    /// Nothing for rewards of other kinds, or where their rows are not known.
    pub(crate) fn of(live: &Live<'_>, logs: &Fit, pilot: &Fit, units: &Units) -> Option<Self> {
        let rows = live.rows?;
        let (n, d) = (rows.rewards.len(), units.columns.len());
        let block = |first: usize, count: usize| {
            Matrix::from_fn(count, d, |i, j| rows.features[(first + i) * d + j] / units.columns[j])
        };
        let blocks = || (0..n).step_by(BLOCK).map(|first| (first, block(first, BLOCK.min(n - first))));
        let (mut means, mut errors) = (Vector::zeros(n), Vector::zeros(n));
        for (first, x) in blocks() {
            means.rows_mut(first, x.nrows()).copy_from(&(&x * &logs.estimate));
            errors.rows_mut(first, x.nrows()).copy_from(&(&x * &pilot.estimate));
        }
        for (error, reward) in errors.iter_mut().zip(rows.rewards) {
            *error -= reward / units.reward;
        }
        let variances = variances(rows, &live.outcomes, kurtosis(&errors), &means, logs, units)?;
        let mut weighted = Matrix::zeros(d, d);
        for (first, mut x) in blocks() {
            for (mut row, variance) in x.row_iter_mut().zip(variances.iter().skip(first)) {
                row *= variance.sqrt();
            }
            weighted.gemm_tr(1.0, &x, &x, 1.0);
        }
        let gram = live.sums.gram();
        let gram = Matrix::from_fn(d, d, |i, j| gram[i * d + j] / units.columns[i] / units.columns[j]);
        let whitened = |matrix: &Matrix, fit: &Fit| fit.whitening.tr_mul(&(matrix * &fit.whitening));
        let (live, logged) = (whitened(&weighted, pilot), whitened(&weighted, logs));
        Some(Self { live, logged, seen: whitened(&gram, logs) })
    }

    /// Covariance of live contrasts.
    pub(crate) fn live(&self, pilot: &Fit, contrasts: &Matrix) -> Matrix {
        let whitened = pilot.whitening.tr_mul(contrasts);
        whitened.tr_mul(&(&self.live * &whitened))
    }

    /// Covariance of logged contrasts, as far as the logs' rows are like the pilot's.
    pub(crate) fn logged(&self, logs: &Fit, contrasts: &Matrix) -> Matrix {
        let mut whitened = logs.whitening.tr_mul(contrasts);
        for mut column in whitened.column_iter_mut() {
            let seen = column.dot(&(&self.seen * &column));
            column *= quotient(column.norm_squared(), seen).sqrt();
        }
        whitened.tr_mul(&(&self.logged * &whitened))
    }
}

/// The variance of each live reward, in the units of [`Units`].
fn variances(
    rows: Rows<'_>,
    outcomes: &Outcomes,
    kurtosis: f64,
    means: &Vector,
    logs: &Fit,
    units: &Units,
) -> Option<Vector> {
    if outcomes.clicks {
        let one = units.reward.recip();
        return Some(means.map(|mean| mean.clamp(0.0, one)).map(|mean| mean * (one - mean)));
    }
    let beyond = |base: f64, side: f64| rows.rewards.iter().all(|reward| side * (reward - base) >= 0.0);
    let side = |base: f64| [1.0, -1.0].into_iter().find(|side| beyond(base, *side));
    let shape = match outcomes.usual {
        Some(usual) => side(usual).map_or_else(
            || means.map(|_| 1.0),
            |side| means.map(|mean| (side * (mean - usual / units.reward)).max(0.0)),
        ),
        None if kurtosis > HEAVY && side(0.0).is_some() => means.map(|mean| mean * mean),
        None => return None,
    };
    // Of logs that expect nothing anywhere, nothing.
    Some(&shape * quotient(logs.resolved.powi(2), shape.mean()))
}

/// n Σ e⁴ / (Σ e²)².
fn kurtosis(errors: &Vector) -> f64 {
    let squares = errors.map(|error| error * error);
    quotient(squares.norm_squared() * errors.len() as f64, squares.sum().powi(2))
}

/// The sum of two covariances, with each variance made that of the larger one.
pub(crate) fn larger(shown: Matrix, expected: Option<Matrix>) -> Matrix {
    let Some(expected) = expected else { return shown };
    let scale = Vector::from_fn(shown.nrows(), |k, _| {
        let (shown, expected) = (shown[(k, k)], expected[(k, k)]);
        quotient(shown.max(expected), shown + expected).sqrt()
    });
    Matrix::from_fn(shown.nrows(), shown.ncols(), |i, j| {
        scale[i] * (shown[(i, j)] + expected[(i, j)]) * scale[j]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_variance_counts() {
        let [shown, expected] =
            [[4.0, 1.0, 1.0, 1.0], [1.0, 0.5, 0.5, 9.0]].map(|m| Matrix::from_row_slice(2, 2, &m));
        let both = larger(shown, Some(expected));
        assert!((both[(0, 0)] - 4.0).abs() < 1e-12 && (both[(1, 1)] - 9.0).abs() < 1e-12);
        // Of correlations 1/2 and 1/6, that of the sum: 1.5 / √50.
        assert!((both[(0, 1)] / 6.0 - 1.5 / 50f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn counts_are_as_rare_as_their_scores_say() {
        for (k, expected) in
            (0..60).flat_map(|k| (1..60).map(move |tenths| (f64::from(k), f64::from(tenths))))
        {
            let log = if k > 0.0 { k * (k / expected).ln() } else { 0.0 };
            let deviance = 2.0 * (log - k + expected);
            assert!(deviance >= (k - expected).powi(2) / k.max(expected) - 1e-9, "{k} {expected}");
        }
    }

    #[test]
    fn tails_are_heavy_by_their_kurtosis() {
        assert!((kurtosis(&Vector::from_row_slice(&[1.0, -1.0, 1.0, -1.0])) - 1.0).abs() < 1e-12);
        let mut one = Vector::zeros(50);
        one[7] = 3.0;
        assert!((kurtosis(&one) - 50.0).abs() < 1e-9);
        assert!(kurtosis(&Vector::zeros(3)) == 0.0);
    }
}
