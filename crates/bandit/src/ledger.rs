//! Decisions by their ids: open ones with what there is to learn, closed ones with how they ended. Both are bounded by
//! number and by age, so that rewards which never come take no memory for ever.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use truenorth::{Branch, Decision};

use crate::error::{Error, Result, shown};
use crate::parts::Limits;

/// How a decision stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate {
    /// It waits for its reward.
    Open,
    /// It has had its reward, which was this.
    Learned(f64),
    /// It has waited too long.
    Expired,
}

/// What was answered, but for the id of the decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Made {
    /// Hash of what was asked.
    pub(crate) content: u128,
    pub(crate) action: String,
    pub(crate) index: usize,
    pub(crate) probability: f64,
    pub(crate) mean: f64,
    pub(crate) lcb: f64,
    pub(crate) ucb: f64,
    pub(crate) branch: Branch,
    /// What was taken instead, by its place and id.
    pub(crate) played: Option<(usize, String)>,
    /// Where it is written down, by a number of whoever keeps a journal.
    pub(crate) number: u64,
}

impl Made {
    /// The action that was taken.
    pub(crate) fn taken(&self) -> &str {
        self.played.as_ref().map_or(&self.action, |(_, action)| action)
    }
}

/// A decision that waits for its reward.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Open {
    pub(crate) id: String,
    pub(crate) decision: Decision,
    pub(crate) made: Made,
    /// Features of the action that was taken that are not 0, in their order, without the intercept.
    pub(crate) features: Vec<(u32, f64)>,
}

/// A decision, or a row of others, that waits no longer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Closed {
    pub(crate) id: String,
    /// Rounds that had been decided when it was closed.
    pub(crate) at: u64,
    /// None if it has expired.
    pub(crate) reward: Option<f64>,
    /// None for a row of others.
    pub(crate) made: Option<Made>,
}

/// What is remembered under an id.
pub(crate) enum Found<'a> {
    Open(&'a Open),
    Closed(&'a Closed),
}

impl Found<'_> {
    pub(crate) fn fate(&self) -> Fate {
        match self {
            Self::Open(_) => Fate::Open,
            Self::Closed(closed) => closed.reward.map_or(Fate::Expired, Fate::Learned),
        }
    }

    /// What was answered, unless it is a row of others.
    pub(crate) fn made(&self) -> Option<&Made> {
        match self {
            Self::Open(open) => Some(&open.made),
            Self::Closed(closed) => closed.made.as_ref(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Place {
    /// Of this round.
    Open(u64),
    /// The one of this number, of all that were ever closed.
    Closed(u64),
}

#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    limits: Limits,
    /// By round. Shared, so that a copy of all is cheap.
    pub(crate) open: BTreeMap<u64, Arc<Open>>,
    /// In the order in which they were closed.
    pub(crate) closed: VecDeque<Arc<Closed>>,
    /// Closed ones that are forgotten.
    forgotten: u64,
    pub(crate) expired: u64,
    places: HashMap<String, Place>,
}

impl Ledger {
    pub(crate) fn new(limits: Limits) -> Self {
        let (open, closed, places) = Default::default();
        Self { limits, open, closed, forgotten: 0, expired: 0, places }
    }

    pub(crate) fn find(&self, id: &str) -> Option<Found<'_>> {
        match *self.places.get(id)? {
            Place::Open(round) => self.open.get(&round).map(|open| Found::Open(open)),
            Place::Closed(number) => self.closed.get(self.index(number)).map(|closed| Found::Closed(closed)),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "closed ones are in memory")]
    fn index(&self, number: u64) -> usize {
        (number - self.forgotten) as usize
    }

    /// Remembers a decision of the latest round; the oldest may expire.
    pub(crate) fn open(&mut self, open: Open) {
        let now = open.decision.round;
        self.places.insert(open.id.clone(), Place::Open(now));
        self.open.insert(now, Arc::new(open));
        while let Some(oldest) = self.open.first_entry() {
            if self.limits.keeps(*oldest.key(), now, self.places.len() - self.closed.len()) {
                break;
            }
            let oldest = oldest.remove();
            self.expire_now(oldest, now);
        }
        self.forget(now);
    }

    /// Lets an open decision wait no longer.
    pub(crate) fn expire(&mut self, id: &str, now: u64) {
        if let Some(&Place::Open(round)) = self.places.get(id)
            && let Some(open) = self.open.remove(&round)
        {
            self.expire_now(open, now);
            self.forget(now);
        }
    }

    fn expire_now(&mut self, open: Arc<Open>, now: u64) {
        let Open { id, made, .. } = Arc::unwrap_or_clone(open);
        self.expired += 1;
        self.push(Closed { id, at: now, reward: None, made: Some(made) });
    }

    /// Remembers that this id has had its reward.
    pub(crate) fn learned(&mut self, id: &str, now: u64, reward: f64) {
        let open = match self.places.get(id) {
            Some(&Place::Open(round)) => self.open.remove(&round),
            Some(&Place::Closed(number)) => {
                let index = self.index(number);
                Arc::make_mut(&mut self.closed[index]).reward = Some(reward);
                return;
            }
            None => None,
        };
        let made = open.map(|open| Arc::unwrap_or_clone(open).made);
        self.push(Closed { id: id.to_owned(), at: now, reward: Some(reward), made });
        self.forget(now);
    }

    fn push(&mut self, closed: Closed) {
        let number = self.forgotten + self.closed.len() as u64;
        self.places.insert(closed.id.clone(), Place::Closed(number));
        self.closed.push_back(Arc::new(closed));
    }

    fn forget(&mut self, now: u64) {
        while self.closed.front().is_some_and(|first| !self.limits.keeps(first.at, now, self.closed.len())) {
            self.forgotten += 1;
            if let Some(closed) = self.closed.pop_front() {
                self.places.remove(&closed.id);
            }
        }
    }

    /// From what was read, which may be anything, after so many rounds.
    pub(crate) fn restored(
        limits: Limits,
        (open, closed, expired): (Vec<Open>, Vec<Closed>, u64),
        now: u64,
    ) -> Result<Self> {
        let mut ledger = Self { expired, ..Self::new(limits) };
        let damaged = |id: &str| Error::damaged(format!("decision {} cannot be", shown(id)));
        let mut last = 0;
        for closed in closed {
            let made = closed.made.as_ref().is_none_or(Made::is_sound);
            let follows = last <= closed.at && closed.at <= now;
            if ledger.places.contains_key(&closed.id) || !(made && follows) {
                return Err(damaged(&closed.id));
            }
            last = closed.at;
            ledger.push(closed);
        }
        let mut last = 0;
        for open in open {
            let round = open.decision.round;
            let follows = last < round && round <= now;
            if ledger.places.contains_key(&open.id) || !(open.made.is_sound() && follows) {
                return Err(damaged(&open.id));
            }
            last = round;
            ledger.places.insert(open.id.clone(), Place::Open(round));
            ledger.open.insert(round, Arc::new(open));
        }
        let (open, closed) = (ledger.open.len(), ledger.closed.len());
        if open > limits.open || closed > limits.open {
            return Err(Error::damaged("it remembers more decisions than it may"));
        }
        Ok(ledger)
    }
}

impl Made {
    fn is_sound(&self) -> bool {
        let numbers = [self.probability, self.mean, self.lcb, self.ucb];
        numbers.iter().all(|number| !number.is_nan())
    }
}

impl Limits {
    /// Whether one of this round is still kept, where there are so many.
    fn keeps(&self, round: u64, now: u64, count: usize) -> bool {
        count <= self.open && now - round <= self.age
    }
}
