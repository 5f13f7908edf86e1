//! What every figure asks of its numbers.

use crate::Error;

/// Spans of larger numbers would overflow inside scales.
const LARGEST: f64 = 1e100;

/// A list of numbers with the names that an error needs.
pub(crate) struct List<'a> {
    pub(crate) of: &'a str,
    pub(crate) field: &'static str,
    pub(crate) values: &'a [f64],
}

impl List<'_> {
    pub(crate) fn finite(&self) -> Result<&Self, Error> {
        self.all("", |_, value| value.is_finite() && value.abs() <= LARGEST).map_err(|error| match error {
            Error::Range { list, of, index, value, .. } => Error::NotFinite { list, of, index, value },
            other => other,
        })
    }

    pub(crate) fn len(&self, expected: usize) -> Result<&Self, Error> {
        let found = self.values.len();
        if found == expected {
            return Ok(self);
        }
        Err(Error::Length { list: self.field, of: quoted(self.of), expected, found })
    }

    pub(crate) fn increasing(&self) -> Result<&Self, Error> {
        self.all("above the one before", |index, value| index == 0 || value > self.values[index - 1])
    }

    pub(crate) fn at_least(&self, bound: &[f64], range: &'static str) -> Result<&Self, Error> {
        self.all(range, |index, value| value >= bound[index])
    }

    pub(crate) fn not_negative(&self) -> Result<&Self, Error> {
        self.all("at least 0", |_, value| value >= 0.0)
    }

    pub(crate) fn positive(&self) -> Result<&Self, Error> {
        self.all("above 0", |_, value| value > 0.0)
    }

    fn all(&self, range: &'static str, accepts: impl Fn(usize, f64) -> bool) -> Result<&Self, Error> {
        match self.values.iter().enumerate().find(|&(index, &value)| !accepts(index, value)) {
            None => Ok(self),
            Some((index, &value)) => {
                Err(Error::Range { list: self.field, of: quoted(self.of), index, range, value })
            }
        }
    }
}

pub(crate) fn not_empty<T>(items: &[T], what: &'static str, of: &str) -> Result<(), Error> {
    if items.is_empty() { Err(Error::Empty { what, of: of.to_owned() }) } else { Ok(()) }
}

pub(crate) fn quoted(name: &str) -> String {
    format!("`{name}`")
}
