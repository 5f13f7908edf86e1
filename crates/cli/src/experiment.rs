//! Long work: with a progress bar, until Ctrl-C.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use truenorth_app::{Progress, Work};

use crate::failure::Failure;

/// Set by Ctrl-C: runs under way are finished and kept, no new ones start.
pub(crate) static STOP: AtomicBool = AtomicBool::new(false);

/// Does long work with a progress bar, which Ctrl-C stops; finished runs of an earlier call are in the folder.
pub(crate) fn watched<T>(
    threads: usize,
    folder: Option<&Path>,
    work: impl FnOnce(Work<'_>) -> truenorth_app::Result<T>,
) -> Result<T, Failure> {
    catch_interrupts();
    let bar = progress_bar();
    let progress = |progress: Progress| match progress {
        Progress::Finished => bar.inc(1),
        Progress::Started { done, total } => {
            if let Some(folder) = folder.filter(|_| done > 0) {
                eprintln!("{done} finished runs found in {}; going on from there", folder.display());
            }
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            bar.reset_eta();
        }
    };
    let done = work(Work { threads, stop: &STOP, progress: &progress });
    bar.finish_and_clear();
    Ok(done?)
}

/// From here on Ctrl-C lets what is under way finish; a second one ends the program at once.
pub(crate) fn catch_interrupts() {
    // A second handler cannot be set; commands that play twice share the first.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
        eprintln!("\nfinishing the runs under way; Ctrl-C again quits at once");
    });
}

/// Shown on a terminal only: indicatif hides it in a pipe.
pub(crate) fn progress_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {pos} of {len} runs, {eta} left");
    let bar = ProgressBar::new(1);
    bar.enable_steady_tick(Duration::from_millis(500));
    style.map_or(bar.clone(), |style| bar.with_style(style))
}
