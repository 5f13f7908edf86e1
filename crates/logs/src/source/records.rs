//! Records of comma-separated values below a header.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use super::lines::{LONGEST, Lines, text};
use crate::error::{Fault, Place, Problem};

pub(crate) struct Records {
    lines: Lines,
    parser: Reader,
    /// The fields of a record, one behind the other without commas and quotes.
    fields: Vec<u8>,
    /// Where each of them ends; only the first `count` belong to the record.
    ends: Vec<usize>,
    count: usize,
    /// Fields of the header.
    expected: usize,
}

impl Records {
    /// Reads the header: the names of the columns.
    pub(crate) fn open(lines: Lines) -> Result<(Vec<String>, Self), Fault> {
        let parser = ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build();
        let mut records = Self { lines, parser, fields: Vec::new(), ends: Vec::new(), count: 0, expected: 0 };
        let Some(place) = records.read()? else {
            return Err(Problem::Empty.into());
        };
        records.expected = records.count;
        let names = {
            let cell = records.cells().map_err(|problem| problem.at(place))?;
            (0..records.count).map(|column| cell(column).trim().to_owned()).collect()
        };
        Ok((names, records))
    }

    /// Goes to the next record, which has as many fields as the header, and tells where it starts.
    pub(crate) fn next(&mut self) -> Result<Option<Place>, Fault> {
        match self.read()? {
            Some(place) if self.count != self.expected => {
                Err(Problem::Ragged { expected: self.expected, found: self.count }.at(place))
            }
            place => Ok(place),
        }
    }

    fn read(&mut self) -> Result<Option<Place>, Fault> {
        if !self.lines.next_filled()? {
            return Ok(None);
        }
        let place = self.lines.place();
        let mut written = 0;
        self.count = 0;
        loop {
            self.lines.line.push(b'\n');
            let mut input = &self.lines.line[..];
            if (written + input.len()) as u64 > LONGEST {
                // The next record does not start inside of quotes.
                self.parser.reset();
                return Err(Problem::TooLong { limit: LONGEST }.at(place));
            }
            self.fields.resize(written + input.len(), 0);
            while !input.is_empty() {
                let (result, read, bytes, fields) =
                    self.parser.read_record(input, &mut self.fields[written..], &mut self.ends[self.count..]);
                input = &input[read..];
                written += bytes;
                self.count += fields;
                match result {
                    ReadRecordResult::Record | ReadRecordResult::End => {
                        self.fields.truncate(written);
                        return Ok(Some(place));
                    }
                    ReadRecordResult::InputEmpty => {}
                    ReadRecordResult::OutputFull => self.fields.push(0),
                    ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len() + 16, 0),
                }
            }
            // The line ended inside of quotes.
            if !self.lines.next()? {
                return Err(Problem::OpenQuote.at(place));
            }
        }
    }

    /// The fields of the record that was read last, by their columns.
    pub(crate) fn cells<'a>(&'a self) -> Result<impl Fn(usize) -> &'a str, Problem> {
        let fields = text(&self.fields)?;
        Ok(move |column: usize| {
            let start = column.checked_sub(1).map_or(0, |before| self.ends[before]);
            fields.get(start..self.ends[column]).unwrap_or_default()
        })
    }
}
