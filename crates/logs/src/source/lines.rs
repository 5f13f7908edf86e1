//! Lines of a text file, compressed or not, counted as an editor counts them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read as _};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use crate::error::{Place, Problem, Result};

/// How many bytes a record may have: what bounds the memory when a line or a quote never ends.
pub(crate) const LONGEST: u64 = 64_000_000;

const BUFFER: usize = 1 << 16;
/// What compressed data begins with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

pub(crate) struct Lines {
    reader: Box<dyn BufRead + Send>,
    /// The line that was read last, without its end.
    pub(crate) line: Vec<u8>,
    /// Its number, from 1.
    number: u64,
    /// Whether it was too long and is yet to be skipped.
    cut: bool,
}

impl Lines {
    /// Lines of a file, which is compressed if its name or its first bytes say so.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut file = BufReader::with_capacity(BUFFER, File::open(path).map_err(Problem::Unreadable)?);
        let is_zipped = file.fill_buf().map_err(Problem::Unreadable)?.starts_with(&GZIP);
        Ok(if is_zipped || path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz")) {
            Self::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(file)))
        } else {
            Self::new(file)
        })
    }

    pub(crate) fn new(reader: impl BufRead + Send + 'static) -> Self {
        Self { reader: Box::new(reader), line: Vec::new(), number: 0, cut: false }
    }

    /// Where the line is that was read last.
    pub(crate) fn place(&self) -> Place {
        Place::Line(self.number)
    }

    /// Goes to the next line; false at the end of the file.
    pub(crate) fn next(&mut self) -> Result<bool> {
        self.number += 1;
        self.line.clear();
        let skipped = if std::mem::take(&mut self.cut) { self.reader.skip_until(b'\n') } else { Ok(0) };
        let line = &mut self.line;
        match skipped.and_then(|_| self.reader.by_ref().take(LONGEST).read_until(b'\n', line)) {
            Ok(0) => return Ok(false),
            Ok(_) => {}
            Err(error) => {
                // Whoever reads on comes to an end, instead of the same error again and again.
                self.reader = Box::new(io::empty());
                // What the operating system says is about the file, the rest about the compressed bytes.
                let problem = match error.raw_os_error() {
                    Some(_) => Problem::Unreadable(error),
                    None => Problem::Damaged(format!("the gzip data is damaged: {error}")),
                };
                return Err(problem.at(self.place()));
            }
        }
        if self.line.pop_if(|byte| *byte == b'\n').is_some() {
            self.line.pop_if(|byte| *byte == b'\r');
        } else if self.line.len() as u64 == LONGEST {
            self.cut = true;
            return Err(too_long().at(self.place()));
        }
        if self.number == 1 && self.line.starts_with(b"\xEF\xBB\xBF") {
            self.line.drain(..3);
        }
        Ok(true)
    }

    /// Goes to the next line that is not blank; false at the end of the file.
    pub(crate) fn next_filled(&mut self) -> Result<bool> {
        while self.next()? {
            if !self.is_blank() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes back to the beginning of the file, whose lines up to here are given.
    pub(crate) fn rewind(&mut self, head: Vec<u8>) {
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(head).chain(rest));
        self.number = 0;
    }

    /// Whether nothing is in the line that was read last.
    pub(crate) fn is_blank(&self) -> bool {
        self.line.trim_ascii().is_empty()
    }
}

/// The text of a line or record.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|error| {
        let sentence = format!("byte 0x{:02X} is not UTF-8 text", bytes[error.valid_up_to()]);
        Problem::malformed(sentence, "not UTF-8 text")
    })
}

/// A line or a quoted field that does not end.
pub(super) fn too_long() -> Problem {
    Problem::Damaged(format!("the record is longer than {} MB", LONGEST / 1_000_000))
}
