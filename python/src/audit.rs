//! What logs are worth.

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use truenorth::Matrix;
use truenorth_audit::{Options, Pilot};
use truenorth_logs::Problem;

use crate::array::{Axis, Numbers};
use crate::certificate::Certificate;
use crate::error::Failure;
use crate::summary::{Summary, batches, format};

/// Column that is taken for the rounds of a file where none is named.
const ROUND: &str = "round";

/// The numbers of an audit, and the page that shows them.
#[pyclass(frozen, module = "truenorth._native", skip_from_py_object)]
pub(crate) struct Audit {
    found: truenorth_audit::Audit,
    labels: Vec<String>,
}

/// Rows of live data as an array, with the features of a summary but for the intercept.
fn rows(
    summary: &truenorth_logs::Summary,
    (x, y, rounds): (Bound<'_, PyAny>, Bound<'_, PyAny>, Option<Vec<i64>>),
) -> PyResult<Pilot> {
    let width = summary.features().len();
    let x = Numbers::of("the pilot's X", &x, [Axis::Any("n"), Axis::Exactly(width)])?;
    let count = x.shape()[0];
    let y = Numbers::of("the pilot's y", &y, [Axis::Exactly(count)])?;
    if rounds.as_ref().is_some_and(|rounds| rounds.len() != count) {
        return Err(PyValueError::new_err("the pilot needs a round for each row"));
    }
    let scale = summary.scale();
    let intercept = summary.recipe().intercept.then_some(scale);
    let row = |row: &[f64]| intercept.into_iter().chain(row.iter().map(|x| x * scale)).collect::<Vec<f64>>();
    let features = x.slice()?.chunks_exact(width.max(1)).flat_map(row).collect();
    // Any numbers name rounds; the audit wants them from 0 on.
    let mut known = std::collections::HashMap::new();
    let rounds = rounds.map(|rounds| {
        let number = |round| {
            let next = known.len();
            *known.entry(round).or_insert(next)
        };
        rounds.into_iter().map(number).collect()
    });
    Ok(Pilot::Rows { features, rewards: y.slice()?.to_vec(), rounds })
}

/// A summary of live rows.
fn sums(summary: &truenorth_logs::Summary, live: &truenorth_logs::Summary) -> PyResult<Pilot> {
    let comparable = summary.recipe().check_live(live.recipe());
    comparable.map_err(|reason| PyValueError::new_err(format!("the pilot: {reason}")))?;
    Ok(Pilot::Statistic(live.statistic_as(summary).map_err(Failure::from)?))
}

#[derive(FromPyObject)]
pub(crate) enum Live<'py> {
    Summary(Bound<'py, Summary>),
    Rows((Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Vec<i64>>)),
    File(PathBuf),
    Table(Bound<'py, PyAny>),
}

impl Live<'_> {
    fn pilot(
        self,
        summary: &truenorth_logs::Summary,
        round: Option<&str>,
        told: Option<&str>,
    ) -> PyResult<Pilot> {
        let told = format(told)?;
        let found = match self {
            Self::Rows(parts) => return rows(summary, parts),
            Self::Summary(live) => return sums(summary, &live.get().inner),
            Self::File(path) if truenorth_logs::Summary::is_summary(&path) => {
                return sums(summary, &truenorth_logs::Summary::read(path).map_err(Failure::from)?);
            }
            Self::File(path) if round.is_none() && summary.names().iter().any(|name| name == ROUND) => {
                summary.read_rows(&path, told, None)
            }
            Self::File(path) => match (round, summary.read_rows(&path, told, round.or(Some(ROUND)))) {
                // As for the command: the column `round`, if there is one.
                (None, Err(error)) if matches!(&error.problem, Problem::NoColumn { name, .. } if name == ROUND) => {
                    summary.read_rows(&path, told, None)
                }
                (_, found) => found,
            },
            Self::Table(table) => summary.rows_of_batches(batches(&table)?, "pilot", round),
        };
        let found = found.map_err(Failure::from)?;
        Ok(Pilot::Rows { features: found.features, rewards: found.rewards, rounds: found.rounds })
    }
}

#[pymethods]
impl Audit {
    #[new]
    #[pyo3(signature = (summary, pilot, *, round, format, level, margin, drift, horizon, actions, constant))]
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
        constant: f64,
    ) -> PyResult<Self> {
        let summary = &summary.get().inner;
        if pilot.is_none() && round.is_some() {
            return Err(PyTypeError::new_err("`round` goes with a pilot only"));
        }
        let pilot = pilot.map(|live| live.pilot(summary, round, format)).transpose()?;
        let options = Options { level, margin, drift, horizon, actions, constant };
        let found = py.detach(|| -> Result<_, Failure> {
            let logs = summary.statistic()?;
            let names = summary.names();
            Ok(truenorth_audit::audit(&logs, &names, summary.scale(), pilot.as_ref(), &options)?)
        });
        Ok(Self { found: found?, labels: summary.labels() })
    }

    /// What `truenorth audit --json` prints.
    fn json(&self) -> PyResult<String> {
        Ok(serde_json::to_string(&self.found).map_err(|error| Failure::Broken(error.to_string()))?)
    }

    /// What `truenorth audit --out` writes.
    fn html(&self, py: Python<'_>, source: &str) -> PyResult<String> {
        let mut labelled = self.found.clone();
        for (feature, label) in labelled.features.iter_mut().zip(&self.labels) {
            feature.name.clone_from(label);
        }
        Ok(py.detach(|| truenorth_audit::page(&labelled, source).map_err(Failure::from))?)
    }

    /// `certificate.toml`.
    fn certificate_toml(&self, source: &str) -> String {
        let names: Vec<String> = self.found.features.iter().map(|feature| feature.name.clone()).collect();
        truenorth_audit::certificate_toml(&self.found.certificate, &names, source)
    }

    /// The bound on the drift, in the units of the columns.
    #[getter]
    fn certificate(&self) -> PyResult<Certificate> {
        let view = &self.found.certificate;
        let side = view.matrix.len();
        let matrix = Matrix::from_row_iterator(side, side, view.matrix.iter().flatten().copied());
        let inner = truenorth::Certificate::new(matrix, view.rho).map_err(Failure::from)?;
        Ok(Certificate { inner })
    }
}
