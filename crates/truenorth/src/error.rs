//! The one error type of the library: typed fields, one sentence each.

/// What the library refuses, and why.
///
/// Every variant leaves the state it was raised on as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("`{name}` must be {range}, but is {shown}", shown = shown(*value))]
    Parameter {
        /// Name of the parameter as written in the API.
        name: &'static str,
        /// The range it must lie in, in words.
        range: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// A parameter that another choice makes necessary is absent.
    #[error("`{name}` is needed {purpose}")]
    Missing {
        /// Name of the parameter as written in the API.
        name: &'static str,
        /// What needs it, starting with "by" or "for".
        purpose: &'static str,
    },
    /// Two choices exclude each other.
    #[error("{first} does not go with {second}")]
    Incompatible {
        /// One of the two.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A vector or matrix has the wrong size.
    #[error("{what} must hold {expected} numbers, but holds {found}")]
    Length {
        /// What was measured.
        what: &'static str,
        /// How many numbers there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A number is NaN, infinite or so large that its square overflows.
    #[error("{what} {index} must be finite and at most 1e50 in size, but is {shown}", shown = shown(*value))]
    NotFinite {
        /// Which collection the number stands in.
        what: &'static str,
        /// Its position there, from 0.
        index: usize,
        /// The number.
        value: f64,
    },
    /// A feature of an action is NaN, infinite or so large that its square overflows.
    #[error("feature {feature} of action {action} must be finite and at most 1e50 in size, but is {shown}", shown = shown(*value))]
    Feature {
        /// Index of the action, from 0.
        action: usize,
        /// Index of the feature, from 0.
        feature: usize,
        /// The number.
        value: f64,
    },
    /// An action of a policy for separate arms is not a unit vector.
    #[error("action {action} is not a unit vector, but this policy knows separate arms only")]
    NotAnArm {
        /// Index of the action, from 0.
        action: usize,
    },
    /// A round without a single action.
    #[error("a round needs at least one action, but has none")]
    NoActions,
    /// An observation names a decision that this policy never made.
    #[error(
        "decision (round {round}, layer {layer}) is unknown: {rounds} rounds were decided, in layers 0 to {last_layer}"
    )]
    UnknownDecision {
        /// The round the observation names.
        round: u64,
        /// The layer the observation names.
        layer: u32,
        /// How many rounds have been decided.
        rounds: u64,
        /// The highest layer of the policy.
        last_layer: u32,
    },
    /// A matrix that must be symmetric is not.
    #[error(
        "{what} must be symmetric, but entry ({row}, {column}) is {entry} and its mirror image {mirror}",
        entry = shown(*value),
        mirror = shown(*mirrored)
    )]
    NotSymmetric {
        /// Which matrix.
        what: &'static str,
        /// Row of the offending entry, from 0.
        row: usize,
        /// Column of the offending entry, from 0.
        column: usize,
        /// The entry.
        value: f64,
        /// The entry across the diagonal.
        mirrored: f64,
    },
    /// A matrix that must be positive definite is not.
    #[error("{what} must be positive definite, but its smallest eigenvalue is {shown}", shown = shown(*eigenvalue))]
    NotPositiveDefinite {
        /// Which matrix.
        what: &'static str,
        /// The offending eigenvalue.
        eigenvalue: f64,
    },
    /// Directions that must be orthonormal are not.
    #[error("directions must be orthonormal, but the inner product of {first} and {second} is {shown}", shown = shown(*product))]
    NotOrthonormal {
        /// Index of one direction, from 0.
        first: usize,
        /// Index of the other; the same index for a direction that is not of length 1.
        second: usize,
        /// Their inner product.
        product: f64,
    },
    /// Epoch starts that are not 1 = t1 < t2 < ... within the horizon.
    #[error(
        "epoch starts must begin with 1, increase, and stay within the horizon {horizon}, but number {index} is {start}"
    )]
    Epochs {
        /// Position of the offending start, from 0.
        index: usize,
        /// The offending start.
        start: u64,
        /// The horizon.
        horizon: u64,
    },
    /// A policy name that no preset has.
    #[error("there is no policy named {name:?}; the names are {known}")]
    UnknownPreset {
        /// The name that was given.
        name: String,
        /// All names, separated by commas.
        known: String,
    },
    /// Bytes that are not a snapshot of a policy.
    #[error("this is not a truenorth snapshot: {reason}")]
    NotASnapshot {
        /// What is wrong with the first bytes.
        reason: &'static str,
    },
    /// A snapshot written by a version of the format that this build does not read.
    #[error("the snapshot has version {found}, but this build reads version {supported}")]
    SnapshotVersion {
        /// Version written in the snapshot.
        found: u32,
        /// Version this build reads and writes.
        supported: u32,
    },
    /// A snapshot whose content changed since it was written.
    #[error("the snapshot is damaged: {reason}")]
    SnapshotDamaged {
        /// What does not add up.
        reason: String,
    },
}

/// Result of a library call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A number as a person would write it: `0.5` and `1000`, but `1e300` without its zeros.
fn shown(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) { value.to_string() } else { format!("{value:?}") }
}
