//! What holds columns: Apache Parquet, Arrow IPC, and Arrow batches in memory.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufReader, Seek as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray as _;
use arrow_array::types::Float64Type;
use arrow_array::{
    Array, BooleanArray, Float64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
};
use arrow_cast::cast;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use truenorth_features::{Kind, Value};

pub(crate) use super::doubles::for_each_batch;
use super::{Opened, Source, Take, Wanted, arrow};
use crate::collector::Sink;
use crate::error::{Place, Problem, Result};
use crate::selection::batch_rows;

/// Rows in memory, as other programs hand them over.
pub type Memory<'a> = Box<dyn RecordBatchReader + Send + 'a>;

/// Batches of columns from a file, or from memory.
struct Columnar<'a> {
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'a>,
    format: &'static str,
    /// What the columns hold, by their types.
    kinds: Vec<Option<Kind>>,
    /// Rows so far.
    rows: u64,
}

/// What a Parquet file holds, and the rows of each of its row groups.
fn parquet_groups(file: &File) -> Result<(ArrowReaderMetadata, Vec<u64>), Problem> {
    // The types that Parquet knows are enough; a writer's own, such as dictionaries, only complicate them.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = caught("Parquet", || ArrowReaderMetadata::load(file, options))?;
    let groups = metadata.metadata().row_groups().iter();
    let rows: Vec<u64> = groups.map(|group| u64::try_from(group.num_rows()).unwrap_or(0)).collect();
    // Rows are counted over all groups, and the numbers of a damaged file may be anything.
    match rows.iter().copied().try_fold(0_i64, i64::checked_add_unsigned) {
        Some(_) => Ok((metadata, rows)),
        None => Err(unreadable("Parquet", CONTRADICTION)),
    }
}

/// How many row groups a Parquet file has.
pub(crate) fn groups(file: &File) -> Result<usize, Problem> {
    Ok(parquet_groups(file)?.1.len())
}

/// Opens one row group of a Parquet file, or all of them.
pub(crate) fn open_parquet(file: File, group: Option<usize>, selected: &Wanted) -> Result<Opened<'static>> {
    let (metadata, groups) = parquet_groups(&file)?;
    let Picked { names, roots, leaves, kinds } = Picked::of(selected, metadata.schema());
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
    let mask = ProjectionMask::roots(builder.parquet_schema(), roots);
    let mut builder = builder.with_projection(mask).with_batch_size(batch_rows(names.len()));
    if let Some(group) = group {
        builder = builder.with_row_groups(vec![group]);
    }
    let rows = groups[..group.unwrap_or(0)].iter().sum();
    let batches = leaves.taken_from(caught("Parquet", || builder.build())?);
    Ok((names, Box::new(Columnar { batches, format: "Parquet", kinds, rows })))
}

/// Opens Arrow: a file, whose footer says where the batches are, or a stream.
pub(crate) fn open_arrow(mut file: File, selected: &Wanted) -> Result<Opened<'static>> {
    let has_footer = arrow::has_footer(&mut file)?;
    let mut open = |projection: Option<Vec<usize>>| -> Result<Memory<'static>, Problem> {
        file.rewind().map_err(Problem::Unreadable)?;
        let file = BufReader::new(file.try_clone().map_err(Problem::Unreadable)?);
        caught("Arrow", || -> Result<Memory<'static>, ArrowError> {
            Ok(if has_footer {
                Box::new(FileReader::try_new(file, projection)?)
            } else {
                Box::new(StreamReader::try_new(file, projection)?)
            })
        })
    };
    // Which columns are wanted has to be said before their names are known.
    let Picked { names, roots, leaves, kinds } = Picked::of(selected, &open(None)?.schema());
    let batches = leaves.taken_from(open(Some(roots))?);
    Ok((names, Box::new(Columnar { batches, format: "Arrow", kinds, rows: 0 })))
}

/// The columns of batches in memory.
pub fn names(batches: &Memory<'_>) -> Vec<String> {
    batches.schema().fields().iter().flat_map(|field| parts(field)).map(|(name, _)| name).collect()
}

/// No rows, with the columns of these batches.
pub(crate) fn no_rows(batches: &Memory<'_>) -> Memory<'static> {
    Box::new(RecordBatchIterator::new([], batches.schema()))
}

/// All rows, twice: batches come once only, so those that are looked at are kept.
pub(crate) fn twice(batches: &mut Memory<'_>) -> Result<[Memory<'static>; 2], Problem> {
    let schema = batches.schema();
    let all = batches.collect::<Result<Vec<RecordBatch>, _>>();
    let all = all.map_err(|error| unreadable("Arrow", error))?;
    Ok([all.clone(), all].map(|all| -> Memory<'static> {
        Box::new(RecordBatchIterator::new(all.into_iter().map(Ok), schema.clone()))
    }))
}

/// Finds the columns of batches in memory, which are cut into as many rows as a file's batches have.
pub(crate) fn open_memory<'a>(batches: Memory<'a>, selected: &Wanted) -> Opened<'a> {
    let Picked { names, roots, leaves, kinds } = Picked::of(selected, &batches.schema());
    let rows = batch_rows(names.len());
    let batches = leaves.taken_from(batches.map(move |batch| batch?.project(&roots)));
    let slices = batches.flat_map(move |batch| match batch {
        Ok(batch) => {
            let starts = (0..batch.num_rows()).step_by(rows);
            starts.map(|start| Ok(batch.slice(start, rows.min(batch.num_rows() - start)))).collect()
        }
        Err(error) => vec![Err(error)],
    });
    (names, Box::new(Columnar { batches: Box::new(slices), format: "Arrow", kinds, rows: 0 }))
}

/// The wanted columns.
struct Picked {
    names: Vec<String>,
    /// The columns of the file that they are in.
    roots: Vec<usize>,
    leaves: Leaves,
    /// What they hold.
    kinds: Vec<Option<Kind>>,
}

/// Where the wanted columns are among those of `roots`, if some of these are structures.
struct Leaves(Option<Vec<usize>>);

impl Picked {
    fn of(selected: &Wanted, schema: &Schema) -> Self {
        let is_wanted =
            |name: &String| selected.columns.as_ref().is_none_or(|columns| columns.contains(name));
        let mut picked =
            Self { names: Vec::new(), roots: Vec::new(), leaves: Leaves(None), kinds: Vec::new() };
        let (mut places, mut count, mut is_nested) = (Vec::new(), 0, false);
        for (root, field) in schema.fields().iter().enumerate() {
            let parts = parts(field);
            if !parts.iter().any(|(name, _)| is_wanted(name)) {
                continue;
            }
            picked.roots.push(root);
            is_nested |= matches!(field.data_type(), DataType::Struct(_));
            for (name, data) in parts {
                if is_wanted(&name) {
                    picked.names.push(name);
                    picked.kinds.push(kind(data));
                    places.push(count);
                }
                count += 1;
            }
        }
        picked.leaves = Leaves(is_nested.then_some(places));
        picked
    }
}

impl Leaves {
    /// Batches of the wanted columns alone.
    fn taken_from<'a>(
        self,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'a,
    ) -> Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'a> {
        match self.0 {
            None => Box::new(batches),
            Some(leaves) => Box::new(batches.map(move |batch| batch?.normalize(DOT, None)?.project(&leaves))),
        }
    }
}

/// What stands between the names of a structure and of its field, as between the keys of nested JSON.
const DOT: &str = ".";

/// A column, or those that a structure is made of, in the order in which Arrow takes it apart.
fn parts(field: &Field) -> Vec<(String, &DataType)> {
    let DataType::Struct(inner) = field.data_type() else {
        return vec![(field.name().clone(), field.data_type())];
    };
    let inner = inner.iter().flat_map(|inner| parts(inner));
    inner.map(|(name, data)| (format!("{}{DOT}{name}", field.name()), data)).collect()
}

/// What a column of this type holds; none where nothing is in it. It is what [`Cells`] makes of it.
fn kind(data: &DataType) -> Option<Kind> {
    match data {
        DataType::Null => None,
        data if data.is_numeric() => Some(Kind::Number),
        _ => Some(Kind::Category),
    }
}

impl Columnar<'_> {
    /// Offers a batch to `take`, if every value of its columns is there and a number.
    fn is_taken(
        &self,
        batch: &RecordBatch,
        (features, reward): (&[usize], usize),
        take: &mut Take<'_>,
    ) -> bool {
        let column = |&column: &usize| {
            let numbers = caught(self.format, || numbers(batch.column(column))).ok()??;
            (numbers.null_count() == 0).then_some(numbers)
        };
        let wanted = features.iter().chain([&reward]);
        let Some(dense) = wanted.map(column).collect::<Option<Vec<Float64Array>>>() else { return false };
        let slices: Vec<&[f64]> = dense.iter().map(|column| &column.values()[..]).collect();
        slices.split_last().is_some_and(|(rewards, features)| take(features, rewards))
    }

    /// Gives rows to the sink, one by one.
    fn push_rows(&mut self, batch: &RecordBatch, sink: &mut dyn Sink) -> Result<()> {
        let cells = batch.columns().iter().map(|array| caught(self.format, || Cells::new(array)));
        let cells: Vec<Cells> = cells.collect::<Result<_, _>>()?;
        for row in 0..batch.num_rows() {
            self.rows += 1;
            sink.row(Place::Row(self.rows), &|column| cells[column].value(row))?;
        }
        Ok(())
    }
}

impl Source for Columnar<'_> {
    fn read(&mut self, sink: &mut dyn Sink, take: &mut Take<'_>) -> Result<bool> {
        let next = caught(self.format, || self.batches.next().transpose());
        let Some(batch) = next.map_err(|problem| problem.at(Place::Row(self.rows + 1)))? else {
            return Ok(false);
        };
        if sink.numbers().is_some_and(|numbers| self.is_taken(&batch, numbers, take)) {
            self.rows += batch.num_rows() as u64;
        } else {
            // Row by row, to find what is wrong and where.
            self.push_rows(&batch, sink)?;
        }
        // Rows that are left out may leave a batch empty, which would be the end of the file.
        Ok(!sink.has_rows())
    }

    fn kinds(&self) -> &[Option<Kind>] {
        &self.kinds
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

/// A column of a batch, as values.
enum Cells {
    Numbers(Float64Array),
    Truths(BooleanArray),
    Texts(StringArray),
    /// Integers that a double cannot hold, as they are written: where they are levels, no digit is lost.
    Digits(StringArray),
}

impl Cells {
    fn new(array: &dyn Array) -> Result<Self, ArrowError> {
        if let DataType::Boolean = array.data_type() {
            return Ok(Self::Truths(array.as_boolean().clone()));
        }
        if let Some(numbers) = numbers(array)? {
            if exact(array.data_type(), &numbers) {
                return Ok(Self::Numbers(numbers));
            }
            return Ok(Self::Digits(cast(array, &DataType::Utf8)?.as_string::<i32>().clone()));
        }
        match array.data_type() {
            // The instant is in UTC, whatever zone it is shown in, and names of zones are not known here.
            DataType::Timestamp(unit, Some(_)) => {
                return Ok(Self::Texts(moments(&cast(array, &DataType::Timestamp(*unit, None))?, "Z")?));
            }
            DataType::Timestamp(..) | DataType::Date64 | DataType::Time32(_) | DataType::Time64(_) => {
                return Ok(Self::Texts(moments(array, "")?));
            }
            _ => {}
        }
        if let Ok(texts) = cast(array, &DataType::Utf8) {
            return Ok(Self::Texts(texts.as_string::<i32>().clone()));
        }
        let shown = ArrayFormatter::try_new(array, &OPTIONS)?;
        let texts = (0..array.len()).map(|row| array.is_valid(row).then(|| shown.value(row).to_string()));
        Ok(Self::Texts(texts.collect()))
    }

    fn value(&self, row: usize) -> Value<'_> {
        match self {
            Self::Numbers(numbers) if numbers.is_valid(row) => Value::Number(numbers.value(row)),
            Self::Truths(truths) if truths.is_valid(row) => Value::Truth(truths.value(row)),
            Self::Texts(texts) if texts.is_valid(row) => Value::Text(texts.value(row)),
            Self::Digits(texts) if texts.is_valid(row) => Value::Cell(texts.value(row)),
            _ => Value::Missing,
        }
    }
}

/// Dates, times and moments as texts, one for each whatever unit they are counted in: without zeros at the end of a fraction,
/// and at midnight the date alone. `truenorth._frames` writes live ones in the same way.
fn moments(array: &dyn Array, zone: &str) -> Result<StringArray, ArrowError> {
    let texts = cast(array, &DataType::Utf8)?;
    let moment = |text: &str| {
        let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
        match short.strip_suffix("T00:00:00") {
            Some(date) => date.to_owned(),
            None if short.contains('T') => format!("{short}{zone}"),
            None => short.to_owned(),
        }
    };
    Ok(texts.as_string::<i32>().iter().map(|text| text.map(moment)).collect())
}

/// Whether doubles hold what the column holds, to the last digit.
fn exact(kind: &DataType, numbers: &Float64Array) -> bool {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    let wide = matches!(kind, DataType::Int64 | DataType::UInt64);
    !wide || numbers.iter().flatten().all(|number| number.abs() <= LARGEST)
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
        Ok(Err(error)) => Err(unreadable(format, error)),
        Err(_) => Err(unreadable(format, CONTRADICTION)),
    }
}

const CONTRADICTION: &str = "its bytes contradict each other";

/// A file that ends early, is damaged, or uses what this build does not read.
pub(super) fn unreadable(format: &str, reason: impl Display) -> Problem {
    Problem::Damaged(format!("the {format} file cannot be read: {reason}"))
}
