//! A decision, with all that `learn` needs to know about it.

use numpy::{PyArray1, PyArrayMethods as _};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use truenorth::{Branch, Decision};

use crate::array::{Axis, Numbers};

/// One decision: which action, how sure, and on whose word.
///
/// Attributes
/// ----------
/// action : int
///     Index of the chosen row of ``X``.
/// mean, lcb, ucb : float
///     Its estimated reward, and the interval around it.
/// branch : str
///     Which branch set the upper end: ``online``, ``pooled``, ``warm`` or ``offline``.
/// decision : Decision
///     Round and layer: with `features`, all that has to be stored until a late reward comes.
/// propensity : float
///     Probability with which this action was chosen; 1 but for sampling and epsilon policies.
/// candidates : int
///     Actions that were still alive in the layer that played.
/// conflicts : int
///     Action-layer pairs of this round whose online and pooled intervals are disjoint.
/// features : numpy.ndarray
///     A copy of the chosen row.
#[pyclass(frozen, module = "truenorth", skip_from_py_object)]
pub(crate) struct Choice {
    pub(crate) inner: truenorth::Choice,
    pub(crate) features: Box<[f64]>,
}

static DECISION: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A decision as the named tuple that Python knows it by.
pub(crate) fn decision(py: Python<'_>, decision: Decision) -> PyResult<Bound<'_, PyAny>> {
    let class = DECISION.import(py, "truenorth._decisions", "Decision")?;
    class.call1((decision.round, decision.layer))
}

/// A decision from a pair of round and layer, named or not.
pub(crate) fn decision_of(value: &Bound<'_, PyAny>) -> PyResult<Decision> {
    let (round, layer) = value.extract().map_err(|_| {
        pyo3::exceptions::PyTypeError::new_err(format!(
            "a decision is a Choice, or a pair of round and layer, but this is {}",
            value.get_type()
        ))
    })?;
    Ok(Decision { round, layer })
}

/// The number that stands for a branch in arrays; `truenorth._decisions` has the names in this order.
pub(crate) fn code(branch: Branch) -> u8 {
    match branch {
        Branch::Online => 0,
        Branch::Pooled => 1,
        Branch::Warm => 2,
        Branch::Offline => 3,
    }
}

#[pymethods]
impl Choice {
    #[new]
    #[pyo3(signature = (*, action, ucb, lcb, mean, branch, decision, features, propensity=1.0, candidates=1, conflicts=0))]
    #[expect(clippy::too_many_arguments, reason = "all of them are by name")]
    fn new(
        action: usize,
        ucb: f64,
        lcb: f64,
        mean: f64,
        branch: &str,
        decision: &Bound<'_, PyAny>,
        features: &Bound<'_, PyAny>,
        propensity: f64,
        candidates: usize,
        conflicts: usize,
    ) -> PyResult<Self> {
        let all = [Branch::Online, Branch::Pooled, Branch::Warm, Branch::Offline];
        let branch = all.into_iter().find(|known| known.name() == branch).ok_or_else(|| {
            let names = all.map(Branch::name).join(", ");
            PyValueError::new_err(format!("`branch` must be one of {names}, but is {branch:?}"))
        })?;
        let decision = decision_of(decision)?;
        let features = Numbers::of("features", features, [Axis::Any("d")])?.slice()?.into();
        let inner =
            truenorth::Choice { decision, action, ucb, lcb, mean, branch, propensity, candidates, conflicts };
        Ok(Self { inner, features })
    }

    #[getter]
    fn action(&self) -> usize {
        self.inner.action
    }

    #[getter]
    fn ucb(&self) -> f64 {
        self.inner.ucb
    }

    #[getter]
    fn lcb(&self) -> f64 {
        self.inner.lcb
    }

    #[getter]
    fn mean(&self) -> f64 {
        self.inner.mean
    }

    #[getter]
    fn branch(&self) -> &'static str {
        self.inner.branch.name()
    }

    #[getter]
    fn decision<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        decision(py, self.inner.decision)
    }

    #[getter]
    fn round(&self) -> u64 {
        self.inner.decision.round
    }

    #[getter]
    fn layer(&self) -> u32 {
        self.inner.decision.layer
    }

    #[getter]
    fn propensity(&self) -> f64 {
        self.inner.propensity
    }

    #[getter]
    fn candidates(&self) -> usize {
        self.inner.candidates
    }

    #[getter]
    fn conflicts(&self) -> usize {
        self.inner.conflicts
    }

    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.features)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            self.inner == other.inner && self.features == other.features
        })
    }

    fn __repr__(&self) -> String {
        let truenorth::Choice { decision, action, ucb, lcb, mean, branch, .. } = self.inner;
        format!(
            "Choice(action={action}, mean={mean:.6}, lcb={lcb:.6}, ucb={ucb:.6}, branch='{}', round={}, layer={})",
            branch.name(),
            decision.round,
            decision.layer
        )
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let fields = pyo3::types::PyDict::new(py);
        for name in
            ["action", "ucb", "lcb", "mean", "branch", "propensity", "candidates", "conflicts", "features"]
        {
            fields.set_item(name, slf.getattr(name)?)?;
        }
        let Decision { round, layer } = slf.get().inner.decision;
        fields.set_item("decision", (round, layer))?;
        let restore = py.import("truenorth._decisions")?.getattr("_choice")?;
        Ok((restore, (fields,)).into_pyobject(py)?.into_any())
    }
}

/// Decisions as columns, for many at once.
#[derive(Default)]
pub(crate) struct Columns {
    pub(crate) actions: Vec<i64>,
    pub(crate) ucb: Vec<f64>,
    pub(crate) lcb: Vec<f64>,
    pub(crate) mean: Vec<f64>,
    pub(crate) branch: Vec<u8>,
    pub(crate) propensity: Vec<f64>,
    pub(crate) candidates: Vec<i64>,
    pub(crate) conflicts: Vec<i64>,
    pub(crate) rounds: Vec<i64>,
    pub(crate) layers: Vec<i64>,
}

#[expect(clippy::cast_possible_wrap, reason = "counts and indices of things in memory")]
impl Columns {
    pub(crate) fn push(&mut self, choice: &truenorth::Choice) {
        self.actions.push(choice.action as i64);
        self.ucb.push(choice.ucb);
        self.lcb.push(choice.lcb);
        self.mean.push(choice.mean);
        self.branch.push(code(choice.branch));
        self.propensity.push(choice.propensity);
        self.candidates.push(choice.candidates as i64);
        self.conflicts.push(choice.conflicts as i64);
        self.rounds.push(choice.decision.round as i64);
        self.layers.push(i64::from(choice.decision.layer));
    }

    /// In the order of the fields of `Choices` and `Played`.
    pub(crate) fn arrays(self, py: Python<'_>) -> Vec<Bound<'_, PyAny>> {
        let whole = |column: Vec<i64>| PyArray1::from_vec(py, column).into_any();
        let numbers = |column: Vec<f64>| PyArray1::from_vec(py, column).into_any();
        vec![
            whole(self.actions),
            numbers(self.ucb),
            numbers(self.lcb),
            numbers(self.mean),
            PyArray1::from_vec(py, self.branch).into_any(),
            numbers(self.propensity),
            whole(self.candidates),
            whole(self.conflicts),
            whole(self.rounds),
            whole(self.layers),
        ]
    }
}

/// A matrix from its rows, one behind the other.
pub(crate) fn matrix(
    py: Python<'_>,
    rows: Vec<f64>,
    width: usize,
) -> PyResult<Bound<'_, numpy::PyArray2<f64>>> {
    let count = rows.len() / width;
    PyArray1::from_vec(py, rows).reshape([count, width])
}
