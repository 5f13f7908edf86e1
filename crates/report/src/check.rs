//! What every figure asks of its numbers.

use crate::Error;

/// Spans of larger numbers would overflow inside scales.
const LARGEST: f64 = 1e100;

/// A list of numbers with the names that an error needs.
#[derive(Clone, Copy)]
pub(crate) struct List<'a> {
    of: &'a str,
    field: &'static str,
    values: &'a [f64],
}

/// These numbers, if all of them are finite.
pub(crate) fn finite<'a>(of: &'a str, field: &'static str, values: &'a [f64]) -> Result<List<'a>, Error> {
    let list = List { of, field, values };
    list.all("finite and at most 1e100 in size", |_, value| value.abs() <= LARGEST)
}

/// As many of these numbers as there are others beside them, if all of them are finite.
pub(crate) fn beside<'a>(
    others: &[f64],
    of: &'a str,
    list: &'static str,
    values: &'a [f64],
) -> Result<List<'a>, Error> {
    match (others.len(), values.len()) {
        (expected, found) if expected != found => {
            Err(Error::Length { list, of: quoted(of), expected, found })
        }
        _ => finite(of, list, values),
    }
}

impl List<'_> {
    pub(crate) fn increasing(self) -> Result<Self, Error> {
        self.all("above the one before", |index, value| index == 0 || value > self.values[index - 1])
    }

    /// This list, if each number, told with its index, is in the range.
    pub(crate) fn all(self, range: &'static str, holds: impl Fn(usize, f64) -> bool) -> Result<Self, Error> {
        let Self { of, field: list, values } = self;
        match (0..values.len()).find(|&index| !holds(index, values[index])) {
            None => Ok(self),
            Some(index) => Err(Error::Range { list, of: quoted(of), index, range, value: values[index] }),
        }
    }
}

pub(crate) fn not_empty<T>(items: &[T], what: &'static str, of: &str) -> Result<(), Error> {
    if items.is_empty() { Err(Error::Empty { what, of: of.to_owned() }) } else { Ok(()) }
}

pub(crate) fn quoted(name: &str) -> String {
    format!("`{name}`")
}
