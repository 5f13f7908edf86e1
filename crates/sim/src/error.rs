//! What a simulation refuses, and why.

/// What is wrong with the description of an experiment.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// The library refused a policy or a number.
    #[error("{0}")]
    Policy(#[from] truenorth::Error),
    /// The library refused the parameters of a policy by name.
    #[error("policy {name:?}: {error}")]
    InPolicy {
        /// Name of the policy in the experiment.
        name: String,
        /// What the library said.
        error: truenorth::Error,
    },
    /// A number of the experiment is outside its range.
    #[error("`{name}` must be {range}, but is {value}")]
    Number {
        /// Name of the number.
        name: &'static str,
        /// The range it must lie in, in words.
        range: &'static str,
        /// The number that was given.
        value: f64,
    },
    /// A vector has the wrong length.
    #[error("`{name}` must hold {expected} numbers, but holds {found}")]
    Length {
        /// Name of the vector.
        name: &'static str,
        /// How many numbers there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// Two policies of one panel have the same name.
    #[error("two policies are named {name:?}")]
    SameName {
        /// The name.
        name: String,
    },
    /// A Bernoulli reward needs a mean between 0 and 1.
    #[error("Bernoulli rewards need means between 0 and 1, but an action's mean is {mean}")]
    NotAProbability {
        /// The mean that is no probability.
        mean: f64,
    },
}

/// Result of a call.
pub type Result<T, E = Error> = std::result::Result<T, E>;
