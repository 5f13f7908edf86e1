//! Snapshots, which shorten the fold, and the fold itself; and what may be forgotten.
//!
//! A snapshot is a file beside the journal, and one that cannot be read is done without. Where old records are forgotten, what
//! the fold then starts from is part of the journal itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use truenorth_logs::write_whole;

use crate::engine::{Shared, now};
use crate::hosted::{Hosted, snapshot_number};
use crate::journal::{Journal, Made, Result, StoreError};
use crate::line::lock;

/// Records without a snapshot, of all bandits, from which on some are taken.
const WORTH_KEEPING: u64 = 50_000;
/// How often that is looked at.
const TICK: Duration = Duration::from_millis(100);
/// How often old records are forgotten.
const COMPACTED: Duration = Duration::from_hours(1);
/// Records that are forgotten in one go, so that nobody waits for long.
const TOGETHER: i64 = 5000;

fn path(folder: &Path, key: i64) -> PathBuf {
    folder.join(format!("bandit-{key}.snapshot"))
}

/// Takes a snapshot away that is of no use any more.
pub(crate) fn remove(folder: &Path, key: i64) {
    let _ = std::fs::remove_file(path(folder, key));
}

/// A bandit as its fold starts: by its last snapshot or, where that cannot be read, by what old records were forgotten for.
pub(crate) fn restored(folder: &Path, made: Made, journal: &dyn Journal) -> Result<Hosted> {
    let path = path(folder, made.key);
    let base = journal.base(made.key)?;
    let forgotten = base.as_deref().and_then(snapshot_number).unwrap_or(-1);
    if let Ok(bytes) = std::fs::read(&path)
        && let Some(number) = snapshot_number(&bytes).filter(|number| *number > forgotten)
    {
        let last = journal.last()?;
        if number > last {
            return Err(StoreError(format!(
                "{}: it knows of record {number}, but the journal ends with record {last}: records are lost, restore a backup",
                path.display(),
            )));
        }
        match Hosted::restored(made.clone(), Some(&bytes)) {
            Err(why) => tracing::warn!(%why, path = %path.display(), "done without a snapshot"),
            restored => return restored,
        }
    }
    Hosted::restored(made, base.as_deref())
}

/// All bandits of a folder, as its journal has them.
/// Tells how many records are behind the snapshots.
pub(crate) fn fold(folder: &Path, journal: &dyn Journal) -> Result<(BTreeMap<String, Arc<Hosted>>, u64)> {
    let mut bandits = BTreeMap::new();
    for made in journal.bandits()? {
        bandits.insert(made.key, restored(folder, made, journal)?);
    }
    let unkept = follow(&mut bandits, journal)?;
    let bandits = bandits.into_values().map(|hosted| (hosted.name.clone(), Arc::new(hosted)));
    Ok((bandits.collect(), unkept))
}

/// Folds what was written down behind the states of bandits, by their keys, in one pass.
pub(crate) fn follow(bandits: &mut BTreeMap<i64, Hosted>, journal: &dyn Journal) -> Result<u64> {
    let mut behind = i64::MAX;
    for hosted in bandits.values_mut() {
        behind = behind.min(hosted.live.get_mut().map_or(0, |live| live.folded));
    }
    let mut count = 0;
    journal.read(behind, None, &mut |record| {
        let Some(hosted) = bandits.get_mut(&record.bandit) else { return Ok(()) };
        let failed =
            |why: String| StoreError(format!("bandit `{}`, record {}: {why}", hosted.name, record.number));
        let live = hosted.live.get_mut().map_err(|error| failed(error.to_string()))?;
        if record.number > live.folded {
            live.apply(&record, &|number| journal.find(number)).map_err(|refused| failed(refused.message))?;
            count += 1;
        }
        Ok(())
    })?;
    Ok(count)
}

/// Who takes snapshots, and forgets.
pub(crate) struct Keeping {
    /// How many days records are kept; for ever if nobody says so.
    days: Option<f64>,
    compacted: Option<Instant>,
}

impl Keeping {
    pub(crate) fn new(days: Option<f64>) -> Self {
        Self { days, compacted: None }
    }

    /// Looks after a service until it stops; the last snapshots are taken then.
    pub(crate) fn run(mut self, shared: &Shared) {
        loop {
            let stop = shared.stop.load(Ordering::Relaxed);
            sweep(shared, if stop { 0 } else { WORTH_KEEPING });
            if stop {
                return;
            }
            if let Some(days) = self.days
                && self.compacted.is_none_or(|then| then.elapsed() > COMPACTED)
            {
                self.compacted = Some(Instant::now());
                if let Err(error) = compact(shared, days) {
                    tracing::warn!(%error, "old records could not be forgotten");
                }
            }
            std::thread::sleep(TICK);
        }
    }
}

/// Takes snapshots, of the bandits with the most records since theirs first, until so few records are without.
fn sweep(shared: &Shared, most: u64) {
    let since = |hosted: &Arc<Hosted>| hosted.hold().map_or(0, |live| live.since);
    if shared.line.unkept() <= most {
        return;
    }
    let mut bandits: Vec<_> =
        shared.hosted().into_iter().map(|hosted| (since(&hosted), hosted)).filter(|one| one.0 > 0).collect();
    bandits.sort_by_key(|(since, _)| std::cmp::Reverse(*since));
    let mut left: u64 = bandits.iter().map(|(since, _)| since).sum();
    for (since, hosted) in bandits {
        if left <= most / 2 {
            return;
        }
        left -= since;
        if let Err(why) = keep(shared, &hosted) {
            tracing::warn!(bandit = hosted.name, why, "a snapshot could not be taken");
            return;
        }
    }
}

/// Takes a snapshot, once all that it knows of is on the disk.
fn keep(shared: &Shared, hosted: &Hosted) -> std::result::Result<(), String> {
    let still = {
        let mut live = hosted.hold().map_err(|refused| refused.message)?;
        shared.line.kept(std::mem::take(&mut live.since));
        live.still()
    };
    if !shared.line.wait_written(still.number()) {
        return Err("the journal cannot be written".to_owned());
    }
    write_whole(&path(&shared.folder, hosted.key), &still.into_bytes()).map_err(|error| error.to_string())?;
    shared.line.meters.snapshots.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// Forgets records that are older than so many days.
fn compact(shared: &Shared, days: f64) -> Result<()> {
    #[expect(clippy::cast_possible_truncation, reason = "a time; casts saturate")]
    let before = now().saturating_sub((days * 86_400_000.0) as i64);
    let (cut, bandits) = lock(&shared.journal).old(before)?;
    for hosted in shared.hosted().into_iter().filter(|hosted| bandits.contains(&hosted.key)) {
        let still = hosted.hold().map_err(|refused| StoreError(refused.message))?.still();
        if !shared.line.wait_written(still.number()) {
            return Ok(());
        }
        let state = still.into_bytes();
        lock(&shared.journal).set_base(hosted.key, &state)?;
    }
    let mut forgotten = 0;
    while !bandits.is_empty() {
        match lock(&shared.journal).forget(cut, TOGETHER)? {
            0 => break,
            gone => forgotten += gone,
        }
    }
    if forgotten > 0 {
        tracing::info!(forgotten, "old records are forgotten");
    }
    Ok(())
}
