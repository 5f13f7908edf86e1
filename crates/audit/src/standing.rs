//! What the pilot says about a feature or a direction, in a word.

use crate::view::Finding;

/// Trust from which a coefficient is taken to hold.
const SURE: f64 = 0.8;

/// What the pilot says, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// A drift that is real, and may matter.
    Drifted,
    /// A real drift that is shown not to matter to choices.
    Harmless,
    /// Neither drift is shown, nor that there is none that matters.
    Unclear,
    /// The pilot cannot tell.
    Untested,
    /// Drift is shown to be too small to matter, or unlikely.
    Holds,
}

impl Standing {
    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Self::Drifted => "drifted",
            Self::Harmless => "drifted, harmless",
            Self::Unclear => "unclear",
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
            (Some(true), Some(true)) => Standing::Harmless,
            (Some(true), _) => Standing::Drifted,
            (Some(false), Some(true)) => Standing::Holds,
            (Some(false), _) if self.trust >= SURE => Standing::Holds,
            (Some(false), _) => Standing::Unclear,
        }
    }
}
