//! Bytes that say what they are and whether they are whole: the frame of snapshots and summaries.
//!
//! ```text
//! magic         9 bytes
//! version       u32, little endian
//! checksum      u32, CRC-32 of the payload
//! payload       the value in postcard's encoding (floats as their eight bytes)
//! ```

use serde::Serialize;

/// What bytes of a kind begin with.
pub type Magic = [u8; 9];

const VERSION: usize = size_of::<Magic>();
const CHECKSUM: usize = VERSION + 4;
const PAYLOAD: usize = CHECKSUM + 4;

/// What is wrong with a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unframed {
    /// The bytes are something else.
    OtherMagic,
    /// The bytes end inside of the frame.
    TooShort,
    /// They were written by another version, which is this one.
    OtherVersion(u32),
    /// They have changed since.
    WrongChecksum,
}

/// Puts a value into its frame.
///
/// # Panics
///
/// Never: the encoding of plain data into memory has no way to fail.
pub fn framed(magic: Magic, version: u32, value: &impl Serialize) -> Vec<u8> {
    let mut bytes = magic.to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend([0; 4]);
    let mut bytes = postcard::to_extend(value, bytes).expect("plain data has an encoding");
    let checksum = crc32fast::hash(&bytes[PAYLOAD..]);
    bytes[CHECKSUM..PAYLOAD].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The payload of a frame that is whole.
pub fn unframed(magic: Magic, version: u32, bytes: &[u8]) -> Result<&[u8], Unframed> {
    let (start, _) = bytes.split_at(bytes.len().min(magic.len()));
    if !magic.starts_with(start) {
        return Err(Unframed::OtherMagic);
    }
    let (header, payload) = bytes.split_at_checked(PAYLOAD).ok_or(Unframed::TooShort)?;
    let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    match number(VERSION) {
        found if found != version => Err(Unframed::OtherVersion(found)),
        _ if crc32fast::hash(payload) != number(CHECKSUM) => Err(Unframed::WrongChecksum),
        _ => Ok(payload),
    }
}
