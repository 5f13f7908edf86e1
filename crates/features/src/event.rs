//! Events: a decision with its context, its actions, and what is known of its end.
//!
//! ```
//! use truenorth_features::{Event, Value};
//!
//! let mut event = Event::default();
//! event.read_json(r#"{"context":{"user":{"age":30}},"actions":[{"id":"news","price":1.5},{"id":"sport"}],"action":"news","reward":1}"#)?;
//! assert_eq!(event.context().collect::<Vec<_>>(), [("user.age", Value::Number(30.0))]);
//! assert_eq!((event.id(1), event.chosen, event.reward), ("sport", Some(0), Some(1.0)));
//! # Ok::<(), truenorth_features::Error>(())
//! ```

mod json;

use std::ops::Range;

use crate::error::{Error, Result, shortened};
use crate::value::{LARGEST, Value, is_same, level};
pub use json::Misread;

/// What names and texts of one event may take. A long key before many short ones could take far more than the line.
const LONGEST: usize = 64_000_000;
/// Actions of one event.
const MOST_ACTIONS: usize = 100_000;

/// One decision. It can be read into again and again, and keeps its memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// Which action was taken, if one was, counted from 0.
    pub chosen: Option<usize>,
    /// The id of that action, where the event does not list its actions.
    pub played: Option<String>,
    /// What it paid, if that is known.
    pub reward: Option<f64>,
    /// With which probability it was taken, if that is known.
    pub probability: Option<f64>,
    /// The decision's id, if it has one.
    pub decision_id: Option<String>,
    /// When it was made, if that is known.
    pub time: Option<String>,
    /// For how many decisions it stands: more than 1, where some were dropped at random before they were logged.
    pub weight: f64,
    /// The field that names an action which has no `id`, if there is one. It stays when another event is read.
    pub named_by: Option<String>,
    /// Names and texts, one behind the other.
    text: String,
    fields: Vec<(Range<usize>, Raw)>,
    /// How many fields belong to the context.
    shared: usize,
    actions: Vec<Action>,
}

#[derive(Debug, Clone, PartialEq)]
struct Action {
    id: Range<usize>,
    /// Whether the id was given, or is its number.
    has_id: bool,
    /// Where its fields begin.
    start: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Raw {
    Missing,
    Number(f64),
    Truth(bool),
    Text(Range<usize>),
    /// A text that says nothing of its kind.
    Cell(Range<usize>),
}

impl Event {
    /// Forgets everything but the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.fields.clear();
        self.actions.clear();
        self.shared = 0;
        (self.chosen, self.reward, self.probability, self.weight) = (None, None, None, 1.0);
        (self.played, self.decision_id, self.time) = (None, None, None);
    }

    /// Adds a field, whose name is these parts: of the context, or of the action that was added last.
    pub fn push(&mut self, name: &[&str], value: Value<'_>) -> Result<()> {
        let name = self.name(name);
        let end = self.text.len();
        let raw = match value {
            Value::Missing => Raw::Missing,
            Value::Number(number) if number.abs() <= LARGEST => Raw::Number(number),
            Value::Number(number) => {
                return Err(Error::NotFinite {
                    field: self.text[name].to_owned(),
                    value: format!("{number:e}"),
                });
            }
            Value::Truth(truth) => Raw::Truth(truth),
            Value::Text(text) => {
                self.text.push_str(text);
                Raw::Text(end..self.text.len())
            }
            Value::Cell(cell) => {
                self.text.push_str(cell);
                Raw::Cell(end..self.text.len())
            }
        };
        if self.text.len() + size_of_val(&self.fields[..]) > LONGEST {
            return Err(Error::event(format!(
                "the event's fields take more than {} MB",
                LONGEST / 1_000_000
            )));
        }
        self.fields.push((name, raw));
        self.shared = if self.actions.is_empty() { self.fields.len() } else { self.shared };
        Ok(())
    }

    /// Where a name is. Most actions have the fields of the one before, in the same order, and then these names are there
    /// already: so they are kept, and found by an encoder, once.
    fn name(&mut self, parts: &[&str]) -> Range<usize> {
        if let ([name], [.., before, action]) = (parts, &self.actions[..])
            && let Some((known, _)) = self.fields.get(before.start + self.fields.len() - action.start)
            && self.text[known.clone()] == **name
        {
            return known.clone();
        }
        let start = self.text.len();
        self.text.extend(parts.iter().copied());
        start..self.text.len()
    }

    /// Adds an action; fields that are added behind it are its own.
    pub fn push_action(&mut self, id: &str) -> Result<()> {
        if self.actions.len() >= MOST_ACTIONS {
            return Err(Error::event(format!("there are more than {MOST_ACTIONS} actions")));
        }
        let start = self.text.len();
        self.text.push_str(&level(id));
        let id = start..self.text.len();
        self.actions.push(Action { id, has_id: true, start: self.fields.len() });
        Ok(())
    }

    /// Adds an action that may be given an id yet; else it is called by its number.
    pub fn push_numbered(&mut self) -> Result<()> {
        self.push_action(&(self.len() + 1).to_string())?;
        self.actions.iter_mut().last().into_iter().for_each(|last| last.has_id = false);
        Ok(())
    }

    /// Names the action that was added last. Whoever asks is answered by the same letters; the level is that of any text.
    pub fn rename(&mut self, id: &str) {
        if let Some(last) = self.len().checked_sub(1) {
            self.name_action(last, id);
        }
    }

    fn name_action(&mut self, action: usize, id: &str) {
        let start = self.text.len();
        self.text.push_str(id);
        let id = start..self.text.len();
        self.actions[action] = Action { id, has_id: true, ..self.actions[action] };
    }

    /// Names actions without an id by the field that names them.
    fn name_actions(&mut self) {
        let Some(field) = self.named_by.take() else { return };
        for action in 0..self.len() {
            let own = |(name, value): (&str, Value<'_>)| if name == field { value.level() } else { None };
            let id = self.action(action).find_map(own);
            if let Some(id) = id.filter(|_| !self.has_id(action)) {
                self.name_action(action, &id);
            }
        }
        self.named_by = Some(field);
    }

    /// Number of actions.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// Whether there are no actions.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// The id of an action.
    ///
    /// # Panics
    ///
    /// If there is no such action.
    pub fn id(&self, action: usize) -> &str {
        &self.text[self.actions[action].id.clone()]
    }

    /// Whether an action was given its id.
    pub(crate) fn has_id(&self, action: usize) -> bool {
        self.actions[action].has_id
    }

    /// Fields of the context.
    pub fn context(&self) -> impl Iterator<Item = (&str, Value<'_>)> {
        self.fields[..self.shared].iter().map(|(name, raw)| (self.text(name), self.value(raw)))
    }

    /// Fields of an action, without its id.
    ///
    /// # Panics
    ///
    /// If there is no such action.
    pub fn action(&self, action: usize) -> impl Iterator<Item = (&str, Value<'_>)> {
        self.fields_of(action).iter().map(|(name, raw)| (self.text(name), self.value(raw)))
    }

    /// The same by the places of their names; equal places are equal names.
    pub(crate) fn fields_of(&self, action: usize) -> &[(Range<usize>, Raw)] {
        let end = self.actions.get(action + 1).map_or(self.fields.len(), |next| next.start);
        &self.fields[self.actions[action].start..end]
    }

    #[inline]
    pub(crate) fn value(&self, raw: &Raw) -> Value<'_> {
        match raw {
            Raw::Missing => Value::Missing,
            Raw::Number(number) => Value::Number(*number),
            Raw::Truth(truth) => Value::Truth(*truth),
            Raw::Text(place) => Value::Text(self.text(place)),
            Raw::Cell(place) => Value::Cell(self.text(place)),
        }
    }

    /// The name or text at a place.
    #[inline]
    pub(crate) fn text(&self, place: &Range<usize>) -> &str {
        &self.text[place.clone()]
    }

    /// The action of this id: in the same letters, or else the first of the same level.
    pub fn find(&self, id: &str) -> Option<usize> {
        let same = || (0..self.len()).find(|&action| is_same(self.id(action), id));
        (0..self.len()).find(|&action| self.id(action) == id).or_else(same)
    }

    /// Checks what was put together, and finds the action that was taken by its id.
    pub fn check(&mut self, chosen: Option<String>) -> Result<()> {
        self.name_actions();
        // A handful of ids is looked through faster than it is hashed.
        let twice = if self.len() <= 16 {
            (1..self.len()).find(|&action| (0..action).any(|before| self.id(before) == self.id(action)))
        } else {
            let mut seen = rustc_hash::FxHashSet::default();
            (0..self.len()).find(|&action| !seen.insert(self.id(action)))
        };
        if let Some(action) = twice {
            return Err(Error::event(format!("two actions have the id {:?}", shortened(self.id(action)))));
        }
        if let Some(id) = chosen {
            let found = self.find(&id);
            let unknown =
                || Error::event(format!("`action` is {:?}, which is none of the actions", shortened(&id)));
            if self.is_empty() {
                self.played = Some(id);
            } else {
                self.chosen = Some(found.ok_or_else(unknown)?);
            }
        }
        for (name, number) in [("reward", self.reward), ("probability", self.probability)] {
            if let Some(number) = number.filter(|number| number.is_nan() || number.abs() > LARGEST) {
                return Err(Error::event(format!(
                    "`{name}` is {number:e}, but must be a number of at most 1e50 in size"
                )));
            }
        }
        match self.probability {
            Some(share) if !(share > 0.0 && share <= 1.0) => {
                Err(Error::event(format!("`probability` is {share}, but must be above 0 and at most 1")))
            }
            _ => Ok(()),
        }
    }
}
