//! What a bandit promises.

mod facts;
mod growing;
mod mutants;
mod restoring;
mod rewards;
mod support;
mod tutorial;
