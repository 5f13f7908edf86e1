//! Logs that hide the best of a few actions which come back in every round: what our policies lose to them grows like a root
//! of the rounds at most, and is no more than a few times what policies without logs lose.

use std::sync::Mutex;
use std::thread;

use rand::SeedableRng as _;
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth::{Actions, Policy, Preset, RidgeStatistic};

use crate::support::{World, dot};

const RUNS: u64 = 8;
const OURS: [Preset; 3] = [Preset::TrueNorth, Preset::TrueNorthSampling, Preset::TrueNorthConfidence];

/// Actions, what they pay, and what the logs say that they pay.
struct Trap {
    name: &'static str,
    dimension: usize,
    actions: Vec<f64>,
    live: Vec<f64>,
    logged: Vec<f64>,
}

/// Three axes, two oblique actions, and five axes that were turned at random; the best action looks worst.
fn traps() -> [Trap; 3] {
    let axes = Trap {
        name: "axes",
        dimension: 3,
        actions: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        live: vec![0.5, 0.3, 1.0],
        logged: vec![0.5, 0.3, 0.0],
    };
    let half = 0.5f64.sqrt();
    let oblique = Trap {
        name: "oblique",
        dimension: 2,
        actions: vec![half, half, half, -half],
        // They pay 0.5 and 1; the logs say 0.5 and 0.
        live: vec![1.5 * half, -0.5 * half],
        logged: vec![0.5 * half, 0.5 * half],
    };
    // Gram and Schmidt, on normal numbers.
    let mut rng = World::new(7, 5, 0.0).rng;
    let mut turned: Vec<Vec<f64>> = Vec::new();
    for _ in 0..5 {
        let mut axis: Vec<f64> = (0..5).map(|_| StandardNormal.sample(&mut rng)).collect();
        for other in &turned {
            let along = dot(&axis, other);
            axis.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
        }
        let length = dot(&axis, &axis).sqrt();
        turned.push(axis.into_iter().map(|x| x / length).collect());
    }
    let paying = |pay: [f64; 5]| (0..5).map(|j| (0..5).map(|a| pay[a] * turned[a][j]).sum()).collect();
    let five = Trap {
        name: "five turned",
        dimension: 5,
        live: paying([0.5, 0.4, 0.3, 0.2, 1.0]),
        logged: paying([0.5, 0.4, 0.3, 0.2, 0.0]),
        actions: turned.concat(),
    };
    [axes, oblique, five]
}

/// Regret after each of `horizons` rounds.
fn regret(trap: &Trap, preset: Preset, noise: f64, seed: u64, horizons: &[usize]) -> Vec<f64> {
    let mut rng = World::new(seed, 1, noise).rng;
    let mut noisy = |mean: f64| -> f64 {
        let normal: f64 = StandardNormal.sample(&mut rng);
        mean + noise * normal
    };
    let actions = Actions::new(&trap.actions, trap.dimension).unwrap();
    let mut logs = RidgeStatistic::new(trap.dimension).unwrap();
    for row in 0..300 {
        let x = actions.row(row % actions.count()).values();
        logs.observe(x, noisy(dot(x, &trap.logged))).unwrap();
    }
    let mut settings = Policy::builder(trap.dimension).preset(preset).logs(logs).seed(seed);
    // The others are told what ours find out, so that they lose no more than they must.
    if !OURS.contains(&preset) {
        settings = settings.noise(noise).norm_bound(2.0);
    }
    let mut policy = settings.build().unwrap();
    let means: Vec<f64> = (0..actions.count()).map(|a| dot(actions.row(a).values(), &trap.live)).collect();
    let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut lost, mut found) = (0.0, Vec::new());
    for round in 1..=*horizons.last().unwrap() {
        let choice = policy.choose(actions).unwrap();
        policy.learn(choice.rewarded(actions, noisy(means[choice.action]))).unwrap();
        lost += best - means[choice.action];
        if horizons.contains(&round) {
            found.push(lost);
        }
    }
    found
}

/// Mean over the runs.
fn mean_regret(trap: &Trap, preset: Preset, noise: f64, horizons: &[usize]) -> Vec<f64> {
    let sums = Mutex::new(vec![0.0; horizons.len()]);
    thread::scope(|scope| {
        for half in 0..2 {
            let sums = &sums;
            scope.spawn(move || {
                for seed in (half..RUNS).step_by(2) {
                    let lost = regret(trap, preset, noise, seed, horizons);
                    let mut sums = sums.lock().unwrap();
                    sums.iter_mut().zip(lost).for_each(|(sum, lost)| *sum += lost / RUNS as f64);
                }
            });
        }
    });
    sums.into_inner().unwrap()
}

fn hold(horizons: &[usize]) {
    for (trap, noise) in traps().iter().flat_map(|trap| [(trap, 0.1), (trap, 0.5)]) {
        let of = |preset| mean_regret(trap, preset, noise, horizons);
        let (oful, lin_ucb) = (of(Preset::Oful), of(Preset::LinUcb));
        println!("{} noise {noise}, after {horizons:?}: oful {oful:.1?}, lin-ucb {lin_ucb:.1?}", trap.name);
        for preset in OURS {
            let own = of(preset);
            println!("  {} {own:.1?}", preset.name());
            for (place, &rounds) in horizons.iter().enumerate() {
                let allowed = 3.0 * oful[place].max(lin_ucb[place]);
                assert!(own[place] <= allowed, "{}, {}, {rounds} rounds: {own:?}", trap.name, preset.name());
            }
            for (regret, rounds) in own.windows(2).zip(horizons.windows(2)) {
                let root = (rounds[1] as f64 / rounds[0] as f64).sqrt();
                assert!(regret[1] <= 1.1 * root * regret[0], "{}, {}: {own:?}", trap.name, preset.name());
            }
        }
    }
}

#[test]
fn hidden_actions_are_found_at_the_price_of_a_policy_without_logs() {
    hold(&[2_000, 20_000]);
}

/// `cargo test --release -p truenorth --test it hidden -- --ignored --nocapture`
#[test]
#[ignore = "takes half a minute"]
fn the_same_for_two_hundred_thousand_rounds() {
    hold(&[2_000, 20_000, 200_000]);
}

/// What a policy loses in 150 rounds in which each of eight arms has coefficients of its own, of which the logs know all that there is
/// to know.
fn lost_with_exact_logs(preset: Preset, noise: f64, turned: usize) -> f64 {
    const ARMS: usize = 8;
    const D: usize = 5;
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut draw = || -> f64 { StandardNormal.sample(&mut rng) };
    let logged: Vec<f64> = (0..ARMS * D).map(|_| draw()).collect();
    let live: Vec<f64> =
        logged.iter().enumerate().map(|(j, value)| if j < turned { -value } else { *value }).collect();
    let mut round = || {
        let context: Vec<f64> = (0..D).map(|j| if j == 0 { 1.0 } else { draw() }).collect();
        let row = |arm: usize| {
            let mut row = vec![0.0; ARMS * D];
            row[arm * D..(arm + 1) * D].copy_from_slice(&context);
            row
        };
        ((0..ARMS).flat_map(row).collect::<Vec<f64>>(), noise * draw())
    };
    let mut logs = RidgeStatistic::new(ARMS * D).unwrap();
    for place in 0..1000 {
        let (actions, noise) = round();
        let row = &actions[place % ARMS * ARMS * D..][..ARMS * D];
        logs.observe(row, dot(row, &logged) + noise).unwrap();
    }
    let mut policy = Policy::builder(ARMS * D).preset(preset).logs(logs).build().unwrap();
    let mut lost = 0.0;
    for _ in 0..150 {
        let (actions, noise) = round();
        let actions = Actions::new(&actions, ARMS * D).unwrap();
        let means: Vec<f64> = (0..ARMS).map(|arm| dot(actions.row(arm).values(), &live)).collect();
        let choice = policy.choose(actions).unwrap();
        lost += means.iter().copied().fold(f64::MIN, f64::max) - means[choice.action];
        policy.learn(choice.rewarded(actions, means[choice.action] + noise)).unwrap();
    }
    lost
}

#[test]
fn logs_without_noise_are_believed_as_far_as_they_are_right() {
    for noise in [0.0, 0.01, 0.3] {
        for (turned, share) in [(0, 0.02), (3, 0.5), (20, 1.5)] {
            let [ours, without] =
                [Preset::TrueNorth, Preset::LinUcb].map(|preset| lost_with_exact_logs(preset, noise, turned));
            println!("noise {noise}, {turned} of 40 turned: {ours:.2}, without logs {without:.1}");
            assert!(
                ours <= share * without,
                "noise {noise}, {turned} turned: {ours}, without logs {without}"
            );
        }
    }
}
