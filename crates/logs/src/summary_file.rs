//! A summary as bytes, versioned and checksummed ([`truenorth::frame`]), and files that are whole or not there.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use truenorth::frame::{Magic, Unframed, framed, unframed};

use crate::error::{Problem, Result};
use crate::summary::Summary;

const MAGIC: Magic = *b"tnsummary";
const VERSION: u32 = 1;

impl Summary {
    /// The summary as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        framed(MAGIC, VERSION, self)
    }

    /// A summary from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Problem> {
        let damaged = |reason: &str| Problem::Other(format!("the summary is damaged: {reason}"));
        let payload = unframed(MAGIC, VERSION, bytes).map_err(|wrong| match wrong {
            Unframed::TooShort if !bytes.is_empty() => damaged("it is too short"),
            Unframed::TooShort | Unframed::OtherMagic => {
                Problem::other("this is no summary; `truenorth summarize` makes one from logs")
            }
            Unframed::OtherVersion(found) => Problem::Other(format!(
                "the summary has version {found}, but this build reads version {VERSION}"
            )),
            Unframed::WrongChecksum => damaged("its checksum does not match its content"),
        })?;
        match postcard::take_from_bytes(payload) {
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
