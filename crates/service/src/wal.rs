//! SQLite's write-ahead log: whether it is whole, and when it is moved into the database.
//!
//! SQLite takes the first frame whose checksum is wrong for the torn tail of a crash, and forgets all that follows without a
//! word. A crash can only tear the last transaction, as each one is synced before the next begins. So where more
//! transactions follow, a bit has flipped, and what was acknowledged would be lost in silence: that is refused.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use crate::journal::{Result, StoreError};

const MAGIC: u32 = 0x377f_0682;
const LAYOUT: u32 = 3_007_000;
const HEADER: usize = 32;
const FRAME: usize = 24;
/// Bytes of the log from which on it is moved, and pages from which on it begins anew.
const WORTH_MOVING: u64 = 4 << 20;
const LARGE: i64 = 8000;
/// How often it is moved, if there is anything new: a sync of much would keep those of the log waiting.
const TICK: Duration = Duration::from_millis(100);

fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..at + 4].iter().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// The checksum of SQLite's log goes on from frame to frame.
fn add(sums: (u32, u32), bytes: &[u8], big_endian: bool) -> (u32, u32) {
    let read = |bytes: &[u8]| if big_endian { word(bytes, 0) } else { word(bytes, 0).swap_bytes() };
    bytes.chunks_exact(8).fold(sums, |(first, second), pair| {
        let first = first.wrapping_add(read(&pair[..4])).wrapping_add(second);
        (first, second.wrapping_add(read(&pair[4..])).wrapping_add(first))
    })
}

/// Refuses a log in which more than the end is damaged.
pub(crate) fn check(path: &Path) -> Result<()> {
    let path = log_of(path);
    let Ok(file) = File::open(&path) else { return Ok(()) };
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let mut header = [0; HEADER];
    if reader.read_exact(&mut header).is_err() {
        return Ok(());
    }
    let (magic, version, page) = (word(&header, 0), word(&header, 4), word(&header, 8) as usize);
    let big_endian = magic & 1 == 1;
    let mut sums = add((0, 0), &header[..24], big_endian);
    let mut whole = magic >> 1 == MAGIC >> 1 && sums == (word(&header, 24), word(&header, 28));
    if !whole {
        // A head is written in one piece, so that a crash leaves all of it or nothing.
        let damaged = magic >> 1 == MAGIC >> 1 || version == LAYOUT;
        let message = "the head of this log is damaged, so that nothing in it can be read";
        return if damaged { Err(StoreError(format!("{}: {message}", path.display()))) } else { Ok(()) };
    }
    let (salts, mut damaged, mut transactions) = (&header[16..24], 0, 0);
    let mut frame = vec![0; FRAME + page];
    for place in 1.. {
        if reader.read_exact(&mut frame).is_err() {
            break;
        }
        // What a log that was moved has left behind has other salts.
        let same = &frame[8..16] == salts;
        if whole {
            sums = add(add(sums, &frame[..8], big_endian), &frame[FRAME..], big_endian);
            whole = same && sums == (word(&frame, 16), word(&frame, 20));
            damaged = place;
        }
        transactions += u32::from(!whole && same && word(&frame, 4) != 0);
    }
    if transactions < 2 {
        return Ok(());
    }
    Err(StoreError(format!(
        "{}: frame {damaged} has changed since it was written, and {} transactions behind it cannot be read",
        path.display(),
        transactions - 1
    )))
}

/// Moves the log into the database now and then, beside whoever writes.
#[derive(Debug)]
pub(crate) struct Mover {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Mover {
    pub(crate) fn start(path: &Path) -> Result<Self> {
        let (stop, stopped) = channel();
        let (path, log) = (path.to_owned(), log_of(path));
        let changed = move || {
            let found = std::fs::metadata(&log).ok().filter(|found| found.len() >= WORTH_MOVING)?;
            found.modified().ok()
        };
        let run = move || {
            let Ok(connection) = Connection::open(&path) else { return };
            // Open until nobody uses the database any more: to close it would give up the locks of all.
            let database = File::open(&path).ok();
            let sync = || database.as_ref().map(File::sync_data);
            // Nobody is to wait for whoever reads for long.
            let _ = connection.busy_timeout(Duration::from_millis(20));
            let move_log = |how: &str| {
                let done = connection
                    .query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |row| row.get::<_, i64>(1));
                done.inspect_err(|error| tracing::warn!(%error, "the write-ahead log could not be moved"))
                    .unwrap_or(0)
            };
            let mut moved = None;
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                let now = changed();
                if now == moved {
                    continue;
                }
                moved = now;
                // Beside writers, so that little is left to move and to sync when they have to wait for the log to begin anew.
                let large = move_log("PASSIVE") > LARGE;
                sync();
                if large {
                    move_log("RESTART");
                }
            }
        };
        let thread = std::thread::Builder::new().name("mover".to_owned()).spawn(run);
        let thread = thread.map_err(|error| StoreError(format!("a thread cannot be started: {error}")))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
