//! The runner: one run is one world, drawn once, in which every policy plays.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use truenorth::theory::{AlignedBias, LayerPath, PooledPath, PooledRadius, RadiusParams};
use truenorth::{Actions, Observation, Policy};

use crate::error::{Error, Result};
use crate::observer::{Observer as _, RegretCurve, Shares, Step, thinned_rounds};
use crate::panel::{NormBound, Panel};
use crate::policy::{PolicySpec, Told};
use crate::results::{PanelResult, PolicyResult, Summary};
use crate::world::{World, dot, stream};

/// Rounds that are drawn at once, and that each policy plays before the next one does: the clock is
/// read twice a block, not twice a round.
const BLOCK: u64 = 256;
/// Points of a curve, at most.
const POINTS: u64 = 500;
/// Parts of the horizon in which shares are counted.
const PARTS: u64 = 60;

/// One run of one panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Job {
    /// Index of the panel.
    pub panel: usize,
    /// Run, from 0.
    pub run: u64,
}

/// Theorem 1's bound (Theorem 4's with a learned certificate) for one run of one policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BoundCheck {
    /// Layer by layer.
    pub layerwise: f64,
    /// With one prefactor for all layers.
    pub coarse: f64,
    /// What the path was made of, for other bounds on it.
    pub radius: RadiusParams,
    /// See `radius`.
    pub layers: Vec<LayerPath>,
    /// ρ √c_align of this run's logs and certificate, where that is fixed.
    pub bias_scale: Option<f64>,
}

impl BoundCheck {
    /// The path that was played.
    pub fn path(&self) -> Result<PooledPath> {
        Ok(PooledPath::new(PooledRadius::new(self.radius)?, &self.layers)?)
    }
}

/// What one policy did in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyOutcome {
    /// Cumulative regret.
    pub regret: RegretCurve,
    /// Which layer and branch decided.
    pub shares: Shares,
    /// Disjoint intervals met.
    pub conflicts: u64,
    /// Share of rounds in which the logs set the UCB of the chosen action.
    pub pooled_share: f64,
    /// Time in `choose` and `learn`.
    pub seconds: f64,
    /// The bound on its regret, where the paper has one.
    pub bound: Option<BoundCheck>,
}

/// What all policies did in one run, in the panel's order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOutcome {
    /// One for each policy.
    pub policies: Vec<PolicyOutcome>,
}

/// The live parameter of one run, and its policies before the first round.
pub fn prepare_run(panel: &Panel, run: u64) -> Result<(Vec<f64>, Vec<Policy>)> {
    panel.check()?;
    let world = &panel.world;
    let [mut parameters, mut logs] = [0, 1].map(|purpose| stream(panel.seed, run, purpose));
    let (live, logged) = world.draw_parameters(&mut parameters);
    let logs = world.draw_logs(&logged, &mut logs)?;
    let norm = |vector: &[f64]| dot(vector, vector).sqrt();
    let told = Told {
        live: &live,
        logged: &logged,
        logs: &logs,
        horizon: panel.horizon,
        noise: world.noise,
        norm_bound: match panel.norm_bound {
            NormBound::Truth => norm(&live).max(norm(&logged)).max(1.0),
            NormBound::Given(bound) => bound,
        },
        ridge: panel.ridge,
        delta: panel.delta,
        seed: stream(panel.seed, run, 4).random(),
    };
    let policy = |spec: &PolicySpec| {
        Policy::new(spec.params(&told)?).map_err(|error| Error::InPolicy { name: spec.name.clone(), error })
    };
    let policies = panel.policies.iter().map(policy).collect::<Result<_>>()?;
    Ok((live, policies))
}

/// Plays one run of a panel.
pub fn play_run(panel: &Panel, run: u64) -> Result<RunOutcome> {
    let whole = play_run_unless(panel, run, &AtomicBool::new(false))?;
    Ok(whole.unwrap_or(RunOutcome { policies: Vec::new() }))
}

/// Plays one run of a panel; none if it is to stop before its end.
pub fn play_run_unless(panel: &Panel, run: u64, stop: &AtomicBool) -> Result<Option<RunOutcome>> {
    let world = &panel.world;
    let (live, policies) = prepare_run(panel, run)?;
    let mut players: Vec<Player> =
        policies.into_iter().map(|policy| Player::new(policy, panel.horizon)).collect();
    let [mut contexts, mut luck] = [2, 3].map(|purpose| stream(panel.seed, run, purpose));
    let mut block = Block::default();
    // Wide rounds come in smaller blocks: a block is at most 8 MB, or one round.
    let width = (world.actions() * world.dimension) as u64;
    let size = (1_000_000 / width.max(1)).clamp(1, BLOCK);
    for first in (0..panel.horizon).step_by(usize::try_from(size).unwrap_or(1)) {
        let rounds = size.min(panel.horizon - first);
        block.draw(world, &live, first + 1..=first + rounds, &mut contexts, &mut luck);
        for player in &mut players {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let clock = Instant::now();
            player.play(world, &block, first)?;
            player.seconds += clock.elapsed().as_secs_f64();
        }
    }
    Ok(Some(RunOutcome { policies: players.into_iter().map(Player::outcome).collect::<Result<_>>()? }))
}

/// Plays many runs on all threads of the current rayon pool. `finished` sees each outcome as soon as
/// it is there; runs that start after `stop` is set are left out.
pub fn play<E: Send + From<crate::Error>>(
    panels: &[Panel],
    jobs: &[Job],
    stop: &AtomicBool,
    finished: impl Fn(Job, &RunOutcome) -> Result<(), E> + Sync,
) -> Result<Vec<(Job, RunOutcome)>, E> {
    let outcomes = jobs.par_iter().with_max_len(1).filter_map(|&job| {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let outcome = play_run(&panels[job.panel], job.run).map_err(E::from);
        Some(outcome.and_then(|outcome| finished(job, &outcome).map(|()| (job, outcome))))
    });
    outcomes.collect()
}

/// Means, standard errors and bands over the runs of one panel, given in the order of the runs.
pub fn summarise(panel: &Panel, outcomes: &[&RunOutcome]) -> PanelResult {
    let rounds = thinned_rounds(panel.horizon, POINTS);
    let policies = panel.policies.iter().enumerate().map(|(index, spec)| {
        let runs: Vec<&PolicyOutcome> = outcomes.iter().map(|outcome| &outcome.policies[index]).collect();
        let at = |point: usize| Summary::of(runs.iter().map(|run| run.regret.values()[point]).collect());
        let curve: Vec<Summary> = (0..rounds.len()).map(at).collect();
        let mean = |value: &dyn Fn(&PolicyOutcome) -> f64| {
            runs.iter().map(|run| value(run)).sum::<f64>() / runs.len().max(1) as f64
        };
        PolicyResult {
            name: spec.name.clone(),
            final_regret: Summary::of(runs.iter().map(|run| run.regret.total()).collect()),
            rounds: rounds.clone(),
            mean: curve.iter().map(|point| point.mean).collect(),
            p10: curve.iter().map(|point| point.p10).collect(),
            p90: curve.iter().map(|point| point.p90).collect(),
            conflicts: mean(&|run| run.conflicts as f64),
            pooled_share: mean(&|run| run.pooled_share),
            seconds: mean(&|run| run.seconds),
        }
    });
    PanelResult {
        name: panel.name.clone(),
        horizon: panel.horizon,
        runs: outcomes.len() as u64,
        policies: policies.collect(),
    }
}

/// Some rounds of a run, the same for every policy.
#[derive(Debug, Default)]
struct Block {
    features: Vec<f64>,
    means: Vec<f64>,
    luck: Vec<f64>,
}

impl Block {
    fn draw(
        &mut self,
        world: &World,
        live: &[f64],
        rounds: RangeInclusive<u64>,
        contexts: &mut Xoshiro256PlusPlus,
        luck: &mut Xoshiro256PlusPlus,
    ) {
        let width = world.actions() * world.dimension;
        self.features.clear();
        self.means.clear();
        self.luck.clear();
        for round in rounds {
            let start = self.features.len();
            self.features.resize(start + width, 0.0);
            let actions = &mut self.features[start..];
            world.draw_round(round, actions, contexts);
            self.means.extend(actions.chunks_exact(world.dimension).map(|x| dot(x, live)));
            self.luck.push(world.draw_luck(luck));
        }
    }
}

/// A policy at play, with its observers.
struct Player {
    policy: Policy,
    regret: RegretCurve,
    shares: Shares,
    seconds: f64,
}

impl Player {
    fn new(policy: Policy, horizon: u64) -> Self {
        Self {
            regret: RegretCurve::new(thinned_rounds(horizon, POINTS)),
            shares: Shares::new(horizon, PARTS, policy.last_layer() as usize + 1),
            policy,
            seconds: 0.0,
        }
    }

    fn play(&mut self, world: &World, block: &Block, first: u64) -> Result<()> {
        let (actions, dimension) = (world.actions(), world.dimension);
        let rounds = block.features.chunks_exact(actions * dimension);
        for (((features, means), &luck), round) in
            rounds.zip(block.means.chunks_exact(actions)).zip(&block.luck).zip(first + 1..)
        {
            let offered = Actions::new(features, dimension)?;
            let choice = self.policy.choose(offered)?;
            let reward = world.reward(means[choice.action], luck)?;
            let features = offered.features(choice.action);
            self.policy.learn(Observation { decision: choice.decision, features, reward })?;
            let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let step = Step { round, choice: &choice, regret: best - means[choice.action] };
            self.regret.record(&step);
            self.shares.record(&step);
        }
        Ok(())
    }

    fn outcome(self) -> Result<PolicyOutcome> {
        let bound = if self.policy.has_regret_bound() {
            let (path, bias) = (self.policy.path()?, self.policy.routed_bias());
            // A learned certificate changes with the epochs; Corollary 1 speaks of a fixed one.
            let fixed = self.policy.certificate().filter(|_| self.policy.epochs().is_empty());
            let precision = self.policy.offline().precision();
            let aligned = fixed.map(|fixed| AlignedBias::of(precision, fixed.matrix(), fixed.radius()));
            Some(BoundCheck {
                layerwise: path.layerwise_bound(bias)?,
                coarse: path.coarse_bound(bias)?,
                radius: *path.radius(),
                layers: path.layers().to_vec(),
                bias_scale: aligned.transpose()?.map(|aligned| aligned.scale()),
            })
        } else {
            None
        };
        let counts = self.policy.counts();
        Ok(PolicyOutcome {
            regret: self.regret,
            shares: self.shares,
            conflicts: counts.conflicts,
            pooled_share: counts.pooled_share(),
            seconds: self.seconds,
            bound,
        })
    }
}
