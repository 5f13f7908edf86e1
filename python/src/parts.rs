//! Tables in parts that other programs read and send around: surveyed, then summed up, each piece as bytes.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use serde::Serialize;
use serde::de::DeserializeOwned;
use truenorth::frame::{Magic, framed, unframed};
use truenorth_logs::{Made, Surveyed};

use crate::error::{Result, refused};
use crate::summary::{Summary, Told, batches};

const VERSION: u32 = 1;
const SURVEY: Magic = *b"tn-survey";
const RECIPE: Magic = *b"tn-recipe";

fn from_bytes<T: DeserializeOwned>(what: &str, magic: Magic, bytes: &[u8]) -> PyResult<T> {
    let read = unframed(magic, VERSION, bytes).ok().and_then(|payload| postcard::from_bytes(payload).ok());
    read.ok_or_else(|| refused(&format!("these are not the bytes of a {what} of this version")))
}

fn bytes<'py>(py: Python<'py>, magic: Magic, content: &impl Serialize) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &framed(magic, VERSION, content))
}

/// What a part of a table holds: kinds of columns, levels, and what quantiles are computed from.
///
/// Made by `truenorth.survey`. Surveys of parts add up, in the order of the parts, to the survey of the whole table,
/// wherever the parts end; `recipe` then says how features are made.
///
/// Examples
/// --------
/// >>> import truenorth
/// >>> asked = {"model": "bins(age, 2)", "reward": "reward"}
/// >>> survey = truenorth.survey({"age": [20, 30], "reward": [0, 1]}, **asked)
/// >>> survey += truenorth.survey({"age": [40, 50], "reward": [1, 1]}, **asked)
/// >>> survey.recipe().model, survey.rows
/// ('bins(age, 2)', 4)
#[pyclass(frozen, module = "truenorth", skip_from_py_object)]
pub(crate) struct Survey {
    told: Told,
    inner: Surveyed,
}

#[pymethods]
impl Survey {
    /// Rows that were looked at; none where the types of the columns say enough.
    #[getter]
    fn rows(&self) -> u64 {
        self.inner.rows()
    }

    /// Whether the model needs all parts to be surveyed: for quantiles, or where there is no model, or a column without a type.
    #[getter]
    fn needs_rows(&self) -> Result<bool> {
        Ok(self.told.clone().plan()?.needs_rows(&self.inner))
    }

    /// The columns that a survey of all parts has to look at, in the order of their names.
    #[getter]
    fn columns(&self) -> Result<Vec<String>> {
        Ok(self.told.clone().plan()?.surveyed_columns(&self.inner)?.into_iter().collect())
    }

    /// How features are made of the rows.
    fn recipe(&self) -> Result<Recipe> {
        let made = self.told.clone().plan()?.make(&self.inner)?;
        Ok(Recipe { told: self.told.clone(), made })
    }

    /// The survey as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, SURVEY, &(&self.told, &self.inner))
    }

    /// A survey from its bytes.
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, data: &[u8]) -> PyResult<Self> {
        let (told, inner) = from_bytes("survey", SURVEY, data)?;
        Ok(Self { told, inner })
    }

    fn __add__(&self, other: &Bound<'_, Self>) -> PyResult<Self> {
        let other = other.get();
        if self.told != other.told {
            return Err(refused(&"the two surveys were asked for other features"));
        }
        let mut inner = self.inner.clone();
        inner.merge(other.inner.clone()).map_err(|problem| refused(&problem))?;
        Ok(Self { told: self.told.clone(), inner })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<Self>();
        other.is_ok_and(|other| self.told == other.get().told && self.inner == other.get().inner)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let restore = slf.get_type().getattr("from_bytes")?;
        Ok((restore, (slf.get().to_bytes(slf.py()),)).into_pyobject(slf.py())?.into_any())
    }

    fn __repr__(&self) -> String {
        format!("Survey(rows={})", self.inner.rows())
    }
}

/// How features are made of the rows of a table, for all of its parts: `truenorth.summarize(part, recipe=recipe)`.
///
/// Made by `Survey.recipe`; it travels by pickle or as bytes.
#[pyclass(frozen, module = "truenorth", skip_from_py_object)]
pub(crate) struct Recipe {
    told: Told,
    made: Made,
}

#[pymethods]
impl Recipe {
    /// The model: which features there are, as a formula.
    #[getter]
    fn model(&self) -> String {
        self.made.recipe().model.to_string()
    }

    /// The columns that are read.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.made.columns().iter().cloned().collect()
    }

    /// One sentence for each term of the model that cannot change a choice.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.made.recipe().warnings()
    }

    /// The recipe as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, RECIPE, &(&self.told, &self.made))
    }

    /// A recipe from its bytes.
    #[classmethod]
    fn from_bytes(_class: &Bound<'_, PyType>, data: &[u8]) -> PyResult<Self> {
        let (told, made) = from_bytes("recipe", RECIPE, data)?;
        Ok(Self { told, made })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<Self>();
        other.is_ok_and(|other| self.told == other.get().told && self.made == other.get().made)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let restore = slf.get_type().getattr("from_bytes")?;
        Ok((restore, (slf.get().to_bytes(slf.py()),)).into_pyobject(slf.py())?.into_any())
    }

    fn __repr__(&self) -> String {
        format!("Recipe(model={:?})", self.model())
    }
}

/// Looks at a part of a table.
#[pyfunction]
pub(crate) fn survey_arrow(data: &Bound<'_, PyAny>, name: &str, told: &Bound<'_, PyDict>) -> Result<Survey> {
    let told = Told::of(told)?;
    let plan = told.clone().plan()?;
    let batches = batches(data)?;
    let inner = data.py().detach(|| plan.survey_batches(batches, name))?;
    Ok(Survey { told, inner })
}

/// Sums up a part of a table.
#[pyfunction]
#[pyo3(signature = (data, name, recipe, part = None))]
pub(crate) fn summarize_part(
    data: &Bound<'_, PyAny>,
    name: &str,
    recipe: &Bound<'_, Recipe>,
    part: Option<u64>,
) -> Result<Summary> {
    let Recipe { told, made } = recipe.get();
    let plan = told.clone().plan()?;
    let batches = batches(data)?;
    let inner = data.py().detach(|| plan.summarize_part(made, batches, name, part))?;
    Ok(Summary { inner })
}

/// Adds up the summaries of all parts, which must have rows.
#[pyfunction]
pub(crate) fn merge_summaries(parts: Vec<Bound<'_, Summary>>) -> Result<Summary> {
    let mut parts = parts.into_iter();
    let first = parts.next().ok_or_else(|| refused(&"there are no parts to merge"))?;
    let mut inner = first.get().inner.clone();
    for part in parts {
        inner.merge(&part.get().inner).map_err(|problem| refused(&problem))?;
    }
    Ok(Summary { inner: inner.whole()? })
}
