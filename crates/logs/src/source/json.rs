//! A JSON object in each line. The first one tells the columns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Source;
use super::lines::{Lines, text};
use crate::batch::{Collector, parse};
use crate::error::{Fault, Problem};
use crate::selection::{Columns, Selection};

struct JsonLines {
    lines: Lines,
    /// Whether the line that was read last, the first of the file, is yet to become a row.
    pending: bool,
    positions: HashMap<String, usize>,
    selection: Selection,
}

pub(super) fn open(mut lines: Lines, selection: &Selection) -> Result<(Columns, Box<dyn Source>), Fault> {
    if !lines.next_filled()? {
        return Err(Problem::Empty.into());
    }
    let Object(entries) = object(&lines.line).map_err(|problem| problem.at(lines.place()))?;
    let names: Vec<String> = entries.into_iter().map(|(name, _)| name.into_owned()).collect();
    let positions = names.iter().enumerate().map(|(index, name)| (name.clone(), index)).collect();
    let columns = selection.resolve(names)?;
    Ok((columns, Box::new(JsonLines { lines, pending: true, positions, selection: selection.clone() })))
}

impl Source for JsonLines {
    fn fill(&mut self, collector: &mut Collector) -> Result<(), Fault> {
        while !collector.is_full() && (std::mem::take(&mut self.pending) || self.lines.next_filled()?) {
            self.push_line(collector).map_err(|problem| problem.at(self.lines.place()))?;
        }
        Ok(())
    }
}

impl JsonLines {
    fn push_line(&self, collector: &mut Collector) -> Result<(), Problem> {
        let Object(entries) = object(&self.lines.line)?;
        let mut cells = vec![None; collector.columns.names.len()];
        for (name, value) in entries {
            match self.positions.get(&*name) {
                Some(&column) if cells[column].is_some() => {
                    return Err(Problem::TwoColumns { name: name.into_owned() });
                }
                Some(&column) => cells[column] = Some(value),
                // Features that only some rows have would otherwise be lost without a word.
                None if self.selection.takes(&name) => {
                    return Err(Problem::LateColumn { name: name.into_owned() });
                }
                None => {}
            }
        }
        let cell = |column: usize| cells[column].filter(|&value| value != "null").unwrap_or_default();
        let unquoted = |column| serde_json::from_str(cell(column)).unwrap_or(Cow::Borrowed(cell(column)));
        collector.push(|name, column| parse(name, cell(column)), unquoted)
    }
}

/// The entries of an object, values as they are written.
struct Object<'a>(Vec<(Cow<'a, str>, &'a str)>);

/// A key, copied only if it holds an escape.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Object<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some((Key(name), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    entries.push((name, value.get()));
                }
                Ok(Object(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

fn object(line: &[u8]) -> Result<Object<'_>, Problem> {
    serde_json::from_str(text(line)?).map_err(|error| {
        // serde_json ends its sentences with a place inside of the text it was given.
        let sentence = error.to_string();
        let reason = sentence.split(" at line ").next().unwrap_or(&sentence).to_owned();
        Problem::Json { reason, column: error.column().max(1) }
    })
}
