//! Files that are whole or not there.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use truenorth_logs::part;

use crate::failure::Failure;

/// Makes a folder for results, and tells early if nothing can be written there.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(Failure::write(folder))?;
    let probe = folder.join(".truenorth-probe");
    File::create(&probe).and_then(|_| fs::remove_file(&probe)).map_err(Failure::write(folder))
}

/// Tells early if a file cannot be written, before hours of work or another file are spent on it.
pub(crate) fn check_file(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::write(path)(io::ErrorKind::IsADirectory.into()));
    }
    let part = part(path);
    File::create(&part).and_then(|_| fs::remove_file(&part)).map_err(Failure::write(path))
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
    truenorth_logs::write_whole(path, content).map_err(Failure::write(path))
}
