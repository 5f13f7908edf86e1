//! One test binary for the library: contract, properties, numerics, statistics.

mod allocation;
#[cfg(not(debug_assertions))]
mod calibration;
mod contract;
#[cfg(not(debug_assertions))]
mod coverage;
mod directions;
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
mod support;
#[cfg(not(debug_assertions))]
mod wide;
