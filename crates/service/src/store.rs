//! The journal: what was accepted, in its order, in a SQLite file that is synced before anything is answered.
//!
//! | table | holds |
//! |---|---|
//! | `meta` | the version of the format |
//! | `bandits` | a key, a name and what it was made from |
//! | `journal` | for each record its number, bandit, kind, time, decision id and body, and a checksum of these |
//!
//! Beside it, `bandit-KEY.snapshot` holds a bandit's state after a record. It only shortens the fold, and may be deleted.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};

/// The version of the format.
const VERSION: i64 = 1;
/// The file in the folder, and the one that tells others that it is in use.
const FILE: &str = "truenorth.db";
const LOCK: &str = "lock";

/// What can be wrong with a folder of data, in a sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub(crate) String);

type Result<T> = std::result::Result<T, StoreError>;

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self(format!("the journal cannot be used: {error}"))
    }
}

/// What happened, as it is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A decision was made; the body is what was asked.
    Decided = 1,
    /// A reward came; the body is the number, and what was played instead, if it was.
    Rewarded = 2,
    /// A fit came back.
    Fitted = 3,
    /// The mode was changed; the body is its name.
    Mode = 4,
    /// A decision that was ranked is shown; without a body.
    Activated = 5,
    /// All that is known became the logs of a new season.
    Renewed = 6,
    /// The state was replaced by another, which is the body.
    Restored = 7,
}

impl Kind {
    fn of(number: i64) -> Option<Self> {
        use Kind::{Activated, Decided, Fitted, Mode, Renewed, Restored, Rewarded};
        [Decided, Rewarded, Fitted, Mode, Activated, Renewed, Restored]
            .into_iter()
            .find(|kind| *kind as i64 == number)
    }
}

/// One line of the journal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    pub(crate) bandit: i64,
    pub(crate) kind: Kind,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
    /// Of the decision.
    pub(crate) id: String,
    pub(crate) body: String,
}

impl Record {
    fn checksum(&self, number: i64) -> i64 {
        let mut hasher = crc32fast::Hasher::new();
        for part in [number, self.bandit, self.kind as i64, self.at] {
            hasher.update(&part.to_le_bytes());
        }
        hasher.update(&(self.id.len() as u64).to_le_bytes());
        hasher.update(self.id.as_bytes());
        hasher.update(self.body.as_bytes());
        i64::from(hasher.finalize())
    }
}

/// A bandit as it was made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Made {
    pub(crate) key: i64,
    pub(crate) name: String,
    pub(crate) spec: String,
}

/// A folder of data that nobody else uses.
#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
    /// The number of the last record.
    last: i64,
    /// Held as long as the store is.
    _lock: Option<File>,
    path: PathBuf,
}

impl Store {
    /// Opens a folder, or makes it.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let in_folder = |error: std::io::Error| StoreError(format!("{}: {error}", folder.display()));
        std::fs::create_dir_all(folder).map_err(in_folder)?;
        let lock = File::create(folder.join(LOCK)).map_err(in_folder)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError(format!("{}: another process serves this folder", folder.display())));
            }
            Err(TryLockError::Error(error)) => return Err(in_folder(error)),
        }
        let path = folder.join(FILE);
        let connection = Connection::open(&path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;
             CREATE TABLE IF NOT EXISTS meta (version INTEGER NOT NULL);
             CREATE TABLE IF NOT EXISTS bandits (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL);
             CREATE TABLE IF NOT EXISTS journal (number INTEGER PRIMARY KEY, bandit INTEGER NOT NULL, kind INTEGER NOT NULL,
                 at INTEGER NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, checksum INTEGER NOT NULL);
             CREATE INDEX IF NOT EXISTS decided ON journal (bandit, id) WHERE kind IN (1, 2);
",
        )
        .map_err(|error| StoreError(format!("{}: {error}", path.display())))?;
        Self::checked(connection, Some(lock), path)
    }

    /// Opens a folder to look at it, while it may be served.
    pub(crate) fn look(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Err(StoreError(format!("{}: there is no {FILE} in this folder", folder.display())));
        }
        let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        Self::checked(connection, None, path)
    }

    fn checked(connection: Connection, lock: Option<File>, path: PathBuf) -> Result<Self> {
        let damaged = |error: rusqlite::Error| StoreError(format!("{}: {error}", path.display()));
        let version: Option<i64> = connection
            .query_row("SELECT version FROM meta", [], |row| row.get(0))
            .optional()
            .map_err(damaged)?;
        match version {
            None => {
                connection.execute("INSERT INTO meta VALUES (?1)", [VERSION]).map_err(damaged)?;
            }
            Some(VERSION) => {}
            Some(found) => {
                let path = path.display();
                return Err(StoreError(format!(
                    "{path} has version {found}, but this program reads version {VERSION}"
                )));
            }
        }
        let last = connection
            .query_row("SELECT coalesce(max(number), 0) FROM journal", [], |row| row.get(0))
            .map_err(damaged)?;
        Ok(Self { connection, last, _lock: lock, path })
    }

    pub(crate) fn bandits(&self) -> Result<Vec<Made>> {
        let mut query = self.connection.prepare("SELECT key, name, spec FROM bandits ORDER BY key")?;
        let made =
            query.query_map([], |row| Ok(Made { key: row.get(0)?, name: row.get(1)?, spec: row.get(2)? }))?;
        Ok(made.collect::<std::result::Result<_, _>>()?)
    }

    /// Writes a new bandit down, and gives it a key.
    pub(crate) fn create(&mut self, name: &str, spec: &str) -> Result<i64> {
        self.connection.execute("INSERT INTO bandits (name, spec) VALUES (?1, ?2)", params![name, spec])?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Writes records down, all or none of them, and returns when they are on the disk. Tells the number of the last.
    pub(crate) fn append(&mut self, records: &[Record]) -> Result<i64> {
        let transaction = self.connection.transaction()?;
        let mut last = self.last;
        {
            let mut insert =
                transaction.prepare_cached("INSERT INTO journal VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
            for record in records {
                last += 1;
                let Record { bandit, kind, at, id, body } = record;
                insert.execute(params![last, bandit, *kind as i64, at, id, body, record.checksum(last)])?;
            }
        }
        transaction.commit()?;
        self.last = last;
        Ok(last)
    }

    pub(crate) fn last(&self) -> i64 {
        self.last
    }

    /// Hands over a bandit's records behind a number, in their order.
    pub(crate) fn read(
        &self,
        bandit: i64,
        behind: i64,
        mut take: impl FnMut(i64, Record) -> Result<()>,
    ) -> Result<()> {
        let mut query = self.connection.prepare_cached(
            "SELECT number, kind, at, id, body, checksum FROM journal WHERE bandit = ?1 AND number > ?2 ORDER BY number",
        )?;
        let mut rows = query.query(params![bandit, behind])?;
        while let Some(row) = rows.next()? {
            let number: i64 = row.get(0)?;
            let damaged = || {
                StoreError(format!(
                    "{}: record {number} has changed since it was written",
                    self.path.display()
                ))
            };
            let kind = Kind::of(row.get(1)?).ok_or_else(damaged)?;
            let record = Record { bandit, kind, at: row.get(2)?, id: row.get(3)?, body: row.get(4)? };
            if record.checksum(number) != row.get::<_, i64>(5)? {
                return Err(damaged());
            }
            take(number, record)?;
        }
        Ok(())
    }

    /// What was asked for a decision.
    pub(crate) fn decided(&self, bandit: i64, id: &str) -> Result<Option<String>> {
        let mut query = self.connection.prepare_cached(
            "SELECT body FROM journal WHERE bandit = ?1 AND id = ?2 AND kind = 1 ORDER BY number DESC",
        )?;
        Ok(query.query_row(params![bandit, id], |row| row.get(0)).optional()?)
    }

    /// The last reward of a decision, as it was written down.
    pub(crate) fn rewarded(&self, bandit: i64, id: &str) -> Result<Option<String>> {
        let mut query = self.connection.prepare_cached(
            "SELECT body FROM journal WHERE bandit = ?1 AND id = ?2 AND kind = 2 ORDER BY number DESC",
        )?;
        Ok(query.query_row(params![bandit, id], |row| row.get(0)).optional()?)
    }

    /// What SQLite itself finds wrong.
    pub(crate) fn integrity(&self) -> Result<Vec<String>> {
        let mut query = self.connection.prepare("PRAGMA integrity_check")?;
        let lines = query.query_map([], |row| row.get::<_, String>(0))?;
        let lines: Vec<String> = lines.collect::<std::result::Result<_, _>>()?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }
}
