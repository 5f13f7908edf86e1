//! Whether the world has moved on since a bandit is watched, by the rewards of its own decisions.
//!
//! They are looked at in the order of the decisions, not of the rewards: clicks come at once and their absence an hour later, and whoever
//! looks at what came first sees nothing but clicks. So a reward waits until all decisions before its own have theirs, or have been
//! given up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truenorth_monitor::{Evidence, Monitor, Moved};

use crate::bandit::Bandit;
use crate::error::{Error, Result};
use crate::round::is_usable;

/// Features up to which a bandit is watched: what a reward costs grows with their square.
const MOST_WATCHED: usize = 300;

/// Rewards that wait at most. If more would, the oldest decision without a reward is given up.
const MOST_WAITING: usize = 5000;

/// A row, and what it paid.
type Waiting = (Vec<(usize, f64)>, f64);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Watch {
    monitor: Monitor,
    /// By the round of their decision.
    waiting: BTreeMap<u64, Waiting>,
    /// Up to this round all is looked at; what comes later is not.
    passed: u64,
}

impl Watch {
    /// Whether its parts fit together and to a policy of so many features, as they do unless bytes were damaged.
    pub(crate) fn is_sound(&self, width: usize) -> bool {
        let row = |(row, reward): &Waiting| {
            is_usable(*reward) && row.iter().all(|(place, value)| *place < width && is_usable(*value))
        };
        self.monitor.is_sound() && self.monitor.dimension() <= width && self.waiting.values().all(row)
    }

    /// Looks at a reward, and at those that waited for it. None is refused, since the policy took them, but for features that are too
    /// many.
    fn reward(&mut self, round: u64, row: Waiting, oldest: Option<u64>) -> truenorth_monitor::Result<()> {
        if round > self.passed {
            self.waiting.insert(round, row);
        }
        while let Some(&round) = self.waiting.keys().next() {
            if oldest.is_some_and(|oldest| oldest < round) && self.waiting.len() <= MOST_WAITING {
                break;
            }
            if let Some((features, reward)) = self.waiting.remove(&round) {
                self.monitor.observe(&features, reward)?;
            }
            self.passed = round;
        }
        Ok(())
    }
}

/// What a bandit that is watched says of the world.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Watched {
    /// Probability of a false alarm at most, however long and often one looks.
    pub level: f64,
    /// Rewards that were watched.
    pub rounds: u64,
    /// Whether there were enough of them to watch anything.
    pub watching: bool,
    /// Whether anything has moved.
    pub moved: bool,
    /// How strong the evidence for that is.
    #[serde(flatten)]
    pub evidence: Evidence,
    /// Features that moved, by name.
    pub features: Vec<WatchedFeature>,
}

/// A feature that moved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WatchedFeature {
    /// Its name.
    pub name: String,
    /// What is known of its movement.
    #[serde(flatten)]
    pub moved: Moved,
}

impl Bandit {
    /// Watches, from now on, whether the world moves: see [`Monitor`]. A watch that is on begins anew.
    ///
    /// A bandit of more than 300 features is not watched, and one that grows beyond is watched no longer.
    pub fn watch(&mut self, level: f64) -> Result<()> {
        let width = self.policy.dimension();
        if width > MOST_WATCHED {
            return Err(Error::invalid(format!(
                "{width} features are too many to watch: {MOST_WATCHED} can be"
            )));
        }
        // A place that is kept for a feature to come is none yet.
        let known = if self.encoder.features().is_empty() { 0 } else { width };
        let monitor = Monitor::new(known, level).map_err(|error| Error::invalid(error.to_string()))?;
        // Decisions that were made before are none of its own.
        let passed = self.policy.counts().rounds;
        self.watch = Some(Box::new(Watch { monitor, waiting: BTreeMap::new(), passed }));
        Ok(())
    }

    /// What the watch has seen, if there is one.
    pub fn watched(&self) -> Option<Watched> {
        let monitor = self.monitor()?;
        let evidence = monitor.evidence();
        let feature = |(place, name): (usize, &str)| {
            let moved = monitor.feature(place);
            moved.evidence.alarm.is_some().then(|| WatchedFeature { name: name.to_owned(), moved })
        };
        Some(Watched {
            level: monitor.level(),
            rounds: monitor.rounds(),
            watching: monitor.is_watching(),
            moved: evidence.alarm.is_some(),
            evidence,
            features: self.names().take(monitor.dimension()).enumerate().filter_map(feature).collect(),
        })
    }

    /// The watch itself, if there is one.
    pub fn monitor(&self) -> Option<&Monitor> {
        self.watch.as_ref().map(|watch| &watch.monitor)
    }

    /// A reward of a decision, just learned.
    pub(crate) fn watch_row(&mut self, round: u64, row: Vec<(usize, f64)>, reward: f64) {
        let Some(watch) = &mut self.watch else { return };
        let width = self.policy.dimension();
        watch.monitor.grow(width.min(MOST_WATCHED));
        let oldest = self.ledger.open.keys().next().copied();
        if width > MOST_WATCHED || watch.reward(round, (row, reward), oldest).is_err() {
            self.watch = None;
        }
    }
}
