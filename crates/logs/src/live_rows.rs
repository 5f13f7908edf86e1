//! Live rows with the features of a summary.

use std::path::Path;

use truenorth_features::Joining;

use crate::batch::Reading;
use crate::error::{Problem, Result};
use crate::format::Format;
use crate::origin::Asked;
use crate::source::Memory;
use crate::summary::Summary;
use crate::tolerance::Tolerance;

/// Live rows, made as a summary's were, for a test of the summary.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// The features, row after row, multiplied by the summary's scale.
    pub features: Vec<f64>,
    /// A reward for each row.
    pub rewards: Vec<f64>,
    /// A round for each row, if asked for.
    pub rounds: Option<Vec<usize>>,
    /// Whether they are rows of a table, which may have a column of rounds, and not events.
    pub is_table: bool,
    /// How often a feature turned up that the summary does not know.
    pub unknown: u64,
    /// Names of such features, the first twenty.
    pub unseen: Vec<String>,
    /// Rows that were left out.
    pub rejected: u64,
}

impl Summary {
    /// Reads rows of a file with this summary's features, scaled as its statistic is. Rows of a table may
    /// belong to rounds, by a column. Where the logs were a table, events will do as well.
    pub fn read_rows(&self, path: &Path, format: Option<Format>, round: Option<&str>) -> Result<Rows> {
        let asked = Asked { format, round, live: true, tolerance: self.tolerance(), ..Asked::default() };
        let opened = self.origin.open(path, self.encoder(Joining::Never), asked);
        opened.and_then(|reading| self.rows_of(reading)).map_err(|error| error.in_file(path))
    }

    /// Reads rows that are in memory like [`read_rows`](Self::read_rows); `name` stands for the file.
    pub fn rows_of_batches(&self, batches: Memory<'_>, name: &str, round: Option<&str>) -> Result<Rows> {
        let asked = Asked { round, tolerance: self.tolerance(), ..Asked::default() };
        let opened = self.origin.open_memory(batches, self.encoder(Joining::Never), asked);
        opened.and_then(|reading| self.rows_of(reading)).map_err(|error| error.in_file(Path::new(name)))
    }

    /// Gaps are filled as they were; whatever else is wrong ends the reading.
    fn tolerance(&self) -> Tolerance {
        Tolerance { missing: self.recipe.missing, ..Tolerance::default() }
    }

    fn rows_of(&self, mut reading: Reading<'_>) -> Result<Rows> {
        let scale = self.scale();
        let intercept = usize::from(self.recipe.model.intercept);
        let rounds = reading.collector.columns.round.map(|_| Vec::new());
        let is_table = reading.collector.columns.is_table();
        let mut rows = Rows { rounds, is_table, ..Rows::default() };
        while let Some(batch) = reading.next(&mut |_, _| false)? {
            for row in 0..batch.len() {
                let start = rows.features.len();
                rows.features.resize(start + self.dimension(), 0.0);
                let (constant, features) = rows.features[start..].split_at_mut(intercept);
                constant.fill(scale);
                let mean = |feature: usize| self.mean(&self.features[feature].name);
                batch.add_to(row, scale, mean, features);
            }
            rows.rewards.extend(&batch.rewards);
            if let (Some(rounds), Some(more)) = (&mut rows.rounds, batch.rounds) {
                rounds.extend(more);
            }
        }
        let encoder = &reading.collector.encoder;
        (rows.unknown, rows.unseen) = (encoder.unknown_features(), encoder.unseen().to_vec());
        rows.rejected = reading.collector.rejected.iter().map(|rejected| rejected.rows).sum();
        if rows.rewards.is_empty() { Err(Problem::NoRows.into()) } else { Ok(rows) }
    }
}
