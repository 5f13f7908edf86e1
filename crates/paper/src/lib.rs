//! The paper beside the library: its theorems as functions, its studies, its lower bounds at play.
//!
//! [`theory`] has the theorems as functions of plain numbers. For a policy they are a [`Forecast`] before it plays, and
//! for what it has played bounds on a [`PlayedRun`]; [`measure`] plays whole experiments and puts regret and bounds
//! side by side. [`Study`] has the paper's experiments, [`hardness`] its lower bounds at play.

mod check;
mod forecast;
pub mod hardness;
mod measured;
mod played;
mod studies;
pub mod theory;

pub use forecast::{Forecast, is_bounded};
pub use measured::{Measured, PanelBounds, measure};
pub use played::{PathObserver, PlayedRun, path};
pub use studies::{Reading, Study};
