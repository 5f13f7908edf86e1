//! Logs, summed up.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader,
    StringArray,
};
use arrow_pyarrow::FromPyArrow as _;
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use serde::{Deserialize, Serialize};
use truenorth_app::Error;
use truenorth_app::summarize::{Asked, summarize};
use truenorth_features::{Event, Joining, Rows, nearest};
use truenorth_logs::{
    BUCKETS, EventRows, Format, Missing, Names, Plan, Selection, Tolerance, array_batches, expand,
};

use crate::array::{Axis, Numbers, python};
use crate::choice::matrix;
use crate::error::{Result, json, refused};
use crate::event::whole_event;
use crate::params::given;
use crate::policy::few;

/// How many numbers a table that is given back has at most: a gigabyte.
const MOST: usize = 1 << 27;

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

    /// The model: which features there are, as a formula.
    #[getter]
    fn model(&self) -> String {
        self.inner.recipe().model.to_string()
    }

    /// One sentence for each term of the model that cannot change a choice.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.inner.recipe().warnings()
    }

    /// How features are made of raw values: the model, what fields hold, which of them belong to the action, where bins end.
    #[getter]
    fn recipe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let recipe = self.inner.recipe();
        let mut shown = serde_json::to_value(recipe).map_err(|error| refused(&error))?;
        shown["model"] = recipe.model.to_string().into();
        shown["missing"] = format!("{:?}", recipe.missing).to_lowercase().into();
        python(py, "json", "loads", (json(&shown)?,))
    }

    /// Sum of the products of every two features, a (d, d) array, in the order of `names`.
    #[getter]
    fn gram<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<f64>>> {
        Ok(matrix(py, self.inner.unscaled_statistic()?.gram(), self.inner.dimension().max(1))?)
    }

    /// Sum of the products of every feature and the reward, a (d,) array.
    #[getter]
    fn moment<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_slice(py, self.inner.unscaled_statistic()?.moment()))
    }

    /// Rows of other events with these features, as a policy would see them: a data frame with their names.
    ///
    /// Parameters
    /// ----------
    /// events : path, table, dict or list of dict
    ///     A file or table as `truenorth.summarize` reads it, in which a reward may be absent, or events:
    ///     ``{"context": {..}, "actions": [..]}``. Every action is a row.
    ///
    /// Returns
    /// -------
    /// DataFrame
    ///     Of polars where the events are one, of pandas where that is installed, otherwise a dictionary of columns. Levels
    ///     that were never logged are further columns.
    ///
    /// Examples
    /// --------
    /// >>> import truenorth
    /// >>> logs = truenorth.summarize({"item": ["a", "b", "a"], "reward": [1, 0, 1]}, model="item", reward="reward", action="item")
    /// >>> list(logs.encode({"actions": [{"id": "a"}, {"id": "b"}]}))
    /// ['intercept', 'item=a', 'item=b']
    fn encode<'py>(&self, events: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        let py = events.py();
        let found = self::events(events, &self.inner)?;
        let encoded = py.detach(|| self.encoded(found))?;
        encoded.frame(py, Some(events))
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

    /// The summary that a database has computed, by the query of `truenorth.sql.summary_query`.
    ///
    /// Parameters
    /// ----------
    /// answer : cursor, table or dict
    ///     All rows of the answer: a cursor that has executed the query, a table of pandas, polars or Arrow, or a
    ///     dictionary of columns.
    /// name : str
    ///     What the rows come from, for `files`.
    ///
    /// Returns
    /// -------
    /// Summary
    #[classmethod]
    #[pyo3(signature = (answer, name = "database"))]
    fn from_sql(_class: &Bound<'_, PyType>, answer: &Bound<'_, PyAny>, name: &str) -> Result<Self> {
        let py = answer.py();
        let table = python(py, "truenorth._frames", "answer", (answer,))?;
        let batches = batches(&table)?;
        Ok(Self { inner: py.detach(|| truenorth_logs::Summary::from_sql(batches, name))? })
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
        format!("Summary(rows={}, features=[{}])", self.inner.rows(), few(&self.inner.names()))
    }
}

impl Summary {
    fn encoded(&self, events: Events) -> Result<Encoded> {
        // Features that were never logged join, as they do in a bandit.
        let mut encoder = self.inner.encoder(Joining::Sharing(usize::MAX));
        let intercept = self.inner.recipe().model.intercept;
        let (mut encoded, mut rows) = (Encoded::default(), Rows::default());
        for event in events {
            let event = event?;
            encoder.rows(&event, &mut rows).map_err(Error::Model)?;
            for action in 0..event.len() {
                encoded.ids.push(event.id(action).to_owned());
                let features = rows.row(action).iter();
                let features = features.map(|&(at, value)| (usize::from(intercept) + at as usize, value));
                encoded.rows.push(intercept.then_some((0, 1.0)).into_iter().chain(features).collect());
            }
        }
        let joined = encoder.features().iter().skip(self.inner.features().len());
        encoded.names = self.inner.names().into_iter().chain(joined.map(|new| new.name.clone())).collect();
        Ok(encoded)
    }
}

/// Logs that are summed up, or their file.
#[derive(FromPyObject)]
pub(crate) enum Logs<'py> {
    Summary(Bound<'py, Summary>),
    Path(PathBuf),
    Other(Bound<'py, PyAny>),
}

impl Logs<'_> {
    pub(crate) fn summary(self) -> Result<truenorth_logs::Summary> {
        Ok(match self {
            Self::Summary(summary) => summary.get().inner.clone(),
            Self::Path(path) => truenorth_logs::Summary::read(path)?,
            Self::Other(other) => {
                let sentence = format!("logs are a Summary or its file, but this is {}", other.get_type());
                return Err(PyTypeError::new_err(sentence).into());
            }
        })
    }
}

/// Events, read or made one after another.
pub(crate) type Events = Box<dyn Iterator<Item = truenorth_logs::Result<Event>> + Send>;

/// The events of files, of a table, or one by one, for the features of a summary.
pub(crate) fn events(data: &Bound<'_, PyAny>, like: &truenorth_logs::Summary) -> Result<Events> {
    let found = python(data.py(), "truenorth._frames", "events", (data,))?;
    let (kind, data): (String, Bound<'_, PyAny>) = found.extract()?;
    Ok(match kind.as_str() {
        "files" => {
            let open = |path: PathBuf| EventRows::open(&path, None, like);
            let files = expand(&data.extract::<Vec<PathBuf>>()?)?.into_iter().map(open);
            Box::new(files.collect::<truenorth_logs::Result<Vec<_>>>()?.into_iter().flatten())
        }
        "events" => {
            let own_id = like.recipe().id.as_deref();
            let made = data.try_iter()?.map(|event| whole_event(&event?, own_id));
            Box::new(made.collect::<Result<Vec<_>>>()?.into_iter().map(Ok))
        }
        _ => Box::new(EventRows::of_batches(batches(&data)?, "the table", like)?),
    })
}

/// Rows of named features, by those that are not 0; the values of a feature that comes twice add up.
#[derive(Default)]
pub(crate) struct Encoded {
    pub(crate) ids: Vec<String>,
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<Vec<(usize, f64)>>,
}

impl Encoded {
    /// A data frame of the library that `like` is from.
    pub(crate) fn frame<'py>(
        self,
        py: Python<'py>,
        like: Option<&Bound<'py, PyAny>>,
    ) -> Result<Bound<'py, PyAny>> {
        let width = self.names.len();
        if self.rows.len().saturating_mul(width) > MOST {
            let sentence = format!("{} rows of {width} features are too many for a table", self.rows.len());
            return Err(PyValueError::new_err(sentence).into());
        }
        let mut dense = vec![0.0; self.rows.len() * width];
        for (row, dense) in self.rows.iter().zip(dense.chunks_exact_mut(width.max(1))) {
            for &(place, value) in row {
                dense[place] += value;
            }
        }
        let matrix = matrix(py, dense, width.max(1))?;
        Ok(python(py, "truenorth._frames", "frame", (self.names, matrix, self.ids, like))?)
    }
}

/// What `summarize` was told, but for the data.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Told {
    model: Option<String>,
    features: String,
    reward: Option<String>,
    one_hot: String,
    hash: String,
    action: String,
    chosen: Option<String>,
    buckets: Option<u32>,
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
    truenorth_app::format(name).map_err(|known| one_of("format", name, &known))
}

/// What to do about missing values, by its name.
pub(crate) fn missing(name: &str) -> PyResult<Missing> {
    Ok(match name {
        "refuse" => Missing::Refuse,
        "drop" => Missing::Drop,
        "mean" => Missing::Mean,
        "zero" => Missing::Zero,
        other => return Err(one_of("missing", other, "refuse, drop, mean, zero")),
    })
}

/// A word that must be one of others.
fn one_of(setting: &str, word: &str, known: &str) -> PyErr {
    let near = nearest(word, known.split(", "));
    let hint = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
    PyValueError::new_err(format!("`{setting}` must be one of {known}, but is {word:?}{hint}"))
}

impl Told {
    pub(crate) fn of(told: &Bound<'_, PyDict>) -> PyResult<Self> {
        Ok(Self {
            model: given(told, "model")?,
            features: given(told, "features")?.unwrap_or_default(),
            reward: given(told, "reward")?,
            one_hot: given(told, "one_hot")?.unwrap_or_default(),
            hash: given(told, "hash")?.unwrap_or_default(),
            action: given(told, "action")?.unwrap_or_default(),
            chosen: given(told, "chosen")?,
            buckets: given(told, "buckets")?,
            keep_names: given(told, "keep_names")?.unwrap_or_default(),
            intercept: given(told, "intercept")?.unwrap_or_default(),
            missing: given(told, "missing")?.unwrap_or_default(),
            skip_malformed: given(told, "skip_malformed")?.unwrap_or_default(),
            reward_range: given(told, "reward_range")?,
            format: given(told, "format")?,
            items: given(told, "items")?,
            threads: given(told, "threads")?.unwrap_or_default(),
        })
    }

    pub(crate) fn plan(self) -> Result<Plan> {
        let wrong = |sentence: String| Err(PyValueError::new_err(sentence).into());
        let missing = missing(&self.missing)?;
        if self.reward_range.is_some_and(|(low, high)| low > high || low.is_nan() || high.is_nan()) {
            return wrong("`reward_range` takes two numbers, the smaller first".to_owned());
        }
        if let Some(buckets) = self.buckets.filter(|buckets| !(1..=4096).contains(buckets)) {
            return wrong(format!("`buckets` must be from 1 to 4096, but is {buckets}"));
        }
        let asked = Asked {
            model: self.model.as_deref(),
            features: &self.features,
            one_hot: &self.one_hot,
            hash: &self.hash,
            reward: self.reward.as_deref(),
            action: &self.action,
            chosen: self.chosen.as_deref(),
        };
        if self.keep_names && self.model.is_some() {
            return wrong("`keep_names` goes without a `model`".to_owned());
        }
        let mut plan = Plan {
            selection: None,
            model: None,
            format: format(self.format.as_deref())?,
            buckets: self.buckets.unwrap_or(BUCKETS),
            names: match (self.keep_names, self.buckets) {
                (true, _) => Names::Kept,
                (false, Some(_)) => Names::Hashed,
                (false, None) => Names::Model,
            },
            intercept: self.intercept,
            tolerance: Tolerance { missing, skip_malformed: self.skip_malformed, range: self.reward_range },
            items: self.items.clone(),
            threads: self.threads,
        };
        asked.tell(&mut plan)?;
        Ok(plan)
    }
}

/// Sums up files: logs, and summaries, which are added.
#[pyfunction]
pub(crate) fn summarize_files(files: Vec<PathBuf>, told: &Bound<'_, PyDict>) -> Result<Summary> {
    let plan = Told::of(told)?.plan()?;
    let inner = told.py().detach(|| {
        let (summaries, logs): (Vec<PathBuf>, Vec<PathBuf>) =
            expand(&files)?.into_iter().partition(|path| truenorth_logs::Summary::is_summary(path));
        Ok::<_, Error>(summarize(&plan, &summaries, &logs, &|_| ())?.whole)
    })?;
    Ok(Summary { inner })
}

/// A table from its columns: numbers, truth values, texts or dates, in which None and NaN are missing.
fn record_batch(columns: &Bound<'_, PyDict>) -> PyResult<RecordBatch> {
    let array = |name: &str, values: &Bound<'_, PyAny>| -> PyResult<ArrayRef> {
        if let Ok(truths) = values.extract::<Vec<Option<bool>>>() {
            return Ok(Arc::new(BooleanArray::from(truths)));
        }
        if let Ok(numbers) = values.extract::<Vec<Option<i64>>>() {
            return Ok(Arc::new(Int64Array::from(numbers)));
        }
        if let Ok(numbers) = values.extract::<Vec<Option<f64>>>() {
            let numbers = numbers.into_iter().map(|number| number.filter(|number| !number.is_nan()));
            return Ok(Arc::new(numbers.collect::<Float64Array>()));
        }
        let dates = || -> PyResult<Vec<Option<String>>> {
            python(values.py(), "truenorth._frames", "texts", (values,))?.extract()
        };
        let texts = values.extract::<Vec<Option<String>>>().or_else(|_| dates()).map_err(|_| {
            PyTypeError::new_err(format!(
                "column `{name}` must hold numbers, truth values, texts or dates, of one kind"
            ))
        })?;
        Ok(Arc::new(StringArray::from(texts)))
    };
    let named = columns.iter().map(|(name, values)| {
        let name = name.str()?.to_str()?.to_owned();
        let values = if values.hasattr("tolist")? {
            python(values.py(), "truenorth._frames", "plain", (&values,))?
        } else {
            values
        };
        let array = array(&name, &values)?;
        Ok((name, array))
    });
    let named = named.collect::<PyResult<Vec<_>>>()?;
    RecordBatch::try_from_iter(named).map_err(|error| refused(&format!("the columns are no table: {error}")))
}

/// Batches of a dictionary of columns, or of anything that speaks Arrow's PyCapsule interface.
pub(crate) fn batches(data: &Bound<'_, PyAny>) -> PyResult<Box<dyn RecordBatchReader + Send>> {
    if let Ok(columns) = data.cast::<PyDict>() {
        let batch = record_batch(columns)?;
        let schema = batch.schema();
        return Ok(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    }
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
pub(crate) fn summarize_arrow(
    data: &Bound<'_, PyAny>,
    name: &str,
    told: &Bound<'_, PyDict>,
) -> Result<Summary> {
    let plan = Told::of(told)?.plan()?;
    let batches = batches(data)?;
    let inner = data.py().detach(|| plan.summarize_batches(batches, name))?;
    Ok(Summary { inner })
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
    told: &Bound<'_, PyDict>,
) -> Result<Summary> {
    let rows = Numbers::of("Z", Z, [Axis::Any("n"), Axis::Exactly(names.len())])?;
    let rewards = Numbers::of("y", y, [Axis::Exactly(rows.shape()[0])])?;
    let mut plan = Told::of(told)?.plan()?;
    plan.selection = Some(Selection::named(&names, reward));
    let batches = array_batches(&names, rows.slice(), reward, rewards.slice());
    Ok(Summary { inner: py.detach(|| plan.summarize_batches(batches, "array"))? })
}
