//! Decisions of a file of any format, one after another, as events.

use std::path::{Path, PathBuf};

use truenorth_features::{Event, Factor, ID, Named, Recipe, Value};
use wildmatch::WildMatch;

use crate::collector::{Sink, is_chosen};
use crate::error::{Error, Place, Problem, Result};
use crate::events;
use crate::format::Format;
use crate::origin::Origin;
use crate::selection::position;
use crate::source::{self, Memory, Source, Wanted, columnar};
use crate::summary::Summary;

/// The events of a file: of a table, each row is one, with the one action that the row is about.
pub struct EventRows {
    path: PathBuf,
    /// None behind an error that nothing can be read after.
    source: Option<Box<dyn Source>>,
    rows: Converted,
}

impl EventRows {
    /// Opens a file of decisions for a summary: of its own format, of events as JSON lines, or a table of its fields.
    pub fn open(path: &Path, format: Option<Format>, summary: &Summary) -> Result<Self> {
        let open = || -> Result<Self> {
            let (origin, recipe) = (summary.origin(), summary.recipe());
            let table = matches!(origin, Origin::Table { .. });
            let format = match format {
                Some(format) => format,
                // A file of JSON lines may hold events also where the logs were a table.
                None => match Format::detect(path, false) {
                    Err(_) if table => Format::detect(path, true)?,
                    detected => detected?,
                },
            };
            if !format.is_table() {
                let items = if let Origin::Events { items, .. } = origin { items.as_ref() } else { None };
                let source = events::open(path, format, items, false)?;
                return Ok(Self { path: path.to_owned(), source: Some(source), rows: Converted::default() });
            }
            let (names, source) = source::open(path, format, None, &Wanted::default())?;
            let rows = Converted::new(&names, recipe, origin)?;
            Ok(Self { path: path.to_owned(), source: Some(source), rows })
        };
        open().map_err(|error| error.in_file(path))
    }

    /// The same for a table in memory; `name` stands for the file.
    pub fn of_batches(batches: Memory<'static>, name: &str, summary: &Summary) -> Result<Self> {
        let path = PathBuf::from(name);
        let (names, source) = columnar::open_memory(batches, &Wanted::default());
        let rows = Converted::new(&names, summary.recipe(), summary.origin());
        let rows = rows.map_err(|problem| problem.in_file(&path))?;
        Ok(Self { path, source: Some(source), rows })
    }
}

impl Iterator for EventRows {
    type Item = Result<Event>;

    /// The next event, or what is wrong with it; behind most of what is wrong there are more.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(event) = self.rows.ready.pop_front() {
                return Some(event.map_err(|error| error.in_file(&self.path)));
            }
            match self.source.as_mut()?.read(&mut self.rows, &mut |_, _| false) {
                Ok(false) if self.rows.ready.is_empty() => {
                    self.source = None;
                    return None;
                }
                Ok(_) => {}
                Err(error) => {
                    if matches!(error.problem, Problem::Unreadable(_) | Problem::Damaged(_)) {
                        self.source = None;
                    }
                    return Some(Err(error.in_file(&self.path)));
                }
            }
        }
    }
}

/// Turns rows into events.
#[derive(Default)]
struct Converted {
    /// Columns of fields, and whether they belong to the action.
    columns: Vec<(usize, String, bool)>,
    id: Option<usize>,
    reward: Option<usize>,
    /// Says whether the action of a row was the one that was taken.
    chosen: Option<(usize, String)>,
    ready: std::collections::VecDeque<Result<Event>>,
}

impl Converted {
    fn new(names: &[String], recipe: &Recipe, origin: &Origin) -> Result<Self, Problem> {
        let (reward, chosen) = match origin {
            Origin::Table { reward, chosen } => (Some(reward), chosen.as_ref()),
            Origin::Events { .. } => (None, None),
        };
        let find = |name: &str| names.iter().position(|other| other == name);
        // Live rows need neither.
        let reward = reward.and_then(|name| find(name));
        let chosen = chosen.and_then(|name| Some((find(name)?, name.clone())));
        let own = recipe.id.as_deref().unwrap_or(ID);
        let id = find(own);
        let mut fields = recipe.model.fields();
        for part in recipe.model.parts() {
            let Factor::Field(Named::Pattern(pattern), _) = part else { continue };
            let pattern = WildMatch::new(pattern);
            let special =
                |place| [reward, id, chosen.as_ref().map(|(place, _)| *place)].contains(&Some(place));
            let fits = names.iter().enumerate().filter(|(at, name)| !special(*at) && pattern.matches(name));
            fields.extend(fits.map(|(_, name)| name.as_str()));
        }
        let mut columns: Vec<(usize, String, bool)> = Vec::new();
        for name in fields {
            let column = if name == ID && id.is_some() { own } else { name };
            let action = recipe.action.as_ref().is_some_and(|action| action.contains(column));
            let place = position(names, column)?;
            if columns.iter().all(|(other, ..)| *other != place) {
                columns.push((place, column.to_owned(), action));
            }
        }
        Ok(Self { columns, id, reward, chosen, ready: std::collections::VecDeque::new() })
    }

    fn of_row<'a>(&self, cell: &dyn Fn(usize) -> Value<'a>) -> Result<Event, Problem> {
        let mut event = Event::default();
        event.clear();
        for pass in [false, true] {
            if pass {
                let id = self.id.map(|column| text(cell(column))).filter(|id| !id.is_empty());
                event.push_action(id.as_deref().unwrap_or("1"))?;
            }
            for (column, name, action) in &self.columns {
                if *action == pass {
                    event.push(&[name], cell(*column).typed())?;
                }
            }
        }
        let taken = self.chosen.as_ref().map_or(Ok(true), |(column, name)| is_chosen(name, cell(*column)))?;
        if let Some(column) = self.reward.filter(|_| taken)
            && let Ok(reward) = crate::collector::number("reward", cell(column))
        {
            (event.reward, event.chosen) = (Some(reward), Some(0));
        }
        Ok(event)
    }
}

fn text(value: Value<'_>) -> String {
    match value {
        Value::Missing => String::new(),
        Value::Number(number) => truenorth_features::number_level(number),
        Value::Truth(truth) => truth.to_string(),
        Value::Text(text) | Value::Cell(text) => text.trim().to_owned(),
    }
}

impl Sink for Converted {
    fn row<'a>(&mut self, place: Place, cell: &dyn Fn(usize) -> Value<'a>) -> Result<()> {
        let event = self.of_row(cell).map_err(|problem| problem.at(place));
        self.ready.push_back(event);
        Ok(())
    }

    fn event(&mut self, _: Place, event: &Event) -> Result<()> {
        self.ready.push_back(Ok(event.clone()));
        Ok(())
    }

    fn reject(&mut self, fault: Error) -> Result<()> {
        Err(fault)
    }

    fn has_rows(&self) -> bool {
        !self.ready.is_empty()
    }
}
