//! Whether the live world has moved on: a test that may be looked at all the time.
//!
//! ```
//! use truenorth_monitor::Monitor;
//!
//! let mut monitor = Monitor::new(2, 0.05)?;
//! for round in 0..2000 {
//!     // Two articles in turn, clicked every second and every fifth time; from round 1,500 on the first one no more.
//!     let (article, click) = match round % 2 {
//!         0 => (0, round < 1500 && round % 4 == 0),
//!         _ => (1, round % 10 == 1),
//!     };
//!     monitor.observe(&[(article, 1.0)], f64::from(u8::from(click)))?;
//! }
//! assert!(monitor.evidence().alarm.is_some_and(|round| round > 1500));
//! assert!(monitor.feature(0).evidence.alarm.is_some());
//! assert!(monitor.feature(1).evidence.alarm.is_none());
//! # Ok::<(), truenorth_monitor::Error>(())
//! ```
//!
//! Rewards are predicted before they are seen, and capital is bet on the surprises: see [`Monitor`], and docs/monitoring.md for what
//! holds and what was simulated. Pure computation, without a clock or a dice; its state is `Serialize`.

mod bets;
mod error;
mod monitor;
mod regression;

pub use error::{Error, Result};
pub use monitor::{Evidence, Monitor, Moved, Paid};
