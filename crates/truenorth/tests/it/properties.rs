//! What holds for all inputs, checked on many drawn ones.

use proptest::prelude::*;
use truenorth::{Actions, Intervals, Method, Offline, Policy, Pooling, RidgeStatistic};

use crate::support::{Matrix, UNTOLD, Vector, World, dot, is_posterior, play, rounds, square};

/// The intervals of a flat policy's only layer, from the formulas and dense solves alone.
fn dense_intervals(policy: &Policy, features: &[f64]) -> Vec<[f64; 4]> {
    let (dimension, ridge, delta) = (policy.dimension(), policy.ridge(), policy.delta());
    let Method::Flat(Intervals::Pooled { pooling, .. }) = *policy.method() else { panic!("flat and pooled") };
    let (noise, norm_bound) = (policy.noise(), policy.norm_bound());
    let data = policy.layers()[0].data.clone();
    let (gram, moment) = (square(&data.gram()), Vector::from_column_slice(data.moment()));
    let certificate = policy.certificate().unwrap();
    let offline = Offline::new(policy.logs(), ridge).unwrap();
    let (logs, allowed) = (square(offline.precision()), square(certificate.matrix()));
    let identity = Matrix::identity(dimension, dimension);
    let inverse = |matrix: &Matrix| matrix.clone().cholesky().unwrap().inverse();
    let log_det =
        |matrix: &Matrix| matrix.clone().cholesky().unwrap().l().diagonal().map(f64::ln).sum() * 2.0;
    let budget = policy.layer_delta();

    let online = &gram + &identity * ridge;
    let online_radius =
        noise * (log_det(&(&online / ridge)) + 2.0 * (1.0 / budget).ln()).sqrt() + ridge.sqrt() * norm_bound;

    let (covariance, drift) = (inverse(&logs), inverse(&allowed));
    let beta =
        noise * (log_det(&(&logs / ridge)) + 2.0 * (3.0 / delta).ln()).sqrt() + ridge.sqrt() * norm_bound;
    let rho = certificate.rho();
    let full = pooling == Pooling::Full;
    let weight = if full {
        logs.clone()
    } else {
        inverse(&(&covariance * beta.powi(2) + &drift * rho.powi(2))) * noise.powi(2)
    };
    let pooled = inverse(&(&gram + &weight));
    let gamma = noise * (log_det(&(&gram + &weight)) - log_det(&weight) + 2.0 * (1.0 / budget).ln()).sqrt();
    let logged = Vector::from_column_slice(offline.estimate());
    let estimate = &pooled * (&moment + &weight * logged);

    features
        .chunks(dimension)
        .map(|x| {
            let x = Vector::from_column_slice(x);
            let norm = |matrix: &Matrix, x: &Vector| x.dot(&(matrix * x)).sqrt();
            let routed = &weight * (&pooled * &x);
            let statistical = if full {
                (gamma + beta) * norm(&pooled, &x)
            } else {
                gamma * norm(&pooled, &x) + beta * norm(&covariance, &routed)
            };
            let online_inverse = inverse(&online);
            [
                x.dot(&(&online_inverse * &moment)),
                online_radius * norm(&online_inverse, &x),
                x.dot(&estimate),
                statistical + rho * norm(&drift, &routed),
            ]
        })
        .collect()
}

/// A world of two features and the snapshot of one of its policies, after some rounds.
fn snapshot_of_any_kind(kind: prop::sample::Index) -> (World, Vec<u8>) {
    let worlds = [World::new(1, 2, 0.1), World::with_arms(1, 2, 0.1)];
    let kinds = worlds.into_iter().flat_map(|mut world| {
        let policies = world.policies(20);
        policies.into_iter().map(move |(_, settings)| (settings, world.arms))
    });
    let mut kinds: Vec<_> = kinds.collect();
    let (settings, arms) = kinds.swap_remove(kind.index(kinds.len()));
    let mut world = if arms { World::with_arms(1, 2, 0.1) } else { World::new(1, 2, 0.1) };
    let mut policy = settings.build().unwrap();
    for (features, rewards) in rounds(&mut world, 6, 3) {
        play(&mut policy, &features, &rewards);
    }
    (world, policy.to_bytes())
}

/// Whatever passes for a policy must be playable, well or badly.
fn play_if_restored(bytes: &[u8], world: &mut World) {
    if let Ok(mut policy) = Policy::from_bytes(bytes) {
        for _ in 0..3 {
            let features = world.round(3);
            let actions = Actions::new(&features, 2).unwrap();
            if let Ok(choice) = policy.choose(actions) {
                let _ = policy.learn(choice.rewarded(actions, 0.5));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rank_one_state_agrees_with_a_dense_solve(
        seed in any::<u64>(), dimension in 1usize..9, played in 0usize..60, ridge in 0.01f64..10.0,
        rho in prop_oneof![Just(0.0), 0.001f64..100.0], discounted in any::<bool>(), learned in any::<bool>(),
    ) {
        let mut world = World::new(seed, dimension, 0.2);
        let name = format!("Flat {} {} Anytime", if discounted { "Discounted" } else { "Full" }, if learned { "learned" } else { "fixed" });
        let (_, mut settings) = world.policies(100).into_iter().find(|(kind, _)| *kind == name).unwrap();
        settings = settings.ridge(ridge);
        if !learned {
            let certificate = world.certificate().with_radius(rho).unwrap();
            settings = settings.certificate(certificate);
        }
        let mut policy = settings.build().unwrap();
        for (features, rewards) in rounds(&mut world, played, 3) {
            play(&mut policy, &features, &rewards);
        }
        let features = world.round(5);
        let expected = dense_intervals(&policy, &features);
        let close = |a: f64, b: f64, scale: f64| (a - b).abs() <= 1e-9 * scale;
        for (interval, [online_mean, online_radius, mean, radius]) in
            policy.intervals(0, Actions::new(&features, dimension).unwrap()).unwrap().iter().zip(expected)
        {
            let (online, pooled) = (interval.online.unwrap(), interval.informed.unwrap());
            prop_assert!(close(online.mean, online_mean, 1.0), "{} {online_mean}", online.mean);
            prop_assert!(close(online.statistical, online_radius, online_radius));
            prop_assert!(close(pooled.mean, mean, 1.0), "{} {mean}", pooled.mean);
            prop_assert!(close(pooled.statistical + pooled.bias, radius, radius), "{pooled:?} {radius}");
        }
    }

    #[test]
    fn widths_are_never_above_either_branch(seed in any::<u64>(), dimension in 1usize..6) {
        let mut world = World::new(seed, dimension, 0.3);
        for (name, settings) in world.policies(40) {
            let mut policy = settings.build().unwrap();
            // A posterior has one branch.
            if is_posterior(&policy) {
                continue;
            }
            for (features, rewards) in rounds(&mut world, 40, 4) {
                let actions = Actions::new(&features, dimension).unwrap();
                let (choice, story) = policy.choose_explained(actions).unwrap();
                for interval in story.layers.iter().flat_map(|layer| &layer.actions) {
                    // A refuted assumption is the one exception: then live data speaks alone.
                    let branches = [interval.online, interval.informed.filter(|_| !interval.conflict)];
                    for branch in branches.into_iter().flatten() {
                        prop_assert!(interval.ucb - interval.lcb <= 2.0 * (branch.statistical + branch.bias) + 1e-12, "{name}");
                    }
                }
                policy.learn(choice.rewarded(actions, rewards[choice.action])).unwrap();
            }
        }
    }

    #[test]
    fn without_noise_the_truth_is_inside_every_interval(seed in any::<u64>(), dimension in 1usize..6) {
        let mut world = World::new(seed, dimension, 0.0);
        for (name, settings) in world.policies(30) {
            // It trusts the logs as they are, so its intervals promise nothing about the live truth; nor do
            // those of a posterior, or of numbers that nobody has told.
            let mut policy = settings.build().unwrap();
            let unsure = is_posterior(&policy) || name.contains(UNTOLD);
            if name == "warm-suplinucb" || unsure {
                continue;
            }
            for (features, rewards) in rounds(&mut world, 30, 4) {
                for layer in 0..=policy.last_layer() {
                    for interval in policy.intervals(layer, Actions::new(&features, dimension).unwrap()).unwrap() {
                        let truth = dot(&features[interval.action * dimension..][..dimension], &world.live);
                        for branch in [interval.online, interval.informed].into_iter().flatten() {
                            prop_assert!((branch.mean - truth).abs() <= branch.statistical + branch.bias + 1e-9, "{name}");
                        }
                        prop_assert!(!interval.conflict, "{name}");
                    }
                }
                play(&mut policy, &features, &rewards);
            }
            prop_assert_eq!(policy.counts().conflicts, 0, "{}", name);
        }
    }

    #[test]
    fn merging_is_associative_and_commutative(
        seed in any::<u64>(), dimension in 1usize..8, sizes in prop::array::uniform3(0usize..50),
    ) {
        let mut world = World::new(seed, dimension, 1.0);
        let [a, b, c] = sizes.map(|rows| world.logs(rows));
        let merged = |first: &RidgeStatistic, second: &RidgeStatistic| {
            let mut both = first.clone();
            both.merge(second).unwrap();
            both
        };
        let close = |left: &RidgeStatistic, right: &RidgeStatistic| {
            left.count() == right.count()
                && (square(&left.gram()) - square(&right.gram())).amax() <= 1e-12
                && left.moment().iter().zip(right.moment()).all(|(l, r)| (l - r).abs() <= 1e-12)
                && (left.sum_squares() - right.sum_squares()).abs() <= 1e-12 * left.sum_squares().max(1.0)
        };
        prop_assert!(close(&merged(&merged(&a, &b), &c), &merged(&a, &merged(&b, &c))));
        prop_assert_eq!(merged(&a, &b), merged(&b, &a));
    }

    #[test]
    fn any_radius_of_the_certificate_works(exponent in -50i32..50, seed in any::<u64>()) {
        let mut world = World::new(seed, 3, 0.1);
        for (name, mut settings) in world.policies(50) {
            if !name.contains("fixed") {
                continue;
            }
            let certificate = world.certificate().with_radius(10f64.powi(exponent)).unwrap();
            settings = settings.certificate(certificate);
            let mut policy = settings.build().unwrap();
            for (features, rewards) in rounds(&mut world, 50, 4) {
                let choice = play(&mut policy, &features, &rewards);
                prop_assert!(choice.ucb.is_finite() && choice.lcb <= choice.ucb, "{name}: {choice:?}");
            }
        }
    }

    #[test]
    fn no_bytes_make_restore_panic(
        flips in prop::collection::vec((17usize..4000, any::<u8>()), 1..6), kind in any::<prop::sample::Index>(),
    ) {
        let (mut world, mut bytes) = snapshot_of_any_kind(kind);
        let length = bytes.len();
        for (at, flip) in flips {
            bytes[17 + at % (length - 17)] ^= flip;
        }
        // A checksum that fits, as a hostile sender would write it.
        let checksum = crc32fast::hash(&bytes[17..]);
        bytes[13..17].copy_from_slice(&checksum.to_le_bytes());
        play_if_restored(&bytes, &mut world);
    }

    #[test]
    fn no_numbers_make_a_restored_policy_panic(
        places in prop::collection::vec((0usize..4000, 0usize..5), 1..4), kind in any::<prop::sample::Index>(),
    ) {
        let (mut world, mut bytes) = snapshot_of_any_kind(kind);
        let length = bytes.len();
        for (at, number) in places {
            let at = 17 + at % (length - 25);
            let number = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300][number];
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        let checksum = crc32fast::hash(&bytes[17..]);
        bytes[13..17].copy_from_slice(&checksum.to_le_bytes());
        play_if_restored(&bytes, &mut world);
    }
}
