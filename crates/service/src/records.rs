//! Bodies of records: facts, and what they are about.

use serde::{Deserialize, Serialize};
use truenorth_bandit::Fact;
use truenorth_features::Event;

use crate::api::{Asked, Form, Refused, read_event};

/// A decision, and what was asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DecidedRecord<'a> {
    pub(crate) fact: Fact,
    /// Whether nothing is shown before it is activated.
    pub(crate) deferred: bool,
    /// As JSON.
    pub(crate) context: Option<&'a str>,
    pub(crate) actions: &'a str,
}

impl<'a> DecidedRecord<'a> {
    pub(crate) fn new(fact: Fact, asked: &'a Asked) -> Self {
        let context = asked.context.as_ref().map(|context| context.get());
        Self { fact, deferred: asked.deferred, context, actions: asked.actions.get() }
    }

    /// The event that it was made on.
    pub(crate) fn event(&self, form: &Form, event: &mut Event) -> Result<(), Refused> {
        read_event(self.context, self.actions, form, event)
    }
}

/// A reward.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PaidRecord {
    pub(crate) decision_id: String,
    pub(crate) reward: f64,
    pub(crate) played: Option<String>,
    pub(crate) becomes: Becomes,
    /// Its own id, where several add up.
    pub(crate) id: Option<String>,
}

/// What becomes of a reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Becomes {
    /// It is learned.
    Learned,
    /// It is part of a sum, which is learned when its time is over.
    Part,
    /// It is written down; the bandit is frozen.
    Noted,
}

/// The end of the time in which a reward may come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TimedOutRecord {
    pub(crate) decision_id: String,
    /// What is learned, if anything: the sum of what came, or the default.
    pub(crate) reward: Option<f64>,
}

/// A record's body as bytes.
pub(crate) fn body(record: &impl Serialize) -> Result<Vec<u8>, Refused> {
    postcard::to_stdvec(record).map_err(|error| Refused::unavailable(format!("a record: {error}")))
}

/// A record's body from bytes.
pub(crate) fn read<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, Refused> {
    postcard::from_bytes(body)
        .map_err(|error| Refused::unavailable(format!("its body cannot be read: {error}")))
}
