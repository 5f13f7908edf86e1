//! Posterior intervals cover the truth as often as a posterior should, on problems that are drawn from the
//! prior; averaged over problems and actions, whatever play has chosen to look at.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};
use truenorth::{Actions, Certificate, Policy, Preset, Settings};

use crate::support::{World, dot, play, rounds};

/// Deviations of a 90 % interval.
const DEVIATIONS: f64 = 1.645;
/// Live rounds after which coverage is measured.
const CHECKPOINTS: [usize; 4] = [5, 20, 100, 500];
const PROBLEMS: u64 = 200;
/// Actions of a round; intervals are looked at on as many fresh ones.
const ACTIONS: usize = 10;

/// One cell of the table.
#[derive(Clone, Copy)]
struct Cell {
    dimension: usize,
    noise: f64,
    /// Rows of the logs.
    rows: usize,
    /// Typical size of a coefficient.
    size: f64,
}

const CELLS: [Cell; 6] = [
    Cell { dimension: 5, noise: 0.1, rows: 500, size: 1.0 },
    Cell { dimension: 5, noise: 1.0, rows: 500, size: 1.0 },
    Cell { dimension: 5, noise: 0.3, rows: 50, size: 3.0 },
    Cell { dimension: 20, noise: 0.1, rows: 1000, size: 1.0 },
    Cell { dimension: 20, noise: 1.0, rows: 1000, size: 1.0 },
    Cell { dimension: 20, noise: 0.3, rows: 100, size: 0.3 },
];

/// θ† ~ N(0, size² I).
fn drawn_world(seed: u64, cell: Cell) -> World {
    let mut world = World::new(1000 + seed, cell.dimension, cell.noise);
    let theta: Vec<f64> = (0..cell.dimension).map(|_| cell.size * normal(&mut world)).collect();
    world.live.clone_from(&theta);
    world.logged = theta;
    world
}

fn normal(world: &mut World) -> f64 {
    StandardNormal.sample(&mut world.rng)
}

/// Each coefficient is drawn anew with probability 0.15, and as it was otherwise.
fn redraw_some(world: &mut World, cell: Cell) {
    for j in 0..cell.dimension {
        if world.rng.random_bool(0.15) {
            world.live[j] = cell.size * normal(world);
        }
    }
}

/// Coverage at each checkpoint, over all problems and fresh actions.
fn coverage(cell: Cell, make: impl Fn(&mut World) -> Settings + Sync) -> [f64; CHECKPOINTS.len()] {
    let (next, sums) = (AtomicU64::new(0), Mutex::new([0.0; CHECKPOINTS.len()]));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= PROBLEMS {
                        break;
                    }
                    let mut world = drawn_world(seed, cell);
                    let mut settings = make(&mut world);
                    settings = settings.exploration_scale(DEVIATIONS);
                    let covered = covered(&mut world, settings.build().unwrap());
                    let mut sums = sums.lock().unwrap();
                    sums.iter_mut().zip(covered).for_each(|(sum, covered)| *sum += covered / PROBLEMS as f64);
                }
            });
        }
    });
    sums.into_inner().unwrap()
}

fn covered(world: &mut World, mut policy: Policy) -> [f64; CHECKPOINTS.len()] {
    let mut played = 0;
    CHECKPOINTS.map(|checkpoint| {
        for (features, rewards) in rounds(world, checkpoint - played, ACTIONS) {
            play(&mut policy, &features, &rewards);
        }
        played = checkpoint;
        let features = world.round(ACTIONS);
        let actions = Actions::new(&features, world.dimension).unwrap();
        let inside = policy
            .intervals(0, actions)
            .unwrap()
            .iter()
            .filter(|interval| {
                let truth = dot(actions.row(interval.action).values(), &world.live);
                interval.lcb <= truth && truth <= interval.ucb
            })
            .count();
        inside as f64 / ACTIONS as f64
    })
}

/// Measures a policy in every cell, none of which may fall below 0.8: coverage over all cells at each checkpoint.
fn measured(
    name: &str,
    make: impl Fn(&mut World, Cell) -> Settings + Sync,
) -> impl Iterator<Item = (usize, f64)> {
    println!("{name}: d, noise, log rows, size; coverage after {CHECKPOINTS:?} rounds");
    let mut averages = [0.0; CHECKPOINTS.len()];
    for cell in CELLS {
        let found = coverage(cell, |world| make(world, cell));
        let Cell { dimension, noise, rows, size } = cell;
        println!("{name}: {dimension:>2} {noise:.1} {rows:>4} {size:.1}  {found:.3?}");
        assert!(found.iter().all(|&coverage| coverage >= 0.8), "{name}: {found:?}");
        averages.iter_mut().zip(found).for_each(|(sum, found)| *sum += found / CELLS.len() as f64);
    }
    println!("{name}: average {averages:.3?}");
    CHECKPOINTS.into_iter().zip(averages)
}

/// At each checkpoint, the coverage over all cells has to be in range.
fn calibrated(name: &str, make: impl Fn(&mut World, Cell) -> Settings + Sync) {
    for (checkpoint, average) in measured(name, make) {
        // About 12,000 intervals of 1,200 problems: a standard error of at most 0.01.
        assert!((0.85..=0.97).contains(&average), "{name} after {checkpoint} rounds: {average}");
    }
}

#[test]
fn lin_ucb_is_calibrated_when_told_its_prior() {
    // Exactly the model: θ ~ N(0, S² I), so that the posterior is right whatever is played.
    calibrated("lin-ucb, told", |_, cell| {
        let mut settings = Policy::builder(cell.dimension).preset(Preset::LinUcb);
        settings = settings.noise(cell.noise).norm_bound(cell.size);
        settings
    });
}

#[test]
fn a_posterior_with_a_fixed_certificate_is_calibrated() {
    // Exactly the model: Δ ~ N(0, ρ² M⁻¹).
    calibrated("fixed certificate", |world, cell| {
        let mut settings = Policy::builder(cell.dimension);
        settings = settings.noise(cell.noise).norm_bound(cell.size);
        settings = settings.logs(world.logs(cell.rows));
        let budgets: Vec<f64> =
            (0..cell.dimension).map(|j| cell.size * [0.01, 0.1, 0.3, 1.0][j % 4]).collect();
        for (j, budget) in budgets.iter().enumerate() {
            world.live[j] += 2.0 * budget * normal(world);
        }
        let certificate = Certificate::from_budgets(&budgets).unwrap().with_radius(2.0).unwrap();
        settings = settings.certificate(certificate);
        settings
    });
}

#[test]
fn truenorth_is_calibrated_when_told_nothing() {
    calibrated("truenorth, told nothing", |world, cell| {
        let mut settings = Policy::builder(cell.dimension);
        settings = settings.logs(world.logs(cell.rows));
        redraw_some(world, cell);
        settings
    });
}

#[test]
fn truenorth_is_calibrated_when_told_its_prior() {
    calibrated("truenorth, told", |world, cell| {
        let mut settings = Policy::builder(cell.dimension);
        settings = settings.logs(world.logs(cell.rows));
        settings = settings.noise(cell.noise);
        settings = settings.norm_bound(Some(cell.size * (cell.dimension as f64).sqrt()));
        redraw_some(world, cell);
        settings
    });
}

/// One problem of many that the prior knows of: cautious intervals are too wide on it, never too narrow.
#[test]
fn truenorth_covers_without_drift() {
    let coverages = measured("truenorth, no drift", |world, cell| {
        let mut settings = Policy::builder(cell.dimension);
        settings = settings.logs(world.logs(cell.rows));
        settings
    });
    for (checkpoint, average) in coverages {
        assert!(average >= 0.85, "after {checkpoint} rounds: {average}");
    }
}

/// Noise and size come from live data alone.
#[test]
fn policies_are_calibrated_without_logs_and_told_nothing() {
    for preset in [Preset::LinUcb, Preset::TrueNorth] {
        let name = format!("{}, told nothing, no logs", preset.name());
        calibrated(&name, |_, cell| Policy::builder(cell.dimension).preset(preset));
    }
}
