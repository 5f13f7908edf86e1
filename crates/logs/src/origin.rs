//! What rows were read from, which a summary keeps to read others alike.

use std::path::Path;

use serde::{Deserialize, Serialize};
use truenorth_features::{Encoder, ID, Joining, Recipe};

use crate::batch::Reading;
use crate::collector::{Collector, Columns};
use crate::error::{Problem, Result};
use crate::event::Extent;
use crate::events::{self, Items};
use crate::format::Format;
use crate::selection::Selection;
use crate::source::{self, Memory, Opened, Wanted, columnar};
use crate::tolerance::Tolerance;

/// What a row is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Origin {
    /// A row of a table.
    Table {
        /// Column of the reward.
        reward: String,
        /// Column that says whether the action of a row was taken, if rows are actions.
        chosen: Option<String>,
    },
    /// The action that was taken in an event.
    Events {
        /// The format.
        format: Format,
        /// The table of items that Open Bandit's rows refer to.
        items: Option<Items>,
    },
}

/// How to read rows, beside their origin.
#[derive(Clone, Copy, Default)]
pub(crate) struct Asked<'a> {
    /// Format of a table; found out if not told.
    pub(crate) format: Option<Format>,
    /// Row group of a Parquet file; all of them if not told.
    pub(crate) group: Option<usize>,
    /// Column of the rounds.
    pub(crate) round: Option<&'a str>,
    /// By whose globs the columns were found, so that a late one is noticed.
    pub(crate) found_by: Option<&'a Selection>,
    /// Whether rows of a table may come as events, as a service exports them.
    pub(crate) live: bool,
    pub(crate) tolerance: Tolerance,
}

impl Origin {
    /// Events as JSON lines.
    pub fn events() -> Self {
        Self::Events { format: Format::Events, items: None }
    }

    /// The format of a file of this origin, found out if nobody has told.
    pub(crate) fn format(&self, told: Option<Format>, path: &Path) -> Result<Format> {
        match (self, told) {
            (Self::Events { format: Format::Events | Format::Dsjson, .. }, _)
                if matches!(Format::of(path), Some(Format::Csv | Format::Parquet | Format::Arrow)) =>
            {
                Err(Problem::other(
                    "this is a table, but the logs were events: bring events, or a summary of tables",
                )
                .into())
            }
            (Self::Events { format, .. }, _) => Ok(*format),
            (_, Some(format)) => Ok(format),
            (_, None) => Format::detect(path, true),
        }
    }

    /// Opens a file, or one row group of a Parquet file, whose rows become features by an encoder.
    pub(crate) fn open(&self, path: &Path, encoder: Encoder, asked: Asked<'_>) -> Result<Reading<'static>> {
        let format = self.format(asked.format, path)?;
        let items = match self {
            Self::Events { items, .. } => items.as_ref(),
            Self::Table { .. } if asked.live && !format.is_table() => None,
            Self::Table { .. } => {
                let opened = source::open(path, format, asked.group, &self.wanted(&encoder, asked))?;
                return self.reading(opened, encoder, asked);
            }
        };
        let source = events::open(path, format, items, Extent::Counting)?;
        Ok(Reading::new(source, Collector::new(Columns::default(), encoder, asked.tolerance)))
    }

    /// The same for rows in memory.
    pub(crate) fn open_memory<'a>(
        &self,
        batches: Memory<'a>,
        encoder: Encoder,
        asked: Asked<'_>,
    ) -> Result<Reading<'a>> {
        let opened = columnar::open_memory(batches, &self.wanted(&encoder, asked));
        self.reading(opened, encoder, asked)
    }

    fn reading<'a>(&self, opened: Opened<'a>, encoder: Encoder, asked: Asked<'_>) -> Result<Reading<'a>> {
        let Self::Table { reward, chosen } = self else { return Err(Problem::NoFeatures.into()) };
        let (names, source) = opened;
        let columns = Columns::new(names, &encoder, reward, asked.round, chosen.as_deref())?;
        Ok(Reading::new(source, Collector::new(columns, encoder, asked.tolerance)))
    }

    /// The columns that are read.
    fn wanted(&self, encoder: &Encoder, asked: Asked<'_>) -> Wanted {
        let own_id = encoder.recipe().id.clone();
        let fields = encoder.fields().map(|(name, _)| name.to_owned());
        let fields = fields.chain(own_id.filter(|_| encoder.fields().any(|(name, _)| name == ID)));
        let (reward, chosen) = match self {
            Self::Table { reward, chosen } => (Some(reward), chosen.as_ref()),
            Self::Events { .. } => (None, None),
        };
        let special = reward.into_iter().chain(chosen).cloned().chain(asked.round.map(str::to_owned));
        Wanted { columns: Some(fields.chain(special).collect()), late: asked.found_by.cloned() }
    }

    /// Whether a summary of live rows has all that these logs have, in whatever order.
    pub(crate) fn check_live(&self, live: &Self) -> Result<(), String> {
        match (self, live) {
            (Self::Table { reward, .. }, Self::Table { reward: live, .. }) if reward != live => {
                Err(format!("its reward is `{live}`, but that of the logs is `{reward}`"))
            }
            (Self::Table { .. }, Self::Table { .. }) | (Self::Events { .. }, Self::Events { .. }) => Ok(()),
            (Self::Table { .. }, _) => {
                Err("it was made from events, but the logs are a table: give the events themselves"
                    .to_owned())
            }
            _ => Err("it was made from a table, but the logs are events".to_owned()),
        }
    }

    /// What differs from another origin, in words, if anything does.
    pub(crate) fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let told = |origin: &Self| match origin {
            Self::Table { reward, chosen } => {
                ("table".to_owned(), reward.clone(), chosen.clone().unwrap_or_else(|| "none".to_owned()))
            }
            Self::Events { format, items } => {
                let items = if items.is_some() { ", with items" } else { "" };
                (format!("{format}{items}"), String::new(), String::new())
            }
        };
        let (mine, theirs) = (told(self), told(other));
        let differ = [
            ("formats", mine.0.clone(), theirs.0.clone()),
            ("reward columns", mine.1, theirs.1),
            ("marks of what was chosen", mine.2, theirs.2),
        ];
        // Tables of items are too long to be told.
        let hidden = (self != other).then_some(("items", mine.0, theirs.0));
        differ.into_iter().find(|(_, mine, theirs)| mine != theirs).or(hidden)
    }
}

/// An encoder of rows that are to be summed up.
pub(crate) fn learning(recipe: &Recipe) -> Encoder {
    Encoder::new(recipe.clone(), recipe.fixed_features(), Joining::UpTo(truenorth_features::MOST_NAMES))
}
