//! What a bandit refuses: a sentence for people, a code for programs.

/// What a bandit refuses, and why: its `Display` is a sentence that names the field and the value. The bandit is as it was.
///
/// | code | what it means |
/// |---|---|
/// | `invalid` | the event, the number or the setting is wrong |
/// | `unknown_decision` | a reward for a decision that nobody remembers |
/// | `already_learned` | a second reward for a decision, or a second row with its id |
/// | `expired` | a reward that came too late: its decision waits no longer |
/// | `conflict` | the id of a decision that is remembered, with other content |
/// | `damaged` | bytes that are no bandit, or have changed since they were written |
/// | `other_version` | bytes that another version of the format wrote |
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    code: &'static str,
    message: String,
    missing: bool,
}

/// Result of a bandit's call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), missing: false }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new("invalid", message)
    }

    pub(crate) fn damaged(reason: impl std::fmt::Display) -> Self {
        Self::new("damaged", format!("the bandit is damaged: {reason}"))
    }

    /// Whether the event lacks a value of the action that it is about, which its recipe does not fill.
    pub fn is_missing(&self) -> bool {
        self.missing
    }

    /// What kind of error it is, for programs.
    pub fn code(&self) -> &'static str {
        self.code
    }
}

impl From<truenorth_features::Error> for Error {
    fn from(error: truenorth_features::Error) -> Self {
        Self { missing: error.missing().is_some(), ..Self::invalid(error.to_string()) }
    }
}

impl From<truenorth::Error> for Error {
    fn from(error: truenorth::Error) -> Self {
        Self::invalid(error.to_string())
    }
}

/// A text in a sentence; of a very long one, the beginning.
pub(crate) fn shown(text: &str) -> String {
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", &text[..end]),
    }
}
