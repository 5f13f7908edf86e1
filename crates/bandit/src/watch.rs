//! Whether the world has moved on since a bandit is watched, by the rewards of its own decisions.
//!
//! They are looked at in the order of the decisions, not of the rewards: clicks come at once and their absence an hour later, and whoever
//! looks at what came first sees nothing but clicks. So a reward waits until all decisions before its own have theirs, or have been
//! given up.
//!
//! Some rewards never come, and nobody says so. A decision without one is given up once more rewards wait for it than [`Patience`] allows:
//! by how far rewards have overtaken those that came late.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use truenorth_monitor::{Evidence, Monitor, Moved};

use crate::bandit::Bandit;
use crate::error::{Error, Result};
use crate::ledger::Open;
use crate::round::is_usable;

/// Features up to which a bandit is watched: what a reward costs grows with their square.
const MOST_WATCHED: usize = 300;

/// Rewards that wait at most, whatever has come late.
const MOST_WAITING: f64 = 5000.0;
/// Rewards that may always wait: calls that run beside each other answer in any order.
const LEAST_WAITING: f64 = 50.0;
/// What a reward leaves of the patience: half of it after 200.
const KEPT: f64 = 1.0 - 1.0 / 300.0;
/// How much more rewards may wait than have overtaken a late one so far.
const MARGIN: f64 = 2.0;
/// What the patience grows by when a decision was given up too soon. Where a reward in thirty comes too late, it no longer shrinks.
const TOO_SOON: f64 = 1.1;

/// A row, and what it paid.
type Waiting = (Vec<(usize, f64)>, f64);

/// How many rewards may wait for one that is missing.
///
/// At first nobody knows how late rewards come, so that many may. From then on it is twice as many as have overtaken a late reward,
/// and less and less where none comes late.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Patience {
    rewards: f64,
    /// Where no reward is lost, nothing is to be learned, and all that is late is waited for.
    none_is_lost: bool,
}

impl Patience {
    fn new(none_is_lost: bool) -> Self {
        Self { rewards: MOST_WAITING, none_is_lost }
    }

    fn is_sound(self) -> bool {
        (LEAST_WAITING..=MOST_WAITING).contains(&self.rewards)
    }

    /// A reward came that so many had overtaken; none if its decision had been given up.
    fn see(&mut self, overtaken: Option<usize>) {
        if self.none_is_lost {
            return;
        }
        let wanted = match overtaken {
            Some(count) => (self.rewards * KEPT).max(MARGIN * count as f64),
            None => self.rewards * TOO_SOON,
        };
        self.rewards = wanted.clamp(LEAST_WAITING, MOST_WAITING);
    }

    fn is_over(self, waiting: usize) -> bool {
        waiting as f64 > self.rewards
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Watch {
    monitor: Monitor,
    /// By the round of their decision.
    waiting: BTreeMap<u64, Waiting>,
    /// Up to this round all is looked at or given up; what comes later is not looked at.
    passed: u64,
    patience: Patience,
}

impl Watch {
    /// Whether its parts fit together and to a policy of so many features, as they do unless bytes were damaged.
    pub(crate) fn is_sound(&self, width: usize) -> bool {
        let row = |(row, reward): &Waiting| {
            is_usable(*reward) && row.iter().all(|(place, value)| *place < width && is_usable(*value))
        };
        self.monitor.is_sound()
            && self.monitor.dimension() <= width
            && self.waiting.values().all(row)
            && self.waiting.keys().next().is_none_or(|first| *first > self.passed)
            && self.patience.is_sound()
    }

    /// Looks at a reward, and at those that waited for it. None is refused, since the policy took them, but for features that are too
    /// many.
    fn reward(
        &mut self,
        round: u64,
        row: Waiting,
        open: &BTreeMap<u64, Arc<Open>>,
    ) -> truenorth_monitor::Result<()> {
        if round > self.passed {
            self.patience.see(Some(self.waiting.range(round..).count()));
            self.waiting.insert(round, row);
        } else {
            self.patience.see(None);
        }
        while let Some(&next) = self.waiting.keys().next() {
            // Those up to `passed` have been given up, whether or not they are still open.
            let missing = open.range(self.passed + 1..next).next().is_some();
            if missing && !self.patience.is_over(self.waiting.len()) {
                break;
            }
            if let Some((features, reward)) = self.waiting.remove(&next) {
                self.monitor.observe(&features, reward)?;
            }
            self.passed = next;
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
    /// Rewards that wait behind decisions without one.
    pub waiting: usize,
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
        self.watch_by(level, Patience::new(false))
    }

    /// The same where every decision has a reward in the end, as with a default after some time: then none is given up before 5,000
    /// rewards wait for it.
    pub fn watch_where_none_is_lost(&mut self, level: f64) -> Result<()> {
        self.watch_by(level, Patience::new(true))
    }

    /// Says whether every decision has a reward in the end, of a state whose sender may have seen that otherwise.
    pub fn expect_rewards(&mut self, none_is_lost: bool) {
        if let Some(watch) = self.watch.as_mut().filter(|watch| watch.patience.none_is_lost != none_is_lost) {
            watch.patience = Patience::new(none_is_lost);
        }
    }

    /// Watches anew, if it is watched.
    pub(crate) fn watch_anew(&mut self) -> Result<()> {
        let Some(watch) = &self.watch else { return Ok(()) };
        self.watch_by(watch.monitor.level(), Patience::new(watch.patience.none_is_lost))
    }

    fn watch_by(&mut self, level: f64, patience: Patience) -> Result<()> {
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
        self.watch = Some(Box::new(Watch { monitor, waiting: BTreeMap::new(), passed, patience }));
        Ok(())
    }

    /// What the watch has seen, if there is one.
    pub fn watched(&self) -> Option<Watched> {
        let Watch { monitor, waiting, .. } = self.watch.as_deref()?;
        let evidence = monitor.evidence();
        let feature = |(place, name): (usize, &str)| {
            let moved = monitor.feature(place);
            moved.evidence.alarm.is_some().then(|| WatchedFeature { name: name.to_owned(), moved })
        };
        Some(Watched {
            level: monitor.level(),
            rounds: monitor.rounds(),
            waiting: waiting.len(),
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
        if width > MOST_WATCHED || watch.reward(round, (row, reward), &self.ledger.open).is_err() {
            self.watch = None;
        }
    }
}
