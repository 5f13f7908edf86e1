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
use truenorth_sim::{CertificateKind, Job, Panel, PolicySpec, Result, Summary, World, play};

pub use impossibility::{ImpossibilitySettings, impossibility};
pub use lower_bound::{LowerBoundSettings, Problem, lower_bound};

/// Who plays a study, how often and with which luck.
///
/// | field | default | purpose | range |
/// |---|---|---|---|
/// | `policies` | by study | who plays | distinct |
/// | `runs` | by study | runs at each point | at least 1 |
/// | `seed` | 42 | base seed | |
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table above documents the fields")]
pub struct Trials {
    pub policies: Vec<Preset>,
    pub runs: u64,
    pub seed: u64,
}

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

/// One problem size before it is played.
struct Point {
    x: f64,
    horizon: u64,
    worlds: Vec<World>,
    hardness: f64,
    bound: f64,
}

impl Trials {
    fn new(policies: &[Preset], runs: u64) -> Self {
        Self { policies: policies.to_vec(), runs, seed: 42 }
    }

    /// Plays the points of a study one after the other; those that are unfinished when `stop` is set are left out.
    ///
    /// `worlds` says in which of a point's worlds a run is played: in one, or in two of which the worse counts and
    /// one that is easy. `progress` hears, from any thread, how many runs of how many are finished.
    fn play<const WORLDS: usize>(
        &self,
        points: &[Point],
        worlds: impl Fn(&Point, u64) -> [usize; WORLDS],
        stop: &AtomicBool,
        progress: impl Fn(u64, u64) + Sync,
    ) -> Result<Vec<GrowthPoint>> {
        let total = self.runs.saturating_mul((points.len() * WORLDS) as u64);
        let finished = AtomicU64::new(0);
        let mut played = Vec::new();
        for (number, point) in points.iter().enumerate() {
            let panels: Vec<Panel> =
                point.worlds.iter().map(|world| self.panel(world, point.horizon)).collect();
            panels.iter().try_for_each(Panel::check)?;
            // No two points have a run in common; the worlds of a run share its logs and luck.
            let runs = number as u64 * self.runs..(number as u64 + 1) * self.runs;
            let jobs: Vec<Job> =
                runs.flat_map(|run| worlds(point, run).map(|panel| Job { panel, run })).collect();
            let one_more = || progress(finished.fetch_add(1, Ordering::Relaxed) + 1, total);
            let outcomes = play(&panels, &jobs, stop, |_| (), one_more)?;
            if outcomes.len() < jobs.len() {
                break;
            }
            let Point { x, hardness, bound, .. } = *point;
            let (mut measured, mut easy) = (Vec::new(), Vec::new());
            for (policy, preset) in self.policies.iter().enumerate() {
                let regrets: [Summary; WORLDS] = std::array::from_fn(|world| {
                    let outcomes = outcomes.iter().skip(world).step_by(WORLDS);
                    Summary::of(outcomes.map(|(_, run)| run.policies[policy].regret.total).collect())
                });
                let other = regrets.get(1).filter(|other| regrets[0].mean < other.mean);
                measured.push((preset.name().to_owned(), *other.unwrap_or(&regrets[0])));
                easy.extend(regrets.get(2).map(|regret| (preset.name().to_owned(), *regret)));
            }
            played.push(GrowthPoint { x, measured, easy, hardness, bound });
        }
        Ok(played)
    }

    fn panel(&self, world: &World, horizon: u64) -> Panel {
        let spec = |&preset: &Preset| PolicySpec {
            // `Coordinate` would name the drifted coordinate, which is what the instances hide.
            certificate: Some(CertificateKind::Isotropic),
            ..PolicySpec::preset(preset)
        };
        let policies = self.policies.iter().map(spec).collect();
        let (runs, seed) = (self.runs, self.seed);
        Panel { world: world.clone(), policies, horizon, runs, seed, ..Panel::default() }
    }
}

#[cfg(test)]
mod tests;
