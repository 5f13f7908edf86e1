//! Whether the live world has moved on.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt as _;
use pyo3::types::{PyBytes, PyType};
use serde::Serialize;
use truenorth_app::monitor::{Request, monitor};
use truenorth_features::Recipe;
use truenorth_logs::{Origin, expand};
use truenorth_monitor::{Evidence, Moved, Paid};

use crate::array::{Axis, Numbers, python};
use crate::error::{Result, json, refused};
use crate::summary::{Summary, format};

/// Watches live rounds: a test that may be looked at after every one of them.
///
/// Parameters
/// ----------
/// dimension : int
///     Number of features.
/// level : float
///     Probability of a false alarm at most, of any kind, however long and often one looks.
///
/// Examples
/// --------
/// >>> import numpy as np, truenorth
/// >>> rng = np.random.default_rng(1)
/// >>> monitor = truenorth.Monitor(3)
/// >>> for t in range(1500):
/// ...     x, moved = rng.normal(size=3), 1.0 if t >= 1000 else 0.0
/// ...     monitor.observe(x, x @ [0.5 + moved, 0.0, -0.5] + rng.normal())
/// >>> monitor.moved, 1000 < monitor.evidence["alarm"] < 1300
/// (True, True)
/// >>> [feature["alarm"] is not None for feature in monitor.features]
/// [True, False, False]
#[pyclass(frozen, module = "truenorth", skip_from_py_object)]
pub(crate) struct Monitor(Mutex<truenorth_monitor::Monitor>);

impl Monitor {
    fn state(&self, py: Python<'_>) -> MutexGuard<'_, truenorth_monitor::Monitor> {
        self.0.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

/// A result as a dictionary.
pub(crate) fn shown<'py>(py: Python<'py>, result: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    python(py, "json", "loads", (json(result)?,))
}

#[pymethods]
impl Monitor {
    #[new]
    #[pyo3(signature = (dimension, level = 0.05))]
    fn new(dimension: usize, level: f64) -> PyResult<Self> {
        let monitor = truenorth_monitor::Monitor::new(dimension, level).map_err(|error| refused(&error))?;
        Ok(Self(Mutex::new(monitor)))
    }

    /// Observes a round with one reward: the features of the action that was taken, a (d,) array, and what it paid.
    fn observe(&self, py: Python<'_>, x: &Bound<'_, PyAny>, reward: f64) -> Result<()> {
        let mut state = self.state(py);
        let x = Numbers::of("x", x, [Axis::Exactly(state.dimension())])?;
        let row: Vec<(usize, f64)> = x.slice().iter().copied().enumerate().collect();
        Ok(state.observe(&row, reward).map_err(|error| refused(&error))?)
    }

    /// Observes a round of several actions that were taken together, whose rewards may depend on each other: an (n, d) array, and
    /// n rewards.
    #[expect(non_snake_case, reason = "as in every library of Python that learns")]
    fn observe_round(&self, py: Python<'_>, X: &Bound<'_, PyAny>, rewards: &Bound<'_, PyAny>) -> Result<()> {
        let mut state = self.state(py);
        let width = state.dimension();
        let x = Numbers::of("X", X, [Axis::Any("n"), Axis::Exactly(width)])?;
        let rewards = Numbers::of("rewards", rewards, [Axis::Exactly(x.shape()[0])])?;
        let rows: Vec<Vec<(usize, f64)>> =
            x.slice().chunks(width.max(1)).map(|row| row.iter().copied().enumerate().collect()).collect();
        let round: Vec<Paid<'_>> =
            rows.iter().zip(rewards.slice()).map(|(features, &reward)| Paid { features, reward }).collect();
        Ok(state.observe_round(&round).map_err(|error| refused(&error))?)
    }

    /// Watches more features, which were all 0 so far.
    fn grow(&self, py: Python<'_>, dimension: usize) {
        self.state(py).grow(dimension);
    }

    /// Whether anything has moved: an alarm was given.
    #[getter]
    fn moved(&self, py: Python<'_>) -> bool {
        self.state(py).evidence().alarm.is_some()
    }

    /// Whether there were enough rounds to watch anything.
    #[getter]
    fn watching(&self, py: Python<'_>) -> bool {
        self.state(py).is_watching()
    }

    /// Evidence that anything has moved: ``evidence``, the ``needed`` for an alarm, and the round of the ``alarm``, from 1.
    #[getter]
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let evidence: Evidence = self.state(py).evidence();
        shown(py, &evidence)
    }

    /// The same for every feature, with ``since``, ``shift`` and ``stderr``: since which round it has been moving, and how far.
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let state = self.state(py);
        let features: Vec<Moved> = (0..state.dimension()).map(|place| state.feature(place)).collect();
        drop(state);
        shown(py, &features)
    }

    /// Rounds that were observed.
    #[getter]
    fn rounds(&self, py: Python<'_>) -> u64 {
        self.state(py).rounds()
    }

    /// Number of features.
    #[getter]
    fn dimension(&self, py: Python<'_>) -> usize {
        self.state(py).dimension()
    }

    /// Probability of a false alarm at most.
    #[getter]
    fn level(&self, py: Python<'_>) -> f64 {
        self.state(py).level()
    }

    /// The whole state, to be continued by `from_bytes`.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = postcard::to_allocvec(&*self.state(py)).map_err(|error| refused(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Continues from what `to_bytes` gave, bit for bit.
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, data: &[u8]) -> PyResult<Self> {
        let monitor: truenorth_monitor::Monitor =
            postcard::from_bytes(data).map_err(|_| refused(&"these bytes are not a monitor"))?;
        if !monitor.is_sound() {
            return Err(refused(&"these bytes are not a monitor"));
        }
        Ok(Self(Mutex::new(monitor)))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let restore = slf.get_type().getattr("from_bytes")?;
        let bytes = slf.get().to_bytes(slf.py())?;
        Ok((restore, (bytes,)).into_pyobject(slf.py())?.into_any())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let state = self.state(py);
        let Evidence { evidence, alarm, .. } = state.evidence();
        let alarm = alarm.map_or_else(|| "None".to_owned(), |round| round.to_string());
        format!(
            "Monitor(dimension={}, rounds={}, evidence={evidence:.3}, alarm={alarm})",
            state.dimension(),
            state.rounds()
        )
    }
}

/// Watches the events of files.
#[pyfunction]
pub(crate) fn monitor_files(
    py: Python<'_>,
    files: Vec<PathBuf>,
    summary: Option<&Bound<'_, Summary>>,
    model: Option<&str>,
    format: Option<&str>,
    level: f64,
) -> Result<String> {
    let empty;
    let summary = if let Some(summary) = summary {
        &summary.get().inner
    } else {
        let model = model.unwrap_or_default().parse().map_err(truenorth_app::Error::Model)?;
        let recipe = Recipe::without_data(model).map_err(truenorth_app::Error::Model)?;
        empty = truenorth_logs::Summary::empty(Origin::events(), recipe);
        &empty
    };
    let format = self::format(format)?;
    let watched = py.detach(|| {
        let events = expand(&files)?;
        monitor(&Request { events: &events, format, summary, level })
    })?;
    Ok(json(&watched)?)
}
