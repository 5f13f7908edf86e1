//! A decision, with all that `learn` needs to know about it.

use numpy::{PyArray1, PyArray2, PyArrayMethods as _};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use truenorth::{Actions, Branch, Decision, Row};

use crate::array::{Axis, Numbers, is_sparse};
use crate::rows::Compressed;

/// One decision: which action, how sure, and on whose word.
///
/// Attributes
/// ----------
/// action : int
///     Index of the chosen row of ``X``.
/// mean, lcb, ucb : float
///     Its estimated reward without the `level` that all rewards have in common, and the interval around it: they compare
///     actions; add `Policy.level` to forecast a reward.
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
///     A copy of the chosen row, in full.
/// columns : numpy.ndarray or None
///     Where the row came from a sparse matrix, the columns that it has values in.
#[pyclass(frozen, module = "truenorth", skip_from_py_object)]
#[derive(PartialEq)]
pub(crate) struct Choice {
    #[pyo3(get)]
    action: usize,
    #[pyo3(get)]
    ucb: f64,
    #[pyo3(get)]
    lcb: f64,
    #[pyo3(get)]
    mean: f64,
    #[pyo3(get)]
    branch: &'static str,
    #[pyo3(get)]
    propensity: f64,
    #[pyo3(get)]
    candidates: usize,
    #[pyo3(get)]
    conflicts: usize,
    #[pyo3(get)]
    round: u64,
    #[pyo3(get)]
    layer: u32,
    values: Box<[f64]>,
    /// The columns of the values, where not all are there.
    columns: Option<Box<[usize]>>,
    dimension: usize,
}

impl Choice {
    /// What was chosen of some actions.
    pub(crate) fn of(choice: truenorth::Choice, actions: &Actions<'_>) -> Self {
        let row = actions.row(choice.action);
        Self {
            action: choice.action,
            ucb: choice.ucb,
            lcb: choice.lcb,
            mean: choice.mean,
            branch: choice.branch.name(),
            propensity: choice.propensity,
            candidates: choice.candidates,
            conflicts: choice.conflicts,
            round: choice.decision.round,
            layer: choice.decision.layer,
            values: row.values().into(),
            columns: row.columns().map(Into::into),
            dimension: actions.dimension(),
        }
    }

    /// Features of the chosen action.
    pub(crate) fn row(&self) -> Row<'_> {
        match &self.columns {
            None => Row::from(&*self.values),
            Some(columns) => Row::sparse(columns, &self.values),
        }
    }

    /// Round and layer.
    pub(crate) fn place(&self) -> Decision {
        Decision { round: self.round, layer: self.layer }
    }
}

static DECISION: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A decision from a pair of round and layer, named or not.
pub(crate) fn decision_of(value: &Bound<'_, PyAny>) -> PyResult<Decision> {
    let (round, layer) = value.extract().map_err(|_| {
        let found = value.get_type();
        PyTypeError::new_err(format!(
            "a decision is a Choice, or a pair of round and layer, but this is {found}"
        ))
    })?;
    Ok(Decision { round, layer })
}

/// Branches by the numbers that stand for them in arrays; `truenorth._decisions` has the names in this order.
const BRANCHES: [Branch; 4] = [Branch::Online, Branch::Pooled, Branch::Warm, Branch::Offline];

/// A branch's name, which is known.
pub(crate) fn branch_named(branch: &str) -> PyResult<&'static str> {
    let names = BRANCHES.map(Branch::name);
    names.into_iter().find(|known| *known == branch).ok_or_else(|| {
        let known = names.join(", ");
        PyValueError::new_err(format!("`branch` must be one of {known}, but is {branch:?}"))
    })
}

/// The number that stands for a branch in arrays.
pub(crate) fn code(branch: Branch) -> u8 {
    (0..).zip(BRANCHES).find(|(_, known)| *known == branch).map_or(0, |(code, _)| code)
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
        let branch = branch_named(branch)?;
        let Decision { round, layer } = decision_of(decision)?;
        let axes = [Axis::Any("d")];
        let (values, columns, dimension) = if is_sparse(features) {
            let Compressed { columns, values, width, .. } = Compressed::of("features", features, axes, true)?;
            (values.into(), Some(columns.into()), width)
        } else {
            let numbers = Numbers::of("features", features, axes)?;
            (numbers.slice().into(), None, numbers.slice().len())
        };
        Ok(Self {
            action,
            ucb,
            lcb,
            mean,
            branch,
            propensity,
            candidates,
            conflicts,
            round,
            layer,
            values,
            columns,
            dimension,
        })
    }

    /// The named tuple that Python knows a decision by.
    #[getter]
    fn decision<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        DECISION.import(py, "truenorth._decisions", "Decision")?.call1((self.round, self.layer))
    }

    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let Some(columns) = &self.columns else { return PyArray1::from_slice(py, &self.values) };
        let mut all = vec![0.0; self.dimension];
        columns.iter().zip(&self.values).for_each(|(&column, &value)| all[column] = value);
        PyArray1::from_vec(py, all)
    }

    #[getter]
    #[expect(clippy::cast_possible_wrap, reason = "indices of things in memory")]
    fn columns<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<i64>>> {
        let columns = self.columns.as_ref()?;
        Some(PyArray1::from_iter(py, columns.iter().map(|&column| column as i64)))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self == other.get())
    }

    fn __repr__(&self) -> String {
        let Self { action, ucb, lcb, mean, branch, round, layer, .. } = self;
        format!(
            "Choice(action={action}, mean={mean:.6}, lcb={lcb:.6}, ucb={ucb:.6}, branch='{branch}', round={round}, \
             layer={layer})"
        )
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let fields = pyo3::types::PyDict::new(py);
        let names = ["action", "ucb", "lcb", "mean", "branch", "propensity", "candidates", "conflicts"];
        for name in names {
            fields.set_item(name, slf.getattr(name)?)?;
        }
        let Self { columns, values, dimension, .. } = slf.get();
        fields.set_item(
            "features",
            match columns {
                None => PyArray1::from_slice(py, values).into_any(),
                Some(columns) => Compressed::one(columns, values, *dimension).plain(py)?,
            },
        )?;
        let Decision { round, layer } = slf.get().place();
        fields.set_item("decision", (round, layer))?;
        let restore = py.import("truenorth._decisions")?.getattr("_choice")?;
        Ok((restore, (fields,)).into_pyobject(py)?.into_any())
    }
}

/// Decisions as columns, in the order of the fields of `Choices` and `Played`.
#[expect(clippy::cast_possible_wrap, reason = "counts and indices of things in memory")]
pub(crate) fn columns<'py>(py: Python<'py>, choices: &[truenorth::Choice]) -> Vec<Bound<'py, PyAny>> {
    type Column<T> = fn(&truenorth::Choice) -> T;
    let whole = |value: Column<i64>| PyArray1::from_iter(py, choices.iter().map(value)).into_any();
    let number = |value: Column<f64>| PyArray1::from_iter(py, choices.iter().map(value)).into_any();
    vec![
        whole(|choice| choice.action as i64),
        number(|choice| choice.ucb),
        number(|choice| choice.lcb),
        number(|choice| choice.mean),
        PyArray1::from_iter(py, choices.iter().map(|choice| code(choice.branch))).into_any(),
        number(|choice| choice.propensity),
        whole(|choice| choice.candidates as i64),
        whole(|choice| choice.conflicts as i64),
        whole(|choice| choice.decision.round as i64),
        whole(|choice| i64::from(choice.decision.layer)),
    ]
}

/// A matrix from its rows, one behind the other.
pub(crate) fn matrix(py: Python<'_>, rows: Vec<f64>, width: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let count = rows.len() / width;
    PyArray1::from_vec(py, rows).reshape([count, width])
}
