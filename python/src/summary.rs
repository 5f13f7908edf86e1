//! Logs, summed up.

use std::path::PathBuf;

use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_pyarrow::FromPyArrow as _;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use truenorth_app::Error;
use truenorth_app::summarize::{selection, summarize};
use truenorth_logs::{Format, Missing, Plan, Selection, Tolerance, array_batches, expand};

use crate::array::{Axis, Numbers};
use crate::error::{Result, refused};

/// Logs, summed up: all that a linear model needs to know of them.
///
/// Made by `truenorth.summarize`; summaries of the same columns add up.
///
/// Examples
/// --------
/// >>> import numpy as np, truenorth
/// >>> Z, y = np.eye(3), np.array([1.0, 2.0, 3.0])
/// >>> summary = truenorth.summarize(Z, y, names=["a", "b", "c"])
/// >>> summary.rows, summary.dimension, summary.names
/// (3, 3, ['a', 'b', 'c'])
/// >>> (summary + summary).rows
/// 6
#[pyclass(frozen, module = "truenorth", skip_from_py_object)]
pub(crate) struct Summary {
    pub(crate) inner: truenorth_logs::Summary,
}

#[pymethods]
impl Summary {
    /// Number of rows that are counted.
    #[getter]
    fn rows(&self) -> u64 {
        self.inner.rows()
    }

    /// Number of features, the intercept included.
    #[getter]
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    /// Names of the features in their order, the intercept first if there is one.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.inner.names()
    }

    /// Mean of the reward.
    #[getter]
    fn mean_reward(&self) -> f64 {
        self.inner.mean_reward()
    }

    /// What features would have to be multiplied by so that no row is longer than 1.
    #[getter]
    fn scale(&self) -> f64 {
        self.inner.scale()
    }

    /// Where the rows come from, with their numbers.
    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.inner.files().into_pyobject(py)
    }

    /// Rows that were left out: (reason, how many, the first).
    #[getter]
    fn rejected(&self) -> Vec<(String, u64, String)> {
        let rejected = self.inner.rejected().iter();
        rejected.map(|left| (left.reason.clone(), left.rows, left.first.clone())).collect()
    }

    /// The summary as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.to_bytes())
    }

    /// A summary from its bytes.
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, data: &[u8]) -> PyResult<Self> {
        let inner = truenorth_logs::Summary::from_bytes(data).map_err(|problem| refused(&problem))?;
        Ok(Self { inner })
    }

    /// Writes the file that `truenorth summarize` writes.
    fn save(&self, path: PathBuf) -> Result<()> {
        Ok(self.inner.write(&path).map_err(Error::file(&path))?)
    }

    /// Reads the file that `truenorth summarize` writes.
    #[classmethod]
    fn load(_class: &Bound<'_, PyType>, path: PathBuf) -> Result<Self> {
        Ok(Self { inner: truenorth_logs::Summary::read(path)? })
    }

    fn __add__(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Ok(other) = other.cast::<Self>() else {
            let sentence = format!("only a Summary adds to a Summary, but this is {}", other.get_type());
            return Err(PyTypeError::new_err(sentence));
        };
        let mut inner = self.inner.clone();
        inner.merge(&other.get().inner).map_err(|problem| refused(&problem))?;
        Ok(Self { inner })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.inner == other.get().inner)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let restore = slf.get_type().getattr("from_bytes")?;
        Ok((restore, (slf.get().to_bytes(slf.py()),)).into_pyobject(slf.py())?.into_any())
    }

    fn __repr__(&self) -> String {
        let names = self.inner.names();
        let shown: Vec<&str> = names.iter().take(6).map(String::as_str).collect();
        let more = if names.len() > shown.len() { ", ..." } else { "" };
        format!("Summary(rows={}, features=[{}{more}])", self.inner.rows(), shown.join(", "))
    }
}

/// What `summarize` was told, but for the data.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Told {
    features: String,
    reward: Option<String>,
    one_hot: String,
    hash: String,
    buckets: u32,
    keep_names: bool,
    intercept: bool,
    missing: String,
    skip_malformed: bool,
    reward_range: Option<(f64, f64)>,
    format: Option<String>,
    items: Option<PathBuf>,
    threads: usize,
}

/// A format by its name.
pub(crate) fn format(name: Option<&str>) -> PyResult<Option<Format>> {
    let name = name.unwrap_or("auto");
    let unknown = |known: String| format!("`format` must be one of {known}, but is {name:?}");
    truenorth_app::format(name).map_err(|known| PyValueError::new_err(unknown(known)))
}

impl Told {
    fn plan(self) -> Result<Plan> {
        let wrong = |sentence: String| Err(PyValueError::new_err(sentence).into());
        let missing = match self.missing.as_str() {
            "refuse" => Missing::Refuse,
            "drop" => Missing::Drop,
            "mean" => Missing::Mean,
            other => return wrong(format!("`missing` must be one of refuse, drop, mean, but is {other:?}")),
        };
        if self.reward_range.is_some_and(|(low, high)| low > high || low.is_nan() || high.is_nan()) {
            return wrong("`reward_range` takes two numbers, the smaller first".to_owned());
        }
        if !(1..=4096).contains(&self.buckets) {
            return wrong(format!("`buckets` must be from 1 to 4096, but is {}", self.buckets));
        }
        Ok(Plan {
            selection: selection(&self.features, self.reward.as_deref(), &self.one_hot, &self.hash)?,
            format: format(self.format.as_deref())?,
            buckets: self.buckets,
            keep_names: self.keep_names,
            intercept: self.intercept,
            tolerance: Tolerance { missing, skip_malformed: self.skip_malformed, range: self.reward_range },
            items: self.items,
            threads: self.threads,
        })
    }
}

/// Sums up files: logs, and summaries, which are added.
#[pyfunction]
pub(crate) fn summarize_files(py: Python<'_>, files: Vec<PathBuf>, told: Told) -> Result<Summary> {
    let plan = told.plan()?;
    py.detach(|| {
        let (summaries, logs): (Vec<PathBuf>, Vec<PathBuf>) =
            expand(&files)?.into_iter().partition(|path| truenorth_logs::Summary::is_summary(path));
        Ok(Summary { inner: summarize(&plan, &summaries, &logs, &|_| ())?.whole })
    })
}

/// Batches of anything that speaks Arrow's PyCapsule interface.
pub(crate) fn batches(data: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    // A stream of several batches, or one batch.
    if data.hasattr("__arrow_c_stream__")? {
        return Ok(Box::new(RecordBatchStreamReader::from_pyarrow_bound(data)?));
    }
    let batch = RecordBatch::from_pyarrow_bound(data)?;
    let schema = batch.schema();
    Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)))
}

/// Sums up a table in memory.
#[pyfunction]
pub(crate) fn summarize_arrow(data: &Bound<'_, PyAny>, name: &str, told: Told) -> Result<Summary> {
    let plan = told.plan()?;
    let batches = batches(data)?;
    Ok(Summary { inner: data.py().detach(|| plan.summarize_batches(batches, name))? })
}

/// Sums up the rows of an array.
#[pyfunction]
#[expect(non_snake_case, reason = "as in every library of Python that learns")]
pub(crate) fn summarize_rows(
    py: Python<'_>,
    Z: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
    names: Vec<String>,
    reward: &str,
    told: Told,
) -> Result<Summary> {
    let rows = Numbers::of("Z", Z, [Axis::Any("n"), Axis::Exactly(names.len())])?;
    let rewards = Numbers::of("y", y, [Axis::Exactly(rows.shape()[0])])?;
    let mut plan = told.plan()?;
    plan.selection = Some(Selection::named(&names, reward));
    let batches = array_batches(&names, rows.slice(), reward, rewards.slice());
    Ok(Summary { inner: py.detach(|| plan.summarize_batches(batches, "array"))? })
}
