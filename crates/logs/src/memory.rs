//! Rows in memory, all together or in parts that are read anywhere: surveyed, then summed up, merged in their order.
//!
//! Of a table in parts, `Plan::survey_batches` says what a part holds, [`Surveyed::merge`] what all of them do, `Plan::make` how
//! features are made of it, and `Plan::summarize_part` sums up a part with these. Surveys, what is made of them and summaries
//! travel as bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};
use truenorth_features::{ID, Recipe, Survey};

use crate::collector::Surveyor;
use crate::error::{Problem, Result, listed};
use crate::format::Format;
use crate::origin::{Asked, Origin, learning};
use crate::selection::{Features, Selection, id_column};
use crate::source::{Memory, Wanted, columnar};
use crate::summarize::{Plan, not_empty, survey};
use crate::summary::Summary;

/// What some rows of a table were seen to hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Surveyed {
    /// All columns.
    names: Vec<String>,
    survey: Survey,
}

impl Surveyed {
    /// Rows that were looked at, which may be none where types say what columns hold.
    pub fn rows(&self) -> u64 {
        self.survey.rows
    }

    /// Adds the rows of another part, which comes behind this one.
    pub fn merge(&mut self, other: Self) -> Result<(), Problem> {
        let lacks = |some: &Self, all: &Self| some.names.iter().any(|name| !all.names.contains(name));
        if lacks(self, &other) || lacks(&other, self) {
            let (mine, theirs) = (listed(&self.names), listed(&other.names));
            return Err(Problem::Other(format!("parts of a table have other columns: {mine} and {theirs}")));
        }
        self.survey.merge(other.survey);
        Ok(())
    }
}

/// How features are made, which all parts of a table have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    origin: Origin,
    recipe: Recipe,
    columns: BTreeSet<String>,
}

impl Made {
    /// How features are made of rows.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The columns that are read, the reward's and all.
    pub fn columns(&self) -> &BTreeSet<String> {
        &self.columns
    }
}

impl Plan {
    /// Sums up rows that are in memory, which need a selection; `name` stands for the file.
    pub fn summarize_batches(&self, batches: Memory<'_>, name: &str) -> Result<Summary> {
        let path = Path::new(name);
        let read = || -> Result<Summary> {
            let (origin, recipe, batches) = self.memory_recipe(batches, self.columns()?)?;
            self.read_batches(&origin, &recipe, batches, path)
        };
        read().and_then(not_empty).map_err(|error| error.in_file(path))
    }

    /// Looks at a part of a table: at its rows only where the model needs that.
    pub fn survey_batches(&self, batches: Memory<'_>, name: &str) -> Result<Surveyed> {
        let read = || -> Result<Surveyed> {
            let selection = self.columns()?;
            let (names, mut source) = columnar::open_memory(batches, &Wanted::default());
            let mut surveyor = Surveyor::of_table(&names, selection, self.tolerance)?;
            survey(&mut *source, &mut surveyor, selection.surveyed_rows())?;
            Ok(Surveyed { names, survey: surveyor.survey })
        };
        read().map_err(|error| error.in_file(Path::new(name)))
    }

    /// Whether rows have to be looked at, or types have said enough.
    pub fn needs_rows(&self, surveyed: &Surveyed) -> bool {
        match self.selection.as_ref().map(Selection::surveyed_rows) {
            None | Some(0) => false,
            Some(rows) => rows == u64::MAX || !surveyed.survey.is_declared(),
        }
    }

    /// The columns that a survey of the parts has to look at, of a table of which so much is known.
    pub fn surveyed_columns(&self, surveyed: &Surveyed) -> Result<BTreeSet<String>> {
        let selection = self.columns()?;
        if matches!(selection.features, Features::Any) || !surveyed.survey.is_declared() {
            return Ok(surveyed.names.iter().cloned().collect());
        }
        let mut columns = self.make(surveyed)?.columns;
        columns.extend(selection.action_fields(&surveyed.names).into_iter().cloned());
        Ok(columns)
    }

    /// How features are made of what was seen of all parts.
    pub fn make(&self, surveyed: &Surveyed) -> Result<Made> {
        let (origin, recipe) = self.table_recipe(self.columns()?, &surveyed.names, |surveyor, _| {
            surveyor.survey.merge(surveyed.survey.clone());
            Ok(())
        })?;
        let own = id_column(&surveyed.names, &recipe);
        let fields = recipe.model.fields().into_iter();
        let fields = fields.map(|name| if name == ID { own.unwrap_or(ID) } else { name }.to_owned());
        let mut columns: BTreeSet<String> = fields.collect();
        if let Origin::Table { reward, chosen } = &origin {
            columns.extend([reward].into_iter().chain(chosen).cloned());
        }
        Ok(Made { origin, recipe, columns })
    }

    /// Sums up a part, which may have no rows: `name` stands for the table, and `part` is its number, if it has one.
    pub fn summarize_part(
        &self,
        made: &Made,
        batches: Memory<'_>,
        name: &str,
        part: Option<u64>,
    ) -> Result<Summary> {
        let place = part.map_or_else(|| name.to_owned(), |part| format!("{name}, partition {part}"));
        let path = Path::new(&place);
        let mut summary = self
            .read_batches(&made.origin, &made.recipe, batches, path)
            .map_err(|error| error.in_file(path))?;
        summary.files = BTreeMap::from([(name.to_owned(), summary.rows)]);
        Ok(summary)
    }

    fn columns(&self) -> Result<&Selection, Problem> {
        self.selection.as_ref().ok_or(Problem::NoSelection(Format::Arrow))
    }

    fn read_batches(
        &self,
        origin: &Origin,
        recipe: &Recipe,
        batches: Memory<'_>,
        path: &Path,
    ) -> Result<Summary> {
        let asked = Asked { tolerance: self.tolerance, ..Asked::default() };
        let reading = origin.open_memory(batches, learning(recipe), asked)?;
        self.read(reading, origin, recipe, path, None)
    }

    /// How the features of rows in memory are made, and the rows.
    pub(crate) fn memory_recipe<'a>(
        &self,
        mut batches: Memory<'a>,
        selection: &Selection,
    ) -> Result<(Origin, Recipe, Memory<'a>)> {
        let names = columnar::names(&batches);
        let mut kept = None;
        let (origin, recipe) = self.table_recipe(selection, &names, |surveyor, limit| {
            let (_, mut source) = columnar::open_memory(columnar::no_rows(&batches), &Wanted::default());
            survey(&mut *source, surveyor, limit)?;
            if limit < u64::MAX && surveyor.survey.is_declared() {
                return Ok(());
            }
            let [looked_at, all] = columnar::twice(&mut batches)?;
            let (_, mut source) = columnar::open_memory(looked_at, &Wanted::default());
            kept = Some(all);
            survey(&mut *source, surveyor, limit)
        })?;
        Ok((origin, recipe, kept.unwrap_or(batches)))
    }
}

impl Summary {
    /// Whether rows were counted, and the summary can be read again: what parts are checked for when all are merged.
    pub fn whole(self) -> Result<Self> {
        not_empty(self)
    }
}
