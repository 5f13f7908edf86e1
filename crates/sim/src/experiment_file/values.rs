//! Tables of a file and the values in them, which know where they stand.

use std::fmt;

use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::FileError;
use super::document::{Document, has_word, shortened};
use crate::ranges::range;

/// A table of a file.
#[derive(Clone)]
pub(super) struct Table<'a> {
    pub(super) document: &'a Document<'a>,
    /// The key that it stands under; empty for the whole file.
    pub(super) name: &'a str,
    pub(super) place: usize,
    pub(super) entries: DeTable<'a>,
}

impl<'a> Table<'a> {
    pub(super) fn get(&'a self, key: &'a str) -> Option<Value<'a>> {
        let content = self.entries.get(key)?;
        Some(Value { document: self.document, key, listed: false, content })
    }

    /// A value without a default.
    pub(super) fn needs(&'a self, key: &'a str) -> Result<Value<'a>, FileError> {
        let absent = || self.document.fail(self.place, format!("`{}` needs a `{key}`", self.name));
        self.get(key).ok_or_else(absent)
    }

    pub(super) fn number<T: Deserialize<'a>>(&'a self, key: &'a str, default: T) -> Result<T, FileError> {
        self.get(key).map_or(Ok(default), Value::number)
    }

    pub(super) fn word<T: Deserialize<'a>>(&'a self, key: &'a str, default: T) -> Result<T, FileError> {
        self.get(key).map_or(Ok(default), Value::word)
    }

    pub(super) fn name(&'a self, default: impl FnOnce() -> String) -> Result<String, FileError> {
        self.get("name").map_or_else(|| Ok(default()), Value::name)
    }

    /// The tables under a key, written as `[[key]]`.
    pub(super) fn tables(&'a self, key: &'a str) -> Result<Vec<Self>, FileError> {
        let wanted = format!("given as [[{key}]] tables");
        let tables = self.get(key).map_or(Ok(Vec::new()), |value| value.list(&wanted))?;
        tables.into_iter().map(|table| table.table(&wanted)).collect()
    }

    /// Keys in the order of the file, with their places.
    pub(super) fn keys(&self) -> Vec<(usize, &str)> {
        let mut keys: Vec<_> = self.entries.keys().map(|key| (key.span().start, &**key.get_ref())).collect();
        keys.sort_unstable();
        keys
    }

    /// Refuses keys that are not among some words.
    pub(super) fn check_keys(&self, known: &str) -> Result<(), FileError> {
        match self.keys().into_iter().find(|(_, key)| !has_word(known, key)) {
            Some((place, key)) => Err(self.document.no_key(self.name, key, place, known)),
            None => Ok(()),
        }
    }
}

/// A value and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    document: &'a Document<'a>,
    key: &'a str,
    /// Whether it is one of a list under that key.
    listed: bool,
    content: &'a Spanned<DeValue<'a>>,
}

impl<'a> Value<'a> {
    pub(super) fn place(self) -> usize {
        self.content.span().start
    }

    /// Something is wrong with it.
    pub(super) fn fail(self, reason: impl fmt::Display) -> FileError {
        self.document.fail(self.place(), reason)
    }

    /// It must be or hold something else.
    pub(super) fn must(self, wanted: impl fmt::Display) -> FileError {
        let listed = if self.listed { "an entry of " } else { "" };
        self.fail(format!("{listed}`{}` must {wanted}", self.key))
    }

    /// It must be something else than it is.
    pub(super) fn refuse(self, wanted: impl fmt::Display) -> FileError {
        let found = match self.content.get_ref() {
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
            _ => {
                let text = self.document.text.get(self.content.span()).unwrap_or_default();
                shortened(&text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
        };
        self.must(format!("be {wanted}, but is {found}"))
    }

    fn read<T: Deserialize<'a>>(self) -> Result<T, toml::de::Error> {
        T::deserialize(self.content.clone().into_deserializer())
    }

    /// A number in the range of its key.
    pub(super) fn number<T: Deserialize<'a>>(self) -> Result<T, FileError> {
        let (words, range) = range(self.key);
        let inside = self.read::<f64>().is_ok_and(|number| range.contains(&number));
        self.read().ok().filter(|_| inside).ok_or_else(|| self.refuse(words))
    }

    pub(super) fn truth(self) -> Result<bool, FileError> {
        self.read().map_err(|_| self.refuse("true or false"))
    }

    pub(super) fn text(self) -> Result<&'a str, FileError> {
        self.content.get_ref().as_str().ok_or_else(|| self.refuse("text in quotes"))
    }

    pub(super) fn one_of(self, words: &[&'static str]) -> Result<&'static str, FileError> {
        let text = self.text()?;
        let known = words.iter().copied().find(|word| *word == text);
        known.ok_or_else(|| match words {
            [one, other] => self.refuse(format!("`{one}` or `{other}`")),
            words => self.refuse(format!("one of `{}`", words.join("`, `"))),
        })
    }

    /// One of the words that a type has.
    pub(super) fn word<T: Deserialize<'a>>(self) -> Result<T, FileError> {
        self.text()?;
        self.read().map_err(|error| {
            let message = error.message();
            self.refuse(message.rsplit_once(", expected ").map_or(message, |(_, expected)| expected))
        })
    }

    /// A name, which may become that of a file.
    pub(super) fn name(self) -> Result<String, FileError> {
        let name = self.text()?;
        let unfit = |character: char| matches!(character, '/' | '\\') || character.is_control();
        if name.trim().is_empty() || name.starts_with('.') || name.contains(unfit) {
            return Err(self.refuse("a name without slashes, line breaks or a dot at its start"));
        }
        Ok(name.to_owned())
    }

    pub(super) fn table(self, wanted: &str) -> Result<Table<'a>, FileError> {
        let entries = self.content.get_ref().as_table().ok_or_else(|| self.refuse(wanted))?.clone();
        Ok(Table { document: self.document, name: self.key, place: self.place(), entries })
    }

    pub(super) fn list(self, wanted: &str) -> Result<Vec<Self>, FileError> {
        let items = self.content.get_ref().as_array().ok_or_else(|| self.refuse(wanted))?;
        Ok(items.iter().map(|content| Self { listed: true, content, ..self }).collect())
    }

    /// An entry of a list, or the value itself if it is none.
    pub(super) fn entry(self, place: usize) -> Self {
        self.list("").ok().and_then(|items| items.get(place).copied()).unwrap_or(self)
    }

    /// One number for each feature; a single number stands for all.
    pub(super) fn vector(self, dimension: usize) -> Result<Vec<f64>, FileError> {
        match self.content.get_ref() {
            DeValue::Integer(_) | DeValue::Float(_) => Ok(vec![self.number()?; dimension]),
            DeValue::Array(_) => self.row(dimension),
            _ => Err(self.refuse("a list of numbers, or one number for all features")),
        }
    }

    pub(super) fn row(self, dimension: usize) -> Result<Vec<f64>, FileError> {
        let numbers = self.list("a list of numbers")?.into_iter().map(Self::number);
        let row = numbers.collect::<Result<Vec<f64>, _>>()?;
        if row.len() != dimension {
            let found = row.len();
            return Err(self.must(format!("hold {dimension} numbers (`dimension`), but holds {found}")));
        }
        Ok(row)
    }
}
