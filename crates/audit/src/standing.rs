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
    /// Trust to be shown in whole percents: on the side of the threshold that it is on, where rounding would say otherwise.
    pub fn shown_trust(&self) -> f64 {
        if self.trust < SURE { self.trust.min(SURE - 0.01) } else { self.trust }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_shown_on_its_side_of_the_threshold() {
        let shown = |trust: f64| {
            let finding = Finding { trust, ..Finding::default() };
            truenorth_report::numbers::percent(finding.shown_trust(), " ")
        };
        let shown = [0.0, 0.789, 0.791, 0.795, 0.799_9, 0.8, 0.804, 0.999_9].map(shown);
        assert_eq!(shown, ["0 %", "79 %", "79 %", "79 %", "79 %", "80 %", "80 %", "> 99 %"]);
    }
}
