//! Which format a file has.

use std::fmt;
use std::fs::File;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Fault, Problem};
use crate::events;
use crate::source::lines::Lines;

/// How rows are written in a file. Text may be compressed by gzip, which the ending `.gz` tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Format {
    /// Comma-separated values below a header.
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
}

const ENDINGS: [(&str, Format); 11] = [
    (".csv", Format::Csv),
    (".jsonl", Format::JsonLines),
    (".ndjson", Format::JsonLines),
    (".parquet", Format::Parquet),
    (".arrow", Format::Arrow),
    (".arrows", Format::Arrow),
    (".feather", Format::Arrow),
    (".ipc", Format::Arrow),
    (".vw", Format::VowpalWabbit),
    (".dsjson", Format::Dsjson),
    (".json", Format::Dsjson),
];

impl Format {
    /// All formats.
    pub const ALL: [Self; 7] = [
        Self::Csv,
        Self::Parquet,
        Self::JsonLines,
        Self::Arrow,
        Self::VowpalWabbit,
        Self::Dsjson,
        Self::OpenBandit,
    ];

    /// The format that the file's name ends in, in letters of either case.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let whole = name.strip_suffix(".gz").unwrap_or(&name);
        let &(_, format) = ENDINGS.iter().find(|(ending, _)| whole.ends_with(ending))?;
        // What is compressed inside has no use for a second compression.
        (whole == name || !matches!(format, Self::Parquet | Self::Arrow)).then_some(format)
    }

    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::JsonLines => "jsonl",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::VowpalWabbit => "vw",
            Self::Dsjson => "dsjson",
            Self::OpenBandit => "obd",
        }
    }

    /// Whether rows are told by columns, not by events that name their features.
    pub fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::JsonLines | Self::Parquet | Self::Arrow)
    }

    /// The format by the file's ending and, where that leaves it open, by its first line. Where columns are
    /// asked for, a table is meant.
    pub(crate) fn detect(path: &Path, table: bool) -> Result<Self, Fault> {
        let ending = Self::of(path);
        if let Some(format @ (Self::Parquet | Self::Arrow | Self::VowpalWabbit)) = ending {
            return Ok(format);
        }
        if let (Some(Self::Csv | Self::JsonLines), true) = (ending, table) {
            return Ok(ending.unwrap_or(Self::Csv));
        }
        let mut lines = Lines::new(File::open(path).map_err(Problem::Unreadable)?, is_gzip(path));
        if !lines.next_filled()? {
            return Err(Problem::Empty.into());
        }
        let sniffed = match (ending, events::sniffed(&lines.line)) {
            (Some(Self::Csv), Some(Self::OpenBandit)) => Some(Self::OpenBandit),
            (Some(Self::Csv), _) => Some(Self::Csv),
            (Some(Self::JsonLines), Some(Self::Dsjson)) => Some(Self::Dsjson),
            (Some(Self::JsonLines), _) => Some(Self::JsonLines),
            (Some(Self::Dsjson), _) if table => Some(Self::JsonLines),
            (Some(Self::Dsjson), _) => Some(Self::Dsjson),
            (_, sniffed) => sniffed,
        };
        sniffed.ok_or_else(|| Problem::UnknownEnding.into())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Csv => "CSV",
            Self::JsonLines => "JSON Lines",
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow",
            Self::VowpalWabbit => "Vowpal Wabbit text",
            Self::Dsjson => "dsjson",
            Self::OpenBandit => "Open Bandit CSV",
        })
    }
}

/// Whether a file is compressed, by its name.
pub(crate) fn is_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"))
}

/// All endings, in words.
pub(crate) fn endings() -> String {
    let (binary, text): (Vec<_>, Vec<_>) =
        ENDINGS.iter().partition(|(_, format)| matches!(format, Format::Parquet | Format::Arrow));
    let list = |endings: Vec<&(&'static str, Format)>| {
        endings.iter().map(|(ending, _)| *ending).collect::<Vec<_>>().join(", ")
    };
    format!("{} (or these with .gz), {}", list(text), list(binary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_tells_the_format() {
        let format = |name: &str| Format::of(Path::new(name));
        assert_eq!(format("a/b.csv"), Some(Format::Csv));
        assert_eq!(format("2024.01.CSV.GZ"), Some(Format::Csv));
        assert_eq!(format("b.ndjson.gz"), Some(Format::JsonLines));
        assert_eq!(format("b.parquet"), Some(Format::Parquet));
        assert_eq!(format("b.feather"), Some(Format::Arrow));
        for name in ["b.gz", "b", "csv", "b.csv.zip", "b.csv/", "..", "", "b.parquet.gz"] {
            assert_eq!(format(name).is_some(), name == "b.csv/", "{name}");
        }
    }
}
