//! Comma-separated values below a header.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use super::Source;
use super::lines::{LONGEST, Lines, text};
use crate::batch::{Collector, parse};
use crate::error::{Fault, Place, Problem};
use crate::selection::{Columns, Selection};

struct Csv {
    lines: Lines,
    parser: Reader,
    /// The fields of a record, one behind the other without commas and quotes.
    fields: Vec<u8>,
    /// Where each of them ends; only the first `count` belong to the record.
    ends: Vec<usize>,
    count: usize,
}

pub(super) fn open(lines: Lines, selection: &Selection) -> Result<(Columns, Box<dyn Source>), Fault> {
    let parser = ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build();
    let mut csv = Csv { lines, parser, fields: Vec::new(), ends: Vec::new(), count: 0 };
    let Some(place) = csv.next_record()? else {
        return Err(Problem::Empty.into());
    };
    let names = {
        let cell = csv.record().map_err(|problem| problem.at(place))?;
        (0..csv.count).map(|column| cell(column).trim().to_owned()).collect()
    };
    Ok((selection.resolve(names)?, Box::new(csv)))
}

impl Csv {
    /// Goes to the next record and tells where it starts.
    fn next_record(&mut self) -> Result<Option<Place>, Fault> {
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
    fn record<'a>(&'a self) -> Result<impl Fn(usize) -> &'a str, Problem> {
        let fields = text(&self.fields)?;
        Ok(move |column: usize| {
            let start = column.checked_sub(1).map_or(0, |before| self.ends[before]);
            fields.get(start..self.ends[column]).unwrap_or_default()
        })
    }
}

impl Source for Csv {
    fn fill(&mut self, collector: &mut Collector) -> Result<(), Fault> {
        while !collector.is_full() {
            let Some(place) = self.next_record()? else {
                break;
            };
            let expected = collector.columns.names.len();
            if self.count != expected {
                return Err(Problem::Ragged { expected, found: self.count }.at(place));
            }
            let pushed = self
                .record()
                .and_then(|cell| collector.push(|name, column| parse(name, cell(column)), &cell));
            pushed.map_err(|problem| problem.at(place))?;
        }
        Ok(())
    }
}
