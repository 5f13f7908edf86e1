//! A simulated round, with its contexts, rewards and curves. `cargo bench -p truenorth-sim`
//!
//! Drawing the world, its logs and its parameters is part of the time, once a run.

use std::fmt;

use divan::Bencher;
use divan::counter::ItemsCount;
use truenorth::Preset;
use truenorth_sim::{
    Contexts, Coverage, NormBound, Panel, ParameterLaw, PolicySpec, RewardModel, World, play_run,
};

/// What is measured together.
#[derive(Debug, Clone, Copy)]
struct Case {
    preset: Preset,
    dimension: usize,
    actions: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<18} d = {:<3} K = {}", self.preset.name(), self.dimension, self.actions)
    }
}

fn cases() -> impl Iterator<Item = Case> {
    let presets =
        [Preset::SupLinUcb, Preset::EllipsoidalMinUcb, Preset::Oful, Preset::LinUcb, Preset::TrueNorth];
    presets.into_iter().flat_map(|preset| {
        [5, 20, 100, 500]
            .into_iter()
            .flat_map(move |dimension| [5, 50, 1000].map(|actions| Case { preset, dimension, actions }))
    })
}

fn main() {
    divan::main();
}

#[divan::bench(args = cases(), max_time = 0.5)]
fn round(bencher: Bencher, Case { preset, dimension, actions }: Case) {
    let horizon = (20_000_000 / (dimension * dimension * actions)).clamp(10, 2000) as u64;
    let live: Vec<f64> = (0..dimension).map(|i| if i == 0 { 2.0 } else { 1.0 }).collect();
    let logged = live.iter().rev().copied().collect();
    let panel = Panel {
        name: "bench".to_owned(),
        world: World {
            dimension,
            parameters: ParameterLaw::Given { live, logged },
            coverage: Coverage::Gaussian { diversity: 1.0 },
            log_rows: 2 * dimension,
            contexts: Contexts::Gaussian { actions },
            rewards: RewardModel::Gaussian,
            noise: 0.1,
        },
        policies: vec![PolicySpec::preset(preset)],
        horizon,
        runs: 1,
        seed: 42,
        norm_bound: NormBound::Truth,
        ridge: 1.0,
        delta: 0.01,
    };
    bencher.counter(ItemsCount::new(horizon)).bench(|| play_run(&panel, 0).expect("a world that fits"));
}
