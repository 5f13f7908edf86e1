//! What the logs are worth in live rounds, whose contexts have second moment H.
//!
//! ```text
//! n_k = eigenvalues of σ² H^-½ C⁻¹ H^-½                     C = σ² A⁻¹ + D
//! Σ_k log(1 + T/(1 + n_k)) = d log(1 + T/(1 + worth))
//! ```
//!
//! C is what the logs leave open: noise, and the mean square D of the drift. Along an eigen-direction they tell as much
//! as n_k live rounds, and what is left to learn in T rounds is log(1 + T/(1 + n_k)), one round standing for what is
//! known without logs. The worth is the number of live rounds that leave as much to learn in all. Both sides depend on
//! C and H alone, not on a basis; without drift and for live contexts like the logged ones, every n_k is n.

use truenorth::RidgeStatistic;

use crate::fit::{Fit, Units};
use crate::{Matrix, Vector};

/// Variance of a live round's reward, in those of the noise, where the logs know nothing.
const UNKNOWN: f64 = 1e6;

/// Eigenvalues of H below this share of the largest are rounding.
const FLOOR: f64 = 1e-10;

/// The number of live rounds, at most the number of rows. `live` are the contexts; `noise` and the mean square of each
/// feature's drift are in the units of [`Units`].
pub(crate) fn worth(
    logs: &Fit,
    live: &RidgeStatistic,
    units: &Units,
    (noise, drift): (f64, &[f64]),
    horizon: f64,
) -> f64 {
    let d = units.columns.len();
    let rows = live.count().max(1) as f64;
    let gram = live.gram();
    let moment = Matrix::from_fn(d, d, |i, j| gram[i * d + j] / rows / (units.columns[i] * units.columns[j]));
    let eigen = moment.symmetric_eigen();
    let floor = FLOOR * eigen.eigenvalues.max().max(0.0);
    let kept: Vec<usize> = (0..d).filter(|&k| eigen.eigenvalues[k] > floor).collect();
    if kept.is_empty() || logs.rows == 0.0 {
        return 0.0;
    }
    // H^½ without what no live row reaches.
    let root = Matrix::from_fn(d, kept.len(), |i, k| {
        eigen.eigenvectors[(i, kept[k])] * eigen.eigenvalues[kept[k]].sqrt()
    });
    // H^½ C H^½ / σ², bounded, as without noise every drift is infinitely long.
    let mut open = root.clone();
    for (j, mut row) in open.row_iter_mut().enumerate() {
        let ratio = if drift[j] > 0.0 { drift[j] / noise.powi(2).max(f64::MIN_POSITIVE) } else { 0.0 };
        row *= ratio.min(UNKNOWN);
    }
    let known = logs.whitening.tr_mul(&root);
    let unknown = logs.outside(&root) * UNKNOWN.sqrt();
    let left = root.tr_mul(&open) + known.tr_mul(&known) + unknown.tr_mul(&unknown);
    let open: Vector = left.symmetric_eigenvalues();
    let to_learn = |open: f64| (horizon / (1.0 + open.max(1e-300).recip())).ln_1p();
    let mean = open.iter().map(|&open| to_learn(open)).sum::<f64>() / kept.len() as f64;
    (horizon / mean.exp_m1() - 1.0).clamp(0.0, logs.rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(rows: u64, diagonal: &[f64]) -> RidgeStatistic {
        let gram = Matrix::from_diagonal(&Vector::from_column_slice(diagonal));
        RidgeStatistic::from_sums(rows, gram.as_slice(), &vec![0.0; diagonal.len()], 1.0).unwrap()
    }

    /// Of logs of scale 1, for a drift in the units of the columns.
    fn value(logs: &RidgeStatistic, live: &RidgeStatistic, noise: f64, drift: &[f64]) -> f64 {
        let mut units = Units::of(logs, Some(live), 1.0);
        units.reward = 1.0;
        let drift: Vec<f64> =
            drift.iter().zip(&units.columns).map(|(square, unit)| square * unit * unit).collect();
        worth(&Fit::new(logs, &units), live, &units, (noise, &drift), 1000.0)
    }

    #[test]
    fn unbiased_logs_are_worth_their_rows() {
        let logs = data(100, &[50.0, 10.0]);
        for noise in [0.0, 0.3] {
            assert!((value(&logs, &logs, noise, &[0.0; 2]) - 100.0).abs() < 1e-6);
        }
        assert!(value(&logs, &logs, 0.0, &[0.1; 2]) < 1e-3);
        assert!(value(&data(0, &[0.0, 0.0]), &logs, 1.0, &[0.0; 2]) == 0.0);
    }

    #[test]
    fn drift_by_hand() {
        // h = (½, ⅒), A⁻¹ = (1/50, 1/10), σ² = 4, D = (1, 0): n = 4/(½ (4/50 + 1)) = 7.407 and 100;
        // (1 + 1000/8.407)(1 + 1000/101) = (1 + 1000/(1 + m))²: 36.14² = 119.9 · 10.90, m = 27.5.
        let logs = data(100, &[50.0, 10.0]);
        let product: f64 = (1.0 + 1000.0 / (1.0 + 4.0 / 0.54)) * (1.0 + 1000.0 / 101.0);
        let expected = 1000.0 / (product.sqrt() - 1.0) - 1.0;
        let found = value(&logs, &logs, 2.0, &[1.0, 0.0]);
        assert!((found - expected).abs() < 1e-6 && (expected - 27.46).abs() < 0.1, "{found} {expected}");
    }

    #[test]
    fn live_contexts_elsewhere_find_less_and_never_more_than_the_rows() {
        let (logs, live) = (data(100, &[100.0, 1.0]), data(50, &[25.0, 25.0]));
        // n = 200 and 2.
        let product: f64 = (1.0 + 1000.0 / 201.0) * (1.0 + 1000.0 / 3.0);
        let expected = 1000.0 / (product.sqrt() - 1.0) - 1.0;
        assert!((value(&logs, &live, 1.0, &[0.0; 2]) - expected).abs() < 1e-6);
        let narrow = data(50, &[50.0, 0.0]);
        assert!((value(&logs, &narrow, 1.0, &[0.0; 2]) - 100.0).abs() < 1e-6);
        // 20 rows of one direction, none of the other: better than nothing.
        let uncovered = value(&data(100, &[10.0, 0.0]), &live, 1.0, &[0.0; 2]);
        assert!((2.0..10.0).contains(&uncovered), "{uncovered}");
    }

    #[test]
    fn turning_all_features_changes_nothing() {
        let (c, s) = (0.6, 0.8);
        let turn = Matrix::from_row_slice(2, 2, &[c, -s, s, c]);
        let turned = |diagonal: &[f64], rows: u64| {
            let gram = &turn * Matrix::from_diagonal(&Vector::from_column_slice(diagonal)) * turn.transpose();
            RidgeStatistic::from_sums(rows, gram.as_slice(), &[0.0; 2], 1.0).unwrap()
        };
        let plain = value(&data(90, &[80.0, 2.0]), &data(30, &[10.0, 20.0]), 1.0, &[0.3; 2]);
        let turned = value(&turned(&[80.0, 2.0], 90), &turned(&[10.0, 20.0], 30), 1.0, &[0.3; 2]);
        assert!((plain / turned - 1.0).abs() < 1e-9, "{plain} {turned}");
    }
}
