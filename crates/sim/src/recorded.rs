//! Recorded rounds in which the reward of every action is known: any policy can be played against them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth::{Actions, FeatureView, RidgeStatistic, Settings};

use crate::error::Result;
use crate::observer::thinned_rounds;
use crate::world::{dot, stream};

/// Points of a curve, at most.
const POINTS: u64 = 200;
/// Ridge of the hindsight fit, relative to the mean square of a feature: it only has to make the fit unique.
const RIDGE: f64 = 1e-9;

/// Rounds of the same features.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// Number of features.
    pub dimension: usize,
    /// The features of all actions, row after row.
    pub features: Vec<f64>,
    /// A reward for each action.
    pub rewards: Vec<f64>,
    /// The actions of each round, at least one, by their rows; at least one round.
    pub rounds: Vec<Vec<usize>>,
}

/// One round in the order of a seed.
struct Shuffled {
    features: Vec<f64>,
    rewards: Vec<f64>,
    /// The mean reward of all actions with the same features: which of them comes first, and so is played, is
    /// decided by the order alone, and says nothing about a policy.
    credits: Vec<f64>,
}

/// What one policy earned in one order of the rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedOutcome {
    /// Mean reward of all rounds; actions that cannot be told apart count with their mean.
    pub mean_reward: f64,
    /// Sum of rewards above the mean of each round's actions, at [`Recording::points`].
    pub gained: Vec<f64>,
    /// Seconds in `choose` and `learn`.
    pub seconds: f64,
    /// What has been learned about each feature.
    pub features: Vec<FeatureView>,
}

impl Recording {
    /// Rounds at which curves are kept.
    pub fn points(&self) -> Vec<u64> {
        thinned_rounds(self.rounds.len() as u64, POINTS)
    }

    /// Mean reward of a uniform choice, exactly.
    pub fn random(&self) -> f64 {
        mean(self.rounds.iter().map(|round| mean(round.iter().map(|&row| self.rewards[row]))))
    }

    /// Coefficients fitted by least squares to all actions of all rounds.
    pub fn hindsight(&self) -> Result<Vec<f64>> {
        // Columns of all sizes are alike; powers of two make no rounding.
        let mut units = vec![0.0f64; self.dimension];
        for x in self.rounds.iter().flatten().map(|&row| self.row(row)) {
            units.iter_mut().zip(x).for_each(|(unit, x)| *unit = unit.max(x.abs()));
        }
        let units: Vec<f64> =
            units.iter().map(|&unit| if unit > 0.0 { unit.log2().ceil().exp2() } else { 1.0 }).collect();
        let mut all = RidgeStatistic::new(self.dimension)?;
        for &row in self.rounds.iter().flatten() {
            let x: Vec<f64> = self.row(row).iter().zip(&units).map(|(x, unit)| x / unit).collect();
            all.observe(&x, self.rewards[row])?;
        }
        let trace: f64 = all.gram().iter().step_by(self.dimension + 1).sum();
        let size = trace / self.dimension as f64;
        let estimate = all.estimate((RIDGE * size).max(1e-50))?;
        Ok(estimate.iter().zip(&units).map(|(coefficient, unit)| coefficient / unit).collect())
    }

    /// Mean reward of always taking the action with the largest `coefficients`ᵀx, the first of several, in
    /// the order of a seed. Policies meet the same ties in the same order.
    pub fn linear(&self, coefficients: &[f64], seed: u64) -> f64 {
        mean(self.shuffled(seed).map(|round| {
            let values = round.features.chunks_exact(self.dimension).map(|x| dot(x, coefficients));
            // Equal features may come out unequal by rounding.
            let best = values
                .enumerate()
                .reduce(|best, next| if next.1 > best.1 + 1e-12 * best.1.abs() { next } else { best });
            best.map_or(f64::NAN, |(action, _)| round.credits[action])
        }))
    }

    /// Plays a policy against the rounds in the order of a seed; none if it is to stop before the end.
    pub fn play(&self, settings: Settings, seed: u64, stop: &AtomicBool) -> Result<Option<RecordedOutcome>> {
        let mut policy = settings.seed(seed).build()?;
        let points = self.points();
        let (mut total, mut gain, mut gained) = (0.0, 0.0, Vec::with_capacity(points.len()));
        let mut seconds = 0.0;
        for (round, number) in self.shuffled(seed).zip(1..) {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let clock = Instant::now();
            let actions = Actions::new(&round.features, self.dimension)?;
            let choice = policy.choose(actions)?;
            policy.learn(choice.rewarded(actions, round.rewards[choice.action]))?;
            seconds += clock.elapsed().as_secs_f64();
            total += round.credits[choice.action];
            gain += round.credits[choice.action] - mean(round.rewards.iter().copied());
            if points.get(gained.len()) == Some(&number) {
                gained.push(gain);
            }
        }
        Ok(Some(RecordedOutcome {
            mean_reward: total / self.rounds.len() as f64,
            gained,
            seconds,
            features: policy.features()?,
        }))
    }

    /// The rounds in a random order, the actions of each in a random order.
    fn shuffled(&self, seed: u64) -> impl Iterator<Item = Shuffled> {
        let mut rng = stream(seed, 0, 5);
        let order = permutation(self.rounds.len(), &mut rng);
        order.into_iter().map(move |place| {
            let round = &self.rounds[place];
            let order = permutation(round.len(), &mut rng);
            let rows: Vec<usize> = order.into_iter().map(|action| round[action]).collect();
            let credit = |&row: &usize| {
                let twins = round.iter().filter(|&&other| self.row(other) == self.row(row));
                mean(twins.map(|&twin| self.rewards[twin]))
            };
            Shuffled {
                features: rows.iter().flat_map(|&row| self.row(row)).copied().collect(),
                rewards: rows.iter().map(|&row| self.rewards[row]).collect(),
                credits: rows.iter().map(credit).collect(),
            }
        })
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.features[row * self.dimension..][..self.dimension]
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Fisher and Yates.
fn permutation(count: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, rng.random_range(0..=last));
    }
    order
}
