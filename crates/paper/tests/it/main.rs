//! The theorems, the studies and what is observed of a run, from outside.

mod alignment;
mod beyond;
mod epochs;
mod experiment_files;
mod fixtures;
mod played;
mod pooled;
mod regime;
mod spectral;
#[cfg(not(debug_assertions))]
mod studies;
/// The library's own world of policies of every kind.
#[path = "../../../truenorth/tests/it/support.rs"]
#[expect(dead_code, reason = "it has more than is needed here")]
mod support;
mod water;
