//! Values below a header, with commas, semicolons or tabs between them.

use truenorth_features::Value;

use super::lines::Lines;
use super::records::Records;
use super::{Opened, Source, Take};
use crate::collector::Sink;
use crate::error::Result;

pub(super) fn open(lines: Lines) -> Result<Opened<'static>> {
    let records = Records::open(lines)?;
    Ok((records.names.clone(), Box::new(records)))
}

impl Source for Records {
    fn read(&mut self, sink: &mut dyn Sink, _: &mut Take<'_>) -> Result<bool> {
        let Some(place) = self.next()? else { return Ok(false) };
        let cell = self.cells().map_err(|problem| problem.at(place))?;
        sink.row(place, &|column| Value::Cell(cell(column)))?;
        Ok(true)
    }
}
