//! The keywords of a policy, as the library's settings.

use std::fmt::Display;

use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::de::value::{Error as Unknown, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use serde_json::Value;
use truenorth::{Certificate as Fixed, Explore, Method, Policy, Preset, Schedule, Settings};
use truenorth_features::nearest;
use truenorth_sim::switches::{Certification, Switches};

use crate::certificate::Certificate;
use crate::error::{Result, refused};

macro_rules! keywords {
    ($($name:ident: $kind:ty,)*) => {
        /// What a policy is told, by keywords.
        #[derive(Default)]
        pub(crate) struct Told<'py> {
            $(pub(crate) $name: Option<$kind>,)*
        }

        /// All of its names.
        const SETTINGS: &[&str] = &[$(stringify!($name)),*];

        impl<'py> Told<'py> {
            /// From a dictionary that has no other names.
            pub(crate) fn of(told: &Bound<'py, PyDict>) -> PyResult<Self> {
                Ok(Self { $($name: given(told, stringify!($name))?,)* })
            }
        }
    };
}

keywords! {
    horizon: u64,
    noise: f64,
    norm_bound: f64,
    ridge: f64,
    delta: f64,
    schedule: String,
    layering: String,
    branches: String,
    pooling: String,
    certificate: Bound<'py, PyAny>,
    width: String,
    explore: Bound<'py, PyAny>,
    seed: u64,
    exploration_scale: f64,
    discount: f64,
    season: u64,
    half_life: f64,
    sparse: bool,
    fits_beside: bool,
}

/// A keyword's value, if it has one.
pub(crate) fn given<'py, T: FromPyObjectOwned<'py>>(
    told: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<Option<T>> {
    let value = told.get_item(name)?.filter(|value| !value.is_none());
    let wrong = |value: &Bound<'py, PyAny>, error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(told.py()) {
            return no_count(name, value);
        }
        PyTypeError::new_err(format!("`{name}` cannot be {}: {}", value.get_type(), error.value(told.py())))
    };
    let read = |value: Bound<'py, PyAny>| {
        value.extract::<T>().map_err(Into::<PyErr>::into).map_err(|error| wrong(&value, error))
    };
    value.map(read).transpose()
}

/// A number that is not negative; the types that Rust has for such refuse others without a name.
pub(crate) fn count<T: TryFrom<i128>>(name: &str, number: i128) -> PyResult<T> {
    number.try_into().map_err(|_| no_count(name, &number))
}

fn no_count(name: &str, number: &impl Display) -> PyErr {
    let number = number.to_string();
    PyValueError::new_err(if number.starts_with('-') {
        format!("`{name}` must be at least 0, but is {number}")
    } else {
        format!("`{name}` is too large: {number}")
    })
}

impl Told<'_> {
    /// What is to be done with the settings of a policy of this preset.
    pub(crate) fn settings(self, preset: &str) -> Result<impl FnOnce(Settings) -> Settings + use<>> {
        let preset = self::preset(preset)?;
        let mut words = Switches::from(preset.method());
        switch("layering", self.layering.as_deref(), &mut words.layering)?;
        switch("branches", self.branches.as_deref(), &mut words.branches)?;
        switch("pooling", self.pooling.as_deref(), &mut words.pooling)?;
        let mut fixed = None;
        if let Some(value) = &self.certificate {
            (words.certificate, fixed) = certificate(value)?;
        }
        switch("width", self.width.as_deref(), &mut words.width)?;
        if let Some(value) = &self.explore {
            words.explore = explore(value)?;
        }
        let method: Method = words.try_into()?;
        let mut kind = Schedule::Anytime;
        switch("schedule", self.schedule.as_deref(), &mut kind)?;
        let schedule = self.schedule.map(|_| kind);
        let Self { horizon, noise, norm_bound, ridge, delta, seed, discount, season, half_life, .. } = self;
        let (sparse, fits_beside) = (self.sparse.unwrap_or(false), self.fits_beside.unwrap_or(false));
        let scale = self.exploration_scale.unwrap_or(preset.exploration_scale());
        Ok(move |settings: Settings| {
            let mut settings = settings
                .method(method)
                .certificate(fixed)
                .horizon(horizon)
                .noise(noise)
                .norm_bound(norm_bound)
                .ridge(ridge)
                .schedule(schedule)
                .exploration_scale(scale)
                .season(season)
                .half_life(half_life)
                .sparse(sparse)
                .fits_beside(fits_beside)
                .seed(seed.unwrap_or(0));
            if let Some(delta) = delta {
                settings = settings.delta(delta);
            }
            if let Some(discount) = discount {
                settings = settings.discount(discount);
            }
            settings
        })
    }
}

/// A preset by its name.
fn preset(name: &str) -> Result<Preset> {
    let known = |error: truenorth::Error| refused(&format!("{error}{}", meant(name, Preset::names())));
    Ok(name.parse().map_err(known)?)
}

/// What may have been meant, at the end of a sentence.
fn meant<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, names).map_or_else(String::new, |near| format!("; did you mean {near:?}?"))
}

/// Refuses keywords that a policy does not have.
pub(crate) fn check_names(who: &str, told: &Bound<'_, PyDict>, own: &[&'static str]) -> PyResult<()> {
    for name in told.keys() {
        let name: String = name.extract()?;
        let known = || own.iter().chain(SETTINGS).copied();
        if !known().any(|known| known == name) {
            let hint = match meant(&name, known()) {
                none if none.is_empty() => {
                    format!("; the names are {}", known().collect::<Vec<_>>().join(", "))
                }
                hint => hint,
            };
            return Err(PyTypeError::new_err(format!("{who} has no parameter {name:?}{hint}")));
        }
    }
    Ok(())
}

/// Sets a switch by the name that commands and files use, if one is given.
fn switch<T: DeserializeOwned>(name: &str, text: Option<&str>, value: &mut T) -> PyResult<()> {
    let Some(text) = text else { return Ok(()) };
    let named: StrDeserializer<'_, Unknown> = text.into_deserializer();
    *value = T::deserialize(named).map_err(|error| {
        let sentence = error.to_string();
        let known = sentence.split_once(", expected ").map_or(&*sentence, |(_, known)| known);
        let hint = meant(text, known.split('`').skip(1).step_by(2));
        PyValueError::new_err(format!("`{name}` must be {known}, but is {text:?}{hint}"))
    })?;
    Ok(())
}

/// `ucb`, `sampling`, or the share of rounds in which any action is played.
fn explore(value: &Bound<'_, PyAny>) -> PyResult<Explore> {
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
fn certificate(value: &Bound<'_, PyAny>) -> PyResult<(Certification, Option<Fixed>)> {
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

/// A word, a flag, a number or nothing, as Python has it.
fn plain<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(word) => word.into_pyobject(py)?.into_any(),
        Value::Bool(flag) => flag.into_pyobject(py)?.to_owned().into_any(),
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
    for name in ["seed", "exploration_scale", "discount", "season", "half_life", "sparse"] {
        keywords.set_item(name, plain(py, &settings[name])?)?;
    }
    keywords.set_item("fits_beside", settings["fits_beside_from"] != 0)?;
    Ok(keywords)
}
