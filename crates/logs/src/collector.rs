//! The checks that every value of every row passes, wherever it comes from.

use std::collections::HashMap;

use crate::batch::Batch;
use crate::error::{Error, Place, Problem, Result};
use crate::event::Event;
use crate::selection::Columns;
use crate::tolerance::{Missing, Rejected, Tolerance};
use crate::vocabulary::Vocabulary;

/// Largest size of a number that the library takes: its square and a sum of squares stay finite.
const LARGEST: f64 = 1e50;

/// Features that turned up in a batch at most, which bounds its memory.
const MOST_FOUND: usize = 1 << 16;

/// How many reasons to leave rows out are told apart.
const REASONS: usize = 50;

/// Takes rows from a source and checks them.
pub(crate) struct Collector {
    pub(crate) columns: Columns,
    pub(crate) vocabulary: Vocabulary,
    /// Rows that were left out, by reason, in the order of their first ones.
    pub(crate) rejected: Vec<Rejected>,
    tolerance: Tolerance,
    /// The rows so far.
    pub(crate) batch: Batch,
    /// The rounds so far, with their numbers.
    keys: HashMap<String, usize>,
}

impl Collector {
    pub(crate) fn new(columns: Columns, tolerance: Tolerance, buckets: u32) -> Self {
        Self {
            batch: Batch::of(&columns),
            columns,
            vocabulary: Vocabulary::new(buckets),
            rejected: Vec::new(),
            tolerance,
            keys: HashMap::new(),
        }
    }

    /// Whether the batch has as many rows as it should.
    pub(crate) fn is_full(&self) -> bool {
        self.batch.len() >= self.columns.batch_rows() || self.batch.found.len() >= MOST_FOUND
    }

    /// Adds a row: a number for each feature and the reward by name and column, a text for the round and
    /// for categories. A row that is wrong leaves no trace, and is an error unless it is tolerated.
    pub(crate) fn push<T: AsRef<str>>(
        &mut self,
        place: Place,
        number: impl Fn(&str, usize) -> Result<f64, Problem>,
        text: impl Fn(usize) -> T,
    ) -> Result<()> {
        let rows = self.batch.len();
        self.try_push(number, text).or_else(|problem| {
            self.batch.truncate(rows);
            self.reject(problem.at(place))
        })
    }

    /// Adds an event, which names its features.
    pub(crate) fn push_event(&mut self, place: Place, event: &Event, hashed: bool) -> Result<()> {
        if let Err(problem) = self.tolerance.check_reward(event.reward) {
            return self.reject(problem.at(place));
        }
        for (name, value) in event.features() {
            let feature =
                if hashed { self.vocabulary.hashed(&[name]) } else { self.vocabulary.named(&[name])? };
            self.batch.found.push((feature, value));
        }
        self.batch.rewards.push(event.reward);
        self.batch.ends.push((self.batch.found.len(), event.weight));
        Ok(())
    }

    /// Leaves a row out if that is tolerated.
    pub(crate) fn reject(&mut self, fault: Error) -> Result<()> {
        if !self.tolerance.allows(&fault.problem) {
            return Err(fault);
        }
        let reason = fault.problem.reason();
        let room = self.rejected.len() < REASONS;
        match self.rejected.iter_mut().find(|rejected| rejected.reason == reason) {
            Some(rejected) => rejected.rows += 1,
            None if room => {
                self.rejected.push(Rejected { reason, rows: 1, first: fault.place.to_string() });
            }
            // Reasons without end say no more than the first fifty.
            None => self.rejected[REASONS - 1].rows += 1,
        }
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
                Err(problem) if tolerance.missing == Missing::Mean && problem.missing().is_some() => f64::NAN,
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
        for (&column, index) in categories.zip(0..) {
            let (name, text) = (&columns.names[column], text(column));
            let level = match text.as_ref().trim() {
                "" => continue,
                level if index < columns.one_hot.len() => vocabulary.named(&[name, "=", level])?,
                level => vocabulary.hashed(&[name, "=", level]),
            };
            batch.found.push((level, 1.0));
        }
        if columns.has_categories() {
            batch.ends.push((batch.found.len(), 1.0));
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
