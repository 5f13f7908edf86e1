//! How regret grows where the paper proves that it must: policies at play on the hard instances.
//!
//! | study | instances | grows like | in the paper |
//! |---|---|---|---|
//! | [`impossibility`] | same logs, same length of drift, its sign unknown | √T | Theorem 5 |
//! | [`lower_bound`] | one arm of m is better by too little to be found | √(m T), drift included | Theorem 3 |
//!
//! All policies of a point see the same logs and noise; points share no run, so that their errors are
//! independent. Policies are told the truth about noise and norm, and of the drift its length, which is
//! the same in all instances of a point and so tells none of them from another.

mod impossibility;
mod lower_bound;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use truenorth::Preset;

pub use impossibility::{ImpossibilitySettings, impossibility};
pub use lower_bound::{LowerBoundSettings, Sweep, lower_bound};

use crate::error::{Error, Result};
use crate::panel::{NormBound, Panel};
use crate::policy::{CertificateKind, PolicySpec};
use crate::results::Summary;
use crate::runner::{Job, play};
use crate::world::World;

/// Regret against what makes a problem harder, with the bound that no policy stays below.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Which study.
    pub name: String,
    /// What `x` is.
    pub x_label: String,
    /// One for each value of `x`, in the order of the settings.
    pub points: Vec<GrowthPoint>,
}

/// One problem size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GrowthPoint {
    /// Horizon, number of arms or budget.
    pub x: f64,
    /// Regret of each policy where the theorem bounds it from below.
    pub measured: Vec<(String, Summary)>,
    /// Regret of each policy on an instance that looks the same and is easy; Theorem 3 has none.
    pub easy: Vec<(String, Summary)>,
    /// The theorem's expression without its constant: ρ² T / ρ₀ or Ψ(S).
    pub hardness: f64,
    /// The same with the constant that the proof supports.
    pub bound: f64,
}

impl Growth {
    /// Exponent of a policy's regret: least squares of log regret on log x. `None` for a policy that
    /// did not play, or with fewer than two points at which x and regret are positive.
    pub fn exponent(&self, policy: &str) -> Option<f64> {
        let regret = |point: &GrowthPoint| {
            point.measured.iter().find(|(name, _)| name == policy).map(|(_, regret)| regret.mean)
        };
        fitted_slope(self.points.iter().filter_map(|point| Some((point.x, regret(point)?))))
    }

    /// Exponent of the bound, fitted in the same way.
    pub fn bound_exponent(&self) -> Option<f64> {
        fitted_slope(self.points.iter().map(|point| (point.x, point.bound)))
    }

    /// The smallest mean regret of any policy at any point, in units of the bound. Less than 1 by
    /// more than the standard errors allow refutes the theorem, or this program.
    pub fn least_ratio(&self) -> f64 {
        let ratios = self
            .points
            .iter()
            .flat_map(|point| point.measured.iter().map(|(_, regret)| regret.mean / point.bound));
        ratios.fold(f64::INFINITY, f64::min)
    }
}

fn fitted_slope(points: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let logs: Vec<(f64, f64)> =
        points.filter(|&(x, y)| x > 0.0 && y > 0.0).map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let spread: f64 = logs.iter().map(|point| (point.0 - x).powi(2)).sum();
    let rise: f64 = logs.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    (spread > 0.0).then(|| rise / spread)
}

/// What all studies of hardness share.
struct Plan<'a, P> {
    policies: &'a [Preset],
    runs: u64,
    seed: u64,
    stop: &'a AtomicBool,
    progress: P,
    /// Runs of all points, for the progress.
    total: u64,
    finished: AtomicU64,
}

impl<P: Fn(u64, u64) + Sync> Plan<'_, P> {
    fn panel(&self, name: String, world: World, horizon: u64) -> Panel {
        let spec = |&preset: &Preset| PolicySpec {
            // `Coordinate` would name the drifted coordinate, which is what the instances hide.
            certificate: Some(CertificateKind::Isotropic),
            ..PolicySpec::preset(preset)
        };
        Panel {
            name,
            world,
            policies: self.policies.iter().map(spec).collect(),
            horizon,
            runs: self.runs,
            seed: self.seed,
            norm_bound: NormBound::Truth,
            ridge: 1.0,
            delta: 0.01,
        }
    }

    /// Runs of one point: no two points have one in common.
    fn runs_of(&self, point: usize) -> std::ops::Range<u64> {
        let first = point as u64 * self.runs;
        first..first + self.runs
    }

    /// Regrets of each policy over the jobs, in their order; `None` if it was stopped before the end.
    fn regrets(&self, panels: &[Panel], jobs: &[Job]) -> Result<Option<Vec<Vec<f64>>>> {
        panels.iter().try_for_each(Panel::check)?;
        let outcomes = play(panels, jobs, self.stop, |_, _| {
            (self.progress)(self.finished.fetch_add(1, Ordering::Relaxed) + 1, self.total);
            Ok::<(), Error>(())
        })?;
        let regrets = |policy: usize| {
            outcomes.iter().map(|(_, outcome)| outcome.policies[policy].regret.total()).collect()
        };
        Ok((outcomes.len() == jobs.len()).then(|| (0..self.policies.len()).map(regrets).collect()))
    }

    fn named(&self, summaries: impl Iterator<Item = Summary>) -> Vec<(String, Summary)> {
        self.policies.iter().map(|preset| preset.name().to_owned()).zip(summaries).collect()
    }
}

#[cfg(test)]
mod tests;
