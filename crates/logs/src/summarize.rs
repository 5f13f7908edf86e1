//! Logs of any size to their summary: in bounded memory, on all cores, the same for any number of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::batch::{Collector, Missing, Rejections, Tolerance};
use crate::error::{Error, Fault, Place, Problem, Result};
use crate::event::{Event, Events, Next};
use crate::events::{self, Items};
use crate::format::Format;
use crate::recipe::{Layout, Recipe};
use crate::selection::Selection;
use crate::source::{self, Opened, columnar::Groups};
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

    /// How features are made, as the first file and the call have it.
    fn recipe(&self, path: &Path) -> Result<Recipe> {
        let in_file = |problem: Problem| Fault::from(problem).in_file(path);
        let format = match self.format {
            Some(format) => format,
            None => Format::detect(path, self.selection.is_some()).map_err(|fault| fault.in_file(path))?,
        };
        let layout = if format.is_table() {
            let selection =
                self.selection.as_ref().ok_or_else(|| in_file(Problem::NoSelection { format }))?;
            let (columns, _) =
                source::open(path, format, None, selection).map_err(|fault| fault.in_file(path))?;
            let taken = columns.named(&columns.features);
            if self.intercept && taken.iter().any(|name| name == INTERCEPT) {
                return Err(in_file(Problem::TwoColumns { name: INTERCEPT.to_owned() }));
            }
            Recipe::table(selection, &columns)
        } else {
            let items = self.items.as_deref().map(Items::read).transpose()?;
            // Open Bandit's features are few.
            let hashed = format != Format::OpenBandit && !self.keep_names;
            Layout::Events { format, hashed, items }
        };
        let buckets = if self.buckets == 0 { BUCKETS } else { self.buckets };
        Ok(Recipe { layout, buckets, intercept: self.intercept, missing: self.tolerance.missing })
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
                        let part = read_unit(recipe, self.format, &self.tolerance, &units[index]);
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
        let path = paths.first().map_or(Path::new(""), PathBuf::as_path);
        let nothing = || Fault::from(Problem::NoRows).in_file(path);
        whole?.filter(|whole| whole.rows() > 0).ok_or_else(nothing)
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

fn format_of(recipe: &Recipe, told: Option<Format>, path: &Path) -> Result<Format, Fault> {
    match (&recipe.layout, told) {
        (Layout::Events { format, .. }, _) => Ok(*format),
        (_, Some(format)) => Ok(format),
        (_, None) => Format::detect(path, true),
    }
}

/// The summary of one piece of work.
fn read_unit(recipe: &Recipe, told: Option<Format>, tolerance: &Tolerance, unit: &Unit) -> Result<Summary> {
    let read = || -> Result<Part, Fault> {
        let format = format_of(recipe, told, unit.path)?;
        match &recipe.layout {
            Layout::Table { .. } => read_table(recipe, format, tolerance, unit),
            Layout::Events { hashed, items, .. } => {
                let events = events::open(unit.path, format, items.as_ref())?;
                read_events(events, recipe, *hashed, tolerance)
            }
        }
    };
    let part = read().map_err(|fault| fault.in_file(unit.path))?;
    Ok(part.summary(recipe, unit.path))
}

/// What one piece of work came to.
struct Part {
    tally: Tally,
    vocabulary: Vocabulary,
    rejections: Rejections,
}

fn read_table(recipe: &Recipe, format: Format, tolerance: &Tolerance, unit: &Unit) -> Result<Part, Fault> {
    let selection = recipe.selection().ok_or(Problem::NoFeatures)?;
    let (columns, opened) = source::open(unit.path, format, unit.group, &selection)?;
    let mut tally = Tally::new(columns.features.len(), tolerance.missing == Missing::Mean);
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
                    tolerance.range.is_none_or(|(low, high)| {
                        rewards.iter().all(|&reward| low <= reward && reward <= high)
                    }) && tally.add_columns(features, rewards)
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

/// Live rows, made as a summary's were, for a test of the summary.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rows {
    /// The features, row after row, multiplied by the summary's scale.
    pub features: Vec<f64>,
    /// A reward for each row.
    pub rewards: Vec<f64>,
    /// A round for each row, if asked for.
    pub rounds: Option<Vec<usize>>,
    /// How often a feature turned up that the summary does not know.
    pub unknown: u64,
    /// Rows that were left out.
    pub rejected: u64,
}

impl Summary {
    /// Reads rows of a file with this summary's features, scaled as its statistic is. Rows of a table may
    /// belong to rounds, by a column.
    pub fn read_rows(&self, path: &Path, format: Option<Format>, round: Option<&str>) -> Result<Rows> {
        self.try_read_rows(path, format, round).map_err(|fault| fault.in_file(path))
    }

    fn try_read_rows(&self, path: &Path, told: Option<Format>, round: Option<&str>) -> Result<Rows, Fault> {
        let format = format_of(&self.recipe, told, path)?;
        let tolerance = Tolerance { missing: self.recipe.missing, ..Tolerance::default() };
        let mut rows = RowsOf::new(self);
        match &self.recipe.layout {
            Layout::Table { .. } => {
                let mut selection = self.recipe.selection().ok_or(Problem::NoFeatures)?;
                if let Some(round) = round {
                    selection = selection.with_round(round);
                    rows.rows.rounds = Some(Vec::new());
                }
                let (columns, opened) = source::open(path, format, None, &selection)?;
                let mut source = opened.into_source();
                let mut collector = Collector::new(columns, tolerance, self.recipe.buckets);
                loop {
                    source.fill(&mut collector)?;
                    let batch = collector.take();
                    if batch.is_empty() {
                        break;
                    }
                    let numbers = batch.columns.len();
                    for row in 0..batch.len() {
                        let values = batch.columns.iter().enumerate().map(|(feature, column)| {
                            let value = column[row];
                            (feature, if value.is_nan() { self.mean(feature) } else { value })
                        });
                        let values: Vec<(usize, f64)> = values.collect();
                        let levels = batch.levels.iter().filter_map(|column| column[row]);
                        let found =
                            rows.known(levels.map(|level| (level, 1.0)), &collector.vocabulary, numbers);
                        rows.push(values.into_iter().chain(found), batch.rewards[row]);
                    }
                    if let (Some(rounds), Some(more)) = (&mut rows.rows.rounds, batch.rounds) {
                        rounds.extend(more);
                    }
                }
                rows.rows.rejected = collector.rejections.0.iter().map(|rejected| rejected.rows).sum();
            }
            Layout::Events { hashed, items, .. } => {
                let mut events = events::open(path, format, items.as_ref())?;
                let mut vocabulary = Vocabulary::new(self.recipe.buckets);
                let mut event = Event::default();
                loop {
                    match events.next(&mut event)? {
                        Next::End => break,
                        Next::Rejected(_) => rows.rows.rejected += 1,
                        Next::Event => {
                            let mut features = Vec::new();
                            for (name, value) in event.features() {
                                let feature = if *hashed {
                                    vocabulary.hashed(&[name])
                                } else {
                                    vocabulary.named(&[name])?
                                };
                                features.push((feature, value));
                            }
                            let found = rows.known(features.into_iter(), &vocabulary, 0);
                            rows.push(found.into_iter(), event.reward);
                        }
                    }
                }
            }
        }
        if rows.rows.rewards.is_empty() {
            return Err(Problem::NoRows.at(Place::File));
        }
        Ok(rows.rows)
    }
}

/// Puts rows together in the order of a summary's features.
struct RowsOf<'a> {
    summary: &'a Summary,
    positions: BTreeMap<&'a str, usize>,
    scale: f64,
    rows: Rows,
}

impl<'a> RowsOf<'a> {
    fn new(summary: &'a Summary) -> Self {
        let positions = summary.features.iter().map(|feature| feature.name.as_str()).zip(0..).collect();
        Self { summary, positions, scale: summary.scale(), rows: Rows::default() }
    }

    /// Features that turned up, as features of the summary.
    fn known(
        &mut self,
        features: impl Iterator<Item = (usize, f64)>,
        vocabulary: &Vocabulary,
        numbers: usize,
    ) -> Vec<(usize, f64)> {
        let mut known = Vec::new();
        for (feature, value) in features {
            match self.positions.get(vocabulary.features()[feature].name.as_str()) {
                Some(&position) if position >= numbers => known.push((position, value)),
                _ => self.rows.unknown += 1,
            }
        }
        known
    }

    fn push(&mut self, features: impl Iterator<Item = (usize, f64)>, reward: f64) {
        let intercept = usize::from(self.summary.recipe.intercept);
        let start = self.rows.features.len();
        self.rows.features.resize(start + self.summary.dimension(), 0.0);
        if intercept == 1 {
            self.rows.features[start] = self.scale;
        }
        for (feature, value) in features {
            self.rows.features[start + intercept + feature] += value * self.scale;
        }
        self.rows.rewards.push(reward);
    }
}

/// Files from names and globs, in the order of the call, those of a glob by name.
pub fn expand(patterns: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for pattern in patterns {
        let text = pattern.to_string_lossy();
        // A file may have such a name itself.
        if !text.contains(['*', '?', '[']) || pattern.exists() {
            paths.push(pattern.clone());
            continue;
        }
        let wrong = |reason: String| Fault::from(Problem::BadGlob { reason }).in_file(pattern);
        let found = glob::glob(&text).map_err(|error| wrong(error.to_string()))?;
        let before = paths.len();
        for path in found {
            let path = path.map_err(|error| Error {
                path: error.path().to_owned(),
                place: Place::File,
                problem: Problem::Unreadable(error.into()),
            })?;
            if path.is_file() {
                paths.push(path);
            }
        }
        if paths.len() == before {
            return Err(wrong("no file has such a name".to_owned()));
        }
    }
    Ok(paths)
}
