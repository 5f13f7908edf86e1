//! Reported probabilities are those with which actions are chosen, so that what is logged can be evaluated
//! off-policy.

use rand_distr::{Distribution as _, StandardNormal};
use truenorth::{Actions, Explore, Method, Observation, Policy, Preset, Prior, Settings};

use crate::support::{Matrix, Vector, World, dot, explore, is_believed, rounds};

const DIMENSION: usize = 3;
const SEEDS: u64 = if cfg!(debug_assertions) { 10 } else { 50 };
/// Rounds without a reward leave the state as it is, but each rolls its own dice.
const ROUNDS: usize = if cfg!(debug_assertions) { 200 } else { 2000 };

/// A policy in a state that does not depend on its seed, and the actions that it is offered.
fn state(settings: Settings, seed: u64, actions: usize) -> (Policy, Vec<f64>) {
    let mut world = World::new(51, DIMENSION, 0.5);
    let mut policy = settings.seed(seed).logs(world.logs(20)).build().unwrap();
    for (features, rewards) in rounds(&mut world, 12, 4) {
        let actions = Actions::new(&features, DIMENSION).unwrap();
        let decision = policy.choose(actions).unwrap().decision;
        // Whatever was chosen, the first action's reward is learned.
        let features = actions.row(0).values();
        policy.learn(Observation { decision, features: features.into(), reward: rewards[0] }).unwrap();
    }
    // The last reward is taken up by whatever is fitted at the start of a round.
    let features = world.round(actions);
    policy.choose(Actions::new(&features, DIMENSION).unwrap()).unwrap();
    (policy, features)
}

fn dicing() -> Vec<(String, Settings)> {
    let preset = |preset: Preset| (preset.name().to_owned(), Policy::builder(DIMENSION).preset(preset));
    let epsilon = Method::Posterior { prior: Prior::Adaptive, explore: Explore::Epsilon(0.4) };
    let bold = ("truenorth with epsilon".to_owned(), Policy::builder(DIMENSION).method(epsilon));
    let mut policies =
        vec![preset(Preset::TrueNorthSampling), preset(Preset::LinTs), preset(Preset::EpsilonGreedy), bold];
    // Wide enough to hesitate.
    for ((_, settings), scale) in policies.iter_mut().zip([3.0, 6.0]) {
        *settings = settings.clone().exploration_scale(scale);
    }
    policies
}

/// How often each action was chosen, and Σ 1{chosen} / propensity with its variance, over seeds and rounds.
fn tally(settings: &Settings, actions: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (mut counts, mut weights) = (vec![0.0; actions], vec![0.0; actions]);
    let mut squares = weights.clone();
    for seed in 0..SEEDS {
        let (mut policy, features) = state(settings.clone(), seed, actions);
        for _ in 0..ROUNDS {
            let choice = policy.choose(Actions::new(&features, DIMENSION).unwrap()).unwrap();
            let weight = choice.propensity.recip();
            counts[choice.action] += 1.0;
            weights[choice.action] += weight;
            squares[choice.action] += weight * weight;
        }
    }
    (counts, weights, squares)
}

#[test]
fn inverse_propensities_weigh_every_action_alike() {
    for (name, settings) in dicing() {
        let (counts, weights, squares) = tally(&settings, 4);
        let total = SEEDS as f64 * ROUNDS as f64;
        let mut frequent = 0;
        for action in 0..4 {
            let mean = weights[action] / total;
            let stderr = ((squares[action] / total - mean * mean) / total).sqrt();
            let frequency = counts[action] / total;
            if matches!(explore(&settings.clone().build().unwrap()), Explore::Epsilon(_)) || frequency > 0.1 {
                frequent += 1;
                assert!((mean - 1.0).abs() <= 4.0 * stderr, "{name}, action {action}: {mean} ± {stderr}");
            } else {
                // An action that none of a decision's draws favours cannot be chosen then, so that rare ones
                // weigh less, by (1 - p)^draws.
                assert!(mean <= 1.0 + 4.0 * stderr, "{name}, action {action}: {mean} ± {stderr}");
            }
        }
        assert!(frequent >= 2, "{name} hesitates between {counts:?} only");
    }
}

#[test]
fn of_two_actions_each_is_chosen_as_often_as_its_propensities_say() {
    for (name, settings) in dicing() {
        let (mut chosen, mut expected, mut variance) = (0.0, 0.0, 0.0);
        for seed in 0..SEEDS {
            let (mut policy, features) = state(settings.clone(), seed, 2);
            for _ in 0..ROUNDS {
                let choice = policy.choose(Actions::new(&features, DIMENSION).unwrap()).unwrap();
                let first = if choice.action == 0 { choice.propensity } else { 1.0 - choice.propensity };
                chosen += f64::from(u8::from(choice.action == 0));
                expected += first;
                variance += first * (1.0 - first);
            }
        }
        let deviation = (chosen - expected) / f64::sqrt(variance);
        assert!(variance > 10.0 && deviation.abs() < 4.0, "{name}: {chosen}, but {expected} expected");
    }
}

#[test]
fn epsilon_plays_its_favourite_and_all_others_alike() {
    for (name, settings) in dicing() {
        let Explore::Epsilon(epsilon) = explore(&settings.clone().build().unwrap()) else { continue };
        let (counts, ..) = tally(&settings, 4);
        let total = SEEDS as f64 * ROUNDS as f64;
        let favourite = (0..4).max_by(|&a, &b| counts[a].total_cmp(&counts[b])).unwrap();
        let chi_square: f64 = (0..4)
            .map(|action| {
                let share = if action == favourite { 1.0 - 0.75 * epsilon } else { 0.25 * epsilon };
                (counts[action] - total * share).powi(2) / (total * share)
            })
            .sum();
        // Three degrees of freedom: above 21.1 once in ten thousand times.
        assert!(chi_square < 21.1, "{name}: {counts:?}, chi-square {chi_square}");
    }
}

/// Mean and covariance of the posterior, from the intervals of axes and sums of axes.
fn posterior(policy: &mut Policy) -> (Vector, Matrix) {
    let scale = policy.exploration_scale();
    let ask = |x: Vec<f64>| {
        let interval = policy.intervals(0, Actions::new(&x, DIMENSION).unwrap()).unwrap()[0];
        let radius = (interval.ucb - interval.lcb) / 2.0;
        (interval.mean(), (radius / scale).powi(2))
    };
    let axis = |j: usize, k: usize| (0..DIMENSION).map(|i| f64::from(u8::from(i == j || i == k))).collect();
    let single: Vec<(f64, f64)> = (0..DIMENSION).map(|j| ask(axis(j, j))).collect();
    let mut covariance = Matrix::zeros(DIMENSION, DIMENSION);
    for j in 0..DIMENSION {
        covariance[(j, j)] = single[j].1;
        for k in 0..j {
            let both = ask(axis(j, k)).1;
            covariance[(j, k)] = 0.5 * (both - single[j].1 - single[k].1);
            covariance[(k, j)] = covariance[(j, k)];
        }
    }
    (Vector::from_iterator(DIMENSION, single.iter().map(|one| one.0)), covariance)
}

#[test]
fn sampling_draws_from_the_posterior_that_intervals_show() {
    for (name, settings) in dicing() {
        let (mut policy, features) = state(settings.clone(), 0, 4);
        if explore(&policy) != Explore::Sampling {
            continue;
        }
        let (mean, covariance) = posterior(&mut policy);
        let root = covariance.cholesky().unwrap().l() * policy.exploration_scale();
        let mut rng = World::new(52, 1, 0.0).rng;
        let draws = 10 * usize::try_from(SEEDS).unwrap() * ROUNDS;
        let mut shares = [0.0; 4];
        for _ in 0..draws {
            let normal = Vector::from_fn(DIMENSION, |_, _| StandardNormal.sample(&mut rng));
            let theta = &mean + &root * normal;
            let values: Vec<f64> = features.chunks(DIMENSION).map(|x| dot(x, theta.as_slice())).collect();
            let best = (0..4).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
            shares[best] += 1.0 / draws as f64;
        }
        if is_believed(&policy) {
            // In one round of twenty any action that live data has not ruled out: all of them here.
            shares = shares.map(|share| 0.95 * share + 0.05 / 4.0);
        }
        let (counts, ..) = tally(&settings, 4);
        let total = SEEDS as f64 * ROUNDS as f64;
        // Both sides err: the shares by a tenth of the counts' variance.
        let chi_square: f64 = counts
            .iter()
            .zip(shares)
            .filter(|(_, share)| share * total > 5.0)
            .map(|(count, share)| (count - total * share).powi(2) / (1.1 * total * share))
            .sum();
        assert!(chi_square < 21.1, "{name}: {counts:?}, {shares:?}, chi-square {chi_square}");
    }
}

#[test]
fn seeds_differ_and_repeat() {
    for (name, settings) in dicing() {
        let actions = |seed: u64| -> Vec<usize> {
            let (mut policy, features) = state(settings.clone(), seed, 4);
            let actions = Actions::new(&features, DIMENSION).unwrap();
            (0..300).map(|_| policy.choose(actions).unwrap().action).collect()
        };
        assert_eq!(actions(1), actions(1), "{name}");
        assert_ne!(actions(1), actions(2), "{name}");
    }
}
