//! The pilot, checked: its sums, its rows where they are known, how many of them are independent, and how many
//! rewards there are to learn from.

use std::collections::{HashMap, HashSet};

use truenorth::{Result, RidgeStatistic, check};

use crate::view::Pilot;

/// A pilot whose parts fit together.
#[derive(Debug)]
pub(crate) struct Live<'a> {
    pub(crate) sums: RidgeStatistic,
    pub(crate) rows: Option<Rows<'a>>,
    /// Rounds, or rows.
    pub(crate) independent: u64,
    pub(crate) outcomes: Outcomes,
}

/// What can be learned from rewards most of which are the same, clicks above all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcomes {
    /// Rewards other than the most frequent one, if that is more than half of them; else all of them. None of a
    /// summary, whose rewards nobody knows.
    pub(crate) live: Option<u64>,
    /// About as many of the logs, if most live rewards are 0.
    pub(crate) logged: Option<f64>,
    /// Live rewards are 0 or 1.
    pub(crate) clicks: bool,
    /// The live reward that more than half of them are.
    pub(crate) usual: Option<f64>,
}

impl Outcomes {
    fn of(rewards: &[f64]) -> Self {
        let mut counts = HashMap::new();
        for reward in rewards {
            // -0 is 0.
            *counts.entry((reward + 0.0).to_bits()).or_insert(0_u64) += 1;
        }
        let all = rewards.len() as u64;
        let (most, count) = counts.iter().max_by_key(|entry| entry.1).map_or((0, 0), |(bits, n)| (*bits, *n));
        let live = if 2 * count > all { all - count } else { all };
        let clicks =
            !counts.is_empty() && counts.keys().all(|bits| [0.0f64, 1.0].map(f64::to_bits).contains(bits));
        // Until the logs are known: the mean square of the others, by which the logs' sum of squares is divided.
        let squares: f64 = rewards.iter().map(|reward| reward * reward).sum();
        let logged = (2 * count > all && most == 0 && live > 0).then(|| squares / live as f64);
        let usual = (2 * count > all).then(|| f64::from_bits(most));
        Self { live: Some(live), logged, clicks, usual }
    }

    /// With what the logs' sum of squared rewards tells.
    fn beside(self, logs: &RidgeStatistic) -> Self {
        let squares = logs.sum_squares().max(0.0);
        let logged = self.logged.map(|square| squares / square);
        Self { logged: if squares > 0.0 { logged } else { Some(0.0) }, ..self }
    }

    /// By how much more of the same there would be so many live ones in most cases; none where nobody knows.
    pub(crate) fn missing(&self, wanted: f64) -> Option<f64> {
        match self.live {
            Some(0) => None,
            // Two standard deviations above.
            Some(live) => Some((wanted + 2.0 * wanted.sqrt()) / live as f64),
            None => Some(1.0),
        }
        .filter(|_| self.logged.is_none_or(|logged| logged >= wanted))
    }

    /// The fewer of both, where anything is known.
    pub(crate) fn fewest(&self) -> f64 {
        self.live.map_or(f64::INFINITY, |live| live as f64).min(self.logged.unwrap_or(f64::INFINITY))
    }
}

/// The rows of a pilot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) features: &'a [f64],
    pub(crate) rewards: &'a [f64],
    pub(crate) rounds: Option<&'a [usize]>,
}

impl<'a> Live<'a> {
    pub(crate) fn of(pilot: &'a Pilot, logs: &RidgeStatistic) -> Result<Self> {
        let dimension = logs.dimension();
        match pilot {
            Pilot::Rows { features, rewards, rounds } => {
                check::length("the pilot's features", rewards.len() * dimension, features.len())?;
                let rounds = rounds.as_deref();
                check::length(
                    "the pilot's rounds",
                    rewards.len(),
                    rounds.map_or(rewards.len(), <[usize]>::len),
                )?;
                let mut sums = RidgeStatistic::new(dimension)?;
                for (features, &reward) in features.chunks_exact(dimension).zip(rewards) {
                    sums.observe(features, reward)?;
                }
                let distinct = |rounds: &[usize]| rounds.iter().collect::<HashSet<_>>().len();
                let independent = rounds.map_or(rewards.len(), distinct) as u64;
                let outcomes = Outcomes::of(rewards).beside(logs);
                Ok(Self { sums, rows: Some(Rows { features, rewards, rounds }), independent, outcomes })
            }
            Pilot::Statistic(sums) => {
                check::length("the pilot's moment", dimension, sums.dimension())?;
                let live = (sums.sum_squares() <= 0.0).then_some(0);
                let outcomes = Outcomes { live, logged: None, clicks: false, usual: None }.beside(logs);
                Ok(Self { sums: sums.clone(), rows: None, independent: sums.count(), outcomes })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_counted_beside_the_most_frequent_one() {
        let logs = RidgeStatistic::from_sums(50, &[50.0], &[8.0], 8.0).unwrap();
        let found = |rewards: &[f64]| Outcomes::of(rewards).beside(&logs);
        let clicks = found(&[0.0, 0.0, -0.0, 1.0, 0.0, 1.0]);
        assert_eq!((clicks.live, clicks.logged, clicks.clicks), (Some(2), Some(8.0), true));
        // Purchases of 2 on average square: 8 of the logs are two of them.
        let purchases = found(&[0.0, 0.0, 0.0, 2.0]);
        assert_eq!((purchases.live, purchases.logged, purchases.clicks), (Some(1), Some(2.0), false));
        let numbers = found(&[0.3, 0.5, 0.9]);
        assert!(
            numbers.live == Some(3) && numbers.logged.is_none() && (numbers.fewest() - 3.0).abs() < 1e-12
        );
        let silent = Outcomes::of(&[0.0; 9]).beside(&RidgeStatistic::new(1).unwrap());
        assert!(silent.live == Some(0) && silent.logged == Some(0.0) && silent.clicks);
    }
}
