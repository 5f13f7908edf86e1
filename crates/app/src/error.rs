//! What a request can fail with: one sentence each.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use truenorth_features::quoted;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library refused a policy or a number.
    #[error("{0}")]
    Core(#[from] truenorth::Error),
    /// Logs that cannot be read as asked.
    #[error("{0}")]
    Logs(#[from] truenorth_logs::Error),
    /// A bandit refused an event or a setting.
    #[error("{0}")]
    Bandit(#[from] truenorth_bandit::Error),
    /// Logs of another model than a bandit has.
    #[error("the bandit has the model {}, but the logs have {}", quoted(bandit), quoted(summary))]
    OtherModel {
        /// The bandit's.
        bandit: String,
        /// The logs'.
        summary: String,
    },
    /// An experiment is described wrongly.
    #[error("{0}")]
    Experiment(#[from] truenorth_sim::Error),
    /// A file's content is wrong.
    #[error("{0}")]
    Input(#[from] truenorth_sim::FileError),
    /// A file cannot be opened or read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file or folder cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// No file is named.
    #[error("no files are named")]
    NoFiles,
    /// Columns without a reward.
    #[error(
        "`reward` is needed beside the columns of a table; events tell their actions and rewards themselves"
    )]
    NoReward,
    /// A formula that is wrong.
    #[error("{0}")]
    Model(truenorth_features::Error),
    /// Features are asked for in two ways.
    #[error("`model` says which features there are, so `features`, `one_hot` and `hash` cannot")]
    ModelAndColumns,
    /// Features are asked for beside a summary, which has its own.
    #[error("the summary says which features there are, so `model`, `features` and `action` cannot")]
    SummaryAndColumns,
    /// A part that does not go with those before it.
    #[error("{}: {problem}", path.display())]
    Merge {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: truenorth_logs::Problem,
    },
    /// A number of the request is outside its range.
    #[error("`{name}` must be {range}, but is {value}")]
    Number {
        /// Name of the setting.
        name: &'static str,
        /// The range it must lie in, in words.
        range: &'static str,
        /// The number that was given.
        value: f64,
    },
    /// A factor on the exploration is outside its range.
    #[error("a factor of `scales` must be positive and at most 1e9, but is {value}")]
    Scale {
        /// The factor.
        value: f64,
    },
    /// A policy with a fixed certificate has none.
    #[error(
        "policy {policy:?} has to be told how far the logs may have drifted: give `drift` or `certificate`"
    )]
    NotTold {
        /// Name of the policy.
        policy: &'static str,
    },
    /// A policy of logs alone has none.
    #[error("policy {policy:?} is made from logs alone: name their `summary`")]
    NoLogs {
        /// Name of the policy.
        policy: &'static str,
    },
    /// Rounds that cannot be watched.
    #[error("{0}")]
    Monitor(#[from] truenorth_monitor::Error),
    /// A row that is not a unit vector, for a policy of separate arms.
    #[error("{place}: this is not a unit vector, but policy {policy:?} knows separate arms only")]
    NotAnArm {
        /// The table and the row.
        place: String,
        /// Name of the policy.
        policy: &'static str,
    },
    /// A study that does not exist.
    #[error("there is no study named {name:?}; the names are all, {}", known.join(", "))]
    NoStudy {
        /// The name that was given.
        name: String,
        /// Names of all studies.
        known: Vec<&'static str>,
    },
    /// The threads cannot be started.
    #[error("cannot start the threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// The work was stopped before its end.
    #[error("interrupted after {finished} of {total} runs; {}", kept(folder.as_deref()))]
    Interrupted {
        /// Runs that were finished.
        finished: usize,
        /// Runs in all.
        total: usize,
        /// Where the finished runs are kept.
        folder: Option<PathBuf>,
    },
}

/// Result of a request.
pub type Result<T, E = Error> = std::result::Result<T, E>;

fn kept(folder: Option<&Path>) -> String {
    let Some(folder) = folder else { return "none of them is kept".to_owned() };
    format!("they are kept in {}, and the same command goes on from there", folder.display())
}

impl Error {
    /// Settings of the request that the sentence names, in back-quotes: a front end may spell them its own way.
    pub fn settings(&self) -> &[&'static str] {
        match self {
            Self::Number { name, .. } => std::slice::from_ref(name),
            Self::NoReward => &["reward"],
            Self::ModelAndColumns => &["model", "features", "one_hot", "hash"],
            Self::SummaryAndColumns => &["model", "features", "action"],
            Self::Scale { .. } => &["scales"],
            Self::NotTold { .. } => &["drift", "certificate"],
            Self::NoLogs { .. } => &["summary"],
            Self::Monitor(_) => &["level"],
            _ => &[],
        }
    }

    /// A file that cannot be read.
    pub fn file(path: &Path) -> impl Fn(io::Error) -> Self {
        move |error| Self::File { path: path.to_owned(), error }
    }

    /// A file that cannot be written.
    pub fn write(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |error| Self::Write { path: path.clone(), error }
    }

    /// Wrong content at a place: a file, or a part of one.
    pub fn input(place: impl fmt::Display, reason: impl fmt::Display) -> Self {
        truenorth_sim::FileError { place: place.to_string(), reason: reason.to_string() }.into()
    }
}
