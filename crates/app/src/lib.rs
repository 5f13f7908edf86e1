//! What the command line, Python and a service have in common: requests in, results out; no printing, no exiting,
//! no Python.
//!
//! | module | from | to |
//! |---|---|---|
//! | [`summarize`] | logs in files, summaries of others | their summary |
//! | [`audit`] | a summary of logs, a pilot in any form | what the logs are worth, with its page and certificate |
//! | [`bandit`] | a summary or a model, a state in a file | a bandit, and what others decided learned into it |
//! | [`compare`] | logged rows, live rounds, who plays | what each policy earned |
//! | [`evaluate`] | logs with probabilities, a policy | what it would have earned |
//! | [`monitor`] | live events in their order | whether the world has moved on since they began |
//! | [`experiment`] | studies by name, experiment files | their results, played on all cores and resumable |
//! | [`certificate`] | `certificate.toml` | a certificate for features of these names and this scale |
//!
//! Data comes from a [`Source`]: a file, or record batches in memory. Long work is told where it runs, when to stop
//! and whom to tell by [`Work`]. Every [`Error`] is a sentence; it names settings by their words (`norm_bound`),
//! which a front end may spell its own way.

pub mod audit;
pub mod bandit;
pub mod certificate;
pub mod compare;
mod error;
pub mod evaluate;
pub mod experiment;
mod journal;
pub mod monitor;
mod palette;
mod source;
pub mod summarize;
mod work;

pub use error::{Error, Result};
pub use palette::palette;
pub use source::{Source, format};
pub use work::{Progress, Work, make_folder, pool};
