//! Long work that a keyboard interrupt stops.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use truenorth_app::Work;

use crate::error::Result;

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Does work on threads of its own, while this one, which may be the one that Python's signals go to, looks for
/// them. The work looks at the flag, and ends early when it is set.
pub(crate) fn unless_interrupted<T: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce(Work<'_>) -> truenorth_app::Result<T> + Send,
) -> Result<T> {
    let stop = AtomicBool::new(false);
    py.detach(|| {
        let (sender, receiver) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let stop = &stop;
            let worker = scope.spawn(move || {
                let _ended = sender;
                work(Work { threads, stop, progress: &|_| () })
            });
            let mut asked = Ok(());
            // The channel breaks when the work ends, even by a panic.
            while receiver.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
                Python::attach(|py| asked = py.check_signals());
                if asked.is_err() {
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
            }
            let done = worker.join();
            asked?;
            let broken = |_| PyRuntimeError::new_err("this should not happen: please report it");
            Ok(done.map_err(broken)??)
        })
    })
}
