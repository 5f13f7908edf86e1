//! What a monitor refuses.

/// Why a round was not observed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A level that is no probability.
    #[error("`level` must be between 0 and 1, but is {0}")]
    Level(f64),
    /// A number that no square may be taken of.
    #[error("{name} is {value:e}, but must be finite and at most 1e50 in size")]
    Number {
        /// What it is.
        name: &'static str,
        /// The number.
        value: f64,
    },
    /// A feature that is not watched.
    #[error("feature {feature} is not watched: there are {dimension}, counted from 0")]
    Feature {
        /// Its place.
        feature: usize,
        /// How many there are.
        dimension: usize,
    },
}

/// Result of a monitor's call.
pub type Result<T, E = Error> = std::result::Result<T, E>;
