//! The runner: one run is one world, drawn once, in which every policy plays.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use truenorth::{Actions, Policy};

use crate::error::{Error, Result};
use crate::observer::{Observer, RegretCurve, Shares, Step, thinned_rounds};
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

impl Job {
    /// All runs of the panels, in their order.
    pub fn all(panels: &[Panel]) -> Vec<Self> {
        let panels = panels.iter().enumerate();
        panels.flat_map(|(panel, p)| (0..p.runs).map(move |run| Self { panel, run })).collect()
    }
}

/// What one policy did in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyOutcome<S = ()> {
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
    /// What the caller's observer has seen.
    pub observed: S,
}

/// What all policies did in one run, in the panel's order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOutcome<S = ()> {
    /// One for each policy.
    pub policies: Vec<PolicyOutcome<S>>,
}

/// The live parameter of one run, and its policies before the first round.
pub fn prepare_run(panel: &Panel, run: u64) -> Result<(Vec<f64>, Vec<Policy>)> {
    panel.check()?;
    let world = &panel.world;
    let [mut parameters, mut logs] = [0, 1].map(|purpose| stream(panel.seed, run, purpose));
    let (live, logged) = world.draw_parameters(&mut parameters);
    let logs = world.draw_logs(&logged, &mut logs)?;
    let norm = |vector: &[f64]| dot(vector, vector).sqrt();
    let norm_bound = match panel.norm_bound {
        NormBound::Truth => norm(&live).max(norm(&logged)).max(1.0),
        NormBound::Given(bound) => bound,
    };
    let seed = stream(panel.seed, run, 4).random();
    let told = Told { panel, live: &live, logged: &logged, logs: &logs, norm_bound, seed };
    let policy = |spec: &PolicySpec| {
        spec.policy(&told).map_err(|error| Error::InPolicy { name: spec.name.clone(), error })
    };
    let policies = panel.policies.iter().map(policy).collect::<Result<_>>()?;
    Ok((live, policies))
}

/// Plays one run of a panel.
pub fn play_run(panel: &Panel, run: u64) -> Result<RunOutcome> {
    let whole = play_run_unless(panel, run, &AtomicBool::new(false), |_| ())?;
    Ok(whole.unwrap_or(RunOutcome { policies: Vec::new() }))
}

/// Plays one run of a panel with an observer of each policy, made before the first round; none if it is to stop
/// before its end.
pub fn play_run_unless<O: Observer>(
    panel: &Panel,
    run: u64,
    stop: &AtomicBool,
    observer: impl Fn(&Policy) -> O,
) -> Result<Option<RunOutcome<O::Seen>>> {
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let world = &panel.world;
    let (live, policies) = prepare_run(panel, run)?;
    let player = |policy: Policy| Player {
        regret: RegretCurve::new(thinned_rounds(panel.horizon, POINTS)),
        shares: Shares::new(panel.horizon, PARTS, policy.last_layer() as usize + 1),
        observer: observer(&policy),
        policy,
        seconds: 0.0,
    };
    let mut players: Vec<Player<O>> = policies.into_iter().map(player).collect();
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

/// Plays many runs on all threads of the current rayon pool. `finished` hears of each run that is over; runs that
/// are not when `stop` is set are left out.
pub fn play<O: Observer<Seen: Send>>(
    panels: &[Panel],
    jobs: &[Job],
    stop: &AtomicBool,
    observer: impl Fn(&Policy) -> O + Sync,
    finished: impl Fn() + Sync,
) -> Result<Vec<(Job, RunOutcome<O::Seen>)>> {
    let outcomes = jobs.par_iter().with_max_len(1).filter_map(|&job| {
        let outcome = play_run_unless(&panels[job.panel], job.run, stop, &observer).transpose()?;
        Some(outcome.map(|outcome| (job, outcome)).inspect(|_| finished()))
    });
    outcomes.collect()
}

/// Means, standard errors and bands over the runs of one panel, given in the order of the runs.
pub fn summarise<S>(panel: &Panel, outcomes: &[&RunOutcome<S>]) -> PanelResult {
    let rounds = thinned_rounds(panel.horizon, POINTS);
    let policies = panel.policies.iter().enumerate().map(|(index, spec)| {
        let runs: Vec<&PolicyOutcome<S>> = outcomes.iter().map(|outcome| &outcome.policies[index]).collect();
        let at = |point: usize| Summary::of(runs.iter().map(|run| run.regret.values[point]).collect());
        let curve: Vec<Summary> = (0..rounds.len()).map(at).collect();
        let mean = |value: &dyn Fn(&PolicyOutcome<S>) -> f64| {
            runs.iter().map(|run| value(run)).sum::<f64>() / runs.len().max(1) as f64
        };
        PolicyResult {
            name: spec.name.clone(),
            final_regret: Summary::of(runs.iter().map(|run| run.regret.total).collect()),
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
struct Player<O> {
    policy: Policy,
    regret: RegretCurve,
    shares: Shares,
    observer: O,
    seconds: f64,
}

impl<O: Observer> Player<O> {
    fn play(&mut self, world: &World, block: &Block, first: u64) -> Result<()> {
        let (actions, dimension) = (world.actions(), world.dimension);
        let rounds = block.features.chunks_exact(actions * dimension);
        for (((features, means), &luck), round) in
            rounds.zip(block.means.chunks_exact(actions)).zip(&block.luck).zip(first + 1..)
        {
            let offered = Actions::new(features, dimension)?;
            let choice = self.policy.choose(offered)?;
            let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let regret = best - means[choice.action];
            let step = Step { round, choice: &choice, regret, policy: &self.policy };
            self.regret.record(&step);
            self.shares.record(&step);
            self.observer.record(&step)?;
            let reward = world.reward(means[choice.action], luck)?;
            self.policy.learn(choice.rewarded(offered, reward))?;
        }
        Ok(())
    }

    fn outcome(self) -> Result<PolicyOutcome<O::Seen>> {
        let counts = self.policy.counts();
        Ok(PolicyOutcome {
            regret: self.regret,
            shares: self.shares,
            conflicts: counts.conflicts,
            pooled_share: counts.pooled_share(),
            seconds: self.seconds,
            observed: self.observer.finish(&self.policy)?,
        })
    }
}
