//! What happened, in its order: the one thing that must never be lost. All else follows from it.

use crate::api::Refused;

/// What can be wrong with a folder of data, in a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub(crate) String);

pub(crate) type Result<T> = std::result::Result<T, StoreError>;

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::unavailable(error.0)
    }
}

/// What happened, as it is written down; the bodies are in [`records`](crate::records).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A decision was made.
    Decided = 1,
    /// A reward came.
    Rewarded = 2,
    /// A fit came back; without a body.
    Fitted = 3,
    /// The mode was changed.
    Mode = 4,
    /// A decision that was ranked is shown.
    Activated = 5,
    /// All that is known became the logs of a new season; without a body.
    Renewed = 6,
    /// The state was replaced by another, which is the body.
    Restored = 7,
    /// The time in which a decision's reward may come is over.
    TimedOut = 8,
}

impl Kind {
    pub(crate) fn of(number: i64) -> Option<Self> {
        use Kind::{Activated, Decided, Fitted, Mode, Renewed, Restored, Rewarded, TimedOut};
        [Decided, Rewarded, Fitted, Mode, Activated, Renewed, Restored, TimedOut]
            .into_iter()
            .find(|kind| *kind as i64 == number)
    }
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    /// Its place; rising, from 1.
    pub(crate) number: i64,
    pub(crate) bandit: i64,
    pub(crate) kind: Kind,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
    /// The record of the decision that it is about.
    pub(crate) of: Option<i64>,
    pub(crate) body: Vec<u8>,
}

/// A bandit as it was made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Made {
    pub(crate) key: i64,
    pub(crate) name: String,
    pub(crate) spec: String,
}

/// Finds a record by its number.
pub(crate) type Find<'a> = &'a dyn Fn(i64) -> Result<Option<Record>>;

/// Takes records in.
pub(crate) type Take<'a> = &'a mut dyn FnMut(Record) -> Result<()>;

/// A journal of all bandits, and the bandits that were made.
pub(crate) trait Journal: Send {
    /// Writes records down, all or none of them, in the order of their numbers, and returns when they cannot be lost any more.
    fn append(&mut self, records: &[Record]) -> Result<()>;

    /// The number of the last record.
    fn last(&self) -> Result<i64>;

    /// Hands over the records behind a number, in their order: those of one bandit, or of all.
    fn read(&self, behind: i64, bandit: Option<i64>, take: Take<'_>) -> Result<()>;

    /// The record of a number, if it is still there.
    fn find(&self, number: i64) -> Result<Option<Record>>;

    /// Hands over the records that are about a decision, in their order.
    fn about(&self, decision: i64, take: Take<'_>) -> Result<()>;

    /// All bandits, in the order in which they were made.
    fn bandits(&self) -> Result<Vec<Made>>;

    /// Writes a new bandit down, and gives it a key, unless it has one.
    fn create(&mut self, key: Option<i64>, name: &str, spec: &str) -> Result<i64>;

    /// Forgets that there is a bandit. No other one gets its key.
    fn remove(&mut self, bandit: i64) -> Result<()>;

    /// The state that a bandit's fold starts from, where its first records are no longer there.
    fn base(&self, bandit: i64) -> Result<Option<Vec<u8>>>;

    /// Keeps a state as what a bandit's fold starts from.
    fn set_base(&mut self, bandit: i64, state: &[u8]) -> Result<()>;

    /// The last of the first records that are all from before a time, and the bandits that these belong to.
    fn old(&self, before: i64) -> Result<(i64, Vec<i64>)>;

    /// Forgets so many of the records up to a number, but never the last one of all. Tells how many it were.
    fn forget(&mut self, up_to: i64, most: i64) -> Result<u64>;

    /// What is wrong with the journal itself.
    fn problems(&self) -> Result<Vec<String>>;

    /// Another one onto the same records, to read while this one writes.
    fn reader(&self) -> Result<Box<dyn Journal>>;
}
