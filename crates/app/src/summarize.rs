//! Logs of any size to their summary; also adds up summaries.

use std::collections::BTreeSet;
use std::path::PathBuf;

use truenorth_features::Model;
use truenorth_logs::{Plan, Selection, Summary};

use crate::error::{Error, Result};

/// What was summed up.
pub struct Summed {
    /// All of it.
    pub whole: Summary,
    /// Files that more than one part holds.
    pub twice: BTreeSet<String>,
}

/// Which features are asked for: a model, or lists of columns, or neither, for a model that is made from the data.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'a> {
    /// A formula.
    pub model: Option<&'a str>,
    /// Columns of numbers: names and patterns, separated by commas.
    pub features: &'a str,
    /// Columns of categories.
    pub one_hot: &'a str,
    /// Columns of categories with many levels.
    pub hash: &'a str,
    /// Column of the reward.
    pub reward: Option<&'a str>,
    /// Columns that belong to the action.
    pub action: &'a str,
    /// Column that says whether a row's action was taken.
    pub chosen: Option<&'a str>,
}

impl Asked<'_> {
    /// Whether nothing was said about features.
    pub fn is_nothing(&self) -> bool {
        self.model.is_none() && [self.features, self.one_hot, self.hash].concat().is_empty()
    }

    /// Sets what a plan is to read: columns of tables, if a reward is named, or the model of events.
    pub fn tell(&self, plan: &mut Plan) -> Result<()> {
        let model = self.model.map(str::parse::<Model>).transpose().map_err(Error::Model)?;
        if model.is_some() && ![self.features, self.one_hot, self.hash].concat().is_empty() {
            return Err(Error::ModelAndColumns);
        }
        let Some(reward) = self.reward else {
            if ![self.features, self.one_hot, self.hash, self.action].concat().is_empty() {
                return Err(Error::NoReward);
            }
            plan.model = model;
            return Ok(());
        };
        let selection = if model.is_some() || self.is_nothing() {
            Selection::model(model, reward)
        } else {
            Selection::new(self.features, reward).with_categories(self.one_hot, self.hash)
        };
        // Rounds are no feature, whatever a pattern says.
        let selection = selection.with_action(self.action).without("round");
        plan.selection = Some(match self.chosen {
            Some(chosen) => selection.with_chosen(chosen),
            None => selection,
        });
        Ok(())
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
            Some(Summed { whole, .. }) if plan.selection.is_none() && plan.model.is_none() => {
                plan.summarize_alike(whole, logs, progress)?
            }
            _ => plan.summarize(logs, progress)?,
        };
        match &mut summed {
            None => summed = Some(Summed { whole: part, twice: BTreeSet::new() }),
            Some(Summed { whole, twice }) => {
                twice.extend(part.files().keys().filter(|file| whole.files().contains_key(*file)).cloned());
                let merged = whole.merge(&part).and_then(|()| whole.check());
                merged.map_err(|problem| Error::Merge { path: path.clone(), problem })?;
            }
        }
    }
    summed.ok_or(Error::NoFiles)
}
