//! Files that are whole or not there.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

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

/// What a file is called until it is whole.
fn part(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// Writes a file under another name and renames it when it is whole, so that nothing half-written is
/// ever left under the final name.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let part = part(path);
    let written = File::create(&part)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&part, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&part);
        Failure::write(path)(error)
    })
}
