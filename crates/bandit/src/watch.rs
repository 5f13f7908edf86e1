//! Whether the world has moved on since a bandit is watched: its own rewards, in the order in which they are learned.

use serde::Serialize;
use truenorth_monitor::{Evidence, Monitor, Moved};

use crate::bandit::Bandit;
use crate::error::{Error, Result};

/// Features up to which a bandit is watched: what a reward costs grows with their square.
const MOST_WATCHED: usize = 500;

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
    /// A bandit of more than 500 features is not watched, and one that grows beyond is watched no longer.
    pub fn watch(&mut self, level: f64) -> Result<()> {
        let width = self.policy.dimension();
        if width > MOST_WATCHED {
            return Err(Error::invalid(format!(
                "{width} features are too many to watch: {MOST_WATCHED} can be"
            )));
        }
        let monitor = Monitor::new(width, level).map_err(|error| Error::invalid(error.to_string()))?;
        self.monitor = Some(Box::new(monitor));
        Ok(())
    }

    /// What the watch has seen, if there is one.
    pub fn watched(&self) -> Option<Watched> {
        let monitor = self.monitor.as_ref()?;
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
        self.monitor.as_deref()
    }

    /// A reward of a decision, just learned.
    pub(crate) fn watch_row(&mut self, row: impl Iterator<Item = (usize, f64)>, reward: f64) {
        let width = self.policy.dimension();
        let Some(monitor) = &mut self.monitor else { return };
        monitor.grow(width.min(MOST_WATCHED));
        let row: Vec<(usize, f64)> = row.collect();
        // What the policy took cannot be refused but for features that are too many.
        if width > MOST_WATCHED || monitor.observe(&row, reward).is_err() {
            self.monitor = None;
        }
    }
}
