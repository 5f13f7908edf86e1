//! Comma-separated values below a header.

use super::Source;
use super::lines::Lines;
use super::records::Records;
use crate::batch::{Collector, parse};
use crate::error::Fault;
use crate::selection::{Columns, Selection};

struct Csv(Records);

pub(super) fn open(lines: Lines, selection: &Selection) -> Result<(Columns, Box<dyn Source>), Fault> {
    let (names, records) = Records::open(lines)?;
    Ok((selection.resolve(names)?, Box::new(Csv(records))))
}

impl Source for Csv {
    fn fill(&mut self, collector: &mut Collector) -> Result<(), Fault> {
        while !collector.is_full() {
            let place = match self.0.next() {
                Ok(Some(place)) => place,
                Ok(None) => break,
                Err(fault) if fault.problem.is_about_a_row() => {
                    collector.reject(fault)?;
                    continue;
                }
                Err(fault) => return Err(fault),
            };
            match self.0.cells() {
                Ok(cell) => collector.push(place, |name, column| parse(name, cell(column)), &cell)?,
                Err(problem) => collector.reject(problem.at(place))?,
            }
        }
        Ok(())
    }
}
