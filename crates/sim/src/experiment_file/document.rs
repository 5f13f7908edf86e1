//! The text of a file, and sentences about what is wrong with it: the line, the key and the value.

use std::fmt;
use std::path::Path;

use toml::de::DeTable;

use super::{FileError, KEYS, ReadCertificate};

/// Longest piece of the file that a message repeats.
const QUOTED: usize = 60;
/// Keys that a message offers in place of an unknown one, at most.
const OFFERED: usize = 3;

/// A file, for turning places into lines.
pub(super) struct Document<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
    pub(super) certificates: ReadCertificate<'a>,
}

impl<'a> Document<'a> {
    pub(super) fn parse(
        path: &'a Path,
        content: &'a [u8],
        certificates: ReadCertificate<'a>,
    ) -> Result<(Self, DeTable<'a>), FileError> {
        let (text, rest) =
            content.utf8_chunks().next().map_or(("", &[][..]), |chunk| (chunk.valid(), chunk.invalid()));
        let document = Self { path, text, certificates };
        if !rest.is_empty() {
            return Err(document.fail(text.len(), "this is not UTF-8 text"));
        }
        let (root, errors) = DeTable::parse_recoverable(text);
        let errors = errors.iter().map(|error| (error.span().unwrap_or_default().start, error.message()));
        match errors.min_by_key(|(place, _)| *place) {
            Some((place, message)) => Err(document.not_toml(place, message)),
            None => Ok((document, root.into_inner())),
        }
    }

    fn not_toml(&self, place: usize, message: &str) -> FileError {
        // Said of a value that is not there as well.
        let unquoted = message.starts_with("string values must be quoted");
        let message = if unquoted { "expected a value, with text in quotes" } else { message };
        let message = message.lines().collect::<Vec<_>>().join(" ");
        match self.text.lines().nth(self.lines_before(place)).unwrap_or_default().trim() {
            "" => self.fail(place, format!("this is not TOML: {message}")),
            line => self.fail(place, format!("`{}` is not TOML: {message}", shortened(line))),
        }
    }

    /// Something is wrong at a byte of the text.
    pub(super) fn fail(&self, place: usize, reason: impl fmt::Display) -> FileError {
        let place = format!("{}, line {}", self.path.display(), self.lines_before(place) + 1);
        FileError { place, reason: reason.to_string() }
    }

    fn lines_before(&self, place: usize) -> usize {
        self.text.get(..place).map_or(0, |before| before.matches('\n').count())
    }

    /// A table has a key that is none of those it can have.
    pub(super) fn no_key(&self, section: &str, key: &str, place: usize, known: &str) -> FileError {
        let table = if section.is_empty() { String::new() } else { format!(" in `{section}`") };
        let advice = if has_word(KEYS, key) {
            // In TOML, everything below a header belongs to it.
            "it belongs above all [headers], or below a [[panel]]".to_owned()
        } else {
            advice(key, known)
        };
        self.fail(place, format!("there is no key `{}`{table}; {advice}", shortened(key)))
    }
}

fn advice(key: &str, known: &str) -> String {
    let mut near: Vec<(usize, &str)> =
        known.split_whitespace().map(|known| (strsim::osa_distance(key, known), known)).collect();
    near.retain(|(distance, known)| *distance <= 1 + known.len() / 4);
    near.sort_unstable();
    if near.is_empty() {
        let known: Vec<_> = known.split_whitespace().collect();
        return format!("the keys here are `{}`", known.join("`, `"));
    }
    let near: Vec<_> = near.iter().take(OFFERED).map(|(_, known)| *known).collect();
    format!("did you mean `{}`?", near.join("` or `"))
}

/// Whether a word is one of a list.
pub(super) fn has_word(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
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
