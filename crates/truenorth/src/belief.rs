//! The belief about the logs: how far each direction is trusted, learned from live rewards by Bayes' rule.

mod drift;
mod evidence;
mod hypotheses;
mod neglect;
mod sparse;

pub(crate) use drift::{Dictionary, DriftLikelihood};
pub(crate) use evidence::Evidence;
pub(crate) use hypotheses::{Belief, Told};
pub(crate) use neglect::{Neglect, Rechecks};
