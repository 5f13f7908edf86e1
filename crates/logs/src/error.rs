//! What is wrong with a file, and where: one sentence that names the file, the line and the value.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file that cannot be read as asked.
#[derive(Debug, thiserror::Error)]
#[error("{}{place}: {problem}", path.display())]
pub struct Error {
    /// The file; nothing until someone knows it.
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

/// What can be wrong with a file. What nobody has to tell apart is a sentence, made where it is found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be opened or read.
    #[error("{}", unreadable(.0))]
    Unreadable(io::Error),
    /// A table of this format, whose columns nobody has told.
    #[error("a {0} table needs the name of its reward")]
    NoSelection(crate::format::Format),
    /// A table that another policy is to be evaluated with, without the probabilities of its actions.
    #[error("this is a table: name its column of `probability`")]
    NoProbability,
    /// Nothing is in the file.
    #[error("the file is empty")]
    Empty,
    /// There are columns, but nothing below them.
    #[error("there are columns, but no rows")]
    NoRows,
    /// The list of features is empty.
    #[error("no features are asked for")]
    NoFeatures,
    /// A column that is asked for by name is absent.
    #[error("there is no column named `{name}`{}; the columns are {}", meant(name, columns), listed(columns))]
    NoColumn {
        /// The name.
        name: String,
        /// All columns of the file.
        columns: Vec<String>,
    },
    /// A column of this name is asked for and stands there twice.
    #[error("there are two columns named `{0}`")]
    TwoColumns(String),
    /// An empty field, a null, an absent key of a column.
    #[error("column `{0}` has no value")]
    NoValue(String),
    /// A value that is not a number.
    #[error("column `{column}` holds {value:?}, not a number{}", truenorth_features::comma_hint(value))]
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
    /// More levels of categories, or names of features, than this number, which a summary can hold.
    #[error("there are more than {0} features by name; hash them")]
    TooManyFeatures(usize),
    /// Items of the Open Bandit Dataset where its log should be.
    #[error("this is a table of items, without a column `click`: it goes beside the log it belongs to")]
    ItemTable,
    /// What should be a label is a tag of Vowpal Wabbit: the word, shortened if it is long.
    #[error("`{0}` touches the `|`, which makes it a tag: a space must stand between")]
    Tag(String),
    /// An event that does not count, though nothing is wrong with how it is written, and why.
    #[error("{0}")]
    Uncounted(&'static str),
    /// Something behind which nothing can be read: bytes that are damaged, or have no end.
    #[error("{0}")]
    Damaged(String),
    /// A row that is wrong in any other way.
    #[error("{sentence}")]
    Malformed {
        /// What is wrong.
        sentence: String,
        /// The same without the value, so that many rows can be counted under it.
        reason: String,
    },
    /// Whatever else is wrong.
    #[error("{0}")]
    Other(String),
}

impl From<truenorth_features::Error> for Problem {
    fn from(error: truenorth_features::Error) -> Self {
        use truenorth_features::Error;
        match error {
            Error::Missing(field) => Self::NoValue(field),
            Error::NotANumber { field, value } => Self::NotANumber { column: field, value },
            Error::NotFinite { field, value } => Self::NotFinite { column: field, value },
            Error::TooManyFeatures(most) => Self::TooManyFeatures(most),
            Error::Range { .. } => {
                let sentence = error.to_string();
                let reason = sentence.split(" is ").next().unwrap_or(&sentence).to_owned();
                Self::malformed(sentence, format!("{reason} is outside of its function"))
            }
            error => Self::Other(error.to_string()),
        }
    }
}

impl Problem {
    pub(crate) fn other(sentence: impl Into<String>) -> Self {
        Self::Other(sentence.into())
    }

    pub(crate) fn malformed(sentence: String, reason: impl Into<String>) -> Self {
        Self::Malformed { sentence, reason: reason.into() }
    }

    /// A part of an event that is not what it should be.
    pub(crate) fn unusable(what: &str, value: &str, expected: &str) -> Self {
        let sentence = format!("{what} is {:?}, but must be {expected}", shortened(value));
        Self::malformed(sentence, format!("{what} is not {expected}"))
    }

    pub(crate) fn no_value(column: &str) -> Self {
        Self::NoValue(column.to_owned())
    }

    /// The column whose value is absent, however that is written, if that is the problem.
    pub fn missing(&self) -> Option<&str> {
        match self {
            Self::NoValue(column) => Some(column),
            Self::NotANumber { column, value } | Self::NotFinite { column, value } => {
                truenorth_features::is_missing(value).then_some(column)
            }
            _ => None,
        }
    }

    /// The problem without the value, so that many rows can be counted under it.
    pub(crate) fn reason(&self) -> String {
        if let Some(column) = self.missing() {
            return Self::no_value(column).to_string();
        }
        match self {
            Self::NotANumber { column, .. } => format!("column `{column}` holds text, not a number"),
            Self::NotFinite { column, .. } => format!("column `{column}` holds a number that is too large"),
            Self::Malformed { reason, .. } => reason.clone(),
            problem => problem.to_string(),
        }
    }

    pub(crate) fn at(self, place: Place) -> Error {
        Error { path: PathBuf::new(), place, problem: self }
    }

    /// The problem of a file as a whole.
    pub(crate) fn in_file(self, path: &Path) -> Error {
        self.at(Place::File).in_file(path)
    }
}

impl Error {
    /// Names the file, unless it is another that is named already.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        if self.path.as_os_str().is_empty() { Self { path: path.to_owned(), ..self } } else { self }
    }
}

impl From<Problem> for Error {
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

fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::IsADirectory => "this is a folder, but a file is wanted".to_owned(),
        _ => error.to_string(),
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

/// The name that was probably meant, in a sentence; of names as short as `f_a`, any is near any other.
fn meant(name: &str, names: &[String]) -> String {
    const SHORT: usize = 3;
    let near = truenorth_features::nearest(name, names.iter().map(String::as_str));
    let near = near.filter(|_| name.chars().count() > SHORT);
    near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

/// Names in a sentence; of very many, the first.
pub(crate) fn listed(names: &[String]) -> String {
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
        assert_eq!(shortened(&"ü".repeat(1000)), format!("{}…", "ü".repeat(40)));
    }
}
