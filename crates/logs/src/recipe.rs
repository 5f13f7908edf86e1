//! How features are made from rows: what a summary keeps to treat live rows alike.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::batch::Reading;
use crate::error::{Problem, Result};
use crate::events::{self, Items};
use crate::format::Format;
use crate::selection::{Columns, Selection, named};
use crate::source;
use crate::tolerance::{Missing, Tolerance};

/// How features are made from rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// What a row is.
    pub layout: Layout,
    /// Into how many features hashed names go.
    pub buckets: u32,
    /// Whether a feature that is always 1 is added.
    pub intercept: bool,
    /// What is done about missing values.
    pub missing: Missing,
}

/// What a row is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Layout {
    /// A row of a table.
    Table {
        /// Column of the reward.
        reward: String,
        /// Columns of numbers.
        numbers: Vec<String>,
        /// Columns of categories, a feature for each level.
        one_hot: Vec<String>,
        /// Columns of categories, hashed.
        hashed: Vec<String>,
    },
    /// An event of Vowpal Wabbit or Open Bandit, which names its features.
    Events {
        /// The format.
        format: Format,
        /// Whether the names are hashed.
        hashed: bool,
        /// The table of items that Open Bandit's rows refer to.
        items: Option<Items>,
    },
}

impl Layout {
    /// The columns that a table was found to have.
    pub(crate) fn table(selection: &Selection, columns: &Columns) -> Self {
        Self::Table {
            reward: selection.reward.clone(),
            numbers: columns.named(&columns.features),
            one_hot: columns.named(&columns.one_hot),
            hashed: columns.named(&columns.hashed),
        }
    }
}

impl Recipe {
    /// Columns of numbers, which are the first features.
    pub(crate) fn numbers(&self) -> &[String] {
        match &self.layout {
            Layout::Table { numbers, .. } => numbers,
            Layout::Events { .. } => &[],
        }
    }

    /// The same columns in another file, with the rounds of its rows if they are wanted. By whose globs the columns
    /// were found is remembered, so that a late one is noticed.
    pub(crate) fn selection(
        &self,
        round: Option<&str>,
        found_by: Option<&Selection>,
    ) -> Result<Selection, Problem> {
        match &self.layout {
            Layout::Table { reward, numbers, one_hot, hashed } => Ok(Selection {
                one_hot: named(one_hot),
                hashed: named(hashed),
                round: round.map(str::to_owned),
                found_by: found_by.cloned().map(Box::new),
                ..Selection::named(numbers, reward)
            }),
            Layout::Events { .. } => Err(Problem::NoFeatures),
        }
    }

    /// The format of a file whose features are made like this, found out if nobody has told.
    pub(crate) fn format(&self, told: Option<Format>, path: &Path) -> Result<Format> {
        match (&self.layout, told) {
            (Layout::Events { format, .. }, _) => Ok(*format),
            (_, Some(format)) => Ok(format),
            (_, None) => Format::detect(path, true),
        }
    }

    /// Opens a file, or one row group of a Parquet file, whose features are made like this; of a table, by its
    /// [`selection`](Self::selection).
    pub(crate) fn open(
        &self,
        path: &Path,
        told: Option<Format>,
        group: Option<usize>,
        round: Option<&str>,
        found_by: Option<&Selection>,
        mut tolerance: Tolerance,
    ) -> Result<Reading<'static>> {
        let format = self.format(told, path)?;
        let opened = if let Layout::Events { hashed, items, .. } = &self.layout {
            // Whatever an event does not name is 0, not missing.
            tolerance.missing = Missing::Refuse;
            events::open(path, format, *hashed, items.as_ref())?
        } else {
            source::open(path, format, group, &self.selection(round, found_by)?)?
        };
        Ok(Reading::new(opened, tolerance, self.buckets))
    }

    /// Whether a summary of live rows has all that these logs have, in whatever order.
    pub fn check_live(&self, live: &Self) -> Result<(), String> {
        let hashes = match (&self.layout, &live.layout) {
            (
                Layout::Table { reward, numbers, one_hot, hashed },
                Layout::Table { reward: live_reward, numbers: n, one_hot: o, hashed: h },
            ) => {
                if reward != live_reward {
                    return Err(format!("its reward is `{live_reward}`, but that of the logs is `{reward}`"));
                }
                for (what, wanted, found) in
                    [("column", numbers, n), ("one-hot column", one_hot, o), ("hashed column", hashed, h)]
                {
                    if let Some(name) = wanted.iter().find(|name| !found.contains(name)) {
                        return Err(format!("it has no {what} `{name}`, but the logs have"));
                    }
                }
                !hashed.is_empty()
            }
            (Layout::Events { hashed, .. }, Layout::Events { hashed: live_hashed, .. }) => {
                if hashed != live_hashed {
                    return Err("only one of it and the logs has hashed names".to_owned());
                }
                *hashed
            }
            _ => return Err("only one of it and the logs comes from tables".to_owned()),
        };
        if hashes && self.buckets != live.buckets {
            return Err(format!("it has {} buckets, but the logs have {}", live.buckets, self.buckets));
        }
        Ok(())
    }

    /// Whether features mean the same in both.
    pub(crate) fn check_same(&self, other: &Self) -> Result<(), Problem> {
        let (mine, theirs) = (self.told(), other.told());
        let differ = mine.iter().zip(&theirs).find(|(mine, theirs)| mine != theirs);
        // Tables of items are too long to be told.
        let hidden = (self.layout != other.layout).then_some((&mine[0], &theirs[0]));
        match differ.or(hidden) {
            None => Ok(()),
            Some(((what, mine), (_, theirs))) => {
                Err(Problem::Other(format!("the summaries have different {what}: {mine} and {theirs}")))
            }
        }
    }

    /// What features depend on, in words.
    fn told(&self) -> Vec<(&'static str, String)> {
        let listed = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(",") };
        let mut told = match &self.layout {
            Layout::Table { reward, numbers, one_hot, hashed } => vec![
                ("format", "table".to_owned()),
                ("reward", reward.clone()),
                ("features", listed(numbers)),
                ("one-hot columns", listed(one_hot)),
                ("hashed columns", listed(hashed)),
            ],
            Layout::Events { format, hashed, items } => {
                let hashed = if *hashed { ", hashed" } else { "" };
                let items = if items.is_some() { ", with items" } else { "" };
                vec![("format", format!("{format}{hashed}{items}"))]
            }
        };
        told.push(("intercept", if self.intercept { "yes" } else { "no" }.to_owned()));
        told.push(("number of buckets", self.buckets.to_string()));
        told
    }
}
