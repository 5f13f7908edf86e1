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

use std::sync::atomic::AtomicBool;

use truenorth::Preset;
use truenorth_sim::{Result, RewardModel, World};

use super::{Growth, Point, Trials};
use crate::studies::fixed_actions;
use crate::theory::{IMPOSSIBILITY_CONSTANT, IMPOSSIBILITY_RANGE, IsotropicInstances, largest_drift};

/// No Bernoulli variable is further from its mean than half its range: sub-Gaussian with σ = 1/2.
const BERNOULLI_NOISE: f64 = 0.5;

/// How Theorem 5 is played.
///
/// | field | default | purpose | range |
/// |---|---|---|---|
/// | `horizons` | 100, 400, 1600, 6400, 25600 | values of T | at least 1; growth is √T from 39 on |
/// | `log_rows` | 1000, 0, 0 | how often the logs show each of the three actions | |
/// | `trials` | suplinucb, ellipsoidal-minucb, oful, offline-only; 64 runs of each instance | who plays, how often | |
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table above documents the fields")]
pub struct ImpossibilitySettings {
    pub horizons: Vec<u64>,
    pub log_rows: [u64; 3],
    pub trials: Trials,
}

impl Default for ImpossibilitySettings {
    fn default() -> Self {
        Self {
            horizons: vec![100, 400, 1600, 6400, 25_600],
            log_rows: [1000, 0, 0],
            trials: Trials::new(
                &[Preset::SupLinUcb, Preset::EllipsoidalMinUcb, Preset::Oful, Preset::OfflineOnly],
                64,
            ),
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
    let point = |&horizon: &u64| {
        let instances = instances(horizon)?;
        let bound = instances.regret_lower_bound();
        let worlds = worlds(&instances, settings.log_rows);
        Ok(Point { x: horizon as f64, horizon, worlds, hardness: bound / IMPOSSIBILITY_CONSTANT, bound })
    };
    let points = settings.horizons.iter().map(point).collect::<Result<Vec<Point>>>()?;
    let points = settings.trials.play(&points, |_, _| [0, 1, 2], stop, progress)?;
    Ok(Growth { name: "impossibility".to_owned(), x_label: "horizon T".to_owned(), points })
}

/// The largest drift along ρ₀ = 4ρ that the theorem covers; below 39 rounds ρ₀ = 1/4 limits it.
fn instances(horizon: u64) -> Result<IsotropicInstances> {
    let signal = (4.0 * IMPOSSIBILITY_RANGE / (horizon as f64).sqrt()).min(0.25);
    Ok(IsotropicInstances::new(horizon, signal, largest_drift(horizon, signal))?)
}

/// The hard pair, and the easy instance.
fn worlds(instances: &IsotropicInstances, log_rows: [u64; 3]) -> Vec<World> {
    let world = |live: [f64; 3]| {
        let actions = instances.actions().map(|x| x.to_vec()).to_vec();
        let logged = instances.offline_parameter().to_vec();
        let world = fixed_actions(actions, log_rows.to_vec(), live.to_vec(), logged);
        World { rewards: RewardModel::Bernoulli, noise: BERNOULLI_NOISE, ..world }
    };
    instances.parameters().map(world).to_vec()
}

#[cfg(test)]
mod tests;
