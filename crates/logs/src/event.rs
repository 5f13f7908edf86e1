//! Files of events, whatever their format.

use truenorth_features::Event;

use crate::error::{Place, Problem, Result};
use crate::source::lines::Lines;

/// What a number must be.
pub(crate) const NUMBER: &str = "a number of at most 1e50 in size";

/// Nobody says which action was taken, or what it paid.
pub(crate) const NO_REWARD: Problem = Problem::Uncounted("no action has a reward");

/// How much of events is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What counts: the action that was taken, of events that have a reward.
    Counting,
    /// All that events list.
    Listed,
    /// Also the actions that the file as a whole tells of: Open Bandit's items that were not shown.
    Everything,
}

/// A file of events, read from its beginning to its end.
pub(crate) trait Events: Send {
    /// Reads the next event into `event`, which is empty, and tells where it begins; none at the end. After an error
    /// the next call goes on behind the faulty event.
    fn next(&mut self, event: &mut Event) -> Result<Option<Place>>;
}

/// A file with an event in each line that is not blank.
pub(crate) struct EventLines {
    pub(crate) lines: Lines,
    /// Whether only what counts is read: the action that was taken, of events that have a reward.
    pub(crate) counting: bool,
    pub(crate) read: fn(&[u8], bool, &mut Event) -> Result<(), Problem>,
}

impl Events for EventLines {
    fn next(&mut self, event: &mut Event) -> Result<Option<Place>> {
        if !self.lines.next_filled()? {
            return Ok(None);
        }
        let place = self.lines.place();
        (self.read)(&self.lines.line, self.counting, event)
            .map(|()| Some(place))
            .map_err(|problem| problem.at(place))
    }
}
