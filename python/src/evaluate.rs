//! What another policy would have earned.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use truenorth_app::bandit::Told as PolicyTold;
use truenorth_app::evaluate::{Request, Target, evaluate};
use truenorth_evaluate::{Decision, Estimates, Modelled, modelled};
use truenorth_logs::expand;

use crate::array::{Axis, Numbers};
use crate::error::{Result, json, refused};
use crate::summary::{Summary, Told};

/// A policy by its name.
fn target(name: &str, seed: u64, frozen: bool) -> Result<Target> {
    if name == "uniform" {
        return Ok(Target::Uniform);
    }
    if let Some(field) = name.strip_prefix("field:") {
        return Ok(Target::Field(field.to_owned()));
    }
    let policy = Some(name.parse::<truenorth::Preset>()?);
    Ok(Target::Policy {
        told: Box::new(PolicyTold { policy, seed: Some(seed), ..PolicyTold::default() }),
        frozen,
    })
}

/// Evaluates a policy with logs in files.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place")]
pub(crate) fn evaluate_files(
    py: Python<'_>,
    files: Vec<PathBuf>,
    told: &Bound<'_, PyDict>,
    policy: &str,
    summary: Option<&Bound<'_, Summary>>,
    probability: Option<&str>,
    seed: u64,
    frozen: bool,
) -> Result<String> {
    let mut plan = Told::of(told)?.plan()?;
    plan.selection = plan.selection.map(|selection| match probability {
        Some(column) => selection.without(column),
        None => selection,
    });
    let target = target(policy, seed, frozen)?;
    let summary = summary.map(|summary| &summary.get().inner);
    let found = py.detach(|| {
        let logs = expand(&files)?;
        evaluate(&Request { logs: &logs, plan: &plan, summary, probability, target })
    })?;
    Ok(json(&found)?)
}

#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    estimates: Estimates,
    #[serde(flatten)]
    modelled: Option<Modelled>,
    trusted: bool,
}

/// Evaluates a policy with numbers.
#[pyfunction]
pub(crate) fn evaluate_arrays(
    rewards: &Bound<'_, PyAny>,
    probabilities: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    predicted: Option<&Bound<'_, PyAny>>,
    predicted_target: Option<&Bound<'_, PyAny>>,
) -> Result<String> {
    let rewards = Numbers::of("rewards", rewards, [Axis::Any("n")])?;
    let length = [Axis::Exactly(rewards.shape()[0])];
    let probabilities = Numbers::of("probabilities", probabilities, length)?;
    let target = Numbers::of("target", target, length)?;
    let both = probabilities.slice().iter().zip(target.slice());
    let decisions: Vec<Decision> = rewards
        .slice()
        .iter()
        .zip(both)
        .map(|(&reward, (&probability, &target))| Decision { reward, probability, target, weight: 1.0 })
        .collect();
    if decisions.is_empty() {
        return Err(PyValueError::new_err("there are no decisions to evaluate with").into());
    }
    for (place, decision) in decisions.iter().enumerate() {
        let wrong = |name, value, range| {
            Err(refused(&format!("`{name}` {place} is {value}, but must be {range}")).into())
        };
        if !decision.reward.is_finite() {
            return wrong("rewards", decision.reward, "finite");
        }
        if !(decision.probability > 0.0 && decision.probability <= 1.0) {
            return wrong("probabilities", decision.probability, "above 0 and at most 1");
        }
        if !(0.0..=1.0).contains(&decision.target) {
            return wrong("target", decision.target, "from 0 to 1");
        }
    }
    let modelled = match (predicted, predicted_target) {
        (Some(taken), Some(target)) => {
            let taken = Numbers::of("predicted", taken, length)?;
            let target = Numbers::of("predicted_target", target, length)?;
            let predictions: Vec<(f64, f64)> =
                taken.slice().iter().copied().zip(target.slice().iter().copied()).collect();
            Some(modelled(&decisions, &predictions))
        }
        (None, None) => None,
        _ => return Err(PyValueError::new_err("`predicted` and `predicted_target` go together").into()),
    };
    let estimates = Estimates::new(&decisions);
    let modelled = modelled.map(|found| Modelled { dr: estimates.told(found.dr), ..found });
    let trusted = estimates.warnings.is_empty();
    Ok(json(&Found { estimates, modelled, trusted })?)
}
