//! truenorth is told nothing, so any logs and any rewards have to do.

use rand::RngExt as _;
use truenorth::{Actions, Policy, Preset, RidgeStatistic, Settings};

use crate::support::{World, dot, play, rounds, unit_vector};

const OURS: [Preset; 3] = [Preset::TrueNorth, Preset::TrueNorthSampling, Preset::TrueNorthConfidence];

/// Share of a random player's regret that a policy has in the last third of its rounds.
fn late_regret(world: &mut World, settings: Settings, count: usize) -> f64 {
    let dimension = world.dimension;
    let mut policy = settings.build().unwrap();
    let (mut own, mut random) = (0.0, 0.0);
    for (round, (features, rewards)) in rounds(world, count, 5).into_iter().enumerate() {
        let choice = play(&mut policy, &features, &rewards);
        assert!(choice.lcb.is_finite() && choice.lcb <= choice.mean && choice.mean <= choice.ucb);
        assert!(choice.ucb.is_finite() && choice.propensity > 0.0 && choice.propensity <= 1.0);
        if round >= count - count / 3 {
            let means: Vec<f64> = features.chunks(dimension).map(|x| dot(x, &world.live)).collect();
            let best = means.iter().copied().fold(f64::MIN, f64::max);
            own += best - means[choice.action];
            random += best - means.iter().sum::<f64>() / means.len() as f64;
        }
    }
    own / random
}

#[test]
fn without_logs_live_data_is_enough() {
    for preset in OURS {
        let mut world = World::new(21, 4, 0.1);
        let settings = Policy::builder(4).preset(preset);
        let share = late_regret(&mut world, settings, 200);
        assert!(share < 0.1, "{}: {share}", preset.name());
    }
}

#[test]
fn logs_of_a_few_directions_and_few_rows_do_no_harm() {
    for preset in OURS {
        for (rows, seen) in [(1, 12), (3, 12), (7, 12), (400, 2)] {
            let mut world = World::new(22, 12, 0.1);
            let mut logs = RidgeStatistic::new(12).unwrap();
            for _ in 0..rows {
                let mut features = unit_vector(&mut world.rng, 12);
                features[seen..].fill(0.0);
                let reward = dot(&features, &world.logged) + world.draw_noise();
                logs.observe(&features, reward).unwrap();
            }
            let settings = Policy::builder(12).preset(preset).logs(logs);
            let share = late_regret(&mut world, settings, 300);
            // One row says nothing of the noise, so that intervals are those of noise 1.
            let untold = preset == Preset::TrueNorthConfidence && rows == 1;
            let limit = if untold { 0.7 } else { 0.25 };
            assert!(share < limit, "{}, {rows} rows of {seen} features: {share}", preset.name());
        }
    }
}

#[test]
fn rewards_that_never_change_are_played_without_complaint() {
    for preset in OURS {
        for (logged, live) in [(0.7, 0.7), (0.0, 0.0), (0.0, 0.7), (0.7, 0.0), (1e-6, 1e6), (-1e6, 1e-6)] {
            let mut world = World::new(23, 3, 0.0);
            let mut logs = RidgeStatistic::new(3).unwrap();
            for _ in 0..50 {
                logs.observe(&unit_vector(&mut world.rng, 3), logged).unwrap();
            }
            let mut policy = Policy::builder(3).preset(preset).logs(logs).build().unwrap();
            for (features, _) in rounds(&mut world, 60, 4) {
                let choice = play(&mut policy, &features, &[live; 4]);
                assert!(choice.ucb.is_finite() && choice.lcb <= choice.ucb, "{}: {choice:?}", preset.name());
            }
        }
    }
}

#[test]
fn features_of_zeros_are_played_without_complaint() {
    for preset in OURS {
        let mut world = World::new(24, 3, 0.1);
        let none = RidgeStatistic::new(3).unwrap();
        let mut logged = none.clone();
        for _ in 0..20 {
            logged.observe(&[0.0; 3], 0.5).unwrap();
        }
        // The second feature is zero in the logs, the third in live rounds.
        let mut partly = none.clone();
        for _ in 0..20 {
            let x = unit_vector(&mut world.rng, 3);
            partly.observe(&[x[0], 0.0, x[2]], x[0] - x[2]).unwrap();
        }
        for logs in [none, logged, partly] {
            let mut policy = Policy::builder(3).preset(preset).logs(logs).build().unwrap();
            for round in 0..40 {
                let mut features = world.round(3);
                let mute = if round % 3 == 0 { 0..9 } else { 0..3 };
                features[mute].fill(0.0);
                features.iter_mut().skip(2).step_by(3).for_each(|entry| *entry = 0.0);
                let rewards = [0.1, 0.4, 0.2].map(|mean| mean + world.draw_noise());
                let choice = play(&mut policy, &features, &rewards);
                assert!(choice.ucb.is_finite() && choice.lcb <= choice.ucb, "{}: {choice:?}", preset.name());
            }
            policy.features().unwrap();
        }
    }
}

/// Decisions in a world whose features and rewards are measured in other units.
fn decisions(preset: Preset, rows: usize, feature_unit: f64, reward_unit: f64) -> Vec<usize> {
    let mut world = World::new(25, 4, 0.3);
    let mut logs = RidgeStatistic::new(4).unwrap();
    let scaled = |features: &[f64]| -> Vec<f64> { features.iter().map(|x| x * feature_unit).collect() };
    for _ in 0..rows {
        let features = unit_vector(&mut world.rng, 4);
        let reward = dot(&features, &world.logged) + world.draw_noise();
        logs.observe(&scaled(&features), reward_unit * reward).unwrap();
    }
    let mut policy = Policy::builder(4).preset(preset).logs(logs).build().unwrap();
    rounds(&mut world, 150, 6)
        .into_iter()
        .map(|(features, rewards)| {
            let rewards: Vec<f64> = rewards.iter().map(|reward| reward * reward_unit).collect();
            play(&mut policy, &scaled(&features), &rewards).action
        })
        .collect()
}

/// Powers of two, so that nothing is rounded differently: about 1e-6, 1e6.
const UNITS: [f64; 4] = [9.536_743_164_062_5e-7, 0.25, 64.0, 1_048_576.0];

#[test]
fn the_unit_of_rewards_decides_nothing() {
    for preset in [Preset::TrueNorth, Preset::TrueNorthSampling, Preset::LinUcb, Preset::LinTs] {
        for rows in [0, 3, 200] {
            let expected = decisions(preset, rows, 1.0, 1.0);
            for unit in UNITS {
                let found = decisions(preset, rows, 1.0, unit);
                let apart = expected.iter().zip(&found).position(|(a, b)| a != b);
                assert_eq!(apart, None, "{} with {rows} rows, rewards times {unit:e}", preset.name());
            }
        }
    }
}

#[test]
fn the_unit_of_features_decides_nothing() {
    for preset in [Preset::TrueNorth, Preset::TrueNorthSampling, Preset::LinUcb, Preset::LinTs] {
        for rows in [0, 3, 200] {
            let expected = decisions(preset, rows, 1.0, 1.0);
            for unit in UNITS {
                let found = decisions(preset, rows, unit, 1.0);
                let apart = expected.iter().zip(&found).position(|(a, b)| a != b);
                assert_eq!(apart, None, "{} with {rows} rows, features times {unit:e}", preset.name());
            }
        }
    }
}

#[test]
fn tiny_and_huge_rewards_are_learned_from() {
    for preset in [Preset::TrueNorth, Preset::TrueNorthSampling] {
        for size in [1e-6, 1e6] {
            for rows in [0, 100] {
                let mut world = World::new(26, 4, 0.1 * size);
                world.live.iter_mut().chain(&mut world.logged).for_each(|entry| *entry *= size);
                let mut settings = Policy::builder(4).preset(preset);
                settings = settings.logs(world.logs(rows));
                let share = late_regret(&mut world, settings, 200);
                assert!(share < 0.1, "{}, rewards of {size:e}, {rows} rows: {share}", preset.name());
            }
        }
    }
}

#[test]
fn any_number_of_features_and_actions_is_played() {
    for dimension in [1, 2, 17] {
        for arms in [false, true] {
            let mut world = World { arms, ..World::new(27, dimension, 0.1) };
            for (name, settings) in world.policies(40) {
                let mut policy = settings.build().unwrap();
                for actions in [1, 1, 7, 8, 9, 300, 1, 2] {
                    let (features, rewards) = &rounds(&mut world, 1, actions)[0];
                    let choice = play(&mut policy, features, rewards);
                    assert!(choice.action < actions && choice.ucb.is_finite(), "{name}: {choice:?}");
                    let alone = actions == 1;
                    assert!(!alone || choice.propensity > 0.999_999, "{name}: {choice:?}");
                }
                let next = world.rng.random_range(1..20);
                let features = world.round(next);
                let intervals = policy.intervals(0, Actions::new(&features, dimension).unwrap()).unwrap();
                assert_eq!(intervals.len(), next, "{name}");
            }
        }
    }
}

#[test]
fn estimated_numbers_are_those_of_the_logs() {
    let mut world = World::new(28, 5, 0.2);
    let mut settings = Policy::builder(5);
    settings = settings.logs(world.logs(2000));
    let policy = settings.clone().build().unwrap();
    assert!((policy.noise() / 0.2 - 1.0).abs() < 0.1, "{}", policy.noise());
    // Twice the length of the logged parameter.
    let length = 2.0 * dot(&world.logged, &world.logged).sqrt();
    assert!((policy.norm_bound() / length - 1.0).abs() < 0.1, "{}", policy.norm_bound());
    settings = settings.noise(0.7).norm_bound(3.0);
    let policy = settings.build().unwrap();
    assert!((policy.noise() - 0.7).abs() < 1e-12 && (policy.norm_bound() - 3.0).abs() < 1e-12);
    let mut settings = Policy::builder(5);
    settings = settings.logs(RidgeStatistic::new(5).unwrap());
    let policy = settings.build().unwrap();
    assert_eq!((policy.noise(), policy.norm_bound(), policy.logs_hold()), (1.0, 1.0, Some(0.0)));
}

#[test]
fn the_noise_of_live_rewards_is_followed() {
    for rows in [0, 300] {
        let mut world = World::new(29, 4, 0.1);
        let mut settings = Policy::builder(4);
        settings = settings.logs(world.logs(rows));
        world.noise = 0.5;
        let mut policy = settings.build().unwrap();
        for (features, rewards) in rounds(&mut world, 500, 5) {
            play(&mut policy, &features, &rewards);
        }
        assert!((policy.noise() / 0.5 - 1.0).abs() < 0.2, "{rows} rows: {}", policy.noise());
    }
}
