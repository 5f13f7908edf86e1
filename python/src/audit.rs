//! What logs are worth.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use truenorth_app::audit::{Audited, Pilot, audit};
use truenorth_audit::Options;

use crate::array::{Axis, Numbers};
use crate::certificate::Certificate;
use crate::compare::Data;
use crate::error::{Result, json};
use crate::summary::{Summary, format};

/// The numbers of an audit, and the page that shows them.
#[pyclass(frozen, module = "truenorth._native", skip_from_py_object)]
pub(crate) struct Audit {
    inner: Audited,
}

#[derive(FromPyObject)]
pub(crate) enum Live<'py> {
    Summary(Bound<'py, Summary>),
    Rows((Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Vec<i64>>)),
    Data(Data<'py>),
}

#[pymethods]
impl Audit {
    #[new]
    #[pyo3(signature = (summary, pilot, *, round, format, level, margin, drift, horizon, actions))]
    #[expect(clippy::too_many_arguments, reason = "all but two are by name")]
    fn new(
        py: Python<'_>,
        summary: &Bound<'_, Summary>,
        pilot: Option<Live<'_>>,
        round: Option<&str>,
        format: Option<&str>,
        level: f64,
        margin: f64,
        drift: Option<f64>,
        horizon: u64,
        actions: usize,
    ) -> Result<Self> {
        let summary = &summary.get().inner;
        if pilot.is_none() && round.is_some() {
            return Err(PyTypeError::new_err("`round` goes with a pilot only").into());
        }
        let format = pilot.as_ref().map_or(Ok(None), |_| self::format(format))?;
        let options = Options { level, margin, drift, horizon, actions };
        let work =
            |pilot| -> Result<Self> { Ok(Self { inner: py.detach(|| audit(summary, pilot, &options))? }) };
        match pilot {
            None => work(None),
            Some(Live::Summary(live)) => work(Some(Pilot::Summary(&live.get().inner))),
            Some(Live::Data(data)) => {
                let source = data.source("pilot")?;
                work(Some(Pilot::Source { source, format, round }))
            }
            Some(Live::Rows((x, y, rounds))) => {
                let width = Axis::Exactly(summary.features().len());
                let x = Numbers::of("the pilot's X", &x, [Axis::Any("n"), width])?;
                let count = x.shape()[0];
                let y = Numbers::of("the pilot's y", &y, [Axis::Exactly(count)])?;
                if rounds.as_ref().is_some_and(|rounds| rounds.len() != count) {
                    return Err(PyValueError::new_err("the pilot needs a round for each row").into());
                }
                work(Some(Pilot::Rows { features: x.slice(), rewards: y.slice(), rounds }))
            }
        }
    }

    /// What `truenorth audit --json` prints.
    fn json(&self) -> PyResult<String> {
        json(&self.inner.found)
    }

    /// What `truenorth audit --out` writes.
    fn html(&self, py: Python<'_>, source: &str) -> Result<String> {
        Ok(py.detach(|| self.inner.page(source, None))?)
    }

    /// `certificate.toml`.
    fn certificate_toml(&self, source: &str) -> String {
        self.inner.certificate_toml(source)
    }

    /// The bound on the drift, in the units of the columns.
    #[getter]
    fn certificate(&self) -> Result<Certificate> {
        Ok(Certificate { inner: self.inner.certificate()? })
    }
}
