//! One logged decision of a format that names its features row by row.

use crate::collector::is_usable;
use crate::error::{Place, Problem, Result, shortened};
use crate::source::lines::{LONGEST, Lines};

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

    /// Adds a feature whose name is these parts, one after another.
    pub(crate) fn push(&mut self, name: &[&str], value: f64) -> Result<(), Problem> {
        if !is_usable(value) {
            let what = format!("feature `{}`", shortened(&name.concat()));
            return Err(Problem::unusable(&what, &format!("{value:e}"), NUMBER));
        }
        if value == 0.0 {
            return Ok(());
        }
        // A long namespace before many short names could take far more than the line that holds them.
        let length: usize = name.iter().map(|part| part.len()).sum();
        if (self.names.len() + size_of_val(&self.features[..]) + length) as u64 > LONGEST {
            let most = LONGEST / 1_000_000;
            return Err(Problem::other(format!("the event's features take more than {most} MB")));
        }
        self.names.extend(name.iter().copied());
        self.features.push((self.names.len(), value));
        Ok(())
    }

    /// Names and values in the order they came in; a name may come twice, and then its values add up.
    pub(crate) fn features(&self) -> impl Iterator<Item = (&str, f64)> {
        let starts = std::iter::once(0).chain(self.features.iter().map(|&(end, _)| end));
        starts.zip(&self.features).map(|(start, &(end, value))| (&self.names[start..end], value))
    }
}

/// What a number must be.
pub(crate) const NUMBER: &str = "a number of at most 1e50 in size";

/// Nobody says which action was taken, or what it paid.
pub(crate) const NO_REWARD: Problem = Problem::Uncounted("no action has a reward");

/// A file of events, read from its beginning to its end.
pub(crate) trait Events: Send {
    /// Reads the next event into `event`, which is empty, and tells where it begins; none at the end. After an error
    /// the next call goes on behind the faulty event.
    fn next(&mut self, event: &mut Event) -> Result<Option<Place>>;
}

/// A file with an event in each line that is not blank.
pub(crate) struct EventLines {
    pub(crate) lines: Lines,
    pub(crate) read: fn(&[u8], &mut Event) -> Result<(), Problem>,
}

impl Events for EventLines {
    fn next(&mut self, event: &mut Event) -> Result<Option<Place>> {
        if !self.lines.next_filled()? {
            return Ok(None);
        }
        let place = self.lines.place();
        (self.read)(&self.lines.line, event).map(|()| Some(place)).map_err(|problem| problem.at(place))
    }
}
