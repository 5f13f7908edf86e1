//! What a command can fail with, and the exit code that goes with it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A failed command: one sentence, one exit code.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A file cannot be opened or read.
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    /// A file's content is wrong.
    #[error("{place}: {reason}")]
    Input { place: String, reason: String },
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(io::Error),
}

impl Failure {
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::File { .. } | Self::Input { .. } => 2,
            Self::Output(_) => 1,
        }
    }

    pub(crate) fn file(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| Self::File { path: path.to_owned(), error }
    }

    /// Wrong content of a file as a whole.
    pub(crate) fn in_file(path: &Path, reason: impl fmt::Display) -> Self {
        Self::Input { place: path.display().to_string(), reason: reason.to_string() }
    }

    /// Wrong content of one line, counted from 1.
    pub(crate) fn in_line(path: &Path, line: u64, reason: impl fmt::Display) -> Self {
        Self::Input { place: format!("{}, line {line}", path.display()), reason: reason.to_string() }
    }

    /// JSON that does not parse; `line` is where the text starts in its file, counted from 1.
    pub(crate) fn json(path: &Path, line: u64, error: &serde_json::Error) -> Self {
        // serde_json ends its sentences with a place relative to the text it was given.
        let sentence = error.to_string();
        let reason = sentence.split(" at line ").next().unwrap_or(&sentence).to_owned();
        let line = line + (error.line() as u64).saturating_sub(1);
        let column = error.column();
        Self::Input { place: format!("{}, line {line}, column {column}", path.display()), reason }
    }
}
