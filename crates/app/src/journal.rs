//! Finished runs on disk, so that an interrupted experiment goes on where it stopped.
//!
//! One file of frames: length and CRC-32, four bytes each, then the content. The first frame is the
//! description of the experiment, every other one a finished run. A frame that does not check out,
//! as the last one after a crash, ends the file.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use truenorth_sim::{Job, Panel, RunOutcome};

use crate::error::{Error, Result};
use crate::work::make_folder;

/// An open journal.
pub(crate) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Opens the journal of an experiment in a folder and reads the runs that it holds. Experiments have
    /// files of their own, named by a hash; each is gone when its results are complete.
    pub(crate) fn open(folder: &Path, panels: &[&Panel]) -> Result<(Self, HashMap<Job, RunOutcome>)> {
        make_folder(folder)?;
        // Another version may play the same panels differently.
        let experiment = &format!("{} {panels:?}", env!("CARGO_PKG_VERSION"));
        let path = folder.join(format!("unfinished-{:08x}.bin", crc32fast::hash(experiment.as_bytes())));
        let (file, runs) = open(&path, experiment).map_err(Error::write(&path))?;
        Ok((Self { path, file: Mutex::new(file) }, runs))
    }

    /// Keeps a finished run.
    pub(crate) fn keep(&self, job: Job, outcome: &RunOutcome) -> Result<()> {
        let failed = Error::write(&self.path);
        let content =
            postcard::to_stdvec(&(job, outcome)).map_err(|error| failed(io::Error::other(error)))?;
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        append(&mut file, &content).map_err(&failed)
    }

    /// Removes the file: its runs are in the results now.
    pub(crate) fn remove(self) -> Result<()> {
        fs::remove_file(&self.path).map_err(Error::write(&self.path))
    }
}

/// The file, at its end, and the runs that it holds.
fn open(path: &Path, experiment: &str) -> io::Result<(File, HashMap<Job, RunOutcome>)> {
    let mut file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if file.try_lock().is_err() {
        return Err(io::Error::other("another truenorth is at work on the same experiment"));
    }
    let mut content = Vec::new();
    file.read_to_end(&mut content)?;
    let (runs, length) = read(&content, experiment);
    file.set_len(length as u64)?;
    file.seek(SeekFrom::End(0))?;
    if length == 0 {
        append(&mut file, experiment.as_bytes())?;
    }
    Ok((file, runs))
}

fn append(file: &mut File, content: &[u8]) -> io::Result<()> {
    let length = u32::try_from(content.len()).map_err(io::Error::other)?;
    let head = [length.to_le_bytes(), crc32fast::hash(content).to_le_bytes()].concat();
    file.write_all(&[&head, content].concat())
}

/// The runs in a journal's content, and how many of its bytes are good.
fn read(content: &[u8], experiment: &str) -> (HashMap<Job, RunOutcome>, usize) {
    let mut runs = HashMap::new();
    let mut good = 0;
    while let Some(frame) = frame(&content[good..]) {
        if good == 0 {
            if frame != experiment.as_bytes() {
                return (runs, 0);
            }
        } else {
            let Ok((job, outcome)) = postcard::from_bytes(frame) else { break };
            runs.insert(job, outcome);
        }
        good += frame.len() + 8;
    }
    (runs, good)
}

fn frame(content: &[u8]) -> Option<&[u8]> {
    let (length, rest) = content.split_first_chunk()?;
    let (checksum, rest) = rest.split_first_chunk()?;
    let frame = rest.get(..u32::from_le_bytes(*length) as usize)?;
    (crc32fast::hash(frame) == u32::from_le_bytes(*checksum)).then_some(frame)
}
