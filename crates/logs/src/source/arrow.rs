//! What the messages of an Arrow file claim, checked before anyone believes it.
//!
//! The library takes lengths at their word: a damaged one of a few bytes makes it ask for more memory than there
//! is, which ends the process. So all of them are compared with the file first; only headers are read for that.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, RecordBatch, root_as_footer, root_as_message};

use super::columnar::unreadable;
use crate::error::Problem;

/// What a file begins with; a stream begins with its first message.
const MAGIC: [u8; 6] = *b"ARROW1";

/// How large a compressed buffer may become.
const LARGEST: i64 = 1 << 30;

/// Whether the messages are found by a footer, as in a file, or follow each other, as in a stream; fails if one of them cannot be.
pub(super) fn has_footer(file: &mut File) -> Result<bool, Problem> {
    let length = file.metadata().map_err(Problem::Unreadable)?.len();
    if read_at(file, 0) == Some(MAGIC) {
        // Between the magic and the first message there may be anything: polars leaves half of a message there.
        check_footer(file, length)?;
        return Ok(true);
    }
    let mut place = 0;
    while let Some((_, next)) = check_message(file, place, length)? {
        place = next;
    }
    Ok(false)
}

/// Checks the footer and the messages that it names.
fn check_footer(file: &mut File, length: u64) -> Result<(), Problem> {
    let damaged = || unreadable("Arrow", "its footer is damaged, or it was not written to its end");
    let end = length.checked_sub(10).ok_or_else(damaged)?;
    let size = read_at(file, end).and_then(|bytes| read_footer_length(bytes).ok()).ok_or_else(damaged)?;
    let start = end.checked_sub(size as u64).ok_or_else(damaged)?;
    let bytes = read(file, start, end)?;
    let footer = root_as_footer(&bytes).map_err(|_| damaged())?;
    let mut left = length;
    for block in footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten() {
        let (place, body, end) = ends(block).ok_or_else(damaged)?;
        if check_message(file, place, length)? != Some((body, end)) {
            return Err(damaged());
        }
        // A message that is named again and again would become many of them in memory.
        left = left.checked_sub(end - place).ok_or_else(damaged)?;
    }
    Ok(())
}

/// Where a message that a footer names begins, where its body does, and where it ends.
fn ends(block: &Block) -> Option<(u64, u64, u64)> {
    let place = u64::try_from(block.offset()).ok()?;
    let body = place.checked_add(u64::try_from(block.metaDataLength()).ok()?)?;
    Some((place, body, body.checked_add(u64::try_from(block.bodyLength()).ok()?)?))
}

/// Checks the message at a place and tells where its body begins and where the next one does; none at the end.
fn check_message(file: &mut File, place: u64, length: u64) -> Result<Option<(u64, u64)>, Problem> {
    let damaged = || unreadable("Arrow", format!("the message at byte {place} is damaged"));
    let inside =
        |place: u64, size: i64| place.checked_add_signed(size).filter(|&end| (place..=length).contains(&end));
    let Some(first) = read_at::<4>(file, place) else { return Ok(None) };
    // A mark before the length, which old files lack.
    let (header, size) = if first == [0xFF; 4] {
        let size = read_at::<4>(file, place + 4).ok_or_else(damaged)?;
        (place + 8, i32::from_le_bytes(size))
    } else {
        (place + 4, i32::from_le_bytes(first))
    };
    if size == 0 {
        return Ok(None);
    }
    let body = inside(header, i64::from(size)).ok_or_else(damaged)?;
    let bytes = read(file, header, body)?;
    let message = root_as_message(&bytes).map_err(|_| damaged())?;
    let end = inside(body, message.bodyLength()).ok_or_else(damaged)?;
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    for batch in message.header_as_record_batch().into_iter().chain(dictionary) {
        check_buffers(file, &batch, body, end).ok_or_else(damaged)?;
    }
    Ok(Some((body, end)))
}

/// Buffers lie inside of the body, and compressed ones say how large they become.
fn check_buffers(file: &mut File, batch: &RecordBatch<'_>, body: u64, end: u64) -> Option<()> {
    for buffer in batch.buffers().into_iter().flatten() {
        let start = body.checked_add(u64::try_from(buffer.offset()).ok()?)?;
        let size = u64::try_from(buffer.length()).ok()?;
        if start.checked_add(size)? > end {
            return None;
        }
        // -1 stands before a buffer that did not become smaller.
        if batch.compression().is_some() && size > 0 {
            let becomes = i64::from_le_bytes(read_at(file, start)?);
            if !(-1..=LARGEST).contains(&becomes) {
                return None;
            }
        }
    }
    Some(())
}

/// The bytes from a place to another.
fn read(file: &mut File, start: u64, end: u64) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start)).map_err(Problem::Unreadable)?;
    file.take(end - start).read_to_end(&mut bytes).map_err(Problem::Unreadable)?;
    Ok(bytes)
}

fn read_at<const N: usize>(file: &mut File, place: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.seek(SeekFrom::Start(place)).and_then(|_| file.read_exact(&mut bytes)).ok()?;
    Some(bytes)
}
