//! Live data alone, beside a belief that rests on logs as well. It is asked in one round of several, so rewards wait until then, and are
//! learned together, in one pass over memory; every number is the one that it would have been.
//!
//! Of many features, and where nothing it might say would be acted on, it rests: it learns nothing until the next fit, which knows
//! all rewards, and stands for the rewards before the last one.

use std::borrow::Cow;

use crate::kernel::Carried;
use crate::posterior::Known;
use crate::round::Row;
use crate::score::Scoreboard;

/// Features from which on a factor does not stay in the first cache.
const WORTH: usize = 128;
/// Rewards that wait, at most.
const WAITING: usize = 8;

/// See the module's head.
#[derive(Debug, Clone)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "Saved", from = "Saved")
)]
pub(crate) struct Later {
    known: Known,
    rests: bool,
    /// Features of the rewards that wait, one after the other.
    features: Vec<f64>,
    rewards: Vec<f64>,
    carried: Vec<Carried>,
}

/// The same without rewards that wait.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Saved {
    known: Known,
    rests: bool,
}

impl From<Saved> for Later {
    fn from(Saved { known, rests }: Saved) -> Self {
        Self { rests, ..Self::from(known) }
    }
}

impl From<Later> for Saved {
    fn from(mut later: Later) -> Self {
        later.catch_up();
        Self { known: later.known, rests: later.rests }
    }
}

impl From<Known> for Later {
    fn from(known: Known) -> Self {
        Self { known, rests: false, features: Vec::new(), rewards: Vec::new(), carried: Vec::new() }
    }
}

impl Later {
    /// All that is known, but for rewards that wait.
    pub(crate) fn so_far(&self) -> &Known {
        &self.known
    }

    /// All that is known.
    pub(crate) fn known(&self) -> Cow<'_, Known> {
        if self.is_behind() { Cow::Owned(Saved::from(self.clone()).known) } else { Cow::Borrowed(&self.known) }
    }

    /// Whether it learns nothing until the next fit.
    #[inline]
    pub(crate) fn rests(&self) -> bool {
        self.rests
    }

    /// Has it rest, or learn from now on.
    pub(crate) fn set_rests(&mut self, rests: bool) {
        // Where rows touch a few features each, a reward costs little.
        self.rests = rests && self.known.whole().is_some();
    }

    /// Whether rewards wait.
    #[inline]
    pub(crate) fn is_behind(&self) -> bool {
        !self.rewards.is_empty()
    }

    /// Takes in the rewards that wait.
    pub(crate) fn catch_up(&mut self) {
        let Self { known, features, rewards, carried, .. } = self;
        if let Known::Whole(precision) = known
            && !rewards.is_empty()
        {
            let mut rows = [(&[][..], 0.0); WAITING];
            let waiting = features.chunks_exact(features.len() / rewards.len()).zip(&*rewards);
            for (row, (features, reward)) in rows.iter_mut().zip(waiting) {
                *row = (features, *reward);
            }
            precision.update_many(&rows[..rewards.len()], carried);
        }
        features.clear();
        rewards.clear();
    }

    /// Learns a reward, now or later, unless it rests.
    #[inline]
    pub(crate) fn learn(&mut self, features: Row<'_>, reward: f64, board: &mut Scoreboard) {
        if self.rests {
            return;
        }
        if features.values().len() < WORTH || matches!(self.known, Known::Parted(_)) {
            self.known.update(features, reward, board);
            return;
        }
        if self.rewards.capacity() == 0 {
            self.features.reserve_exact(WAITING * features.values().len());
            self.rewards.reserve_exact(WAITING);
            self.carried.resize_with(WAITING, || Carried::of(features.values()));
        }
        self.features.extend_from_slice(features.values());
        self.rewards.push(reward);
        if self.rewards.len() == WAITING {
            self.catch_up();
        }
    }

    /// Learns several rewards now, unless it rests.
    pub(crate) fn learn_many(&mut self, rows: &[(Row<'_>, f64)], level: f64, board: &mut Scoreboard) {
        if !self.rests {
            self.catch_up();
            self.known.update_many(rows, level, board);
        }
    }

    /// What is known, to be changed, once nothing waits.
    pub(crate) fn caught_up(&mut self) -> &mut Known {
        self.catch_up();
        &mut self.known
    }

    /// Takes over what a fit has found, which knows of the rewards that wait.
    pub(crate) fn become_like(&mut self, found: Known) {
        self.features.clear();
        self.rewards.clear();
        self.known.become_like(found);
    }
}
