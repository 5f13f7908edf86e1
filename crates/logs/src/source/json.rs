//! A JSON object in each line. The first one tells the columns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use truenorth_features::Value;

use super::lines::{Lines, text};
use super::{Opened, Source, Take, Wanted};
use crate::collector::Sink;
use crate::error::{Problem, Result, cut};
use crate::selection::Selection;

/// Objects inside of each other; what is deeper is no number and no category.
const DEEPEST: usize = 100;

struct JsonLines {
    lines: Lines,
    /// Whether the line that was read last, the first of the file, is yet to become a row.
    pending: bool,
    positions: HashMap<String, usize>,
    late: Option<Selection>,
}

pub(super) fn open(mut lines: Lines, wanted: &Wanted) -> Result<Opened<'static>> {
    if !lines.next_filled()? {
        return Err(Problem::Empty.into());
    }
    let mut names = Vec::new();
    let first = text(&lines.line).and_then(|line| {
        each_field(line, &mut String::new(), 0, &mut |name, _| {
            names.push(name.to_owned());
            Ok(())
        })
    });
    first.map_err(|problem| problem.at(lines.place()))?;
    let positions = names.iter().cloned().zip(0..).collect();
    let late = wanted.late.clone();
    Ok((names, Box::new(JsonLines { lines, pending: true, positions, late })))
}

impl Source for JsonLines {
    fn read(&mut self, sink: &mut dyn Sink, _: &mut Take<'_>) -> Result<bool> {
        if !std::mem::take(&mut self.pending) && !self.lines.next_filled()? {
            return Ok(false);
        }
        let place = self.lines.place();
        let cells = self.cells().map_err(|problem| problem.at(place))?;
        let texts: Vec<Option<Cow<'_, str>>> = cells
            .iter()
            .map(|cell| {
                cell.filter(|cell| cell.starts_with('"')).and_then(|cell| serde_json::from_str(cell).ok())
            })
            .collect();
        sink.row(place, &|column| match (cells[column], &texts[column]) {
            (_, Some(text)) => Value::Text(text),
            (None | Some("null"), _) => Value::Missing,
            (Some("true"), _) => Value::Truth(true),
            (Some("false"), _) => Value::Truth(false),
            // A number as it is written: where it is a level, no digit is lost.
            (Some(cell), _) => Value::Cell(cell),
        })?;
        Ok(true)
    }
}

impl JsonLines {
    /// The values of the columns in the line that was read last, as they are written.
    fn cells(&self) -> Result<Vec<Option<&str>>, Problem> {
        let mut cells = vec![None; self.positions.len()];
        each_field(text(&self.lines.line)?, &mut String::new(), 0, &mut |name, value| {
            match self.positions.get(name) {
                Some(&column) if cells[column].is_some() => return Err(Problem::TwoColumns(name.to_owned())),
                Some(&column) => cells[column] = Some(value),
                // Features that only some rows have would otherwise be lost without a word.
                None if self.late.as_ref().is_some_and(|selection| selection.takes(name)) => {
                    let sentence =
                        format!("column `{name}` matches the features, but is not in the first line");
                    return Err(Problem::Other(sentence));
                }
                None => {}
            }
            Ok(())
        })?;
        Ok(cells)
    }
}

/// Goes through the values of an object and of the objects inside of it, whose keys are joined by dots.
fn each_field<'a>(
    line: &'a str,
    path: &mut String,
    depth: usize,
    each: &mut dyn FnMut(&str, &'a str) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let mut problem = None;
    let end = path.len();
    each_entry(line, |name, value| {
        if problem.is_some() {
            return;
        }
        path.push_str(if end > 0 { "." } else { "" });
        path.push_str(&name);
        let nested = value.starts_with('{') && depth < DEEPEST;
        let read = if nested { each_field(value, path, depth + 1, each) } else { each(path, value) };
        path.truncate(end);
        problem = read.err();
    })?;
    problem.map_or(Ok(()), Err)
}

/// Goes through the entries of an object, values as they are written.
pub(crate) fn each_entry<'a>(line: &'a str, each: impl FnMut(Cow<'a, str>, &'a str)) -> Result<(), Problem> {
    each_entry_at(line, 0, each)
}

/// The same for an object that begins this many bytes behind the start of its line.
pub(crate) fn each_entry_at<'a>(
    object: &'a str,
    start: usize,
    each: impl FnMut(Cow<'a, str>, &'a str),
) -> Result<(), Problem> {
    let mut reader = serde_json::Deserializer::from_str(object);
    reader.deserialize_map(Entries(each)).and_then(|()| reader.end()).map_err(|error| problem(&error, start))
}

/// The elements of a list that begins this many bytes behind the start of its line, as they are written.
pub(crate) fn elements(list: &str, start: usize) -> Result<Vec<&str>, Problem> {
    let read: Vec<&RawValue> = serde_json::from_str(list).map_err(|error| problem(&error, start))?;
    Ok(read.into_iter().map(RawValue::get).collect())
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
