//! Experiments: the paper's studies, ours, and those that a file describes.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use truenorth::Preset;
use truenorth_app::experiment;
use truenorth_paper::Reading;
use truenorth_sim::{CertificateKind, Figure, NormBound};

use crate::error::{Result, json};
use crate::interrupt::unless_interrupted;

/// Policies by name.
pub(crate) fn presets(names: Option<Vec<String>>) -> Result<Option<Vec<Preset>>> {
    Ok(names.map(|names| names.iter().map(|name| name.parse()).collect()).transpose()?)
}

/// `results.json`, and the title of each figure.
fn play(py: Python<'_>, figures: Vec<Figure>, threads: usize) -> Result<(String, Vec<String>)> {
    let played = unless_interrupted(py, threads, |work| experiment::play(&figures, None, work))?;
    Ok((json(&played.results)?, figures.into_iter().map(|figure| figure.title).collect()))
}

/// Plays what an experiment file describes; `path` names it in messages.
#[pyfunction]
pub(crate) fn simulate(
    py: Python<'_>,
    path: PathBuf,
    content: Vec<u8>,
    runs: Option<u64>,
    threads: usize,
) -> Result<(String, Vec<String>)> {
    let figure = experiment::from_toml(&path, &content, runs)?;
    play(py, vec![figure], threads)
}

/// Plays one of the studies, or all of the paper's.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "all of them are by name in Python")]
pub(crate) fn reproduce(
    py: Python<'_>,
    study: &str,
    runs: u64,
    horizon: u64,
    seed: u64,
    policies: Option<Vec<String>>,
    as_printed: bool,
    certificate: Option<&str>,
    threads: usize,
) -> Result<(String, Vec<String>)> {
    let studies = experiment::studies(study)?;
    let certificate = match certificate {
        None => None,
        Some("coordinate") => Some(CertificateKind::Coordinate),
        Some("isotropic") => Some(CertificateKind::Isotropic),
        Some(name) => {
            let sentence = format!("`certificate` must be 'coordinate' or 'isotropic', but is {name:?}");
            return Err(PyValueError::new_err(sentence).into());
        }
    };
    let reading = Reading {
        horizon,
        runs,
        seed,
        norm_bound: if as_printed { NormBound::Given(1.0) } else { NormBound::Truth },
        certificate,
        policies: presets(policies)?,
    };
    play(py, studies.into_iter().map(|study| study.figure(&reading)).collect(), threads)
}
