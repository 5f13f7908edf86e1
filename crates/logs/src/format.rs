//! Which format a file has.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Problem, Result};
use crate::events;
use crate::source::lines::Lines;
use crate::summary::Summary;

/// How rows are written in a file. Text may be compressed by gzip, whatever the file is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Format {
    /// Values below a header, with commas, semicolons or tabs between them.
    Csv,
    /// A JSON object in each line.
    JsonLines,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, file or stream.
    Arrow,
    /// Vowpal Wabbit's text, `cb` or `cb_adf`.
    VowpalWabbit,
    /// Vowpal Wabbit's JSON, as decision services log it.
    Dsjson,
    /// The CSV files of the Open Bandit Dataset.
    OpenBandit,
    /// Events as JSON lines: context, actions, what came of the one that was taken.
    Events,
}

/// Every format: what it is called where it is asked for, and in a sentence; the endings of its files.
const FORMATS: [(Format, &str, &str, &[&str]); 8] = [
    (Format::Csv, "csv", "CSV", &[".csv", ".tsv"]),
    (Format::Parquet, "parquet", "Parquet", &[".parquet"]),
    (Format::JsonLines, "jsonl", "JSON Lines", &[".jsonl", ".ndjson"]),
    (Format::Arrow, "arrow", "Arrow", &[".arrow", ".arrows", ".feather", ".ipc"]),
    (Format::VowpalWabbit, "vw", "Vowpal Wabbit text", &[".vw"]),
    (Format::Dsjson, "dsjson", "dsjson", &[".dsjson", ".json"]),
    (Format::OpenBandit, "obd", "Open Bandit CSV", &[]),
    (Format::Events, "events", "events", &[]),
];

impl Format {
    /// All formats.
    pub const ALL: [Self; 8] = {
        let [a, b, c, d, e, f, g, h] = FORMATS;
        [a.0, b.0, c.0, d.0, e.0, f.0, g.0, h.0]
    };

    /// The format that the file's name ends in, in letters of either case.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let whole = name.strip_suffix(".gz").unwrap_or(&name);
        let fits = |endings: &[&str]| endings.iter().any(|ending| whole.ends_with(ending));
        let &(format, ..) = FORMATS.iter().find(|(.., endings)| fits(endings))?;
        // What is compressed inside has no use for a second compression.
        (whole == name || !format.is_binary()).then_some(format)
    }

    /// What it is called where it is asked for.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// What it is called where it is asked for, and in a sentence.
    fn words(self) -> (&'static str, &'static str) {
        FORMATS
            .iter()
            .find(|(format, ..)| *format == self)
            .map_or(("", ""), |&(_, name, words, _)| (name, words))
    }

    fn is_binary(self) -> bool {
        matches!(self, Self::Parquet | Self::Arrow)
    }

    /// Whether rows are told by columns, not by events that name their features.
    pub fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::JsonLines | Self::Parquet | Self::Arrow)
    }

    /// The format by the file's ending and, where that leaves it open, by its first line. Where columns are
    /// asked for, a table is meant, unless a line is an event with its actions.
    pub(crate) fn detect(path: &Path, table: bool) -> Result<Self> {
        let ending = Self::of(path);
        match ending {
            Some(format @ (Self::Parquet | Self::Arrow | Self::VowpalWabbit)) => return Ok(format),
            Some(Self::Csv) if table => return Ok(Self::Csv),
            _ => {}
        }
        let mut lines = Lines::open(path)?;
        if !lines.next_filled()? {
            return Err(Problem::Empty.into());
        }
        match (ending, events::sniffed(&lines.line)) {
            (Some(Self::Csv), Some(Self::OpenBandit)) => Ok(Self::OpenBandit),
            (Some(Self::JsonLines | Self::Dsjson), Some(Self::Events)) => Ok(Self::Events),
            (Some(Self::JsonLines), Some(Self::Dsjson)) if !table => Ok(Self::Dsjson),
            (Some(Self::Dsjson), _) if table => Ok(Self::JsonLines),
            (None, None) if Summary::is_summary(path) => {
                Err(Problem::other("this is a summary, but the rows of logs are needed here").into())
            }
            (ending, sniffed) => ending.or(sniffed).ok_or_else(|| unclear().into()),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().1)
    }
}

/// The file's name tells no format.
pub(crate) fn unclear() -> Problem {
    let endings = |binary: bool| {
        let formats = FORMATS.iter().filter(|(format, ..)| format.is_binary() == binary);
        formats.flat_map(|(.., endings)| *endings).copied().collect::<Vec<_>>().join(", ")
    };
    let (text, binary) = (endings(false), endings(true));
    Problem::Other(format!("the format is not clear; known endings are {text} (or these with .gz), {binary}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_tells_the_format() {
        let format = |name: &str| Format::of(Path::new(name));
        assert_eq!(format("a/b.csv"), Some(Format::Csv));
        assert_eq!(format("2024.01.CSV.GZ"), Some(Format::Csv));
        assert_eq!(format("b.tsv"), Some(Format::Csv));
        assert_eq!(format("b.ndjson.gz"), Some(Format::JsonLines));
        assert_eq!(format("b.parquet"), Some(Format::Parquet));
        assert_eq!(format("b.feather"), Some(Format::Arrow));
        for name in ["b.gz", "b", "csv", "b.csv.zip", "b.csv/", "..", "", "b.parquet.gz"] {
            assert_eq!(format(name).is_some(), name == "b.csv/", "{name}");
        }
    }
}
