//! How far live truth may have drifted from the logs.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::array::{Axis, Numbers, python};
use crate::choice::matrix;
use crate::error::{Result, json, refused};
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

impl Certificate {
    fn vector(&self, name: &str, value: &Bound<'_, PyAny>) -> Result<Vec<f64>> {
        Ok(Numbers::of(name, value, [Axis::Exactly(self.inner.dimension())])?.slice().to_vec())
    }
}

#[pymethods]
impl Certificate {
    /// A symmetric positive definite matrix and a radius.
    #[classmethod]
    fn from_matrix(_class: &Bound<'_, PyType>, matrix: &Bound<'_, PyAny>, rho: f64) -> Result<Self> {
        let side = Numbers::of("matrix", matrix, [Axis::Any("d"), Axis::Any("d")])?.shape()[0];
        let numbers = Numbers::of("matrix", matrix, [Axis::Exactly(side), Axis::Exactly(side)])?;
        Ok(Self { inner: truenorth::Certificate::from_matrix(numbers.slice(), rho)? })
    }

    /// Only the length of the drift is known.
    #[classmethod]
    fn isotropic(_class: &Bound<'_, PyType>, dimension: usize, rho: f64) -> Result<Self> {
        if dimension > MOST_FEATURES {
            let sentence = format!("`dimension` must be at most {MOST_FEATURES}, but is {dimension}");
            return Err(PyValueError::new_err(sentence).into());
        }
        Ok(Self { inner: truenorth::Certificate::isotropic(dimension, rho)? })
    }

    /// The largest drift of each feature; `rho` is √d unless more is known.
    #[classmethod]
    #[pyo3(signature = (budgets, rho=None))]
    fn from_budgets(
        _class: &Bound<'_, PyType>,
        budgets: &Bound<'_, PyAny>,
        rho: Option<f64>,
    ) -> Result<Self> {
        let budgets = Numbers::of("budgets", budgets, [Axis::Any("d")])?;
        let inner = truenorth::Certificate::from_budgets(budgets.slice())?;
        let radius = rho.unwrap_or(inner.rho());
        Ok(Self { inner: inner.with_radius(radius)? })
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
    ) -> Result<Self> {
        let directions = Numbers::of("directions", directions, [Axis::Any("m"), Axis::Any("d")])?;
        let budgets = Numbers::of("budgets", budgets, [Axis::Any("m")])?;
        let width = directions.shape()[1].max(1);
        let rows: Vec<Vec<f64>> = directions.slice().chunks(width).map(<[f64]>::to_vec).collect();
        Ok(Self { inner: truenorth::Certificate::from_directions(&rows, budgets.slice(), rest)? })
    }

    /// Reads ``certificate.toml``, for features of these names.
    #[classmethod]
    #[pyo3(signature = (path, names=None))]
    fn load(_class: &Bound<'_, PyType>, path: PathBuf, names: Option<Vec<String>>) -> Result<Self> {
        Ok(Self { inner: truenorth_app::certificate::read(&path, names.as_deref(), 1.0)? })
    }

    /// The same matrix with another radius.
    fn with_radius(&self, rho: f64) -> Result<Self> {
        Ok(Self { inner: self.inner.clone().with_radius(rho)? })
    }

    /// M.
    #[getter]
    fn matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        // The matrix is symmetric: columns are rows.
        matrix(py, self.inner.matrix().to_vec(), self.inner.dimension())
    }

    /// The radius.
    #[getter]
    fn rho(&self) -> f64 {
        self.inner.rho()
    }

    /// Number of features.
    #[getter]
    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    /// The largest bias of the reward of `x`.
    fn bias_bound(&self, x: &Bound<'_, PyAny>) -> Result<f64> {
        Ok(self.inner.bias_bound(&self.vector("x", x)?)?)
    }

    /// The drift within the certificate that moves the reward of `x` most.
    fn worst_drift<'py>(&self, x: &Bound<'py, PyAny>) -> Result<Bound<'py, PyArray1<f64>>> {
        let drift = self.inner.worst_drift(&self.vector("x", x)?)?;
        Ok(PyArray1::from_slice(x.py(), drift.as_slice()))
    }

    /// Length of a drift in M.
    fn norm(&self, drift: &Bound<'_, PyAny>) -> Result<f64> {
        Ok(self.inner.norm(&self.vector("drift", drift)?)?)
    }

    /// Whether a drift is within the certificate.
    fn admits(&self, drift: &Bound<'_, PyAny>) -> Result<bool> {
        Ok(self.inner.admits(&self.vector("drift", drift)?)?)
    }

    /// The eigen-directions of M, most drift first.
    fn directions<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let direction = |(eigenvalue, vector): (f64, Vec<f64>)| {
            let (vector, drift) = (PyArray1::from_vec(py, vector), self.inner.rho() / eigenvalue.sqrt());
            python(py, "truenorth._decisions", "DriftDirection", (vector, eigenvalue, drift))
        };
        self.inner.directions().into_iter().map(direction).collect()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| self.inner == other.get().inner)
    }

    fn __repr__(&self) -> String {
        format!("Certificate(dimension={}, rho={})", self.inner.dimension(), self.inner.rho())
    }

    #[classmethod]
    #[pyo3(name = "_restore")]
    fn restore(_class: &Bound<'_, PyType>, text: &str) -> Result<Self> {
        Ok(Self { inner: serde_json::from_str(text).map_err(|error| refused(&error))? })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyAny>> {
        let text = json(&slf.get().inner)?;
        Ok((slf.get_type().getattr("_restore")?, (text,)).into_pyobject(slf.py())?.into_any())
    }
}
