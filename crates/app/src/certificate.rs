//! `certificate.toml`, as an audit writes it: for features of some names, multiplied by some number.

use std::fs;
use std::path::Path;

use truenorth::Certificate;
use truenorth_audit::certificate_from_toml;

use crate::error::{Error, Result};

/// Reads a certificate for features that are multiplied by `scale`; `names` are theirs, if they have any.
pub fn read(path: &Path, names: Option<&[String]>, scale: f64) -> Result<Certificate> {
    let bytes = fs::read(path).map_err(Error::file(path))?;
    // Where another file stops to be TOML is of no use to whoever mistook it for a certificate.
    let fits = |text: &&str| text.trim().is_empty() || text.lines().any(is_assignment);
    let Some(text) = str::from_utf8(&bytes).ok().filter(fits) else {
        return Err(Error::input(
            path.display(),
            "this is no certificate; `truenorth audit --out` writes one",
        ));
    };
    certificate_from_toml(text, names, scale).map_err(|wrong| {
        let line = wrong.line.map_or_else(String::new, |line| format!(", line {line}"));
        Error::input(format_args!("{}{line}", path.display()), wrong.reason)
    })
}

fn is_assignment(line: &str) -> bool {
    let is_bare = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    line.split_once('=').is_some_and(|(key, _)| is_bare(key.trim()))
}
