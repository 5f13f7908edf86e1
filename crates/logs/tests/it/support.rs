use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression as Codec;
use parquet::file::properties::WriterProperties;
use tempfile::TempDir;
use truenorth_logs::{Error, Selection, Table};

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
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, true)),
        )
        .unwrap();
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

pub(crate) fn gzipped(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn array<A: arrow_array::Array + 'static>(array: A) -> ArrayRef {
    Arc::new(array)
}
