//! Worlds: how parameters, logs, contexts and rewards come about.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth::RidgeStatistic;

use crate::error::{Error, Result};

/// How live and logged parameter are drawn, anew in each run.
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterLaw {
    /// The same in every run.
    Given {
        /// θ_*.
        live: Vec<f64>,
        /// θ†.
        logged: Vec<f64>,
    },
    /// θ_* uniform in a cube, θ† = scale · θ_* + u with u uniform in [0, offset] for each coordinate.
    ScaledWithOffset {
        /// Lower end of each live coordinate.
        low: f64,
        /// Upper end of each live coordinate.
        high: f64,
        /// Factor on the live parameter.
        scale: f64,
        /// Largest offset of a coordinate.
        offset: f64,
    },
}

/// How the logs cover feature space.
#[derive(Debug, Clone, PartialEq)]
pub enum Coverage {
    /// Gaussian directions of length 1; `diversity` is the standard deviation of every coordinate but
    /// the first before normalising, so 1 covers all directions alike.
    Gaussian {
        /// See above.
        diversity: f64,
    },
    /// Uniform in a box, divided by their length where that is above 1.
    Box {
        /// Lower corner.
        low: Vec<f64>,
        /// Upper corner.
        high: Vec<f64>,
    },
    /// Each vector a fixed number of times.
    Counts {
        /// The vectors.
        features: Vec<Vec<f64>>,
        /// How often each was logged.
        counts: Vec<u64>,
    },
}

/// How a round's actions look.
#[derive(Debug, Clone, PartialEq)]
pub enum Contexts {
    /// Independent Gaussian directions of length 1.
    Gaussian {
        /// Actions a round.
        actions: usize,
    },
    /// Uniform in a box, divided by their length where that is above 1.
    Box {
        /// Actions a round.
        actions: usize,
        /// Lower corner.
        low: Vec<f64>,
        /// Upper corner.
        high: Vec<f64>,
    },
    /// The same actions in every round.
    Fixed {
        /// Their features.
        features: Vec<Vec<f64>>,
    },
}

/// How a reward comes from its mean, live and in the logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewardModel {
    /// Mean plus Gaussian noise.
    Gaussian,
    /// 1 with the mean as probability, otherwise 0.
    Bernoulli,
}

/// A world before anything is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    /// Number of features.
    pub dimension: usize,
    /// Live and logged parameter.
    pub parameters: ParameterLaw,
    /// Where the logs look.
    pub coverage: Coverage,
    /// Rows of the logs; ignored by [`Coverage::Counts`].
    pub log_rows: usize,
    /// Actions of a round.
    pub contexts: Contexts,
    /// How rewards come from means.
    pub rewards: RewardModel,
    /// σ of the rewards' noise.
    pub noise: f64,
}

/// Generators of one run, each for a purpose of its own: a policy's name, the number of policies or
/// another panel's parameters do not shift what the others draw.
pub(crate) fn stream(seed: u64, run: u64, purpose: u64) -> Xoshiro256PlusPlus {
    let mix = |state: u64, value: u64| {
        // SplitMix64's finaliser: neighbouring seeds and runs become unrelated states.
        let mut z = (state ^ value).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    Xoshiro256PlusPlus::seed_from_u64(mix(mix(mix(0, seed), run), purpose))
}

impl World {
    pub(crate) fn check(&self) -> Result<()> {
        let d = self.dimension;
        let length = |name, expected: usize, found: usize| {
            if expected == found { Ok(()) } else { Err(Error::Length { name, expected, found }) }
        };
        let number = |name, range, value: f64, fine: bool| {
            if fine && value.is_finite() { Ok(()) } else { Err(Error::Number { name, range, value }) }
        };
        let corners = |low: &[f64], high: &[f64]| {
            length("low", d, low.len())?;
            length("high", d, high.len())?;
            low.iter().zip(high).try_for_each(|(&low, &high)| {
                number("low", "finite", low, true)?;
                number("high", "at least `low` and finite", high, high >= low)
            })
        };
        number("dimension", "at least 1", d as f64, d >= 1)?;
        number("noise", "at least 0", self.noise, self.noise >= 0.0)?;
        let width = self.actions() as f64 * d as f64;
        number("actions", "at most 10000000 divided by the dimension", self.actions() as f64, width <= 1e7)?;
        match &self.parameters {
            ParameterLaw::Given { live, logged } => {
                length("live", d, live.len())?;
                length("logged", d, logged.len())?;
                live.iter().chain(logged).try_for_each(|&value| number("live", "finite", value, true))?;
            }
            ParameterLaw::ScaledWithOffset { low, high, scale, offset } => {
                number("low", "finite", *low, true)?;
                number("high", "at least `low` and finite", *high, high >= low)?;
                number("scale", "finite", *scale, true)?;
                number("offset", "at least 0", *offset, *offset >= 0.0)?;
            }
        }
        match &self.coverage {
            Coverage::Gaussian { diversity } => {
                number("diversity", "at least 0", *diversity, *diversity >= 0.0)?;
            }
            Coverage::Box { low, high } => corners(low, high)?,
            Coverage::Counts { features, counts } => {
                length("counts", features.len(), counts.len())?;
                features.iter().try_for_each(|row| length("features", d, row.len()))?;
            }
        }
        match &self.contexts {
            Contexts::Gaussian { actions } => number("actions", "at least 1", *actions as f64, *actions >= 1),
            Contexts::Box { actions, low, high } => {
                number("actions", "at least 1", *actions as f64, *actions >= 1)?;
                corners(low, high)
            }
            Contexts::Fixed { features } => {
                number("actions", "at least 1", features.len() as f64, !features.is_empty())?;
                features.iter().try_for_each(|row| length("features", d, row.len()))
            }
        }
    }

    /// Number of actions in a round.
    pub fn actions(&self) -> usize {
        match &self.contexts {
            Contexts::Gaussian { actions } | Contexts::Box { actions, .. } => *actions,
            Contexts::Fixed { features } => features.len(),
        }
    }

    /// Live and logged parameter of one run.
    pub(crate) fn draw_parameters(&self, rng: &mut Xoshiro256PlusPlus) -> (Vec<f64>, Vec<f64>) {
        match &self.parameters {
            ParameterLaw::Given { live, logged } => (live.clone(), logged.clone()),
            ParameterLaw::ScaledWithOffset { low, high, scale, offset } => {
                let live: Vec<f64> = (0..self.dimension).map(|_| uniform(rng, *low, *high)).collect();
                let logged = live.iter().map(|value| scale * value + uniform(rng, 0.0, *offset)).collect();
                (live, logged)
            }
        }
    }

    /// The logs of one run.
    pub(crate) fn draw_logs(&self, logged: &[f64], rng: &mut Xoshiro256PlusPlus) -> Result<RidgeStatistic> {
        let mut logs = RidgeStatistic::new(self.dimension)?;
        let mut features = vec![0.0; self.dimension];
        let observe = |features: &[f64], logs: &mut RidgeStatistic, rng: &mut Xoshiro256PlusPlus| {
            let reward = self.draw_reward(dot(features, logged), rng)?;
            Ok::<_, Error>(logs.observe(features, reward)?)
        };
        match &self.coverage {
            Coverage::Counts { features, counts } => {
                for (features, &count) in features.iter().zip(counts) {
                    for _ in 0..count {
                        observe(features, &mut logs, rng)?;
                    }
                }
            }
            Coverage::Gaussian { diversity } => {
                for _ in 0..self.log_rows {
                    for (i, feature) in features.iter_mut().enumerate() {
                        let normal: f64 = StandardNormal.sample(rng);
                        *feature = if i == 0 { normal } else { diversity * normal };
                    }
                    normalise(&mut features);
                    observe(&features, &mut logs, rng)?;
                }
            }
            Coverage::Box { low, high } => {
                for _ in 0..self.log_rows {
                    draw_box(&mut features, low, high, rng);
                    observe(&features, &mut logs, rng)?;
                }
            }
        }
        Ok(logs)
    }

    /// Features of one round's actions, row after row.
    pub(crate) fn draw_round(&self, features: &mut [f64], rng: &mut Xoshiro256PlusPlus) {
        for (action, row) in features.chunks_exact_mut(self.dimension).enumerate() {
            match &self.contexts {
                Contexts::Gaussian { .. } => {
                    for feature in row.iter_mut() {
                        *feature = StandardNormal.sample(rng);
                    }
                    normalise(row);
                }
                Contexts::Box { low, high, .. } => draw_box(row, low, high, rng),
                Contexts::Fixed { features } => row.copy_from_slice(&features[action]),
            }
        }
    }

    /// What a reward's randomness is made of: a standard normal, or a uniform number.
    pub(crate) fn draw_luck(&self, rng: &mut Xoshiro256PlusPlus) -> f64 {
        match self.rewards {
            RewardModel::Gaussian => StandardNormal.sample(rng),
            RewardModel::Bernoulli => rng.random(),
        }
    }

    /// The reward that a mean and a round's luck give.
    pub(crate) fn reward(&self, mean: f64, luck: f64) -> Result<f64> {
        match self.rewards {
            RewardModel::Gaussian => Ok(mean + self.noise * luck),
            RewardModel::Bernoulli if (0.0..=1.0).contains(&mean) => Ok(f64::from(u8::from(luck < mean))),
            RewardModel::Bernoulli => Err(Error::NotAProbability { mean }),
        }
    }

    fn draw_reward(&self, mean: f64, rng: &mut Xoshiro256PlusPlus) -> Result<f64> {
        let luck = self.draw_luck(rng);
        self.reward(mean, luck)
    }
}

fn uniform(rng: &mut Xoshiro256PlusPlus, low: f64, high: f64) -> f64 {
    let share: f64 = rng.random();
    low + (high - low) * share
}

fn normalise(vector: &mut [f64]) {
    let norm = dot(vector, vector).sqrt();
    if norm > 0.0 {
        for entry in vector {
            *entry /= norm;
        }
    }
}

fn draw_box(row: &mut [f64], low: &[f64], high: &[f64], rng: &mut Xoshiro256PlusPlus) {
    for ((feature, &low), &high) in row.iter_mut().zip(low).zip(high) {
        *feature = uniform(rng, low, high);
    }
    if dot(row, row) > 1.0 {
        normalise(row);
    }
}

pub(crate) fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}
