//! A row group of Parquet whose wanted columns all hold doubles: decoded into the same few buffers again and
//! again, which stay in the cache. This is what large logs look like, and nearly all the time goes into it.

use std::fs::File;
use std::path::Path;

use parquet::basic::Type;
use parquet::column::reader::{ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::DoubleType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, RowGroupReader};
use parquet::file::serialized_reader::SerializedFileReader;

use super::Take;
use super::columnar::caught;
use crate::selection::batch_rows;

/// Gives all rows of some columns to `take`, a batch at a time: the features, and last the reward. False if the columns are something
/// else, if a value is missing, or if `take` does not like a batch: then nothing counts, and the rows have to be
/// read in another way, which also finds out what is wrong.
pub(crate) fn for_each_batch(path: &Path, group: usize, names: &[&str], take: &mut Take<'_>) -> bool {
    caught("Parquet", || each_batch(path, group, names, take)).unwrap_or(false)
}

fn each_batch(path: &Path, group: usize, names: &[&str], take: &mut Take<'_>) -> Result<bool, ParquetError> {
    let file = SerializedFileReader::new(File::open(path)?)?;
    let group = file.get_row_group(group)?;
    let readers = names.iter().map(|name| Doubles::open(&*group, name));
    let Some(mut readers) = readers.collect::<Option<Vec<_>>>() else { return Ok(false) };
    let mut left = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    while left > 0 {
        let rows = left.min(batch_rows(names.len() - 1));
        for reader in &mut readers {
            if !reader.read(rows)? {
                return Ok(false);
            }
        }
        let slices: Vec<&[f64]> = readers.iter().map(|reader| &reader.values[..]).collect();
        match slices.split_last() {
            Some((rewards, features)) if take(features, rewards) => left -= rows,
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// A column of doubles.
struct Doubles {
    reader: ColumnReaderImpl<DoubleType>,
    values: Vec<f64>,
    levels: Vec<i16>,
}

impl Doubles {
    /// The column of this name, if it is not nested in another and holds doubles.
    fn open(group: &dyn RowGroupReader, name: &str) -> Option<Self> {
        let leaves = group.metadata().columns();
        let leaf = leaves.iter().position(|leaf| leaf.column_path().parts() == [name])?;
        let descriptor = leaves[leaf].column_descr();
        let flat = descriptor.max_rep_level() == 0 && descriptor.max_def_level() <= 1;
        if !flat || leaves[leaf].column_type() != Type::DOUBLE {
            return None;
        }
        let reader = get_typed_column_reader(group.get_column_reader(leaf).ok()?);
        Some(Self { reader, values: Vec::new(), levels: Vec::new() })
    }

    /// Reads exactly this many values; false if one is missing.
    fn read(&mut self, rows: usize) -> Result<bool, ParquetError> {
        self.values.clear();
        self.levels.clear();
        while self.values.len() < rows {
            let left = rows - self.values.len();
            let (records, values, _) =
                self.reader.read_records(left, Some(&mut self.levels), None, &mut self.values)?;
            if values != records || records == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
