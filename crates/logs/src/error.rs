//! What is wrong with a file, and where: one sentence that names the file, the line and the value.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file that cannot be read as asked.
#[derive(Debug, thiserror::Error)]
#[error("{}{place}: {problem}", path.display())]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// Where in the file.
    pub place: Place,
    /// What is wrong there.
    pub problem: Problem,
}

/// Result of reading a file.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line of text as an editor counts it, from 1; the first one where a record spans several.
    Line(u64),
    /// A row of a file that has no lines, from 1.
    Row(u64),
}

/// What can be wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be opened or read.
    #[error("{0}")]
    Unreadable(io::Error),
    /// The file's name tells no format.
    #[error("the name must end in {}", crate::format::endings())]
    UnknownEnding,
    /// Nothing is in the file.
    #[error("the file is empty")]
    Empty,
    /// There are columns, but nothing below them.
    #[error("there are columns, but no rows")]
    NoRows,
    /// The compressed bytes end early or do not add up.
    #[error("the gzip data is damaged: {0}")]
    Gzip(io::Error),
    /// The Parquet file ends early, is damaged, or uses what this build does not read.
    #[error("the Parquet file cannot be read: {0}")]
    Parquet(String),
    /// A line that is not text.
    #[error("byte 0x{byte:02X} is not UTF-8 text")]
    NotText {
        /// The first byte that is not.
        byte: u8,
    },
    /// A line or a quoted field that does not end.
    #[error("the record is longer than {} MB", limit / 1_000_000)]
    TooLong {
        /// How many bytes a record may have.
        limit: u64,
    },
    /// A quote that is still open at the end of the file.
    #[error("a quote opens here and is never closed")]
    OpenQuote,
    /// A record with more or fewer fields than the header.
    #[error("there are {found} fields, but the header has {expected}")]
    Ragged {
        /// Fields of the header.
        expected: usize,
        /// Fields of the record.
        found: usize,
    },
    /// A line that is not a JSON object.
    #[error("this is not a JSON object: {reason} at column {column}")]
    Json {
        /// What the parser stumbled over.
        reason: String,
        /// Where in the line, in bytes from 1.
        column: usize,
    },
    /// The list of features is empty.
    #[error("no features are asked for")]
    NoFeatures,
    /// A glob that fits no column.
    #[error("no column matches `{glob}`; the columns are {}", listed(columns))]
    NoMatch {
        /// The glob.
        glob: String,
        /// All columns of the file.
        columns: Vec<String>,
    },
    /// A column that is asked for by name is absent.
    #[error("there is no column named `{name}`; the columns are {}", listed(columns))]
    NoColumn {
        /// The name.
        name: String,
        /// All columns of the file.
        columns: Vec<String>,
    },
    /// The reward is asked for as a feature.
    #[error("column `{name}` is the reward and cannot be a feature")]
    RewardAsFeature {
        /// The column.
        name: String,
    },
    /// A column that is asked for stands there twice.
    #[error("there are two columns named `{name}`")]
    TwoColumns {
        /// Their name.
        name: String,
    },
    /// A line of JSON has a feature that the first line has not.
    #[error("column `{name}` matches the features, but is not in the first line")]
    LateColumn {
        /// The column.
        name: String,
    },
    /// An empty field, a null, an absent key.
    #[error("column `{column}` has no value")]
    NoValue {
        /// The column.
        column: String,
    },
    /// A value that is not a number.
    #[error("column `{column}` holds {value:?}, not a number")]
    NotANumber {
        /// The column.
        column: String,
        /// The value as it is written, shortened if it is long.
        value: String,
    },
    /// NaN, an infinity, or a number whose square could overflow.
    #[error("column `{column}` holds {value}, but numbers must be finite and at most 1e50 in size")]
    NotFinite {
        /// The column.
        column: String,
        /// The value as it is written, shortened if it is long.
        value: String,
    },
}

impl Problem {
    pub(crate) fn no_value(column: &str) -> Self {
        Self::NoValue { column: column.to_owned() }
    }

    pub(crate) fn not_a_number(column: &str, value: &str) -> Self {
        // The sentence has its own quotes for a text of JSON.
        Self::NotANumber { column: column.to_owned(), value: shortened(value.trim_matches('"')) }
    }

    pub(crate) fn not_finite(column: &str, value: &str) -> Self {
        Self::NotFinite { column: column.to_owned(), value: shortened(value) }
    }

    pub(crate) fn at(self, place: Place) -> Fault {
        Fault { place, problem: self }
    }
}

/// A problem whose file is known to the caller.
#[derive(Debug)]
pub(crate) struct Fault {
    place: Place,
    problem: Problem,
}

impl Fault {
    pub(crate) fn in_file(self, path: &Path) -> Error {
        Error { path: path.to_owned(), place: self.place, problem: self.problem }
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        problem.at(Place::File)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Line(line) => write!(f, ", line {line}"),
            Self::Row(row) => write!(f, ", row {row}"),
        }
    }
}

/// A value in a sentence; of a very long one, the beginning.
fn shortened(value: &str) -> String {
    const MOST: usize = 40;
    match value.char_indices().nth(MOST) {
        None => value.to_owned(),
        Some((end, _)) => format!("{}…", &value[..end]),
    }
}

/// Names in a sentence; of very many, the first.
fn listed(names: &[String]) -> String {
    const MOST: usize = 50;
    let list = names.iter().take(MOST).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => list,
        more => format!("{list} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_and_long_lists_are_cut() {
        let columns: Vec<String> = (0..60).map(|index| format!("f_{index}")).collect();
        let sentence = Problem::NoColumn { name: "x".to_owned(), columns }.to_string();
        assert!(sentence.ends_with("`f_48`, `f_49` and 10 more"), "{sentence}");
        let sentence = Problem::not_a_number("x", &"ü".repeat(1000)).to_string();
        assert_eq!(sentence, format!("column `x` holds \"{}…\", not a number", "ü".repeat(40)));
        let sentence = Problem::not_finite("x", &"9".repeat(1000)).to_string();
        assert!(sentence.starts_with(&format!("column `x` holds {}…, but", "9".repeat(40))), "{sentence}");
    }
}
