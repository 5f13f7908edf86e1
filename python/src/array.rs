//! Arrays of Python as slices: without a copy where they are float64 in C order, with one otherwise.

use numpy::{
    PyArrayDyn, PyArrayMethods as _, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods as _,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// How many numbers are copied at most, a gigabyte: views that repeat one number claim to be of any size, and a
/// system that promises more memory than it has ends the process instead of refusing.
const MOST: usize = 1 << 27;

/// Numbers in C order, with their shape.
pub(crate) struct Numbers<'py>(PyReadonlyArrayDyn<'py, f64>);

/// A length that an axis has to have, or the word for any.
#[derive(Clone, Copy)]
pub(crate) enum Axis {
    Any(&'static str),
    Exactly(usize),
}

impl<'py> Numbers<'py> {
    /// The numbers of an array, or of anything that NumPy makes one of. The shape is looked at before anything is
    /// copied, as it may be gigantic.
    pub(crate) fn of<const N: usize>(
        name: &str,
        value: &Bound<'py, PyAny>,
        axes: [Axis; N],
    ) -> PyResult<Self> {
        if let Ok(array) = value.cast::<PyArrayDyn<f64>>()
            && array.is_c_contiguous()
            && !is_masked(value)
        {
            check_shape(name, array.shape(), axes)?;
            return Self::borrowed(name, array);
        }
        Self::converted(name, value, axes)
    }

    #[cold]
    fn converted<const N: usize>(name: &str, value: &Bound<'py, PyAny>, axes: [Axis; N]) -> PyResult<Self> {
        let py = value.py();
        let array = if is_sparse(value) && value.hasattr("toarray")? {
            let shape: Vec<usize> = value.getattr("shape")?.extract()?;
            check_shape(name, &shape, axes)?;
            check_size(name, &shape)?;
            value.call_method0("toarray")?
        } else {
            NUMBERS.import(py, "truenorth._frames", "numbers")?.call1((value,))?
        };
        let dtype = array.getattr("dtype")?;
        let can_cast = CAN_CAST.import(py, "numpy", "can_cast")?;
        if !can_cast.call1((&dtype, "f8", "same_kind"))?.extract::<bool>()? {
            let sentence = format!("{name} must hold real numbers, but its dtype is {dtype}");
            return Err(PyTypeError::new_err(sentence));
        }
        let shape: Vec<usize> = array.getattr("shape")?.extract()?;
        check_shape(name, &shape, axes)?;
        check_size(name, &shape)?;
        let array = CONTIGUOUS.import(py, "numpy", "ascontiguousarray")?.call1((array, "f8"))?;
        Self::borrowed(name, array.cast::<PyArrayDyn<f64>>()?)
    }

    fn borrowed(name: &str, array: &Bound<'py, PyArrayDyn<f64>>) -> PyResult<Self> {
        array.try_readonly().map(Self).map_err(|error| PyValueError::new_err(format!("{name}: {error}")))
    }

    pub(crate) fn shape(&self) -> &[usize] {
        self.0.shape()
    }

    pub(crate) fn slice(&self) -> &[f64] {
        self.0.as_slice().expect("what is not in C order was copied")
    }
}

static NUMBERS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static CAN_CAST: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static CONTIGUOUS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Whether it is an array of which some numbers do not count.
fn is_masked(value: &Bound<'_, PyAny>) -> bool {
    !value.is_exact_instance_of::<PyUntypedArray>() && value.hasattr("mask").unwrap_or(false)
}

/// Whether it is a matrix of SciPy that holds only what is not 0, or passes for one.
pub(crate) fn is_sparse(value: &Bound<'_, PyAny>) -> bool {
    let has = |name: &str| value.hasattr(name).unwrap_or(false);
    !value.is_instance_of::<PyUntypedArray>()
        && (has("tocsr") || has("indptr") && has("indices") && has("data"))
}

pub(crate) fn check_size(name: &str, shape: &[usize]) -> PyResult<()> {
    let size = shape.iter().try_fold(1, |size: usize, &axis| size.checked_mul(axis));
    if size.is_some_and(|size| size <= MOST) {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "{name} has shape {}, too much to copy: give a float64 array in C order, which is read where it is",
        listed(shape)
    )))
}

fn listed(axes: &[impl ToString]) -> String {
    match axes {
        [one] => format!("({},)", one.to_string()),
        axes => format!("({})", axes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

pub(crate) fn check_shape<const N: usize>(name: &str, shape: &[usize], axes: [Axis; N]) -> PyResult<()> {
    let fits = |(&length, axis): (&usize, Axis)| match axis {
        Axis::Any(_) => true,
        Axis::Exactly(expected) => length == expected,
    };
    if shape.len() == N && shape.iter().zip(axes).all(fits) {
        return Ok(());
    }
    let wanted = axes.map(|axis| match axis {
        Axis::Any(word) => word.to_owned(),
        Axis::Exactly(length) => length.to_string(),
    });
    let (wanted, found) = (listed(&wanted), listed(shape));
    Err(PyValueError::new_err(format!("{name} must have shape {wanted}, but has shape {found}")))
}

/// A class or function of the Python part of the package, for what a native call gives back.
pub(crate) fn python<'py>(
    py: Python<'py>,
    module: &str,
    name: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import(module)?.getattr(name)?.call1(arguments)
}
