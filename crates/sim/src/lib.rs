//! Simulated worlds with biased logs, and a runner that plays policies in them.
//!
//! A [`Panel`] describes one experiment: how live and logged parameter are drawn, how the logs cover
//! feature space, how a round's actions look, and which policies play. [`play_run`] plays one run of
//! it: all policies see the same logs, contexts and noise (common random numbers), drawn from
//! generators that depend on the seed and the run alone. [`play`] plays many runs on all cores; its
//! results do not depend on their number.

mod error;
mod experiment_file;
mod observer;
mod panel;
mod policy;
mod ranges;
mod recorded;
mod results;
mod runner;
pub mod switches;
mod world;

pub use error::{Error, Result};
pub use experiment_file::{FileError, ReadCertificate};
pub use observer::{Observer, RegretCurve, Shares, Step, thinned_rounds};
pub use panel::{Figure, NormBound, Panel};
pub use policy::{CertificateKind, PolicySpec};
pub use recorded::{RecordedOutcome, Recording};
pub use results::{FigureResult, PanelResult, PolicyResult, Results, Summary};
pub use runner::{Job, PolicyOutcome, RunOutcome, play, play_run, play_run_unless, prepare_run, summarise};
pub use world::{Contexts, Coverage, ParameterLaw, RewardModel, World, stream};
