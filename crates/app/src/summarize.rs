//! Logs of any size to their summary; also adds up summaries.

use std::collections::BTreeSet;
use std::path::PathBuf;

use truenorth_logs::{Plan, Selection, Summary};

use crate::error::{Error, Result};

/// What was summed up.
pub struct Summed {
    /// All of it.
    pub whole: Summary,
    /// Files that more than one part holds.
    pub twice: BTreeSet<String>,
}

/// The columns of tables, if a reward is named.
pub fn selection(
    features: &str,
    reward: Option<&str>,
    one_hot: &str,
    hash: &str,
) -> Result<Option<Selection>> {
    match reward {
        // Rounds are no feature, whatever a pattern says.
        Some(reward) => {
            Ok(Some(Selection::new(features, reward).with_categories(one_hot, hash).without("round")))
        }
        None if [features, one_hot, hash].concat().is_empty() => Ok(None),
        None => Err(Error::NoReward),
    }
}

/// Adds up summaries, and behind them the rows of logs, which are read as those were where no columns are named;
/// `progress` hears of the bytes that are read.
pub fn summarize(
    plan: &Plan,
    summaries: &[PathBuf],
    logs: &[PathBuf],
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Summed> {
    let mut summed: Option<Summed> = None;
    for (place, path) in summaries.iter().chain(logs.first()).enumerate() {
        let part = match &summed {
            _ if place < summaries.len() => Summary::read(path)?,
            Some(Summed { whole, .. }) if plan.selection.is_none() => {
                plan.summarize_alike(whole.recipe(), logs, progress)?
            }
            _ => plan.summarize(logs, progress)?,
        };
        match &mut summed {
            None => summed = Some(Summed { whole: part, twice: BTreeSet::new() }),
            Some(Summed { whole, twice }) => {
                twice.extend(part.files().keys().filter(|file| whole.files().contains_key(*file)).cloned());
                whole.merge(&part).map_err(|problem| Error::Merge { path: path.clone(), problem })?;
            }
        }
    }
    summed.ok_or(Error::NoFiles)
}
