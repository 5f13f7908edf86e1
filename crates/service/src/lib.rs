//! `truenorth serve`: bandits over HTTP, in one process with one folder of data.
//!
//! What is accepted is in the journal before it is answered, and the state is a fold of the journal: after a crash at any
//! moment every acknowledged decision and reward is there, once, and the next decisions are what they would have been.

mod api;
mod engine;
mod export;
mod hosted;
mod http;
mod journal;
mod line;
mod metrics;
mod personalizer;
mod records;
mod rewards;
mod snapshots;
mod spec;
mod store;
#[cfg(test)]
mod tests;
mod verify;
mod wal;

pub use http::{Listening, Options, serve};
pub use journal::StoreError;
pub use verify::{Verified, verify};
