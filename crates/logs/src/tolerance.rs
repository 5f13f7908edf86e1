//! What is tolerated in rows, and what was left out.

use serde::{Deserialize, Serialize};
use truenorth_features::Missing;

use crate::error::Problem;

/// What is tolerated in rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tolerance {
    /// Features without a value.
    pub missing: Missing,
    /// Leaves out rows that are malformed in any other way, instead of stopping at the first.
    pub skip_malformed: bool,
    /// Rewards outside of this range are malformed.
    pub range: Option<(f64, f64)>,
}

impl Tolerance {
    /// Whether a row with this problem is left out, instead of ending everything.
    pub fn allows(&self, problem: &Problem) -> bool {
        match problem {
            Problem::Uncounted(_) => true,
            // The rest of the file cannot be read without the row.
            Problem::Unreadable(_) | Problem::Damaged(_) | Problem::TooManyFeatures(_) => false,
            _ => self.skip_malformed || self.missing != Missing::Refuse && problem.missing().is_some(),
        }
    }

    /// The number that takes the place of one that is missing; NaN until the mean is known.
    pub(crate) fn filled(&self) -> f64 {
        if self.missing == Missing::Mean { f64::NAN } else { 0.0 }
    }

    pub(crate) fn check_reward(&self, value: f64) -> Result<(), Problem> {
        match self.range {
            Some((low, high)) if !(low..=high).contains(&value) => {
                let range = format!("outside of the range from {low} to {high}");
                let sentence = format!("the reward is {value}, {range}");
                Err(Problem::malformed(sentence, format!("the reward is {range}")))
            }
            _ => Ok(()),
        }
    }
}

/// Rows that were left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// Why.
    pub reason: String,
    /// How many.
    pub rows: u64,
    /// The first of them: file and line.
    pub first: String,
}
