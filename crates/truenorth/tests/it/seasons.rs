//! Worlds that move: a step that somebody knows of, a slow turn, and no change at all.

use std::sync::Mutex;
use std::thread;

use rand::RngExt as _;
use truenorth::{Actions, Policy, Preset, RidgeStatistic, Settings};

use crate::support::{Matrix, Vector, World, dot, play, rounds};

const DIMENSION: usize = 10;
/// Rounds of a season.
const SEASON: usize = 2_000;
const RUNS: u64 = 60;
const ACTIONS: usize = 10;

/// A world without drift, and its logs.
fn world(seed: u64) -> (World, RidgeStatistic) {
    let mut world = World::new(seed, DIMENSION, 0.3);
    world.logged.clone_from(&world.live);
    let logs = world.logs(500);
    (world, logs)
}

/// Coefficients that are drawn anew.
fn redraw(world: &mut World, count: usize) {
    for coefficient in &mut world.live[..count] {
        *coefficient = world.rng.random_range(-1.0..1.0);
    }
}

/// Plays and returns what was lost.
fn lose(world: &mut World, policy: &mut Policy, count: usize, mut change: impl FnMut(&mut World)) -> f64 {
    let mut lost = 0.0;
    for _ in 0..count {
        change(world);
        let Some((features, rewards)) = rounds(world, 1, ACTIONS).into_iter().next() else { break };
        let actions = Actions::new(&features, DIMENSION).unwrap();
        let means: Vec<f64> = (0..ACTIONS).map(|a| dot(actions.row(a).values(), &world.live)).collect();
        let choice = play(policy, &features, &rewards);
        lost += means.iter().copied().fold(f64::NEG_INFINITY, f64::max) - means[choice.action];
    }
    lost
}

/// Mean over the runs of several figures at once.
fn mean<const N: usize>(run: impl Fn(u64) -> [f64; N] + Sync) -> [f64; N] {
    let sums = Mutex::new([0.0; N]);
    thread::scope(|scope| {
        for half in 0..2 {
            let (run, sums) = (&run, &sums);
            scope.spawn(move || {
                for seed in (half..RUNS).step_by(2) {
                    let found = run(seed);
                    sums.lock()
                        .unwrap()
                        .iter_mut()
                        .zip(found)
                        .for_each(|(sum, one)| *sum += one / RUNS as f64);
                }
            });
        }
    });
    sums.into_inner().unwrap()
}

fn builder(logs: RidgeStatistic) -> Settings {
    Policy::builder(DIMENSION).logs(logs)
}

/// What the second season costs after `count` coefficients have changed: renewed, left as it is, and by a policy that was
/// given the right logs of the coefficients that have not.
fn after_a_step(seed: u64, count: usize) -> [f64; 3] {
    let (mut world, logs) = world(seed);
    let mut policy = builder(logs).build().unwrap();
    lose(&mut world, &mut policy, SEASON, |_| ());
    let mut left = policy.clone();
    policy.renew().unwrap();
    let mut right = RidgeStatistic::new(DIMENSION).unwrap();
    for _ in 0..500 + SEASON {
        let mut features = world.round(1);
        features[..count].fill(0.0);
        right.observe(&features, dot(&features, &world.live) + world.draw_noise()).unwrap();
    }
    let mut told = builder(right).build().unwrap();
    redraw(&mut world, count);
    [&mut policy, &mut left, &mut told].map(|policy| {
        let mut same =
            World { rng: world.rng.clone(), live: world.live.clone(), logged: world.logged.clone(), ..world };
        lose(&mut same, policy, SEASON, |_| ())
    })
}

#[test]
fn a_new_season_finds_out_what_still_holds() {
    for count in [1, DIMENSION] {
        let [renewed, left, told] = mean(|seed| after_a_step(seed, count));
        println!(
            "{count} of {DIMENSION} changed: renewed {renewed:.2}, left as it was {left:.1}, told {told:.2}"
        );
        if count == 1 {
            assert!(renewed <= 1.5 * told, "{renewed} and {told}");
        }
        assert!(2.0 * renewed < left, "{renewed} and {left}");
    }
}

/// What is lost in the second season by exact Bayesian play, told everything but which one of the first `among` coefficients
/// was drawn anew: the past by 2,500 rows, the noise, the level, and how coefficients are drawn.
fn lost_by_bayes(seed: u64, among: usize) -> f64 {
    let (mut world, _) = world(seed);
    let variance = world.noise * world.noise;
    let (mut gram, mut moment) =
        (Matrix::identity(DIMENSION, DIMENSION) * DIMENSION as f64, Vector::zeros(DIMENSION));
    for _ in 0..500 + SEASON {
        let row = Vector::from_vec(world.round(1));
        let reward = dot(row.as_slice(), &world.live) + world.draw_noise();
        gram.ger(1.0 / variance, &row, &row, 1.0);
        moment.axpy(reward / variance, &row, 1.0);
    }
    redraw(&mut world, 1);
    let covariance = gram.try_inverse().unwrap();
    let mean = &covariance * moment;
    // Log weight, mean and covariance if coefficient j was the one.
    let mut models: Vec<(f64, Vector, Matrix)> = (0..among)
        .map(|j| {
            let (mut mean, mut covariance) = (mean.clone(), covariance.clone());
            covariance.row_mut(j).fill(0.0);
            covariance.column_mut(j).fill(0.0);
            (mean[j], covariance[(j, j)]) = (0.0, 1.0 / 3.0);
            (0.0, mean, covariance)
        })
        .collect();
    let mut lost = 0.0;
    for (features, rewards) in rounds(&mut world, SEASON, ACTIONS) {
        let peak = models.iter().map(|model| model.0).fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = models.iter().map(|model| (model.0 - peak).exp()).sum();
        let index = |row: &[f64]| {
            let row = Vector::from_column_slice(row);
            let (mut first, mut second) = (0.0, 0.0);
            for (weight, mean, covariance) in &models {
                let (weight, mean) = ((weight - peak).exp() / total, row.dot(mean));
                first += weight * mean;
                second += weight * (mean * mean + row.dot(&(covariance * &row)));
            }
            first + 0.2 * (second - first * first).max(0.0).sqrt()
        };
        let best = |of: &dyn Fn(&[f64]) -> f64| {
            let of: Vec<f64> = features.chunks(DIMENSION).map(of).collect();
            (0..ACTIONS).fold(0, |best, action| if of[action] > of[best] { action } else { best })
        };
        let row = |action: usize| &features[action * DIMENSION..][..DIMENSION];
        let truly = |row: &[f64]| dot(row, &world.live);
        let chosen = best(&index);
        lost += truly(row(best(&truly))) - truly(row(chosen));
        let (row, reward) = (Vector::from_column_slice(row(chosen)), rewards[chosen]);
        for (weight, mean, covariance) in &mut models {
            let shared = &*covariance * &row;
            let (spread, error) = (row.dot(&shared) + variance, reward - row.dot(mean));
            *weight -= 0.5 * (error * error / spread + spread.ln());
            mean.axpy(error / spread, &shared, 1.0);
            covariance.ger(-1.0 / spread, &shared, &shared, 1.0);
        }
    }
    lost
}

#[test]
fn who_has_to_find_out_which_coefficient_has_changed_loses_a_third_more_at_least() {
    let [which, one] = mean(|seed| [lost_by_bayes(seed, 1), lost_by_bayes(seed, DIMENSION)]);
    println!("exact Bayes: told which has changed {which:.2}, told that it is one of ten {one:.2}");
    assert!(one > 1.33 * which, "{one} and {which}");
}

#[test]
fn a_new_season_without_a_change_costs_next_to_nothing() {
    let [renewed, left] = mean(|seed| {
        let (mut world, logs) = world(seed);
        let mut left = builder(logs.clone()).build().unwrap();
        let mut policy = builder(logs).season(SEASON as u64).build().unwrap();
        let mut same =
            World { rng: world.rng.clone(), live: world.live.clone(), logged: world.logged.clone(), ..world };
        [lose(&mut same, &mut policy, 2 * SEASON, |_| ()), lose(&mut world, &mut left, 2 * SEASON, |_| ())]
    });
    println!("no change: a season {renewed:.2}, none {left:.2}");
    assert!(renewed <= 1.05 * left, "{renewed} and {left}");
}

#[test]
fn a_half_life_follows_a_world_that_turns() {
    // A quarter of a turn in 4,000 rounds, in the plane of the first two coefficients.
    let turn = |world: &mut World| {
        let (sin, cos) = (std::f64::consts::FRAC_PI_2 / (2 * SEASON) as f64).sin_cos();
        let (x, y) = (world.live[0], world.live[1]);
        (world.live[0], world.live[1]) = (cos * x - sin * y, sin * x + cos * y);
    };
    let [fading, lasting] = mean(|seed| {
        [Some(300.0), None].map(|half_life| {
            let (mut world, logs) = world(seed);
            (world.live[0], world.live[1]) = (1.0, 0.0);
            let settings = builder(logs).half_life(half_life);
            lose(&mut world, &mut settings.build().unwrap(), 2 * SEASON, turn)
        })
    });
    println!("turning: half-life {fading:.1}, none {lasting:.1}");
    assert!(2.0 * fading <= lasting, "{fading} and {lasting}");
}

#[test]
fn what_is_known_is_what_the_new_season_starts_from() {
    let (mut world, logs) = world(3);
    for (logs, rounds) in [(logs, 300), (RidgeStatistic::new(DIMENSION).unwrap(), 300)] {
        let mut policy = builder(logs).build().unwrap();
        lose(&mut world, &mut policy, rounds, |_| ());
        let features = world.round(30);
        let actions = Actions::new(&features, DIMENSION).unwrap();
        let before = policy.intervals(0, actions).unwrap();
        policy.renew().unwrap();
        for (new, old) in policy.intervals(0, actions).unwrap().iter().zip(before) {
            // Nothing new is known; all that is known may have drifted.
            assert!((new.mean() - old.mean()).abs() < 0.05, "{new:?} {old:?}");
            assert!(new.ucb - new.lcb > 0.9 * (old.ucb - old.lcb), "{new:?} {old:?}");
        }
        // Decisions of the last season are still learned, and the policy goes on after a restart.
        let mut again = Policy::from_bytes(&policy.to_bytes()).unwrap();
        for policy in [&mut policy, &mut again] {
            let mut same = World {
                rng: world.rng.clone(),
                live: world.live.clone(),
                logged: world.logged.clone(),
                ..world
            };
            lose(&mut same, policy, 50, |_| ());
        }
        assert_eq!(policy.to_bytes(), again.to_bytes());
        assert_eq!(policy.counts().rounds, rounds as u64 + 50);
    }
}

#[test]
fn policies_that_never_doubt_their_logs_have_no_seasons() {
    for preset in [Preset::LinUcb, Preset::Oful, Preset::OfflineOnly, Preset::TrueNorthConfidence] {
        let settings = Policy::builder(2).preset(preset);
        let mut policy = settings.clone().build().unwrap();
        let refused = policy.renew().unwrap_err().to_string();
        assert_eq!(refused, "a new season does not go with a policy that never doubts its logs");
        assert!(settings.clone().season(10).build().is_err() && settings.half_life(10.0).build().is_err());
    }
    assert!(Policy::builder(2).season(0).build().is_err());
    assert!(Policy::builder(2).half_life(0.0).build().is_err());
}

/// Marks of four items, three customers and their pairs: with a level, these columns are the same in seven ways.
fn marks(item: usize, customer: usize, price: f64) -> Vec<f64> {
    let mark = |is: bool| f64::from(u8::from(is));
    let items = (0..4).map(|k| mark(k == item));
    let pairs = (0..12).map(|k| mark(k == 4 * customer + item));
    items.chain(pairs).chain([price]).collect()
}

#[test]
fn categories_can_be_renewed_again_and_again() {
    const SIDE: usize = 17;
    for (seed, sparse, beside) in [(1, false, false), (2, false, false), (3, true, false), (4, false, true)] {
        let mut dice = World::new(seed, SIDE, 0.3).rng;
        let mut bought = |item: usize, customer: usize, price: f64, season: usize| {
            let chance = [0.1, 0.3, 0.2, 0.4][(item + 2 * customer + season) % 4] - 0.02 * price;
            f64::from(u8::from(dice.random::<f64>() < chance))
        };
        let mut order = World::new(seed + 100, SIDE, 0.3).rng;
        let mut logs = if sparse { RidgeStatistic::sparse(SIDE) } else { RidgeStatistic::new(SIDE) }.unwrap();
        for row in 0..3000 {
            let (item, customer, price) = (row % 4, row / 4 % 3, order.random_range(0.0..4.0));
            logs.observe(&marks(item, customer, price), bought(item, customer, price, 0)).unwrap();
        }
        let settings = Policy::builder(SIDE).sparse(sparse).logs(logs).fits_beside(beside);
        let mut policy = settings.build().unwrap();
        let mut noises = Vec::new();
        for season in 1..=6 {
            for round in 0..300 {
                let customer = round % 3;
                let prices: Vec<f64> = (0..4).map(|_| order.random_range(0.0..4.0)).collect();
                let features: Vec<f64> =
                    (0..4).flat_map(|item| marks(item, customer, prices[item])).collect();
                let actions = Actions::new(&features, SIDE).unwrap();
                let choice = policy.choose(actions).unwrap();
                let reward = bought(choice.action, customer, prices[choice.action], season);
                policy.learn(choice.rewarded(actions, reward)).unwrap();
                if beside && let Some(fit) = policy.begin_fit() {
                    policy.finish_fit(fit.run()).unwrap();
                }
            }
            policy.renew().unwrap_or_else(|error| panic!("seed {seed}, season {season}: {error}"));
            noises.push(policy.noise());
        }
        // Purchases have a deviation of 0.3 to 0.5, whatever the season.
        assert!(noises.iter().all(|noise| (0.25..0.6).contains(noise)), "{seed}: {noises:?}");
    }
}
