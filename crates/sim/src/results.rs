//! What an experiment found, in the shape of `results.json`.

use serde::{Deserialize, Serialize};

/// All figures of one command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The figures.
    pub figures: Vec<FigureResult>,
}

/// One figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FigureResult {
    /// Its name, and that of its files.
    pub name: String,
    /// Its panels.
    pub panels: Vec<PanelResult>,
}

/// One panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PanelResult {
    /// Its name.
    pub name: String,
    /// Rounds of a run.
    pub horizon: u64,
    /// Runs.
    pub runs: u64,
    /// The policies that played.
    pub policies: Vec<PolicyResult>,
}

/// One policy in one panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyResult {
    /// Its name.
    pub name: String,
    /// Regret of whole runs.
    pub final_regret: Summary,
    /// Rounds at which the curves are given.
    pub rounds: Vec<u64>,
    /// Mean cumulative regret.
    pub mean: Vec<f64>,
    /// Lower end of the band.
    pub p10: Vec<f64>,
    /// Upper end of the band.
    pub p90: Vec<f64>,
    /// Disjoint intervals met in a run, on average.
    pub conflicts: f64,
    /// Share of rounds in which the logs set the UCB of the chosen action.
    pub pooled_share: f64,
    /// Seconds of a run, on average.
    pub seconds: f64,
}

/// Mean, standard error of the mean, and the 10 and 90 % quantiles of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Standard error of the mean; 0 for one value.
    pub stderr: f64,
    /// 10 % quantile, interpolated.
    pub p10: f64,
    /// 90 % quantile, interpolated.
    pub p90: f64,
}

impl Summary {
    /// Of a sample with at least one value; the order of summation is that of the sample.
    pub fn of(mut sample: Vec<f64>) -> Self {
        let count = sample.len() as f64;
        let mean = sample.iter().sum::<f64>() / count;
        let squares: f64 = sample.iter().map(|value| (value - mean).powi(2)).sum();
        let stderr = if count > 1.0 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
        sample.sort_by(f64::total_cmp);
        Self { mean, stderr, p10: quantile(&sample, 0.1), p90: quantile(&sample, 0.9) }
    }
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() as f64 - 1.0);
    let below = place.floor();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the sample")]
    let (low, high) = (sorted[below as usize], sorted[place.ceil() as usize]);
    low + (place - below) * (high - low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_of_eleven_numbers_by_hand() {
        let summary = Summary::of((0..=10).rev().map(f64::from).collect());
        // Variance 11, so that the standard error is 1; quantiles fall on the second and the tenth.
        assert_eq!((summary.mean, summary.p10, summary.p90), (5.0, 1.0, 9.0));
        assert!((summary.stderr - 1.0).abs() < 1e-15);
    }

    #[test]
    fn one_value_has_no_error_and_no_band() {
        assert_eq!(Summary::of(vec![2.5]), Summary { mean: 2.5, stderr: 0.0, p10: 2.5, p90: 2.5 });
    }

    #[test]
    fn quantiles_between_two_values_are_interpolated() {
        let summary = Summary::of(vec![0.0, 1.0]);
        assert!((summary.p10 - 0.1).abs() < 1e-15 && (summary.p90 - 0.9).abs() < 1e-15);
    }
}
