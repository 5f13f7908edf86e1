//! What the logs are worth in live rounds, whose contexts have second moment H.
//!
//! ```text
//! L = H^½ C H^½ / σ²                                        C = σ² A⁻¹ + D
//! log det(I + (n₀ + T) L) - log det(I + n₀ L) = d log(1 + T/(n₀ + worth))
//! ```
//!
//! C is what the logs leave open: noise, and the squared drift D. With 1/n_k the eigenvalues of L, the logs tell as much
//! along an eigen-direction as n_k live rounds, and the left side is Σ log(1 + T/(n₀ + n_k)): the regret of T rounds is
//! in proportion to the variance of what is known, a sum of 1/(n₀ + n_k + t). n₀ = d σ²/(θᵀHθ), with live coefficients θ, is
//! the number of rounds after which errors are as small as what there is to learn: with less, a choice is as good as a random
//! one. The worth is the number of live rounds that leave as much to learn. Both sides depend on C, H and θ alone, not on a
//! basis; without drift and for live contexts like the logged ones, every n_k is n.
//!
//! After a pilot the drift Δ is known roughly. So it is drawn many times, and what is left to learn is averaged, as regret
//! is. A policy that knows the drift's size for each feature, D = diag(Δ²), expects all directions to be as wrong as D says;
//! Δ itself may lie along few of them. What it then loses is known as well. With δ = H^½ Δ / σ and M = δδᵀ - H^½ D H^½ / σ²,
//! its squared error after t rounds is more than expected by tr((I + tL)⁻¹ M (I + tL)⁻¹), which adds up to
//!
//! ```text
//! b tr(M (I + bL)⁻¹) - a tr(M (I + aL)⁻¹)                   from round a = n₀ to b = n₀ + T
//! ```

use nalgebra::Cholesky;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth::RidgeStatistic;

use crate::fit::{Fit, Units};
use crate::sizes::Size;
use crate::{Matrix, Vector};

/// Variance of a live round's reward, in those of the noise, where the logs know nothing.
const UNKNOWN: f64 = 1e6;

/// Eigenvalues of H below this share of the largest are rounding.
const FLOOR: f64 = 1e-10;

/// Draws of the drift, and how many of them lie outside an interval on either side: 5 %.
const DRAWS: usize = 64;
const OUTSIDE: usize = 3;

/// Intervals are wider by this: with the drift's size told, the formula itself was off by up to 1.3 in simulations.
const FORMULA: f64 = 1.5;

/// What a worth is computed from, in the units of [`Units`].
pub(crate) struct Value {
    /// H^½ without what no live row reaches.
    root: Matrix,
    /// L without drift.
    known: Matrix,
    /// The logs' coefficients.
    estimate: Vector,
    noise: f64,
    horizon: f64,
    rows: f64,
}

impl Value {
    /// `live` are the contexts.
    pub(crate) fn new(logs: &Fit, live: &RidgeStatistic, units: &Units, noise: f64, horizon: f64) -> Self {
        let d = units.columns.len();
        let rows = live.count().max(1) as f64;
        let gram = live.gram();
        let moment =
            Matrix::from_fn(d, d, |i, j| gram[i * d + j] / rows / (units.columns[i] * units.columns[j]));
        let eigen = moment.symmetric_eigen();
        let floor = FLOOR * eigen.eigenvalues.max().max(0.0);
        let kept: Vec<usize> = (0..d).filter(|&k| eigen.eigenvalues[k] > floor).collect();
        let root = Matrix::from_fn(d, kept.len(), |i, k| {
            eigen.eigenvectors[(i, kept[k])] * eigen.eigenvalues[kept[k]].sqrt()
        });
        let known = logs.whitening.tr_mul(&root);
        let unknown = logs.outside(&root) * UNKNOWN.sqrt();
        let known = known.tr_mul(&known) + unknown.tr_mul(&unknown);
        let noise = noise.max(f64::MIN_POSITIVE.sqrt());
        Self { root, known, estimate: logs.estimate.clone(), noise, horizon, rows: logs.rows }
    }

    /// In live rounds, at most the number of rows, for drifts of such sizes, in an unknown direction.
    pub(crate) fn of(&self, sizes: &[f64]) -> f64 {
        let least = self.least(self.signal(&self.estimate));
        self.rounds(self.left(&self.relative(sizes), false, least), least)
    }

    /// After a pilot, and an interval.
    pub(crate) fn after(&self, drifts: &[Size]) -> (f64, [f64; 2]) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        let mut draw = || -> Vec<f64> { drifts.iter().map(|drift| drift.draw(&mut rng)).collect() };
        let draws: Vec<Vec<f64>> = (0..DRAWS).map(|_| draw()).collect();
        let signal = |drift: &Vec<f64>| self.signal(&(&self.estimate + Vector::from_column_slice(drift)));
        let least = self.least(draws.iter().map(signal).sum::<f64>() / DRAWS as f64);
        let left = |drift: &Vec<f64>| self.left(&self.relative(drift), true, least);
        let mut left: Vec<f64> = draws.iter().map(left).collect();
        left.sort_by(f64::total_cmp);
        let low = self.rounds(left[DRAWS - 1 - OUTSIDE], least) / FORMULA;
        let high = (self.rounds(left[OUTSIDE], least) * FORMULA).min(self.rows);
        (self.rounds(left.iter().sum::<f64>() / DRAWS as f64, least), [low, high])
    }

    /// θᵀHθ / d.
    fn signal(&self, coefficients: &Vector) -> f64 {
        self.root.tr_mul(coefficients).norm_squared() / self.root.ncols().max(1) as f64
    }

    /// n₀.
    fn least(&self, signal: f64) -> f64 {
        (self.noise.powi(2) / signal.max(f64::MIN_POSITIVE)).clamp(1.0, self.rows.max(1.0))
    }

    /// Drifts divided by the noise; bounded, as without noise every drift is infinitely long.
    fn relative(&self, drift: &[f64]) -> Vector {
        let bound = UNKNOWN.sqrt();
        Vector::from_fn(drift.len(), |j, _| (drift[j] / self.noise).clamp(-bound, bound))
    }

    /// What is left to learn, a direction: where drifts have these sizes, and this very direction if it is `known`.
    fn left(&self, drift: &Vector, known: bool, least: f64) -> f64 {
        // GGᵀ = H^½ D H^½ / σ², and δ is the sum of the columns of G.
        let mut spread = self.root.transpose();
        for (mut column, drift) in spread.column_iter_mut().zip(drift) {
            column *= *drift;
        }
        let open = &spread * spread.transpose() + &self.known;
        let until = |rounds: f64| {
            let mut matrix = &open * rounds;
            for k in 0..matrix.nrows() {
                matrix[(k, k)] += 1.0;
            }
            let Some(factor) = Cholesky::new(matrix.clone()) else {
                // No negative eigenvalues, but for rounding.
                return matrix.symmetric_eigenvalues().iter().map(|value| value.max(1.0).ln()).sum();
            };
            let factor = factor.l();
            let expected = 2.0 * factor.diagonal().iter().map(|entry| entry.ln()).sum::<f64>();
            let whitened = if known { factor.solve_lower_triangular(&spread) } else { None };
            let more = whitened.map_or(0.0, |part| part.column_sum().norm_squared() - part.norm_squared());
            expected + rounds * more
        };
        (until(least + self.horizon) - until(least)) / self.root.ncols().max(1) as f64
    }

    fn rounds(&self, left: f64, least: f64) -> f64 {
        if self.root.ncols() == 0 || self.rows == 0.0 {
            return 0.0;
        }
        (self.horizon / left.max(1e-300).exp_m1() - least).clamp(0.0, self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizes::Estimate;

    fn data(rows: u64, diagonal: &[f64]) -> RidgeStatistic {
        let gram = Matrix::from_diagonal(&Vector::from_column_slice(diagonal));
        RidgeStatistic::from_sums(rows, gram.as_slice(), &vec![0.0; diagonal.len()], 1.0).unwrap()
    }

    /// Of logs of scale 1, for drifts of such sizes in the units of the columns. All coefficients are 0, so that n₀ = n.
    fn value(logs: &RidgeStatistic, live: &RidgeStatistic, noise: f64, drift: &[f64]) -> f64 {
        let mut units = Units::of(logs, Some(live), 1.0);
        units.reward = 1.0;
        let drift: Vec<f64> = drift.iter().zip(&units.columns).map(|(size, unit)| size * unit).collect();
        Value::new(&Fit::new(logs, &units), live, &units, noise, 1000.0).of(&drift)
    }

    #[test]
    fn unbiased_logs_are_worth_their_rows() {
        let logs = data(100, &[50.0, 10.0]);
        for noise in [0.0, 0.3] {
            assert!((value(&logs, &logs, noise, &[0.0; 2]) - 100.0).abs() < 1e-6);
        }
        assert!(value(&logs, &logs, 0.0, &[0.1; 2]) < 0.1);
        assert!(value(&data(0, &[0.0, 0.0]), &logs, 1.0, &[0.0; 2]) == 0.0);
    }

    #[test]
    fn drift_by_hand() {
        // h = (½, ⅒), A⁻¹ = (1/50, 1/10), σ² = 4, D = (1, 0): n = 4/(½ (4/50 + 1)) = 7.407 and 100; with n₀ = 100,
        // (1 + 1000/107.4)(1 + 1000/200) = (1 + 1000/(100 + m))²: 7.867² = 10.31 · 6, m = 45.6.
        let logs = data(100, &[50.0, 10.0]);
        let product: f64 = (1.0 + 1000.0 / (100.0 + 4.0 / 0.54)) * (1.0 + 1000.0 / 200.0);
        let expected = 1000.0 / (product.sqrt() - 1.0) - 100.0;
        let found = value(&logs, &logs, 2.0, &[1.0, 0.0]);
        assert!((found - expected).abs() < 1e-6 && (expected - 45.62).abs() < 0.1, "{found} {expected}");
    }

    #[test]
    fn live_contexts_elsewhere_find_less_and_never_more_than_the_rows() {
        let (logs, live) = (data(100, &[100.0, 1.0]), data(50, &[25.0, 25.0]));
        // n = 200 and 2.
        let product: f64 = (1.0 + 1000.0 / 300.0) * (1.0 + 1000.0 / 102.0);
        let expected = 1000.0 / (product.sqrt() - 1.0) - 100.0;
        assert!((value(&logs, &live, 1.0, &[0.0; 2]) - expected).abs() < 1e-6);
        let narrow = data(50, &[50.0, 0.0]);
        assert!((value(&logs, &narrow, 1.0, &[0.0; 2]) - 100.0).abs() < 1e-6);
        // 20 rows of one direction, none of the other: better than nothing.
        let uncovered = value(&data(100, &[10.0, 0.0]), &live, 1.0, &[0.0; 2]);
        assert!((2.0..10.0).contains(&uncovered), "{uncovered}");
    }

    #[test]
    fn few_rounds_count_for_little_where_there_is_little_to_learn() {
        // θ = (2, 0) in noise of 1: θᵀHθ / d = 2, so that n₀ is 1; and (0.2, 0): n₀ = 50.
        let gram = Matrix::identity(2, 2) * 100.0;
        for (theta, least) in [(2.0, 1.0), (0.2, 50.0)] {
            let moment = [100.0 * theta, 0.0];
            let logs = RidgeStatistic::from_sums(100, gram.as_slice(), &moment, 900.0).unwrap();
            let product: f64 = (1.0 + 1000.0 / (least + 1.0 / 1.01)) * (1.0 + 1000.0 / (least + 100.0));
            let expected = 1000.0 / (product.sqrt() - 1.0) - least;
            let found = value(&logs, &logs, 1.0, &[1.0, 0.0]);
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }

    #[test]
    fn a_pilot_that_tells_the_drift_gives_the_worth_of_that_drift() {
        let logs = data(100, &[50.0, 10.0]);
        let mut units = Units::of(&logs, None, 1.0);
        units.reward = 1.0;
        let value = Value::new(&Fit::new(&logs, &units), &logs, &units, 1.0, 1000.0);
        let told = Estimate { drift: 0.3, stderr: 1e-6, score: 38.0, unit: 1.0 };
        let (found, [low, high]) = value.after(&Size::of(&[told; 2]));
        assert!((found / value.of(&[0.3; 2]) - 1.0).abs() < 1e-3, "{found}");
        assert!((found / low - FORMULA).abs() < 1e-2 && (high / found - FORMULA).abs() < 1e-2);
        // One that tells little leaves it open.
        let (_, [low, high]) = value.after(&[Size::unmeasured(1.0); 2]);
        assert!(high > 10.0 * low, "{low} {high}");
    }

    #[test]
    fn drifts_that_go_together_leave_what_the_squared_errors_add_up_to() {
        // Two features of size 1, correlated by one half: H has eigenvalues 3/2 along (1, 1) and 1/2 along (1, -1).
        let gram = [100.0, 50.0, 50.0, 100.0];
        let logs = RidgeStatistic::from_sums(100, &gram, &[300.0, 300.0], 2000.0).unwrap();
        let mut units = Units::of(&logs, None, 1.0);
        units.reward = 1.0;
        let value = Value::new(&Fit::new(&logs, &units), &logs, &units, 1.0, 1000.0);
        let left = |drift: [f64; 2]| value.left(&Vector::from_column_slice(&drift), true, 3.0);
        for drift in [[0.4, 0.4], [0.4, -0.4], [0.1, 0.7]] {
            // D is not diagonal in that basis unless drifts are of one size, so errors are followed as matrices.
            let told = Matrix::from_diagonal(&Vector::from_column_slice(&drift.map(|drift| drift * drift)));
            let moment = Matrix::from_column_slice(2, 2, &gram) / 100.0;
            let noise = (&moment * 100.0).try_inverse().unwrap();
            let precision = (&noise + told).try_inverse().unwrap();
            let drift = Vector::from_column_slice(&drift);
            let truth = noise + &drift * drift.transpose();
            let steps = 200_000;
            let width = 1000.0 / f64::from(steps);
            let squared_error = |step: i32| {
                let time = 3.0 + width * (f64::from(step) + 0.5);
                let posterior = (&precision + &moment * time).try_inverse().unwrap();
                let rows = &posterior * &precision;
                let error = &rows * &truth * rows.transpose() + &posterior * &moment * &posterior * time;
                (&moment * error).trace() * width
            };
            let expected = (0..steps).map(squared_error).sum::<f64>() / 2.0;
            let found = left([drift[0], drift[1]]);
            assert!((found / expected - 1.0).abs() < 1e-6, "{drift} {found} {expected}");
        }
        // Along (1, 1) all is learned soon, along (1, -1) it takes longer.
        assert!(left([0.4, 0.4]) < left([0.4, -0.4]));
        // Where errors count from the first round on, both directions are what was expected.
        let from_the_start =
            |drift: [f64; 2], known| value.left(&Vector::from_column_slice(&drift), known, 1e-9);
        let (known, unknown) = (from_the_start([0.4, 0.4], true), from_the_start([0.4, 0.4], false));
        assert!((known / unknown - 1.0).abs() < 0.01, "{known} {unknown}");
    }

    #[test]
    fn turning_all_features_changes_nothing() {
        let (c, s) = (0.6, 0.8);
        let turn = Matrix::from_row_slice(2, 2, &[c, -s, s, c]);
        let turned = |diagonal: &[f64], rows: u64| {
            let gram = &turn * Matrix::from_diagonal(&Vector::from_column_slice(diagonal)) * turn.transpose();
            RidgeStatistic::from_sums(rows, gram.as_slice(), &[0.0; 2], 1.0).unwrap()
        };
        // Coefficients of 0 are the same in every basis.
        let plain = value(&data(90, &[80.0, 2.0]), &data(30, &[10.0, 20.0]), 1.0, &[0.3; 2]);
        let turned = value(&turned(&[80.0, 2.0], 90), &turned(&[10.0, 20.0], 30), 1.0, &[0.3; 2]);
        assert!((plain / turned - 1.0).abs() < 1e-9, "{plain} {turned}");
    }
}
