//! Where rows come from: one module for each format.

mod csv;
mod json;
mod lines;
mod parquet;

use std::fs::File;
use std::path::Path;

use crate::batch::Collector;
use crate::error::{Fault, Problem};
use crate::format::Format;
use crate::selection::{Columns, Selection};
use lines::Lines;

/// A file that is read from its beginning to its end.
pub(crate) trait Source: Send {
    /// Adds rows until the batch is full; none at the end of the file.
    fn fill(&mut self, collector: &mut Collector) -> Result<(), Fault>;
}

/// Opens a file in the format of its ending and finds its columns.
pub(crate) fn open(path: &Path, selection: &Selection) -> Result<(Columns, Box<dyn Source>), Fault> {
    let format = Format::of(path).ok_or(Problem::UnknownEnding)?;
    let file = File::open(path).map_err(Problem::Unreadable)?;
    let about = file.metadata().map_err(Problem::Unreadable)?;
    if about.is_file() && about.len() == 0 {
        return Err(Problem::Empty.into());
    }
    match format {
        Format::Csv { gzip } => csv::open(Lines::new(file, gzip), selection),
        Format::JsonLines { gzip } => json::open(Lines::new(file, gzip), selection),
        Format::Parquet => parquet::open(file, selection),
    }
}
