//! Policies against recorded rounds in which every action's reward is known.

use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;
use truenorth_logs::{Selection, Table};
use truenorth_sim::{Contest, Entrants, RecordedOutcome, RecordedRows, Summary};

use crate::array::{Axis, Numbers};
use crate::certificate::Certificate;
use crate::error::{Failure, Result};
use crate::experiment::presets;
use crate::interrupt::unless_interrupted;
use crate::summary::batches;

/// A number of a feature's view, where it is known.
type Seen = (f64, f64, Option<f64>, Option<f64>, f64);
/// Mean and 10-90 % band of what a policy earned above chance.
type Curve = (Vec<f64>, Vec<f64>, Vec<f64>);
/// `compare --json`; the rounds of the curves, and a curve for each policy; what each learned about each feature.
type Answer = (String, Vec<u64>, Vec<Curve>, Vec<Vec<Seen>>);

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
    threads: usize,
}

#[derive(FromPyObject)]
pub(crate) enum Source<'py> {
    File(PathBuf),
    Table(Bound<'py, PyAny>),
}

impl Source<'_> {
    fn read(self, py: Python<'_>, name: &str, selection: &Selection) -> PyResult<Table> {
        Ok(match self {
            Self::File(path) => py.detach(|| Table::read(path, selection)).map_err(Failure::from)?,
            Self::Table(table) => {
                let batches = batches(&table)?;
                py.detach(|| Table::of_batches(batches, name, selection)).map_err(Failure::from)?
            }
        })
    }
}

/// Compares on files and tables.
#[pyfunction]
pub(crate) fn compare_tables(
    py: Python<'_>,
    offline: Option<Source<'_>>,
    online: Source<'_>,
    features: &str,
    reward: &str,
    round: &str,
    told: Told<'_>,
) -> PyResult<Answer> {
    let all = Selection::new(features, reward);
    let without = all.clone().without(round);
    let offline = offline.map(|source| source.read(py, "offline", &without)).transpose()?;
    let selection = match &offline {
        Some(table) => Selection::named(&table.names, reward),
        None => all,
    };
    let online = online.read(py, "online", &selection.with_round(round))?;
    let logged = offline.as_ref().map(|table| rows("offline", table));
    let rounds = online.rows_by_round().unwrap_or_default();
    let contest = Contest::new(online.names.clone(), logged, rows("online", &online), &rounds);
    play(py, contest.map_err(Failure::from)?, told)
}

fn rows<'a>(name: &'a str, table: &'a Table) -> RecordedRows<'a> {
    RecordedRows { name, features: &table.features, rewards: &table.rewards }
}

/// Compares on arrays: rounds of the same number of actions.
#[pyfunction]
pub(crate) fn compare_rows(
    py: Python<'_>,
    offline: Option<(Bound<'_, PyAny>, Bound<'_, PyAny>)>,
    online: (Bound<'_, PyAny>, Bound<'_, PyAny>),
    told: Told<'_>,
) -> PyResult<Answer> {
    let live = Numbers::of("X", &online.0, [Axis::Any("n"), Axis::Any("K"), Axis::Any("d")])?;
    let &[rounds, actions, dimension] = live.shape() else { unreachable!("three axes were checked") };
    let rewards = Numbers::of("rewards", &online.1, [Axis::Exactly(rounds), Axis::Exactly(actions)])?;
    if rounds == 0 || actions == 0 || dimension == 0 {
        return Err(PyValueError::new_err("a comparison needs rounds, actions and features, but has none"));
    }
    let logged = offline.as_ref().map(|(features, rewards)| -> PyResult<_> {
        let features = Numbers::of("Z", features, [Axis::Any("n"), Axis::Exactly(dimension)])?;
        let rewards = Numbers::of("y", rewards, [Axis::Exactly(features.shape()[0])])?;
        Ok((features, rewards))
    });
    let logged = logged.transpose()?;
    let logged = match &logged {
        Some((features, rewards)) => Some(checked("offline", features.slice()?, rewards.slice()?)?),
        None => None,
    };
    let names = (1..=dimension).map(|place| format!("x{place}")).collect();
    let places: Vec<Vec<usize>> =
        (0..rounds).map(|round| (round * actions..(round + 1) * actions).collect()).collect();
    let online = checked("online", live.slice()?, rewards.slice()?)?;
    play(py, Contest::new(names, logged, online, &places).map_err(Failure::from)?, told)
}

/// Numbers that the library takes: files are checked as they are read.
fn checked<'a>(name: &'a str, features: &'a [f64], rewards: &'a [f64]) -> PyResult<RecordedRows<'a>> {
    let dimension = features.len() / rewards.len().max(1);
    let wrong = |value: &f64| value.is_nan() || value.abs() > 1e50;
    let found = features.iter().position(wrong).map(|place| (place / dimension, features[place]));
    let found = found.or_else(|| rewards.iter().position(wrong).map(|place| (place, rewards[place])));
    match found {
        None => Ok(RecordedRows { name, features, rewards }),
        Some((row, value)) => Err(PyValueError::new_err(format!(
            "{name}, row {}: numbers must be finite and at most 1e50 in size, but one is {value:?}",
            row + 1
        ))),
    }
}

fn check(told: &Told<'_>) -> PyResult<()> {
    for (name, value) in [("noise", told.noise), ("norm_bound", told.norm_bound), ("drift", told.drift)] {
        if let Some(value) = value.filter(|value| !(0.0..=1e50).contains(value)) {
            let sentence = format!("`{name}` must be at least 0 and at most 1e50, but is {value}");
            return Err(PyValueError::new_err(sentence));
        }
    }
    if let Some(wrong) = told.scales.iter().find(|&&scale| !(scale > 0.0 && scale <= 1e9)) {
        let sentence = format!("a factor of `scales` must be positive and at most 1e9, but is {wrong}");
        return Err(PyValueError::new_err(sentence));
    }
    if !(1..=10_000).contains(&told.seeds) {
        let sentence = format!("`seeds` must be from 1 to 10000, but is {}", told.seeds);
        return Err(PyValueError::new_err(sentence));
    }
    if told.drift.is_some() && told.certificate.is_some() {
        return Err(PyTypeError::new_err("`drift` and `certificate` exclude each other"));
    }
    Ok(())
}

fn play(py: Python<'_>, contest: Contest, told: Told<'_>) -> PyResult<Answer> {
    check(&told)?;
    let entrants = Entrants {
        policies: presets(told.policies)?.unwrap_or_else(|| Contest::POLICIES.to_vec()),
        scales: told.scales,
        noise: told.noise,
        norm_bound: told.norm_bound,
    };
    let given = told.certificate.as_ref().map(|certificate| &certificate.get().inner);
    let entries = contest.entries(&entrants, |preset| -> Result<truenorth::Certificate> {
        // Coefficients of divided features are larger by the unit, and so is their drift.
        let unit = contest.unit;
        match (given, told.drift) {
            (Some(given), _) => {
                Ok(truenorth::Certificate::new(given.matrix() * unit.powi(-2), given.radius())?)
            }
            (None, Some(drift)) => {
                Ok(truenorth::Certificate::isotropic(contest.recording.dimension, drift * unit)?)
            }
            (None, None) => Err(Failure::Value(format!(
                "policy {:?} has to be told how far the logs may have drifted: give `drift` or `certificate`",
                preset.name()
            ))),
        }
    })?;
    let seeds = told.seeds;
    let (comparison, outcomes) = unless_interrupted(py, told.threads, |stop| {
        let jobs: Vec<(usize, u64)> =
            (0..entries.len()).flat_map(|entry| (0..seeds).map(move |seed| (entry, seed))).collect();
        let played: Option<Vec<RecordedOutcome>> = jobs
            .par_iter()
            .with_max_len(1)
            .map(|&(entry, seed)| contest.recording.play(entries[entry].params.clone(), seed, stop))
            .collect::<truenorth_sim::Result<_>>()?;
        // What was stopped is not looked at any more.
        let Some(played) = played else { return Ok(None) };
        let mut played = played.into_iter();
        let seeds_each = usize::try_from(seeds).unwrap_or(usize::MAX);
        let outcomes: Vec<Vec<RecordedOutcome>> =
            entries.iter().map(|_| played.by_ref().take(seeds_each).collect()).collect();
        Ok(Some((contest.summarise(&entries, &outcomes, seeds)?, outcomes)))
    })?
    .ok_or_else(|| Failure::Broken("stopped without a reason".to_owned()))?;
    let points = contest.recording.points();
    let curve = |outcomes: &Vec<RecordedOutcome>| {
        let at = |point: usize| Summary::of(outcomes.iter().map(|outcome| outcome.gained[point]).collect());
        let all: Vec<Summary> = (0..points.len()).map(at).collect();
        let line = |value: fn(&Summary) -> f64| all.iter().map(value).collect::<Vec<f64>>();
        (line(|point| point.mean), line(|point| point.p10), line(|point| point.p90))
    };
    let curves = outcomes.iter().map(curve).collect();
    let seen = comparison.policies.iter().map(|policy| {
        let view = |feature: &truenorth_sim::ComparedFeature| {
            let view = feature.view;
            (view.estimate, view.coverage, view.drift, view.stderr, view.trust)
        };
        policy.features.iter().map(view).collect()
    });
    let seen = seen.collect();
    let text = serde_json::to_string(&comparison).map_err(|error| Failure::Broken(error.to_string()))?;
    Ok((text, points, curves, seen))
}
