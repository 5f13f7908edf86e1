//! Whether the live world has moved on: a test that may be looked at all the time.

mod bets;
mod error;
mod monitor;
mod regression;

pub use error::{Error, Result};
pub use monitor::{Evidence, Monitor, Moved, Paid};
