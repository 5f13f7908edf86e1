//! What the messages of an Arrow file claim, checked before anyone believes it.
//!
//! The library takes lengths at their word: a damaged one of a few bytes makes it ask for more memory than there
//! is, which ends the process. So all of them are compared with the file first; only headers are read for that.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use arrow_ipc::{RecordBatch, root_as_message};

use super::columnar::unreadable;
use crate::error::Problem;

/// What a file begins with, padded by zeros; the rest of it is a stream, and a footer that is not needed.
const MAGIC: [u8; 8] = *b"ARROW1\0\0";

/// Writers pad to 8 or 64 bytes.
const PADDED: u64 = 64;

/// How large a compressed buffer may become.
const LARGEST: i64 = 1 << 30;

/// Where the stream begins; fails if one of its messages cannot be.
pub(super) fn stream_start(file: &mut File) -> Result<u64, Problem> {
    let length = file.metadata().map_err(Problem::Unreadable)?.len();
    let mut start = 0;
    if read_at(file, 0) == Some(MAGIC) {
        start = 8;
        while start < PADDED && read_at(file, start) == Some([0; 8]) {
            start += 8;
        }
    }
    let mut place = start;
    while let Some(next) = check_message(file, place, length)? {
        place = next;
    }
    Ok(start)
}

/// Checks the message at a place and tells where the next one is; none at the end.
fn check_message(file: &mut File, place: u64, length: u64) -> Result<Option<u64>, Problem> {
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
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(header)).map_err(Problem::Unreadable)?;
    file.by_ref().take(body - header).read_to_end(&mut bytes).map_err(Problem::Unreadable)?;
    let message = root_as_message(&bytes).map_err(|_| damaged())?;
    let end = inside(body, message.bodyLength()).ok_or_else(damaged)?;
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    for batch in message.header_as_record_batch().into_iter().chain(dictionary) {
        check_buffers(file, &batch, body, end).ok_or_else(damaged)?;
    }
    Ok(Some(end))
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

fn read_at<const N: usize>(file: &mut File, place: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.seek(SeekFrom::Start(place)).and_then(|_| file.read_exact(&mut bytes)).ok()?;
    Some(bytes)
}
