//! Rows of a file in batches.

use std::path::{Path, PathBuf};

use truenorth_features::{Encoder, Gap, Recipe};

use crate::collector::{Collector, Sink as _};
use crate::error::{Problem, Result};
use crate::format::{self, Format};
use crate::origin::{Asked, Origin, learning};
use crate::selection::Selection;
use crate::source::{self, Source, Take, Wanted};

/// Some rows of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// One column of numbers for each feature, if all features are columns of numbers.
    pub columns: Vec<Vec<f64>>,
    /// A reward for each row.
    pub rewards: Vec<f64>,
    /// A round for each row, if asked for: rounds are numbered from 0 as they first appear in the file.
    pub rounds: Option<Vec<usize>>,
    /// Features of other rows, one row after another, and their values.
    pub(crate) found: Vec<(u32, f64)>,
    /// Features of these rows that lack means.
    pub(crate) gaps: Vec<Gap>,
    /// Where a row ends among those, and how many rows it stands for; none if all is in the columns.
    pub(crate) ends: Vec<(usize, usize, f64)>,
}

impl Batch {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rewards.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rewards.is_empty()
    }

    pub(crate) fn of(numbers: Option<usize>, rounds: bool) -> Self {
        let columns = vec![Vec::new(); numbers.unwrap_or(0)];
        Self { columns, rounds: rounds.then(Vec::new), ..Self::default() }
    }

    /// Adds what an encoder has made of a row that stands for so many.
    pub(crate) fn push_entries(&mut self, encoder: &Encoder, weight: f64) {
        self.found.extend_from_slice(encoder.entries());
        self.gaps.extend_from_slice(encoder.gaps());
        self.ends.push((self.found.len(), self.gaps.len(), weight));
    }

    /// The features of a row, those that lack means, and how many rows it stands for.
    pub(crate) fn found(&self, row: usize) -> (&[(u32, f64)], &[Gap], f64) {
        let before = row.checked_sub(1).and_then(|before| self.ends.get(before));
        let (start, first) = before.map_or((0, 0), |&(end, gap, _)| (end, gap));
        let (end, last, weight) = self.ends.get(row).copied().unwrap_or((start, first, 1.0));
        (&self.found[start..end], &self.gaps[first..last], weight)
    }

    /// Adds the features of a row, times a scale; the mean of a feature takes the place of a number that is missing.
    pub(crate) fn add_to(&self, row: usize, scale: f64, mean: impl Fn(usize) -> f64, features: &mut [f64]) {
        for (feature, column) in self.columns.iter().enumerate() {
            let value = column[row];
            features[feature] += scale * if value.is_nan() { mean(feature) } else { value };
        }
        for &(feature, value) in self.found(row).0 {
            features[feature as usize] += scale * value;
        }
    }

    /// Forgets the rows behind the first ones.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.columns.iter_mut().for_each(|column| column.truncate(rows));
        self.rewards.truncate(rows);
        self.rounds.iter_mut().for_each(|rounds| rounds.truncate(rows));
        self.ends.truncate(rows);
        let (end, gap, _) = self.ends.last().copied().unwrap_or_default();
        self.found.truncate(end);
        self.gaps.truncate(gap);
    }
}

/// The one way from a source of rows to batches of them.
pub(crate) struct Reading<'a> {
    source: Box<dyn Source + 'a>,
    pub(crate) collector: Collector,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(source: Box<dyn Source + 'a>, collector: Collector) -> Self {
        Self { source, collector }
    }

    /// The next rows, but for those that `take` takes; none at the end.
    pub(crate) fn next(&mut self, take: &mut Take<'_>) -> Result<Option<Batch>> {
        while !self.collector.is_full() {
            match self.source.read(&mut self.collector, take) {
                Ok(true) => {}
                Ok(false) => break,
                Err(fault) => self.collector.reject(fault)?,
            }
        }
        let batch = self.collector.take();
        Ok((!batch.is_empty()).then_some(batch))
    }
}

/// The rows of a file with columns of numbers, a batch at a time.
///
/// Memory does not grow with the file, except by the distinct rounds if those are asked for. After an error
/// there are no more batches; a file without rows is an error.
pub struct Batches {
    path: PathBuf,
    names: Vec<String>,
    /// None behind the end, or an error.
    reading: Option<Reading<'static>>,
    /// Whether no rows have come so far.
    empty: bool,
}

impl Batches {
    /// Opens a file and finds the columns, which are listed.
    pub fn open(path: impl AsRef<Path>, selection: &Selection) -> Result<Self> {
        let path = path.as_ref();
        let open = || -> Result<Self> {
            let format = Format::of(path).ok_or_else(format::unclear)?;
            let (names, _) = source::open(path, format, None, &Wanted::default())?;
            let (origin, recipe) = listed(&names, selection)?;
            let round = selection.round.as_deref();
            let asked = Asked { format: Some(format), round, found_by: Some(selection), ..Asked::default() };
            let reading = origin.open(path, learning(&recipe), asked)?;
            let names = recipe.fixed_features().into_iter().map(|feature| feature.name).collect();
            Ok(Self { path: path.to_owned(), names, reading: Some(reading), empty: true })
        };
        open().map_err(|error| error.in_file(path))
    }

    /// Names of the features, in their order.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// The recipe of columns that are listed.
fn listed(names: &[String], selection: &Selection) -> Result<(Origin, Recipe), Problem> {
    let model = selection.listed_model(names, 1, false)?;
    let origin = Origin::Table { reward: selection.reward.clone(), chosen: None };
    Ok((origin, Recipe { model, ..Recipe::default() }))
}

impl Iterator for Batches {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        let wrong = match self.reading.as_mut()?.next(&mut |_, _| false) {
            Ok(Some(batch)) => {
                self.empty = false;
                return Some(Ok(batch));
            }
            Ok(None) => self.empty.then(|| Problem::NoRows.into()),
            Err(fault) => Some(fault),
        };
        self.reading = None;
        wrong.map(|error| Err(error.in_file(&self.path)))
    }
}
