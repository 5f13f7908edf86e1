//! Levels of a category beside an intercept: each coefficient is known up to a number added to all.

use rand::SeedableRng as _;
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth::RidgeStatistic;
use truenorth_audit::{Options, Pilot, audit};

const LEVELS: usize = 4;

/// Rows of an intercept and one of four levels, whose effects are given.
fn rows(
    count: usize,
    effects: [f64; LEVELS],
    seen: usize,
    numbers: &mut Xoshiro256PlusPlus,
) -> (Vec<f64>, Vec<f64>) {
    let (mut features, mut rewards) = (Vec::new(), Vec::new());
    for row in 0..count {
        let level = row % seen;
        let mut x = [0.0; LEVELS + 1];
        (x[0], x[level + 1]) = (1.0, 1.0);
        features.extend(x);
        let noise: f64 = StandardNormal.sample(numbers);
        rewards.push(1.0 + effects[level] + 0.1 * noise);
    }
    (features, rewards)
}

fn summed(features: &[f64], rewards: &[f64]) -> RidgeStatistic {
    let mut data = RidgeStatistic::new(LEVELS + 1).unwrap();
    for (x, &y) in features.chunks_exact(LEVELS + 1).zip(rewards) {
        data.observe(x, y).unwrap();
    }
    data
}

fn drifted(live: [f64; LEVELS], seen: usize) -> Vec<Option<bool>> {
    let mut numbers = Xoshiro256PlusPlus::seed_from_u64(5);
    let (features, rewards) = rows(4000, [0.0, 0.1, 0.2, 0.3], LEVELS, &mut numbers);
    let logs = summed(&features, &rewards);
    let (features, rewards) = rows(400, live, seen, &mut numbers);
    let names = ["intercept", "a", "b", "c", "d"].map(str::to_owned);
    let pilot = Pilot::Rows { features, rewards, rounds: None };
    let found = audit(&logs, &names, 1.0, Some(&pilot), &Options::default()).unwrap();
    found.features.iter().map(|feature| feature.finding.drifted).collect()
}

#[test]
fn a_level_that_moved_is_named() {
    let found = drifted([0.0, 0.1, 0.2, 1.5], LEVELS);
    assert_eq!(found[4], Some(true), "{found:?}");
    assert!(found.iter().all(Option::is_some), "{found:?}");
}

#[test]
fn nothing_is_named_where_nothing_moved() {
    assert_eq!(drifted([0.0, 0.1, 0.2, 0.3], LEVELS), [Some(false); LEVELS + 1]);
}

#[test]
fn a_level_that_the_pilot_lacks_is_not_tested_but_the_others_are() {
    let found = drifted([0.0, 0.1, 1.5, 0.3], 3);
    assert_eq!((found[3], found[4]), (Some(true), None), "{found:?}");
}
