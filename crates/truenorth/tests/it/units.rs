//! How users measure changes nothing: not the unit of a column, and not the level of the rewards.

use proptest::prelude::*;
use truenorth::{Actions, Policy, Preset, RidgeStatistic};

use crate::support::{World, dot, rounds, unit_vector};

/// Those that need to be told nothing.
const UNTOLD: [Preset; 10] = [
    Preset::TrueNorth,
    Preset::TrueNorthSampling,
    Preset::TrueNorthConfidence,
    Preset::LinUcb,
    Preset::LinTs,
    Preset::Greedy,
    Preset::EpsilonGreedy,
    Preset::OfflineOnly,
    Preset::WarmLinUcb,
    Preset::WarmGreedy,
];

const DIMENSION: usize = 4;
/// The first round that shows the last column.
const LATE: usize = 7;

/// Logs, and rounds with a reward for each action.
struct Data {
    logs: Vec<(Vec<f64>, f64)>,
    rounds: Vec<(Vec<f64>, Vec<f64>)>,
}

/// The action that was played, and mean, ucb, lcb and index of all.
type Decided = (usize, Vec<[f64; 4]>);

impl Data {
    /// The third column holds marks, and the logs, of so many rows, never saw the last one.
    fn new(seed: u64, rows: usize) -> Self {
        let mut world = World::new(seed, DIMENSION, 0.3);
        let mark = |x: &mut [f64]| x[2] = f64::from(u8::from(x[2] > 0.0));
        let row = |_| {
            let mut x = unit_vector(&mut world.rng, DIMENSION);
            mark(&mut x);
            x[3] = 0.0;
            let y = dot(&x, &world.logged) + world.draw_noise();
            (x, y)
        };
        let logs = (0..rows).map(row).collect();
        let mut rounds = rounds(&mut world, 40, 4);
        for (round, (features, _)) in (1..).zip(&mut rounds) {
            for x in features.chunks_mut(DIMENSION) {
                mark(x);
                x[3] = if round < LATE { 0.0 } else { x[3] };
            }
        }
        Self { logs, rounds }
    }

    /// The same with columns in other units, and with a constant on all rewards.
    fn measured(&self, factors: &[f64], constant: f64) -> Self {
        let scaled = |x: &[f64]| x.iter().zip(factors.iter().cycle()).map(|(x, factor)| x * factor).collect();
        let raised = |rewards: &[f64]| rewards.iter().map(|reward| reward + constant).collect();
        Self {
            logs: self.logs.iter().map(|(x, y)| (scaled(x), y + constant)).collect(),
            rounds: self.rounds.iter().map(|(x, rewards)| (scaled(x), raised(rewards))).collect(),
        }
    }

    fn played(&self, preset: Preset) -> Vec<Decided> {
        let mut logs = RidgeStatistic::new(DIMENSION).unwrap();
        for (x, y) in &self.logs {
            logs.observe(x, *y).unwrap();
        }
        let mut policy = Policy::builder(DIMENSION).preset(preset).logs(logs).build().unwrap();
        let decided = self.rounds.iter().map(|(features, rewards)| {
            let actions = Actions::new(features, DIMENSION).unwrap();
            let (choice, story) = policy.choose_explained(actions).unwrap();
            policy.learn(choice.rewarded(actions, rewards[choice.action])).unwrap();
            let intervals = story.layers[0].actions.iter();
            (choice.action, intervals.map(|of| [of.mean(), of.ucb, of.lcb, of.index]).collect())
        });
        decided.collect()
    }
}

/// Whether decisions are the same, and numbers but for rounding.
fn alike(before: &[Decided], after: &[Decided]) -> bool {
    before.iter().zip(after).all(|(before, after)| {
        let mut numbers = before.1.iter().flatten().zip(after.1.iter().flatten());
        before.0 == after.0 && numbers.all(|(a, b)| (a - b).abs() <= 1e-6 * a.abs().max(1.0))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn units_of_columns_change_nothing(
        seed in any::<u64>(), rows in prop::sample::select(&[0usize, 50]),
        powers in prop::array::uniform4(-10i32..10), factors in prop::array::uniform4(-3.0f64..3.0),
    ) {
        let data = Data::new(seed, rows);
        for preset in UNTOLD {
            let before = data.played(preset);
            // Powers of two are exact.
            let after = data.measured(&powers.map(|power| 2f64.powi(power)), 0.0).played(preset);
            prop_assert!(before == after, "{}", preset.name());
            let after = data.measured(&factors.map(|power| 10f64.powf(power)), 0.0).played(preset);
            prop_assert!(alike(&before, &after), "{}", preset.name());
        }
    }

    #[test]
    fn a_constant_on_all_rewards_changes_nothing(seed in any::<u64>(), constant in -100.0f64..100.0) {
        let data = Data::new(seed, 50);
        for preset in [Preset::TrueNorth, Preset::TrueNorthSampling, Preset::TrueNorthConfidence] {
            let after = data.measured(&[1.0], constant).played(preset);
            prop_assert!(alike(&data.played(preset), &after), "{}", preset.name());
        }
    }
}
