//! Files that are whole or not there, and what is printed.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use serde::Serialize;
use truenorth_app::Error;
pub(crate) use truenorth_app::make_folder;
use truenorth_logs::part;

use crate::failure::Failure;

/// Tells early if a file cannot be written, before hours of work or another file are spent on it.
pub(crate) fn check_file(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Error::write(path)(io::ErrorKind::IsADirectory.into()).into());
    }
    if path.exists() && !path.is_file() {
        return Ok(());
    }
    let part = part(path);
    Ok(File::create(&part).and_then(|_| fs::remove_file(&part)).map_err(Error::write(path))?)
}

/// Refuses to write over a file that is read.
pub(crate) fn check_apart(path: &Path, input: &Path) -> Result<(), Failure> {
    let same = |a: &Path, b: &Path| Some(fs::canonicalize(a).ok()? == fs::canonicalize(b).ok()?);
    if path == input || same(path, input) == Some(true) {
        let file = path.display();
        return Err(Failure::Call(format!("{file} is read, and would be written over: name another file")));
    }
    Ok(())
}

/// Writes a file, whole or not at all.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), Failure> {
    Ok(truenorth_logs::write_whole(path, content).map_err(Error::write(path))?)
}

/// Writes a file, and says so.
pub(crate) fn write_and_tell(path: &Path, content: &[u8]) -> Result<(), Failure> {
    write_whole(path, content)?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// A result as a line of JSON.
pub(crate) fn json(result: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string(result).map_err(|error| Failure::Output(error.into()))?;
    Ok(text + "\n")
}
