//! Contexts whose law changes with the rounds.

use super::*;

fn world(dimension: usize, contexts: Contexts) -> World {
    World {
        dimension,
        parameters: ParameterLaw::Given { live: vec![1.0; dimension], logged: vec![1.0; dimension] },
        coverage: Coverage::Gaussian { diversity: 1.0 },
        log_rows: 10,
        contexts,
        rewards: RewardModel::Gaussian,
        noise: 0.1,
    }
}

/// Mean of each feature's square over the actions of some rounds.
fn energy(world: &World, rounds: std::ops::RangeInclusive<u64>) -> Vec<f64> {
    let mut rng = stream(7, 0, 2);
    let mut features = vec![0.0; world.actions() * world.dimension];
    let mut sums = vec![0.0; world.dimension];
    let mut count = 0.0;
    for round in rounds {
        world.draw_round(round, &mut features, &mut rng);
        for row in features.chunks_exact(world.dimension) {
            assert!((dot(row, row) - 1.0).abs() < 1e-12, "directions have length 1");
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x * x);
            count += 1.0;
        }
    }
    sums.into_iter().map(|sum| sum / count).collect()
}

#[test]
fn only_the_group_of_the_phase_is_alive() {
    let contexts = Contexts::Shifting { actions: 4, phases: 3, phase_rounds: 50, quiet: 0.1 };
    let world = world(7, contexts);
    world.check().unwrap();
    // Seven features in three groups: 0 to 2, 3 and 4, 5 and 6.
    for (rounds, alive) in [(1..=50, 0..3), (51..=100, 3..5), (101..=150, 5..7), (151..=200, 0..3)] {
        let energy = energy(&world, rounds.clone());
        for (feature, energy) in energy.iter().enumerate() {
            // A quiet feature has a hundredth of a loud one's square, before normalising.
            let expected = if alive.contains(&feature) { 0.2..0.8 } else { 0.0..0.05 };
            assert!(expected.contains(energy), "rounds {rounds:?}, feature {feature}: {energy}");
        }
    }
}

#[test]
fn one_phase_is_plain_gaussian_contexts() {
    let shifting = world(5, Contexts::Shifting { actions: 3, phases: 1, phase_rounds: 2, quiet: 0.0 });
    let plain = world(5, Contexts::Gaussian { actions: 3 });
    let drawn = |world: &World| {
        let (mut rng, mut features) = (stream(1, 2, 2), vec![0.0; 15]);
        (1..=9).for_each(|round| world.draw_round(round, &mut features, &mut rng));
        features
    };
    assert_eq!(drawn(&shifting), drawn(&plain));
}

#[test]
fn a_turning_centre_visits_every_feature_and_returns() {
    let world = world(4, Contexts::Turning { actions: 10, turn_rounds: 400, spread: 0.1 });
    world.check().unwrap();
    for (round, near) in [(1, 0), (101, 1), (201, 2), (301, 3), (401, 0), (10_001, 0)] {
        let energy = energy(&world, round..=round);
        assert!(energy[near] > 0.85, "round {round}: {energy:?}");
    }
    // Half of the way from one to the next.
    let between = energy(&world, 351..=351);
    assert!(between[3] > 0.3 && between[0] > 0.3, "{between:?}");
}

#[test]
fn a_turning_centre_stands_between_neighbours() {
    for rounds in [1, 3, 7, 1_000_003] {
        for gone in [0, rounds / 2, rounds - 1] {
            let (from, to, angle) = turned(gone, rounds, 6);
            assert!(from < 6 && to == (from + 1) % 6 && (0.0..FRAC_PI_2).contains(&angle));
        }
    }
}
