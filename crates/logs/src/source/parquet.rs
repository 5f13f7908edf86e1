//! Apache Parquet.

use std::fmt::Display;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray as _;
use arrow_array::types::Float64Type;
use arrow_array::{Array, Float64Array};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use super::Source;
use crate::batch::{Collector, is_usable};
use crate::error::{Fault, Place, Problem};
use crate::selection::{Columns, Selection};

struct Parquet {
    reader: ParquetRecordBatchReader,
    /// Positions in the file of the columns that are read, increasing.
    read: Vec<usize>,
    /// Rows so far.
    rows: u64,
}

pub(super) fn open(file: File, selection: &Selection) -> Result<(Columns, Box<dyn Source>), Fault> {
    // The types that Parquet knows are enough; a writer's own, such as dictionaries, only complicate them.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let builder = caught(|| ParquetRecordBatchReaderBuilder::try_new_with_options(file, options))?;
    let names = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
    let columns = selection.resolve(names)?;
    let mut read: Vec<usize> =
        columns.features.iter().copied().chain([columns.reward]).chain(columns.round).collect();
    read.sort_unstable();
    read.dedup();
    let mask = ProjectionMask::roots(builder.parquet_schema(), read.iter().copied());
    let builder = builder.with_projection(mask).with_batch_size(columns.batch_rows());
    let reader = caught(|| builder.build())?;
    Ok((columns, Box::new(Parquet { reader, read, rows: 0 })))
}

impl Source for Parquet {
    fn fill(&mut self, collector: &mut Collector) -> Result<(), Fault> {
        let next = caught(|| self.reader.next().transpose());
        let Some(batch) = next.map_err(|problem| problem.at(Place::Row(self.rows + 1)))? else {
            return Ok(());
        };
        let mut cells = Vec::new();
        cells.resize_with(collector.columns.names.len(), || None);
        for (&column, array) in self.read.iter().zip(batch.columns()) {
            cells[column] = Some(caught(|| Cells::new(array))?);
        }
        for row in 0..batch.num_rows() {
            self.rows += 1;
            let number = |name: &str, column: usize| match &cells[column] {
                Some(cells) => cells.number(name, row),
                None => Err(Problem::no_value(name)),
            };
            let text =
                |column: usize| cells[column].as_ref().map(|cells| cells.text(row)).unwrap_or_default();
            collector.push(number, text).map_err(|problem| problem.at(Place::Row(self.rows)))?;
        }
        Ok(())
    }
}

/// A column of a batch.
struct Cells<'a> {
    /// Its numbers, unless it holds something else.
    numbers: Option<Float64Array>,
    texts: ArrayFormatter<'a>,
}

impl<'a> Cells<'a> {
    fn new(array: &'a dyn Array) -> Result<Self, ArrowError> {
        let kind = array.data_type();
        let numbers = if kind.is_numeric() || matches!(kind, DataType::Boolean | DataType::Null) {
            Some(cast(array, &DataType::Float64)?.as_primitive::<Float64Type>().clone())
        } else {
            None
        };
        Ok(Self { numbers, texts: ArrayFormatter::try_new(array, &OPTIONS)? })
    }

    fn number(&self, name: &str, row: usize) -> Result<f64, Problem> {
        match &self.numbers {
            Some(numbers) if numbers.is_valid(row) => {
                let value = numbers.value(row);
                if is_usable(value) {
                    Ok(value)
                } else {
                    Err(Problem::not_finite(name, &format!("{value:?}")))
                }
            }
            // A null is shown as nothing.
            _ => match self.text(row) {
                text if text.is_empty() => Err(Problem::no_value(name)),
                text => Err(Problem::not_a_number(name, &text)),
            },
        }
    }

    fn text(&self, row: usize) -> String {
        self.texts.value(row).to_string()
    }
}

const OPTIONS: FormatOptions<'static> = FormatOptions::new();

/// The answer of the Parquet library, which panics at some bytes that contradict each other.
fn caught<T, E: Display>(call: impl FnOnce() -> Result<T, E>) -> Result<T, Problem> {
    // Whatever the call left half done is not used again: reading ends with the first problem.
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(Problem::Parquet(error.to_string())),
        Err(_) => Err(Problem::Parquet("its bytes contradict each other".to_owned())),
    }
}
