//! `certificate.toml`, as an audit writes it: for features of some names, multiplied by some number.

use std::fs;
use std::path::Path;

use truenorth::Certificate;
use truenorth_audit::certificate_from_toml;

use crate::error::{Error, Result};

/// Reads a certificate for features that are multiplied by `scale`; `names` are theirs, if they have any.
pub fn read(path: &Path, names: Option<&[String]>, scale: f64) -> Result<Certificate> {
    let text = fs::read_to_string(path).map_err(Error::file(path))?;
    certificate_from_toml(&text, names, scale).map_err(|wrong| {
        let line = wrong.line.map_or_else(String::new, |line| format!(", line {line}"));
        Error::input(format_args!("{}{line}", path.display()), wrong.reason)
    })
}
