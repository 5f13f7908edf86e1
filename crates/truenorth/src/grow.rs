//! What a running policy may be given more of: features, rows that others decided, logs.

use std::sync::Arc;

use crate::arms::arm;
use crate::error::Result;
use crate::favourite::Favourite;
use crate::given::Given;
use crate::policy::{Family, Policy};
use crate::round::Row;
use crate::score::Scoreboard;
use crate::settings::Settings;
use crate::statistic::RidgeStatistic;

impl Family {
    /// Adds features, at the prior's mean and width; after so many rounds.
    fn grow(&mut self, given: &Given, rounds: u64) -> Result<()> {
        let dimension = given.settings.dimension;
        match self {
            Self::Confidence(policy) => policy.grow(given, rounds),
            Self::Posterior(policy) => policy.grow(given),
            Self::Offline(policy) => {
                policy.logs = Favourite::new(given)?.logs;
                policy.data.grow(dimension)
            }
            Self::Arms(policy) => policy.data.grow(dimension),
        }
    }

    /// Takes the logs as they are given now; with so many rounds and rewards of this season so far.
    fn read_logs(&mut self, given: &Given, season: (u64, u64)) -> Result<()> {
        match self {
            Self::Confidence(policy) => policy.read_logs(given),
            Self::Posterior(policy) => policy.read_logs(given, season),
            Self::Offline(policy) => {
                policy.logs = Favourite::new(given)?.logs;
                Ok(())
            }
            Self::Arms(_) => Ok(()),
        }
    }
}

impl Policy {
    /// Adds features, up to this number of them. The new ones come last; nothing is known of them in logs or live data, so
    /// they start at the prior's mean and width. O(d³).
    ///
    /// ```
    /// use truenorth::{Actions, Policy};
    ///
    /// let mut policy = Policy::builder(2).build()?;
    /// let before = Actions::new(&[1.0, 0.0, 0.0, 1.0], 2)?;
    /// let open = policy.choose(before)?;
    /// policy.grow(3)?;
    /// policy.choose(Actions::new(&[1.0, 0.0, 0.0, 0.0, 0.0, 1.0], 3)?)?;
    /// policy.learn(open.rewarded(before, 0.7))?; // Its third feature is 0.
    /// # Ok::<(), truenorth::Error>(())
    /// ```
    ///
    /// The policy is then what one of so many features would be if the new ones had been 0 so far, and means and widths of
    /// actions without them stay as they are, but for what depends on d by its formula:
    ///
    /// | of | depends on d |
    /// |---|---|
    /// | posteriors | the index of actions that were long left alone (t/d); what `truenorth` and `truenorth-sampling` may spend, and the floor of the latter |
    /// | a belief | from the next fit on, which comes at the latest with the first action that has a new feature: the prior share of columns that were drawn anew, and s² = S²/d where S is told |
    /// | `offline-only` | its ridge, d σ²/S², where S is told |
    /// | `ellipsoidal-minucb-3d` | ρ̂ of the epoch |
    /// | `min-ucb` | its confidence, which is shared by all arms |
    ///
    /// S bounds the length of all coefficients, the new ones included. A certificate that was told says nothing more: where
    /// the logs never had a feature, its logged coefficient may be taken to be the live one, which has not drifted (and is
    /// then part of the logged parameter, which S bounds). Without one, `truenorth-confidence` lets it drift by 2S as any.
    ///
    /// A number of features that is smaller than that so far is an error.
    pub fn grow(&mut self, dimension: usize) -> Result<()> {
        let settings = self.settings();
        let before = settings.dimension;
        let mut logs = settings.logs.clone();
        logs.grow(dimension)?;
        if dimension == before {
            return Ok(());
        }
        let certificate = settings.certificate.as_ref().map(|told| told.grown(dimension));
        let (given, _) = Given::new(Settings { dimension, logs, certificate, ..settings.clone() })?;
        let mut family = self.family.clone();
        family.grow(&given, self.counts.rounds)?;
        self.unseen.extend(given.unseen.iter().filter(|&&column| column >= before));
        (self.given, self.family, self.board) = (Arc::new(given), family, Scoreboard::default());
        self.grown_from.push(before);
        Ok(())
    }

    /// Learns a row that this policy did not decide, as live data: of a pilot, or of another policy in the same world.
    /// Rows of another world, or another time, are logs: see [`add_logs`](Self::add_logs).
    ///
    /// ```
    /// use truenorth::Policy;
    ///
    /// let mut policy = Policy::builder(2).build()?;
    /// policy.learn_row(&[0.0, 1.0], 0.4)?;
    /// assert_eq!((policy.counts().rounds, policy.counts().rewards), (0, 1));
    /// # Ok::<(), truenorth::Error>(())
    /// ```
    ///
    /// Guarantees go on to hold if whoever decided it, and whoever hands it on, did so without regard to its noise. In a
    /// policy with layers it counts for layer 0 alone.
    pub fn learn_row<'a>(&mut self, features: impl Into<Row<'a>>, reward: f64) -> Result<()> {
        let features = features.into();
        if let Family::Arms(_) = self.family {
            arm(0, features)?;
        }
        // The paper's bounds allow any layer whose share in the data is known before its noise (predictable masks). Layer 0
        // is that for which no reward decides what is a candidate; more than one would count the row as often in the
        // learned certificate, which merges the layers.
        self.learn_at(0, features, reward)
    }

    /// Adds logs. All that follows from the logs follows from all of them then: units, level, noise, norm bound, and what
    /// is believed. O(d³).
    ///
    /// A method without a use for logs ignores these as it does the others. One with a pooled branch takes them before the
    /// first reward alone, because its intervals hold for a weight on the logs that is fixed before. `min-ucb` and
    /// `warm-suplinucb` take them at any time; like rewards, they are to come without regard to their noise.
    pub fn add_logs(&mut self, more: &RidgeStatistic) -> Result<()> {
        let mut settings = self.settings().clone();
        settings.logs.merge(more)?;
        let used = settings.method.uses_logs();
        let (given, _) = Given::new(settings)?;
        if used {
            let (counts, before) = (&self.counts, &self.before);
            let season = (counts.rounds - before.rounds, counts.rewards - before.rewards);
            let mut family = self.family.clone();
            family.read_logs(&given, season)?;
            self.family = family;
        }
        self.unseen.retain(|column| given.unseen.contains(column));
        self.given = Arc::new(given);
        Ok(())
    }
}
