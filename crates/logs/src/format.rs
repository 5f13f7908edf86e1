//! Which format a file has, by its ending.

use std::path::Path;

/// How rows are written in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Comma-separated values below a header.
    Csv {
        /// Compressed by gzip.
        gzip: bool,
    },
    /// A JSON object in each line.
    JsonLines {
        /// Compressed by gzip.
        gzip: bool,
    },
    /// Apache Parquet.
    Parquet,
}

const ENDINGS: [(&str, Format); 7] = [
    (".csv", Format::Csv { gzip: false }),
    (".csv.gz", Format::Csv { gzip: true }),
    (".jsonl", Format::JsonLines { gzip: false }),
    (".jsonl.gz", Format::JsonLines { gzip: true }),
    (".ndjson", Format::JsonLines { gzip: false }),
    (".ndjson.gz", Format::JsonLines { gzip: true }),
    (".parquet", Format::Parquet),
];

impl Format {
    /// The format that the file's name ends in, in letters of either case.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)).map(|&(_, format)| format)
    }
}

/// All endings, in words.
pub(crate) fn endings() -> String {
    let [others @ .., last] = ENDINGS.map(|(ending, _)| ending);
    format!("{} or {last}", others.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_tells_the_format() {
        let format = |name: &str| Format::of(Path::new(name));
        assert_eq!(format("a/b.csv"), Some(Format::Csv { gzip: false }));
        assert_eq!(format("2024.01.CSV.GZ"), Some(Format::Csv { gzip: true }));
        assert_eq!(format("b.ndjson.gz"), Some(Format::JsonLines { gzip: true }));
        assert_eq!(format("b.parquet"), Some(Format::Parquet));
        for name in ["b.gz", "b", "csv", "b.csv.zip", "b.csv/", "..", ""] {
            assert_eq!(format(name).is_some(), name == "b.csv/", "{name}");
        }
    }
}
