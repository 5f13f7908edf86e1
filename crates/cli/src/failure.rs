//! What a command can fail with, and the exit code that goes with it.

use std::fmt;
use std::io;
use std::path::Path;

use truenorth_app::Error;

use truenorth_logs::Problem;

/// A failed command: one sentence, one exit code.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// What the application says, with settings spelled as flags.
    #[error("{}", flagged(.0))]
    Work(Error),
    /// Logs that cannot be summed up.
    #[error("{0}{flags}", flags = flags(.0))]
    Logs(Error),
    /// Arguments that do not go together.
    #[error("{0}")]
    Call(String),
    /// A service cannot be run, or its folder is not whole.
    #[error("{0}")]
    Service(String),
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(io::Error),
    /// A figure cannot be drawn.
    #[error("cannot draw {name}: {reason}")]
    Drawing { name: String, reason: String },
}

/// What to type, where the library's sentence is about something that a flag tells.
fn flags(error: &Error) -> &'static str {
    let (Error::Logs(truenorth_logs::Error { problem, .. }) | Error::Merge { problem, .. }) = error else {
        return "";
    };
    match problem {
        Problem::NoSelection(_) => " (`--reward`)",
        Problem::NoProbability => " (`--probability`)",
        Problem::TooManyFeatures(_) => " (`--hash COLUMN`, `hash(...)` in the model, or no `--keep-names`)",
        Problem::ItemTable => " (`--items`)",
        _ => "",
    }
}

/// Settings that the libraries' own sentences name, and that are options here wherever they can be wrong.
const SETTINGS: [&str; 20] = [
    "actions",
    "age",
    "budgets",
    "constant",
    "counts",
    "delta",
    "discount",
    "drift",
    "exploration_scale",
    "half_life",
    "horizon",
    "joining",
    "level",
    "margin",
    "noise",
    "norm_bound",
    "open",
    "runs",
    "season",
    "smallest_subset",
];

/// The sentence of an error: `norm_bound` is `--norm-bound` here.
fn flagged(error: &Error) -> String {
    let named = match error {
        Error::Core(_) | Error::Bandit(_) | Error::Experiment(_) => &SETTINGS,
        error => error.settings(),
    };
    named.iter().fold(error.to_string(), |sentence, name| {
        sentence.replace(&format!("`{name}`"), &format!("`--{}`", name.replace('_', "-")))
    })
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Work(error.into())
    }
}

impl Failure {
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Service(_)
            | Self::Work(Error::Write { .. } | Error::Threads(_) | Error::Interrupted { .. })
            | Self::Output(_)
            | Self::Drawing { .. } => 1,
            Self::Work(_) | Self::Logs(_) | Self::Call(_) => 2,
        }
    }

    pub(crate) fn drawing<E: fmt::Display>(name: &str) -> impl Fn(E) -> Self + use<E> {
        let name = name.to_owned();
        move |error| Self::Drawing { name: name.clone(), reason: error.to_string() }
    }

    /// Wrong content of a file as a whole.
    pub(crate) fn in_file(path: &Path, reason: impl fmt::Display) -> Self {
        Error::input(path.display(), reason).into()
    }

    /// A folder where a file is wanted.
    pub(crate) fn folder(path: &Path) -> Self {
        let folder = path.display();
        Self::in_file(path, format!("this is a folder; name its files, such as '{folder}/*.csv'"))
    }

    /// JSON that does not parse; `line` is where the text starts in its file, counted from 1.
    pub(crate) fn json(path: &Path, line: u64, error: &serde_json::Error) -> Self {
        // serde_json ends its sentences with a place relative to the text it was given.
        let sentence = error.to_string();
        let reason = sentence.split(" at line ").next().unwrap_or(&sentence);
        let line = line + (error.line() as u64).saturating_sub(1);
        let place = format_args!("{}, line {line}, column {}", path.display(), error.column());
        Error::input(place, reason).into()
    }
}
