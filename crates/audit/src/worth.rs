//! What the logs are worth in live rounds, whose contexts have second moment H.
//!
//! ```text
//! worth = mean over eigen-directions q_k of H of  σ² / (h_k c_k)       c_k = q_kᵀ (σ² A⁻¹ + D) q_k
//! ```
//!
//! A live round shrinks the variance along q_k as one row of size h_k does, and c_k is what the logs leave
//! there: noise, and the mean square D of the drift. Without drift and for live contexts like the logged ones,
//! every ratio is n.

use crate::spectrum::Spectrum;

/// The worth for a mean square of the drift along each direction; at most the number of rows.
pub(crate) fn worth(logs: &Spectrum, live: &Spectrum, noise: f64, drift: impl Fn(&[f64]) -> f64) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for (&value, q) in live.values.iter().zip(live.vectors.column_iter()) {
        if value <= 0.0 {
            continue;
        }
        count += 1.0;
        // A direction that the logs do not cover adds nothing.
        let Some(variance) = logs.variance(q.as_slice()) else { continue };
        let size = value * live.unit;
        let drift = drift(q.as_slice());
        // σ² cancels where nothing drifts, even if it is 0.
        sum += if drift > 0.0 {
            let noise = noise * noise;
            if noise > 0.0 { noise / (size * (noise * variance + drift)) } else { 0.0 }
        } else {
            1.0 / (size * variance)
        };
    }
    if count > 0.0 { (sum / count).min(logs.rows) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use truenorth::RidgeStatistic;

    use crate::Matrix;

    fn spectrum(rows: u64, diagonal: &[f64]) -> Spectrum {
        let gram = Matrix::from_diagonal(&crate::Vector::from_column_slice(diagonal));
        Spectrum::of(
            &RidgeStatistic::from_sums(rows, gram.as_slice(), &vec![0.0; diagonal.len()], 0.0).unwrap(),
        )
    }

    #[test]
    fn unbiased_logs_are_worth_their_rows() {
        let logs = spectrum(100, &[50.0, 10.0]);
        for noise in [0.0, 0.3] {
            assert!((worth(&logs, &logs, noise, |_| 0.0) - 100.0).abs() < 1e-9);
        }
        assert!(worth(&logs, &logs, 0.0, |_| 0.1) == 0.0);
    }

    #[test]
    fn drift_by_hand() {
        // h = (½, ⅒), A⁻¹ = (1/50, 1/10), σ² = 4, D = (1, 0): 4/(½ (4/50 + 1)) = 7.407 and 100.
        let logs = spectrum(100, &[50.0, 10.0]);
        let found = worth(&logs, &logs, 2.0, |q| q[0] * q[0]);
        assert!((found - f64::midpoint(4.0 / (0.5 * 1.08), 100.0)).abs() < 1e-9, "{found}");
    }

    #[test]
    fn live_contexts_elsewhere_find_less_and_never_more_than_the_rows() {
        let (logs, live) = (spectrum(100, &[100.0, 1.0]), spectrum(50, &[25.0, 25.0]));
        // 1/(h a): 100/½ = 200 and 1/½ = 2, on average 101, but there are 100 rows.
        assert!((worth(&logs, &live, 1.0, |_| 0.0) - 100.0).abs() < 1e-9);
        let uncovered = spectrum(100, &[10.0, 0.0]);
        // One direction has 10/½ rows, the other none.
        assert!((worth(&uncovered, &live, 1.0, |_| 0.0) - 10.0).abs() < 1e-9);
    }
}
