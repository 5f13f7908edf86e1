//! Rows of a file in batches.

use std::path::{Path, PathBuf};

use crate::collector::Collector;
use crate::error::{Problem, Result};
use crate::format::{self, Format};
use crate::selection::{Columns, Selection};
use crate::source::{self, Memory, Opened, Source, Take, columnar};
use crate::tolerance::Tolerance;

/// Some rows of a file, column by column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// One column of numbers for each feature.
    pub columns: Vec<Vec<f64>>,
    /// A reward for each row.
    pub rewards: Vec<f64>,
    /// A round for each row, if asked for: rounds are numbered from 0 as they first appear in the file.
    pub rounds: Option<Vec<usize>>,
    /// Features that turned up, row after row: their numbers in the vocabulary, and their values.
    pub(crate) found: Vec<(usize, f64)>,
    /// Where a row's features end among those, and how many rows it stands for; none if all is in the columns.
    pub(crate) ends: Vec<(usize, f64)>,
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

    pub(crate) fn of(columns: &Columns) -> Self {
        let numbers = vec![Vec::new(); columns.features.len()];
        Self { columns: numbers, rounds: columns.round.map(|_| Vec::new()), ..Self::default() }
    }

    /// What turned up in a row, and how many rows it stands for.
    pub(crate) fn found(&self, row: usize) -> (&[(usize, f64)], f64) {
        let start = row.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |&(end, _)| end);
        let (end, weight) = self.ends.get(row).copied().unwrap_or((start, 1.0));
        (&self.found[start..end], weight)
    }

    /// Forgets the rows behind the first ones.
    pub(crate) fn truncate(&mut self, rows: usize) {
        self.columns.iter_mut().for_each(|column| column.truncate(rows));
        self.rewards.truncate(rows);
        self.rounds.iter_mut().for_each(|rounds| rounds.truncate(rows));
        self.ends.truncate(rows);
        self.found.truncate(self.ends.last().map_or(0, |&(end, _)| end));
    }
}

/// The one way from a source of rows to batches of them.
pub(crate) struct Reading<'a> {
    source: Box<dyn Source + 'a>,
    pub(crate) collector: Collector,
}

impl<'a> Reading<'a> {
    pub(crate) fn new((columns, source): Opened<'a>, tolerance: Tolerance, buckets: u32) -> Self {
        Self { source, collector: Collector::new(columns, tolerance, buckets) }
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
        let next = Batch::of(&self.collector.columns);
        let batch = std::mem::replace(&mut self.collector.batch, next);
        Ok((!batch.is_empty()).then_some(batch))
    }
}

/// The rows of a file, a batch at a time.
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
    /// Opens a file and finds the columns.
    pub fn open(path: impl AsRef<Path>, selection: &Selection) -> Result<Self> {
        let path = path.as_ref();
        let format = Format::of(path).ok_or_else(|| format::unclear().in_file(path))?;
        Self::new(path, source::open(path, format, None, selection))
    }

    /// Finds the columns of rows in memory; `name` stands for the file.
    pub(crate) fn of(batches: Memory<'static>, name: &str, selection: &Selection) -> Result<Self> {
        Self::new(Path::new(name), columnar::open_memory(batches, selection))
    }

    fn new(path: &Path, opened: Result<Opened<'static>>) -> Result<Self> {
        let opened = opened.map_err(|error| error.in_file(path))?;
        let names = opened.0.named(&opened.0.features);
        let reading = Reading::new(opened, Tolerance::default(), 1);
        Ok(Self { path: path.to_owned(), names, reading: Some(reading), empty: true })
    }

    /// Names of the features, in their order.
    pub fn names(&self) -> &[String] {
        &self.names
    }
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
