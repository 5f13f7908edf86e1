//! Long work: where it runs, when it has to stop, who hears of it; and the folder of its results.

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use rayon::ThreadPool;

use crate::error::{Error, Result};

/// How a request that takes long is worked on.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// Threads; 0 takes all cores. Results are the same for any number.
    pub threads: usize,
    /// To be set by whoever does not want the result any more.
    pub stop: &'a AtomicBool,
    /// Hears how far it is.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// What is told on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Before the first run.
    Started {
        /// Runs that were done before, in an earlier call.
        done: usize,
        /// Runs in all.
        total: usize,
    },
    /// A run has been finished.
    Finished,
}

/// Threads of its own; 0 takes all cores.
pub fn pool(threads: usize) -> Result<ThreadPool> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?)
}

/// Makes a folder for results, and tells early if nothing can be written there.
pub fn make_folder(folder: &Path) -> Result<()> {
    if let Some(file) = folder.ancestors().find(|path| path.is_file()) {
        return Err(Error::input(file.display(), "this is a file; a folder is needed"));
    }
    let probe = folder.join(".truenorth-probe");
    let tried = || {
        fs::create_dir_all(folder)?;
        File::create(&probe)?;
        fs::remove_file(&probe)
    };
    tried().map_err(Error::write(folder))
}
