//! Lines of a text file, compressed or not, counted as an editor counts them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};

use flate2::bufread::MultiGzDecoder;

use crate::error::{Fault, Place, Problem};

/// How many bytes a record may have: what bounds the memory when a line or a quote never ends.
pub(super) const LONGEST: u64 = 64_000_000;

const BUFFER: usize = 1 << 16;

pub(super) struct Lines {
    reader: Box<dyn BufRead + Send>,
    gzip: bool,
    /// The line that was read last, without its end.
    pub(super) line: Vec<u8>,
    /// Its number, from 1.
    number: u64,
}

impl Lines {
    pub(super) fn new(file: File, gzip: bool) -> Self {
        let file = BufReader::with_capacity(BUFFER, file);
        let reader: Box<dyn BufRead + Send> = if gzip {
            Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(file)))
        } else {
            Box::new(file)
        };
        Self { reader, gzip, line: Vec::new(), number: 0 }
    }

    /// Where the line is that was read last.
    pub(super) fn place(&self) -> Place {
        Place::Line(self.number)
    }

    /// Goes to the next line; false at the end of the file.
    pub(super) fn next(&mut self) -> Result<bool, Fault> {
        self.number += 1;
        self.line.clear();
        let read = self.reader.by_ref().take(LONGEST).read_until(b'\n', &mut self.line);
        if read.map_err(|error| self.unreadable(error).at(self.place()))? == 0 {
            return Ok(false);
        }
        if self.line.pop_if(|byte| *byte == b'\n').is_some() {
            self.line.pop_if(|byte| *byte == b'\r');
        } else if self.line.len() as u64 == LONGEST {
            return Err(Problem::TooLong { limit: LONGEST }.at(self.place()));
        }
        if self.number == 1 && self.line.starts_with(b"\xEF\xBB\xBF") {
            self.line.drain(..3);
        }
        Ok(true)
    }

    /// Goes to the next line that is not blank; false at the end of the file.
    pub(super) fn next_filled(&mut self) -> Result<bool, Fault> {
        while self.next()? {
            if !self.line.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn unreadable(&self, error: io::Error) -> Problem {
        // What the operating system says is about the file, the rest about the compressed bytes.
        if self.gzip && error.raw_os_error().is_none() {
            Problem::Gzip(error)
        } else {
            Problem::Unreadable(error)
        }
    }
}

/// The text of a line or record.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|error| Problem::NotText { byte: bytes[error.valid_up_to()] })
}
