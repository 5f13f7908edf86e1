//! Writes files and reads them back: the same table from every format, a sentence for every fault.

mod brute;
mod categories;
mod damage;
mod errors;
mod event_rows;
mod formats;
#[path = "../../../../fuzz/src/check.rs"]
#[allow(unreachable_pub, reason = "it is part of a library for cargo-fuzz")]
mod fuzz;
mod live_rows;
mod missing;
mod models;
mod mutants;
mod parts;
mod samples;
mod shared_data;
mod summarize;
mod summary_file;
mod support;
mod tolerance;
mod weights;
