//! The worth in live rounds beside what policies lose: logs against a live head start, by simulation.

use rand::SeedableRng as _;
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
const LIVE: usize = 500;
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

    fn drift(self, rng: &mut Rng, size: f64) -> [f64; D] {
        let mut sizes = match self {
            Self::One | Self::Weak => [0.0; D],
            Self::Half => [1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
            Self::All | Self::Shared => [1.0; D],
            Self::Uneven => [2.0, 1.0, 0.5, 0.25, 0.12, 0.06],
        };
        if matches!(self, Self::One | Self::Weak) {
            sizes[0] = 1.0;
        }
        let common = normal(rng);
        sizes.map(|one| size * one * if self == Self::Shared { common } else { normal(rng) })
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

/// What a head start loses, between those that were played.
fn lost(rounds: f64, starts: &[f64]) -> f64 {
    let place = STARTS.iter().position(|&other| other as f64 > rounds).unwrap_or(STARTS.len() - 1).max(1);
    let [low, high] = [STARTS[place - 1], STARTS[place]].map(|rounds| (rounds as f64).ln());
    let share = (rounds.max(0.5).ln() - low) / (high - low);
    starts[place - 1] + share * (starts[place] - starts[place - 1])
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

/// Beside each other: what a policy that is told what the audit expects of the drift, and `truenorth`, which is told
/// nothing, have from the logs; and what audits say.
#[test]
#[ignore = "tens of thousands of runs: the table of docs/audit.md"]
fn the_grid_of_worths() {
    let runs = std::env::var("RUNS").map_or(200, |runs| runs.parse().unwrap());
    let starts: Vec<f64> = STARTS.iter().map(|&rounds| head_start(2 * runs, rounds)).collect();
    println!("head starts {STARTS:?}: {starts:.1?}");
    let (mut worst, mut spread) = (1.0f64, 1.0f64);
    for kind in KINDS {
        for size in [0.05, 0.15, 0.5] {
            // Told what an audit of these logs expects of each squared drift.
            let told = average(runs, |rng| {
                let (logs, live) = world(rng, kind, size);
                let pilot = rows(rng, LIVE, &live, kind, false);
                let found = audited(&logs, pilot);
                let square = |j: usize| found.features[j].finding.mean_square.unwrap();
                let matrix: Vec<f64> =
                    (0..D * D).map(|at| if at / D == at % D { 1.0 / square(at / D) } else { 0.0 }).collect();
                let certificate = Certificate::from_matrix(&matrix, 1.0).unwrap();
                let policy = posterior(Prior::Told).logs(logs).certificate(certificate).build().unwrap();
                regret(policy, rng, &live)
            });
            let ours = average(runs, |rng| {
                let (logs, live) = world(rng, kind, size);
                let settings = Policy::builder(D).preset(Preset::TrueNorth).noise(1.0).norm_bound(2.0);
                regret(settings.logs(logs).build().unwrap(), rng, &live)
            });
            let said = |problem: u64, seed: u64| {
                let rng = &mut Rng::seed_from_u64(problem);
                let live = live_theta(rng);
                let drift = kind.drift(rng, size);
                let logged: [f64; D] = std::array::from_fn(|j| live[j] - drift[j]);
                let rng = &mut Rng::seed_from_u64(1000 + seed);
                let logs = rows(rng, LOGGED, &logged, kind, true).statistic(D);
                audited(&logs, rows(rng, LIVE, &live, kind, false)).worth_rounds
            };
            let sorted = |mut said: Vec<f64>| {
                said.sort_by(f64::total_cmp);
                said
            };
            // As regret, which is what is averaged over problems.
            let predicted = average(runs, |rng| {
                let (logs, live) = world(rng, kind, size);
                lost(audited(&logs, rows(rng, LIVE, &live, kind, false)).worth_rounds, &starts)
            });
            let predicted = equal(predicted, &starts);
            // One problem, again and again.
            let repeats = sorted((0..21).map(|seed| said(7, seed)).collect());
            let (low, middle, high) = (repeats[1], repeats[10], repeats[19]);
            let truth = [told, ours].map(|lost| equal(lost, &starts));
            println!(
                "{kind:?} {size}: told {told:.1} = {:.0} rounds, truenorth {ours:.1} = {:.0} rounds; audits say {predicted:.0}, factor {:.2}; of one problem {low:.0}, {middle:.0}, {high:.0}",
                truth[0],
                truth[1],
                predicted / truth[0],
            );
            worst = worst.max((predicted / truth[0]).max(truth[0] / predicted));
            spread = spread.max((high / middle).max(middle / low));
        }
    }
    println!("worst factor {worst:.2}, 19 of 21 repeats within a factor of {spread:.2} of their middle");
}
