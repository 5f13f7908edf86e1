//! What the libraries refuse, as Python exceptions: one place that decides which.

use std::io;

use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use truenorth_logs::Problem;

/// Anything that can go wrong below Python.
pub(crate) enum Failure {
    Core(truenorth::Error),
    Logs(truenorth_logs::Error),
    Experiment(truenorth_sim::Error),
    Drawing(truenorth_report::Error),
    File(String, io::Error),
    Value(String),
    Broken(String),
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Core(error) => PyValueError::new_err(error.to_string()),
            Failure::Experiment(error) => PyValueError::new_err(error.to_string()),
            Failure::Value(sentence) => PyValueError::new_err(sentence),
            Failure::Logs(error) => match &error.problem {
                Problem::Unreadable(cause) => os_error(error.path.display().to_string(), cause),
                _ => PyValueError::new_err(error.to_string()),
            },
            Failure::File(path, error) => os_error(path, &error),
            Failure::Drawing(error) => PyRuntimeError::new_err(error.to_string()),
            Failure::Broken(sentence) => PyRuntimeError::new_err(sentence),
        }
    }
}

/// With the number of the error, Python finds the fitting class: `FileNotFoundError`, `PermissionError`.
fn os_error(path: String, error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(code) => {
            let sentence = error.to_string();
            let sentence = sentence.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((code, sentence, path))
        }
        None => PyOSError::new_err(format!("{path}: {error}")),
    }
}

impl From<truenorth::Error> for Failure {
    fn from(error: truenorth::Error) -> Self {
        Self::Core(error)
    }
}

impl From<truenorth_logs::Error> for Failure {
    fn from(error: truenorth_logs::Error) -> Self {
        Self::Logs(error)
    }
}

impl From<truenorth_sim::Error> for Failure {
    fn from(error: truenorth_sim::Error) -> Self {
        Self::Experiment(error)
    }
}

impl From<truenorth_report::Error> for Failure {
    fn from(error: truenorth_report::Error) -> Self {
        Self::Drawing(error)
    }
}
