//! The worth in live rounds beside what policies lose: logs against a live head start, by simulation.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth::{Actions, Certificate, Explore, Method, Policy, Preset, Prior, RidgeStatistic};
use truenorth_audit::{Audit, Options, audit};

use crate::support::{Rows, names};

type Rng = Xoshiro256PlusPlus;

const D: usize = 6;
const ACTIONS: usize = 4;
const HORIZON: u64 = 2000;
const LOGGED: usize = 3000;
/// Audits of each kind and size, of which 181 are the middle 90 %.
const AUDITS: usize = 201;
/// Rounds of the head starts.
const STARTS: [usize; 8] = [3, 10, 30, 100, 300, 1000, 3000, 9000];

fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// How coefficients have moved.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    One,
    Half,
    All,
    Shared,
    Weak,
    Uneven,
}

const KINDS: [Kind; 6] = [Kind::One, Kind::Half, Kind::All, Kind::Shared, Kind::Weak, Kind::Uneven];

impl Kind {
    /// A logged or live row: features share a part, and logs of some kinds hardly vary some of them.
    fn features(self, rng: &mut Rng, logged: bool) -> [f64; D] {
        let shared = normal(rng);
        let mut x = [0.0; D].map(|_: f64| 0.5 * shared + 0.85 * normal(rng));
        if logged && self == Self::Weak {
            x[4..].iter_mut().for_each(|entry| *entry *= 0.1);
        }
        x
    }

    /// How far each coefficient moves.
    fn sizes(self, size: f64) -> [f64; D] {
        match self {
            Self::One | Self::Weak => [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            Self::Half => [1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
            Self::All | Self::Shared => [1.0; D],
            Self::Uneven => [2.0, 1.0, 0.5, 0.25, 0.12, 0.06],
        }
        .map(|one: f64| size * one)
    }

    /// The same with signs.
    fn drift(self, rng: &mut Rng, size: f64) -> [f64; D] {
        let mut sign = || if rng.random::<bool>() { 1.0 } else { -1.0 };
        let common = sign();
        self.sizes(size).map(|one| {
            let own = sign();
            one * if self == Self::Shared { common } else { own }
        })
    }
}

fn mean(x: &[f64], theta: &[f64; D]) -> f64 {
    x.iter().zip(theta).map(|(x, theta)| x * theta).sum()
}

fn rows(rng: &mut Rng, n: usize, theta: &[f64; D], kind: Kind, logged: bool) -> Rows {
    let mut rows = Rows::default();
    for _ in 0..n {
        let x = kind.features(rng, logged);
        rows.push(&x, mean(&x, theta) + normal(rng));
    }
    rows
}

fn live_theta(rng: &mut Rng) -> [f64; D] {
    [0.0; D].map(|_: f64| 0.4 * normal(rng))
}

/// What a policy loses in a run.
fn regret(mut policy: Policy, rng: &mut Rng, theta: &[f64; D]) -> f64 {
    let mut lost = 0.0;
    for _ in 0..HORIZON {
        let features: Vec<f64> = (0..ACTIONS).flat_map(|_| Kind::One.features(rng, false)).collect();
        let means: Vec<f64> = features.chunks_exact(D).map(|x| mean(x, theta)).collect();
        let actions = Actions::new(&features, D).unwrap();
        let choice = policy.choose(actions).unwrap();
        lost += means.iter().copied().fold(f64::MIN, f64::max) - means[choice.action];
        let reward = means[choice.action] + normal(rng);
        policy.learn(choice.rewarded(actions, reward)).unwrap();
    }
    lost
}

fn posterior(prior: Prior) -> truenorth::Settings {
    let method = Method::Posterior { prior, explore: Explore::Ucb };
    let scale = Preset::TrueNorth.exploration_scale();
    Policy::builder(D).method(method).exploration_scale(scale).noise(1.0).norm_bound(2.0)
}

/// The mean over runs, in two threads.
fn average(runs: u64, of: impl Fn(&mut Rng) -> f64 + Sync) -> f64 {
    let part =
        |first: u64| (first..runs).step_by(2).map(|seed| of(&mut Rng::seed_from_u64(seed))).sum::<f64>();
    let sum = std::thread::scope(|scope| {
        let other = scope.spawn(|| part(1));
        part(0) + other.join().unwrap()
    });
    sum / runs as f64
}

fn head_start(runs: u64, rounds: usize) -> f64 {
    average(runs, |rng| {
        let theta = live_theta(rng);
        let mut policy = posterior(Prior::Ridge).build().unwrap();
        let ahead = rows(rng, rounds, &theta, Kind::One, false);
        for (x, &reward) in ahead.features.chunks_exact(D).zip(&ahead.rewards) {
            policy.learn_row(x, reward).unwrap();
        }
        regret(policy, rng, &theta)
    })
}

/// The head start that loses as much, between those that were played.
fn equal(lost: f64, starts: &[f64]) -> f64 {
    let place = starts.iter().position(|&other| other < lost).unwrap_or(starts.len() - 1).max(1);
    let share = (starts[place - 1] - lost) / (starts[place - 1] - starts[place]);
    let [low, high] = [STARTS[place - 1], STARTS[place]].map(|rounds| (rounds as f64).ln());
    (low + share * (high - low)).exp()
}

/// Logs that have drifted, and live coefficients.
fn world(rng: &mut Rng, kind: Kind, size: f64) -> (RidgeStatistic, [f64; D]) {
    let live = live_theta(rng);
    let drift = kind.drift(rng, size);
    let logged: [f64; D] = std::array::from_fn(|j| live[j] - drift[j]);
    (rows(rng, LOGGED, &logged, kind, true).statistic(D), live)
}

fn audited(logs: &RidgeStatistic, pilot: Rows) -> Audit {
    let options = Options { horizon: HORIZON, actions: ACTIONS, ..Options::default() };
    audit(logs, &names(D), 1.0, Some(&pilot.pilot()), &options).unwrap()
}

/// What the formula is held against: the head start of a policy without logs that loses as much as one that has the
/// logs and knows how far each coefficient may have moved, but not which way. `truenorth`, which is told nothing, beside it.
#[test]
#[ignore = "tens of thousands of runs: the table of docs/audit.md"]
fn the_grid_of_worths() {
    let from =
        |name: &str, otherwise: u64| std::env::var(name).map_or(otherwise, |value| value.parse().unwrap());
    let (runs, pilot) = (from("RUNS", 300), usize::try_from(from("PILOT", 2000)).unwrap());
    let starts: Vec<f64> = STARTS.iter().map(|&rounds| head_start(2 * runs, rounds)).collect();
    println!("head starts {STARTS:?}: {starts:.1?}");
    let (mut worst, mut spread, mut held) = (1.0f64, 1.0f64, 0usize);
    for (kind, size) in KINDS.into_iter().flat_map(|kind| [0.05, 0.15, 0.5].map(|size| (kind, size))) {
        let told = average(runs, |rng| {
            let (logs, live) = world(rng, kind, size);
            let squares = kind.sizes(size).map(|one| one.powi(2).max(1e-8));
            let entry = |at: usize| if at / D == at % D { 1.0 / squares[at / D] } else { 0.0 };
            let certificate =
                Certificate::from_matrix(&(0..D * D).map(entry).collect::<Vec<_>>(), 1.0).unwrap();
            let policy = posterior(Prior::Told).logs(logs).certificate(certificate).build().unwrap();
            regret(policy, rng, &live)
        });
        let ours = average(runs, |rng| {
            let (logs, live) = world(rng, kind, size);
            let settings = Policy::builder(D).preset(Preset::TrueNorth).noise(1.0).norm_bound(2.0);
            regret(settings.logs(logs).build().unwrap(), rng, &live)
        });
        let [truth, ours] = [told, ours].map(|lost| equal(lost, &starts));
        let mut said: Vec<f64> = Vec::new();
        let mut covered = 0;
        for seed in 0..AUDITS {
            let rng = &mut Rng::seed_from_u64(9000 + seed as u64);
            let (logs, live) = world(rng, kind, size);
            let found = audited(&logs, rows(rng, pilot, &live, kind, false)).worth;
            let [low, high] = found.interval.unwrap();
            covered += usize::from(low <= truth && truth <= high);
            said.push(found.after_pilot.unwrap());
        }
        said.sort_by(f64::total_cmp);
        let (low, middle, high) = (said[AUDITS / 20], said[AUDITS / 2], said[AUDITS - 1 - AUDITS / 20]);
        println!(
            "{kind:?} {size}: told {truth:.0}, truenorth {ours:.0}; audits say {middle:.0} ({:.2}), {low:.0} to {high:.0}; intervals hold it in {covered} of {AUDITS}",
            middle / truth
        );
        worst = worst.max((middle / truth).max(truth / middle));
        spread = spread.max((high / middle).max(middle / low));
        held += covered;
    }
    println!(
        "worst factor {worst:.2}; 90 % of repeats within {spread:.2} of the middle; {held} of {} intervals",
        18 * AUDITS
    );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "many audits take a release build")]
fn drifts_that_go_together_are_worth_what_they_are_in_play() {
    // All six features moved by 0.5 the same way: the truth of the grid is 7.5 rounds, where each its own way is 6.
    let said = |kind: Kind| {
        let mut said: Vec<f64> = (0..21)
            .map(|seed| {
                let rng = &mut Rng::seed_from_u64(seed);
                let (logs, live) = world(rng, kind, 0.5);
                audited(&logs, rows(rng, 2000, &live, kind, false)).worth.after_pilot.unwrap()
            })
            .collect();
        said.sort_by(f64::total_cmp);
        said[10]
    };
    let (alike, apart) = (said(Kind::Shared), said(Kind::All));
    assert!((7.5 / 1.6..=7.5 * 1.6).contains(&alike) && apart < 0.8 * alike, "{alike} {apart}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "many audits take a release build")]
fn repeats_of_one_problem_agree_and_hold_its_worth() {
    // Half of six features moved by 0.15: the truth of the grid is 295 rounds, see docs/audit.md.
    let said = (0..21).map(|seed| {
        let rng = &mut Rng::seed_from_u64(seed);
        let (logs, live) = world(rng, Kind::Half, 0.15);
        audited(&logs, rows(rng, 2000, &live, Kind::Half, false)).worth
    });
    let (mut said, held): (Vec<f64>, Vec<bool>) = said
        .map(|worth| (worth.after_pilot.unwrap(), worth.interval.unwrap()))
        .map(|(worth, [low, high])| (worth, low <= 295.0 && 295.0 <= high))
        .unzip();
    said.sort_by(f64::total_cmp);
    assert!((295.0 / 1.6..=295.0 * 1.6).contains(&said[10]), "{said:?}");
    assert!(said[1] > said[10] / 2.0 && said[19] < said[10] * 2.0, "{said:?}");
    assert!(held.iter().filter(|held| **held).count() >= 15, "{held:?}");
}
