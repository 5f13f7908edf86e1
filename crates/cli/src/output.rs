//! Files that are whole or not there.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use crate::failure::Failure;

/// Makes a folder for results, and tells early if nothing can be written there.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(Failure::write(folder))?;
    let probe = folder.join(".truenorth-probe");
    File::create(&probe).and_then(|_| fs::remove_file(&probe)).map_err(Failure::write(folder))
}

/// Writes a file under another name and renames it when it is whole, so that nothing half-written is
/// ever left under the final name.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> Result<(), Failure> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let written = File::create(&part)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&part, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&part);
        Failure::write(path)(error)
    })
}
