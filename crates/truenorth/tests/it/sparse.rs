//! Sparse policies against the same policies without: decisions, intervals, growth, restarts, digits.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth::{Actions, Policy, Preset, RidgeStatistic, Row, Settings};

/// What the rows of a world look like.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// So many arms with coefficients of their own for each of so many values.
    Arms(usize, usize),
    /// The same with one more column that all share.
    SharedArms(usize, usize),
    /// So many columns, of which an action touches so many, any.
    Hashed(usize, usize),
}

struct World {
    shape: Shape,
    dice: Xoshiro256PlusPlus,
    live: Vec<f64>,
    logged: Vec<f64>,
}

/// A round's actions as compressed rows.
#[derive(Clone, Default)]
struct Round {
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Round {
    fn sparse(&self, dimension: usize) -> Actions<'_> {
        Actions::sparse(&self.starts, &self.columns, &self.values, dimension).unwrap()
    }

    fn filled(&self, dimension: usize) -> Vec<f64> {
        let mut all = vec![0.0; (self.starts.len() - 1) * dimension];
        for k in 0..self.starts.len() - 1 {
            for at in self.starts[k]..self.starts[k + 1] {
                all[k * dimension + self.columns[at]] = self.values[at];
            }
        }
        all
    }
}

impl World {
    fn new(shape: Shape, seed: u64) -> Self {
        let dice = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut world = Self { shape, dice, live: Vec::new(), logged: Vec::new() };
        world.live = (0..world.dimension()).map(|_| world.normal()).collect();
        world.logged = world.live.clone();
        // One coefficient in seven has drifted.
        for j in (0..world.dimension()).step_by(7) {
            world.logged[j] = world.normal() * 2.0;
        }
        world
    }

    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.dice)
    }

    fn dimension(&self) -> usize {
        match self.shape {
            Shape::Arms(arms, values) => arms * values,
            Shape::SharedArms(arms, values) => arms * values + 1,
            Shape::Hashed(columns, _) => columns,
        }
    }

    fn round(&mut self) -> Round {
        let mut round = Round { starts: vec![0], ..Round::default() };
        match self.shape {
            Shape::Arms(arms, values) | Shape::SharedArms(arms, values) => {
                let context: Vec<f64> = (0..values).map(|_| self.normal()).collect();
                for arm in 0..arms {
                    round.columns.extend(arm * values..(arm + 1) * values);
                    round.values.extend(&context);
                    if let Shape::SharedArms(..) = self.shape {
                        round.columns.push(arms * values);
                        let shared = self.normal();
                        round.values.push(shared);
                    }
                    round.starts.push(round.values.len());
                }
            }
            Shape::Hashed(columns, touched) => {
                for _ in 0..6 {
                    let mut all: Vec<usize> =
                        (0..touched).map(|_| self.dice.random_range(0..columns)).collect();
                    all.sort_unstable();
                    all.dedup();
                    for column in all {
                        round.columns.push(column);
                        let value = self.normal();
                        round.values.push(value);
                    }
                    round.starts.push(round.values.len());
                }
            }
        }
        round
    }

    fn reward(&mut self, row: Row<'_>, logged: bool) -> f64 {
        let truth = if logged { &self.logged } else { &self.live };
        let mean: f64 = (0..truth.len()).map(|j| row.get(j) * truth[j]).sum();
        mean + 0.3 * self.normal() + 1.0
    }

    /// Logs of so many rows, stored as a whole and in parts.
    fn logs(&mut self, rows: usize) -> [RidgeStatistic; 2] {
        let dimension = self.dimension();
        let [mut whole, mut parts] =
            [RidgeStatistic::new(dimension).unwrap(), RidgeStatistic::sparse(dimension).unwrap()];
        for row in 0..rows {
            let round = self.round();
            let actions = round.sparse(dimension);
            let features = actions.row(row % actions.count());
            let reward = self.reward(features, true);
            whole.observe(features, reward).unwrap();
            parts.observe(features, reward).unwrap();
        }
        [whole, parts]
    }
}

const SHAPES: [Shape; 3] = [Shape::Arms(5, 4), Shape::SharedArms(5, 3), Shape::Hashed(40, 3)];
const PRESETS: [Preset; 4] = [Preset::TrueNorth, Preset::LinUcb, Preset::Greedy, Preset::EpsilonGreedy];

/// Plays both on the same rounds; what the dense one chose is learned. Tells how often they differ.
fn differences(mut policies: [Policy; 2], world: &mut World, rounds: usize) -> (usize, f64) {
    let dimension = world.dimension();
    let (mut differ, mut farthest) = (0, 0.0f64);
    for _ in 0..rounds {
        let round = world.round();
        let (filled, sparse) = (round.filled(dimension), round.sparse(dimension));
        let whole = Actions::new(&filled, dimension).unwrap();
        let [intervals, others] =
            [policies[0].intervals(0, whole), policies[1].intervals(0, sparse)].map(Result::unwrap);
        for (a, b) in intervals.iter().zip(&others) {
            let size = 1e-3 + a.ucb.abs().max(a.lcb.abs());
            farthest = farthest.max((a.ucb - b.ucb).abs() / size).max((a.lcb - b.lcb).abs() / size);
        }
        let [one, other] = [policies[0].choose(whole).unwrap(), policies[1].choose(sparse).unwrap()];
        // Two that are as good as each other, of which rounding picks one, are no difference.
        let tie = (one.ucb - other.ucb).abs() < 1e-9 && (one.mean - other.mean).abs() < 1e-9;
        differ += usize::from(one.action != other.action && !tie);
        let reward = world.reward(sparse.row(one.action), false);
        policies[0].learn(one.rewarded(whole, reward)).unwrap();
        // What it would have learned had it played the same.
        let observation =
            truenorth::Observation { decision: other.decision, features: sparse.row(one.action), reward };
        policies[1].learn(observation).unwrap();
    }
    (differ, farthest)
}

fn built(settings: &Settings, sparse: bool) -> Policy {
    settings.clone().sparse(sparse).build().unwrap()
}

#[test]
fn without_logs_decisions_are_those_of_the_dense_policy() {
    for shape in SHAPES {
        for preset in PRESETS {
            for told in [false, true] {
                let mut world = World::new(shape, 3);
                let mut settings = Policy::builder(world.dimension()).preset(preset).seed(5);
                if told {
                    settings = settings.noise(0.3).norm_bound(4.0);
                }
                let policies = [built(&settings, false), built(&settings, true)];
                let (differ, farthest) = differences(policies, &mut world, 400);
                assert_eq!(differ, 0, "{shape:?} {preset:?}");
                assert!(farthest < 1e-6, "{shape:?} {preset:?}: {farthest}");
            }
        }
    }
}

#[test]
fn a_fit_with_logs_is_the_dense_fit() {
    // The last one joins more columns than are bounded by a diagonal.
    for shape in SHAPES.into_iter().chain([Shape::Hashed(80, 20)]) {
        for rows in [30, 400] {
            let mut world = World::new(shape, 11);
            let dimension = world.dimension();
            let logs = world.logs(rows);
            let mut policies = logs.map(|logs| Policy::builder(dimension).logs(logs));
            policies[1] = policies[1].clone().sparse(true);
            let mut policies = policies.map(|settings| settings.build().unwrap());
            for count in 1..300u32 {
                let round = world.round();
                let actions = round.sparse(dimension);
                let features = actions.row(count as usize % actions.count());
                let reward = world.reward(features, false);
                for policy in &mut policies {
                    policy.learn_row(features, reward).unwrap();
                }
                if count.is_power_of_two() || count % 50 == 0 {
                    // A round that fits both anew.
                    let round = world.round();
                    let actions = round.sparse(dimension);
                    let mut fresh = policies.clone();
                    for policy in &mut fresh {
                        policy.add_logs(&RidgeStatistic::sparse(dimension).unwrap()).unwrap();
                    }
                    let [a, b] = [&fresh[0], &fresh[1]];
                    let close = |a: f64, b: f64| (a - b).abs() < 1e-6 * (1e-3 + a.abs());
                    assert!(
                        close(a.noise(), b.noise()),
                        "{shape:?} {rows} {count}: {} {}",
                        a.noise(),
                        b.noise()
                    );
                    assert!(
                        close(a.level(), b.level()),
                        "{shape:?} {rows} {count}: {} {}",
                        a.level(),
                        b.level()
                    );
                    let [hold, other] = [a, b].map(|policy| policy.logs_hold().unwrap());
                    assert!((hold - other).abs() < 1e-6, "{shape:?} {rows} {count}: {hold} {other}");
                    for (a, b) in
                        a.intervals(0, actions).unwrap().iter().zip(b.intervals(0, actions).unwrap())
                    {
                        let close =
                            |x: f64, y: f64| (x - y).abs() < 1e-6 * (1e-2 + a.ucb.abs() + a.lcb.abs());
                        assert!(
                            close(a.ucb, b.ucb) && close(a.lcb, b.lcb),
                            "{shape:?} {rows} {count}: {a:?} {b:?}"
                        );
                        assert!(close(a.index, b.index), "{shape:?} {rows} {count}");
                    }
                    let [whole, parts] = [a, b].map(|policy| policy.features().unwrap());
                    for (a, b) in whole.iter().zip(&parts) {
                        assert!(close(a.trust, b.trust) && close(a.drift.unwrap(), b.drift.unwrap()));
                    }
                    assert_eq!(
                        fresh[0].choose(actions).unwrap().action,
                        fresh[1].choose(actions).unwrap().action
                    );
                }
            }
        }
    }
}

/// Plays some rounds by its own choices.
fn play(policy: &mut Policy, world: &mut World, rounds: usize) {
    let dimension = world.dimension();
    for _ in 0..rounds {
        let round = world.round();
        let actions = round.sparse(dimension);
        let choice = policy.choose(actions).unwrap();
        let reward = world.reward(actions.row(choice.action), false);
        policy.learn(choice.rewarded(actions, reward)).unwrap();
    }
}

#[test]
fn sampling_plays_as_often_as_it_says_and_as_the_dense_policy_does() {
    for shape in [Shape::Arms(4, 2), Shape::SharedArms(3, 2), Shape::Hashed(12, 3)] {
        for preset in [Preset::LinTs, Preset::TrueNorthSampling] {
            let mut world = World::new(shape, 21);
            let dimension = world.dimension();
            let logs = world.logs(60);
            let mut counts: [Vec<f64>; 2] = Default::default();
            let (round, mut rows) = (world.round(), Vec::new());
            for _ in 0..8 {
                let round = world.round();
                let actions = round.sparse(dimension);
                let reward = world.reward(actions.row(0), false);
                rows.push((round.filled(dimension)[..dimension].to_vec(), reward));
            }
            let actions = round.sparse(dimension);
            for (sparse, (counts, logs)) in [false, true].into_iter().zip(counts.iter_mut().zip(logs)) {
                counts.resize(actions.count(), 0.0);
                let mut expected = vec![0.0; actions.count()];
                for seed in 0..600 {
                    let settings = Policy::builder(dimension).preset(preset).logs(logs.clone());
                    let mut policy =
                        settings.seed(seed).noise(0.5).norm_bound(3.0).sparse(sparse).build().unwrap();
                    for (row, reward) in &rows {
                        policy.learn_row(row, *reward).unwrap();
                    }
                    let choice = policy.choose(actions).unwrap();
                    assert!(choice.propensity > 0.0 && choice.propensity <= 1.0);
                    counts[choice.action] += 1.0 / 600.0;
                    expected[choice.action] += 1.0 / 600.0 / choice.propensity;
                }
                // Each action that is played at all is played once, on average over its probability.
                for (k, expected) in expected.iter().enumerate().filter(|(k, _)| counts[*k] > 0.1) {
                    assert!((expected - 1.0).abs() < 0.4, "{shape:?} {preset:?} {k}: {expected}");
                }
            }
            for (a, b) in counts[0].iter().zip(&counts[1]) {
                // Four standard errors of the difference of two shares of 600.
                assert!((a - b).abs() < 4.0 * (0.5f64 / 600.0).sqrt(), "{shape:?} {preset:?}: {counts:?}");
            }
        }
    }
}

#[test]
fn a_policy_that_grows_is_the_one_that_always_had_its_features() {
    for logged in [false, true] {
        let mut world = World::new(Shape::Arms(6, 3), 5);
        let mut logs = RidgeStatistic::sparse(12).unwrap();
        if logged {
            for row in 0..100 {
                let round = world.round();
                let actions = round.sparse(18);
                let reward = world.reward(actions.row(row % 4), true);
                let (columns, values) =
                    (actions.row(row % 4).columns().unwrap(), actions.row(row % 4).values());
                logs.observe(Row::sparse(columns, values), reward).unwrap();
            }
        }
        let mut wide = RidgeStatistic::sparse(18).unwrap();
        wide.merge(&logs.placed(&(0..12).collect::<Vec<_>>(), 18).unwrap()).unwrap();
        let settings = |dimension, logs| Policy::builder(dimension).logs(logs).sparse(true).build().unwrap();
        let (mut grown, mut always) = (settings(12, logs), settings(18, wide));
        for round in 0..200 {
            let all = world.round();
            // Two arms join after 60 rounds.
            let arms = if round < 60 { 4 } else { 6 };
            let starts = &all.starts[..=arms];
            let (columns, values) = (&all.columns[..starts[arms]], &all.values[..starts[arms]]);
            if round == 60 {
                grown.grow(18).unwrap();
            }
            let narrow = Actions::sparse(starts, columns, values, if round < 60 { 12 } else { 18 }).unwrap();
            let actions = Actions::sparse(starts, columns, values, 18).unwrap();
            let [one, other] = [grown.choose(narrow).unwrap(), always.choose(actions).unwrap()];
            let reward = world.reward(actions.row(other.action), false);
            let features = actions.row(other.action);
            grown.learn(truenorth::Observation { decision: one.decision, features, reward }).unwrap();
            always.learn(other.rewarded(actions, reward)).unwrap();
        }
        // What depends on the number of features by its formula is over with the next fit.
        let all = world.round();
        let actions = all.sparse(18);
        for policy in [&mut grown, &mut always] {
            policy.add_logs(&RidgeStatistic::sparse(18).unwrap()).unwrap();
        }
        let [a, b] = [&grown, &always].map(|policy| policy.intervals(0, actions).unwrap());
        for (a, b) in a.iter().zip(&b) {
            let close = |x: f64, y: f64| (x - y).abs() < 1e-6 * (1.0 + x.abs());
            assert!(close(a.ucb, b.ucb) && close(a.lcb, b.lcb), "{logged}: {a:?} {b:?}");
        }
    }
}

#[test]
fn a_restored_policy_goes_on_bit_for_bit_and_damage_is_found() {
    // Few logs and few rounds leave columns that are new.
    let cases = SHAPES.into_iter().flat_map(|shape| [(shape, 50, 200), (shape, 2, 2)]);
    for (shape, rows, rounds) in cases {
        let mut world = World::new(shape, 8);
        let [_, logs] = world.logs(rows);
        let settings = Policy::builder(world.dimension()).logs(logs).season(150).sparse(true);
        let mut policy = settings.fits_beside(shape.is_hashed()).build().unwrap();
        play(&mut policy, &mut world, rounds);
        let bytes = policy.to_bytes();
        let mut restored = Policy::from_bytes(&bytes).unwrap();
        assert_eq!(restored.to_bytes(), bytes);
        let mut other =
            World { dice: world.dice.clone(), live: world.live.clone(), logged: Vec::new(), shape };
        play(&mut policy, &mut world, 50);
        play(&mut restored, &mut other, 50);
        assert_eq!(policy.to_bytes(), restored.to_bytes());
    }
}

impl Shape {
    fn is_hashed(self) -> bool {
        matches!(self, Self::Hashed(..))
    }
}

#[test]
fn the_past_becomes_logs_and_rewards_fade() {
    for shape in SHAPES {
        let mut world = World::new(shape, 31);
        let [_, logs] = world.logs(100);
        let builder = Policy::builder(world.dimension()).logs(logs).sparse(true);
        let mut renewed = builder.clone().build().unwrap();
        play(&mut renewed, &mut world, 150);
        let before = renewed.features().unwrap();
        renewed.renew().unwrap();
        for (before, after) in before.iter().zip(renewed.features().unwrap()) {
            let close = (before.estimate - after.estimate).abs() < 0.02 + 0.1 * before.estimate.abs();
            assert!(close, "{shape:?}: {before:?} {after:?}");
        }
        play(&mut renewed, &mut world, 50);
        let mut fading = builder.half_life(40.0).build().unwrap();
        play(&mut fading, &mut world, 200);
        assert!(fading.features().unwrap().iter().all(|view| view.estimate.is_finite()));
    }
}

#[test]
fn columns_that_cannot_be_are_refused_by_name() {
    let mut policy = Policy::builder(5).sparse(true).build().unwrap();
    let sentences = [
        (
            Actions::sparse(&[0, 2], &[1, 5], &[1.0, 1.0], 5).unwrap_err(),
            "`columns` must be below the number of features",
        ),
        (Actions::sparse(&[0, 2], &[3, 3], &[1.0, 1.0], 5).unwrap_err(), "but is 3"),
        (Actions::sparse(&[0, 2], &[usize::MAX, 0], &[1.0, 1.0], 5).unwrap_err(), "below the number"),
        (Actions::sparse(&[0, 2, 3], &[0, 1, 1], &[1.0, 1.0, f64::NAN], 5).unwrap_err(), "action 1"),
        (Actions::sparse(&[0, 1, 2], &[0, 1], &[f64::NAN; 2], 5).unwrap_err(), "feature 0 of action 0"),
        (
            Actions::sparse(&[0, 1, 3], &[1, 2], &[1.0, 1.0], 5).unwrap_err(),
            "`starts` must be increasing from 0 to the number of values",
        ),
        (Actions::sparse(&[0, 1], &[1], &[f64::NAN], 5).unwrap_err(), "feature 1 of action 0"),
        (Actions::sparse(&[0], &[], &[], 5).unwrap_err(), "at least one action"),
        (
            Actions::sparse(&[0, 2], &[1], &[1.0, 2.0], 5).unwrap_err(),
            "the list of columns must hold 2 numbers",
        ),
        (policy.learn_row(Row::sparse(&[4, 7], &[1.0, 1.0]), 0.0).unwrap_err(), "but is 7"),
        (policy.learn_row(Row::sparse(&[4], &[f64::INFINITY]), 0.0).unwrap_err(), "feature 4"),
        (
            Policy::builder(5).preset(Preset::Oful).sparse(true).build().unwrap_err(),
            "`sparse` does not go with",
        ),
    ];
    for (error, expected) in sentences {
        assert!(error.to_string().contains(expected), "{error}");
    }
    // A row without a feature is an action all the same.
    let actions = Actions::sparse(&[0, 0, 1], &[2], &[1.0], 5).unwrap();
    let choice = policy.choose(actions).unwrap();
    policy.learn(choice.rewarded(actions, 1.0)).unwrap();
}

#[test]
fn every_policy_takes_both_forms() {
    let mut world = World::new(Shape::Arms(3, 2), 2);
    let round = world.round();
    let filled = round.filled(6);
    for preset in [Preset::Oful, Preset::TrueNorth, Preset::OfflineOnly] {
        let [mut one, mut other] = [0, 1].map(|_| Policy::builder(6).preset(preset).build().unwrap());
        let [whole, sparse] = [Actions::new(&filled, 6).unwrap(), round.sparse(6)];
        let [a, b] = [one.choose(whole).unwrap(), other.choose(sparse).unwrap()];
        assert_eq!(a, b);
        one.learn(a.rewarded(whole, 0.3)).unwrap();
        other.learn(b.rewarded(sparse, 0.3)).unwrap();
        assert_eq!(one.to_bytes(), other.to_bytes());
    }
    let mut parted = Policy::builder(6).sparse(true).build().unwrap();
    let choice = parted.choose(Actions::new(&filled, 6).unwrap()).unwrap();
    parted.learn(choice.rewarded(Actions::new(&filled, 6).unwrap(), 0.3)).unwrap();
}

#[test]
fn arms_that_are_skipped_have_not_the_largest_index() {
    let shapes = [(Shape::Arms(40, 5), 8), (Shape::SharedArms(12, 4), 9), (Shape::Hashed(30, 3), 10)];
    // Logs of so few rows leave columns that are new.
    let cases = shapes.into_iter().flat_map(|(shape, seed)| [(shape, seed, None), (shape, seed, Some(20))]);
    for (shape, seed, rows) in cases {
        let mut world = World::new(shape, seed);
        let dimension = world.dimension();
        let mut settings = Policy::builder(dimension).sparse(true);
        settings = match rows {
            Some(rows) => settings.logs(world.logs(rows)[1].clone()),
            None => settings.preset(Preset::LinUcb).exploration_scale(0.3),
        };
        let mut policy = settings.build().unwrap();
        for _ in 0..600 {
            let round = world.round();
            let actions = round.sparse(dimension);
            // Whoever asks why is shown all of them.
            let (expected, why) = policy.clone().choose_explained(actions).unwrap();
            let choice = policy.choose(actions).unwrap();
            assert_eq!(choice, expected, "{shape:?}");
            let intervals = &why.layers[0].actions;
            let largest = intervals.iter().map(|interval| interval.index).fold(f64::NEG_INFINITY, f64::max);
            let by_index = why.layers[0].rule.starts_with("plays the largest ucb");
            assert!(by_index || rows.is_some(), "{shape:?}");
            assert!(!by_index || intervals[choice.action].index >= largest, "{shape:?}");
            let reward = world.reward(actions.row(choice.action), false);
            policy.learn(choice.rewarded(actions, reward)).unwrap();
        }
    }
}

/// What storing the inverse itself loses: B after many rewards, against the dense policy, which keeps a factor.
#[test]
#[cfg(not(debug_assertions))]
fn a_hundred_thousand_ill_conditioned_rewards_keep_five_digits() {
    let dimension = 12;
    let settings = Policy::builder(dimension).preset(Preset::LinUcb).noise(1.0).norm_bound(10.0);
    let mut policies = [built(&settings, false), built(&settings, true)];
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(1);
    let columns: Vec<usize> = (0..dimension).collect();
    let mut rows = Vec::new();
    for _ in 0..100_000 {
        // Columns that are nearly the same, in units from 1 to 1e4.
        let common: f64 = StandardNormal.sample(&mut dice);
        let row: Vec<f64> = (0..dimension)
            .map(|j| {
                let own: f64 = StandardNormal.sample(&mut dice);
                (common + 1e-2 * own) * [1.0, 10.0, 100.0, 1e3, 1e4][j % 5]
            })
            .collect();
        let reward: f64 = StandardNormal.sample(&mut dice);
        for policy in &mut policies {
            policy.learn_row(Row::sparse(&columns, &row), reward).unwrap();
        }
        rows.push(row);
    }
    let mut worst = 0.0f64;
    for row in &rows[..200] {
        let actions = Actions::new(row, dimension).unwrap();
        let [a, b] = policies.each_ref().map(|policy| policy.intervals(0, actions).unwrap()[0]);
        worst = worst.max(((a.ucb - a.lcb) / (b.ucb - b.lcb) - 1.0).abs());
        worst = worst.max((a.ucb - b.ucb).abs() / (a.ucb - a.lcb));
    }
    assert!(worst < 1e-5, "{worst}");
}

/// What is dropped between fits costs next to nothing.
#[test]
#[cfg(not(debug_assertions))]
fn with_logs_it_loses_what_the_dense_policy_loses() {
    let shape = Shape::Arms(6, 4);
    let mut regret = [0.0; 2];
    for seed in 0..40 {
        let mut world = World::new(shape, 100 + seed);
        let logs = world.logs(150);
        let dimension = world.dimension();
        for ((sparse, logs), regret) in [false, true].into_iter().zip(logs).zip(&mut regret) {
            let mut policy = Policy::builder(dimension).logs(logs).sparse(sparse).build().unwrap();
            let dice = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut live = World { dice, live: world.live.clone(), logged: Vec::new(), shape };
            for _ in 0..400 {
                let round = live.round();
                let actions = round.sparse(dimension);
                let mean =
                    |k: usize| -> f64 { (0..dimension).map(|j| actions.row(k).get(j) * live.live[j]).sum() };
                let means: Vec<f64> = (0..actions.count()).map(mean).collect();
                let choice = policy.choose(actions).unwrap();
                *regret += means.iter().copied().fold(f64::NEG_INFINITY, f64::max) - means[choice.action];
                let reward = live.reward(actions.row(choice.action), false);
                policy.learn(choice.rewarded(actions, reward)).unwrap();
            }
        }
    }
    eprintln!("regret: dense {:.1}, sparse {:.1}", regret[0] / 40.0, regret[1] / 40.0);
    assert!(regret[1] < 1.1 * regret[0], "{regret:?}");
}
