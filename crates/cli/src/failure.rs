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
    /// A table of logs is wrong.
    #[error("{0}")]
    Logs(#[from] truenorth_logs::Error),
    /// Arguments that do not go together.
    #[error("{0}")]
    Call(String),
    /// An experiment is described wrongly.
    #[error("{0}")]
    Experiment(#[from] truenorth_sim::Error),
    /// A file or folder cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write { path: PathBuf, error: io::Error },
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(io::Error),
    /// A figure cannot be drawn.
    #[error("cannot draw {name}: {reason}")]
    Drawing { name: String, reason: String },
    /// The threads cannot be started.
    #[error("cannot start the threads: {0}")]
    Threads(String),
    /// Ctrl-C.
    #[error("interrupted after {finished}{} runs{}", of(*total), kept(folder.as_deref()))]
    Interrupted { finished: usize, total: usize, folder: Option<PathBuf> },
}

fn of(total: usize) -> String {
    if total == 0 { String::new() } else { format!(" of {total}") }
}

fn kept(folder: Option<&Path>) -> String {
    folder.map_or_else(
        || "; none of them is kept".to_owned(),
        |folder| format!("; they are kept in {}, and the same command goes on from there", folder.display()),
    )
}

impl From<truenorth_sim::FileError> for Failure {
    fn from(error: truenorth_sim::FileError) -> Self {
        Self::Input { place: error.place, reason: error.reason }
    }
}

impl Failure {
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::File { .. } | Self::Input { .. } | Self::Logs(_) | Self::Call(_) | Self::Experiment(_) => 2,
            Self::Write { .. }
            | Self::Output(_)
            | Self::Drawing { .. }
            | Self::Threads(_)
            | Self::Interrupted { .. } => 1,
        }
    }

    pub(crate) fn file(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| Self::File { path: path.to_owned(), error }
    }

    pub(crate) fn write(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Write { path: path.clone(), error }
    }

    pub(crate) fn drawing<E: fmt::Display>(name: &str) -> impl Fn(E) -> Self + use<E> {
        let name = name.to_owned();
        move |error| Self::Drawing { name: name.clone(), reason: error.to_string() }
    }

    pub(crate) fn threads(error: impl fmt::Display) -> Self {
        Self::Threads(error.to_string())
    }

    /// Wrong content of a file as a whole.
    pub(crate) fn in_file(path: &Path, reason: impl fmt::Display) -> Self {
        Self::Input { place: path.display().to_string(), reason: reason.to_string() }
    }

    /// A folder where a file is wanted.
    pub(crate) fn folder(path: &Path) -> Self {
        let folder = path.display();
        Self::in_file(path, format!("this is a folder; name its files, such as '{folder}/*.csv'"))
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
