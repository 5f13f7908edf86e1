//! Logs of any size to their summary: in bounded memory, on all cores, the same for any number of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use truenorth::CrossProducts;

use crate::batch::Reading;
use crate::collector::Collector;
use crate::error::{Problem, Result};
use crate::events::Items;
use crate::format::Format;
use crate::recipe::{Layout, Recipe};
use crate::selection::Selection;
use crate::source::{self, Memory, columnar, doubles};
use crate::summary::{INTERCEPT, Summary, SummaryFeature};
use crate::tally::{FEATURES, ONE, REWARD, Tally};
use crate::tolerance::{Rejected, Tolerance};

/// What to summarize, and how.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Format of the files; found out if not told.
    pub format: Option<Format>,
    /// Columns of tables; events of Vowpal Wabbit and Open Bandit need none.
    pub selection: Option<Selection>,
    /// Into how many features names are hashed; 0 takes [`BUCKETS`].
    pub buckets: u32,
    /// Keeps the names of events' features apart instead of hashing them.
    pub keep_names: bool,
    /// Whether a feature that is always 1 is added.
    pub intercept: bool,
    /// What is tolerated in rows.
    pub tolerance: Tolerance,
    /// The table of items that Open Bandit's rows refer to.
    pub items: Option<PathBuf>,
    /// Number of threads; 0 takes all cores.
    pub threads: usize,
}

/// Into how many features names are hashed where nothing else is said.
pub const BUCKETS: u32 = 256;

/// A piece of work: a file, or a row group of a Parquet file.
struct Unit<'a> {
    path: &'a Path,
    group: Option<usize>,
    /// Bytes of the file, or its share of them.
    bytes: u64,
}

impl Plan {
    /// Reads all files into one summary; `progress` is told about every piece of work that is done, in bytes
    /// of the files.
    pub fn summarize(&self, paths: &[PathBuf], progress: &(dyn Fn(u64) + Sync)) -> Result<Summary> {
        let Some(first) = paths.first() else {
            return Err(Problem::other("no files are named").in_file(Path::new("")));
        };
        let recipe = self.recipe(first).map_err(|error| error.in_file(first))?;
        self.summarize_alike(&recipe, paths, progress)
    }

    /// Sums up rows that are in memory, which need a selection; `name` stands for the file.
    pub fn summarize_batches(&self, batches: Memory<'_>, name: &str) -> Result<Summary> {
        let path = Path::new(name);
        let read = || -> Result<Summary> {
            let selection = self.selection.as_ref().ok_or(Problem::NoSelection(Format::Arrow))?;
            let opened = columnar::open_memory(batches, selection)?;
            let recipe = self.recipe_of(Layout::table(selection, &opened.0))?;
            self.read(Reading::new(opened, self.tolerance, recipe.buckets), &recipe, path, None)
        };
        read().and_then(not_empty).map_err(|error| error.in_file(path))
    }

    /// How features are made, as the first file and the call have it.
    fn recipe(&self, path: &Path) -> Result<Recipe> {
        let detected = || Format::detect(path, self.selection.is_some());
        let format = self.format.map_or_else(detected, Ok)?;
        if !format.is_table() {
            let items = self.items.as_deref().map(Items::read).transpose()?;
            // Open Bandit's features are few.
            let hashed = format != Format::OpenBandit && !self.keep_names;
            return self.recipe_of(Layout::Events { format, hashed, items });
        }
        let selection = self.selection.as_ref().ok_or(Problem::NoSelection(format))?;
        let (columns, _) = source::open(path, format, None, selection)?;
        self.recipe_of(Layout::table(selection, &columns))
    }

    fn recipe_of(&self, layout: Layout) -> Result<Recipe> {
        let buckets = if self.buckets == 0 { BUCKETS } else { self.buckets };
        let recipe = Recipe { layout, buckets, intercept: self.intercept, missing: self.tolerance.missing };
        if self.intercept && recipe.numbers().iter().any(|name| name == INTERCEPT) {
            return Err(Problem::TwoColumns(INTERCEPT.to_owned()).into());
        }
        Ok(recipe)
    }

    /// Reads all files as an earlier summary was read.
    pub fn summarize_alike(
        &self,
        recipe: &Recipe,
        paths: &[PathBuf],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Summary> {
        let units = &units(recipe, self.format, paths)?;
        let threads = match self.threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let next = &AtomicUsize::new(0);
        let (sender, receiver) = mpsc::channel();
        let whole = thread::scope(|scope| -> Result<Option<Summary>> {
            for _ in 0..threads.min(units.len()) {
                let sender = sender.clone();
                scope.spawn(move || {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(unit) = units.get(index) else { break };
                        let part = self.read_unit(recipe, unit);
                        let failed = part.is_err();
                        progress(unit.bytes);
                        // Behind a failure nothing matters; what comes before it has been begun.
                        if sender.send((index, part)).is_err() || failed {
                            next.store(units.len(), Ordering::Relaxed);
                        }
                    }
                });
            }
            drop(sender);
            // Parts are added in their order, whoever finished first: sums do not depend on it.
            let mut waiting = BTreeMap::new();
            let mut expected = 0;
            let mut whole: Option<Summary> = None;
            for (index, part) in receiver {
                waiting.insert(index, part);
                while let Some(part) = waiting.remove(&expected) {
                    match &mut whole {
                        None => whole = Some(part?),
                        Some(whole) => {
                            let path = units[expected].path;
                            whole.merge(&part?).map_err(|problem| problem.in_file(path))?;
                        }
                    }
                    expected += 1;
                }
            }
            Ok(whole)
        });
        let path = paths.first().map_or(Path::new(""), PathBuf::as_path);
        let whole = whole?.ok_or_else(|| Problem::NoRows.in_file(path))?;
        not_empty(whole).map_err(|error| error.in_file(path))
    }

    /// The summary of one piece of work.
    fn read_unit(&self, recipe: &Recipe, &Unit { path, group, .. }: &Unit) -> Result<Summary> {
        let opened = recipe.open(path, self.format, group, None, self.selection.as_ref(), self.tolerance);
        let read = opened.and_then(|reading| self.read(reading, recipe, path, group));
        read.map_err(|error| error.in_file(path))
    }

    fn read(
        &self,
        mut reading: Reading<'_>,
        recipe: &Recipe,
        path: &Path,
        group: Option<usize>,
    ) -> Result<Summary> {
        let new = || Tally::new(recipe.numbers().len(), self.tolerance);
        let mut tally = new();
        let is_done = group.is_some_and(|group| {
            let mut take = |features: &[&[f64]], rewards: &[f64]| tally.add_columns(features, rewards);
            doubles::for_each_batch(path, group, &reading.collector.columns, &mut take)
        });
        if !is_done {
            tally = new();
            while let Some(batch) =
                reading.next(&mut |features, rewards| tally.add_columns(features, rewards))?
            {
                tally.add_batch(&batch, reading.collector.vocabulary.features.len());
            }
        }
        summary(recipe, path, tally, reading.collector)
    }
}

/// A summary that has rows.
fn not_empty(whole: Summary) -> Result<Summary> {
    match &whole.rejected[..] {
        _ if whole.rows > 0 => Ok(whole),
        [] => Err(Problem::NoRows.into()),
        [Rejected { first, reason, .. }, ..] => {
            let rows: u64 = whole.rejected.iter().map(|rejected| rejected.rows).sum();
            let left_out = format!("{rows} were left out, the first at {first} ({reason})");
            Err(Problem::Other(format!("no row is left: {left_out}")).into())
        }
    }
}

/// The pieces of work in the order of the files.
fn units<'a>(recipe: &Recipe, format: Option<Format>, paths: &'a [PathBuf]) -> Result<Vec<Unit<'a>>> {
    let mut units = Vec::new();
    for path in paths {
        let parts = || -> Result<(u64, usize)> {
            let file = File::open(path).map_err(Problem::Unreadable)?;
            let bytes = file.metadata().map_err(Problem::Unreadable)?.len();
            let is_parquet = recipe.format(format, path)? == Format::Parquet && bytes > 0;
            Ok((bytes, if is_parquet { columnar::parquet_groups(&file)?.1.len() } else { 0 }))
        };
        let (bytes, groups) = parts().map_err(|error| error.in_file(path))?;
        if groups == 0 {
            units.push(Unit { path, group: None, bytes });
        }
        let bytes = bytes / groups.max(1) as u64;
        units.extend((0..groups).map(|group| Unit { path, group: Some(group), bytes }));
    }
    Ok(units)
}

/// Puts the sums of one piece of work in the order of a summary: marks without a missing value are dropped, and
/// what turned up is sorted by name.
fn summary(recipe: &Recipe, path: &Path, mut tally: Tally, read: Collector) -> Result<Summary> {
    let (numbers, first) = (recipe.numbers(), tally.first_discovered);
    tally.sums.grow(first + read.vocabulary.features.len());
    let mut found: Vec<(&SummaryFeature, usize)> = read.vocabulary.features.iter().zip(first..).collect();
    // Features are told apart by name, so what turned up must not have that of a column of numbers.
    if let Some(name) = numbers.iter().find(|name| found.iter().any(|(feature, _)| feature.name == **name)) {
        return Err(Problem::TwoColumns(name.clone()).into());
    }
    found.sort_unstable_by(|a, b| a.0.name.cmp(&b.0.name));
    let end = FEATURES + numbers.len();
    let marks = (end..first).filter(|&mark| tally.sums.get(ONE, mark) > 0.0);
    let imputed: Vec<usize> = marks.map(|mark| mark - end).collect();
    let columns =
        [ONE, REWARD].into_iter().chain(FEATURES..end).chain(found.iter().map(|&(_, column)| column));
    let order: Vec<usize> = columns.chain(imputed.iter().map(|feature| end + feature)).collect();
    let named = numbers.iter().map(|name| SummaryFeature { name: name.clone(), examples: Vec::new() });
    let mut rejected = read.rejected;
    for rejected in &mut rejected {
        rejected.first = format!("{}{}", path.display(), rejected.first);
    }
    Ok(Summary {
        recipe: recipe.clone(),
        features: named.chain(found.into_iter().map(|(feature, _)| feature.clone())).collect(),
        imputed,
        products: CrossProducts::from_fn(
            order.len(),
            |i, j| tally.sums.get(order[i], order[j]),
            |i| tally.sums.fourth(order[i]),
        ),
        rows: tally.rows,
        weight_squares: tally.weight_squares,
        largest: tally.largest,
        files: BTreeMap::from([(path.display().to_string(), tally.rows)]),
        rejected,
    })
}
