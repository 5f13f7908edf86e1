//! Records of values below a header, with commas, semicolons or tabs between them.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use super::lines::{LONGEST, Lines, text, too_long};
use crate::error::{Place, Problem, Result};

pub(crate) struct Records {
    /// The header: the names of the columns.
    pub(crate) names: Vec<String>,
    lines: Lines,
    parser: Reader,
    /// The fields of a record, one behind the other without commas and quotes.
    fields: Vec<u8>,
    /// Where each of them ends; only the first `count` belong to the record.
    ends: Vec<usize>,
    count: usize,
}

impl Records {
    /// Reads the header, which also tells what stands between fields.
    pub(crate) fn open(mut lines: Lines) -> Result<Self> {
        if !lines.next_filled()? {
            return Err(Problem::Empty.into());
        }
        let separator = separator(&lines.line);
        let parser = ReaderBuilder::new().delimiter(separator).terminator(Terminator::Any(b'\n')).build();
        let (names, fields, ends) = (Vec::new(), Vec::new(), Vec::new());
        let mut records = Self { names, lines, parser, fields, ends, count: 0 };
        let place = records.parse()?;
        let cells = (0..records.count).map(records.cells().map_err(|problem| problem.at(place))?);
        let names = cells.map(|name| name.trim().to_owned()).collect();
        Ok(Self { names, ..records })
    }

    /// Goes to the next record, which has as many fields as the header, and tells where it starts.
    pub(crate) fn next(&mut self) -> Result<Option<Place>> {
        if !self.lines.next_filled()? {
            return Ok(None);
        }
        let place = self.parse()?;
        let (found, expected) = (self.count, self.names.len());
        if found != expected {
            let sentence = format!("there are {found} fields, but the header has {expected}");
            let reason = format!("the row has not the {expected} fields of the header");
            return Err(Problem::malformed(sentence, reason).at(place));
        }
        Ok(Some(place))
    }

    /// Parses the record that begins in the line that was read last, and tells where that is.
    fn parse(&mut self) -> Result<Place> {
        let place = self.lines.place();
        let mut written = 0;
        self.count = 0;
        loop {
            self.lines.line.push(b'\n');
            let mut input = &self.lines.line[..];
            if (written + input.len()) as u64 > LONGEST {
                // The next record does not start inside of quotes.
                self.parser.reset();
                return Err(too_long().at(place));
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
                        return Ok(place);
                    }
                    ReadRecordResult::InputEmpty => {}
                    ReadRecordResult::OutputFull => self.fields.push(0),
                    ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len() + 16, 0),
                }
            }
            // The line ended inside of quotes.
            if !self.lines.next()? {
                return Err(Problem::other("a quote opens here and is never closed").at(place));
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

/// What stands between the fields of a header: a comma, unless there are more semicolons or tabs outside of quotes.
fn separator(header: &[u8]) -> u8 {
    let [commas, others @ ..] = [b',', b';', b'\t'].map(|separator| {
        let mut quoted = false;
        let outside = |byte: &&u8| {
            quoted ^= **byte == b'"';
            !quoted && **byte == separator
        };
        (header.iter().filter(outside).count(), separator)
    });
    others.into_iter().fold(commas, |most, other| if other.0 > most.0 { other } else { most }).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_tells_what_stands_between_fields() {
        let found = |header: &str| char::from(separator(header.as_bytes()));
        for header in ["reward", "", "a,b", "a;b,c", "\"x;y;z\",b", "a\tb,c,d"] {
            assert_eq!(found(header), ',', "{header:?}");
        }
        assert_eq!((found("a;b"), found("price, net;a;b"), found("\"a,b,c\";d")), (';', ';', ';'));
        assert_eq!((found("a\tb"), found("a\tb;c\td")), ('\t', '\t'));
    }
}
