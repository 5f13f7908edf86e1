//! The keywords of a policy, as the library's settings.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::de::value::{Error as Unknown, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use serde_json::Value;
use truenorth::{Certificate as Told, Explore, Policy};
use truenorth_sim::switches::{Certification, Switches};

use crate::certificate::Certificate;
use crate::error::refused;

/// Sets a switch by the name that commands and files use, if one is given.
pub(crate) fn switch<T: DeserializeOwned>(name: &str, text: Option<&str>, value: &mut T) -> PyResult<()> {
    let Some(text) = text else { return Ok(()) };
    let named: StrDeserializer<'_, Unknown> = text.into_deserializer();
    *value = T::deserialize(named).map_err(|error| {
        let sentence = error.to_string();
        let known = sentence.split_once(", expected ").map_or(&*sentence, |(_, known)| known);
        PyValueError::new_err(format!("`{name}` must be {known}, but is {text:?}"))
    })?;
    Ok(())
}

/// `ucb`, `sampling`, or the share of rounds in which any action is played.
pub(crate) fn explore(value: &Bound<'_, PyAny>) -> PyResult<Explore> {
    if let Ok(epsilon) = value.extract::<f64>() {
        return Ok(Explore::Epsilon(epsilon));
    }
    match value.extract::<&str>() {
        Ok("ucb") => Ok(Explore::Ucb),
        Ok("sampling") => Ok(Explore::Sampling),
        _ => Err(PyValueError::new_err(format!(
            "`explore` must be 'ucb', 'sampling' or a number from 0 to 1, but is {}",
            value.repr()?
        ))),
    }
}

/// A certificate, `none`, `adaptive`, `learned`, or the rounds at which a learned one starts its epochs.
pub(crate) fn certificate(value: &Bound<'_, PyAny>) -> PyResult<(Certification, Option<Told>)> {
    if let Ok(fixed) = value.cast::<Certificate>() {
        return Ok((Certification::Told, Some(fixed.get().inner.clone())));
    }
    let rule = match (value.extract(), value.extract()) {
        (Ok("none"), _) => Certification::Told,
        (Ok("adaptive"), _) => Certification::Adaptive,
        (Ok("learned"), _) => Certification::Learned(None),
        (Ok(name), _) => {
            return Err(PyValueError::new_err(format!(
                "`certificate` must be a Certificate, 'none', 'adaptive' or 'learned', but is {name:?}"
            )));
        }
        (Err(_), Ok(starts)) => Certification::Learned(Some(starts)),
        (Err(_), Err(_)) => {
            let found = value.get_type();
            return Err(PyTypeError::new_err(format!(
                "`certificate` must be a Certificate, a name or a list of rounds, but is {found}"
            )));
        }
    };
    Ok((rule, None))
}

/// A word, a number or nothing, as Python has it.
fn plain<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(word) => word.into_pyobject(py)?.into_any(),
        Value::Number(number) if number.is_u64() => number.as_u64().into_pyobject(py)?,
        value => value.as_f64().into_pyobject(py)?,
    })
}

/// The settings as the keywords that make the same policy, but for the logs.
pub(crate) fn keywords<'py>(py: Python<'py>, policy: &Policy) -> PyResult<Bound<'py, PyDict>> {
    let data = |value: serde_json::Result<Value>| value.map_err(|error| refused(&error));
    let settings = data(serde_json::to_value(policy.settings()))?;
    let words = Switches::from(policy.method().clone());
    let keywords = PyDict::new(py);
    for name in ["dimension", "horizon", "noise", "norm_bound", "ridge", "delta", "schedule"] {
        keywords.set_item(name, plain(py, &settings[name])?)?;
    }
    keywords.set_item("layering", plain(py, &data(serde_json::to_value(words.layering))?)?)?;
    keywords.set_item("branches", plain(py, &data(serde_json::to_value(words.branches))?)?)?;
    keywords.set_item("pooling", plain(py, &data(serde_json::to_value(words.pooling))?)?)?;
    match words.certificate {
        Certification::Told if settings["certificate"].is_null() => {
            keywords.set_item("certificate", "none")?;
        }
        Certification::Told => {
            let told = policy.certificate().cloned().map(|inner| Certificate { inner });
            keywords.set_item("certificate", told)?;
        }
        Certification::Adaptive => keywords.set_item("certificate", "adaptive")?,
        Certification::Learned(None) => keywords.set_item("certificate", "learned")?,
        Certification::Learned(Some(starts)) => keywords.set_item("certificate", starts)?,
    }
    keywords.set_item("width", plain(py, &data(serde_json::to_value(words.width))?)?)?;
    match words.explore {
        Explore::Epsilon(epsilon) => keywords.set_item("explore", epsilon)?,
        other => keywords.set_item("explore", plain(py, &data(serde_json::to_value(other))?)?)?,
    }
    for name in ["seed", "exploration_scale", "discount", "season", "half_life"] {
        keywords.set_item(name, plain(py, &settings[name])?)?;
    }
    Ok(keywords)
}
