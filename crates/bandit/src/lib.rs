//! A bandit is a recipe and a policy: raw values in, an action's id out.
//!
//! ```
//! use truenorth_bandit::{Bandit, Event, Parts};
//!
//! let mut bandit = Bandit::new(Parts::without_logs("price + segment:id")?, |policy| policy.seed(7))?;
//! let mut event = Event::default();
//! event.read_json(r#"{"context":{"segment":"student"},"actions":[{"id":"news","price":1.5},{"id":"sport","price":0}]}"#)?;
//! let choice = bandit.choose(&event)?;
//! bandit.learn(&choice.decision_id, 1.0)?;
//! let error = bandit.learn(&choice.decision_id, 1.0).unwrap_err();
//! assert_eq!(error.code(), "already_learned");
//! # Ok::<(), truenorth_bandit::Error>(())
//! ```
//!
//! It is pure computation. It knows no clock and has no hidden dice, so the same calls give the same bytes, and
//! [`Bandit::from_bytes`] goes on where [`Bandit::to_bytes`] stopped: with the features that joined, the decisions that wait for
//! their rewards, and the ids of those that have one. A call that is refused changes nothing.
//!
//! [`Bandit::answer`] does what an event asks for; commands, Python and services are thin over it.

mod bandit;
mod choose;
mod error;
mod ledger;
mod parts;
mod placed;
mod round;
mod snapshot;
mod views;
mod watch;

pub use bandit::{Answer, Bandit};
pub use choose::{Choice, Fact};
pub use error::{Error, Result};
pub use ledger::Fate;
pub use parts::{Limits, Parts};
pub use snapshot::Image;
pub use truenorth_features::{Event, Feature, Model, Recipe};
pub use truenorth_monitor::{Evidence, Monitor, Moved};
pub use views::{Counts, Encoded, NamedFeature};
pub use watch::{Watched, WatchedFeature};
