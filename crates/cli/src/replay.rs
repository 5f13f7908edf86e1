//! `truenorth replay`: one recorded problem, one JSON line a round.

use std::io;
use std::path::Path;

use serde::Serialize;
use truenorth::{Actions, Branch, Observation, Policy};

use crate::failure::Failure;
use crate::problem::{Round, Rounds, read_params};

/// One line of the output.
#[derive(Debug, Serialize)]
struct Line {
    round: u64,
    action: usize,
    layer: u32,
    ucb: f64,
    lcb: f64,
    branch: Branch,
    reward: Option<f64>,
    candidates: usize,
    conflicts: usize,
}

pub(crate) fn run(folder: &Path, output: &mut impl io::Write) -> Result<(), Failure> {
    let params = read_params(folder)?;
    let dimension = params.dimension;
    let mut policy =
        Policy::new(params).map_err(|error| Failure::in_file(&folder.join("problem.json"), error))?;
    let mut rounds = Rounds::open(folder)?;
    let mut features = Vec::new();
    while let Some(round) = rounds.next()? {
        flatten(&round, dimension, &mut features).map_err(|reason| rounds.failure(reason))?;
        let line = play(&mut policy, &round, &features).map_err(|error| rounds.failure(error))?;
        serde_json::to_writer(&mut *output, &line).map_err(|error| Failure::Output(error.into()))?;
        output.write_all(b"\n").map_err(Failure::Output)?;
    }
    Ok(())
}

/// Copies the actions' features one behind the other, checking their lengths.
fn flatten(round: &Round, dimension: usize, features: &mut Vec<f64>) -> Result<(), String> {
    features.clear();
    for (action, row) in round.actions.iter().enumerate() {
        if row.len() != dimension {
            let found = row.len();
            return Err(format!("action {action} has {found} features, but the logs have {dimension}"));
        }
        features.extend_from_slice(row);
    }
    let (actions, rewards) = (round.actions.len(), round.rewards.len());
    if actions == rewards {
        Ok(())
    } else {
        Err(format!("there are {actions} actions, but {rewards} rewards"))
    }
}

fn play(policy: &mut Policy, round: &Round, features: &[f64]) -> truenorth::Result<Line> {
    let actions = Actions::new(features, policy.params().dimension)?;
    let choice = policy.choose(actions)?;
    let reward = round.rewards[choice.action];
    if let Some(reward) = reward {
        policy.learn(Observation {
            decision: choice.decision,
            features: actions.features(choice.action),
            reward,
        })?;
    }
    Ok(Line {
        round: choice.decision.round,
        action: choice.action,
        layer: choice.decision.layer,
        ucb: choice.ucb,
        lcb: choice.lcb,
        branch: choice.branch,
        reward,
        candidates: choice.candidates,
        conflicts: choice.conflicts,
    })
}
