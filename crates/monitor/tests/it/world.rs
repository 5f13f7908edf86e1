//! Streams of rounds in worlds that move or do not, with actions chosen by a policy that learns.

use std::str::FromStr;

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal, StudentT};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth::{Actions, Policy, Preset};
use truenorth_monitor::Monitor;

pub(crate) const DIMENSION: usize = 10;
const ACTIONS: usize = 5;

/// How features and rewards come about. Noise has a standard deviation of 1 but for clicks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum World {
    /// Features and noise are standard normal.
    Normal,
    /// Features have length 1 in all.
    Sphere,
    /// Features are standard normal and all correlated by one half.
    Correlated,
    /// The noise grows with the first feature: between 0.3 and several times as much.
    Uneven,
    /// No feature matters, so that a policy chooses by its errors alone.
    Nothing,
    /// Clicks of which all articles get 5 %.
    Alike,
    /// Noise of Student's t with 3 degrees of freedom.
    Heavy,
    /// Five articles in two segments, each with its own click rate of 2 to 12 %.
    Clicks,
}

impl FromStr for World {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Ok(match name {
            "normal" => Self::Normal,
            "sphere" => Self::Sphere,
            "correlated" => Self::Correlated,
            "uneven" => Self::Uneven,
            "heavy" => Self::Heavy,
            "clicks" => Self::Clicks,
            "nothing" => Self::Nothing,
            "alike" => Self::Alike,
            _ => return Err(format!("no world is named {name:?}")),
        })
    }
}

/// What happens to the coefficients, and after which round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Change {
    None,
    Step { size: f64, at: u64 },
    Slope { size: f64, at: u64 },
    All { size: f64, at: u64 },
}

impl Change {
    #[allow(dead_code, reason = "the example reads changes, tests have theirs")]
    pub(crate) fn parse(kind: &str, size: f64, at: u64) -> Option<Self> {
        match kind {
            "step" => Some(Self::Step { size, at }),
            "slope" => Some(Self::Slope { size, at }),
            "all" => Some(Self::All { size, at }),
            _ => None,
        }
    }

    pub(crate) fn at(self) -> u64 {
        match self {
            Self::None => u64::MAX,
            Self::Step { at, .. } | Self::Slope { at, .. } | Self::All { at, .. } => at,
        }
    }

    /// How far feature `feature` has moved in a round, which are counted from 0.
    fn moved(self, feature: usize, round: u64) -> f64 {
        if round < self.at() {
            return 0.0;
        }
        match self {
            Self::None => 0.0,
            Self::Step { size, .. } => {
                if feature == 0 {
                    size
                } else {
                    0.0
                }
            }
            Self::Slope { size, at } => {
                if feature == 0 {
                    size * (round - at) as f64 / 1000.0
                } else {
                    0.0
                }
            }
            Self::All { size, .. } => {
                let sign = if feature.is_multiple_of(2) { 1.0 } else { -1.0 };
                sign * size / (DIMENSION as f64).sqrt()
            }
        }
    }
}

/// When alarms were given.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) alarm: Option<u64>,
    pub(crate) features: Vec<Option<u64>>,
}

pub(crate) struct Stream {
    pub(crate) world: World,
    pub(crate) change: Change,
    pub(crate) rounds: u64,
    pub(crate) seed: u64,
}

impl Stream {
    /// Plays a stream to its end, or to the first alarms of anything and of the feature that moves.
    pub(crate) fn run(&self, policy: &str) -> Outcome {
        let &Self { world, change, rounds, seed } = self;
        let mut dice = Xoshiro256PlusPlus::seed_from_u64(seed);
        let theta: Vec<f64> = (0..DIMENSION)
            .map(|_| match world {
                World::Clicks => dice.random_range(0.02..0.12),
                World::Nothing => 0.0,
                World::Alike => 0.05,
                _ => 0.3 * normal(&mut dice),
            })
            .collect();
        let mut policy = (policy != "random").then(|| {
            let preset = *Preset::ALL.iter().find(|preset| preset.name() == policy).expect("a policy");
            Policy::builder(DIMENSION).preset(preset).seed(seed).build().expect("a policy")
        });
        let mut monitor = Monitor::new(DIMENSION, 0.05).expect("a level");
        let mut actions = vec![0.0; ACTIONS * DIMENSION];
        let mut row = Vec::new();
        for round in 0..rounds {
            world.draw(&mut actions, &mut dice);
            let offered = Actions::new(&actions, DIMENSION).expect("actions");
            let choice = policy.as_mut().map(|policy| policy.choose(offered).expect("a choice"));
            let chosen =
                choice.as_ref().map_or_else(|| dice.random_range(0..ACTIONS), |choice| choice.action);
            let features = &actions[chosen * DIMENSION..][..DIMENSION];
            let mean: f64 = (0..DIMENSION).map(|j| features[j] * (theta[j] + change.moved(j, round))).sum();
            let reward = world.reward(mean, features, &mut dice);
            if let (Some(policy), Some(choice)) = (&mut policy, choice) {
                policy.learn(choice.rewarded(offered, reward)).expect("a reward");
            }
            row.clear();
            row.extend(features.iter().copied().enumerate().filter(|(_, value)| *value != 0.0));
            monitor.observe(&row, reward).expect("a round");
            let found = monitor.evidence().alarm.is_some();
            if found && (change == Change::None || monitor.feature(0).evidence.alarm.is_some()) {
                break;
            }
        }
        let features = (0..DIMENSION).map(|feature| monitor.feature(feature).evidence.alarm).collect();
        Outcome { alarm: monitor.evidence().alarm, features }
    }
}

fn normal(dice: &mut Xoshiro256PlusPlus) -> f64 {
    StandardNormal.sample(dice)
}

impl World {
    fn draw(self, actions: &mut [f64], dice: &mut Xoshiro256PlusPlus) {
        if matches!(self, Self::Clicks | Self::Alike) {
            actions.fill(0.0);
            let segment = dice.random_range(0..2);
            for action in 0..ACTIONS {
                actions[action * DIMENSION + segment * ACTIONS + action] = 1.0;
            }
            return;
        }
        for row in actions.chunks_mut(DIMENSION) {
            for value in &mut *row {
                *value = normal(dice);
            }
            match self {
                Self::Sphere => {
                    let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
                    for value in row {
                        *value /= length;
                    }
                }
                Self::Correlated => {
                    let common = normal(dice);
                    for value in row {
                        *value = (*value + common) / 2f64.sqrt();
                    }
                }
                _ => {}
            }
        }
    }

    fn reward(self, mean: f64, features: &[f64], dice: &mut Xoshiro256PlusPlus) -> f64 {
        match self {
            Self::Clicks | Self::Alike => f64::from(dice.random::<f64>() < mean),
            Self::Uneven => mean + (0.3 + features[0].abs()) / 1.18 * normal(dice),
            Self::Heavy => {
                mean + StudentT::new(3.0).expect("positive degrees of freedom").sample(dice) / 3f64.sqrt()
            }
            _ => mean + normal(dice),
        }
    }
}
