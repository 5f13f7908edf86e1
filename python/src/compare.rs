//! Policies against recorded rounds in which every action's reward is known.

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use truenorth_app::Source;
use truenorth_app::compare::{self, Columns, Contest, Drift, Rows};

use crate::array::{Axis, Numbers};
use crate::certificate::Certificate;
use crate::error::{Result, json};
use crate::experiment::presets;
use crate::interrupt::unless_interrupted;
use crate::summary::batches;

/// Who plays, and what they are told.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Told<'py> {
    policies: Option<Vec<String>>,
    seeds: u64,
    scales: Vec<f64>,
    noise: Option<f64>,
    norm_bound: Option<f64>,
    drift: Option<f64>,
    certificate: Option<Bound<'py, Certificate>>,
    discount: f64,
    threads: usize,
}

/// A path, or a table that speaks Arrow.
#[derive(FromPyObject)]
pub(crate) enum Data<'py> {
    File(PathBuf),
    Table(Bound<'py, PyAny>),
}

impl Data<'_> {
    pub(crate) fn source(self, name: &'static str) -> Result<Source> {
        Ok(match self {
            Self::File(path) => Source::Path(path),
            Self::Table(table) => Source::Batches(batches(&table)?, name),
        })
    }
}

/// Compares on files and tables.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are handed on")]
pub(crate) fn compare_tables(
    py: Python<'_>,
    offline: Option<Data<'_>>,
    online: Data<'_>,
    model: Option<&str>,
    features: &str,
    action: &str,
    reward: &str,
    round: &str,
    told: Told<'_>,
) -> Result<String> {
    let offline = offline.map(|data| data.source("offline")).transpose()?;
    let online = online.source("online")?;
    play(py, || Contest::read(Columns { features, model, action, reward, round }, offline, online), told)
}

/// Compares on arrays: rounds of the same number of actions.
#[pyfunction]
pub(crate) fn compare_rows(
    py: Python<'_>,
    offline: Option<(Bound<'_, PyAny>, Bound<'_, PyAny>)>,
    online: (Bound<'_, PyAny>, Bound<'_, PyAny>),
    told: Told<'_>,
) -> Result<String> {
    let live = Numbers::of("X", &online.0, [Axis::Any("n"), Axis::Any("K"), Axis::Any("d")])?;
    let &[rounds, actions, dimension] = live.shape() else { unreachable!("three axes were checked") };
    let rewards = Numbers::of("rewards", &online.1, [Axis::Exactly(rounds), Axis::Exactly(actions)])?;
    if rounds == 0 || actions == 0 || dimension == 0 {
        return Err(
            PyValueError::new_err("a comparison needs rounds, actions and features, but has none").into()
        );
    }
    let logged = |(features, rewards): &(Bound<'_, PyAny>, Bound<'_, PyAny>)| -> Result<Rows> {
        let features = Numbers::of("Z", features, [Axis::Any("n"), Axis::Exactly(dimension)])?;
        let rewards = Numbers::of("y", rewards, [Axis::Exactly(features.shape()[0])])?;
        Ok(Rows::of_arrays("offline", features.slice(), rewards.slice(), 1)?)
    };
    let offline = offline.as_ref().map(logged).transpose()?;
    let online = Rows::of_arrays("online", live.slice(), rewards.slice(), actions)?;
    play(py, || Contest::new(offline.as_ref(), &online), told)
}

/// `compare --json`; the rounds of the curves, and a curve for each policy; what each learned about each feature, and the
/// names of these.
fn play(
    py: Python<'_>,
    contest: impl FnOnce() -> truenorth_app::Result<Contest> + Send,
    told: Told<'_>,
) -> Result<String> {
    let contest = py.detach(contest)?;
    if told.drift.is_some() && told.certificate.is_some() {
        return Err(PyTypeError::new_err("`drift` and `certificate` exclude each other").into());
    }
    let given = told.certificate.map(|certificate| Drift::Certificate(certificate.get().inner.clone()));
    let threads = told.threads;
    let told = compare::Told {
        policies: presets(told.policies)?,
        seeds: told.seeds,
        scales: told.scales,
        noise: told.noise,
        norm_bound: told.norm_bound,
        drift: given.or(told.drift.map(Drift::Length)),
        discount: told.discount,
    };
    let entries = contest.entries(&told)?;
    let found = unless_interrupted(py, threads, |work| contest.play(&entries, told.seeds, work))?;
    let curves: Vec<_> = found.policies.iter().map(|policy| &policy.curve).collect();
    let learned: Vec<_> = found.policies.iter().map(|policy| &policy.features).collect();
    Ok(json(&(&found, &found.points, curves, learned, &contest.names))?)
}
