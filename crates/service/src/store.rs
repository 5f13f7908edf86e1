//! The folder of data: a journal in SQLite, and a lock, so that one process serves it.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};

use crate::journal::{Journal, Kind, Made, Record, Result, StoreError, Take};
use crate::wal::{self, Mover};

/// The version of the format.
const VERSION: i64 = 2;
/// The file in the folder, and the one that tells others that it is in use.
pub(crate) const FILE: &str = "truenorth.db";
const LOCK: &str = "lock";
/// Records that are read together.
const TOGETHER: i64 = 512;

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self(format!("the journal cannot be used: {error}"))
    }
}

fn checksum(record: &Record) -> i64 {
    let Record { number, bandit, kind, at, of, body } = record;
    let mut hasher = crc32fast::Hasher::new();
    for part in [*number, *bandit, *kind as i64, *at, of.unwrap_or(0)] {
        hasher.update(&part.to_le_bytes());
    }
    hasher.update(body);
    i64::from(hasher.finalize())
}

/// A folder of data.
#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
    folder: PathBuf,
    /// Held as long as the store is, by the one that writes.
    _lock: Option<(Mover, File)>,
}

impl Store {
    /// Opens a folder that nobody else uses, or makes it.
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
        wal::check(&path)?;
        let damaged = |error: rusqlite::Error| StoreError(format!("{}: {error}", path.display()));
        let connection = Connection::open(&path).map_err(damaged)?;
        // A file of another version is looked at before anything is changed.
        let version = version(&connection).map_err(damaged)?;
        check_version(&path, version)?;
        connection
            .execute_batch(
                "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0;
                 CREATE TABLE IF NOT EXISTS meta (version INTEGER NOT NULL);
                 CREATE TABLE IF NOT EXISTS bandits (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL);
                 CREATE TABLE IF NOT EXISTS journal (number INTEGER PRIMARY KEY, bandit INTEGER NOT NULL, kind INTEGER NOT NULL,
                     at INTEGER NOT NULL, of INTEGER, body BLOB NOT NULL, checksum INTEGER NOT NULL);
                 CREATE INDEX IF NOT EXISTS about ON journal (of) WHERE of IS NOT NULL;
                 CREATE TABLE IF NOT EXISTS base (bandit INTEGER PRIMARY KEY, state BLOB NOT NULL);",
            )
            .map_err(damaged)?;
        if version.is_none() {
            connection.execute("INSERT INTO meta VALUES (?1)", [VERSION]).map_err(damaged)?;
        }
        let mover = Mover::start(&path)?;
        Ok(Self { connection, folder: folder.to_owned(), _lock: Some((mover, lock)) })
    }

    /// Refuses a log that is damaged, in a folder that nobody serves; where somebody does, it changes all the time.
    pub(crate) fn check_log(folder: &Path) -> Result<()> {
        let free = File::open(folder.join(LOCK)).map_or(true, |lock| lock.try_lock_shared().is_ok());
        if free { wal::check(&folder.join(FILE)) } else { Ok(()) }
    }

    /// Opens a folder to look at it, while it may be served.
    pub(crate) fn look(folder: &Path) -> Result<Self> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Err(StoreError(format!("{}: there is no {FILE} in this folder", folder.display())));
        }
        let damaged = |error: rusqlite::Error| StoreError(format!("{}: {error}", path.display()));
        let connection =
            Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(damaged)?;
        let version = version(&connection).map_err(damaged)?;
        if version.is_none() {
            return Err(StoreError(format!("{}: there is no journal in this file", path.display())));
        }
        check_version(&path, version)?;
        Ok(Self { connection, folder: folder.to_owned(), _lock: None })
    }

    fn record(&self, row: &Row<'_>) -> Result<Record> {
        let number: i64 = row.get(0)?;
        let damaged = || {
            let path = self.folder.join(FILE);
            StoreError(format!("{}: record {number} has changed since it was written", path.display()))
        };
        let kind = Kind::of(row.get(2)?).ok_or_else(damaged)?;
        let (bandit, at, of, body) = (row.get(1)?, row.get(3)?, row.get(4)?, row.get(5)?);
        let record = Record { number, bandit, kind, at, of, body };
        if checksum(&record) == row.get::<_, i64>(6)? { Ok(record) } else { Err(damaged()) }
    }
}

/// The version of a file; none if it is new.
fn version(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let made: bool =
        connection
            .query_row("SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'meta'", [], |row| row.get(0))?;
    if !made {
        return Ok(None);
    }
    connection.query_row("SELECT version FROM meta", [], |row| row.get(0)).optional()
}

fn check_version(path: &Path, version: Option<i64>) -> Result<()> {
    match version {
        None | Some(VERSION) => Ok(()),
        Some(found) => {
            let path = path.display();
            Err(StoreError(format!("{path} has version {found}, but this program reads version {VERSION}")))
        }
    }
}

impl Journal for Store {
    fn append(&mut self, records: &[Record]) -> Result<()> {
        let transaction = self.connection.transaction()?;
        {
            let mut insert =
                transaction.prepare_cached("INSERT INTO journal VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?;
            for record in records {
                let Record { number, bandit, kind, at, of, body } = record;
                insert.execute(params![number, bandit, *kind as i64, at, of, body, checksum(record)])?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn last(&self) -> Result<i64> {
        let last = "SELECT coalesce(max(number), 0) FROM journal";
        Ok(self.connection.query_row(last, [], |row| row.get(0))?)
    }

    fn read(&self, mut behind: i64, bandit: Option<i64>, take: Take<'_>) -> Result<()> {
        let mut query = self.connection.prepare_cached(
            "SELECT * FROM journal WHERE number > ?1 AND (?2 IS NULL OR bandit = ?2) ORDER BY number LIMIT ?3",
        )?;
        loop {
            // Handed over when they are read: SQLite cannot tidy up behind a reader who takes his time.
            let mut records = Vec::new();
            let mut rows = query.query(params![behind, bandit, TOGETHER])?;
            while let Some(row) = rows.next()? {
                records.push(self.record(row)?);
            }
            drop(rows);
            let Some(last) = records.last() else { return Ok(()) };
            behind = last.number;
            records.into_iter().try_for_each(&mut *take)?;
        }
    }

    fn find(&self, number: i64) -> Result<Option<Record>> {
        let mut query = self.connection.prepare_cached("SELECT * FROM journal WHERE number = ?1")?;
        let mut rows = query.query([number])?;
        rows.next()?.map(|row| self.record(row)).transpose()
    }

    fn about(&self, decision: i64, take: Take<'_>) -> Result<()> {
        let mut query =
            self.connection.prepare_cached("SELECT * FROM journal WHERE of = ?1 ORDER BY number")?;
        let mut rows = query.query([decision])?;
        while let Some(row) = rows.next()? {
            take(self.record(row)?)?;
        }
        Ok(())
    }

    fn bandits(&self) -> Result<Vec<Made>> {
        let mut query = self
            .connection
            .prepare_cached("SELECT key, name, spec FROM bandits WHERE spec <> '' ORDER BY key")?;
        let made =
            query.query_map([], |row| Ok(Made { key: row.get(0)?, name: row.get(1)?, spec: row.get(2)? }))?;
        Ok(made.collect::<std::result::Result<_, _>>()?)
    }

    fn create(&mut self, key: Option<i64>, name: &str, spec: &str) -> Result<i64> {
        let insert = "INSERT INTO bandits (key, name, spec) VALUES (?1, ?2, ?3)
             ON CONFLICT (key) DO UPDATE SET name = excluded.name, spec = excluded.spec";
        self.connection.execute(insert, params![key, name, spec])?;
        Ok(key.unwrap_or_else(|| self.connection.last_insert_rowid()))
    }

    fn remove(&mut self, bandit: i64) -> Result<()> {
        // Its records stay until they are old, so its key must not be another one's.
        let transaction = self.connection.transaction()?;
        let gone = "UPDATE bandits SET name = 'dropped ' || key, spec = '' WHERE key = ?1";
        transaction.execute(gone, [bandit])?;
        transaction.execute("DELETE FROM base WHERE bandit = ?1", [bandit])?;
        Ok(transaction.commit()?)
    }

    fn base(&self, bandit: i64) -> Result<Option<Vec<u8>>> {
        let mut query = self.connection.prepare_cached("SELECT state FROM base WHERE bandit = ?1")?;
        Ok(query.query_row([bandit], |row| row.get(0)).optional()?)
    }

    fn set_base(&mut self, bandit: i64, state: &[u8]) -> Result<()> {
        let set = "INSERT OR REPLACE INTO base VALUES (?1, ?2)";
        self.connection.execute(set, params![bandit, state])?;
        Ok(())
    }

    fn old(&self, before: i64) -> Result<(i64, Vec<i64>)> {
        let first_kept = "SELECT number FROM journal WHERE at >= ?1 ORDER BY number LIMIT 1";
        let first: Option<i64> =
            self.connection.query_row(first_kept, [before], |row| row.get(0)).optional()?;
        let cut = first.map_or_else(|| self.last(), Ok)? - 1;
        let mut query = self.connection.prepare("SELECT DISTINCT bandit FROM journal WHERE number <= ?1")?;
        let bandits = query.query_map([cut], |row| row.get(0))?;
        Ok((cut, bandits.collect::<std::result::Result<_, _>>()?))
    }

    fn forget(&mut self, up_to: i64, most: i64) -> Result<u64> {
        let gone = self.connection.execute(
            "DELETE FROM journal WHERE number IN (SELECT number FROM journal WHERE number <= ?1
                 AND number < (SELECT max(number) FROM journal) ORDER BY number LIMIT ?2)",
            params![up_to, most],
        )?;
        Ok(gone as u64)
    }

    fn problems(&self) -> Result<Vec<String>> {
        let mut query = self.connection.prepare("PRAGMA integrity_check")?;
        let lines = query.query_map([], |row| row.get::<_, String>(0))?;
        let lines: Vec<String> = lines.collect::<std::result::Result<_, _>>()?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }

    fn reader(&self) -> Result<Box<dyn Journal>> {
        Ok(Box::new(Self::look(&self.folder)?))
    }
}
