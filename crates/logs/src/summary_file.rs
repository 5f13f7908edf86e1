//! A summary as bytes, versioned and checksummed ([`truenorth::frame`]), and files that are whole or not there.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use truenorth::frame::{Magic, Unframed, framed, unframed};

use crate::error::{Problem, Result};
use crate::summary::Summary;

/// Summaries of 0.1.0: products of columns without their fourth powers.
mod version_1 {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use truenorth::CrossProducts;

    use crate::recipe::Recipe;
    use crate::summary::{Summary, SummaryFeature};
    use crate::tally::ONE;
    use crate::tolerance::Rejected;

    pub(super) const VERSION: u32 = 1;

    #[derive(Deserialize)]
    struct Version1 {
        recipe: Recipe,
        features: Vec<SummaryFeature>,
        imputed: Vec<usize>,
        /// Width, and the lower triangle row by row.
        products: (usize, Vec<f64>),
        rows: u64,
        weight_squares: f64,
        largest: f64,
        files: BTreeMap<String, u64>,
        rejected: Vec<Rejected>,
    }

    pub(super) fn read(payload: &[u8]) -> postcard::Result<(Summary, &[u8])> {
        let (old, rest) = postcard::take_from_bytes::<Version1>(payload)?;
        let Version1 { recipe, features, imputed, products: (width, entries), .. } = old;
        if width > entries.len() || width * (width + 1) / 2 != entries.len() {
            return Err(postcard::Error::SerdeDeCustom);
        }
        let sum = |i: usize, j: usize| entries[i * (i + 1) / 2 + j];
        // Zeros and ones have the fourth powers that they have; others are taken for Gaussian.
        let fourth = |i: usize| match (sum(i, i), sum(i, ONE)) {
            (square, total) if (square - total).abs() <= 1e-12 * square => square,
            (square, _) => 3.0 * square * square / sum(ONE, ONE).max(f64::MIN_POSITIVE),
        };
        let products = CrossProducts::from_fn(width, sum, fourth);
        let Version1 { rows, weight_squares, largest, files, rejected, .. } = old;
        let summary =
            Summary { recipe, features, imputed, products, rows, weight_squares, largest, files, rejected };
        Ok((summary, rest))
    }
}

const MAGIC: Magic = *b"tnsummary";
const VERSION: u32 = 2;

impl Summary {
    /// The summary as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        framed(MAGIC, VERSION, self)
    }

    /// A summary from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Problem> {
        let damaged = |reason: &str| Problem::Other(format!("the summary is damaged: {reason}"));
        let whole = |version| unframed(MAGIC, version, bytes);
        let payload = match whole(VERSION) {
            Err(Unframed::OtherVersion(version_1::VERSION)) => whole(version_1::VERSION).map(version_1::read),
            payload => payload.map(postcard::take_from_bytes),
        };
        let read = payload.map_err(|wrong| match wrong {
            Unframed::TooShort if !bytes.is_empty() => damaged("it is too short"),
            Unframed::TooShort | Unframed::OtherMagic => {
                Problem::other("this is no summary; `truenorth summarize` makes one from logs")
            }
            Unframed::OtherVersion(found) => Problem::Other(format!(
                "the summary has version {found}, but this build reads version {VERSION}"
            )),
            Unframed::WrongChecksum => damaged("its checksum does not match its content"),
        })?;
        match read {
            Ok((summary, [])) if Self::is_consistent(&summary) => Ok(summary),
            // What a type says about its own numbers is custom.
            Ok(_) | Err(postcard::Error::SerdeDeCustom) => Err(damaged("its parts contradict each other")),
            Err(error) => Err(damaged(&error.to_string())),
        }
    }

    /// Reads a summary.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(Problem::Unreadable);
        bytes.and_then(|bytes| Self::from_bytes(&bytes)).map_err(|problem| problem.in_file(path))
    }

    /// Whether a file starts as summaries do.
    pub fn is_summary(path: impl AsRef<Path>) -> bool {
        let mut start = [0; MAGIC.len()];
        File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
    }

    /// Writes a summary, whole or not at all.
    pub fn write(&self, path: impl AsRef<Path>) -> std::io::Result<()> {
        write_whole(path.as_ref(), &self.to_bytes())
    }
}

/// What a file is called until it is whole.
pub fn part(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// Writes a file under another name and renames it when it is whole, so that nothing half-written is ever left
/// under the final name.
pub fn write_whole(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let part = part(path);
    let written = File::create(&part)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&part, path));
    written.inspect_err(|_| drop(fs::remove_file(&part)))
}
