//! The one error type of the library: one sentence each, and a kind to act on.

/// What the library refuses, and why: its `Display` is a sentence that names the value and its range.
///
/// The state that it was raised on is as it was.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(transparent)]
pub struct Error(#[from] pub(crate) Reason);

/// What a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A number, a size or a name that cannot be, or two that do not go together: the call is wrong.
    Invalid,
    /// A reward for a decision that this policy never made.
    UnknownDecision,
    /// Bytes of a policy that another version of the format wrote.
    OtherVersion,
    /// Bytes that are no policy, or have changed since they were written.
    Damaged,
}

impl Error {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self.0 {
            Reason::UnknownDecision { .. } => ErrorKind::UnknownDecision,
            Reason::SnapshotVersion { .. } => ErrorKind::OtherVersion,
            Reason::NotASnapshot { .. } | Reason::SnapshotDamaged { .. } => ErrorKind::Damaged,
            _ => ErrorKind::Invalid,
        }
    }

    /// Whether rounding, or what was given, made a matrix singular.
    pub(crate) fn is_singular(&self) -> bool {
        matches!(self.0, Reason::NotPositiveDefinite { .. })
    }
}

/// The sentences, with what they speak of.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(crate) enum Reason {
    /// A parameter is outside its range.
    #[error("`{name}` must be {range}, but is {shown}", shown = shown(*value))]
    Parameter { name: &'static str, range: &'static str, value: f64 },
    /// A parameter that another choice makes necessary is absent.
    #[error("`{name}` is needed {purpose}")]
    Missing { name: &'static str, purpose: &'static str },
    /// Two choices exclude each other.
    #[error("{first} does not go with {second}")]
    Incompatible { first: &'static str, second: &'static str },
    /// A vector or matrix has the wrong size.
    #[error("{what} must hold {expected} numbers, but holds {found}")]
    Length { what: &'static str, expected: usize, found: usize },
    /// A number is NaN, infinite or so large that its square overflows.
    #[error("{what} {index} must be finite and at most 1e50 in size, but is {shown}", shown = shown(*value))]
    NotFinite { what: &'static str, index: usize, value: f64 },
    /// A feature of an action is NaN, infinite or so large that its square overflows.
    #[error("feature {feature} of action {action} must be finite and at most 1e50 in size, but is {shown}", shown = shown(*value))]
    Feature { action: usize, feature: usize, value: f64 },
    /// An action of a policy for separate arms is not a unit vector.
    #[error("action {action} is not a unit vector, but this policy knows separate arms only")]
    NotAnArm { action: usize },
    /// A round without a single action.
    #[error("a round needs at least one action, but has none")]
    NoActions,
    /// An observation names a decision that this policy never made.
    #[error(
        "decision (round {round}, layer {layer}) is unknown: {rounds} rounds were decided, in layers 0 to {last_layer}"
    )]
    UnknownDecision { round: u64, layer: u32, rounds: u64, last_layer: u32 },
    /// A matrix that must be symmetric is not.
    #[error(
        "{what} must be symmetric, but entry ({row}, {column}) is {entry} and its mirror image {mirror}",
        entry = shown(*value),
        mirror = shown(*mirrored)
    )]
    NotSymmetric { what: &'static str, row: usize, column: usize, value: f64, mirrored: f64 },
    /// A matrix that must be positive definite is not.
    #[error("{what} must be positive definite, but {}", smallest(*eigenvalue))]
    NotPositiveDefinite { what: &'static str, eigenvalue: f64 },
    /// Directions that must be orthonormal are not.
    #[error("directions must be orthonormal, but the inner product of {first} and {second} is {shown}", shown = shown(*product))]
    NotOrthonormal { first: usize, second: usize, product: f64 },
    /// Epoch starts that are not 1 = t1 < t2 < ... within the horizon.
    #[error(
        "epoch starts must begin with 1, increase, and stay within the horizon {horizon}, but number {index} is {start}"
    )]
    Epochs { index: usize, start: u64, horizon: u64 },
    /// A policy name that no preset has.
    #[error("there is no policy named {name:?}; the names are {known}")]
    UnknownPreset { name: String, known: String },
    /// Bytes that are not a snapshot of a policy.
    #[error("this is not a truenorth snapshot: {reason}")]
    NotASnapshot { reason: &'static str },
    /// A snapshot written by a version of the format that this build does not read.
    #[error("the snapshot has version {found}, but this build reads version {supported}")]
    SnapshotVersion { found: u32, supported: u32 },
    /// A snapshot whose content changed since it was written.
    #[error("the snapshot is damaged: {reason}")]
    SnapshotDamaged { reason: String },
}

/// Result of a library call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A matrix's smallest eigenvalue, where that is known.
fn smallest(eigenvalue: f64) -> String {
    if eigenvalue.is_nan() {
        "is not".to_owned()
    } else {
        format!("its smallest eigenvalue is {}", shown(eigenvalue))
    }
}

/// A number as a person would write it: `0.5` and `1000`, but `1e300` without its zeros.
fn shown(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-5..1e16).contains(&size) { value.to_string() } else { format!("{value:?}") }
}
