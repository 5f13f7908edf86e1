//! One logged decision of a format that names its features row by row.

use std::fmt;

use crate::error::{Fault, Place};

/// The features of the action that was taken, what it paid, and how many decisions it stands for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Event {
    /// All names, one after another.
    names: String,
    /// Where each name ends, and the feature's value.
    features: Vec<(usize, f64)>,
    pub(crate) reward: f64,
    /// 1, unless events were dropped at random before they were logged.
    pub(crate) weight: f64,
}

impl Event {
    /// Forgets everything but the memory.
    pub(crate) fn clear(&mut self) {
        self.names.clear();
        self.features.clear();
        (self.reward, self.weight) = (0.0, 1.0);
    }

    /// Adds a feature whose name is these parts, one after another. Zeros need not be added.
    pub(crate) fn push(&mut self, name: &[&str], value: f64) {
        self.names.extend(name.iter().copied());
        self.features.push((self.names.len(), value));
    }

    /// How much memory the features take.
    pub(crate) fn bytes(&self) -> usize {
        self.names.len() + size_of_val(&self.features[..])
    }

    /// Names and values in the order they came in; a name may come twice, and then its values add up.
    pub(crate) fn features(&self) -> impl Iterator<Item = (&str, f64)> {
        let starts = std::iter::once(0).chain(self.features.iter().map(|&(end, _)| end));
        starts.zip(&self.features).map(|(start, &(end, value))| (&self.names[start..end], value))
    }
}

/// Why an event does not count, though nothing is wrong with how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rejection {
    /// Nobody says which action was taken, or what it paid.
    NoReward,
    /// `_skipLearn`.
    SkipLearn,
    /// A reward without the decision it belongs to.
    DanglingReward,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoReward => "no action has a reward",
            Self::SkipLearn => "marked `_skipLearn`",
            Self::DanglingReward => "a reward without its decision",
        })
    }
}

/// What reading on led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// An event that counts.
    Event,
    /// An event that does not.
    Rejected(Rejection),
    /// The end of the file.
    End,
}

/// A file of events, read from its beginning to its end.
pub(crate) trait Events: Send {
    /// Reads the next event into `event`. After an error the next call goes on behind the faulty event.
    fn next(&mut self, event: &mut Event) -> Result<Next, Fault>;

    /// Where the event is that was read last.
    fn place(&self) -> Place;
}
