//! The keywords of a policy, as the library's settings.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use serde::de::value::{Error as Unknown, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use truenorth::switches::{Certification, Switches};
use truenorth::{Certificate as Told, Epochs, Explore, Settings};

use crate::certificate::Certificate;

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
        (Ok("learned"), _) => Certification::Learned(Epochs::Doubling),
        (Ok(name), _) => {
            return Err(PyValueError::new_err(format!(
                "`certificate` must be a Certificate, 'none', 'adaptive' or 'learned', but is {name:?}"
            )));
        }
        (Err(_), Ok(starts)) => Certification::Learned(Epochs::Given(starts)),
        (Err(_), Err(_)) => {
            let found = value.get_type();
            return Err(PyTypeError::new_err(format!(
                "`certificate` must be a Certificate, a name or a list of rounds, but is {found}"
            )));
        }
    };
    Ok((rule, None))
}

fn name(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

/// The settings as the keywords that make the same policy, but for the logs.
pub(crate) fn keywords<'py>(py: Python<'py>, settings: &Settings) -> PyResult<Bound<'py, PyDict>> {
    let words = Switches::from(settings.method.clone());
    let keywords = PyDict::new(py);
    keywords.set_item("dimension", settings.dimension)?;
    keywords.set_item("horizon", settings.horizon)?;
    keywords.set_item("noise", settings.noise)?;
    keywords.set_item("norm_bound", settings.norm_bound)?;
    keywords.set_item("ridge", settings.ridge)?;
    keywords.set_item("delta", settings.delta)?;
    keywords.set_item("schedule", settings.schedule.and_then(|schedule| name(&schedule)))?;
    keywords.set_item("layering", name(&words.layering))?;
    keywords.set_item("branches", name(&words.branches))?;
    keywords.set_item("pooling", name(&words.pooling))?;
    match (words.certificate, &settings.certificate) {
        (Certification::Told, Some(told)) => {
            keywords.set_item("certificate", Certificate { inner: told.clone() })?;
        }
        (Certification::Told, None) => keywords.set_item("certificate", "none")?,
        (Certification::Adaptive, _) => keywords.set_item("certificate", "adaptive")?,
        (Certification::Learned(Epochs::Doubling), _) => keywords.set_item("certificate", "learned")?,
        (Certification::Learned(Epochs::Given(starts)), _) => keywords.set_item("certificate", starts)?,
    }
    keywords.set_item("width", name(&words.width))?;
    match words.explore {
        Explore::Epsilon(epsilon) => keywords.set_item("explore", epsilon)?,
        other => keywords.set_item("explore", name(&other))?,
    }
    keywords.set_item("seed", settings.seed)?;
    keywords.set_item("exploration_scale", settings.exploration_scale)?;
    keywords.set_item("discount", settings.discount)?;
    keywords.set_item("season", settings.season)?;
    keywords.set_item("half_life", settings.half_life)?;
    Ok(keywords)
}
