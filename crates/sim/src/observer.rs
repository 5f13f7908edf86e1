//! Observers: the runner owns the loop, they record. Regret and shares always; what else, its caller attaches.

use serde::{Deserialize, Serialize};
use truenorth::{Branch, Choice, Policy};

use crate::error::Result;

/// One decided round.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Round, counted from 1.
    pub round: u64,
    /// The decision.
    pub choice: &'a Choice,
    /// How much the best action's mean was above the chosen one's.
    pub regret: f64,
    /// Who decided; the reward is not learned yet.
    pub policy: &'a Policy,
}

/// Sees every round of one policy in one run.
pub trait Observer {
    /// What it has seen when the run is over.
    type Seen;

    /// Takes note of one round.
    fn record(&mut self, step: &Step<'_>) -> Result<()>;

    /// Takes note of the policy after the last reward.
    fn finish(self, policy: &Policy) -> Result<Self::Seen>;
}

/// Sees nothing.
impl Observer for () {
    type Seen = ();

    fn record(&mut self, _: &Step<'_>) -> Result<()> {
        Ok(())
    }

    fn finish(self, _: &Policy) -> Result<()> {
        Ok(())
    }
}

/// Sees some policies.
impl<O: Observer> Observer for Option<O> {
    type Seen = Option<O::Seen>;

    fn record(&mut self, step: &Step<'_>) -> Result<()> {
        self.as_mut().map_or(Ok(()), |observer| observer.record(step))
    }

    fn finish(self, policy: &Policy) -> Result<Self::Seen> {
        self.map(|observer| observer.finish(policy)).transpose()
    }
}

/// Rounds at which a curve is kept: all, or `points` of them evenly spread, the last one included.
pub fn thinned_rounds(horizon: u64, points: u64) -> Vec<u64> {
    let points = points.clamp(1, horizon.max(1));
    // u128: a horizon near 2^64 times the points would not fit.
    (1..=points)
        .map(|i| u64::try_from(u128::from(i) * u128::from(horizon) / u128::from(points)).unwrap_or(horizon))
        .collect()
}

/// Cumulative regret at some rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegretCurve {
    rounds: Vec<u64>,
    /// The curve's values so far.
    pub values: Vec<f64>,
    /// Regret of all rounds so far.
    pub total: f64,
}

impl RegretCurve {
    /// A curve that will be kept at these rounds, in increasing order.
    pub fn new(rounds: Vec<u64>) -> Self {
        Self { values: Vec::with_capacity(rounds.len()), rounds, total: 0.0 }
    }

    pub(crate) fn record(&mut self, step: &Step<'_>) {
        self.total += step.regret;
        if self.rounds.get(self.values.len()) == Some(&step.round) {
            self.values.push(self.total);
        }
    }
}

/// Who decided: plays of each layer and of the informed branch, in equal parts of the horizon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shares {
    horizon: u64,
    /// `layers[part][layer]`: rounds of that part which the layer played.
    pub layers: Vec<Vec<u64>>,
    /// `informed[part]`: rounds in which the logs set the UCB of the chosen action.
    pub informed: Vec<u64>,
}

impl Shares {
    /// For `layers` layers, in at most `parts` parts.
    pub fn new(horizon: u64, parts: u64, layers: usize) -> Self {
        let parts = usize::try_from(parts.clamp(1, horizon.max(1))).unwrap_or(1);
        Self { horizon, layers: vec![vec![0; layers]; parts], informed: vec![0; parts] }
    }

    pub(crate) fn record(&mut self, step: &Step<'_>) {
        let parts = self.informed.len() as u128;
        let part = u128::from(step.round - 1) * parts / u128::from(self.horizon.max(step.round));
        let part = usize::try_from(part).unwrap_or(0);
        if let Some(plays) = self.layers[part].get_mut(step.choice.decision.layer as usize) {
            *plays += 1;
        }
        self.informed[part] += u64::from(step.choice.branch != Branch::Online);
    }

    /// Adds what another run of the same experiment saw.
    pub fn add(&mut self, other: &Self) {
        let mine = self.layers.iter_mut().flatten().chain(&mut self.informed);
        let theirs = other.layers.iter().flatten().chain(&other.informed);
        mine.zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_rounds_increase_to_the_horizon() {
        assert_eq!(thinned_rounds(3, 500), [1, 2, 3]);
        assert_eq!(thinned_rounds(10, 4), [2, 5, 7, 10]);
        let many = thinned_rounds(20_000, 500);
        assert_eq!((many.len(), many[0], many[499]), (500, 40, 20_000));
        assert!(thinned_rounds(u64::MAX, 500).windows(2).all(|pair| pair[0] < pair[1]));
    }
}
