//! One test binary for the library: contract, properties, numerics, statistics.

mod allocation;
mod contract;
#[cfg(not(debug_assertions))]
mod coverage;
#[cfg(not(debug_assertions))]
mod numerics;
mod properties;
mod support;
#[cfg(not(debug_assertions))]
mod wide;
