//! The cost of the logs' choice by the pilot's own rewards, where each action of a round has one. It needs no model of rewards.
//!
//! ```text
//! D = mean over rounds of y_b - y_â       b: what least squares on the rounds of the other folds recommends
//! ```
//!
//! D is at most the cost of playing â, up to chance: b is not always the best action. It may be below 0.

use truenorth::{Result, RidgeStatistic};

use crate::Vector;
use crate::fit::{Fit, Units};
use crate::live::Rows;
use crate::tail;
use crate::view::MeasuredCost;

/// Parts of the rounds; those that a fit is judged by are none that it has seen.
pub(crate) const FOLDS: usize = 5;

/// Share of the scores below which a difference of two is rounding.
const TIE: f64 = 1e-12;

/// What the logs' choice costs by these rows, whose interval has this level; none without rounds of actions that differ.
pub(crate) fn measured(
    rows: Rows<'_>,
    units: &Units,
    logs: &Vector,
    level: f64,
) -> Result<Option<MeasuredCost>> {
    let Some(numbers) = rows.rounds else { return Ok(None) };
    let d = units.columns.len();
    let features = |row: usize| &rows.features[row * d..][..d];
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by_key(|&row| numbers[row]);
    let rounds: Vec<&[usize]> = order.chunk_by(|&a, &b| numbers[a] == numbers[b]).collect();
    let chosen_between = |round: &[usize]| round.iter().any(|&row| features(row) != features(round[0]));
    if rounds.iter().filter(|round| chosen_between(round)).count() < 2 {
        return Ok(None);
    }
    let mut folds = (0..FOLDS).map(|_| RidgeStatistic::new(d)).collect::<Result<Vec<_>>>()?;
    for (place, round) in rounds.iter().enumerate() {
        for &row in *round {
            folds[place % FOLDS].observe(features(row), rows.rewards[row])?;
        }
    }
    let (mut costs, mut advantages) = (Vec::new(), Vec::new());
    for fold in 0..FOLDS {
        let mut others = RidgeStatistic::new(d)?;
        for (_, other) in folds.iter().enumerate().filter(|(place, _)| *place != fold) {
            others.merge(other)?;
        }
        let fit = Fit::new(&others, units).estimate;
        for round in rounds.iter().skip(fold).step_by(FOLDS).filter(|round| chosen_between(round)) {
            let rewards: Vec<f64> = round.iter().map(|&row| rows.rewards[row] / units.reward).collect();
            let earned = |coefficients: &Vector| {
                let score = |row: &usize| {
                    let terms = features(*row).iter().zip(&units.columns).zip(coefficients);
                    terms.map(|((x, unit), coefficient)| x / unit * coefficient).sum::<f64>()
                };
                of_the_best(&round.iter().map(score).collect::<Vec<_>>(), &rewards)
            };
            let logged = earned(logs);
            costs.push(earned(&fit) - logged);
            advantages.push(logged - rewards.iter().sum::<f64>() / rewards.len() as f64);
        }
    }
    let [(cost, stderr), (advantage, advantage_stderr)] =
        [costs.as_slice(), &advantages].map(|values| mean_with_error(values, units.reward));
    let beside = tail::student_critical(level, costs.len() as f64 - 1.0) * stderr;
    let found = MeasuredCost {
        estimate: cost,
        stderr,
        interval: [cost - beside, cost + beside],
        advantage,
        advantage_stderr,
        rounds: costs.len() as u64,
        contradicts: false,
    };
    Ok([cost, beside, advantage, advantage_stderr].iter().all(|part| part.is_finite()).then_some(found))
}

/// The reward of the action with the largest score. Those that tie share: which of them comes first in a file may hang on
/// its reward.
fn of_the_best(scores: &[f64], rewards: &[f64]) -> f64 {
    let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let size = scores.iter().fold(0.0f64, |size, score| size.max(score.abs()));
    let tied = scores.iter().zip(rewards).filter(|(score, _)| **score >= best - TIE * size);
    let (sum, count) = tied.fold((0.0, 0.0), |(sum, count), (_, reward)| (sum + reward, count + 1.0));
    sum / count
}

/// The mean of at least two values and its standard error, in this unit.
fn mean_with_error(values: &[f64], unit: f64) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean * unit, (squares / (n * (n - 1.0))).sqrt() * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_that_tie_share() {
        assert!((of_the_best(&[1.0, 3.0, 3.0 + 1e-15], &[9.0, 1.0, 2.0]) - 1.5).abs() < 1e-15);
        assert!((of_the_best(&[1.0, 3.0, 3.0 + 1e-9], &[9.0, 1.0, 2.0]) - 2.0).abs() < 1e-15);
        assert!((of_the_best(&[0.0, 0.0], &[1.0, 0.0]) - 0.5).abs() < 1e-15);
    }

    #[test]
    fn ten_rounds_by_hand() {
        // Of two actions the first earns 1, the second 0 in rounds 0 to 6 and 3 in rounds 7 to 9. Fold f is the rounds f and f + 5:
        // without it the second earns 9/8 on average for f = 0 and 1, and 6/8 for the others.
        let mut features = Vec::new();
        let mut rewards = Vec::new();
        for round in 0..10 {
            features.extend([1.0, 0.0, 0.0, 1.0]);
            rewards.extend([1.0, if round < 7 { 0.0 } else { 3.0 }]);
        }
        let rounds: Vec<usize> = (0..20).map(|row| row / 2).collect();
        let rows = Rows { features: &features, rewards: &rewards, rounds: Some(&rounds) };
        let units = Units { columns: vec![1.0, 1.0], reward: 2.0, scale: 1.0 };
        let found =
            |logs: [f64; 2]| measured(rows, &units, &Vector::from_row_slice(&logs), 0.05).unwrap().unwrap();
        // Logs that like the second: rounds 2, 3 and 4 gain 1 each by the first, and 7, 8 and 9 lose 2.
        let second = found([0.0, 1.0]);
        assert!((second.estimate + 0.3).abs() < 1e-12 && second.rounds == 10, "{second:?}");
        // Σ (v + 0.3)² = 4 · 0.09 + 3 · 1.69 + 3 · 2.89 = 14.1, by 90.
        assert!((second.stderr - (14.1f64 / 90.0).sqrt()).abs() < 1e-12);
        // -½ in seven rounds and 1 in three.
        assert!((second.advantage + 0.05).abs() < 1e-12);
        // Of nine degrees of freedom.
        assert!((second.interval[1] - second.estimate - 2.262_157 * second.stderr).abs() < 1e-6);
        // Logs that like the first: the rounds 0, 1, 5 and 6 lose 1 each by the second.
        let first = found([1.0, 0.0]);
        assert!((first.estimate + 0.4).abs() < 1e-12, "{first:?}");
        // All tie: half of either.
        let neither = found([0.0, 0.0]);
        assert!((neither.estimate - f64::midpoint(first.estimate, second.estimate)).abs() < 1e-12);
    }

    #[test]
    fn only_rounds_of_actions_that_differ_count() {
        let units = Units { columns: vec![1.0], reward: 1.0, scale: 1.0 };
        let found = |features: &[f64], rounds: Option<&[usize]>| {
            let rewards: Vec<f64> = features.iter().map(|x| 2.0 * x).collect();
            let rows = Rows { features, rewards: &rewards, rounds };
            measured(rows, &units, &Vector::from_element(1, 1.0), 0.05).unwrap()
        };
        let features = [1.0, 2.0, 3.0, 5.0, 4.0, 4.0, 7.0];
        assert_eq!(found(&features, None), None);
        assert_eq!(found(&features[2..], Some(&[0, 0, 1, 1, 2])), None);
        let same = found(&features, Some(&[0, 0, 1, 1, 2, 2, 3])).unwrap();
        assert!(same.estimate.abs() < 1e-300 && same.stderr.abs() < 1e-300 && same.rounds == 2);
    }
}
