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

use std::sync::atomic::{AtomicBool, AtomicU64};

use rand::RngExt as _;
use truenorth::Preset;
use truenorth::theory::PROOF_CONSTANT;

use self::problem::Problem;
use super::{Growth, GrowthPoint, Plan};
use crate::error::Result;
use crate::panel::check_runs;
use crate::results::Summary;
use crate::runner::Job;
use crate::world::stream;

/// Purpose of the generator that draws j; the runner counts its own from 0.
const HARD_ARM: u64 = u64::MAX;

/// What varies from point to point.
#[derive(Debug, Clone, PartialEq)]
pub enum Sweep {
    /// Numbers of arms m.
    Arms(Vec<usize>),
    /// Horizons T; the logs grow with them.
    Horizons(Vec<u64>),
    /// Budgets v.
    Budgets(Vec<f64>),
}

/// How Theorem 3 is played. The swept value takes the place of its field.
///
/// | field | default | purpose | range |
/// |---|---|---|---|
/// | `name` | by study | name of the result | |
/// | `sweep` | 4, 8, 16, 32, 64 arms | what varies | |
/// | `horizon` | 1000 | T | at least 1 |
/// | `arms` | 32 | m = d, the whole of S | at least 4 |
/// | `logs_per_round` | 0 | N/T; every arm has ⌊(N/T) T/m⌋ rows | |
/// | `budget` | 1 | v, how far a mean may have drifted, the same for all arms | at least 0 |
/// | `policies` | suplinucb, ellipsoidal-minucb, oful | who plays | distinct |
/// | `runs` | 32 | runs at each point, each with its own j | at least 1 |
/// | `seed` | 42 | base seed | |
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the table above documents the fields")]
pub struct LowerBoundSettings {
    pub name: String,
    pub sweep: Sweep,
    pub horizon: u64,
    pub arms: usize,
    pub logs_per_round: u64,
    pub budget: f64,
    pub policies: Vec<Preset>,
    pub runs: u64,
    pub seed: u64,
}

impl Default for LowerBoundSettings {
    fn default() -> Self {
        Self {
            name: "lower bound by arms".to_owned(),
            sweep: Sweep::Arms(vec![4, 8, 16, 32, 64]),
            horizon: 1000,
            arms: 32,
            logs_per_round: 0,
            budget: 1.0,
            policies: vec![Preset::SupLinUcb, Preset::EllipsoidalMinUcb, Preset::Oful],
            runs: 32,
            seed: 42,
        }
    }
}

impl LowerBoundSettings {
    /// The theorem from four sides: √m and √T without logs, √m with logs that may have drifted, and
    /// the bias term itself, which rises with the budget until the drift would show.
    pub fn studies() -> [Self; 4] {
        let study = |name: &str, sweep, logs_per_round| Self {
            name: format!("lower bound by {name}"),
            sweep,
            logs_per_round,
            ..Self::default()
        };
        let budgets = Sweep::Budgets(vec![0.0, 0.001, 0.002, 0.004, 0.016, 0.064, 0.256]);
        [
            Self::default(),
            study("horizon", Sweep::Horizons(vec![125, 500, 2000, 8000]), 0),
            study("arms, with logs", Self::default().sweep, 8),
            Self { arms: 16, ..study("budget", budgets, 8) },
        ]
    }

    fn problems(&self) -> Vec<(f64, Problem)> {
        let base = Problem {
            horizon: self.horizon,
            arms: self.arms,
            logs_per_round: self.logs_per_round,
            budget: self.budget,
        };
        match &self.sweep {
            Sweep::Arms(arms) => arms.iter().map(|&arms| (arms as f64, Problem { arms, ..base })).collect(),
            Sweep::Horizons(horizons) => {
                horizons.iter().map(|&horizon| (horizon as f64, Problem { horizon, ..base })).collect()
            }
            Sweep::Budgets(budgets) => {
                budgets.iter().map(|&budget| (budget, Problem { budget, ..base })).collect()
            }
        }
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
    check_runs(settings.runs)?;
    let problems = settings.problems();
    let plan = Plan {
        policies: &settings.policies,
        runs: settings.runs,
        seed: settings.seed,
        stop,
        progress,
        total: problems.len() as u64 * settings.runs,
        finished: AtomicU64::new(0),
    };
    let mut points = Vec::new();
    for (point, (x, problem)) in problems.into_iter().enumerate() {
        let hardness = problem.hardness()?;
        let panels: Vec<_> = (0..problem.arms)
            .map(|arm| plan.panel(format!("P_{arm}"), problem.world(arm), problem.horizon))
            .collect();
        let arm = |run| hard_arm(settings.seed, run, problem.arms);
        let jobs: Vec<Job> = plan.runs_of(point).map(|run| Job { panel: arm(run), run }).collect();
        let Some(regrets) = plan.regrets(&panels, &jobs)? else { break };
        points.push(GrowthPoint {
            x,
            measured: plan.named(regrets.into_iter().map(Summary::of)),
            easy: Vec::new(),
            hardness,
            bound: PROOF_CONSTANT * hardness,
        });
    }
    let x_label = match settings.sweep {
        Sweep::Arms(_) => "arms m",
        Sweep::Horizons(_) => "horizon T",
        Sweep::Budgets(_) => "budget v",
    };
    Ok(Growth { name: settings.name.clone(), x_label: x_label.to_owned(), points })
}

/// j of one run.
fn hard_arm(seed: u64, run: u64, arms: usize) -> usize {
    stream(seed, run, HARD_ARM).random_range(0..arms)
}

#[cfg(test)]
mod tests;
