//! The line in which records wait for the disk.
//!
//! Whoever changes a bandit puts what it did in line while it still holds the bandit, so the journal has each bandit's records
//! in their order. One thread writes down all that wait, of all bandits, with one sync, and then tells those who wait for
//! it. Nothing is answered before what it rests on is on the disk.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::oneshot;

use crate::api::Refused;
use crate::journal::{Journal, Kind, Record};

/// What is counted for `/metrics`.
#[derive(Debug, Default)]
pub(crate) struct Meters {
    pub(crate) commits: AtomicU64,
    pub(crate) records: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) fits: AtomicU64,
    /// Time that fits took, in microseconds.
    pub(crate) fit_micros: AtomicU64,
    pub(crate) snapshots: AtomicU64,
}

/// Records that wait, and who waits for them.
#[derive(Debug)]
pub(crate) struct Line {
    waiting: Mutex<Waiting>,
    come: Condvar,
    /// The last record that is on the disk.
    written: AtomicI64,
    /// Why nothing is accepted any more.
    failed: OnceLock<String>,
    /// Whether nothing is written any more.
    ended: AtomicBool,
    /// Records that no snapshot covers.
    unkept: AtomicU64,
    pub(crate) meters: Meters,
}

#[derive(Debug)]
struct Waiting {
    records: Vec<Record>,
    answers: Vec<oneshot::Sender<()>>,
    /// The number of the last record that was put in line.
    last: i64,
    closed: bool,
}

/// Locks what no panic leaves half-changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    /// Behind the last record of a journal, so many of which no snapshot covers.
    pub(crate) fn new(last: i64, unkept: u64) -> Self {
        let waiting = Waiting { records: Vec::new(), answers: Vec::new(), last, closed: false };
        Self {
            waiting: Mutex::new(waiting),
            come: Condvar::new(),
            written: AtomicI64::new(last),
            failed: OnceLock::new(),
            ended: AtomicBool::new(false),
            unkept: AtomicU64::new(unkept),
            meters: Meters::default(),
        }
    }

    /// Puts a record in line, and tells its number.
    pub(crate) fn push(&self, bandit: i64, kind: Kind, at: i64, of: Option<i64>, body: Vec<u8>) -> i64 {
        let mut waiting = lock(&self.waiting);
        waiting.last += 1;
        let number = waiting.last;
        waiting.records.push(Record { number, bandit, kind, at, of, body });
        self.come.notify_one();
        self.unkept.fetch_add(1, Ordering::Relaxed);
        number
    }

    /// Puts a record in line that has its number already, which is larger than all before.
    pub(crate) fn take(&self, record: Record) {
        let mut waiting = lock(&self.waiting);
        waiting.last = record.number;
        waiting.records.push(record);
        self.come.notify_one();
        self.unkept.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that no snapshot covers.
    pub(crate) fn unkept(&self) -> u64 {
        self.unkept.load(Ordering::Relaxed)
    }

    /// Says that a snapshot covers so many more.
    pub(crate) fn kept(&self, records: u64) {
        self.unkept.fetch_sub(records, Ordering::Relaxed);
    }

    /// The last record that was put in line.
    pub(crate) fn last(&self) -> i64 {
        lock(&self.waiting).last
    }

    /// Refuses everything, once something could not be written down: what is in memory is ahead of the journal, and only a
    /// restart makes them one again.
    pub(crate) fn check(&self) -> Result<(), Refused> {
        self.failed.get().map_or(Ok(()), |why| Err(Refused::unavailable(why.clone())))
    }

    pub(crate) fn fail(&self, why: &str) {
        tracing::error!(why, "nothing more is accepted");
        let _ = self
            .failed
            .set(format!("{why}; what was accepted before is safe, restart when the cause is mended"));
    }

    /// Returns when a record is on the disk.
    pub(crate) async fn written(&self, number: i64) -> Result<(), Refused> {
        if self.written.load(Ordering::Acquire) < number {
            let (answer, answered) = oneshot::channel();
            {
                let mut waiting = lock(&self.waiting);
                if waiting.closed {
                    return Err(Refused::unavailable("the service is stopping"));
                }
                waiting.answers.push(answer);
                self.come.notify_one();
            }
            // Dropped without an answer where nothing could be written.
            let _ = answered.await;
        }
        self.check()
    }

    /// Waits for a record on a thread that has nothing else to do; false if it cannot be written.
    pub(crate) fn wait_written(&self, number: i64) -> bool {
        loop {
            // Asked first: what is written at the end is written before it.
            let over = self.ended.load(Ordering::Acquire) || self.failed.get().is_some();
            if self.written.load(Ordering::Acquire) >= number {
                return true;
            }
            if over {
                return false;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    /// Writes down what waits, again and again, until the line is closed and empty.
    pub(crate) fn run(&self, journal: &Mutex<Box<dyn Journal>>) {
        loop {
            let (records, answers, closed) = {
                let mut waiting = lock(&self.waiting);
                while waiting.records.is_empty() && waiting.answers.is_empty() && !waiting.closed {
                    waiting = self.come.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                }
                let Waiting { records, answers, closed, .. } = &mut *waiting;
                (std::mem::take(records), std::mem::take(answers), *closed)
            };
            if let Some(last) = records.last()
                && self.failed.get().is_none()
            {
                match lock(journal).append(&records) {
                    Ok(()) => {
                        self.written.store(last.number, Ordering::Release);
                        self.meters.commits.fetch_add(1, Ordering::Relaxed);
                        self.meters.records.fetch_add(records.len() as u64, Ordering::Relaxed);
                    }
                    Err(error) => self.fail(&error.to_string()),
                }
            }
            // Whoever asked may have gone.
            for answer in answers {
                let _ = answer.send(());
            }
            if closed && records.is_empty() {
                self.ended.store(true, Ordering::Release);
                return;
            }
        }
    }

    /// Takes nothing more.
    pub(crate) fn close(&self) {
        lock(&self.waiting).closed = true;
        self.come.notify_all();
    }
}
