//! Long work that a keyboard interrupt stops.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::{Failure, Result};

/// How often signals are looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Does work on threads of its own, while this one, which may be the one that Python's signals go to, looks for
/// them. The work looks at the flag, and ends early when it is set.
pub(crate) fn unless_interrupted<T: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce(&AtomicBool) -> Result<T> + Send,
) -> PyResult<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Failure::Broken(format!("cannot start the threads: {error}")))?;
    let stop = AtomicBool::new(false);
    py.detach(|| {
        let (sender, receiver) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let (pool, stop) = (&pool, &stop);
            let worker = scope.spawn(move || {
                let _ended = sender;
                pool.install(|| work(stop))
            });
            let mut asked = Ok(());
            // The channel breaks when the work ends, even by a panic.
            while receiver.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
                #[expect(
                    clippy::redundant_closure_for_method_calls,
                    reason = "the method alone is not general enough"
                )]
                let look = Python::attach(|py| py.check_signals());
                asked = look;
                if asked.is_err() {
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
            }
            let done = worker.join();
            asked?;
            Ok(done.map_err(|_| Failure::Broken("this should not happen: please report it".to_owned()))??)
        })
    })
}
