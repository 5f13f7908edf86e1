//! The keywords of a policy, as the library's parameters.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde::de::value::{Error as Unknown, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use truenorth::{CertificateRule, Epochs, Explore, Params, Schedule};

use crate::certificate::Certificate;

/// A switch by the name that commands and files use.
pub(crate) fn switch<T: DeserializeOwned>(name: &str, text: &str) -> PyResult<T> {
    let named: StrDeserializer<'_, Unknown> = text.into_deserializer();
    T::deserialize(named).map_err(|error| {
        let sentence = error.to_string();
        let known = sentence.split_once(", expected ").map_or(&*sentence, |(_, known)| known);
        PyValueError::new_err(format!("`{name}` must be {known}, but is {text:?}"))
    })
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
pub(crate) fn certificate(value: &Bound<'_, PyAny>) -> PyResult<CertificateRule> {
    if let Ok(fixed) = value.cast::<Certificate>() {
        return Ok(CertificateRule::Fixed(fixed.get().inner.clone()));
    }
    if let Ok(name) = value.extract::<&str>() {
        return match name {
            "none" => Ok(CertificateRule::None),
            "adaptive" => Ok(CertificateRule::Adaptive),
            "learned" => Ok(CertificateRule::Learned(Epochs::Doubling)),
            _ => Err(PyValueError::new_err(format!(
                "`certificate` must be a Certificate, 'none', 'adaptive' or 'learned', but is {name:?}"
            ))),
        };
    }
    value.extract().map(|starts| CertificateRule::Learned(Epochs::Given(starts))).map_err(|_| {
        PyTypeError::new_err(format!(
            "`certificate` must be a Certificate, a name or a list of rounds, but is {}",
            value.get_type()
        ))
    })
}

fn name(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

/// The parameters as the keywords that make the same policy, but for the logs.
pub(crate) fn keywords<'py>(py: Python<'py>, params: &Params) -> PyResult<Bound<'py, PyDict>> {
    let keywords = PyDict::new(py);
    keywords.set_item("dimension", params.dimension)?;
    keywords.set_item("horizon", params.horizon)?;
    keywords.set_item("noise", params.noise)?;
    keywords.set_item("norm_bound", params.norm_bound)?;
    keywords.set_item("ridge", params.ridge)?;
    keywords.set_item("delta", params.delta)?;
    keywords.set_item("schedule", params.schedule.as_ref().and_then(|schedule: &Schedule| name(schedule)))?;
    keywords.set_item("layering", name(&params.layering))?;
    keywords.set_item("branches", name(&params.branches))?;
    keywords.set_item("pooling", name(&params.pooling))?;
    match &params.certificate {
        CertificateRule::None => keywords.set_item("certificate", "none")?,
        CertificateRule::Adaptive => keywords.set_item("certificate", "adaptive")?,
        CertificateRule::Learned(Epochs::Doubling) => keywords.set_item("certificate", "learned")?,
        CertificateRule::Learned(Epochs::Given(starts)) => keywords.set_item("certificate", starts)?,
        CertificateRule::Fixed(fixed) => {
            keywords.set_item("certificate", Certificate { inner: fixed.clone() })?;
        }
    }
    keywords.set_item("width", name(&params.width))?;
    match params.explore {
        Explore::Epsilon(epsilon) => keywords.set_item("explore", epsilon)?,
        other => keywords.set_item("explore", name(&other))?,
    }
    keywords.set_item("seed", params.seed)?;
    keywords.set_item("exploration_scale", params.exploration_scale)?;
    Ok(keywords)
}
