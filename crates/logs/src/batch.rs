//! Rows of a file in batches, and the checks that every value passes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::{Fault, Problem, Result};
use crate::selection::{Columns, Selection};
use crate::source::{self, Source};

/// Largest size of a number that the library takes: its square and a sum of squares stay finite.
const LARGEST: f64 = 1e50;

/// Some rows of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// The features, row after row.
    pub features: Vec<f64>,
    /// A reward for each row.
    pub rewards: Vec<f64>,
    /// A round for each row, if asked for: rounds are numbered from 0 as they first appear in the file.
    pub rounds: Option<Vec<usize>>,
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
        let (columns, source) = source::open(path, selection).map_err(|fault| fault.in_file(path))?;
        Ok(Self {
            path: path.to_owned(),
            names: columns.features.iter().map(|&index| columns.names[index].clone()).collect(),
            source,
            collector: Collector { columns, batch: Batch::default(), keys: HashMap::new() },
            state: State::Start,
        })
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
        self.collector.batch.rounds = self.collector.columns.round.map(|_| Vec::new());
        let filled = self.source.fill(&mut self.collector);
        let batch = std::mem::take(&mut self.collector.batch);
        let answer = match filled {
            Err(fault) => Some(Err(fault.in_file(&self.path))),
            Ok(()) if !batch.rewards.is_empty() => {
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
    batch: Batch,
    /// The rounds so far, with their numbers.
    keys: HashMap<String, usize>,
}

impl Collector {
    /// Whether the batch has as many rows as it should.
    pub(crate) fn is_full(&self) -> bool {
        self.batch.rewards.len() >= self.columns.batch_rows()
    }

    /// Adds a row: a number for each feature and the reward by name and column, a text for the round.
    pub(crate) fn push<T: AsRef<str>>(
        &mut self,
        number: impl Fn(&str, usize) -> Result<f64, Problem>,
        text: impl Fn(usize) -> T,
    ) -> Result<(), Problem> {
        let Self { columns, batch, keys } = self;
        for &column in &columns.features {
            batch.features.push(number(&columns.names[column], column)?);
        }
        batch.rewards.push(number(&columns.names[columns.reward], columns.reward)?);
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
        Ok(())
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
