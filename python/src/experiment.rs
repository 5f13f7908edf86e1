//! Experiments: the paper's studies, ours, and those that a file describes.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::prelude::*;
use truenorth::Preset;
use truenorth_sim::{
    CertificateKind, Figure, FigureResult, FileError, NormBound, Reading, Results, RunOutcome, Study,
    play_run_unless, summarise,
};

use crate::error::{Failure, Result};
use crate::interrupt::unless_interrupted;

/// Policies by name.
pub(crate) fn presets(names: Option<Vec<String>>) -> Result<Option<Vec<Preset>>> {
    let parse = |name: &String| name.parse().map_err(Failure::Core);
    names.map(|names| names.iter().map(parse).collect()).transpose()
}

/// `results.json`, and the title of each figure.
fn play(py: Python<'_>, figures: Vec<Figure>, threads: usize) -> PyResult<(String, Vec<String>)> {
    for panel in figures.iter().flat_map(|figure| &figure.panels) {
        panel.check().map_err(Failure::from)?;
    }
    let results = unless_interrupted(py, threads, |stop| {
        let mut results = Results { figures: Vec::new() };
        for figure in &figures {
            let mut panels = Vec::new();
            for panel in &figure.panels {
                let runs: Vec<u64> = (0..panel.runs).collect();
                let outcomes: Vec<Option<RunOutcome>> = runs
                    .par_iter()
                    .with_max_len(1)
                    .map(|&run| play_run_unless(panel, run, stop))
                    .collect::<truenorth_sim::Result<_>>()?;
                // What was stopped is not looked at any more.
                let Some(outcomes) = outcomes.iter().map(Option::as_ref).collect::<Option<Vec<_>>>() else {
                    return Ok(results);
                };
                panels.push(summarise(panel, &outcomes));
            }
            results.figures.push(FigureResult { name: figure.name.clone(), panels });
        }
        Ok(results)
    })?;
    let text = serde_json::to_string(&results).map_err(|error| Failure::Broken(error.to_string()))?;
    Ok((text, figures.into_iter().map(|figure| figure.title).collect()))
}

/// A certificate that an experiment names.
fn certificate(path: &Path) -> Result<truenorth::Certificate, FileError> {
    let place = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| FileError { place: place.clone(), reason: error.to_string() })?;
    truenorth_audit::certificate_from_toml(&text, None, 1.0).map_err(|wrong| FileError {
        place: wrong.line.map_or(place.clone(), |line| format!("{place}, line {line}")),
        reason: wrong.reason,
    })
}

/// Plays what an experiment file describes; `path` names it in messages.
#[pyfunction]
pub(crate) fn simulate(
    py: Python<'_>,
    path: PathBuf,
    content: Vec<u8>,
    runs: Option<u64>,
    threads: usize,
) -> PyResult<(String, Vec<String>)> {
    let mut figure = Figure::from_toml(&path, &content, &certificate)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    if let Some(runs) = runs {
        figure.panels.iter_mut().for_each(|panel| panel.runs = runs);
    }
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
) -> PyResult<(String, Vec<String>)> {
    let known = Study::PAPER.into_iter().chain(Study::BEYOND);
    let studies: Vec<Study> = match study {
        "all" => Study::PAPER.to_vec(),
        name => known.clone().filter(|study| study.name() == name).collect(),
    };
    if studies.is_empty() {
        let names: Vec<&str> = known.map(Study::name).collect();
        let sentence = format!("there is no study named {study:?}; the names are all, {}", names.join(", "));
        return Err(PyValueError::new_err(sentence));
    }
    let certificate = certificate.map(|name| match name {
        "coordinate" => Ok(CertificateKind::Coordinate),
        "isotropic" => Ok(CertificateKind::Isotropic),
        _ => Err(PyValueError::new_err(format!(
            "`certificate` must be 'coordinate' or 'isotropic', but is {name:?}"
        ))),
    });
    let reading = Reading {
        horizon,
        runs,
        seed,
        norm_bound: if as_printed { NormBound::Given(1.0) } else { NormBound::Truth },
        certificate: certificate.transpose()?,
        policies: presets(policies)?,
    };
    play(py, studies.into_iter().map(|study| study.figure(&reading)).collect(), threads)
}
