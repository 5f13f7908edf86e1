//! A summary as bytes: versioned and checksummed.
//!
//! ```text
//! "tnsummary"   9 bytes
//! version       u32, little endian
//! checksum      u32, CRC-32 of the payload
//! payload       the summary in postcard's encoding (floats as their eight bytes)
//! ```

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;

use crate::error::{Fault, Problem, Result};
use crate::summary::Summary;

const MAGIC: &[u8; 9] = b"tnsummary";
const VERSION: u32 = 1;
const HEADER: usize = MAGIC.len() + 8;

impl Summary {
    /// The summary as bytes.
    ///
    /// # Panics
    ///
    /// Never: plain data in memory has an encoding.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 4]);
        let mut bytes = postcard::to_extend(self, bytes).expect("plain data has an encoding");
        let checksum = crc32fast::hash(&bytes[HEADER..]);
        bytes[HEADER - 4..HEADER].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// A summary from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Problem> {
        let damaged = |reason: &str| Problem::SummaryDamaged { reason: reason.to_owned() };
        let Some((header, payload)) =
            bytes.split_at_checked(HEADER).filter(|(header, _)| header.starts_with(MAGIC))
        else {
            return Err(if MAGIC.starts_with(&bytes[..bytes.len().min(MAGIC.len())]) && !bytes.is_empty() {
                damaged("it is too short")
            } else {
                Problem::NotASummary
            });
        };
        let number = |at: usize| {
            let bytes = [header[at], header[at + 1], header[at + 2], header[at + 3]];
            u32::from_le_bytes(bytes)
        };
        let (found, checksum) = (number(MAGIC.len()), number(MAGIC.len() + 4));
        if found != VERSION {
            return Err(Problem::SummaryVersion { found, supported: VERSION });
        }
        if crc32fast::hash(payload) != checksum {
            return Err(damaged("its checksum does not match its content"));
        }
        let (summary, rest): (Self, &[u8]) =
            postcard::take_from_bytes(payload).map_err(|error| damaged(&error.to_string()))?;
        if rest.is_empty() && summary.is_consistent() {
            Ok(summary)
        } else {
            Err(damaged("its parts contradict each other"))
        }
    }

    /// Reads a summary.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|error| Fault::from(Problem::Unreadable(error)).in_file(path))?;
        Self::from_bytes(&bytes).map_err(|problem| Fault::from(problem).in_file(path))
    }

    /// Whether a file starts as summaries do.
    pub fn is_summary(path: impl AsRef<Path>) -> bool {
        let mut start = [0; MAGIC.len()];
        File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *MAGIC
    }

    /// Writes a summary under another name, and renames it when it is whole.
    pub fn write(&self, path: impl AsRef<Path>) -> std::io::Result<()> {
        let path = path.as_ref();
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let part = path.with_file_name(name);
        let written = File::create(&part)
            .and_then(|mut file| file.write_all(&self.to_bytes()).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&part, path));
        written.inspect_err(|_| drop(fs::remove_file(&part)))
    }
}
