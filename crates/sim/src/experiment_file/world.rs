//! The world of a panel: parameters, logs, contexts, rewards.

use crate::{Contexts, Coverage, ParameterLaw, RewardModel, World};
use serde::Deserialize;

use super::FileError;
use super::document::{ANY, Entry, NOT_NEGATIVE};
use super::scope::{Kinds, Scope};

// Typing errors of a few zeros are told here, not by a machine that runs out of memory.
const MOST_FEATURES: u64 = 10_000;
const MOST_ACTIONS: u64 = 100_000;
const MOST_ROWS: u64 = 1_000_000_000;

/// A Bernoulli reward is sub-Gaussian with this scale, whatever its mean.
const BERNOULLI_NOISE: f64 = 0.5;

// Those of the study of shifting contexts.
const QUIET: f64 = 0.1;
const SPREAD: f64 = 0.3;

const PARAMETERS: &Kinds =
    &[("uniform", &["low", "high", "scale", "offset", "drift"]), ("given", &["live", "logged", "drift"])];
const COVERAGE: &Kinds =
    &[("gaussian", &["diversity"]), ("box", &["low", "high"]), ("counts", &["features", "counts"])];
const CONTEXTS: &Kinds = &[
    ("gaussian", &[]),
    ("box", &["low", "high"]),
    ("fixed", &["features"]),
    ("shifting", &["phases", "phase_rounds", "quiet"]),
    ("turning", &["turn_rounds", "spread"]),
];

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Rewards {
    Gaussian,
    Bernoulli,
}

pub(super) fn read(scope: &Scope<'_>, paper: &World, horizon: u64) -> Result<World, FileError> {
    let dimension = scope.or("dimension", paper.dimension, |entry| entry.whole(1..=MOST_FEATURES))?;
    let (rewards, noise) = match scope.or("rewards", Rewards::Gaussian, Entry::switch)? {
        Rewards::Gaussian => (RewardModel::Gaussian, paper.noise),
        Rewards::Bernoulli => (RewardModel::Bernoulli, BERNOULLI_NOISE),
    };
    let parameters = parameters(scope, dimension)?;
    // What the means of listed actions and rows must be probabilities of, where that is known.
    let (live, logged) = match (&parameters, rewards) {
        (ParameterLaw::Given { live, logged }, RewardModel::Bernoulli) => {
            (Some(&live[..]), Some(&logged[..]))
        }
        _ => (None, None),
    };
    let (coverage, log_rows) = coverage(scope, dimension, logged, paper.log_rows)?;
    let contexts = contexts(scope, dimension, live, paper.actions(), horizon)?;
    let noise = scope.or("noise", noise, |entry| entry.number(NOT_NEGATIVE))?;
    let world = World { dimension, parameters, coverage, log_rows, contexts, rewards, noise };
    if let (RewardModel::Bernoulli, Some(entry)) = (rewards, scope.get("rewards")) {
        check_signs(&world, &entry)?;
    }
    Ok(world)
}

fn parameters(scope: &Scope<'_>, dimension: usize) -> Result<ParameterLaw, FileError> {
    let (kind, section) = scope.section("parameters", PARAMETERS)?;
    if kind == Some("given") {
        let live = section.need("live")?.vector(dimension)?;
        let logged = match (section.get("logged"), section.get("drift")) {
            (Some(logged), Some(drift)) if logged.level == drift.level => {
                return Err(drift.fail("`drift` and `logged` exclude each other: logged is live minus drift"));
            }
            (Some(logged), drift) if drift.is_none_or(|drift| drift.level < logged.level) => {
                logged.vector(dimension)?
            }
            (_, Some(drift)) => {
                live.iter().zip(drift.vector(dimension)?).map(|(live, drift)| live - drift).collect()
            }
            (_, None) => live.clone(),
        };
        return Ok(ParameterLaw::Given { live, logged });
    }
    // The cube of the paper's randomised studies.
    let number = |key, default| section.or(key, default, |entry| entry.number(ANY));
    let (low, high) = (number("low", 0.25)?, number("high", 0.55)?);
    if high < low {
        let reason = format!("`high` must be at least `low`, but is {high}, and `low` is {low}");
        let entry = section.get("high").or(section.get("low"));
        return Err(entry.map_or_else(|| section.fail(&reason), |entry| entry.fail(&reason)));
    }
    let offset = section.or("offset", 0.0, |entry| entry.number(NOT_NEGATIVE))?;
    let drift = section.or("drift", vec![0.0; dimension], |entry| entry.vector(dimension))?;
    Ok(ParameterLaw::ScaledWithOffset { low, high, scale: number("scale", 1.0)?, offset, drift })
}

fn coverage(
    scope: &Scope<'_>,
    dimension: usize,
    logged: Option<&[f64]>,
    default_rows: usize,
) -> Result<(Coverage, usize), FileError> {
    let (kind, section) = scope.section("coverage", COVERAGE)?;
    let log_rows = scope.or("log_rows", default_rows, |entry| entry.whole(0..=MOST_ROWS))?;
    Ok(match kind {
        Some("box") => {
            let (low, high) = corners(&section, dimension)?;
            (Coverage::Box { low, high }, log_rows)
        }
        Some("counts") => {
            let given = section.need("features")?;
            let features = listed(&given, dimension, logged)?;
            let entry = section.need("counts")?;
            let counts = entry.items()?;
            if counts.len() != features.len() {
                let (rows, found) = (features.len(), counts.len());
                return Err(entry.fail(format!(
                    "`counts` must hold {rows} numbers, one for each vector in `features`, but holds {found}"
                )));
            }
            let counts: Vec<u64> =
                counts.iter().map(|count| count.whole(0..=MOST_ROWS)).collect::<Result<_, _>>()?;
            let sum = counts.iter().fold(0_u64, |sum, &count| sum.saturating_add(count));
            let sum = usize::try_from(sum).unwrap_or(usize::MAX);
            agree(scope, "log_rows", log_rows, &entry, sum)?;
            (Coverage::Counts { features, counts }, sum)
        }
        _ => {
            let diversity = section.or("diversity", 1.0, |entry| entry.number(NOT_NEGATIVE))?;
            (Coverage::Gaussian { diversity }, log_rows)
        }
    })
}

fn contexts(
    scope: &Scope<'_>,
    dimension: usize,
    live: Option<&[f64]>,
    default_actions: usize,
    horizon: u64,
) -> Result<Contexts, FileError> {
    let (kind, section) = scope.section("contexts", CONTEXTS)?;
    let actions = scope.or("actions", default_actions, |entry| entry.whole(1..=MOST_ACTIONS))?;
    Ok(match kind {
        Some("box") => {
            let (low, high) = corners(&section, dimension)?;
            Contexts::Box { actions, low, high }
        }
        Some("fixed") => {
            let entry = section.need("features")?;
            let features = listed(&entry, dimension, live)?;
            if features.is_empty() {
                return Err(entry.fail("`features` must list at least one action"));
            }
            agree(scope, "actions", actions, &entry, features.len())?;
            Contexts::Fixed { features }
        }
        Some("shifting") => {
            let phases: usize = section.need("phases")?.whole(1..=dimension as u64)?;
            let whole = horizon.div_ceil(phases as u64);
            Contexts::Shifting {
                actions,
                phases,
                phase_rounds: section.or("phase_rounds", whole, |entry| entry.whole(1..=u64::MAX))?,
                quiet: section.or("quiet", QUIET, |entry| entry.number(NOT_NEGATIVE))?,
            }
        }
        Some("turning") => Contexts::Turning {
            actions,
            turn_rounds: section.or("turn_rounds", horizon, |entry| entry.whole(1..=u64::MAX))?,
            spread: section.or("spread", SPREAD, |entry| entry.number(NOT_NEGATIVE))?,
        },
        _ => Contexts::Gaussian { actions },
    })
}

/// Corners of a box.
fn corners(section: &Scope<'_>, dimension: usize) -> Result<(Vec<f64>, Vec<f64>), FileError> {
    let (low, high) = (section.need("low")?, section.need("high")?);
    let (least, most) = (low.vector(dimension)?, high.vector(dimension)?);
    let Some(place) = least.iter().zip(&most).position(|(low, high)| high < low) else {
        return Ok((least, most));
    };
    let culprit = high.items().ok().and_then(|items| items.get(place).copied()).unwrap_or(high);
    let (low, high) = (least[place], most[place]);
    Err(culprit.fail(format!(
        "`high` must be at least `low`, but is {high} for feature {place}, and `low` is {low}"
    )))
}

/// Feature vectors; with a parameter, each of them must have a probability as its mean.
fn listed(
    entry: &Entry<'_>,
    dimension: usize,
    parameter: Option<&[f64]>,
) -> Result<Vec<Vec<f64>>, FileError> {
    let rows = entry.items().map_err(|_| entry.refuse("a list of vectors"))?;
    let checked = rows.iter().map(|row| {
        let features = row.row(dimension)?;
        let mean =
            parameter.map_or(0.0, |parameter| features.iter().zip(parameter).map(|(x, y)| x * y).sum());
        if (0.0..=1.0).contains(&mean) {
            return Ok(features);
        }
        Err(row.fail(format!(
            "Bernoulli rewards need means from 0 to 1, but that of a vector in `features` is {mean}"
        )))
    });
    checked.collect()
}

/// A number that a list gives already may be left out, or be the same. One further out is a default for
/// other panels.
fn agree(
    scope: &Scope<'_>,
    key: &str,
    value: usize,
    list: &Entry<'_>,
    count: usize,
) -> Result<(), FileError> {
    match scope.get(key) {
        Some(entry) if entry.level >= list.level && value != count => {
            let list = list.key;
            Err(entry.fail(format!("`{key}` is {value}, but `{list}` says {count}; it may be left out")))
        }
        _ => Ok(()),
    }
}

/// Gaussian features are as often negative as positive, and so are the means.
fn check_signs(world: &World, rewards: &Entry<'_>) -> Result<(), FileError> {
    let reason = match (&world.contexts, &world.coverage) {
        (Contexts::Gaussian { .. }, _) => "`contexts` of kind `gaussian` do not have; take `box` or `fixed`",
        (Contexts::Shifting { .. }, _) => "`contexts` of kind `shifting` do not have; take `box` or `fixed`",
        (Contexts::Turning { .. }, _) => "`contexts` of kind `turning` do not have; take `box` or `fixed`",
        (_, Coverage::Gaussian { .. }) if world.log_rows > 0 => {
            "`coverage` of kind `gaussian` does not have; take `box` or `counts`"
        }
        _ => return Ok(()),
    };
    Err(rewards.fail(format!("`rewards` = \"bernoulli\" needs means from 0 to 1, which {reason}")))
}
