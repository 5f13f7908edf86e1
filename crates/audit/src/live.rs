//! The pilot, checked: its sums, its rows where they are known, and how many of them are independent.

use std::collections::HashSet;

use truenorth::{Result, RidgeStatistic, check};

use crate::view::Pilot;

/// A pilot whose parts fit together.
#[derive(Debug)]
pub(crate) struct Live<'a> {
    pub(crate) sums: RidgeStatistic,
    pub(crate) rows: Option<Rows<'a>>,
    /// Rounds, or rows.
    pub(crate) independent: u64,
}

/// The rows of a pilot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) features: &'a [f64],
    pub(crate) rewards: &'a [f64],
    pub(crate) rounds: Option<&'a [usize]>,
}

impl<'a> Live<'a> {
    pub(crate) fn of(pilot: &'a Pilot, dimension: usize) -> Result<Self> {
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
                Ok(Self { sums, rows: Some(Rows { features, rewards, rounds }), independent })
            }
            Pilot::Statistic(sums) => {
                check::length("the pilot's moment", dimension, sums.dimension())?;
                Ok(Self { sums: sums.clone(), rows: None, independent: sums.count() })
            }
        }
    }
}
