//! Worlds and the runner from outside.

mod runner;
mod switches;
mod worlds;
