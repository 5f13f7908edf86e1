//! Long work: with a progress bar, until Ctrl-C.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
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
    // Nobody knows yet how many there will be.
    bar.set_draw_target(ProgressDrawTarget::hidden());
    let progress = |progress: Progress| match progress {
        Progress::Finished => bar.inc(1),
        Progress::Started { done, total } => {
            if let Some(folder) = folder.filter(|_| done > 0) {
                eprintln!("{done} finished runs found in {}; going on from there", folder.display());
            }
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            bar.reset_eta();
            bar.set_draw_target(ProgressDrawTarget::stderr());
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
    let style = ProgressStyle::with_template("{wide_bar} {pos} of {len} runs, {left}");
    // Of the first run nobody knows how long it takes.
    let left = |state: &ProgressState, to: &mut dyn Write| {
        let _ = match state.pos() {
            0 => write!(to, "{} so far", HumanDuration(state.elapsed())),
            _ => write!(to, "{} left", HumanDuration(state.eta())),
        };
    };
    let style = style.map(|style| style.with_key("left", left));
    let bar = ProgressBar::new(1);
    bar.enable_steady_tick(Duration::from_millis(500));
    style.map_or(bar.clone(), |style| bar.with_style(style))
}

/// The same for files that are read one event after another, of which nobody knows how many there are.
pub(crate) fn waiting(what: &str, files: &[PathBuf]) -> ProgressBar {
    let bytes = files.iter().filter_map(|path| path.metadata().ok()).map(|about| about.len()).sum();
    working(format!("{what} {}", HumanBytes(bytes)))
}

/// Tells on a terminal that the command is at work, and since when.
pub(crate) fn working(what: String) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg}, {elapsed}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner().with_style(style).with_message(what);
    bar.tick();
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
