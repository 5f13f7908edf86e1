//! Where rows and events are received: checked, and turned into features or into a survey of what they hold.

use std::collections::HashMap;

use truenorth_features::{Encoder, Event, ID, Kind, Model, Slot, Survey, Value};

use crate::batch::Batch;
use crate::error::{Error, Place, Problem, Result, shortened};
use crate::selection::{Features, Selection, batch_rows, id_column, position};
use crate::tolerance::{Rejected, Tolerance};

/// Largest size of a number that the library takes: its square and a sum of squares stay finite.
const LARGEST: f64 = 1e50;

/// Features that turned up in a batch at most, which bounds its memory.
const MOST_FOUND: usize = 1 << 16;

/// How many reasons to leave rows out are told apart.
const REASONS: usize = 50;

/// What rows are given to.
pub(crate) trait Sink {
    /// Takes a row, whose values are asked for by column. A row that is wrong leaves no trace, and is an error unless
    /// it is tolerated.
    fn row<'a>(&mut self, place: Place, cell: &dyn Fn(usize) -> Value<'a>) -> Result<()>;

    /// Takes an event.
    fn event(&mut self, place: Place, event: &Event) -> Result<()>;

    /// Leaves a row out if that is tolerated.
    fn reject(&mut self, fault: Error) -> Result<()>;

    /// Whether it has rows that nobody has fetched.
    #[cfg_attr(not(feature = "columnar"), expect(dead_code, reason = "only columns come many rows at once"))]
    fn has_rows(&self) -> bool;

    /// Columns of numbers and the reward, if rows are nothing else.
    fn numbers(&self) -> Option<(&[usize], usize)> {
        None
    }
}

/// The columns of one file that are read, by their positions.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// All columns that a row has.
    names: Vec<String>,
    /// The columns of fields.
    fields: Vec<(Slot, usize)>,
    /// The columns of numbers in their order, if there are no other fields.
    numbers: Option<Vec<usize>>,
    reward: usize,
    pub(crate) round: Option<usize>,
    chosen: Option<usize>,
}

impl Columns {
    /// Events have none.
    pub(crate) fn is_table(&self) -> bool {
        !self.names.is_empty()
    }

    pub(crate) fn new(
        names: Vec<String>,
        encoder: &Encoder,
        reward: &str,
        round: Option<&str>,
        chosen: Option<&str>,
    ) -> Result<Self, Problem> {
        let reward = position(&names, reward)?;
        let round = round.map(|name| position(&names, name)).transpose()?;
        let chosen = chosen.map(|name| position(&names, name)).transpose()?;
        let recipe = encoder.recipe();
        let column = |name: &str| match id_column(&names, recipe) {
            Some(own) if name == ID => position(&names, own),
            _ => position(&names, name),
        };
        let fields = encoder.fields().map(|(name, slot)| Ok((slot, column(name)?)));
        let fields = fields.collect::<Result<Vec<_>, Problem>>()?;
        let plain = recipe.plain_numbers().filter(|_| chosen.is_none());
        let numbers = plain.map(|names| names.into_iter().map(column).collect()).transpose()?;
        Ok(Self { names, fields, numbers, reward, round, chosen })
    }

    pub(crate) fn batch_rows(&self) -> usize {
        batch_rows(self.numbers.as_ref().map_or(64, Vec::len))
    }
}

/// Turns rows into batches of features.
pub(crate) struct Collector {
    pub(crate) columns: Columns,
    pub(crate) encoder: Encoder,
    /// Rows that were left out, by reason, in the order of their first ones.
    pub(crate) rejected: Vec<Rejected>,
    tolerance: Tolerance,
    /// The rows so far.
    pub(crate) batch: Batch,
    /// The rounds so far, with their numbers.
    keys: HashMap<String, usize>,
}

impl Collector {
    pub(crate) fn new(columns: Columns, encoder: Encoder, tolerance: Tolerance) -> Self {
        let batch = Batch::of(columns.numbers.as_ref().map(Vec::len), columns.round.is_some());
        Self { columns, encoder, rejected: Vec::new(), tolerance, batch, keys: HashMap::new() }
    }

    /// Whether the batch has as many rows as it should.
    pub(crate) fn is_full(&self) -> bool {
        self.batch.len() >= self.columns.batch_rows() || self.batch.found.len() >= MOST_FOUND
    }

    /// The rows so far, which are then forgotten.
    pub(crate) fn take(&mut self) -> Batch {
        let empty = Batch::of(self.columns.numbers.as_ref().map(Vec::len), self.columns.round.is_some());
        std::mem::replace(&mut self.batch, empty)
    }

    fn try_row<'a>(&mut self, cell: &dyn Fn(usize) -> Value<'a>) -> Result<(), Problem> {
        let Self { columns, encoder, batch, keys, tolerance, .. } = self;
        if let Some(column) = columns.chosen
            && !is_chosen(&columns.names[column], cell(column))?
        {
            return Ok(());
        }
        let reward = || -> Result<f64, Problem> {
            let name = &columns.names[columns.reward];
            let reward = number(name, cell(columns.reward))?;
            tolerance.check_reward(reward)?;
            Ok(reward)
        };
        let (reward, found) = if let Some(numbers) = &columns.numbers {
            for (&column, values) in numbers.iter().zip(&mut batch.columns) {
                values.push(match number(&columns.names[column], cell(column)) {
                    // Filled in when the mean is known, or 0.
                    Err(problem) if tolerance.missing.fills() && problem.missing().is_some() => {
                        tolerance.filled()
                    }
                    value => value?,
                });
            }
            (reward()?, false)
        } else {
            encoder.clear();
            for &(slot, column) in &columns.fields {
                encoder.put(slot, cell(column))?;
            }
            (reward()?, true)
        };
        if let (Some(column), Some(rounds)) = (columns.round, &mut batch.rounds) {
            let text = key(cell(column));
            if text.is_empty() {
                return Err(Problem::no_value(&columns.names[column]));
            }
            let next = keys.len();
            rounds.push(*keys.entry(text).or_insert(next));
        }
        if found {
            // Last, as a level cannot be taken back.
            encoder.encode()?;
            encoder.count_numbers(1.0);
            batch.push_entries(encoder, 1.0);
        }
        batch.rewards.push(reward);
        Ok(())
    }
}

impl Sink for Collector {
    fn row<'a>(&mut self, place: Place, cell: &dyn Fn(usize) -> Value<'a>) -> Result<()> {
        let rows = self.batch.len();
        self.try_row(cell).or_else(|problem| {
            self.batch.truncate(rows);
            self.reject(problem.at(place))
        })
    }

    fn event(&mut self, place: Place, event: &Event) -> Result<()> {
        let (Some(action), Some(reward)) = (event.chosen, event.reward) else {
            return self.reject(crate::event::NO_REWARD.at(place));
        };
        if let Err(problem) = self.tolerance.check_reward(reward) {
            return self.reject(problem.at(place));
        }
        if let Err(error) = self.encoder.row(event, action) {
            return self.reject(Problem::from(error).at(place));
        }
        self.encoder.count_numbers(event.weight);
        self.batch.push_entries(&self.encoder, event.weight);
        self.batch.rewards.push(reward);
        Ok(())
    }

    fn reject(&mut self, fault: Error) -> Result<()> {
        if !self.tolerance.allows(&fault.problem) {
            return Err(fault);
        }
        let reason = fault.problem.reason();
        let room = self.rejected.len() < REASONS;
        match self.rejected.iter_mut().find(|rejected| rejected.reason == reason) {
            Some(rejected) => rejected.rows += 1,
            None if room => {
                self.rejected.push(Rejected { reason, rows: 1, first: fault.place.to_string() });
            }
            // Reasons without end say no more than the first fifty.
            None => self.rejected[REASONS - 1].rows += 1,
        }
        Ok(())
    }

    fn has_rows(&self) -> bool {
        !self.batch.is_empty()
    }

    fn numbers(&self) -> Option<(&[usize], usize)> {
        let numbers = self.columns.numbers.as_deref().filter(|_| self.columns.round.is_none())?;
        Some((numbers, self.columns.reward))
    }
}

/// Surveys what rows hold.
pub(crate) struct Surveyor {
    pub(crate) survey: Survey,
    /// The columns that may be features: their positions and names, and whether they belong to the action.
    columns: Vec<(usize, String, bool)>,
    /// Whether rows that are wrong are somebody else's matter.
    tolerance: Tolerance,
}

impl Surveyor {
    /// For rows of these columns.
    pub(crate) fn of_table(
        names: &[String],
        selection: &Selection,
        tolerance: Tolerance,
    ) -> Result<Self, Problem> {
        position(names, &selection.reward)?;
        selection.check_action(names)?;
        let action = |name: &str| selection.action.iter().any(|wanted| wanted.fits(name));
        let columns =
            names.iter().enumerate().filter(|(_, name)| selection.may_take(name) && !name.is_empty());
        let columns = columns.map(|(place, name)| (place, name.clone(), action(name))).collect();
        let mut survey = Survey::new(!selection.action.is_empty());
        if let Features::Model(model) = &selection.features {
            survey = survey.measuring(model);
        }
        Ok(Self { survey, columns, tolerance })
    }

    /// Looks at no other columns than these.
    pub(crate) fn keep_columns(&mut self, names: &[String]) {
        self.columns.retain(|(_, name, _)| names.contains(name));
    }

    /// Hears what the types of all columns say.
    pub(crate) fn declare(&mut self, kinds: &[Option<Kind>]) {
        for (column, name, action) in &self.columns {
            if let Some(&kind) = kinds.get(*column) {
                self.survey.declare(name, *action, kind);
            }
        }
    }

    /// For events, and the model that they are to have, if one is given.
    pub(crate) fn of_events(model: Option<&Model>, tolerance: Tolerance) -> Self {
        let survey = Survey::new(true);
        let survey = model.map_or(survey.clone(), |model| survey.measuring(model));
        Self { survey, columns: Vec::new(), tolerance }
    }
}

impl Sink for Surveyor {
    fn row<'a>(&mut self, _: Place, cell: &dyn Fn(usize) -> Value<'a>) -> Result<()> {
        self.survey.rows += 1;
        for (column, name, action) in &self.columns {
            self.survey.add(name, *action, cell(*column));
        }
        Ok(())
    }

    fn event(&mut self, _: Place, event: &Event) -> Result<()> {
        self.survey.rows += 1;
        for (name, value) in event.context() {
            self.survey.add(name, false, value);
        }
        for action in event.chosen.map_or(0..event.len(), |action| action..action + 1) {
            self.survey.add(ID, true, Value::Text(event.id(action)));
            for (name, value) in event.action(action) {
                self.survey.add(name, true, value);
            }
        }
        Ok(())
    }

    fn reject(&mut self, fault: Error) -> Result<()> {
        // What the rows are read for will say so again, and count it.
        if self.tolerance.allows(&fault.problem) { Ok(()) } else { Err(fault) }
    }

    fn has_rows(&self) -> bool {
        false
    }
}

/// Whether a row's action was taken.
pub(crate) fn is_chosen(column: &str, value: Value<'_>) -> Result<bool, Problem> {
    match value.typed() {
        Value::Truth(truth) => Ok(truth),
        Value::Number(0.0) | Value::Missing => Ok(false),
        Value::Number(1.0) => Ok(true),
        other => {
            Err(Problem::unusable(&format!("column `{column}`"), &shown(other), "0 or 1, true or false"))
        }
    }
}

fn shown(value: Value<'_>) -> String {
    match value {
        Value::Missing => String::new(),
        Value::Number(number) => number.to_string(),
        Value::Truth(truth) => truth.to_string(),
        Value::Text(text) | Value::Cell(text) => shortened(text.trim()),
    }
}

/// What tells rounds apart.
fn key(value: Value<'_>) -> String {
    match value {
        Value::Text(text) | Value::Cell(text) => text.trim().to_owned(),
        value => shown(value),
    }
}

/// A number that must be there; true is 1 and false is 0.
pub(crate) fn number(column: &str, value: Value<'_>) -> Result<f64, Problem> {
    match truenorth_features::number(column, value) {
        Ok(Some(number)) => Ok(number),
        Ok(None) => Err(Problem::no_value(column)),
        Err(error) => Err(error.into()),
    }
}

/// A number from a cell of text.
pub(crate) fn parse(column: &str, text: &str) -> Result<f64, Problem> {
    number(column, Value::Cell(text))
}

/// Whether a number is neither NaN nor infinite nor so large that its square could overflow.
pub(crate) fn is_usable(value: f64) -> bool {
    value.abs() <= LARGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_numbers_or_a_sentence() {
        let parsed = |text| parse("x", text).map_err(|problem| problem.to_string());
        for (text, value) in [("1", 1.0), (" -2.5e-3\t", -2.5e-3), ("+.5", 0.5), ("1e50", 1e50)] {
            assert_eq!(parsed(text), Ok(value), "{text}");
        }
        for (text, value) in [("true", 1.0), ("False", 0.0), ("TRUE", 1.0)] {
            assert_eq!(parsed(text), Ok(value), "{text}");
        }
        assert_eq!(parsed(" "), Err("column `x` has no value".to_owned()));
        for text in ["NA", "0x10", "1_000", "１"] {
            assert_eq!(parsed(text), Err(format!("column `x` holds {text:?}, not a number")));
        }
        let comma = "column `x` holds \"1,5\", not a number; numbers have a decimal point and nothing between thousands";
        assert_eq!(parsed("1,5"), Err(comma.to_owned()));
        for text in ["NaN", "inf", "-Infinity", "1.1e50", "-1e400"] {
            let sentence =
                format!("column `x` holds {text}, but numbers must be finite and at most 1e50 in size");
            assert_eq!(parsed(text), Err(sentence));
        }
    }
}
