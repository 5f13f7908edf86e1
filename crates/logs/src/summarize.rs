//! Logs of any size to their summary: in bounded memory, on all cores, the same for any number of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use truenorth::CrossProducts;
use truenorth_features::{Factor, ID, Kind, Missing, Model, Named, Reading as As, Recipe, Survey, Term};

use crate::batch::Reading;
use crate::collector::{Collector, Sink as _, Surveyor};
use crate::error::{Problem, Result};
use crate::event::Extent;
use crate::events::{self, Items};
use crate::format::Format;
use crate::origin::{Asked, Origin, learning};
use crate::selection::{Features, Selection, position};
use crate::source::{self, Source, Wanted, columnar};
use crate::summary::{Mark, Summary};
use crate::tally::{FEATURES, ONE, REWARD, Tally};
use crate::tolerance::{Rejected, Tolerance};

/// What to summarize, and how.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Format of the files; found out if not told.
    pub format: Option<Format>,
    /// Columns of tables.
    pub selection: Option<Selection>,
    /// The model of events, which have no selection; one that is made from the data, if there is none.
    pub model: Option<Model>,
    /// Into how many features names are hashed; 0 takes [`BUCKETS`].
    pub buckets: u32,
    /// Takes every name of an event as a feature, without a model.
    pub names: Names,
    /// Whether a feature that is always 1 is added, where features are not given by a model.
    pub intercept: bool,
    /// What is tolerated in rows.
    pub tolerance: Tolerance,
    /// The table of items that Open Bandit's rows refer to.
    pub items: Option<PathBuf>,
    /// Number of threads; 0 takes all cores.
    pub threads: usize,
}

/// What becomes of the names of events where no model is given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Names {
    /// A model is made of them.
    #[default]
    Model,
    /// Each is a feature.
    Kept,
    /// Each is hashed.
    Hashed,
}

/// Into how many features names are hashed where nothing else is said.
pub const BUCKETS: u32 = 256;

/// How many rows of the first file tell what fields hold, where no more has to be known.
const SURVEYED: u64 = 20_000;

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
        let (origin, recipe) = self.recipe(paths)?;
        self.read_all(&origin, &recipe, paths, progress)
    }

    /// How features are made, as the files and the call have it.
    pub fn recipe(&self, paths: &[PathBuf]) -> Result<(Origin, Recipe)> {
        let Some(first) = paths.first() else {
            return Err(Problem::other("no files are named").in_file(Path::new("")));
        };
        self.recipe_of(first, paths).map_err(|error| error.in_file(first))
    }

    fn recipe_of(&self, first: &Path, paths: &[PathBuf]) -> Result<(Origin, Recipe)> {
        let detected = || Format::detect(first, self.selection.is_some());
        let format = self.format.map_or_else(detected, Ok)?;
        if !format.is_table() {
            let Some(selection) = &self.selection else { return self.event_recipe(format, first, paths) };
            let plan = Self { model: selection.of_events()?, selection: None, ..self.clone() };
            return plan.event_recipe(format, first, paths);
        }
        let selection = self.selection.as_ref().ok_or(Problem::NoSelection(format))?;
        let (names, _) = source::open(first, format, None, &Wanted::default())?;
        self.table_recipe(selection, &names, |surveyor, limit| {
            for path in paths {
                let read = || -> Result<Surveyor> {
                    let format = self.format.map_or_else(|| Format::detect(path, true), Ok)?;
                    let (columns, mut source) = source::open(path, format, None, &Wanted::default())?;
                    // Another file may have its columns in another order, and more of them.
                    let mut part = Surveyor::of_table(&columns, selection, self.tolerance)?;
                    part.keep_columns(&names);
                    survey(&mut *source, &mut part, limit)?;
                    Ok(part)
                };
                surveyor.survey.merge(read().map_err(|error| error.in_file(path))?.survey);
                if surveyor.survey.rows >= limit {
                    break;
                }
            }
            Ok(())
        })
    }

    /// How the features of a table are made; `read` surveys its rows, up to a number of them.
    pub(crate) fn table_recipe(
        &self,
        selection: &Selection,
        names: &[String],
        read: impl FnOnce(&mut Surveyor, u64) -> Result<()>,
    ) -> Result<(Origin, Recipe)> {
        position(names, &selection.reward)?;
        let origin = Origin::Table { reward: selection.reward.clone(), chosen: selection.chosen.clone() };
        let missing = self.tolerance.missing;
        if let Features::Listed { .. } = &selection.features {
            selection.check_action(names)?;
            let model = selection.listed_model(names, self.buckets(), self.intercept)?;
            let fields = selection.action_fields(names);
            let id = fields.iter().find(|name| is_category(&model, name)).map(|name| (*name).clone());
            let action = (!selection.action.is_empty()).then(|| fields.into_iter().cloned().collect());
            return Ok((origin, Recipe { model, missing, action, id, ..Recipe::default() }));
        }
        let mut surveyor = Surveyor::of_table(names, selection, self.tolerance)?;
        read(&mut surveyor, selection.surveyed_rows())?;
        let mut survey = surveyor.survey;
        if survey.rows == 0 && !survey.is_declared() {
            return Err(Problem::NoRows.into());
        }
        let kinds = survey.kinds();
        let model = if let Features::Model(model) = &selection.features { Some(model) } else { None };
        let is_id = |name: &&&String| {
            kinds.get(name.as_str()) == Some(&Kind::Category)
                || model.is_some_and(|model| is_category(model, name))
        };
        let fields = selection.action_fields(names);
        // Ids may be numbers: those of the first field that is named, unless a model of somebody's own has other fields of the action.
        let is_number = |&(name, alone): &(&str, bool)| (model.is_none() || alone) && survey.may_be_ids(name);
        let number = || selection.first_of_action().filter(is_number).map(|(name, _)| name.to_owned());
        let id = fields.iter().find(is_id).map(|name| (*name).clone()).or_else(number);
        survey.id = id;
        let mut recipe = met(model, &survey, true, missing)?;
        if model.is_none() {
            recipe.left_out.splice(0..0, selection.kept_back(names).cloned());
        }
        Ok((origin, recipe))
    }

    fn event_recipe(&self, format: Format, first: &Path, paths: &[PathBuf]) -> Result<(Origin, Recipe)> {
        let items = self.items.as_deref().map(Items::read).transpose()?;
        let missing = if is_sparse(format) { Missing::Zero } else { self.tolerance.missing };
        let origin = Origin::Events { format, items };
        if self.model.is_none() && self.names != Names::Model {
            let all = Factor::Field(Named::Pattern("*".to_owned()), As::Natural);
            // Where a line is an event, all that is known of an action is its id.
            let own = events::has_only_ids(first, format)?.then(|| Factor::field(ID));
            let term = Term(own.into_iter().chain([all]).collect());
            // Open Bandit's features are few.
            let hashed = self.names == Names::Hashed && format != Format::OpenBandit;
            let term = if hashed { Term(vec![Factor::Hash(vec![term], self.buckets())]) } else { term };
            let model = Model::new(self.intercept, [term]);
            return Ok((origin, Recipe { model, missing, ..Recipe::default() }));
        }
        let limit = surveyed_rows(self.model.as_ref());
        let mut surveyor = Surveyor::of_events(self.model.as_ref(), self.tolerance);
        for path in paths {
            let Origin::Events { items, .. } = &origin else { break };
            let opened = events::open(path, format, items.as_ref(), Extent::Counting);
            let read = opened.and_then(|mut source| survey(&mut *source, &mut surveyor, limit));
            read.map_err(|error| error.in_file(path))?;
            if surveyor.survey.rows >= limit {
                break;
            }
        }
        let survey = surveyor.survey;
        if survey.rows == 0 {
            // What is wrong with all of them is for the reading to say.
            let model = self.model.clone().unwrap_or_default();
            return Ok((origin, Recipe { model, missing, ..Recipe::default() }));
        }
        let made = (format == Format::VowpalWabbit && self.model.is_none()).then(|| survey.sparse_model());
        Ok((origin, met(self.model.as_ref().or(made.as_ref()), &survey, false, missing)?))
    }

    fn buckets(&self) -> u32 {
        if self.buckets == 0 { BUCKETS } else { self.buckets }
    }

    /// Reads all files as an earlier summary was read.
    pub fn summarize_alike(
        &self,
        earlier: &Summary,
        paths: &[PathBuf],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Summary> {
        self.read_all(earlier.origin(), earlier.recipe(), paths, progress)
    }

    fn read_all(
        &self,
        origin: &Origin,
        recipe: &Recipe,
        paths: &[PathBuf],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Summary> {
        let units = &units(origin, self.format, paths)?;
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
                        let part = self.read_unit(origin, recipe, unit);
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
    fn read_unit(
        &self,
        origin: &Origin,
        recipe: &Recipe,
        &Unit { path, group, .. }: &Unit,
    ) -> Result<Summary> {
        // A recipe that fills gaps does so also where more is refused now.
        let asked = Asked {
            format: self.format,
            group,
            found_by: self.selection.as_ref(),
            tolerance: self.tolerance,
            live: true,
            ..Asked::default()
        };
        let opened = origin.open(path, learning(&self.tolerant(origin, recipe)), asked);
        let read = opened.and_then(|reading| self.read(reading, origin, recipe, path, group));
        read.map_err(|error| error.in_file(path))
    }

    /// The recipe with what this plan says about missing values, unless its format has a say in that.
    fn tolerant(&self, origin: &Origin, recipe: &Recipe) -> Recipe {
        let sparse = matches!(origin, Origin::Events { format, .. } if is_sparse(*format));
        let missing = if sparse { Missing::Zero } else { self.tolerance.missing };
        Recipe { missing, ..recipe.clone() }
    }

    pub(crate) fn read(
        &self,
        mut reading: Reading<'_>,
        origin: &Origin,
        recipe: &Recipe,
        path: &Path,
        group: Option<usize>,
    ) -> Result<Summary> {
        let new = || Tally::new(recipe.fixed_features().len(), self.tolerance);
        let mut tally = new();
        let numbers = recipe.plain_numbers().filter(|_| reading.collector.numbers().is_some());
        let is_done = group.zip(numbers).is_some_and(|(group, numbers)| {
            let Origin::Table { reward, .. } = origin else { return false };
            let names: Vec<&str> = numbers.into_iter().chain([reward.as_str()]).collect();
            let mut take = |features: &[&[f64]], rewards: &[f64]| tally.add_columns(features, rewards);
            columnar::for_each_batch(path, group, &names, &mut take)
        });
        if !is_done {
            tally = new();
            while let Some(batch) =
                reading.next(&mut |features, rewards| tally.add_columns(features, rewards))?
            {
                tally.add_batch(&batch, &reading.collector.encoder);
            }
        }
        Ok(summary(origin, &self.tolerant(origin, recipe), path, tally, reading.collector))
    }
}

/// Whether what a row does not name is 0; what a whole event lacks is missing.
fn is_sparse(format: Format) -> bool {
    matches!(format, Format::VowpalWabbit | Format::Dsjson)
}

/// The recipe of a model, or of one that is made of the data.
fn met(model: Option<&Model>, survey: &Survey, table: bool, missing: Missing) -> Result<Recipe, Problem> {
    if let Some(model) = model {
        return Ok(Recipe::meet(model, survey, table, missing)?);
    }
    let (made, left_out) = survey.model();
    let left_out = left_out.into_iter().map(str::to_owned).collect();
    Ok(Recipe { left_out, ..Recipe::meet(&made, survey, table, missing)? })
}

/// Whether a model takes a field as a category, whatever it holds.
fn is_category(model: &Model, name: &str) -> bool {
    model.parts().any(|part| matches!(part, Factor::Field(Named::Name(field), As::Category) if field == name))
}

/// How many rows have to be looked at: all of them where a model takes quantiles from the data, or is made of it.
fn surveyed_rows(model: Option<&Model>) -> u64 {
    let quantiles = |part: &Factor| matches!(part, Factor::Bins(..) | Factor::Spline(..));
    match model {
        Some(model) if !model.parts().any(quantiles) => SURVEYED,
        _ => u64::MAX,
    }
}

impl Selection {
    /// How many rows have to be looked at, unless types say what columns hold.
    pub(crate) fn surveyed_rows(&self) -> u64 {
        match &self.features {
            Features::Listed { .. } => 0,
            Features::Model(model) => surveyed_rows(Some(model)),
            Features::Any => surveyed_rows(None),
        }
    }
}

/// Surveys rows of a source, up to a number of them; where types say what columns hold, only if all rows are needed.
pub(crate) fn survey(source: &mut dyn Source, surveyor: &mut Surveyor, limit: u64) -> Result<()> {
    surveyor.declare(source.kinds());
    if limit < u64::MAX && surveyor.survey.is_declared() {
        return Ok(());
    }
    while surveyor.survey.rows < limit {
        match source.read(surveyor, &mut |_, _| false) {
            Ok(true) => {}
            Ok(false) => break,
            Err(fault) => surveyor.reject(fault)?,
        }
    }
    Ok(())
}

/// A summary that has rows, and that can be read again.
pub(crate) fn not_empty(whole: Summary) -> Result<Summary> {
    match &whole.rejected[..] {
        _ if whole.rows > 0 => whole.check().map(|()| whole).map_err(Into::into),
        [] => Err(Problem::NoRows.into()),
        [Rejected { first, reason, .. }, ..] => {
            let rows: u64 = whole.rejected.iter().map(|rejected| rejected.rows).sum();
            let left_out = match rows {
                1 => format!("the only one was left out, at {first} ({reason})"),
                _ => format!("{rows} were left out, the first at {first} ({reason})"),
            };
            Err(Problem::Other(format!("no row is left: {left_out}")).into())
        }
    }
}

/// The pieces of work in the order of the files.
fn units<'a>(origin: &Origin, format: Option<Format>, paths: &'a [PathBuf]) -> Result<Vec<Unit<'a>>> {
    let mut units = Vec::new();
    for path in paths {
        let parts = || -> Result<(u64, usize)> {
            let file = File::open(path).map_err(Problem::Unreadable)?;
            let bytes = file.metadata().map_err(Problem::Unreadable)?.len();
            let is_parquet = origin.format(format, path)? == Format::Parquet && bytes > 0;
            Ok((bytes, if is_parquet { columnar::groups(&file)? } else { 0 }))
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

/// Puts the sums of one piece of work in the order of a summary: the features that are there whatever the data, those
/// that turned up by name, and the marks.
fn summary(origin: &Origin, recipe: &Recipe, path: &Path, mut tally: Tally, read: Collector) -> Summary {
    let encoder = read.encoder;
    let fixed = recipe.fixed_features().len();
    let found = encoder.features();
    while tally.features.len() < found.len() {
        let width = tally.sums().width();
        tally.features.push(width);
        tally.sums().grow(width + 1);
    }
    let mut order: Vec<usize> = (0..found.len()).collect();
    order[fixed..].sort_unstable_by(|&a, &b| found[a].name.cmp(&found[b].name));
    let mut places = vec![0; found.len()];
    for (place, &feature) in order.iter().enumerate() {
        places[feature] = place;
    }
    let mut marks: Vec<(Mark, usize)> = tally
        .marks
        .iter()
        .map(|((feature, means), &column)| {
            (Mark { feature: places[*feature as usize], means: means.clone() }, column)
        })
        .collect();
    marks.sort_unstable();
    let sums = std::mem::replace(tally.sums(), CrossProducts::new(0));
    let mut means = encoder.number_sums();
    if let Some(numbers) = recipe.plain_numbers() {
        for (name, feature) in numbers.into_iter().zip(0..) {
            let missing = marks.iter().find(|(mark, _)| mark.feature == feature);
            let missing = missing.map_or(0.0, |&(_, column)| sums.get(ONE, column));
            let sum = sums.get(ONE, FEATURES + feature);
            means.insert(name.to_owned(), (sum, sums.get(ONE, ONE) - missing));
        }
    }
    let features = order.iter().map(|&feature| tally.features[feature]);
    let columns: Vec<usize> =
        [ONE, REWARD].into_iter().chain(features).chain(marks.iter().map(|&(_, column)| column)).collect();
    let mut rejected = read.rejected;
    for rejected in &mut rejected {
        rejected.first = format!("{}{}", path.display(), rejected.first);
    }
    Summary {
        origin: origin.clone(),
        recipe: recipe.clone(),
        features: order.iter().map(|&feature| found[feature].clone()).collect(),
        marks: marks.into_iter().map(|(mark, _)| mark).collect(),
        means,
        products: CrossProducts::from_fn(
            columns.len(),
            |i, j| sums.get(columns[i], columns[j]),
            |i| sums.fourth(columns[i]),
        ),
        rows: tally.rows,
        weight_squares: tally.weight_squares,
        largest: tally.largest,
        files: BTreeMap::from([(path.display().to_string(), tally.rows)]),
        rejected,
    }
}
