//! Worlds: how parameters, logs, contexts and rewards come about.

use std::f64::consts::FRAC_PI_2;

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;
use truenorth::RidgeStatistic;

use crate::error::{Error, Result};
use crate::ranges::range;

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
    /// θ_* uniform in a cube, θ† = scale · θ_* + u - drift with u uniform in [0, offset] for each
    /// coordinate.
    ScaledWithOffset {
        /// Lower end of each live coordinate.
        low: f64,
        /// Upper end of each live coordinate.
        high: f64,
        /// Factor on the live parameter.
        scale: f64,
        /// Largest offset of a coordinate.
        offset: f64,
        /// What the logs miss of each coordinate, the same in every run.
        drift: Vec<f64>,
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
    /// Features that come alive group after group: Gaussian directions of length 1, all but the group of
    /// the phase shrunk before normalising. The groups are runs of neighbours of about the same size; after
    /// the last phase the first returns.
    Shifting {
        /// Actions a round.
        actions: usize,
        /// Phases, and groups of features.
        phases: usize,
        /// Rounds of a phase.
        phase_rounds: u64,
        /// Factor on the features of the other groups.
        quiet: f64,
    },
    /// Gaussian directions of length 1 around a centre that turns from feature to feature and from the
    /// last back to the first.
    Turning {
        /// Actions a round.
        actions: usize,
        /// Rounds until the centre is back.
        turn_rounds: u64,
        /// Standard deviation of each coordinate around the centre, of length 1, before normalising.
        spread: f64,
    },
}

/// How a reward comes from its mean, live and in the logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
/// another panel's parameters do not shift what the others draw. The runner's purposes count from 0.
pub fn stream(seed: u64, run: u64, purpose: u64) -> Xoshiro256PlusPlus {
    let mix = |state: u64, value: u64| {
        // SplitMix64's finaliser: neighbouring seeds and runs become unrelated states.
        let mut z = (state ^ value).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    Xoshiro256PlusPlus::seed_from_u64(mix(mix(mix(0, seed), run), purpose))
}

impl Default for World {
    /// The paper's: its cube of live parameters, seen by the logs without drift.
    fn default() -> Self {
        let dimension = 5;
        Self {
            dimension,
            parameters: ParameterLaw::cube(1.0, 0.0, vec![0.0; dimension]),
            coverage: Coverage::Gaussian { diversity: 1.0 },
            log_rows: 2000,
            contexts: Contexts::Gaussian { actions: 5 },
            rewards: RewardModel::Gaussian,
            noise: 0.1,
        }
    }
}

impl ParameterLaw {
    /// The paper's cube of live parameters, and logs that miss some of it.
    pub fn cube(scale: f64, offset: f64, drift: Vec<f64>) -> Self {
        Self::ScaledWithOffset { low: 0.25, high: 0.55, scale, offset, drift }
    }
}

impl World {
    /// Checks everything that does not depend on what is drawn.
    pub fn check(&self) -> Result<()> {
        let d = self.dimension;
        let wrong = |name, range, value| Err(Error::Number { name, range, value });
        let numbers = |name, numbers: &[f64]| {
            let (words, range) = range(name);
            let outside = numbers.iter().find(|number| !range.contains(number));
            outside.map_or(Ok(()), |&number| wrong(name, words, number))
        };
        let number = |name, number| numbers(name, &[number]);
        let length = |name, expected: usize, found: usize| {
            if expected == found { Ok(()) } else { Err(Error::Length { name, expected, found }) }
        };
        let vector = |name, vector: &[f64]| {
            length(name, d, vector.len())?;
            numbers(name, vector)
        };
        let ordered = |low: &[f64], high: &[f64]| {
            let crossed = low.iter().zip(high).find(|(low, high)| high < low);
            crossed.map_or(Ok(()), |(_, &high)| wrong("high", "at least `low`", high))
        };
        let corners = |low: &[f64], high: &[f64]| {
            vector("low", low)?;
            vector("high", high)?;
            ordered(low, high)
        };
        number("dimension", d as f64)?;
        number("noise", self.noise)?;
        number("actions", self.actions() as f64)?;
        if self.actions() * d > 10_000_000 {
            return wrong("actions", "at most 10000000 divided by the dimension", self.actions() as f64);
        }
        match &self.parameters {
            ParameterLaw::Given { live, logged } => {
                vector("live", live)?;
                vector("logged", logged)?;
            }
            ParameterLaw::ScaledWithOffset { low, high, scale, offset, drift } => {
                for (name, value) in [("low", low), ("high", high), ("scale", scale), ("offset", offset)] {
                    number(name, *value)?;
                }
                ordered(&[*low], &[*high])?;
                vector("drift", drift)?;
            }
        }
        match &self.coverage {
            Coverage::Gaussian { diversity } => number("diversity", *diversity)?,
            Coverage::Box { low, high } => corners(low, high)?,
            Coverage::Counts { features, counts } => {
                length("counts", features.len(), counts.len())?;
                features.iter().try_for_each(|row| vector("features", row))?;
            }
        }
        match &self.contexts {
            Contexts::Gaussian { .. } => Ok(()),
            Contexts::Box { low, high, .. } => corners(low, high),
            Contexts::Fixed { features } => features.iter().try_for_each(|row| vector("features", row)),
            Contexts::Shifting { phases, phase_rounds, quiet, .. } => {
                if !(1..=d).contains(phases) {
                    return wrong("phases", "at least 1 and at most the dimension", *phases as f64);
                }
                number("phase_rounds", *phase_rounds as f64)?;
                number("quiet", *quiet)
            }
            Contexts::Turning { turn_rounds, spread, .. } => {
                number("turn_rounds", *turn_rounds as f64)?;
                number("spread", *spread)
            }
        }
    }

    /// Number of actions in a round.
    pub fn actions(&self) -> usize {
        match &self.contexts {
            Contexts::Gaussian { actions }
            | Contexts::Box { actions, .. }
            | Contexts::Shifting { actions, .. }
            | Contexts::Turning { actions, .. } => *actions,
            Contexts::Fixed { features } => features.len(),
        }
    }

    /// Live and logged parameter of one run.
    pub(crate) fn draw_parameters(&self, rng: &mut Xoshiro256PlusPlus) -> (Vec<f64>, Vec<f64>) {
        match &self.parameters {
            ParameterLaw::Given { live, logged } => (live.clone(), logged.clone()),
            ParameterLaw::ScaledWithOffset { low, high, scale, offset, drift } => {
                let live: Vec<f64> = (0..self.dimension).map(|_| uniform(rng, *low, *high)).collect();
                let logged = live
                    .iter()
                    .zip(drift)
                    .map(|(value, drift)| scale * value + uniform(rng, 0.0, *offset) - drift)
                    .collect();
                (live, logged)
            }
        }
    }

    /// The logs of one run.
    pub(crate) fn draw_logs(&self, logged: &[f64], rng: &mut Xoshiro256PlusPlus) -> Result<RidgeStatistic> {
        let mut logs = RidgeStatistic::new(self.dimension)?;
        let mut row = vec![0.0; self.dimension];
        let counts = match &self.coverage {
            Coverage::Counts { counts, .. } => &counts[..],
            _ => &[self.log_rows as u64],
        };
        for (place, &count) in counts.iter().enumerate() {
            for _ in 0..count {
                match &self.coverage {
                    Coverage::Gaussian { diversity } => draw_direction(&mut row, rng, |row| {
                        row[1..].iter_mut().for_each(|feature| *feature *= diversity);
                    }),
                    Coverage::Box { low, high } => draw_box(&mut row, low, high, rng),
                    Coverage::Counts { features, .. } => row.copy_from_slice(&features[place]),
                }
                let luck = self.draw_luck(rng);
                logs.observe(&row, self.reward(dot(&row, logged), luck)?)?;
            }
        }
        Ok(logs)
    }

    /// Features of one round's actions, row after row. Rounds count from 1.
    pub(crate) fn draw_round(&self, round: u64, features: &mut [f64], rng: &mut Xoshiro256PlusPlus) {
        let d = self.dimension;
        for (action, row) in features.chunks_exact_mut(d).enumerate() {
            match &self.contexts {
                Contexts::Gaussian { .. } => draw_direction(row, rng, |_| ()),
                Contexts::Box { low, high, .. } => draw_box(row, low, high, rng),
                Contexts::Fixed { features } => row.copy_from_slice(&features[action]),
                // Every round draws the same numbers, whatever its phase.
                Contexts::Shifting { phases, phase_rounds, quiet, .. } => draw_direction(row, rng, |row| {
                    let phase = (round - 1) / phase_rounds % *phases as u64;
                    for (i, feature) in row.iter_mut().enumerate() {
                        let group = i * phases / d;
                        *feature *= if group as u64 == phase { 1.0 } else { *quiet };
                    }
                }),
                Contexts::Turning { turn_rounds, spread, .. } => draw_direction(row, rng, |row| {
                    for feature in row.iter_mut() {
                        *feature *= spread;
                    }
                    let (from, to, angle) = turned((round - 1) % turn_rounds, *turn_rounds, d);
                    row[from] += angle.cos();
                    row[to] += angle.sin();
                }),
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

/// A Gaussian vector, scaled to length 1 after some change.
fn draw_direction(row: &mut [f64], rng: &mut Xoshiro256PlusPlus, change: impl FnOnce(&mut [f64])) {
    row.fill_with(|| StandardNormal.sample(rng));
    change(row);
    normalise(row);
}

/// Between which two features a turning centre stands, and the angle it has gone from the first of them.
fn turned(gone: u64, rounds: u64, dimension: usize) -> (usize, usize, f64) {
    let place = gone as f64 / rounds as f64 * dimension as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the dimension")]
    let from = (place as usize).min(dimension - 1);
    (from, (from + 1) % dimension, (place - from as f64) * FRAC_PI_2)
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

#[cfg(test)]
mod tests;
