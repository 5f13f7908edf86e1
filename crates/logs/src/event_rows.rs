//! Decisions of a file of any format, one after another, as events.

use std::path::{Path, PathBuf};

use truenorth_features::{Event, Factor, ID, Named, Value};
use wildmatch::WildMatch;

use crate::collector::{Sink, is_chosen, number};
use crate::error::{Error, Place, Problem, Result};
use crate::event::Extent;
use crate::events;
use crate::format::Format;
use crate::origin::Origin;
use crate::selection::{id_column, position};
use crate::source::{self, Memory, Source, Wanted, columnar};
use crate::summary::Summary;

/// What the reward of an event is called: no pattern of a model of events takes a column of this name.
const REWARD: &str = "reward";

/// Rows of a table behind each other with one value of this column are of one decision, unless the model takes it for a field.
pub const ROUND: &str = "round";

/// What events are read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use<'a> {
    /// To be decided, or to be looked at.
    Live,
    /// To be watched decision by decision.
    Watching,
    Learning,
    Evaluating {
        probability: Option<&'a str>,
    },
}

/// The events of a file: of a table, each row is one, with the one action that the row is about.
pub struct EventRows {
    path: PathBuf,
    /// None behind an error that nothing can be read after.
    source: Option<Box<dyn Source>>,
    rows: Converted,
    /// Where the last event begins.
    place: Place,
}

impl EventRows {
    /// Opens a file of decisions for a summary: of its own format, of events as JSON lines, or a table of its fields.
    pub fn open(path: &Path, format: Option<Format>, summary: &Summary) -> Result<Self> {
        Self::opened(path, format, summary, Use::Live).map_err(|error| error.in_file(path))
    }

    /// The same for a file that is watched for movements of the world: rows of one round of a table are one decision.
    pub fn open_to_watch(path: &Path, format: Option<Format>, summary: &Summary) -> Result<Self> {
        Self::opened(path, format, summary, Use::Watching).map_err(|error| error.in_file(path))
    }

    /// The same for a file whose rewards are to be learned, so that a table must have them.
    pub fn open_to_learn(path: &Path, summary: &Summary) -> Result<Self> {
        Self::opened(path, None, summary, Use::Learning).map_err(|error| error.in_file(path))
    }

    /// The same for a file that another policy is to be evaluated with: a table must have a column of probabilities, and of Open Bandit's
    /// items all are actions, not only the one that was shown.
    pub fn open_to_evaluate(
        path: &Path,
        format: Option<Format>,
        summary: &Summary,
        probability: Option<&str>,
    ) -> Result<Self> {
        let purpose = Use::Evaluating { probability };
        Self::opened(path, format, summary, purpose).map_err(|error| error.in_file(path))
    }

    fn opened(path: &Path, format: Option<Format>, summary: &Summary, purpose: Use<'_>) -> Result<Self> {
        let learn = !matches!(purpose, Use::Live | Use::Watching);
        let origin = summary.origin();
        let table = matches!(origin, Origin::Table { .. });
        let format = match format {
            Some(format) => format,
            // A file of JSON lines may hold events also where the logs were a table.
            None => match Format::detect(path, false) {
                Err(_) if table => Format::detect(path, true)?,
                detected => detected?,
            },
        };
        let (source, rows) = if format.is_table() {
            if learn && !table {
                return Err(Problem::other(
                    "this is a table, and only a summary of tables tells its columns: name the summary",
                )
                .into());
            }
            let (names, source) = source::open(path, format, None, &Wanted::default())?;
            let mut rows = Converted::new(names, summary, learn)?;
            if purpose == Use::Watching {
                let round = rows.names.iter().position(|name| name == ROUND);
                let is_field =
                    |round| rows.id == Some(round) || rows.columns.iter().any(|&(field, _)| field == round);
                rows.round = round.filter(|round| !is_field(*round));
            }
            if let Use::Evaluating { probability } = purpose {
                let column = probability.ok_or(Problem::NoProbability)?;
                rows.probability = Some(position(&rows.names, column)?);
            }
            (source, rows)
        } else {
            let items = if let Origin::Events { items, .. } = origin { items.as_ref() } else { None };
            let extent =
                if matches!(purpose, Use::Evaluating { .. }) { Extent::Everything } else { Extent::Listed };
            (events::open(path, format, items, extent)?, Converted::default())
        };
        Ok(Self { path: path.to_owned(), source: Some(source), rows, place: Place::File })
    }

    /// What is wrong with the last event, with its place.
    pub fn error(&self, problem: impl Into<Problem>) -> Error {
        problem.into().at(self.place).in_file(&self.path)
    }

    /// The same for a table in memory; `name` stands for the file.
    pub fn of_batches(batches: Memory<'static>, name: &str, summary: &Summary) -> Result<Self> {
        let path = PathBuf::from(name);
        let (names, source) = columnar::open_memory(batches, &Wanted::default());
        let rows = Converted::new(names, summary, false).map_err(|problem| problem.in_file(&path))?;
        Ok(Self { path, source: Some(source), rows, place: Place::File })
    }
}

impl Iterator for EventRows {
    type Item = Result<Event>;

    /// The next event, or what is wrong with it; behind most of what is wrong there are more.
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((place, event)) = self.rows.ready.pop_front() {
                self.place = place;
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
    /// All columns that a row has.
    names: Vec<String>,
    /// Columns of fields, and whether they belong to the action.
    columns: Vec<(usize, bool)>,
    id: Option<usize>,
    reward: Option<usize>,
    chosen: Option<usize>,
    probability: Option<usize>,
    round: Option<usize>,
    ready: std::collections::VecDeque<(Place, Result<Event>)>,
}

impl Converted {
    /// Live rows may have no rewards, unless these are to be learned.
    fn new(names: Vec<String>, summary: &Summary, learn: bool) -> Result<Self, Problem> {
        let recipe = summary.recipe();
        let (mut reward, mut chosen) = (None, None);
        if let Origin::Table { reward: paid, chosen: taken } = summary.origin()
            && (learn || names.contains(paid))
        {
            reward = Some(position(&names, paid)?);
            chosen = taken.as_ref().map(|name| position(&names, name)).transpose()?;
        }
        let id = id_column(&names, recipe).filter(|id| names.iter().any(|name| name == id));
        let id = id.map(|id| position(&names, id)).transpose()?;
        let mut places = Vec::new();
        for part in recipe.model.parts() {
            match part {
                Factor::Field(Named::Pattern(pattern), _) => {
                    let fits = WildMatch::new(pattern);
                    places.extend((0..names.len()).filter(|&column| {
                        Some(column) != id && names[column] != REWARD && fits.matches(&names[column])
                    }));
                }
                // The action's id stands for it.
                part if part.name() == Some(ID) && id.is_some() => {}
                part => places.extend(part.name().map(|name| position(&names, name)).transpose()?),
            }
        }
        let mut columns: Vec<(usize, bool)> = Vec::new();
        for column in places {
            let action = recipe.action.as_ref().is_some_and(|action| action.contains(&names[column]));
            if !columns.contains(&(column, action)) {
                columns.push((column, action));
            }
        }
        Ok(Self { names, columns, id, reward, chosen, ..Self::default() })
    }

    fn of_row<'a>(&self, cell: &dyn Fn(usize) -> Value<'a>) -> Result<Event, Problem> {
        let mut event = Event::default();
        event.clear();
        for pass in [false, true] {
            if pass {
                let id = |column| cell(column).level().ok_or_else(|| Problem::no_value(&self.names[column]));
                event.push_action(&self.id.map_or_else(|| Ok("1".to_owned()), id)?)?;
            }
            for &(column, action) in &self.columns {
                if action == pass {
                    event.push(&[&self.names[column]], cell(column))?;
                }
            }
        }
        event.decision_id = self.round.and_then(|column| cell(column).level());
        let taken = self.chosen.map_or(Ok(true), |column| is_chosen(&self.names[column], cell(column)))?;
        if let Some(column) = self.reward.filter(|_| taken) {
            match number(&self.names[column], cell(column)) {
                // A decision whose reward nobody knows.
                Err(problem) if problem.missing().is_some() => {}
                reward => (event.reward, event.chosen) = (Some(reward?), Some(0)),
            }
        }
        if let Some(column) = self.probability {
            let name = &self.names[column];
            let share = number(name, cell(column))?;
            if !(share > 0.0 && share <= 1.0) {
                let range = "above 0 and at most 1";
                return Err(Problem::unusable(&format!("`{name}`"), &share.to_string(), range));
            }
            event.probability = Some(share);
        }
        Ok(event)
    }
}

impl Sink for Converted {
    fn row<'a>(&mut self, place: Place, cell: &dyn Fn(usize) -> Value<'a>) -> Result<()> {
        let event = self.of_row(cell).map_err(|problem| problem.at(place));
        self.ready.push_back((place, event));
        Ok(())
    }

    fn event(&mut self, place: Place, event: &Event) -> Result<()> {
        self.ready.push_back((place, Ok(event.clone())));
        Ok(())
    }

    fn reject(&mut self, fault: Error) -> Result<()> {
        Err(fault)
    }

    fn has_rows(&self) -> bool {
        !self.ready.is_empty()
    }
}
