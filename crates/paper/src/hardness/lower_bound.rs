//! Theorem 3 at play: one of m arms is better, by less than T rounds and N logged rows can show.
//!
//! ```text
//! P_j      arm j has mean μ, all others 0; its logs have mean μ - v̄; j is drawn from the m arms
//! N = 0    μ = √(m/T) / 8, v̄ = 0                                                            (case 1)
//! N > 0    v̄ = min{ v, √(m (T + N) / (N T)) / 32 }, μ = N v̄ / (N + T) + √(m / (N + T)) / 64  (case 2)
//! ```
//!
//! # Why does the bound hold for a random j, and from 4 arms on?
//!
//! The proof looks for one arm that is rarely played when all means are 0, and needs 32 arms to be
//! sure of it. Over a uniform j its three ingredients hold on average: at most one arm can fill more
//! than half of the rounds, so the events' probabilities are at most 1/m on average; the divergence
//! is that of the mean counts, T/m and N/m, without the factor 4; and e^(-x) is convex. So the
//! mean regret over j is at least `μT/2 (e^(-1/100)/2 - 1/m)`, which is c Ψ for every m ≥ 4.
//!
//! # How much can policies differ here?
//!
//! Hardly. By Pinsker, averaged in the same way, arm j's share of rounds is within √(KL/2) of 1/m for
//! every policy, so that
//!
//! ```text
//! E[R_T] = μT (1 - 1/m ± 1/16)   without logs,   μT (1 - 1/m ± 0.018)   with logs
//! ```
//!
//! So regret grows like √(m T) (1 - 1/m), which is a little faster than √m for few arms. Larger gaps
//! are where policies differ, and where these policies lose most.
//!
//! The drift v̄ stops growing with the budget at 1/32 of the v at which Ψ does: from there on the bound
//! comes closer to these instances' regret, and never reaches it.

mod problem;

use std::sync::atomic::AtomicBool;

use rand::RngExt as _;
use truenorth::Preset;
use truenorth_sim::{Result, stream};

pub use self::problem::Problem;
use super::{Growth, Point, Trials};
use crate::theory::PROOF_CONSTANT;

/// Purpose of the generator that draws j; the runner counts its own from 0.
const HARD_ARM: u64 = u64::MAX;

/// How Theorem 3 is played.
///
/// | field | purpose | range |
/// |---|---|---|
/// | `name` | name of the result | |
/// | `x_label` | what varies from point to point | |
/// | `problems` | the problem at each value of what varies | see [`Problem`] |
/// | `trials` | who plays, how often; each run with its own j | |
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the table above documents the fields")]
pub struct LowerBoundSettings {
    pub name: String,
    pub x_label: &'static str,
    pub problems: Vec<(f64, Problem)>,
    pub trials: Trials,
}

impl LowerBoundSettings {
    /// The theorem from four sides: √m and √T without logs, √m with logs that may have drifted, and
    /// the bias term itself, which rises with the budget until the drift would show. 32 runs of suplinucb,
    /// ellipsoidal-minucb and oful each.
    pub fn studies() -> [Self; 4] {
        let base = Problem { horizon: 1000, arms: 32, logs_per_round: 0, budget: 1.0 };
        let study = |name: &str, x_label, problems| Self {
            name: format!("lower bound by {name}"),
            x_label,
            problems,
            trials: Trials::new(&[Preset::SupLinUcb, Preset::EllipsoidalMinUcb, Preset::Oful], 32),
        };
        let by_arms = |logs_per_round| {
            let problem = |arms| (arms as f64, Problem { arms, logs_per_round, ..base });
            [4, 8, 16, 32, 64].map(problem).to_vec()
        };
        let horizons = [125, 500, 2000, 8000].map(|horizon| (horizon as f64, Problem { horizon, ..base }));
        let budgets = [0.0, 0.001, 0.002, 0.004, 0.016, 0.064, 0.256]
            .map(|budget| (budget, Problem { arms: 16, logs_per_round: 8, budget, ..base }));
        [
            study("arms", "arms m", by_arms(0)),
            study("horizon", "horizon T", horizons.to_vec()),
            study("arms, with logs", "arms m", by_arms(8)),
            study("budget", "budget v", budgets.to_vec()),
        ]
    }
}

/// Plays the proof's instances with a random j in each run, at each point of the sweep.
///
/// `progress` hears, from any thread, how many runs of how many are finished. Points that are
/// unfinished when `stop` is set are left out. A round takes O(m³).
pub fn lower_bound(
    settings: &LowerBoundSettings,
    stop: &AtomicBool,
    progress: impl Fn(u64, u64) + Sync,
) -> Result<Growth> {
    let point = |&(x, problem): &(f64, Problem)| {
        let (hardness, horizon) = (problem.hardness()?, problem.horizon);
        let worlds = (0..problem.arms).map(|arm| problem.world(arm)).collect();
        Ok(Point { x, horizon, worlds, hardness, bound: PROOF_CONSTANT * hardness })
    };
    let points = settings.problems.iter().map(point).collect::<Result<Vec<Point>>>()?;
    let hard_arm = |point: &Point, run| [hard_arm(settings.trials.seed, run, point.worlds.len())];
    let points = settings.trials.play(&points, hard_arm, stop, progress)?;
    Ok(Growth { name: settings.name.clone(), x_label: settings.x_label.to_owned(), points })
}

/// j of one run.
fn hard_arm(seed: u64, run: u64, arms: usize) -> usize {
    stream(seed, run, HARD_ARM).random_range(0..arms)
}

#[cfg(test)]
mod tests;
