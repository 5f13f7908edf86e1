//! What the pilot says about a feature or a direction, in a word.

use crate::view::{Direction, Feature};

/// Trust from which a coefficient that was not found to drift is taken to hold: more likely than not.
const LIKELY: f64 = 0.5;

/// What the pilot says, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// A drift that is real, and may matter.
    Drifted,
    /// A real drift that is shown not to matter.
    Slight,
    /// No drift was found, but that says little.
    Undecided,
    /// The pilot cannot tell.
    Untested,
    /// No drift was found, and it is small or unlikely.
    Holds,
}

impl Standing {
    fn new(drifted: Option<bool>, equivalent: Option<bool>, trust: f64) -> Self {
        match (drifted, equivalent) {
            (Some(true), Some(true)) => Self::Slight,
            (Some(true), _) => Self::Drifted,
            (Some(false), equivalent) if equivalent == Some(true) || trust >= LIKELY => Self::Holds,
            (Some(false), _) => Self::Undecided,
            (None, _) => Self::Untested,
        }
    }

    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Self::Drifted => "drifted",
            Self::Slight => "drifted a little",
            Self::Undecided => "undecided",
            Self::Untested => "not tested",
            Self::Holds => "holds",
        }
    }
}

impl Feature {
    /// What the pilot says about it.
    pub fn standing(&self) -> Standing {
        Standing::new(self.drifted, self.equivalent, self.trust)
    }
}

impl Direction {
    /// What the pilot says about it.
    pub fn standing(&self) -> Standing {
        Standing::new(self.drifted, self.equivalent, self.trust)
    }
}
