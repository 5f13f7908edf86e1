use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression as Codec;
use parquet::file::properties::WriterProperties;
use tempfile::TempDir;
use truenorth_logs::{Error, Plan, Selection, Summary, Table};

/// A folder that goes away with the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, compressed if its name ends in `.gz`.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        let content = content.as_ref();
        let gzip = path.extension().is_some_and(|ending| ending == "gz");
        std::fs::write(&path, if gzip { gzipped(content) } else { content.to_vec() }).unwrap();
        path
    }

    /// Writes a Parquet file with row groups of three rows.
    pub(crate) fn write_parquet(&self, name: &str, codec: Codec, columns: Vec<(&str, ArrayRef)>) -> PathBuf {
        let batch = batch(columns);
        let path = self.path(name);
        let properties =
            WriterProperties::builder().set_compression(codec).set_max_row_group_row_count(Some(3)).build();
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        path
    }

    /// The sentence about a file, without the folder.
    pub(crate) fn says(&self, error: &Error) -> String {
        error.to_string().replace(&format!("{}/", self.0.path().display()), "")
    }

    /// What is said about a file with this content.
    pub(crate) fn refusal(&self, name: &str, content: impl AsRef<[u8]>, selection: &Selection) -> String {
        self.refused(&self.write(name, content), selection)
    }

    pub(crate) fn refused(&self, path: &Path, selection: &Selection) -> String {
        match Table::read(path, selection) {
            Ok(table) => panic!("{} was read: {table:?}", path.display()),
            Err(error) => self.says(&error),
        }
    }
}

/// A folder of data that is beside the repository, where it is at hand.
pub(crate) fn shared_data(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name);
    if !folder.exists() {
        println!("skipped: {} is not there", folder.display());
    }
    folder.exists().then_some(folder)
}

pub(crate) fn gzipped(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn array<A: arrow_array::Array + 'static>(array: A) -> ArrayRef {
    Arc::new(array)
}

/// Random numbers that are the same in every run (xorshift).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from((self.next() >> 32) % end.max(1) as u64).unwrap()
    }

    /// Between -1 and 1.
    pub(crate) fn number(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// A plan for a table, and nothing else.
pub(crate) fn plan(selection: Selection) -> Plan {
    Plan { selection: Some(selection), ..Plan::default() }
}

/// The summary of these files.
pub(crate) fn summary(plan: &Plan, paths: &[PathBuf]) -> Summary {
    plan.summarize(paths, &|_| {}).unwrap()
}

impl Folder {
    /// Why there is no summary of these files.
    pub(crate) fn no_summary(&self, plan: &Plan, paths: &[PathBuf]) -> String {
        self.says(&plan.summarize(paths, &|_| {}).unwrap_err())
    }

    /// What was left out: reason, rows, first place.
    pub(crate) fn rejected(&self, summary: &Summary) -> Vec<(String, u64, String)> {
        let folder = format!("{}/", self.0.path().display());
        let told = summary.rejected().iter();
        told.map(|it| (it.reason.clone(), it.rows, it.first.replace(&folder, ""))).collect()
    }

    /// Writes Arrow: the file format, or the stream if its name ends in `.arrows`.
    pub(crate) fn write_arrow(
        &self,
        name: &str,
        codec: Option<CompressionType>,
        columns: Vec<(&str, ArrayRef)>,
    ) -> PathBuf {
        let batch = batch(columns);
        let path = self.path(name);
        let mut file = std::fs::File::create(&path).unwrap();
        let options = IpcWriteOptions::default().try_with_compression(codec).unwrap();
        let half = batch.num_rows() / 2;
        let parts = [batch.slice(0, half), batch.slice(half, batch.num_rows() - half)];
        if name.ends_with(".arrows") {
            let mut writer = StreamWriter::try_new_with_options(&mut file, &batch.schema(), options).unwrap();
            for part in &parts {
                writer.write(part).unwrap();
            }
            writer.finish().unwrap();
        } else {
            let mut writer = FileWriter::try_new_with_options(&mut file, &batch.schema(), options).unwrap();
            for part in &parts {
                writer.write(part).unwrap();
            }
            writer.finish().unwrap();
        }
        path
    }
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}
