//! Confidence intervals cover the truth as often as they say, in play, at every round and layer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use truenorth::{Actions, Params, Policy};

use crate::support::{World, dot, play, rounds};

const RUNS: u64 = 400;
const ROUNDS: usize = 2_000;
/// As large as the parameters, so that the statistical part of a radius, not the slack for the
/// ridge's shrinkage, decides about coverage.
const NOISE: f64 = 1.0;

/// Number of runs in which any interval, at any round, layer and action, misses the truth.
fn runs_with_a_miss(
    name: &str,
    noise: f64,
    delta: f64,
    change: impl Fn(&mut World, &mut Params) + Sync,
) -> u64 {
    let (next, missed) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= RUNS {
                        break;
                    }
                    let mut world = World::new(seed, 5, noise);
                    let all = world.policies(ROUNDS as u64);
                    let (_, mut params) = all.into_iter().find(|(kind, _)| kind == name).unwrap();
                    params.delta = delta;
                    change(&mut world, &mut params);
                    missed.fetch_add(u64::from(misses(&mut world, params)), Ordering::Relaxed);
                }
            });
        }
    });
    missed.into_inner()
}

fn misses(world: &mut World, params: Params) -> bool {
    let mut policy = Policy::new(params).unwrap();
    for (features, rewards) in rounds(world, ROUNDS, 5) {
        let actions = Actions::new(&features, 5).unwrap();
        for layer in 0..=policy.last_layer() {
            for interval in policy.intervals(layer, actions).unwrap() {
                let truth = dot(actions.features(interval.action), &world.live);
                // Disjoint branches are a miss as well: the truth cannot be inside both.
                if interval.conflict || truth < interval.lcb || interval.ucb < truth {
                    return true;
                }
            }
        }
        play(&mut policy, &features, &rewards);
    }
    false
}

fn covers(layering: &str, pooling: &str, certificate: &str) {
    for schedule in ["PerRound", "Anytime"] {
        for delta in [0.05, 0.2] {
            let name = format!("{layering} {pooling} {certificate} {schedule}");
            let missed = runs_with_a_miss(&name, NOISE, delta, |_, _| ());
            let share = missed as f64 / RUNS as f64;
            println!("{name}, delta {delta}: {missed} of {RUNS} runs with a miss");
            assert!(share <= delta, "{name}: {share} of the runs missed, but delta is {delta}");
        }
    }
}

#[test]
fn layered_full_fixed_covers() {
    covers("Layered", "Full", "fixed");
}

#[test]
fn layered_full_learned_covers() {
    covers("Layered", "Full", "learned");
}

#[test]
fn layered_discounted_fixed_covers() {
    covers("Layered", "Discounted", "fixed");
}

#[test]
fn layered_discounted_learned_covers() {
    covers("Layered", "Discounted", "learned");
}

#[test]
fn flat_policies_cover() {
    for pooling in ["Full", "Discounted"] {
        for certificate in ["fixed", "learned"] {
            covers("Flat", pooling, certificate);
        }
    }
}

/// The check above can fail: each assumption, broken on its own, is caught by it.
#[test]
fn broken_assumptions_are_caught() {
    type Break = fn(&mut World, &mut Params);
    let broken: [(&str, f64, Break); 3] = [
        ("noise", 1.0, |_, params| params.noise /= 4.0),
        ("norm_bound", 0.1, |_, params| params.norm_bound /= 20.0),
        ("certificate", 0.1, |world, params| {
            world.logged = world.live.iter().map(|entry| -entry).collect();
            params.offline = world.logs(2000);
        }),
    ];
    for (what, noise, change) in broken {
        let missed = runs_with_a_miss("Flat Full fixed Anytime", noise, 0.2, change);
        println!("{what} broken: {missed} of {RUNS} runs with a miss");
        assert!(missed as f64 > 0.2 * RUNS as f64, "{what} broken, but only {missed} of {RUNS} runs missed");
    }
}
