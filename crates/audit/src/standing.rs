//! What the pilot says about a feature or a direction, in a word.

use crate::view::Finding;

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

impl Finding {
    /// What the pilot says, in a word.
    pub fn standing(&self) -> Standing {
        match (self.drifted, self.equivalent) {
            (None, _) => Standing::Untested,
            (Some(true), Some(true)) => Standing::Slight,
            (Some(true), _) => Standing::Drifted,
            (Some(false), Some(true)) => Standing::Holds,
            (Some(false), _) if self.trust >= LIKELY => Standing::Holds,
            (Some(false), _) => Standing::Undecided,
        }
    }
}
