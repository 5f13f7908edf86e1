//! What the libraries refuse, as Python exceptions: one place that decides which.

use std::io;
use std::path::Path;

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::{PyErr, PyResult, Python};
use truenorth_app::Error;
use truenorth_logs::Problem;

use crate::array::python;

/// Anything that can go wrong below Python.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{0}")]
    Python(#[from] PyErr),
    #[error("{0}")]
    Core(#[from] truenorth::Error),
    #[error("{0}")]
    Logs(#[from] truenorth_logs::Error),
    #[error("{0}")]
    Work(#[from] Error),
    #[error("{0}")]
    Bandit(#[from] truenorth_bandit::Error),
    #[error("{0}")]
    Drawing(#[from] truenorth_report::Error),
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let sentence = failure.to_string();
        match failure {
            Failure::Python(error) => error,
            Failure::Logs(error) | Failure::Work(Error::Logs(error)) => match &error.problem {
                Problem::Unreadable(cause) => os_error(&error.path, cause),
                _ => PyValueError::new_err(sentence),
            },
            Failure::Work(Error::File { path, error }) => os_error(&path, &error),
            Failure::Work(Error::Merge { problem, .. }) => refused(&problem),
            Failure::Bandit(error) | Failure::Work(Error::Bandit(error)) => coded(&sentence, error.code()),
            Failure::Work(Error::NoReward | Error::ModelAndColumns) => PyTypeError::new_err(sentence),
            Failure::Drawing(_)
            | Failure::Work(Error::Threads(_) | Error::Interrupted { .. } | Error::Write { .. }) => {
                PyRuntimeError::new_err(sentence)
            }
            Failure::Core(_) | Failure::Work(_) => PyValueError::new_err(sentence),
        }
    }
}

/// A bandit's error has the code that programs act on.
pub(crate) fn coded(sentence: &str, code: &str) -> PyErr {
    Python::attach(|py| {
        python(py, "truenorth._errors", "BanditError", (sentence, code))
            .map_or_else(|error| error, PyErr::from_value)
    })
}

/// What is wrong with an event, as a bandit would say it.
pub(crate) fn bandit_error(error: truenorth_features::Error) -> truenorth_bandit::Error {
    error.into()
}

/// A value that cannot be.
pub(crate) fn refused(why: &impl ToString) -> PyErr {
    PyValueError::new_err(why.to_string())
}

/// With the number of the error, Python finds the fitting class: `FileNotFoundError`, `PermissionError`.
fn os_error(path: &Path, error: &io::Error) -> PyErr {
    let path = path.display().to_string();
    match error.raw_os_error() {
        Some(code) => {
            let sentence = error.to_string();
            let sentence = sentence.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((code, sentence, path))
        }
        None => PyOSError::new_err(format!("{path}: {error}")),
    }
}

/// A result as the JSON that the commands print.
pub(crate) fn json(result: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(result).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
