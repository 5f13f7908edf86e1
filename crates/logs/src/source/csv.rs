//! Comma-separated values below a header.

use super::lines::Lines;
use super::records::Records;
use super::{Opened, Source, Take};
use crate::collector::{Collector, parse};
use crate::error::Result;
use crate::selection::Selection;

pub(super) fn open(lines: Lines, selection: &Selection) -> Result<Opened<'static>> {
    let records = Records::open(lines)?;
    Ok((selection.resolve(records.names.clone())?, Box::new(records)))
}

impl Source for Records {
    fn read(&mut self, collector: &mut Collector, _: &mut Take<'_>) -> Result<bool> {
        let Some(place) = self.next()? else { return Ok(false) };
        let cell = self.cells().map_err(|problem| problem.at(place))?;
        collector.push(place, |name, column| parse(name, cell(column)), &cell)?;
        Ok(true)
    }
}
