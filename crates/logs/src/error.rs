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
    #[error("the format is not clear; known endings are {}", crate::format::endings())]
    UnknownEnding,
    /// A pattern of file names that fits nothing.
    #[error("{reason}")]
    BadGlob {
        /// What is wrong with it.
        reason: String,
    },
    /// Events where rows of a table are wanted.
    #[error("{format} has events, not rows with columns; `truenorth summarize` reads it")]
    NotATable {
        /// Its format.
        format: crate::format::Format,
    },
    /// No file is named.
    #[error("no files are named")]
    NoFiles,
    /// A table whose columns nobody has told.
    #[error("a {format} table needs `--features` and `--reward`")]
    NoSelection {
        /// Its format.
        format: crate::format::Format,
    },
    /// Not a file that `summarize` has written.
    #[error("this is no summary; `truenorth summarize` makes one from logs")]
    NotASummary,
    /// A summary of another version.
    #[error("the summary has version {found}, but this build reads version {supported}")]
    SummaryVersion {
        /// Its version.
        found: u32,
        /// The version that can be read.
        supported: u32,
    },
    /// A summary whose bytes have changed.
    #[error("the summary is damaged: {reason}")]
    SummaryDamaged {
        /// What shows it.
        reason: String,
    },
    /// A summary whose features mean something else.
    #[error("the summaries have different {what}: {mine} and {theirs}")]
    OtherRecipe {
        /// What differs.
        what: String,
        /// What the first one has.
        mine: String,
        /// What the other one has.
        theirs: String,
    },
    /// Nothing is in the file.
    #[error("the file is empty")]
    Empty,
    /// There are columns, but nothing below them.
    #[error("there are columns, but no rows")]
    NoRows,
    /// There are rows, but every one is left out.
    #[error("no row is left: {rows} were left out, the first at {first} ({reason})")]
    NoRowsLeft {
        /// How many there are.
        rows: u64,
        /// The first of them.
        first: String,
        /// Why it was left out.
        reason: String,
    },
    /// The compressed bytes end early or do not add up.
    #[error("the gzip data is damaged: {0}")]
    Gzip(io::Error),
    /// The Parquet or Arrow file ends early, is damaged, or uses what this build does not read.
    #[error("the {format} file cannot be read: {reason}")]
    Columnar {
        /// Parquet or Arrow.
        format: &'static str,
        /// What its reader says.
        reason: String,
    },
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
    /// A column of categories is asked for in two ways.
    #[error("column `{name}` can be either one-hot or hashed, not both")]
    TwoEncodings {
        /// The column.
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
    /// A reward that cannot be.
    #[error("the reward is {value}, outside of the range from {low} to {high}")]
    OutOfRange {
        /// The reward.
        value: f64,
        /// The smallest that is allowed.
        low: f64,
        /// The largest that is allowed.
        high: f64,
    },
    /// More levels of categories, or names of features, than a summary can hold.
    #[error(
        "there are more than {limit} features by name; hash them (`--hash COLUMN`, or no `--keep-names`)"
    )]
    TooManyFeatures {
        /// How many there may be.
        limit: usize,
    },
    /// NaN, an infinity, or a number whose square could overflow.
    #[error("column `{column}` holds {value}, but numbers must be finite and at most 1e50 in size")]
    NotFinite {
        /// The column.
        column: String,
        /// The value as it is written, shortened if it is long.
        value: String,
    },
    /// A part of an event that is not what it should be.
    #[error("{what} is {value:?}, but must be {expected}")]
    Unusable {
        /// The part.
        what: String,
        /// What is written there, shortened if it is long.
        value: String,
        /// What could be written there.
        expected: String,
    },
    /// An event with several decisions.
    #[error("this is a multi-slot ({kind}) event: only events with one decision are read")]
    MultiSlot {
        /// What Vowpal Wabbit calls them.
        kind: &'static str,
    },
    /// A label, but no actions that it could be about.
    #[error("the event has a cost, but no list `_multi` of the actions")]
    NoActions,
    /// A line of Vowpal Wabbit without features.
    #[error("there is no `|`, behind which the features begin")]
    NoBar,
    /// What should be a label is a tag of Vowpal Wabbit.
    #[error("`{word}` touches the `|`, which makes it a tag: a space must stand between")]
    Tag {
        /// The word, shortened if it is long.
        word: String,
    },
    /// Two actions of an event have a cost.
    #[error("this is the second action of its event with a cost, but only one can have been taken")]
    TwoCosts,
    /// A `shared` line below other lines of the event.
    #[error("a `shared` line must be the first line of its event")]
    LateShared,
    /// The beginning of a Vowpal Wabbit file fits both ways of writing events.
    #[error("the first {lines} lines do not tell whether they are one event (cb_adf) or many (cb)")]
    Undecided {
        /// How many lines were looked at.
        lines: usize,
    },
    /// An event with very many features, or very long names of them.
    #[error("the event's features take more than {} MB", limit / 1_000_000)]
    LongEvent {
        /// How many bytes they may take.
        limit: u64,
    },
    /// Items of the Open Bandit Dataset where its log should be.
    #[error(
        "this is a table of items, without a column `click`: give it with `--items`, beside the log it belongs to"
    )]
    ItemTable,
}

impl Problem {
    pub(crate) fn unusable(what: &str, value: &str, expected: impl Into<String>) -> Self {
        Self::Unusable { what: what.to_owned(), value: shortened(value), expected: expected.into() }
    }

    pub(crate) fn tag(word: &str) -> Self {
        Self::Tag { word: shortened(word) }
    }

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

    /// Whether the rest of the file can be read without the row.
    pub(crate) fn is_about_a_row(&self) -> bool {
        !matches!(
            self,
            Self::Unreadable(_) | Self::Gzip(_) | Self::TooLong { .. } | Self::TooManyFeatures { .. }
        )
    }

    /// Whether it is that a value is absent, however that is written.
    pub(crate) fn is_missing(&self) -> bool {
        const WORDS: [&str; 8] = ["", "na", "n/a", "nan", "null", "none", "nil", "-"];
        match self {
            Self::NoValue { .. } => true,
            Self::NotANumber { value, .. } | Self::NotFinite { value, .. } => {
                WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
            }
            _ => false,
        }
    }

    /// The problem without the value, so that many rows can be counted under it.
    pub(crate) fn reason(&self) -> String {
        match self {
            problem if problem.is_missing() => match problem {
                Self::NoValue { column }
                | Self::NotANumber { column, .. }
                | Self::NotFinite { column, .. } => {
                    format!("column `{column}` has no value")
                }
                problem => problem.to_string(),
            },
            Self::NotANumber { column, .. } => format!("column `{column}` holds text, not a number"),
            Self::NotFinite { column, .. } => format!("column `{column}` holds a number that is too large"),
            Self::OutOfRange { low, high, .. } => {
                format!("the reward is outside of the range from {low} to {high}")
            }
            Self::Json { .. } => "not a JSON object".to_owned(),
            Self::Ragged { expected, .. } => format!("the row has not the {expected} fields of the header"),
            Self::NotText { .. } => "not UTF-8 text".to_owned(),
            Self::Unusable { what, expected, .. } => format!("{what} is not {expected}"),
            problem => problem.to_string(),
        }
    }

    pub(crate) fn at(self, place: Place) -> Fault {
        Fault { place, problem: self }
    }
}

/// A problem whose file is known to the caller.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) problem: Problem,
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
pub(crate) fn shortened(value: &str) -> String {
    cut(value, 40)
}

/// A text; of one with more characters than this, the beginning.
pub(crate) fn cut(value: &str, most: usize) -> String {
    match value.char_indices().nth(most) {
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
