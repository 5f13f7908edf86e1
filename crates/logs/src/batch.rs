//! Rows of a file in batches, and the checks that every value passes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Fault, Place, Problem, Result};
use crate::format::Format;
use crate::selection::{Columns, Selection};
use crate::source::{self, Source, columnar};
use crate::vocabulary::Vocabulary;

/// Largest size of a number that the library takes: its square and a sum of squares stay finite.
const LARGEST: f64 = 1e50;

/// Some rows of a file, column by column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// One column of numbers for each feature.
    pub columns: Vec<Vec<f64>>,
    /// A reward for each row.
    pub rewards: Vec<f64>,
    /// A round for each row, if asked for: rounds are numbered from 0 as they first appear in the file.
    pub rounds: Option<Vec<usize>>,
    /// For each column of categories, the feature that a row has there.
    pub(crate) levels: Vec<Vec<Option<usize>>>,
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

    fn of(columns: &Columns) -> Self {
        Self {
            columns: vec![Vec::new(); columns.features.len()],
            rewards: Vec::new(),
            rounds: columns.round.map(|_| Vec::new()),
            levels: vec![Vec::new(); columns.one_hot.len() + columns.hashed.len()],
        }
    }

    /// Forgets the rows behind the first ones.
    fn truncate(&mut self, rows: usize) {
        self.columns.iter_mut().for_each(|column| column.truncate(rows));
        self.rewards.truncate(rows);
        self.rounds.iter_mut().for_each(|rounds| rounds.truncate(rows));
        self.levels.iter_mut().for_each(|column| column.truncate(rows));
    }
}

/// What to do with a row that has a feature without a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Missing {
    /// Stop, and say where.
    #[default]
    Refuse,
    /// Leave the row out.
    Drop,
    /// Take the mean of the column; of a column of categories, no level.
    Mean,
}

/// What is tolerated in rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tolerance {
    /// Features without a value.
    pub missing: Missing,
    /// Leaves out rows that are malformed in any other way, instead of stopping at the first.
    pub skip_malformed: bool,
    /// Rewards outside of this range are malformed.
    pub range: Option<(f64, f64)>,
}

/// Rows that were left out for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejected {
    /// Why.
    pub reason: String,
    /// How many.
    pub rows: u64,
    /// The first of them: file and line.
    pub first: String,
}

/// How many reasons are told apart.
const REASONS: usize = 50;

/// Rows that were left out, by reason, in the order of their first ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rejections(pub(crate) Vec<Rejected>);

impl Rejections {
    pub(crate) fn add(&mut self, reason: String, rows: u64, first: impl FnOnce() -> String) {
        let room = self.0.len() < REASONS;
        match self.0.iter_mut().find(|rejected| rejected.reason == reason) {
            Some(rejected) => rejected.rows += rows,
            None if room => self.0.push(Rejected { reason, rows, first: first() }),
            // Reasons without end say no more than the first fifty.
            None => self.0[REASONS - 1].rows += rows,
        }
    }
}

/// The rows of a file, a batch at a time.
///
/// Memory does not grow with the file, except by the distinct rounds if those are asked for. After an error
/// there are no more batches; a file without rows is an error.
pub struct Batches {
    path: PathBuf,
    names: Vec<String>,
    source: Box<dyn Source>,
    collector: Collector,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Start,
    Rows,
    End,
}

impl Batches {
    /// Opens a file and finds the columns.
    pub fn open(path: impl AsRef<Path>, selection: &Selection) -> Result<Self> {
        let path = path.as_ref();
        let opened = Format::of(path)
            .ok_or_else(|| Fault::from(Problem::UnknownEnding))
            .and_then(|format| source::open(path, format, None, selection));
        let (columns, opened) = opened.map_err(|fault| fault.in_file(path))?;
        Ok(Self::new(path, columns, opened.into_source()))
    }

    /// Finds the columns of rows in memory; `name` stands for the file.
    pub(crate) fn of(batches: columnar::Memory, name: &str, selection: &Selection) -> Result<Self> {
        let path = Path::new(name);
        let opened = columnar::open_memory(batches, selection);
        let (columns, columnar) = opened.map_err(|fault| fault.in_file(path))?;
        Ok(Self::new(path, columns, Box::new(columnar)))
    }

    fn new(path: &Path, columns: Columns, source: Box<dyn Source>) -> Self {
        let names = columns.named(&columns.features);
        let collector = Collector::new(columns, Tolerance::default(), 1);
        Self { path: path.to_owned(), names, source, collector, state: State::Start }
    }

    /// Names of the features, in their order.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl Iterator for Batches {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::End {
            return None;
        }
        let filled = self.source.fill(&mut self.collector);
        let batch = self.collector.take();
        let answer = match filled {
            Err(fault) => Some(Err(fault.in_file(&self.path))),
            Ok(()) if !batch.is_empty() => {
                self.state = State::Rows;
                return Some(Ok(batch));
            }
            Ok(()) if self.state == State::Start => {
                Some(Err(Fault::from(Problem::NoRows).in_file(&self.path)))
            }
            Ok(()) => None,
        };
        self.state = State::End;
        answer
    }
}

/// Takes rows from a source and checks them.
pub(crate) struct Collector {
    pub(crate) columns: Columns,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) rejections: Rejections,
    tolerance: Tolerance,
    batch: Batch,
    /// The rounds so far, with their numbers.
    keys: HashMap<String, usize>,
}

impl Collector {
    pub(crate) fn new(columns: Columns, tolerance: Tolerance, buckets: u32) -> Self {
        Self {
            batch: Batch::of(&columns),
            columns,
            vocabulary: Vocabulary::new(buckets),
            rejections: Rejections::default(),
            tolerance,
            keys: HashMap::new(),
        }
    }

    /// Whether the batch has as many rows as it should.
    pub(crate) fn is_full(&self) -> bool {
        self.batch.len() >= self.columns.batch_rows()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.batch.is_empty()
    }

    /// The rows so far; begins anew.
    pub(crate) fn take(&mut self) -> Batch {
        std::mem::replace(&mut self.batch, Batch::of(&self.columns))
    }

    /// Adds a row: a number for each feature and the reward by name and column, a text for the round and
    /// for categories. A row that is wrong leaves no trace, and is an error unless it is tolerated.
    pub(crate) fn push<T: AsRef<str>>(
        &mut self,
        place: Place,
        number: impl Fn(&str, usize) -> Result<f64, Problem>,
        text: impl Fn(usize) -> T,
    ) -> Result<(), Fault> {
        let rows = self.batch.len();
        match self.try_push(number, text) {
            Ok(()) => Ok(()),
            Err(problem) => {
                self.batch.truncate(rows);
                self.reject(problem.at(place))
            }
        }
    }

    /// Leaves a row out if that is tolerated.
    pub(crate) fn reject(&mut self, fault: Fault) -> Result<(), Fault> {
        let Fault { place, problem } = fault;
        let tolerated = match problem {
            Problem::TooManyFeatures { .. } => false,
            ref problem if problem.is_missing() => {
                self.tolerance.missing != Missing::Refuse || self.tolerance.skip_malformed
            }
            _ => self.tolerance.skip_malformed,
        };
        if !tolerated {
            return Err(problem.at(place));
        }
        self.rejections.add(problem.reason(), 1, || place.to_string());
        Ok(())
    }

    fn try_push<T: AsRef<str>>(
        &mut self,
        number: impl Fn(&str, usize) -> Result<f64, Problem>,
        text: impl Fn(usize) -> T,
    ) -> Result<(), Problem> {
        let Self { columns, batch, keys, tolerance, vocabulary, .. } = self;
        for (&column, values) in columns.features.iter().zip(&mut batch.columns) {
            values.push(match number(&columns.names[column], column) {
                // Filled in when the mean is known.
                Err(problem) if tolerance.missing == Missing::Mean && problem.is_missing() => f64::NAN,
                value => value?,
            });
        }
        let categories = columns.one_hot.iter().chain(&columns.hashed);
        if tolerance.missing != Missing::Mean {
            let missing = categories.clone().find(|&&column| text(column).as_ref().trim().is_empty());
            missing.map_or(Ok(()), |&column| Err(Problem::no_value(&columns.names[column])))?;
        }
        let reward = number(&columns.names[columns.reward], columns.reward)?;
        tolerance.check_reward(reward)?;
        batch.rewards.push(reward);
        if let (Some(column), Some(rounds)) = (columns.round, &mut batch.rounds) {
            let text = text(column);
            let key = text.as_ref().trim();
            if key.is_empty() {
                return Err(Problem::no_value(&columns.names[column]));
            }
            let next = keys.len();
            rounds.push(match keys.get(key) {
                Some(&round) => round,
                None => *keys.entry(key.to_owned()).or_insert(next),
            });
        }
        // Last, as a level cannot be taken back.
        for ((&column, levels), index) in categories.zip(&mut batch.levels).zip(0..) {
            let (name, text) = (&columns.names[column], text(column));
            levels.push(match text.as_ref().trim() {
                "" => None,
                level if index < columns.one_hot.len() => Some(vocabulary.named(&[name, "=", level])?),
                level => Some(vocabulary.hashed(&[name, "=", level])),
            });
        }
        Ok(())
    }
}

impl Tolerance {
    pub(crate) fn check_reward(&self, value: f64) -> Result<(), Problem> {
        match self.range {
            Some((low, high)) if !(low..=high).contains(&value) => {
                Err(Problem::OutOfRange { value, low, high })
            }
            _ => Ok(()),
        }
    }
}

/// A number from text; true is 1 and false is 0.
pub(crate) fn parse(column: &str, text: &str) -> Result<f64, Problem> {
    let text = text.trim();
    match text.parse() {
        Ok(value) if is_usable(value) => Ok(value),
        Ok(_) => Err(Problem::not_finite(column, text)),
        Err(_) if text.is_empty() => Err(Problem::no_value(column)),
        Err(_) if text.eq_ignore_ascii_case("true") => Ok(1.0),
        Err(_) if text.eq_ignore_ascii_case("false") => Ok(0.0),
        Err(_) => Err(Problem::not_a_number(column, text)),
    }
}

/// Whether a number is neither NaN nor infinite nor so large that its square could overflow.
pub(crate) fn is_usable(value: f64) -> bool {
    value.abs() <= LARGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_numbers_or_a_sentence() {
        let parsed = |text| parse("x", text).map_err(|problem| problem.to_string());
        for (text, value) in [("1", 1.0), (" -2.5e-3\t", -2.5e-3), ("+.5", 0.5), ("1e50", 1e50)] {
            assert_eq!(parsed(text), Ok(value), "{text}");
        }
        for (text, value) in [("true", 1.0), ("False", 0.0), ("TRUE", 1.0)] {
            assert_eq!(parsed(text), Ok(value), "{text}");
        }
        assert_eq!(parsed(" "), Err("column `x` has no value".to_owned()));
        for text in ["NA", "1,5", "0x10", "1_000", "１"] {
            assert_eq!(parsed(text), Err(format!("column `x` holds {text:?}, not a number")));
        }
        for text in ["NaN", "inf", "-Infinity", "1.1e50", "-1e400"] {
            let sentence =
                format!("column `x` holds {text}, but numbers must be finite and at most 1e50 in size");
            assert_eq!(parsed(text), Err(sentence));
        }
    }
}
