//! What `features()` shows: drift where it is, trust elsewhere.

use truenorth::{Certificate, Explore, Method, Policy, Preset, Prior, Settings};

use crate::support::{UNLOGGED, World, play, rounds};

const DIMENSION: usize = 6;
const DRIFTED: usize = 2;

/// A world whose logs are right but for one coefficient, which live truth has moved by -0.8.
fn world() -> World {
    let mut world = World::new(41, DIMENSION, 0.1);
    world.logged.clone_from(&world.live);
    world.logged[DRIFTED] += 0.8;
    world
}

fn played(settings: Settings, rows: usize, count: usize) -> Policy {
    let mut world = world();
    let mut policy = settings.logs(world.logs(rows)).build().unwrap();
    for (features, rewards) in rounds(&mut world, count, 5) {
        play(&mut policy, &features, &rewards);
    }
    policy
}

#[test]
fn every_policy_shows_each_feature_within_range() {
    for mut world in [World::new(42, 3, 0.1), World::with_arms(42, 3, 0.1)] {
        for (name, settings) in world.policies(40) {
            let logged = !name.contains(UNLOGGED);
            let mut policy = settings.build().unwrap();
            for round in 0..3 {
                let views = policy.features().unwrap();
                assert_eq!(views.len(), 3, "{name}");
                for view in views {
                    assert!((0.0..=1.0).contains(&view.trust), "{name}: {view:?}");
                    assert!(view.estimate.is_finite() && view.coverage >= 0.0, "{name}: {view:?}");
                    // No drift without live data, or without logs to drift from.
                    let known = logged && round > 0;
                    assert_eq!((view.drift.is_some(), view.stderr.is_some()), (known, known), "{name}");
                    assert!(view.drift.is_none_or(f64::is_finite), "{name}: {view:?}");
                    assert!(view.stderr.is_none_or(|stderr| stderr >= 0.0), "{name}: {view:?}");
                    assert!(logged || view.trust == 0.0 && view.coverage < 1e-9, "{name}: {view:?}");
                }
                for (features, rewards) in rounds(&mut world, 15, 4) {
                    play(&mut policy, &features, &rewards);
                }
            }
        }
    }
}

#[test]
fn drift_is_found_where_it_is_and_the_rest_is_trusted() {
    let policy = played(Policy::builder(DIMENSION), 2000, 200);
    let (views, live) = (policy.features().unwrap(), world().live);
    for (j, view) in views.iter().enumerate() {
        let (drift, stderr) = (view.drift.unwrap(), view.stderr.unwrap());
        let truth = if j == DRIFTED { -0.8 } else { 0.0 };
        let slack = if j == DRIFTED { 0.0 } else { 0.01 };
        assert!((drift - truth).abs() <= 2.0 * stderr + slack, "feature {j}: {view:?}");
        assert!(stderr < 0.2 && (view.estimate - live[j]).abs() < 0.1, "feature {j}: {view:?}");
        if j == DRIFTED {
            assert!(view.trust < 0.01 && drift < -0.5, "{view:?}");
        } else {
            assert!(view.trust > 0.8, "feature {j}: {view:?}");
        }
    }
    assert!(policy.logs_hold().unwrap() > 0.5);
}

#[test]
fn coverage_counts_rows() {
    // Unit vectors in six directions, uncorrelated: every row tells about every feature.
    let policy = played(Policy::builder(DIMENSION), 1200, 0);
    for view in policy.features().unwrap() {
        assert!((0.9..=1.0).contains(&(view.coverage / 1200.0)), "{view:?}");
    }
}

#[test]
fn trust_is_all_or_nothing_where_it_is_not_learned() {
    let trust = |method: Method| {
        let settings = Policy::builder(DIMENSION).method(method).horizon(100).noise(0.1).norm_bound(2.0);
        let views = played(settings, 100, 30).features().unwrap();
        views.iter().map(|view| view.trust).collect::<Vec<_>>()
    };
    for online in [Preset::Oful, Preset::SupLinUcb, Preset::LinUcb, Preset::LinTs, Preset::Greedy] {
        assert_eq!(trust(online.method()), [0.0; DIMENSION], "{}", online.name());
    }
    for informed in [Preset::WarmSupLinUcb, Preset::OfflineOnly, Preset::EllipsoidalMinUcb3d] {
        assert_eq!(trust(informed.method()), [1.0; DIMENSION], "{}", informed.name());
    }
    let warm = Method::Posterior { prior: Prior::Warm, explore: Explore::Ucb };
    assert_eq!(trust(warm), [1.0; DIMENSION]);
}

#[test]
fn discounted_trust_follows_the_certificate() {
    let budgets: Vec<f64> = (0..DIMENSION).map(|j| if j == DRIFTED { 0.8 } else { 0.02 }).collect();
    let told = Certificate::from_budgets(&budgets).unwrap();
    let settings = Policy::builder(DIMENSION).preset(Preset::TrueNorthConfidence).noise(0.1).norm_bound(2.0);
    let after = played(settings.certificate(told), 2000, 400).features().unwrap();
    let drifted = after[DRIFTED].trust;
    for (j, after) in after.iter().enumerate() {
        if j != DRIFTED {
            assert!(after.trust > 2.0 * drifted, "feature {j}: {after:?} {drifted}");
        }
        let (drift, stderr) = (after.drift.unwrap(), after.stderr.unwrap());
        let truth = if j == DRIFTED { -0.8 } else { 0.0 };
        assert!((drift - truth).abs() <= 3.0 * stderr, "feature {j}: {after:?}");
    }
}
