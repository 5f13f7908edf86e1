//! What holds columns: Apache Parquet, Arrow IPC, and Arrow batches in memory.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufReader, Seek as _, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray as _;
use arrow_array::types::Float64Type;
use arrow_array::{Array, Float64Array, RecordBatch, RecordBatchReader};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, DataType, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use super::{Source, arrow};
use crate::batch::{Collector, is_usable};
use crate::error::{Fault, Place, Problem};
use crate::selection::{Columns, Selection};

/// Rows in memory, as other programs hand them over.
pub(crate) type Memory = Box<dyn RecordBatchReader + Send>;

/// Batches of columns from a file, or from memory.
pub(crate) struct Columnar {
    reader: Reader,
    format: &'static str,
    /// Positions in the file of the columns that are read, increasing.
    read: Vec<usize>,
    /// Rows so far.
    rows: u64,
}

enum Reader {
    Parquet(ParquetRecordBatchReader),
    Arrow(StreamReader<BufReader<File>>),
    Memory(Slices),
}

/// The wanted columns of batches of any size, in slices of as many rows as a file's batches have.
struct Slices {
    batches: Memory,
    rest: Option<RecordBatch>,
    rows: usize,
    read: Vec<usize>,
}

impl Slices {
    fn next(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        let batch = match self.rest.take() {
            Some(batch) => batch,
            None => match self.batches.next()?.and_then(|batch| batch.project(&self.read)) {
                Ok(batch) => batch,
                Err(error) => return Some(Err(error)),
            },
        };
        let rows = self.rows.min(batch.num_rows());
        if rows < batch.num_rows() {
            self.rest = Some(batch.slice(rows, batch.num_rows() - rows));
        }
        Some(Ok(batch.slice(0, rows)))
    }
}

/// What a Parquet file holds, and where.
pub(crate) struct Groups {
    metadata: ArrowReaderMetadata,
}

impl Groups {
    pub(crate) fn of(file: &File) -> Result<Self, Problem> {
        // The types that Parquet knows are enough; a writer's own, such as dictionaries, only complicate them.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let groups = Self { metadata: caught("Parquet", || ArrowReaderMetadata::load(file, options))? };
        // Rows are counted over all groups, and the numbers of a damaged file may be anything.
        match groups.rows().into_iter().try_fold(0_i64, i64::checked_add_unsigned) {
            Some(_) => Ok(groups),
            None => Err(contradiction("Parquet")),
        }
    }

    /// Rows of each row group.
    pub(crate) fn rows(&self) -> Vec<u64> {
        let groups = self.metadata.metadata().row_groups().iter();
        groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(0)).collect()
    }

    /// Opens some of the row groups, all unless told.
    pub(crate) fn open(
        &self,
        file: File,
        group: Option<usize>,
        selection: &Selection,
    ) -> Result<(Columns, Columnar), Fault> {
        let columns = selection.resolve(names(self.metadata.schema()))?;
        let read = columns.read();
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone());
        let mask = ProjectionMask::roots(builder.parquet_schema(), read.iter().copied());
        let mut builder = builder.with_projection(mask).with_batch_size(columns.batch_rows());
        let mut before = 0;
        if let Some(group) = group {
            before = self.rows()[..group].iter().sum();
            builder = builder.with_row_groups(vec![group]);
        }
        let reader = Reader::Parquet(caught("Parquet", || builder.build())?);
        Ok((columns, Columnar { reader, format: "Parquet", read, rows: before }))
    }
}

/// Opens an Arrow file, of either of its two kinds: a file is a stream with a frame around it.
pub(crate) fn open_arrow(mut file: File, selection: &Selection) -> Result<(Columns, Columnar), Fault> {
    let start = arrow::stream_start(&mut file)?;
    let mut open = |projection: Option<Vec<usize>>| -> Result<StreamReader<BufReader<File>>, Problem> {
        file.seek(SeekFrom::Start(start)).map_err(Problem::Unreadable)?;
        let file = BufReader::new(file.try_clone().map_err(Problem::Unreadable)?);
        caught("Arrow", || StreamReader::try_new(file, projection))
    };
    // Which columns are wanted has to be said before their names are known.
    let columns = selection.resolve(names(&open(None)?.schema()))?;
    let read = columns.read();
    let reader = Reader::Arrow(open(Some(read.clone()))?);
    Ok((columns, Columnar { reader, format: "Arrow", read, rows: 0 }))
}

/// Finds the columns of batches in memory.
pub(crate) fn open_memory(batches: Memory, selection: &Selection) -> Result<(Columns, Columnar), Fault> {
    let columns = selection.resolve(names(&batches.schema()))?;
    let read = columns.read();
    let reader =
        Reader::Memory(Slices { batches, rest: None, rows: columns.batch_rows(), read: read.clone() });
    Ok((columns, Columnar { reader, format: "Arrow", read, rows: 0 }))
}

fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

impl Columnar {
    /// The next rows; none at the end of the file.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, Fault> {
        let next = caught(self.format, || match &mut self.reader {
            Reader::Parquet(reader) => reader.next().transpose(),
            Reader::Arrow(reader) => reader.next().transpose(),
            Reader::Memory(slices) => slices.next().transpose(),
        });
        next.map_err(|problem| problem.at(Place::Row(self.rows + 1)))
    }

    /// The numbers of the features, then of the reward, if every value is there.
    pub(crate) fn dense(&self, batch: &RecordBatch, columns: &Columns) -> Option<Vec<Float64Array>> {
        let column = |column: &usize| {
            let array = batch.column(self.read.binary_search(column).ok()?);
            let numbers = caught(self.format, || numbers(array)).ok()??;
            (numbers.null_count() == 0).then_some(numbers)
        };
        columns.features.iter().chain([&columns.reward]).map(column).collect()
    }

    /// Counts rows that were taken as they are.
    pub(crate) fn skip(&mut self, rows: usize) {
        self.rows += rows as u64;
    }

    /// Gives rows to the collector, one by one.
    pub(crate) fn push_rows(&mut self, batch: &RecordBatch, collector: &mut Collector) -> Result<(), Fault> {
        let mut cells = Vec::new();
        cells.resize_with(collector.columns.names.len(), || None);
        for (&column, array) in self.read.iter().zip(batch.columns()) {
            cells[column] = Some(caught(self.format, || Cells::new(array))?);
        }
        for row in 0..batch.num_rows() {
            self.rows += 1;
            let number = |name: &str, column: usize| match &cells[column] {
                Some(cells) => cells.number(name, row),
                None => Err(Problem::no_value(name)),
            };
            let text =
                |column: usize| cells[column].as_ref().map(|cells| cells.text(row)).unwrap_or_default();
            collector.push(Place::Row(self.rows), number, text)?;
        }
        Ok(())
    }
}

impl Source for Columnar {
    fn fill(&mut self, collector: &mut Collector) -> Result<(), Fault> {
        // Rows that are left out may leave a batch empty, which would be the end of the file.
        while collector.is_empty() {
            match self.next_batch()? {
                Some(batch) => self.push_rows(&batch, collector)?,
                None => break,
            }
        }
        Ok(())
    }
}

/// A column as numbers, if it holds numbers.
fn numbers(array: &dyn Array) -> Result<Option<Float64Array>, ArrowError> {
    let kind = array.data_type();
    Ok(if kind.is_numeric() || matches!(kind, DataType::Boolean | DataType::Null) {
        Some(cast(array, &DataType::Float64)?.as_primitive::<Float64Type>().clone())
    } else {
        None
    })
}

/// A column of a batch.
struct Cells<'a> {
    /// Its numbers, unless it holds something else.
    numbers: Option<Float64Array>,
    texts: ArrayFormatter<'a>,
}

impl<'a> Cells<'a> {
    fn new(array: &'a dyn Array) -> Result<Self, ArrowError> {
        Ok(Self { numbers: numbers(array)?, texts: ArrayFormatter::try_new(array, &OPTIONS)? })
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

/// The answer of a library, which panics at some bytes that contradict each other.
pub(super) fn caught<T, E: Display>(
    format: &'static str,
    call: impl FnOnce() -> Result<T, E>,
) -> Result<T, Problem> {
    // Whatever the call left half done is not used again: reading ends with the first problem.
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(Problem::Columnar { format, reason: error.to_string() }),
        Err(_) => Err(contradiction(format)),
    }
}

fn contradiction(format: &'static str) -> Problem {
    Problem::Columnar { format, reason: "its bytes contradict each other".to_owned() }
}
