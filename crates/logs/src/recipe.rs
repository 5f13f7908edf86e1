//! How features are made from rows: what a summary keeps to treat live rows alike.

use serde::{Deserialize, Serialize};

use crate::batch::Missing;
use crate::error::Problem;
use crate::events::Items;
use crate::format::Format;
use crate::selection::{Columns, Selection};

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

impl Recipe {
    /// Columns of numbers, which are the first features.
    pub(crate) fn numbers(&self) -> &[String] {
        match &self.layout {
            Layout::Table { numbers, .. } => numbers,
            Layout::Events { .. } => &[],
        }
    }

    /// The columns that a table was found to have.
    pub(crate) fn table(selection: &Selection, columns: &Columns) -> Layout {
        Layout::Table {
            reward: selection.reward().to_owned(),
            numbers: columns.named(&columns.features),
            one_hot: columns.named(&columns.one_hot),
            hashed: columns.named(&columns.hashed),
        }
    }

    /// The same columns in another file.
    pub(crate) fn selection(&self) -> Option<Selection> {
        match &self.layout {
            Layout::Table { reward, numbers, one_hot, hashed } => {
                Some(Selection::named(numbers, reward).with_named_categories(one_hot, hashed))
            }
            Layout::Events { .. } => None,
        }
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
        let differ = |what: &str, mine: &dyn std::fmt::Display, theirs: &dyn std::fmt::Display| {
            Err(Problem::OtherRecipe {
                what: what.to_owned(),
                mine: mine.to_string(),
                theirs: theirs.to_string(),
            })
        };
        if let (
            Layout::Table { reward, numbers, one_hot, hashed },
            Layout::Table { reward: r, numbers: n, one_hot: o, hashed: h },
        ) = (&self.layout, &other.layout)
        {
            if reward != r {
                return differ("reward", reward, r);
            }
            for (what, mine, theirs) in
                [("features", numbers, n), ("one-hot columns", one_hot, o), ("hashed columns", hashed, h)]
            {
                if mine != theirs {
                    let listed = |names: &[String]| match names {
                        [] => "none".to_owned(),
                        names => names.join(","),
                    };
                    return differ(what, &listed(mine), &listed(theirs));
                }
            }
        }
        let kind = |layout: &Layout| match layout {
            Layout::Table { .. } => "table".to_owned(),
            Layout::Events { format, hashed, items } => format!(
                "{format}{}{}",
                if *hashed { ", hashed" } else { "" },
                if items.is_some() { ", with items" } else { "" }
            ),
        };
        let yes = |value: bool| if value { "yes" } else { "no" };
        if self.layout != other.layout {
            return differ("format", &kind(&self.layout), &kind(&other.layout));
        }
        if self.intercept != other.intercept {
            return differ("intercept", &yes(self.intercept), &yes(other.intercept));
        }
        if self.buckets != other.buckets {
            return differ("number of buckets", &self.buckets, &other.buckets);
        }
        Ok(())
    }
}
