//! Where rows of tables come from: one module for each format.

#[cfg(feature = "columnar")]
pub(crate) mod array;
#[cfg(feature = "columnar")]
mod arrow;
#[cfg_attr(not(feature = "columnar"), path = "left_out.rs")]
pub(crate) mod columnar;
mod csv;
#[cfg(feature = "columnar")]
mod doubles;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod records;

use std::fs::File;
use std::path::Path;

use truenorth_features::Kind;

use crate::collector::Sink;
use crate::error::{Problem, Result};
use crate::format::Format;
use crate::selection::Selection;
pub use columnar::Memory;
use lines::Lines;

/// What takes features and rewards, column by column, or refuses them.
pub(crate) type Take<'a> = dyn FnMut(&[&[f64]], &[f64]) -> bool + 'a;

/// Rows that are read from their beginning to their end.
pub(crate) trait Source: Send {
    /// Gives a row to the sink, or as many as come at once; false where the batch ends, which is empty at the end of all.
    /// Rows that are columns of nothing but numbers are offered to `take` first. After an error about a row the next
    /// call goes on behind it.
    fn read(&mut self, sink: &mut dyn Sink, take: &mut Take<'_>) -> Result<bool>;

    /// What the types of the columns say that these hold, where columns have types.
    fn kinds(&self) -> &[Option<Kind>] {
        &[]
    }
}

/// Names of the columns that rows have, and where the rows come from.
pub(crate) type Opened<'a> = (Vec<String>, Box<dyn Source + 'a>);

/// Which columns are read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// Their names, of which some may not be there; all columns, if nobody has said.
    #[cfg_attr(not(feature = "columnar"), expect(dead_code, reason = "text is read whole"))]
    pub(crate) columns: Option<Vec<String>>,
    /// By whose globs they were found, so that a late one is noticed.
    pub(crate) late: Option<Selection>,
}

/// Opens a table, or one row group of a Parquet file, and tells its columns.
pub(crate) fn open(
    path: &Path,
    format: Format,
    group: Option<usize>,
    wanted: &Wanted,
) -> Result<Opened<'static>> {
    let file = File::open(path).map_err(Problem::Unreadable)?;
    let about = file.metadata().map_err(Problem::Unreadable)?;
    if about.is_file() && about.len() == 0 {
        return Err(Problem::Empty.into());
    }
    match format {
        Format::Csv => csv::open(Lines::open(path)?),
        Format::JsonLines => json::open(Lines::open(path)?, wanted),
        Format::Parquet => columnar::open_parquet(file, group, wanted),
        Format::Arrow => columnar::open_arrow(file, wanted),
        Format::VowpalWabbit | Format::Dsjson | Format::OpenBandit | Format::Events => Err(Problem::Other(
            format!("this holds events ({format}), but rows with columns are needed here"),
        )
        .into()),
    }
}
