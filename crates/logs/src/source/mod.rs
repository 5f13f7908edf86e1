//! Where rows of tables come from: one module for each format.

mod arrow;
pub(crate) mod columnar;
mod csv;
pub(crate) mod doubles;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod records;

use std::fs::File;
use std::path::Path;

use crate::batch::Collector;
use crate::error::{Fault, Problem};
use crate::format::{Format, is_gzip};
use crate::selection::{Columns, Selection};
use columnar::Columnar;
use lines::Lines;

/// A file that is read from its beginning to its end.
pub(crate) trait Source: Send {
    /// Adds rows until the batch is full; none at the end of the file.
    fn fill(&mut self, collector: &mut Collector) -> Result<(), Fault>;
}

/// A table that gives its rows one by one, or columns of many.
pub(crate) enum Opened {
    Rows(Box<dyn Source>),
    Columns(Box<Columnar>),
}

impl Opened {
    pub(crate) fn into_source(self) -> Box<dyn Source> {
        match self {
            Self::Rows(source) => source,
            Self::Columns(columnar) => columnar,
        }
    }
}

/// Opens a table, or one row group of a Parquet file, and finds its columns.
pub(crate) fn open(
    path: &Path,
    format: Format,
    group: Option<usize>,
    selection: &Selection,
) -> Result<(Columns, Opened), Fault> {
    let file = File::open(path).map_err(Problem::Unreadable)?;
    let about = file.metadata().map_err(Problem::Unreadable)?;
    if about.is_file() && about.len() == 0 {
        return Err(Problem::Empty.into());
    }
    let rows = |(columns, source)| (columns, Opened::Rows(source));
    let columnar = |(columns, columnar)| (columns, Opened::Columns(Box::new(columnar)));
    match format {
        Format::Csv => csv::open(Lines::new(file, is_gzip(path)), selection).map(rows),
        Format::JsonLines => json::open(Lines::new(file, is_gzip(path)), selection).map(rows),
        Format::Parquet => columnar::Groups::of(&file)?.open(file, group, selection).map(columnar),
        Format::Arrow => columnar::open_arrow(file, selection).map(columnar),
        Format::VowpalWabbit | Format::Dsjson | Format::OpenBandit => {
            Err(Problem::NotATable { format }.into())
        }
    }
}
