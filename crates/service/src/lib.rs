//! `truenorth serve`: bandits over HTTP, in one process with one folder of data.
//!
//! What is accepted is in the journal before it is answered, and the state is a fold of the journal: after a crash at any
//! moment every acknowledged decision and reward is there, once, and the next decisions are what they would have been.

mod answers;
mod api;
mod calls;
mod engine;
mod explained;
mod export;
mod fold;
mod history;
mod hosted;
mod http;
#[cfg_attr(not(feature = "nats"), path = "jetstream_absent.rs")]
mod jetstream;
mod journal;
mod line;
mod metrics;
mod openapi;
mod page;
mod personalizer;
mod records;
mod replicas;
mod report;
mod rewards;
mod routes;
mod snapshots;
mod spec;
mod store;
#[cfg(test)]
mod tests;
mod verify;
mod wal;

pub use http::{Listening, NotServed, Options, serve};
pub use journal::StoreError;
pub use verify::{Verified, verify};
