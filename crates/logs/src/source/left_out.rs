//! In the place of `columnar.rs` where the feature `columnar` is off: a sentence for Parquet and Arrow files, and no batches in memory.

use std::convert::Infallible;
use std::fs::File;
use std::marker::PhantomData;
use std::path::Path;

use super::{Opened, Take, Wanted};
use crate::error::{Problem, Result};
use crate::format::Format;

/// Rows in memory, of which there are none without Arrow.
pub struct Memory<'a>(Infallible, PhantomData<&'a ()>);

fn left_out(format: Format) -> Problem {
    Problem::Other(format!(
        "{format} files are left out of this build, which was made without its feature `columnar`"
    ))
}

pub(crate) fn groups(_: &File) -> Result<usize, Problem> {
    Err(left_out(Format::Parquet))
}

pub(crate) fn open_parquet(_: File, _: Option<usize>, _: &Wanted) -> Result<Opened<'static>> {
    Err(left_out(Format::Parquet).into())
}

pub(crate) fn open_arrow(_: File, _: &Wanted) -> Result<Opened<'static>> {
    Err(left_out(Format::Arrow).into())
}

pub(crate) fn for_each_batch(_: &Path, _: usize, _: &[&str], _: &mut Take<'_>) -> bool {
    false
}

/// The columns of batches in memory.
pub fn names(batches: &Memory<'_>) -> Vec<String> {
    match batches.0 {}
}

pub(crate) fn no_rows(batches: &Memory<'_>) -> Memory<'static> {
    match batches.0 {}
}

pub(crate) fn twice(batches: &mut Memory<'_>) -> Result<[Memory<'static>; 2], Problem> {
    match batches.0 {}
}

pub(crate) fn open_memory<'a>(Memory(none, _): Memory<'a>, _: &Wanted) -> Opened<'a> {
    match none {}
}
