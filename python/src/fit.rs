//! A fit that runs beside decisions.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;

use truenorth::Fitted;

/// A fit that is due, with all that it needs: `run` it on any thread, while the policy goes on.
///
/// `begin_fit` of a `Policy` or a `Bandit` gives it, their `finish_fit` takes what it has found.
#[pyclass(frozen, module = "truenorth", skip_from_py_object)]
pub(crate) struct Fit(Mutex<State>);

#[expect(clippy::large_enum_variant, reason = "a fit is one, and becomes the larger")]
enum State {
    Due(truenorth::Fit),
    Found(truenorth::Result<Fitted>),
}

impl Fit {
    pub(crate) fn due(fit: truenorth::Fit) -> Self {
        Self(Mutex::new(State::Due(fit)))
    }

    /// What it finds, now or before.
    pub(crate) fn found(&self, py: Python<'_>) -> truenorth::Result<Fitted> {
        let mut state = self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        if let State::Due(fit) = &*state {
            let fit = fit.clone();
            *state = State::Found(py.detach(|| fit.run()));
        }
        match &*state {
            State::Found(found) => found.clone(),
            State::Due(_) => unreachable!("it has run above"),
        }
    }
}

#[pymethods]
impl Fit {
    /// Fits, while other threads of Python run.
    ///
    /// Returns
    /// -------
    /// Fit
    ///     Itself, for `finish_fit`.
    fn run<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        let _ = slf.get().found(slf.py());
        slf.clone()
    }
}
