//! Worlds and the runner from outside.

mod beyond;
mod runner;
#[cfg(not(debug_assertions))]
mod studies;
mod worlds;
