//! The adaptive certificate of width `confidence`: a drift budget for each direction, learned from live data
//! and never above the one that was fixed before play.

use crate::belief::{Dictionary, DriftLikelihood};
use crate::certificate::Certificate;
use crate::dense::{self, Matrix, Vector};
use crate::error::Result;
use crate::offline::Offline;
use crate::statistic::RidgeStatistic;

/// Steps of expectation maximisation.
const STEPS: usize = 20;
/// ρ: the learned deviations are taken twice.
const RADIUS: f64 = 2.0;

/// Drift is `Δ = Bw` with `w ~ N(0, diag τ²)` along the axes and the logs' own estimate. Each τ starts at
/// S, so that ρτ = 2S, the largest drift there can be, and follows what live data says of it:
///
/// ```text
/// Σ = (BᵀQB + diag τ⁻²)⁻¹,   μ = Σ Bᵀh,   τ_j² ← min(S², μ_j² + Σ_jj)
/// M⁻¹ = B diag(τ²) Bᵀ,   ρ = 2
/// ```
///
/// A direction that live play has not tested keeps τ = S. O(d³) a step.
pub(crate) fn adaptive_certificate(
    offline: &Offline,
    live: &RidgeStatistic,
    noise: f64,
    norm_bound: f64,
) -> Result<Certificate> {
    let estimate = Vector::from_column_slice(offline.estimate());
    let columns = Dictionary::new(&estimate, 1.0, estimate.norm().max(f64::MIN_POSITIVE).recip());
    let variance = noise * noise;
    let cap = norm_bound * norm_bound;
    let mut budgets = vec![cap; columns.len()];
    if live.count() > 0 {
        let moment = Vector::from_column_slice(live.moment()) / variance;
        let likelihood = DriftLikelihood::new(
            &(offline.precision_matrix() / variance),
            &estimate,
            &(live.gram_matrix() / variance),
            &moment,
        )?;
        let (q, h) = (columns.restrict(&likelihood.information), columns.project(&likelihood.shift));
        for _ in 0..STEPS {
            let mut precision = q.clone();
            for (j, budget) in budgets.iter().enumerate() {
                precision[(j, j)] += budget.recip();
            }
            let factor = dense::cholesky("the precision of the drift", &precision)?;
            let variances = dense::inverse_diagonal(&factor);
            let mean = dense::solve_from_factor(&factor, &h);
            for ((budget, mean), variance) in budgets.iter_mut().zip(&mean).zip(variances) {
                *budget = (mean * mean + variance).min(cap);
            }
        }
    }
    let inverse = columns.spread(&Matrix::from_diagonal(&Vector::from_vec(budgets)));
    let factor = dense::cholesky("the inverse of the certificate", &inverse)?;
    Certificate::from_inverse(&inverse, dense::inverse_from_factor(&factor), RADIUS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logs and live data of two features that are observed on their own, `rows` times each.
    fn observed(rows: usize, values: [f64; 2]) -> RidgeStatistic {
        let mut data = RidgeStatistic::new(2).unwrap();
        for _ in 0..rows {
            data.observe(&[1.0, 0.0], values[0]).unwrap();
            data.observe(&[0.0, 1.0], values[1]).unwrap();
        }
        data
    }

    #[test]
    fn untested_directions_keep_the_budget_of_before_play() {
        let offline = Offline::new(&observed(1000, [1.0, 0.5]), 1.0).unwrap();
        let before = adaptive_certificate(&offline, &RidgeStatistic::new(2).unwrap(), 0.1, 3.0).unwrap();
        let mut live = RidgeStatistic::new(2).unwrap();
        for _ in 0..1000 {
            live.observe(&[1.0, 0.0], 1.0).unwrap();
        }
        let after = adaptive_certificate(&offline, &live, 0.1, 3.0).unwrap();
        let budgets = |certificate: &Certificate| {
            [[1.0, 0.0], [0.0, 1.0]].map(|axis| certificate.bias_bound(&axis).unwrap())
        };
        let (before, after) = (budgets(&before), budgets(&after));
        // The second feature was never played: only the column that it shares with the first can shrink.
        assert!(after[1] >= 6.0 && after[1] <= before[1], "{before:?} {after:?}");
        assert!(after[0] < 0.2 * before[0], "{before:?} {after:?}");
    }

    #[test]
    fn drift_is_admitted_where_it_is() {
        let offline = Offline::new(&observed(1000, [1.0, 0.5]), 1.0).unwrap();
        let certificate = adaptive_certificate(&offline, &observed(500, [2.0, 0.5]), 0.1, 3.0).unwrap();
        assert!(certificate.admits(&[1.0, 0.0]).unwrap());
        assert!(!certificate.admits(&[0.0, 1.0]).unwrap());
    }
}
