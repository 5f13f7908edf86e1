//! TOML whose every value knows its line, so that whatever is wrong with it can be said in one sentence.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error as Unknown, StrDeserializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::scope::Table;
use super::{FileError, ReadCertificate};

/// Longest piece of the file that a message repeats.
const QUOTED: usize = 60;

/// A file's text, for turning places into lines.
pub(super) struct Document<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
    pub(super) certificates: ReadCertificate<'a>,
}

/// One value of the file, under its key.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) document: &'a Document<'a>,
    pub(super) key: &'a str,
    pub(super) value: &'a Spanned<DeValue<'a>>,
    /// 0 for the file's own values, 1 for those of a panel.
    pub(super) level: usize,
    /// Whether it is one of a list under that key.
    pub(super) listed: bool,
}

/// Numbers that a key takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub(super) words: &'static str,
    pub(super) contains: fn(f64) -> bool,
}

// The library refuses numbers above 1e50 in size.
pub(super) const ANY: Range =
    Range { words: "a number of at most 1e50 in size", contains: |value| value.abs() <= 1e50 };
pub(super) const NOT_NEGATIVE: Range =
    Range { words: "a number from 0 to 1e50", contains: |value| (0.0..=1e50).contains(&value) };
pub(super) const POSITIVE: Range =
    Range { words: "a number from 1e-50 to 1e50", contains: |value| (1e-50..=1e50).contains(&value) };
pub(super) const SHARE: Range =
    Range { words: "a number from 0 to 1", contains: |value| (0.0..=1.0).contains(&value) };
pub(super) const PROBABILITY: Range =
    Range { words: "a number strictly between 0 and 1", contains: |value| value > 0.0 && value < 1.0 };

impl<'a> Document<'a> {
    pub(super) fn parse(&self) -> Result<DeTable<'a>, FileError> {
        let (table, errors) = DeTable::parse_recoverable(self.text);
        let place = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
        let Some(error) = errors.iter().min_by_key(|error| place(error)) else {
            return Ok(table.into_inner());
        };
        let place = place(error);
        let line = self.text.lines().nth(self.lines_before(place)).unwrap_or_default().trim();
        let message = match error.message() {
            // Said of a value that is not there as well.
            message if message.starts_with("string values must be quoted") => {
                "expected a value, with text in quotes".to_owned()
            }
            message => message.lines().collect::<Vec<_>>().join(" "),
        };
        Err(match line {
            "" => self.fail(place, format!("this is not TOML: {message}")),
            line => self.fail(place, format!("`{}` is not TOML: {message}", shortened(line))),
        })
    }

    /// Something is wrong at a byte of the text.
    pub(super) fn fail(&self, place: usize, reason: impl fmt::Display) -> FileError {
        let place = format!("{}, line {}", self.path.display(), self.lines_before(place) + 1);
        FileError { place, reason: reason.to_string() }
    }

    fn lines_before(&self, place: usize) -> usize {
        self.text.get(..place).map_or(0, |before| before.matches('\n').count())
    }
}

impl<'a> Entry<'a> {
    pub(super) fn fail(&self, reason: impl fmt::Display) -> FileError {
        self.document.fail(self.value.span().start, reason)
    }

    /// The key must be something else than it is.
    pub(super) fn refuse(&self, wanted: impl fmt::Display) -> FileError {
        let found = match self.value.get_ref() {
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
            _ => {
                let text = self.document.text.get(self.value.span()).unwrap_or_default();
                shortened(&text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
        };
        self.fail(format!("{} must be {wanted}, but is {found}", self.title()))
    }

    fn title(&self) -> String {
        let prefix = if self.listed { "an entry of " } else { "" };
        format!("{prefix}`{}`", self.key)
    }

    pub(super) fn number(&self, range: Range) -> Result<f64, FileError> {
        let value = match self.value.get_ref() {
            DeValue::Float(float) => float.as_str().parse().ok(),
            DeValue::Integer(whole) => {
                i128::from_str_radix(whole.as_str(), whole.radix()).ok().map(|value| value as f64)
            }
            _ => None,
        };
        value.filter(|&value| (range.contains)(value)).ok_or_else(|| self.refuse(range.words))
    }

    pub(super) fn whole<T: TryFrom<u64>>(&self, range: RangeInclusive<u64>) -> Result<T, FileError> {
        let value = match self.value.get_ref() {
            DeValue::Integer(whole) => u64::from_str_radix(whole.as_str(), whole.radix()).ok(),
            _ => None,
        };
        let value = value.filter(|value| range.contains(value)).and_then(|value| T::try_from(value).ok());
        value.ok_or_else(|| match (range.start(), *range.end()) {
            (low, u64::MAX) => self.refuse(format!("a whole number of at least {low}")),
            (low, high) => self.refuse(format!("a whole number from {low} to {high}")),
        })
    }

    pub(super) fn text(&self) -> Result<&'a str, FileError> {
        self.value.get_ref().as_str().ok_or_else(|| self.refuse("text in quotes"))
    }

    /// A name, which may become that of a file.
    pub(super) fn name(&self) -> Result<&'a str, FileError> {
        let name = self.text()?;
        let unfit = |character: char| matches!(character, '/' | '\\') || character.is_control();
        if name.trim().is_empty() || name.starts_with('.') || name.contains(unfit) {
            return Err(self.refuse("a name without slashes, line breaks or a dot at its start"));
        }
        Ok(name)
    }

    pub(super) fn flag(&self) -> Result<bool, FileError> {
        self.value.get_ref().as_bool().ok_or_else(|| self.refuse("true or false"))
    }

    /// A switch by the name that serde knows it by.
    pub(super) fn switch<T: Deserialize<'a>>(&self) -> Result<T, FileError> {
        let name: StrDeserializer<'a, Unknown> = self.text()?.into_deserializer();
        T::deserialize(name).map_err(|error| {
            let sentence = error.to_string();
            self.refuse(sentence.split_once(", expected ").map_or(&*sentence, |(_, known)| known))
        })
    }

    pub(super) fn items(&self) -> Result<Vec<Self>, FileError> {
        let items = self.value.get_ref().as_array().ok_or_else(|| self.refuse("a list"))?;
        Ok(items.iter().map(|value| Self { value, listed: true, ..*self }).collect())
    }

    /// The tables of `[[key]]`, one level further in.
    pub(super) fn tables(&self) -> Result<Vec<Table<'a>>, FileError> {
        let wanted = format!("given as [[{}]] tables", self.key);
        let items = self.items().map_err(|_| self.refuse(&wanted))?;
        let level = self.level + 1;
        items.iter().map(|item| Self { level, ..*item }.table().map_err(|_| self.refuse(&wanted))).collect()
    }

    pub(super) fn table(&self) -> Result<Table<'a>, FileError> {
        let table = self.value.get_ref().as_table();
        let table = table.ok_or_else(|| self.refuse(format!("given as a [{}] table", self.key)))?;
        Ok(Table::new(self, table))
    }

    /// One number for each feature; a single number stands for all.
    pub(super) fn vector(&self, dimension: usize) -> Result<Vec<f64>, FileError> {
        match self.value.get_ref() {
            DeValue::Array(_) => self.row(dimension),
            DeValue::Float(_) | DeValue::Integer(_) => Ok(vec![self.number(ANY)?; dimension]),
            _ => Err(self.refuse("a list of numbers, or one number for all features")),
        }
    }

    pub(super) fn row(&self, dimension: usize) -> Result<Vec<f64>, FileError> {
        let items = self.items().map_err(|_| self.refuse("a list of numbers"))?;
        if items.len() != dimension {
            let (title, found) = (self.title(), items.len());
            return Err(
                self.fail(format!("{title} must hold {dimension} numbers (`dimension`), but holds {found}"))
            );
        }
        items.iter().map(|item| item.number(ANY)).collect()
    }
}

/// A piece of the file as a message may repeat it.
pub(super) fn shortened(text: &str) -> String {
    // A message is one line, whatever escapes a key or text holds.
    let text = text.replace(char::is_control, " ");
    match text.char_indices().nth(QUOTED) {
        None => text,
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}
