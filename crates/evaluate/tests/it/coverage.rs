//! How often 95 % intervals hold what a policy really earns, over many simulated logs.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth_evaluate::{Decision, Direct, Estimate, Estimates};

const ACTIONS: usize = 4;
/// An intercept for each action, and a slope.
const DIMENSION: usize = 2 * ACTIONS;

#[derive(Clone, Copy)]
struct World {
    rows: usize,
    clicks: bool,
    /// How much the log prefers its favourite, and the policy its own: shares are proportional to exp(so much times a score).
    logged: f64,
    target: f64,
}

fn softmax(sharpness: f64, score: impl Fn(usize) -> f64) -> [f64; ACTIONS] {
    let raw: [f64; ACTIONS] = std::array::from_fn(|action| (sharpness * score(action)).exp());
    let all: f64 = raw.iter().sum();
    raw.map(|share| share / all)
}

impl World {
    /// What an action pays on average in a context.
    fn mean(self, action: usize, x: f64) -> f64 {
        let a = action as f64;
        if self.clicks { 0.05 + 0.02 * a + 0.02 * x * (a - 1.5) } else { 0.3 * a + x * (a - 1.5) * 0.4 }
    }

    fn target(self, x: f64) -> [f64; ACTIONS] {
        softmax(self.target, |action| (action as f64 - 1.5) * x)
    }

    /// By numbers: contexts are uniform between -1 and 1.
    fn truth(self) -> f64 {
        let steps = 4000;
        let at = |step: usize| {
            let x = (2 * step + 1) as f64 / steps as f64 - 1.0;
            self.target(x).iter().enumerate().map(|(action, share)| share * self.mean(action, x)).sum::<f64>()
        };
        (0..steps).map(at).sum::<f64>() / steps as f64
    }

    fn log(self, seed: u64) -> (Estimates, Estimate) {
        let mut dice = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut direct = Direct::new(DIMENSION);
        let mut decisions = Vec::new();
        for _ in 0..self.rows {
            let x = dice.random_range(-1.0..1.0);
            let shares = softmax(self.logged, |action| if action == 0 { 1.0 } else { 0.0 });
            let mut point = dice.random::<f64>();
            let action = shares.iter().position(|share| {
                point -= share;
                point < 0.0
            });
            let action = action.unwrap_or(ACTIONS - 1);
            let noise: f64 = StandardNormal.sample(&mut dice);
            let mean = self.mean(action, x);
            let reward = if self.clicks { f64::from(dice.random::<f64>() < mean) } else { mean + noise };
            let target = self.target(x);
            let decision =
                Decision { reward, probability: shares[action], target: target[action], weight: 1.0 };
            let row = |action: usize, share: f64| [(2 * action, share), (2 * action + 1, share * x)];
            let expected: Vec<(usize, f64)> =
                target.iter().enumerate().flat_map(|(action, share)| row(action, *share)).collect();
            direct.add(&decision, &row(action, 1.0), &expected);
            decisions.push(decision);
        }
        (Estimates::new(&decisions), direct.estimate().expect("enough decisions").dr)
    }
}

/// Shares of logs whose intervals hold the truth, by estimate, and of logs with a warning.
fn covered(world: World, logs: u64) -> ([f64; 3], f64) {
    let truth = world.truth();
    let (mut covered, mut warned) = ([0.0; 3], 0.0);
    for seed in 0..logs {
        let (found, dr) = world.log(seed);
        for (count, estimate) in covered.iter_mut().zip([found.ips, found.snips, dr]) {
            let holds = estimate.lower.is_some_and(|lower| lower <= truth)
                && estimate.upper.is_some_and(|upper| truth <= upper);
            *count += f64::from(u8::from(holds)) / logs as f64;
        }
        warned += f64::from(u8::from(!found.warnings.is_empty())) / logs as f64;
    }
    (covered, warned)
}

#[test]
fn intervals_hold_the_truth_in_93_to_97_of_100_logs_with_overlap() {
    for (rows, clicks) in [(500, false), (2000, false), (2000, true)] {
        let (covered, warned) = covered(World { rows, clicks, logged: 1.0, target: 1.0 }, 1000);
        println!("{rows} rows, clicks {clicks}: {covered:?}, warned {warned}");
        assert!(covered.iter().all(|share| (0.93..=0.97).contains(share)), "{rows}, {clicks}: {covered:?}");
        assert!(warned <= 0.05, "{rows}, {clicks}: warned of {warned}");
    }
}

#[test]
fn where_intervals_fail_there_is_a_warning() {
    // The log hardly ever takes what the policy wants.
    for (rows, logged) in [(300, 6.0), (1000, 7.0)] {
        let (covered, warned) = covered(World { rows, clicks: false, logged, target: 6.0 }, 300);
        println!("{rows} rows, sharp {logged}: {covered:?}, warned {warned}");
        assert!(covered[0] < 0.93, "the log is too good to test anything: {covered:?}");
        assert!(warned >= 0.95, "warned of {warned} only, though intervals cover {covered:?}");
    }
}

#[test]
fn probabilities_of_three_digits_are_those_of_the_log_and_others_are_not() {
    let trusted = |probability: f64| {
        let decision = |i: u32| Decision {
            reward: f64::from(u8::from(i.is_multiple_of(5))),
            probability,
            target: 1.0 / 3.0,
            weight: 1.0,
        };
        let found = Estimates::new(&(0..100_000).map(decision).collect::<Vec<_>>());
        found.intervals && found.warnings.is_empty()
    };
    assert!(trusted(1.0 / 3.0) && trusted(0.333) && !trusted(0.33) && !trusted(0.35));
}
