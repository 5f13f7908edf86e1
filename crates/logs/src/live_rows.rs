//! Live rows with the features of a summary.

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::RecordBatchReader;

use crate::batch::{Collector, Tolerance};
use crate::error::{Fault, Place, Problem, Result};
use crate::event::{Event, Next};
use crate::events;
use crate::format::Format;
use crate::recipe::Layout;
use crate::selection::{Columns, Selection};
use crate::source::{self, Source, columnar};
use crate::summarize::format_of;
use crate::summary::Summary;
use crate::vocabulary::Vocabulary;

/// Live rows, made as a summary's were, for a test of the summary.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// The features, row after row, multiplied by the summary's scale.
    pub features: Vec<f64>,
    /// A reward for each row.
    pub rewards: Vec<f64>,
    /// A round for each row, if asked for.
    pub rounds: Option<Vec<usize>>,
    /// How often a feature turned up that the summary does not know.
    pub unknown: u64,
    /// Rows that were left out.
    pub rejected: u64,
}

impl Summary {
    /// Reads rows of a file with this summary's features, scaled as its statistic is. Rows of a table may
    /// belong to rounds, by a column.
    pub fn read_rows(&self, path: &Path, format: Option<Format>, round: Option<&str>) -> Result<Rows> {
        self.try_read_rows(path, format, round).map_err(|fault| fault.in_file(path))
    }

    fn try_read_rows(&self, path: &Path, told: Option<Format>, round: Option<&str>) -> Result<Rows, Fault> {
        let format = format_of(&self.recipe, told, path)?;
        let mut rows = RowsOf::new(self);
        match &self.recipe.layout {
            Layout::Table { .. } => {
                let selection = self.live_selection(round)?;
                let (columns, opened) = source::open(path, format, None, &selection)?;
                self.read_table(columns, opened.into_source(), &mut rows)?;
            }
            Layout::Events { hashed, items, .. } => {
                let mut events = events::open(path, format, items.as_ref())?;
                let mut vocabulary = Vocabulary::new(self.recipe.buckets);
                let mut event = Event::default();
                loop {
                    match events.next(&mut event)? {
                        Next::End => break,
                        Next::Rejected(_) => rows.rows.rejected += 1,
                        Next::Event => {
                            let mut features = Vec::new();
                            for (name, value) in event.features() {
                                let feature = if *hashed {
                                    vocabulary.hashed(&[name])
                                } else {
                                    vocabulary.named(&[name])?
                                };
                                features.push((feature, value));
                            }
                            let found = rows.known(features.into_iter(), &vocabulary, 0);
                            rows.push(found.into_iter(), event.reward);
                        }
                    }
                }
            }
        }
        rows.not_empty()
    }

    /// Reads rows that are in memory like [`read_rows`](Self::read_rows); `name` stands for the file.
    pub fn rows_of_batches(
        &self,
        batches: Box<dyn RecordBatchReader + Send>,
        name: &str,
        round: Option<&str>,
    ) -> Result<Rows> {
        let read = || -> Result<Rows, Fault> {
            let mut rows = RowsOf::new(self);
            let (columns, columnar) = columnar::open_memory(batches, &self.live_selection(round)?)?;
            self.read_table(columns, Box::new(columnar), &mut rows)?;
            rows.not_empty()
        };
        read().map_err(|fault| fault.in_file(Path::new(name)))
    }

    fn live_selection(&self, round: Option<&str>) -> Result<Selection, Problem> {
        let selection = self.recipe.selection().ok_or(Problem::NoFeatures)?;
        Ok(match round {
            Some(round) => selection.with_round(round),
            None => selection,
        })
    }

    fn read_table(
        &self,
        columns: Columns,
        mut source: Box<dyn Source>,
        rows: &mut RowsOf<'_>,
    ) -> Result<(), Fault> {
        let tolerance = Tolerance { missing: self.recipe.missing, ..Tolerance::default() };
        rows.rows.rounds = columns.round.map(|_| Vec::new());
        let mut collector = Collector::new(columns, tolerance, self.recipe.buckets);
        loop {
            source.fill(&mut collector)?;
            let batch = collector.take();
            if batch.is_empty() {
                break;
            }
            let numbers = batch.columns.len();
            for row in 0..batch.len() {
                let values = batch.columns.iter().enumerate().map(|(feature, column)| {
                    let value = column[row];
                    (feature, if value.is_nan() { self.mean(feature) } else { value })
                });
                let values: Vec<(usize, f64)> = values.collect();
                let levels = batch.levels.iter().filter_map(|column| column[row]);
                let found = rows.known(levels.map(|level| (level, 1.0)), &collector.vocabulary, numbers);
                rows.push(values.into_iter().chain(found), batch.rewards[row]);
            }
            if let (Some(rounds), Some(more)) = (&mut rows.rows.rounds, batch.rounds) {
                rounds.extend(more);
            }
        }
        rows.rows.rejected = collector.rejections.0.iter().map(|rejected| rejected.rows).sum();
        Ok(())
    }
}

/// Puts rows together in the order of a summary's features.
struct RowsOf<'a> {
    summary: &'a Summary,
    positions: BTreeMap<&'a str, usize>,
    scale: f64,
    rows: Rows,
}

impl<'a> RowsOf<'a> {
    fn not_empty(self) -> Result<Rows, Fault> {
        if self.rows.rewards.is_empty() { Err(Problem::NoRows.at(Place::File)) } else { Ok(self.rows) }
    }

    fn new(summary: &'a Summary) -> Self {
        let positions = summary.features.iter().map(|feature| feature.name.as_str()).zip(0..).collect();
        Self { summary, positions, scale: summary.scale(), rows: Rows::default() }
    }

    /// Features that turned up, as features of the summary.
    fn known(
        &mut self,
        features: impl Iterator<Item = (usize, f64)>,
        vocabulary: &Vocabulary,
        numbers: usize,
    ) -> Vec<(usize, f64)> {
        let mut known = Vec::new();
        for (feature, value) in features {
            match self.positions.get(vocabulary.features()[feature].name.as_str()) {
                Some(&position) if position >= numbers => known.push((position, value)),
                _ => self.rows.unknown += 1,
            }
        }
        known
    }

    fn push(&mut self, features: impl Iterator<Item = (usize, f64)>, reward: f64) {
        let intercept = usize::from(self.summary.recipe.intercept);
        let start = self.rows.features.len();
        self.rows.features.resize(start + self.summary.dimension(), 0.0);
        if intercept == 1 {
            self.rows.features[start] = self.scale;
        }
        for (feature, value) in features {
            self.rows.features[start + intercept + feature] += value * self.scale;
        }
        self.rows.rewards.push(reward);
    }
}
