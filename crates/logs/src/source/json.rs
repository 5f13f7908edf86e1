//! A JSON object in each line. The first one tells the columns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::lines::{Lines, text};
use super::{Opened, Source, Take};
use crate::collector::{Collector, parse};
use crate::error::{Problem, Result, cut};
use crate::selection::Selection;

struct JsonLines {
    lines: Lines,
    /// Whether the line that was read last, the first of the file, is yet to become a row.
    pending: bool,
    positions: HashMap<String, usize>,
    selection: Selection,
}

pub(super) fn open(mut lines: Lines, selection: &Selection) -> Result<Opened<'static>> {
    if !lines.next_filled()? {
        return Err(Problem::Empty.into());
    }
    let entries = object(&lines.line).map_err(|problem| problem.at(lines.place()))?;
    let names: Vec<String> = entries.into_iter().map(|(name, _)| name.into_owned()).collect();
    let positions = names.iter().cloned().zip(0..).collect();
    let columns = selection.resolve(names)?;
    Ok((columns, Box::new(JsonLines { lines, pending: true, positions, selection: selection.clone() })))
}

impl Source for JsonLines {
    fn read(&mut self, collector: &mut Collector, _: &mut Take<'_>) -> Result<bool> {
        if !std::mem::take(&mut self.pending) && !self.lines.next_filled()? {
            return Ok(false);
        }
        let place = self.lines.place();
        let cells = self.cells(collector.columns.names.len()).map_err(|problem| problem.at(place))?;
        let cell = |column: usize| cells[column].filter(|&value| value != "null").unwrap_or_default();
        let text = |column| serde_json::from_str(cell(column)).unwrap_or(Cow::Borrowed(cell(column)));
        collector.push(place, |name, column| parse(name, cell(column)), text)?;
        Ok(true)
    }
}

impl JsonLines {
    /// The values of the columns in the line that was read last, as they are written.
    fn cells(&self, columns: usize) -> Result<Vec<Option<&str>>, Problem> {
        let entries = object(&self.lines.line)?;
        let mut cells = vec![None; columns];
        for (name, value) in entries {
            match self.positions.get(&*name) {
                Some(&column) if cells[column].is_some() => {
                    return Err(Problem::TwoColumns(name.into_owned()));
                }
                Some(&column) => cells[column] = Some(value),
                // Features that only some rows have would otherwise be lost without a word.
                None if self.selection.takes(&name) => {
                    let sentence =
                        format!("column `{name}` matches the features, but is not in the first line");
                    return Err(Problem::Other(sentence));
                }
                None => {}
            }
        }
        Ok(cells)
    }
}

/// The entries of an object, values as they are written.
fn object(line: &[u8]) -> Result<Vec<(Cow<'_, str>, &str)>, Problem> {
    let mut entries = Vec::new();
    each_entry(text(line)?, |name, value| entries.push((name, value)))?;
    Ok(entries)
}

/// Goes through the entries of an object, values as they are written.
pub(crate) fn each_entry<'a>(line: &'a str, each: impl FnMut(Cow<'a, str>, &'a str)) -> Result<(), Problem> {
    let mut reader = serde_json::Deserializer::from_str(line);
    reader.deserialize_map(Entries(each)).and_then(|()| reader.end()).map_err(|error| problem(&error, 0))
}

struct Entries<F>(F);

/// A key, copied only if it holds an escape.
#[derive(Deserialize)]
pub(crate) struct Key<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

impl<'de, F: FnMut(Cow<'de, str>, &'de str)> Visitor<'de> for Entries<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some((Key(name), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            (self.0)(name, value.get());
        }
        Ok(())
    }
}

/// What the parser says about a text that begins this many bytes behind the start of its line.
pub(crate) fn problem(error: &serde_json::Error, start: usize) -> Problem {
    // serde_json ends its sentences with a place inside of the text it was given.
    let sentence = error.to_string();
    let reason = sentence.split(" at line ").next().unwrap_or(&sentence);
    // They repeat a value that is not of the kind they expect, however long it is.
    let (reason, column) = (cut(reason, 200), start + error.column().max(1));
    let sentence = format!("this is not a JSON object: {reason} at column {column}");
    Problem::malformed(sentence, "not a JSON object")
}
