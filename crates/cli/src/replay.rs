//! `truenorth replay`: one recorded problem, one JSON line a round.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use serde::{Deserialize, Serialize};
use truenorth::{Actions, Branch, Policy};
use truenorth_app::Error;

use crate::failure::Failure;
use crate::output::json;
use crate::problem::read_settings;

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

/// One line of `rounds.jsonl`.
#[derive(Debug, Deserialize)]
struct Round {
    /// A feature vector for each action.
    actions: Vec<Vec<f64>>,
    /// What each action would have paid; none where the reward never came.
    rewards: Vec<Option<f64>>,
}

pub(crate) fn run(folder: &Path, output: &mut impl io::Write) -> Result<(), Failure> {
    let wrong = |error: truenorth::Error| Failure::in_file(&folder.join("problem.json"), error);
    let mut policy = read_settings(folder)?.build().map_err(wrong)?;
    let path = folder.join("rounds.jsonl");
    let unreadable = Error::file(&path);
    let mut reader = BufReader::new(File::open(&path).map_err(&unreadable)?);
    let (mut text, mut number) = (String::new(), 0);
    while reader.read_line(&mut text).map_err(&unreadable)? > 0 {
        number += 1;
        if !text.trim().is_empty() {
            let round = serde_json::from_str(&text).map_err(|error| Failure::json(&path, number, &error))?;
            let wrong = |reason| Error::input(format_args!("{}, line {number}", path.display()), reason);
            let line = play(&mut policy, &round).map_err(wrong)?;
            output.write_all(json(&line)?.as_bytes()).map_err(Failure::Output)?;
        }
        text.clear();
    }
    Ok(())
}

/// The actions' features one behind the other, of the right lengths.
fn features(round: &Round, dimension: usize) -> Result<Vec<f64>, String> {
    let (actions, rewards) = (round.actions.len(), round.rewards.len());
    if let Some((action, row)) = round.actions.iter().enumerate().find(|(_, row)| row.len() != dimension) {
        let found = row.len();
        return Err(format!("action {action} has {found} features, but the logs have {dimension}"));
    }
    if actions != rewards {
        return Err(format!("there are {actions} actions, but {rewards} rewards"));
    }
    Ok(round.actions.concat())
}

fn play(policy: &mut Policy, round: &Round) -> Result<Line, String> {
    let dimension = policy.dimension();
    let features = features(round, dimension)?;
    let wrong = |error: truenorth::Error| error.to_string();
    let actions = Actions::new(&features, dimension).map_err(wrong)?;
    let choice = policy.choose(actions).map_err(wrong)?;
    let reward = round.rewards[choice.action];
    if let Some(reward) = reward {
        policy.learn(choice.rewarded(actions, reward)).map_err(wrong)?;
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
