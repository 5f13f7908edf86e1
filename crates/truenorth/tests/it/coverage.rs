//! Confidence intervals cover the truth as often as they say, in play, at every round and layer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use truenorth::{Actions, Policy, Preset, Settings};

use crate::support::{World, dot, play, rounds};

/// Intervals that miss in 15 % of the runs instead of 5 % pass once in 600 times, in 35 % instead of 20 % once in 1,000;
/// `the_online_share_of_the_failures_is_nearly_attained` looks closer.
const RUNS: u64 = 100;
const ROUNDS: usize = 500;
/// As large as the parameters, so that the statistical part of a radius, not the slack for the
/// ridge's shrinkage, decides about coverage.
const NOISE: f64 = 1.0;

fn norm_bound(world: &World) -> f64 {
    dot(&world.logged, &world.logged).sqrt().max(1.0)
}

/// Number of runs in which any interval, at any round, layer and action, misses the truth.
fn runs_with_a_miss(
    name: &str,
    noise: f64,
    delta: f64,
    change: impl Fn(&mut World, Settings) -> Settings + Sync,
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
                    let (_, settings) = all.into_iter().find(|(kind, _)| kind == name).unwrap();
                    let settings = change(&mut world, settings.delta(delta));
                    missed.fetch_add(u64::from(misses(&mut world, settings)), Ordering::Relaxed);
                }
            });
        }
    });
    missed.into_inner()
}

fn misses(world: &mut World, settings: Settings) -> bool {
    let mut policy = settings.build().unwrap();
    for (features, rewards) in rounds(world, ROUNDS, 5) {
        let actions = Actions::new(&features, 5).unwrap();
        for layer in 0..=policy.last_layer() {
            for interval in policy.intervals(layer, actions).unwrap() {
                let truth = dot(actions.row(interval.action).values(), &world.live);
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
            let missed = runs_with_a_miss(&name, NOISE, delta, |_, settings| settings);
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

/// Moves the logs of a world.
type Drift = (&'static str, fn(&mut World));

/// Drifts that keep both parameters within `norm_bound`, told truly, and logs that have seen them.
const DRIFTS: [Drift; 5] = [
    ("none", |world| world.logged.clone_from(&world.live)),
    ("a tenth in one coefficient", |_| ()),
    ("one coefficient void", |world| {
        world.logged.clone_from(&world.live);
        world.logged[0] = 0.0;
    }),
    ("a little in all", |world| {
        for (j, entry) in world.logged.iter_mut().enumerate() {
            *entry = world.live[j] + [0.05, -0.05][j % 2];
        }
    }),
    ("all reversed", |world| world.logged = world.live.iter().map(|entry| -entry).collect()),
];

fn confidence_covers(name: &str, change: impl Fn(&World, Settings) -> Settings + Sync) {
    let delta = 0.1;
    for (drift, move_logs) in DRIFTS {
        for (noise, rows) in [(1.0, 60), (0.1, 60), (0.1, 2000)] {
            let missed = runs_with_a_miss("truenorth-confidence", noise, delta, |world, settings| {
                move_logs(world);
                let settings = settings.logs(world.logs(rows)).norm_bound(norm_bound(world));
                change(world, settings)
            });
            let share = missed as f64 / RUNS as f64;
            println!(
                "{name}, drift {drift}, noise {noise}, {rows} rows: {missed} of {RUNS} runs with a miss"
            );
            assert!(share <= delta, "{name}, drift {drift}, noise {noise}, {rows} rows: {share}");
        }
    }
}

/// Guaranteed: noise, norm bound and certificate are true, and W is fixed before play, so that all intervals
/// of a run hold together with probability 1 - δ.
#[test]
fn truenorth_confidence_with_a_fixed_certificate_covers() {
    confidence_covers("fixed", |world, settings| settings.certificate(world.certificate()));
}

/// Guaranteed: nobody drifts by more than twice the norm bound.
#[test]
fn truenorth_confidence_covers() {
    confidence_covers("untold", |_, settings| settings);
}

/// Where the interval has nothing to spare, it misses about as often as it may: one direction, no slack for the ridge
/// (θ = 0 = S), Gaussian noise, looked at after every round. The self-normalised bound is a maximal inequality for a
/// martingale that ends near 0, so that its share δ/3 of the failures is attained but for what the martingale jumps
/// beyond its limit: two thirds of it are found.
///
/// 3,000 runs: the rate's standard error is 0.5 %. Intervals that are a tenth too narrow miss twice as often.
#[test]
fn the_online_share_of_the_failures_is_nearly_attained() {
    let (runs, share) = (3_000, 0.1);
    let rate = |scale: f64| {
        let missed = (0..runs).filter(|&seed| {
            let mut world = World::new(seed, 1, NOISE);
            let settings = Policy::builder(1).preset(Preset::Oful).noise(NOISE).norm_bound(0.0);
            let settings = settings.delta(3.0 * share).exploration_scale(scale);
            let mut policy = settings.build().unwrap();
            let actions = Actions::new(&[1.0], 1).unwrap();
            (0..1_000).any(|_| {
                let choice = policy.choose(actions).unwrap();
                policy.learn(choice.rewarded(actions, world.draw_noise())).unwrap();
                choice.lcb > 0.0 || choice.ucb < 0.0
            })
        });
        missed.count() as f64 / runs as f64
    };
    let (own, narrow) = (rate(1.0), rate(0.9));
    println!("misses: {own} of the runs, {narrow} with intervals a tenth narrower; the share is {share}");
    assert!((0.5 * share..=share + 0.016).contains(&own), "{own}");
    assert!(narrow > share + 0.016, "{narrow}");
}

/// The check above can fail: each assumption, broken on its own, is caught by it.
#[test]
fn broken_assumptions_are_caught() {
    type Break = fn(&mut World, Settings) -> Settings;
    let broken: [(&str, f64, Break); 3] = [
        ("noise", 1.0, |world, settings| settings.noise(world.noise.max(0.05) / 4.0)),
        ("norm_bound", 0.1, |world, settings| settings.norm_bound(norm_bound(world) / 20.0)),
        ("certificate", 0.1, |world, settings| {
            world.logged = world.live.iter().map(|entry| -entry).collect();
            settings.logs(world.logs(2000))
        }),
    ];
    for (what, noise, change) in broken {
        for name in ["Flat Full fixed Anytime", "truenorth-confidence"] {
            // What is learned from the data cannot be told wrongly.
            if (name, what) == ("truenorth-confidence", "certificate") {
                continue;
            }
            let missed = runs_with_a_miss(name, noise, 0.2, change);
            println!("{name}, {what} broken: {missed} of {RUNS} runs with a miss");
            assert!(
                missed as f64 > 0.2 * RUNS as f64,
                "{name}, {what} broken, but only {missed} runs missed"
            );
        }
    }
}
