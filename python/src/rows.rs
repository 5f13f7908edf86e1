//! Rows of features, given in full or as what is not 0: a matrix of SciPy, or anything with the same attributes.

use numpy::{PyArray1, PyArrayMethods as _};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use truenorth::{Actions, Row};

use crate::array::{Axis, Numbers, check_shape, check_size, is_sparse, python};

/// The rows of a matrix.
pub(crate) enum Rows<'py> {
    Whole { numbers: Numbers<'py>, width: usize },
    Sparse(Compressed),
}

/// What is not 0 in the rows of a matrix (CSR), in columns that increase.
#[derive(Default)]
pub(crate) struct Compressed {
    pub(crate) starts: Vec<usize>,
    pub(crate) columns: Vec<usize>,
    pub(crate) values: Vec<f64>,
    pub(crate) width: usize,
}

/// The actions of many rounds.
pub(crate) enum Rounds<'py> {
    Whole { numbers: Numbers<'py>, width: usize },
    Sparse(Vec<Compressed>),
}

/// Rows without Python, for other threads.
#[derive(Clone, Copy)]
pub(crate) enum View<'a> {
    Whole(&'a [f64], usize),
    Sparse(&'a Compressed),
}

impl Rows<'_> {
    pub(crate) fn view(&self) -> View<'_> {
        match self {
            Self::Whole { numbers, width } => View::Whole(numbers.slice(), *width),
            Self::Sparse(found) => View::Sparse(found),
        }
    }
}

impl<'a> View<'a> {
    pub(crate) fn count(self) -> usize {
        match self {
            Self::Whole(values, width) => values.len() / width.max(1),
            Self::Sparse(found) => found.starts.len() - 1,
        }
    }

    pub(crate) fn row(self, place: usize) -> Row<'a> {
        match self {
            Self::Whole(values, width) => Row::from(&values[place * width..][..width]),
            Self::Sparse(found) => found.row(place),
        }
    }

    pub(crate) fn actions(self) -> truenorth::Result<Actions<'a>> {
        match self {
            Self::Whole(values, width) => Actions::new(values, width),
            Self::Sparse(found) => found.actions(),
        }
    }

    /// Multiplications of a decision among these, about.
    pub(crate) fn cost(self) -> usize {
        match self {
            Self::Whole(values, width) => values.len().saturating_mul(width),
            Self::Sparse(Compressed { values, .. }) => {
                values.len().saturating_mul(values.len()) / self.count().max(1)
            }
        }
    }
}

impl Rounds<'_> {
    /// What each round offers.
    pub(crate) fn views(&self) -> Vec<View<'_>> {
        match self {
            Self::Whole { numbers, width } => {
                let values = numbers.slice();
                let size = numbers.shape()[1] * width;
                let round = |place: usize| View::Whole(&values[place * size..][..size], *width);
                (0..numbers.shape()[0]).map(round).collect()
            }
            Self::Sparse(rounds) => rounds.iter().map(View::Sparse).collect(),
        }
    }

    /// Number of actions, the same in all rounds.
    pub(crate) fn width(&self) -> PyResult<usize> {
        let rounds = match self {
            Self::Whole { numbers, .. } => return Ok(numbers.shape()[1]),
            Self::Sparse(rounds) => rounds,
        };
        let count = |round: &Compressed| round.starts.len() - 1;
        let first = rounds.first().map_or(0, count);
        match rounds.iter().map(count).find(|&other| other != first) {
            None => Ok(first),
            Some(other) => Err(PyValueError::new_err(format!(
                "X must have as many actions in every round, but has {first} and {other}"
            ))),
        }
    }
}

impl Compressed {
    /// From a matrix of SciPy or what has its attributes; of one dimension, it is one row. Columns in another order are
    /// sorted, and values that share one are added, which is what they mean. Rows that will be `filled` up are to fit into
    /// memory then.
    pub(crate) fn of<const N: usize>(
        name: &str,
        value: &Bound<'_, PyAny>,
        axes: [Axis; N],
        filled: bool,
    ) -> PyResult<Self> {
        let shape: Vec<usize> = value.getattr("shape")?.extract()?;
        // One row of a matrix is a matrix in SciPy.
        match (&axes[..], &*shape) {
            ([Axis::Exactly(width)], [1, found]) if width == found => {}
            ([Axis::Any(_)], [1, _]) => {}
            _ => check_shape(name, &shape, axes)?,
        }
        check_size(name, if filled { &shape } else { &shape[..1] })?;
        let width = shape.last().copied().unwrap_or(0);
        let format = value.getattr("format").ok().and_then(|format| format.extract::<String>().ok());
        let rows = value.hasattr("indptr")? && format.is_none_or(|format| format == "csr");
        let value = if rows { value.clone() } else { value.call_method0("tocsr")? };
        let numbers = |part: &str| value.getattr(part);
        let (starts, columns) = (whole(name, &numbers("indptr")?)?, whole(name, &numbers("indices")?)?);
        let data = Numbers::of(name, &numbers("data")?, [Axis::Any("n")])?;
        let count = if shape.len() == 1 { 1 } else { shape[0] };
        let last = starts.last().copied().unwrap_or(0);
        if starts.len() != count + 1
            || starts[0] != 0
            || !starts.is_sorted()
            || last > columns.len().min(data.slice().len())
        {
            return Err(PyValueError::new_err(format!(
                "{name} is no matrix of compressed rows: its `indptr`, `indices` and `data` do not fit together"
            )));
        }
        let values = data.slice()[..last].to_vec();
        let mut found = Self { starts, columns, values, width };
        found.columns.truncate(last);
        found.tidy();
        match found.columns.iter().find(|&&column| column >= width) {
            None => Ok(found),
            Some(column) => Err(PyValueError::new_err(format!(
                "{name} has a value in column {column}, but {width} columns, counted from 0"
            ))),
        }
    }

    /// Sorts columns, and adds what shares one.
    fn tidy(&mut self) {
        let increase = |ends: &[usize]| self.columns[ends[0]..ends[1]].is_sorted_by(|a, b| a < b);
        if self.starts.windows(2).all(increase) {
            return;
        }
        let mut tidied = Self { width: self.width, starts: vec![0], ..Self::default() };
        for ends in self.starts.windows(2) {
            let mut row: Vec<(usize, f64)> =
                (ends[0]..ends[1]).map(|at| (self.columns[at], self.values[at])).collect();
            row.sort_by_key(|entry| entry.0);
            let begin = tidied.columns.len();
            for (column, value) in row {
                if tidied.columns[begin..].last() == Some(&column) {
                    *tidied.values.last_mut().expect("it has as many as columns") += value;
                } else {
                    tidied.columns.push(column);
                    tidied.values.push(value);
                }
            }
            tidied.starts.push(tidied.columns.len());
        }
        *self = tidied;
    }

    /// One row.
    pub(crate) fn one(columns: &[usize], values: &[f64], width: usize) -> Self {
        Self { starts: vec![0, values.len()], columns: columns.to_vec(), values: values.to_vec(), width }
    }

    fn row(&self, place: usize) -> Row<'_> {
        let range = self.starts[place]..self.starts[place + 1];
        Row::sparse(&self.columns[range.clone()], &self.values[range])
    }

    fn actions(&self) -> truenorth::Result<Actions<'_>> {
        Actions::sparse(&self.starts, &self.columns, &self.values, self.width)
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, columns: &[usize], values: &[f64]) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.columns.extend_from_slice(columns);
        self.values.extend_from_slice(values);
        self.starts.push(self.columns.len());
    }

    /// As a matrix of SciPy, if that is there, or what passes for one in this package.
    pub(crate) fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        python(py, "truenorth._decisions", "_compressed", (self.plain(py)?,))
    }

    /// The same in plain arrays, which need no SciPy.
    #[expect(clippy::cast_possible_wrap, reason = "counts and indices of things in memory")]
    pub(crate) fn plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let whole = |numbers: &[usize]| PyArray1::from_iter(py, numbers.iter().map(|&number| number as i64));
        let shape = (self.starts.len().saturating_sub(1), self.width);
        let parts =
            (PyArray1::from_slice(py, &self.values), whole(&self.columns), whole(&self.starts), shape);
        python(py, "truenorth._decisions", "_Compressed", parts)
    }
}

/// Whole numbers that are not negative.
fn whole(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let negative = || PyValueError::new_err(format!("{name} has a negative index"));
    let number = |number: i64| usize::try_from(number).map_err(|_| negative());
    if let Ok(array) = value.cast::<PyArray1<i32>>() {
        return array.readonly().as_array().iter().map(|&found| number(i64::from(found))).collect();
    }
    if let Ok(array) = value.cast::<PyArray1<i64>>() {
        return array.readonly().as_array().iter().map(|&found| number(found)).collect();
    }
    value.extract::<Vec<i64>>()?.into_iter().map(number).collect()
}

/// The actions of rounds that are a list of sparse matrices, if they are.
pub(crate) fn sparse_rounds(
    value: &Bound<'_, PyAny>,
    width: usize,
    filled: bool,
) -> PyResult<Option<Vec<Compressed>>> {
    let listed = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    if !listed || value.len()? == 0 || !is_sparse(&value.get_item(0)?) {
        return Ok(None);
    }
    let axes = [Axis::Any("K"), Axis::Exactly(width)];
    let round = |(place, round): (usize, PyResult<Bound<'_, PyAny>>)| {
        let (name, round) = (format!("X[{place}]"), round?);
        if is_sparse(&round) {
            return Compressed::of(&name, &round, axes, filled);
        }
        let found = round.get_type();
        Err(PyValueError::new_err(format!(
            "{name} must be a sparse matrix like the first round, but is {found}"
        )))
    };
    value.try_iter()?.enumerate().map(round).collect::<PyResult<_>>().map(Some)
}
