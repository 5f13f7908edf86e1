//! One test binary for the library: contract, properties, numerics, statistics.

mod allocation;
mod belief_reference;
mod beside;
#[cfg(not(debug_assertions))]
mod calibration;
mod contract;
#[cfg(not(debug_assertions))]
mod coverage;
mod directions;
mod growing;
mod hidden;
#[cfg(not(debug_assertions))]
mod instructions;
#[cfg(not(debug_assertions))]
mod numerics;
mod odd_data;
mod parameters;
mod propensity;
mod properties;
mod recomputed;
mod reference;
mod seasons;
mod sparse;
mod support;
mod units;
#[cfg(not(debug_assertions))]
mod wide;
