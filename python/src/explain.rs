//! Intervals and stories of decisions, as the classes of the Python part.

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use truenorth::{ActionInterval, BranchInterval, Explanation};

use crate::array::python;
use crate::choice::code;
use crate::error::json;

/// In the order of the fields of `Intervals`.
pub(crate) fn intervals<'py>(py: Python<'py>, found: &[ActionInterval]) -> PyResult<Bound<'py, PyAny>> {
    let column =
        |value: &dyn Fn(&ActionInterval) -> f64| PyArray1::from_iter(py, found.iter().map(value)).into_any();
    let part = |branch: fn(&ActionInterval) -> Option<BranchInterval>, value: fn(BranchInterval) -> f64| {
        column(&|interval| branch(interval).map_or(f64::NAN, value))
    };
    let fields = vec![
        column(&ActionInterval::mean),
        column(&|interval| interval.lcb),
        column(&|interval| interval.ucb),
        column(&|interval| interval.index),
        PyArray1::from_iter(py, found.iter().map(|interval| code(interval.branch))).into_any(),
        PyArray1::from_iter(py, found.iter().map(|interval| interval.conflict)).into_any(),
        part(|interval| interval.online, |branch| branch.mean),
        part(|interval| interval.online, |branch| branch.statistical),
        part(|interval| interval.informed, |branch| branch.mean),
        part(|interval| interval.informed, |branch| branch.statistical),
        part(|interval| interval.informed, |branch| branch.bias),
    ];
    python(py, "truenorth._decisions", "Intervals", PyTuple::new(py, fields)?)
}

/// The story of a decision.
pub(crate) fn explanation<'py>(py: Python<'py>, story: &Explanation) -> PyResult<Bound<'py, PyAny>> {
    python(py, "truenorth._explanations", "_explanation", (json(story)?, story.to_string()))
}
