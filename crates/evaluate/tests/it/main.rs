//! Estimates beside those of Open Bandit Pipeline, and how often intervals hold the truth.

mod coverage;
mod open_bandit;
