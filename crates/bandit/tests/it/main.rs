//! What a bandit promises.

mod growing;
mod mutants;
mod restoring;
mod rewards;
mod support;
mod tutorial;
mod watching;
