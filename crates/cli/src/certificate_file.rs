//! `certificate.toml`, as `truenorth audit` writes it and other commands read it.

use std::fs;
use std::path::Path;

use truenorth::Certificate;
use truenorth_audit::certificate_from_toml;

use crate::failure::Failure;

/// Reads a certificate for features that are multiplied by `scale`; `names` are theirs, if they have any.
pub(crate) fn read(path: &Path, names: Option<&[String]>, scale: f64) -> Result<Certificate, Failure> {
    let text = fs::read_to_string(path).map_err(Failure::file(path))?;
    certificate_from_toml(&text, names, scale).map_err(|wrong| match wrong.line {
        Some(line) => Failure::in_line(path, line, wrong.reason),
        None => Failure::in_file(path, wrong.reason),
    })
}
