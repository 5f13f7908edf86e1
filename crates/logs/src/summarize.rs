//! Logs of any size to their summary: in bounded memory, on all cores, the same for any number of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use arrow_array::RecordBatchReader;

use crate::batch::{Collector, Missing, Rejected, Rejections, Tolerance, is_usable};
use crate::error::{Fault, Place, Problem, Result};
use crate::event::{Event, Events, Next};
use crate::events::{self, Items};
use crate::format::Format;
use crate::recipe::{Layout, Recipe};
use crate::selection::{Columns, Selection};
use crate::source::columnar::{self, Groups, Memory};
use crate::source::{self, Opened, doubles};
use crate::summary::{INTERCEPT, Summary, SummaryFeature};
use crate::tally::{FEATURES, ONE, REWARD, Tally};
use crate::vocabulary::{Discovered, Vocabulary};

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
            return Err(Fault::from(Problem::NoFiles).in_file(Path::new("")));
        };
        let recipe = self.recipe(first)?;
        self.add_all(&recipe, paths, progress)
    }

    /// Reads all files as an earlier summary was read.
    pub fn summarize_alike(
        &self,
        recipe: &Recipe,
        paths: &[PathBuf],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Summary> {
        self.add_all(recipe, paths, progress)
    }

    /// Sums up rows that are in memory, which need a selection; `name` stands for the file.
    pub fn summarize_batches(
        &self,
        batches: Box<dyn RecordBatchReader + Send>,
        name: &str,
    ) -> Result<Summary> {
        let path = Path::new(name);
        let part = self.read_batches(batches, path).map_err(|fault| fault.in_file(path));
        not_empty(part.map(Some)?, path)
    }

    fn read_batches(&self, batches: Memory, path: &Path) -> Result<Summary, Fault> {
        let format = Format::Arrow;
        let selection = self.selection.as_ref().ok_or(Problem::NoSelection { format })?;
        let (columns, columnar) = columnar::open_memory(batches, selection)?;
        let recipe = self.table_recipe(selection, &columns)?;
        let part = read_opened(&recipe, columns, Opened::Columns(Box::new(columnar)), &self.tolerance)?;
        Ok(part.with_names_apart(&recipe)?.summary(&recipe, path))
    }

    /// Sums up an array in memory, features row after row; `name` stands for the file. The selection, which is
    /// needed, names the columns. A number that is NaN is a missing value, unless those are refused.
    pub fn summarize_rows(
        &self,
        columns: &[String],
        features: &[f64],
        rewards: &[f64],
        name: &str,
    ) -> Result<Summary> {
        let path = Path::new(name);
        let part = self.read_rows(columns, features, rewards, path).map_err(|fault| fault.in_file(path));
        not_empty(part.map(Some)?, path)
    }

    fn read_rows(
        &self,
        names: &[String],
        features: &[f64],
        rewards: &[f64],
        path: &Path,
    ) -> Result<Summary, Fault> {
        let selection = self.selection.as_ref().ok_or(Problem::NoFeatures)?;
        let reward = selection.reward().to_owned();
        let columns = selection.resolve(names.iter().cloned().chain([reward]).collect())?;
        let recipe = self.table_recipe(selection, &columns)?;
        let (width, block) = (names.len(), columns.batch_rows());
        let mut tally = new_tally(&columns, &self.tolerance);
        let mut collector = Collector::new(columns, self.tolerance, recipe.buckets);
        let mut turned = vec![Vec::new(); width];
        let mut row = 0;
        for rewards in rewards.chunks(block) {
            let first = &features[row * width..][..rewards.len() * width];
            for (place, column) in turned.iter_mut().enumerate() {
                column.clear();
                column.extend(first.iter().skip(place).step_by(width));
            }
            let slices: Vec<&[f64]> =
                collector.columns.features.iter().map(|&column| &turned[column][..]).collect();
            if !add(&mut tally, &self.tolerance, &slices, rewards) {
                // Row by row, to find what is wrong and where.
                for (place, &reward) in rewards.iter().enumerate() {
                    let number = |name: &str, column: usize| match turned
                        .get(column)
                        .map_or(reward, |column| column[place])
                    {
                        value if is_usable(value) => Ok(value),
                        value if value.is_nan() && self.tolerance.missing != Missing::Refuse => {
                            Err(Problem::no_value(name))
                        }
                        value => Err(Problem::not_finite(name, &format!("{value:?}"))),
                    };
                    collector.push(Place::Row((row + place) as u64 + 1), number, |_| "")?;
                }
                tally.add_batch(&collector.take(), 0);
            }
            row += rewards.len();
        }
        let Collector { vocabulary, rejections, .. } = collector;
        Ok(Part { tally, vocabulary, rejections }.summary(&recipe, path))
    }

    /// How features are made from the columns of a table.
    fn table_recipe(&self, selection: &Selection, columns: &Columns) -> Result<Recipe, Problem> {
        if self.intercept && columns.named(&columns.features).iter().any(|name| name == INTERCEPT) {
            return Err(Problem::TwoColumns { name: INTERCEPT.to_owned() });
        }
        Ok(self.recipe_of(Recipe::table(selection, columns)))
    }

    fn recipe_of(&self, layout: Layout) -> Recipe {
        let buckets = if self.buckets == 0 { BUCKETS } else { self.buckets };
        Recipe { layout, buckets, intercept: self.intercept, missing: self.tolerance.missing }
    }

    /// How features are made, as the first file and the call have it.
    fn recipe(&self, path: &Path) -> Result<Recipe> {
        let in_file = |problem: Problem| Fault::from(problem).in_file(path);
        let format = match self.format {
            Some(format) => format,
            None => Format::detect(path, self.selection.is_some()).map_err(|fault| fault.in_file(path))?,
        };
        if format.is_table() {
            let selection =
                self.selection.as_ref().ok_or_else(|| in_file(Problem::NoSelection { format }))?;
            let (columns, _) =
                source::open(path, format, None, selection).map_err(|fault| fault.in_file(path))?;
            self.table_recipe(selection, &columns).map_err(in_file)
        } else {
            let items = self.items.as_deref().map(Items::read).transpose()?;
            // Open Bandit's features are few.
            let hashed = format != Format::OpenBandit && !self.keep_names;
            Ok(self.recipe_of(Layout::Events { format, hashed, items }))
        }
    }

    fn add_all(
        &self,
        recipe: &Recipe,
        paths: &[PathBuf],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Summary> {
        let units = units(recipe, self.format, paths)?;
        let threads = match self.threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let next = AtomicUsize::new(0);
        let last = AtomicUsize::new(units.len());
        let (sender, receiver) = mpsc::channel();
        let mut whole: Result<Option<Summary>> = Ok(None);
        thread::scope(|scope| {
            for _ in 0..threads.min(units.len()) {
                let sender = sender.clone();
                let (next, last, units) = (&next, &last, &units);
                scope.spawn(move || {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        // Behind a failure nothing matters; what comes before may fail earlier.
                        if index >= last.load(Ordering::Relaxed) {
                            break;
                        }
                        let part = self.read_unit(recipe, &units[index]);
                        if part.is_err() {
                            last.fetch_min(index, Ordering::Relaxed);
                        }
                        progress(units[index].bytes);
                        if sender.send((index, part)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            // Parts are added in their order, whoever finished first: sums do not depend on it.
            let mut waiting = BTreeMap::new();
            let mut expected = 0;
            for (index, part) in receiver {
                waiting.insert(index, part);
                while let Some(part) = waiting.remove(&expected) {
                    let path = units[expected].path;
                    expected += 1;
                    whole = match (std::mem::replace(&mut whole, Ok(None)), part) {
                        (Err(error), _) | (Ok(_), Err(error)) => Err(error),
                        (Ok(None), Ok(part)) => Ok(Some(part)),
                        (Ok(Some(mut whole)), Ok(part)) => {
                            whole.merge(&part).map(|()| Some(whole)).map_err(|p| Fault::from(p).in_file(path))
                        }
                    };
                }
            }
        });
        not_empty(whole?, paths.first().map_or(Path::new(""), PathBuf::as_path))
    }

    /// The summary of one piece of work.
    fn read_unit(&self, recipe: &Recipe, unit: &Unit) -> Result<Summary> {
        let read = || -> Result<Part, Fault> {
            let format = format_of(recipe, self.format, unit.path)?;
            match &recipe.layout {
                Layout::Table { .. } => {
                    let selection = recipe.selection().ok_or(Problem::NoFeatures)?;
                    let selection = selection.found_by(self.selection.as_ref());
                    read_table(recipe, &selection, format, &self.tolerance, unit)
                }
                Layout::Events { hashed, items, .. } => {
                    let events = events::open(unit.path, format, items.as_ref())?;
                    read_events(events, recipe, *hashed, &self.tolerance)
                }
            }
        };
        let part = read().and_then(|part| part.with_names_apart(recipe));
        Ok(part.map_err(|fault| fault.in_file(unit.path))?.summary(recipe, unit.path))
    }
}

/// A summary that has rows.
fn not_empty(whole: Option<Summary>, path: &Path) -> Result<Summary> {
    let in_file = |problem: Problem| Err(Fault::from(problem).in_file(path));
    match whole {
        Some(whole) if whole.rows() > 0 => Ok(whole),
        Some(Summary { rejected, .. }) if !rejected.is_empty() => {
            let rows = rejected.iter().map(|rejected| rejected.rows).sum();
            let Rejected { first, reason, .. } = rejected[0].clone();
            in_file(Problem::NoRowsLeft { rows, first, reason })
        }
        _ => in_file(Problem::NoRows),
    }
}

/// The pieces of work in the order of the files.
fn units<'a>(recipe: &Recipe, format: Option<Format>, paths: &'a [PathBuf]) -> Result<Vec<Unit<'a>>> {
    let mut units = Vec::new();
    for path in paths {
        let parts = || -> Result<(u64, Vec<u64>), Fault> {
            let file = File::open(path).map_err(Problem::Unreadable)?;
            let bytes = file.metadata().map_err(Problem::Unreadable)?.len();
            let groups = match format_of(recipe, format, path)? {
                Format::Parquet if bytes > 0 => Groups::of(&file)?.rows(),
                _ => Vec::new(),
            };
            Ok((bytes, groups))
        };
        let (bytes, groups) = parts().map_err(|fault| fault.in_file(path))?;
        let share = bytes / groups.len().max(1) as u64;
        if groups.is_empty() {
            units.push(Unit { path, group: None, bytes });
        }
        units.extend((0..groups.len()).map(|group| Unit { path, group: Some(group), bytes: share }));
    }
    Ok(units)
}

pub(crate) fn format_of(recipe: &Recipe, told: Option<Format>, path: &Path) -> Result<Format, Fault> {
    match (&recipe.layout, told) {
        (Layout::Events { format, .. }, _) => Ok(*format),
        (_, Some(format)) => Ok(format),
        (_, None) => Format::detect(path, true),
    }
}

/// What one piece of work came to.
struct Part {
    tally: Tally,
    vocabulary: Vocabulary,
    rejections: Rejections,
}

fn read_table(
    recipe: &Recipe,
    selection: &Selection,
    format: Format,
    tolerance: &Tolerance,
    unit: &Unit,
) -> Result<Part, Fault> {
    let (columns, opened) = source::open(unit.path, format, unit.group, selection)?;
    if let (Some(group), true) = (unit.group, columns.is_numeric()) {
        let file = File::open(unit.path).map_err(Problem::Unreadable)?;
        let mut tally = new_tally(&columns, tolerance);
        let mut take = |features: &[&[f64]], rewards: &[f64]| add(&mut tally, tolerance, features, rewards);
        if doubles::for_each_batch(file, group, &columns, &mut take) {
            let vocabulary = Vocabulary::new(recipe.buckets);
            return Ok(Part { tally, vocabulary, rejections: Rejections::default() });
        }
    }
    read_opened(recipe, columns, opened, tolerance)
}

fn new_tally(columns: &Columns, tolerance: &Tolerance) -> Tally {
    Tally::new(columns.features.len(), tolerance.missing == Missing::Mean)
}

/// Adds rows that are all numbers, unless something is wrong with one of them.
fn add(tally: &mut Tally, tolerance: &Tolerance, features: &[&[f64]], rewards: &[f64]) -> bool {
    let within = |(low, high): (f64, f64)| rewards.iter().all(|&reward| low <= reward && reward <= high);
    tolerance.range.is_none_or(within) && tally.add_columns(features, rewards)
}

fn read_opened(
    recipe: &Recipe,
    columns: Columns,
    opened: Opened,
    tolerance: &Tolerance,
) -> Result<Part, Fault> {
    let mut tally = new_tally(&columns, tolerance);
    let mut collector = Collector::new(columns, *tolerance, recipe.buckets);
    match opened {
        Opened::Rows(mut source) => loop {
            source.fill(&mut collector)?;
            let batch = collector.take();
            if batch.is_empty() {
                break;
            }
            tally.add_batch(&batch, collector.vocabulary.len());
        },
        Opened::Columns(mut source) => {
            while let Some(batch) = source.next_batch()? {
                let numbers = collector.columns.is_numeric();
                let dense = numbers.then(|| source.dense(&batch, &collector.columns)).flatten();
                let taken = dense.is_some_and(|columns| {
                    let slices: Vec<&[f64]> = columns.iter().map(|column| &column.values()[..]).collect();
                    let Some((rewards, features)) = slices.split_last() else {
                        return false;
                    };
                    add(&mut tally, tolerance, features, rewards)
                });
                if taken {
                    source.skip(batch.num_rows());
                } else {
                    // Row by row, to find what is wrong and where.
                    source.push_rows(&batch, &mut collector)?;
                    tally.add_batch(&collector.take(), collector.vocabulary.len());
                }
            }
        }
    }
    Ok(Part { tally, vocabulary: collector.vocabulary, rejections: collector.rejections })
}

fn read_events(
    mut events: Box<dyn Events>,
    recipe: &Recipe,
    hashed: bool,
    tolerance: &Tolerance,
) -> Result<Part, Fault> {
    let mut part = Part {
        tally: Tally::new(0, false),
        vocabulary: Vocabulary::new(recipe.buckets),
        rejections: Rejections::default(),
    };
    let (mut event, mut features) = (Event::default(), Vec::new());
    loop {
        let next = match events.next(&mut event) {
            Ok(Next::Event) => match tolerance.check_reward(event.reward) {
                Ok(()) => Ok(Next::Event),
                Err(problem) => Err(problem.at(events.place())),
            },
            next => next,
        };
        match next {
            Ok(Next::End) => return Ok(part),
            Ok(Next::Rejected(rejection)) => {
                let place = events.place();
                part.rejections.add(rejection.to_string(), 1, || place.to_string());
            }
            Ok(Next::Event) => {
                features.clear();
                for (name, value) in event.features() {
                    let feature = if hashed {
                        part.vocabulary.hashed(&[name])
                    } else {
                        part.vocabulary.named(&[name])?
                    };
                    features.push((feature, value));
                }
                part.tally.add_event(&features, event.reward, event.weight, part.vocabulary.len());
            }
            Err(fault) if tolerance.skip_malformed && fault.problem.is_about_a_row() => {
                part.rejections.add(fault.problem.reason(), 1, || fault.place.to_string());
            }
            Err(fault) => return Err(fault),
        }
    }
}

impl Part {
    /// Refuses what turned up under the name of a column of numbers: features are told apart by name.
    fn with_names_apart(self, recipe: &Recipe) -> Result<Self, Fault> {
        let clashes = |name: &&String| self.vocabulary.features().iter().any(|found| found.name == **name);
        match recipe.numbers().iter().find(clashes) {
            Some(name) => Err(Problem::TwoColumns { name: name.clone() }.into()),
            None => Ok(self),
        }
    }

    fn summary(self, recipe: &Recipe, path: &Path) -> Summary {
        let Self { tally, vocabulary, rejections } = self;
        let numbers = recipe.numbers();
        let (rows, weight_squares, largest) = (tally.rows, tally.weight_squares, tally.largest);
        let first = tally.first_discovered();
        let products = tally.products(vocabulary.len());
        // Marks without a missing value are dropped, and what turned up is sorted by name.
        let marked = first > FEATURES + numbers.len();
        let imputed: Vec<usize> = (0..numbers.len())
            .filter(|&feature| marked && products.get(ONE, FEATURES + numbers.len() + feature) > 0.0)
            .collect();
        let mut found: Vec<(&Discovered, usize)> = vocabulary.features().iter().zip(first..).collect();
        found.sort_unstable_by(|a, b| a.0.name.cmp(&b.0.name));
        let order: Vec<usize> = [ONE, REWARD]
            .into_iter()
            .chain((0..numbers.len()).map(|feature| FEATURES + feature))
            .chain(found.iter().map(|&(_, column)| column))
            .chain(imputed.iter().map(|&feature| FEATURES + numbers.len() + feature))
            .collect();
        let named = numbers.iter().map(|name| SummaryFeature { name: name.clone(), examples: Vec::new() });
        let discovered = found.iter().map(|(feature, _)| SummaryFeature {
            name: feature.name.clone(),
            examples: feature.examples.iter().cloned().collect(),
        });
        let mut rejected = rejections.0;
        for rejected in &mut rejected {
            rejected.first = format!("{}{}", path.display(), rejected.first);
        }
        Summary {
            recipe: recipe.clone(),
            features: named.chain(discovered).collect(),
            imputed,
            products: products.select(&order),
            rows,
            weight_squares,
            largest,
            files: BTreeMap::from([(path.display().to_string(), rows)]),
            rejected,
        }
    }
}
