//! Tables of a file, looked through from the inside out: a panel's values before the file's.

use std::fmt;

use toml::de::DeTable;

use super::FileError;
use super::PANEL_KEYS;
use super::document::{Document, Entry, shortened};

/// Keys that a message offers in place of an unknown one, at most.
const OFFERED: usize = 3;

/// What a section can describe: each kind with its keys, the default first. A key of several kinds does not
/// tell which one is meant.
pub(super) type Kinds = [(&'static str, &'static [&'static str])];

/// One table of the file.
#[derive(Clone)]
pub(super) struct Table<'a> {
    document: &'a Document<'a>,
    values: &'a DeTable<'a>,
    /// Its header, or where it is written inline.
    place: usize,
    /// The key it is found under; empty for the whole file.
    key: &'a str,
    level: usize,
}

/// Tables that override each other key by key, the innermost first.
pub(super) struct Scope<'a> {
    document: &'a Document<'a>,
    tables: Vec<Table<'a>>,
}

impl<'a> Table<'a> {
    pub(super) fn root(document: &'a Document<'a>, values: &'a DeTable<'a>) -> Self {
        Self { document, values, place: 0, key: "", level: 0 }
    }

    pub(super) fn new(entry: &Entry<'a>, values: &'a DeTable<'a>) -> Self {
        let Entry { document, key, value, level, .. } = *entry;
        Self { document, values, place: value.span().start, key, level }
    }

    pub(super) fn get(&self, key: &str) -> Option<Entry<'a>> {
        let (key, value) = self.values.get_key_value(key)?;
        let (document, level) = (self.document, self.level);
        Some(Entry { document, key: key.get_ref(), value, level, listed: false })
    }

    pub(super) fn fail(&self, reason: impl fmt::Display) -> FileError {
        self.document.fail(self.place, reason)
    }

    /// Something is wrong with a value, or with the table that should have held it.
    pub(super) fn fail_at(&self, key: &str, reason: impl fmt::Display) -> FileError {
        match self.get(key) {
            Some(entry) => entry.fail(reason),
            None => self.fail(reason),
        }
    }

    /// Refuses the first key that is none of `known`.
    pub(super) fn check_keys(&self, known: &[&str]) -> Result<(), FileError> {
        let Some((place, key)) = self.keys().into_iter().find(|(_, key)| !known.contains(key)) else {
            return Ok(());
        };
        let section = if self.key.is_empty() { String::new() } else { format!(" in `{}`", self.key) };
        let advice = if self.key != "panel" && PANEL_KEYS.contains(&key) {
            // In TOML, everything below a header belongs to it.
            "it belongs above all [headers], or below a [[panel]]".to_owned()
        } else {
            advice(key, known)
        };
        let key = shortened(key);
        Err(self.document.fail(place, format!("there is no key `{key}`{section}; {advice}")))
    }

    /// Keys in the order of the file.
    fn keys(&self) -> Vec<(usize, &'a str)> {
        let mut keys: Vec<_> =
            self.values.keys().map(|key| (key.span().start, key.get_ref().as_ref())).collect();
        keys.sort_unstable();
        keys
    }

    /// The kind that a section names, or else that of its keys.
    fn kind(&self, kinds: &'static Kinds) -> Result<Option<&'static str>, FileError> {
        let own = |key: &str| {
            let mut of = kinds.iter().filter(|(_, keys)| keys.contains(&key)).map(|(kind, _)| *kind);
            of.next().filter(|_| of.next().is_none())
        };
        let mut known: Vec<&str> = Vec::new();
        for key in kinds.iter().flat_map(|(_, keys)| *keys).chain(&["kind"]) {
            if !known.contains(key) {
                known.push(key);
            }
        }
        self.check_keys(&known)?;
        let mut kind = None;
        if let Some(entry) = self.get("kind") {
            let name = entry.text()?;
            let named = kinds.iter().map(|(kind, _)| *kind).find(|kind| *kind == name);
            let names = quoted(kinds.iter().map(|(kind, _)| *kind));
            kind = Some(named.ok_or_else(|| entry.refuse(format!("one of {names}")))?);
        }
        for (place, key) in self.keys() {
            match (kind, own(key)) {
                (Some(kind), Some(own)) if kind != own => {
                    let section = self.key;
                    let reason = format!("`{key}` belongs to a `{section}` of kind `{own}`, not `{kind}`");
                    return Err(self.document.fail(place, reason));
                }
                (None, own) => kind = own,
                _ => {}
            }
        }
        Ok(kind)
    }
}

impl<'a> Scope<'a> {
    pub(super) fn new(document: &'a Document<'a>, tables: Vec<Table<'a>>) -> Self {
        Self { document, tables }
    }

    pub(super) fn get(&self, key: &str) -> Option<Entry<'a>> {
        self.tables.iter().find_map(|table| table.get(key))
    }

    /// What a key says, or else a default.
    pub(super) fn or<T>(
        &self,
        key: &str,
        default: T,
        read: impl FnOnce(&Entry<'a>) -> Result<T, FileError>,
    ) -> Result<T, FileError> {
        self.get(key).map_or(Ok(default), |entry| read(&entry))
    }

    /// The value of a key that has no default.
    pub(super) fn need(&self, key: &str) -> Result<Entry<'a>, FileError> {
        self.get(key).ok_or_else(|| {
            let section = self.tables.first().map_or("", |table| table.key);
            self.fail(format!("`{section}` needs a `{key}`"))
        })
    }

    /// The innermost table that has one of the keys.
    pub(super) fn innermost(&self, keys: &[&str]) -> Option<&Table<'a>> {
        self.tables.iter().find(|table| keys.iter().any(|key| table.get(key).is_some()))
    }

    /// Wrong, but no single value's fault.
    pub(super) fn fail(&self, reason: impl fmt::Display) -> FileError {
        match &self.tables[..] {
            [innermost, ..] => innermost.fail(reason),
            [] => self.document.fail(0, reason),
        }
    }

    /// A section and its kind. A panel's section overrides the file's key by key if both are of the same
    /// kind, and altogether if not.
    pub(super) fn section(
        &self,
        key: &str,
        kinds: &'static Kinds,
    ) -> Result<(Option<&'static str>, Self), FileError> {
        let mut kind = None;
        let mut tables = Vec::new();
        for entry in self.tables.iter().filter_map(|table| table.get(key)) {
            let table = entry.table()?;
            let own = table.kind(kinds)?;
            // Keys of several kinds are of the kind that is meant further in or out.
            if own.is_none() || kind.is_none() || kind == own {
                kind = kind.or(own);
                tables.push(table);
            }
        }
        Ok((kind, Self { document: self.document, tables }))
    }
}

fn advice(key: &str, known: &[&str]) -> String {
    let mut near: Vec<(usize, &str)> =
        known.iter().map(|known| (strsim::osa_distance(key, known), *known)).collect();
    near.retain(|(distance, known)| *distance <= 1 + known.len() / 4);
    near.sort_unstable();
    if near.is_empty() {
        format!("the keys here are {}", quoted(known.iter().copied()))
    } else {
        let near = near.iter().take(OFFERED).map(|(_, known)| format!("`{known}`"));
        format!("did you mean {}?", near.collect::<Vec<_>>().join(" or "))
    }
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
