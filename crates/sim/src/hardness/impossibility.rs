//! Theorem 5 at play: logs and the length of the drift do not tell the easy instance from the hard.
//!
//! ```text
//! ρ = c₀ / √T, ρ₀ = 4ρ        max over ± of E[R_T] ≥ c₁ ρ² T / ρ₀ = c₁ c₀ √T / 4
//! ```
//!
//! Along ρ₀ = 4ρ the three actions are the same for every T, and only the means shrink, like 1/√T.
//! In the hard pair action 0 is about ρ/16 below the best and the wrong side ρ/4. As nobody can tell
//! the sides apart, action 0 is about the best that can be done: 18 times the bound. Playing the two
//! sides alike costs 36 times the bound.
//!
//! By default the logs come from a policy that always played action 0, the best one under θ†. Then
//! [`Preset::OfflineOnly`] always plays action 0: it has no regret on the easy instance.

use std::sync::atomic::{AtomicBool, AtomicU64};

use truenorth::Preset;
use truenorth::theory::{
    IMPOSSIBILITY_CONSTANT, IMPOSSIBILITY_RANGE, Instance, IsotropicInstances, largest_drift,
};

use super::{Growth, GrowthPoint, Plan};
use crate::error::Result;
use crate::panel::check_runs;
use crate::results::Summary;
use crate::runner::Job;
use crate::world::{Contexts, Coverage, ParameterLaw, RewardModel, World};

const INSTANCES: [Instance; 3] = [Instance::Plus, Instance::Minus, Instance::Good];
/// No Bernoulli variable is further from its mean than half its range: sub-Gaussian with σ = 1/2.
const BERNOULLI_NOISE: f64 = 0.5;

/// How Theorem 5 is played.
///
/// | field | default | purpose | range |
/// |---|---|---|---|
/// | `horizons` | 100, 400, 1600, 6400, 25600 | values of T | at least 1; growth is √T from 39 on |
/// | `log_rows` | 1000, 0, 0 | how often the logs show each of the three actions | |
/// | `policies` | suplinucb, ellipsoidal-minucb, oful, offline-only | who plays | distinct |
/// | `runs` | 64 | runs of each instance at each horizon | at least 1 |
/// | `seed` | 42 | base seed | |
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table above documents the fields")]
pub struct ImpossibilitySettings {
    pub horizons: Vec<u64>,
    pub log_rows: [u64; 3],
    pub policies: Vec<Preset>,
    pub runs: u64,
    pub seed: u64,
}

impl Default for ImpossibilitySettings {
    fn default() -> Self {
        Self {
            horizons: vec![100, 400, 1600, 6400, 25_600],
            log_rows: [1000, 0, 0],
            policies: vec![Preset::SupLinUcb, Preset::EllipsoidalMinUcb, Preset::Oful, Preset::OfflineOnly],
            runs: 64,
            seed: 42,
        }
    }
}

/// Plays the hard pair and the easy instance, with the same logs and luck, at each horizon.
///
/// A point's `measured` is each policy's regret on that instance of the hard pair on which its mean
/// is larger, `easy` its regret on the easy instance. `progress` hears, from any thread, how many
/// runs of how many are finished. Points that are unfinished when `stop` is set are left out.
pub fn impossibility(
    settings: &ImpossibilitySettings,
    stop: &AtomicBool,
    progress: impl Fn(u64, u64) + Sync,
) -> Result<Growth> {
    check_runs(settings.runs)?;
    let plan = Plan {
        policies: &settings.policies,
        runs: settings.runs,
        seed: settings.seed,
        stop,
        progress,
        total: (settings.horizons.len() * INSTANCES.len()) as u64 * settings.runs,
        finished: AtomicU64::new(0),
    };
    let mut points = Vec::new();
    for (point, &horizon) in settings.horizons.iter().enumerate() {
        let instances = instances(horizon)?;
        let panels = INSTANCES.map(|instance| {
            plan.panel(format!("{instance:?}"), world(&instances, instance, settings.log_rows), horizon)
        });
        // All instances play the same runs: common logs and luck.
        let jobs: Vec<Job> =
            (0..3).flat_map(|panel| plan.runs_of(point).map(move |run| Job { panel, run })).collect();
        let Some(regrets) = plan.regrets(&panels, &jobs)? else { break };
        let summaries: Vec<[Summary; 3]> = regrets.iter().map(|regrets| by_instance(regrets)).collect();
        let worse = |[plus, minus, _]: &[Summary; 3]| if plus.mean >= minus.mean { *plus } else { *minus };
        points.push(GrowthPoint {
            x: horizon as f64,
            measured: plan.named(summaries.iter().map(worse)),
            easy: plan.named(summaries.iter().map(|&[_, _, good]| good)),
            hardness: instances.regret_lower_bound() / IMPOSSIBILITY_CONSTANT,
            bound: instances.regret_lower_bound(),
        });
    }
    Ok(Growth { name: "impossibility".to_owned(), x_label: "horizon T".to_owned(), points })
}

/// The largest drift along ρ₀ = 4ρ that the theorem covers; below 39 rounds ρ₀ = 1/4 limits it.
fn instances(horizon: u64) -> Result<IsotropicInstances> {
    let signal = (4.0 * IMPOSSIBILITY_RANGE / (horizon as f64).sqrt()).min(0.25);
    Ok(IsotropicInstances::new(horizon, signal, largest_drift(horizon, signal))?)
}

fn world(instances: &IsotropicInstances, instance: Instance, log_rows: [u64; 3]) -> World {
    let actions: Vec<Vec<f64>> = instances.actions().iter().map(|x| x.to_vec()).collect();
    World {
        dimension: 3,
        parameters: ParameterLaw::Given {
            live: instances.parameter(instance).to_vec(),
            logged: instances.offline_parameter().to_vec(),
        },
        coverage: Coverage::Counts { features: actions.clone(), counts: log_rows.to_vec() },
        log_rows: 0,
        contexts: Contexts::Fixed { features: actions },
        rewards: RewardModel::Bernoulli,
        noise: BERNOULLI_NOISE,
    }
}

/// Regrets come instance after instance, each with the same number of runs.
fn by_instance(regrets: &[f64]) -> [Summary; 3] {
    let runs = regrets.len() / INSTANCES.len();
    [0, 1, 2].map(|instance| Summary::of(regrets[instance * runs..][..runs].to_vec()))
}

#[cfg(test)]
mod tests;
