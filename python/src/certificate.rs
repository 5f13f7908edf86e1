//! How far live truth may have drifted from the logs.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use truenorth::Matrix;

use crate::array::{Axis, Numbers, python};
use crate::choice::matrix;
use crate::error::Failure;
use crate::policy::MOST_FEATURES;

/// A bound on the drift: its length in the matrix M is at most rho.
///
/// Examples
/// --------
/// The first coefficient may have moved by 0.5, the second by 0.01:
///
/// >>> import truenorth
/// >>> certificate = truenorth.Certificate.from_budgets([0.5, 0.01])
/// >>> certificate.admits([0.5, -0.01]), certificate.admits([0.0, 0.1])
/// (True, False)
#[pyclass(frozen, module = "truenorth", skip_from_py_object)]
pub(crate) struct Certificate {
    pub(crate) inner: truenorth::Certificate,
}

impl From<truenorth::Certificate> for Certificate {
    fn from(inner: truenorth::Certificate) -> Self {
        Self { inner }
    }
}

impl Certificate {
    fn vector(&self, name: &'static str, value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        let numbers = Numbers::of(name, value, [Axis::Exactly(self.inner.dimension())])?;
        Ok(numbers.slice()?.to_vec())
    }
}

fn made(certificate: truenorth::Result<truenorth::Certificate>) -> PyResult<Certificate> {
    Ok(Certificate { inner: certificate.map_err(Failure::from)? })
}

#[pymethods]
impl Certificate {
    /// A symmetric positive definite matrix and a radius.
    #[classmethod]
    fn from_matrix(_class: &Bound<'_, PyType>, matrix: &Bound<'_, PyAny>, rho: f64) -> PyResult<Self> {
        let numbers = Numbers::of("matrix", matrix, [Axis::Any("d"), Axis::Any("d")])?;
        let &[rows, columns] = numbers.shape() else { unreachable!("two axes were checked") };
        made(truenorth::Certificate::new(Matrix::from_row_slice(rows, columns, numbers.slice()?), rho))
    }

    /// Only the length of the drift is known.
    #[classmethod]
    fn isotropic(_class: &Bound<'_, PyType>, dimension: usize, rho: f64) -> PyResult<Self> {
        if dimension > MOST_FEATURES {
            let sentence = format!("`dimension` must be at most {MOST_FEATURES}, but is {dimension}");
            return Err(PyValueError::new_err(sentence));
        }
        made(truenorth::Certificate::isotropic(dimension, rho))
    }

    /// The largest drift of each feature; `rho` is √d unless more is known.
    #[classmethod]
    #[pyo3(signature = (budgets, rho=None))]
    fn from_budgets(
        _class: &Bound<'_, PyType>,
        budgets: &Bound<'_, PyAny>,
        rho: Option<f64>,
    ) -> PyResult<Self> {
        let budgets = Numbers::of("budgets", budgets, [Axis::Any("d")])?;
        let certificate = truenorth::Certificate::from_budgets(budgets.slice()?);
        made(match rho {
            Some(rho) => certificate.and_then(|certificate| certificate.with_radius(rho)),
            None => certificate,
        })
    }

    /// The largest drift along each row of `directions`, which are orthonormal, and along all that is orthogonal
    /// to them.
    #[classmethod]
    #[pyo3(signature = (directions, budgets, rest=None))]
    fn from_directions(
        _class: &Bound<'_, PyType>,
        directions: &Bound<'_, PyAny>,
        budgets: &Bound<'_, PyAny>,
        rest: Option<f64>,
    ) -> PyResult<Self> {
        let directions = Numbers::of("directions", directions, [Axis::Any("m"), Axis::Any("d")])?;
        let budgets = Numbers::of("budgets", budgets, [Axis::Any("m")])?;
        let width = directions.shape()[1].max(1);
        let rows: Vec<Vec<f64>> = directions.slice()?.chunks(width).map(<[f64]>::to_vec).collect();
        made(truenorth::Certificate::from_directions(&rows, budgets.slice()?, rest))
    }

    /// Reads ``certificate.toml``, for features of these names.
    #[classmethod]
    #[pyo3(signature = (path, names=None))]
    fn load(_class: &Bound<'_, PyType>, path: PathBuf, names: Option<Vec<String>>) -> PyResult<Self> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(&path).map_err(|error| Failure::File(shown.clone(), error))?;
        let inner =
            truenorth_audit::certificate_from_toml(&text, names.as_deref(), 1.0).map_err(|wrong| {
                let line = wrong.line.map_or_else(String::new, |line| format!(", line {line}"));
                Failure::Value(format!("{shown}{line}: {}", wrong.reason))
            })?;
        Ok(Self { inner })
    }

    /// The same matrix with another radius.
    fn with_radius(&self, rho: f64) -> PyResult<Self> {
        made(self.inner.clone().with_radius(rho))
    }

    /// M.
    #[getter]
    fn matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        // The matrix is symmetric: columns are rows.
        matrix(py, self.inner.matrix().as_slice().to_vec(), self.inner.dimension())
    }

    /// The radius.
    #[getter]
    fn rho(&self) -> f64 {
        self.inner.radius()
    }

    /// Number of features.
    #[getter]
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    /// The largest bias of the reward of `x`.
    fn bias_bound(&self, x: &Bound<'_, PyAny>) -> PyResult<f64> {
        Ok(self.inner.bias_bound(&self.vector("x", x)?).map_err(Failure::from)?)
    }

    /// The drift within the certificate that moves the reward of `x` most.
    fn worst_drift<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let drift = self.inner.worst_drift(&self.vector("x", x)?).map_err(Failure::from)?;
        Ok(PyArray1::from_slice(x.py(), drift.as_slice()))
    }

    /// Length of a drift in M.
    fn norm(&self, drift: &Bound<'_, PyAny>) -> PyResult<f64> {
        Ok(self.inner.norm(&self.vector("drift", drift)?).map_err(Failure::from)?)
    }

    /// Whether a drift is within the certificate.
    fn admits(&self, drift: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.inner.admits(&self.vector("drift", drift)?).map_err(Failure::from)?)
    }

    /// The eigen-directions of M, most drift first.
    fn directions<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let direction = |found: truenorth::DriftDirection| {
            let vector = PyArray1::from_vec(py, found.direction);
            python(py, "truenorth._decisions", "DriftDirection", (vector, found.eigenvalue, found.drift))
        };
        self.inner.directions().into_iter().map(direction).collect()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.inner == other.get().inner)
    }

    fn __repr__(&self) -> String {
        format!("Certificate(dimension={}, rho={})", self.inner.dimension(), self.inner.radius())
    }

    #[classmethod]
    #[pyo3(name = "_restore")]
    fn restore(_class: &Bound<'_, PyType>, text: &str) -> PyResult<Self> {
        let inner = serde_json::from_str(text);
        inner.map(|inner| Self { inner }).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let text = serde_json::to_string(&slf.get().inner);
        let text = text.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((slf.get_type().getattr("_restore")?, (text,)).into_pyobject(slf.py())?.into_any())
    }
}
