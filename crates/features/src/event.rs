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

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::error::{Error, Result, shortened};
use crate::value::{LARGEST, Value, level, number_level};

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
    /// Names and texts, one behind the other.
    text: String,
    fields: Vec<(Range<usize>, Raw)>,
    /// How many fields belong to the context.
    shared: usize,
    /// Ids, and where the fields of each action begin.
    actions: Vec<(Range<usize>, usize)>,
}

#[derive(Debug, Clone, PartialEq)]
enum Raw {
    Missing,
    Number(f64),
    Truth(bool),
    Text(Range<usize>),
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
        let start = self.text.len();
        self.text.extend(name.iter().copied());
        let end = self.text.len();
        let raw = match value {
            Value::Missing => Raw::Missing,
            Value::Number(number) if number.abs() <= LARGEST => Raw::Number(number),
            Value::Number(number) => {
                return Err(Error::NotFinite {
                    field: self.text[start..].to_owned(),
                    value: format!("{number:e}"),
                });
            }
            Value::Truth(truth) => Raw::Truth(truth),
            Value::Text(text) | Value::Cell(text) => {
                self.text.push_str(text);
                Raw::Text(end..self.text.len())
            }
        };
        if self.text.len() + size_of_val(&self.fields[..]) > LONGEST {
            return Err(Error::event(format!(
                "the event's fields take more than {} MB",
                LONGEST / 1_000_000
            )));
        }
        self.fields.push((start..end, raw));
        self.shared = if self.actions.is_empty() { self.fields.len() } else { self.shared };
        Ok(())
    }

    /// Adds an action; fields that are added behind it are its own.
    pub fn push_action(&mut self, id: &str) -> Result<()> {
        if self.actions.len() >= MOST_ACTIONS {
            return Err(Error::event(format!("there are more than {MOST_ACTIONS} actions")));
        }
        let start = self.text.len();
        self.text.push_str(&level(id));
        self.actions.push((start..self.text.len(), self.fields.len()));
        Ok(())
    }

    /// Names the action that was added last.
    pub fn rename(&mut self, id: &str) {
        let start = self.text.len();
        self.text.push_str(&level(id));
        if let Some(last) = self.actions.last_mut() {
            last.0 = start..self.text.len();
        }
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
        &self.text[self.actions[action].0.clone()]
    }

    /// Fields of the context.
    pub fn context(&self) -> impl Iterator<Item = (&str, Value<'_>)> {
        self.of(0..self.shared)
    }

    /// Fields of an action, without its id.
    ///
    /// # Panics
    ///
    /// If there is no such action.
    pub fn action(&self, action: usize) -> impl Iterator<Item = (&str, Value<'_>)> {
        let end = self.actions.get(action + 1).map_or(self.fields.len(), |next| next.1);
        self.of(self.actions[action].1..end)
    }

    fn of(&self, range: Range<usize>) -> impl Iterator<Item = (&str, Value<'_>)> {
        self.fields[range].iter().map(|(name, raw)| {
            let value = match raw {
                Raw::Missing => Value::Missing,
                Raw::Number(number) => Value::Number(*number),
                Raw::Truth(truth) => Value::Truth(*truth),
                Raw::Text(text) => Value::Text(&self.text[text.clone()]),
            };
            (&self.text[name.clone()], value)
        })
    }

    /// The action of this id.
    pub fn find(&self, id: &str) -> Option<usize> {
        let id = level(id);
        (0..self.len()).find(|&action| self.id(action) == id)
    }

    /// Reads an event from JSON.
    pub fn read_json(&mut self, text: &str) -> Result<()> {
        self.clear();
        let mut reader = serde_json::Deserializer::from_str(text);
        let mut line = Line { event: self, chosen: None, problem: None };
        let read =
            Part { line: &mut line, kind: Kind::Event }.deserialize(&mut reader).and_then(|()| reader.end());
        let Line { chosen, problem, .. } = line;
        if let Some(problem) = problem {
            return Err(problem);
        }
        read.map_err(|error| not_json(&error))?;
        self.check(chosen)
    }

    /// Reads a value of JSON as the field of a name, or as all fields inside of it. Of names with an underscore in front
    /// nothing is read, if `hidden` says so, but the words of `_text`: so it is in Vowpal Wabbit's JSON.
    pub fn read_value(&mut self, name: &str, json: &str, hidden: bool) -> Result<(), Misread> {
        let mut line = Line { event: self, chosen: None, problem: None };
        let kind = match (name, hidden) {
            ("", _) => Kind::Fields { path: String::new(), hidden },
            _ => Kind::Value { path: name.to_owned(), hidden, place: None },
        };
        let mut reader = serde_json::Deserializer::from_str(json);
        let read = Part { line: &mut line, kind }.deserialize(&mut reader);
        match line.problem {
            Some(problem) => Err(Misread::Value(problem)),
            None => read.map_err(Misread::Json),
        }
    }

    /// Checks what was put together, and finds the action that was taken by its id.
    pub fn check(&mut self, chosen: Option<String>) -> Result<()> {
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
                self.played = Some(level(&id).into_owned());
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

/// Why a value cannot be read.
#[derive(Debug)]
pub enum Misread {
    /// It is no JSON, or not what was expected.
    Json(serde_json::Error),
    /// A field cannot have this value.
    Value(Error),
}

/// What the parser says about a text.
fn not_json(error: &serde_json::Error) -> Error {
    // serde_json ends its sentences with a place inside of the text it was given.
    let sentence = error.to_string();
    let reason = sentence.split(" at line ").next().unwrap_or(&sentence);
    let reason = match reason.char_indices().nth(200) {
        None => reason.to_owned(),
        Some((end, _)) => format!("{}…", &reason[..end]),
    };
    Error::Event(format!("this is not an event in JSON: {reason} at column {}", error.column().max(1)))
}

/// An event that is being read, and why the reading stopped, if the reason is not in the JSON itself.
struct Line<'e> {
    event: &'e mut Event,
    chosen: Option<String>,
    problem: Option<Error>,
}

impl Line<'_> {
    fn stop<T, E: serde::de::Error>(&mut self, problem: Error) -> Result<T, E> {
        self.problem = Some(problem);
        Err(E::custom("stopped"))
    }

    fn push<E: serde::de::Error>(&mut self, name: &[&str], value: Value<'_>) -> Result<(), E> {
        self.event.push(name, value).or_else(|problem| self.stop(problem))
    }
}

/// A part of an event.
struct Part<'w, 'e> {
    line: &'w mut Line<'e>,
    kind: Kind,
}

enum Kind {
    Event,
    Actions,
    Action,
    /// An object whose entries are fields; the keys on the way to it, with dots between them.
    Fields {
        path: String,
        hidden: bool,
    },
    /// A value, perhaps at a place of a list.
    Value {
        path: String,
        hidden: bool,
        place: Option<usize>,
    },
    /// What `features` of an action holds: fields, or numbers in their order.
    Features,
}

/// A key, copied only if it holds an escape.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// An id, which may be a number.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    Unsigned(u64),
    Signed(i64),
    Number(f64),
    Truth(bool),
}

impl Id<'_> {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text.into_owned(),
            Self::Unsigned(number) => number.to_string(),
            Self::Signed(number) => number.to_string(),
            Self::Number(number) => number_level(number),
            Self::Truth(truth) => truth.to_string(),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Part<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.kind {
            Kind::Event | Kind::Action | Kind::Fields { .. } => deserializer.deserialize_map(self),
            Kind::Actions => deserializer.deserialize_seq(self),
            Kind::Value { .. } | Kind::Features => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Part<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Event | Kind::Fields { .. } => "an object",
            Kind::Action => "an action, which is an object",
            Kind::Actions => "a list of actions",
            Kind::Value { .. } => "a value",
            Kind::Features => "an object of fields or a list of numbers",
        })
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        match &self.kind {
            Kind::Value { path, .. } => self.line.push(&[path], Value::Missing),
            _ => Ok(()),
        }
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.leaf(Value::Truth(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.leaf(Value::Number(value as f64))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.leaf(Value::Number(value as f64))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.leaf(Value::Number(value))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        // A list of texts is a field with several levels.
        match &self.kind {
            Kind::Value { path, .. } => self.line.push(&[path], Value::Text(text)),
            _ => Err(E::invalid_type(serde::de::Unexpected::Str(text), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { line, kind } = self;
        match kind {
            Kind::Actions => while list.next_element_seed(Part { line, kind: Kind::Action })?.is_some() {},
            Kind::Features => {
                let mut place = 0;
                while let Some(number) = list.next_element::<f64>()? {
                    place += 1;
                    line.push(&["x", &place.to_string()], Value::Number(number))?;
                }
            }
            Kind::Value { path, hidden, place } => {
                let path = place.map_or_else(|| path.clone(), |place| format!("{path}[{place}]"));
                let mut place = 0;
                loop {
                    let kind = Kind::Value { path: path.clone(), hidden, place: Some(place) };
                    if list.next_element_seed(Part { line, kind })?.is_none() {
                        break;
                    }
                    place += 1;
                }
            }
            _ => return Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &"an object")),
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let Self { line, kind } = self;
        match kind {
            Kind::Event => line.event(map),
            Kind::Action => {
                let position = (line.event.len() + 1).to_string();
                if let Err(problem) = line.event.push_action(&position) {
                    return line.stop(problem);
                }
                line.fields(map, "", false, true)
            }
            Kind::Features => line.fields(map, "", false, false),
            Kind::Fields { path, hidden } => line.fields(map, &path, hidden, false),
            // Objects of a list are one: so it is in Vowpal Wabbit's JSON.
            Kind::Value { path, hidden, .. } => line.fields(map, &path, hidden, false),
            Kind::Actions => Err(A::Error::invalid_type(serde::de::Unexpected::Map, &"a list of actions")),
        }
    }
}

impl Part<'_, '_> {
    fn leaf<E: serde::de::Error>(self, value: Value<'_>) -> Result<(), E> {
        match &self.kind {
            Kind::Value { path, place: None, .. } => self.line.push(&[path], value),
            Kind::Value { path, place: Some(place), .. } => {
                self.line.push(&[path, "[", &place.to_string(), "]"], value)
            }
            _ => Err(E::invalid_type(serde::de::Unexpected::Other("a value"), &self)),
        }
    }
}

impl Line<'_> {
    /// The entries of an event.
    fn event<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let mut seen: Vec<Cow<'de, str>> = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            if seen.contains(&key) {
                return self.stop(Error::event(format!("`{}` is there twice", shortened(&key))));
            }
            match &*key {
                "context" => {
                    if !self.event.actions.is_empty() {
                        // Fields of the context come first in memory, so those of actions make room.
                        self.late_context(&mut map)?;
                    } else {
                        map.next_value_seed(Part { line: self, kind: Kind::Features })?;
                    }
                }
                "actions" => map.next_value_seed(Part { line: self, kind: Kind::Actions })?,
                "action" => self.chosen = map.next_value::<Option<Id<'_>>>()?.map(Id::into_text),
                "reward" => self.event.reward = map.next_value()?,
                "probability" => self.event.probability = map.next_value()?,
                "decision_id" => {
                    self.event.decision_id = map.next_value::<Option<Id<'_>>>()?.map(Id::into_text)
                }
                "time" => self.event.time = map.next_value::<Option<Id<'_>>>()?.map(Id::into_text),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            seen.push(key);
        }
        Ok(())
    }

    /// A context behind the actions.
    fn late_context<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        let mut context = Event::default();
        let mut line = Line { event: &mut context, chosen: None, problem: None };
        let read = map.next_value_seed(Part { line: &mut line, kind: Kind::Features });
        if let Some(problem) = line.problem {
            return self.stop(problem);
        }
        read?;
        let moved = self.event.text.len();
        self.event.text.push_str(&context.text);
        let shift = |range: &Range<usize>| range.start + moved..range.end + moved;
        let fields = context.fields.iter().map(|(name, raw)| {
            let raw = if let Raw::Text(text) = raw { Raw::Text(shift(text)) } else { raw.clone() };
            (shift(name), raw)
        });
        let fields: Vec<_> = fields.collect();
        let count = fields.len();
        self.event.fields.splice(0..0, fields);
        self.event.shared = count;
        self.event.actions.iter_mut().for_each(|(_, start)| *start += count);
        Ok(())
    }

    /// The entries of an object as fields; those of an action may name it.
    fn fields<'de, A: MapAccess<'de>>(
        &mut self,
        mut map: A,
        path: &str,
        hidden: bool,
        action: bool,
    ) -> Result<(), A::Error> {
        let dot = if path.is_empty() { "" } else { "." };
        while let Some(Key(key)) = map.next_key()? {
            match &*key {
                "id" if action => {
                    let id = map.next_value::<Id<'_>>()?.into_text();
                    self.event.rename(&id);
                }
                "features" if action => map.next_value_seed(Part { line: self, kind: Kind::Features })?,
                "_text" if hidden => {
                    let Key(text) = map.next_value()?;
                    for word in text.split_whitespace() {
                        self.push(&[path, dot, word], Value::Number(1.0))?;
                    }
                }
                key if hidden && key.starts_with('_') => {
                    map.next_value::<IgnoredAny>()?;
                }
                key => {
                    let kind = Kind::Value { path: [path, dot, key].concat(), hidden, place: None };
                    map.next_value_seed(Part { line: self, kind })?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let mut event = Event::default();
        if let Err(error) = event.read_json(text) {
            return error.to_string();
        }
        let shown = |fields: &mut dyn Iterator<Item = (&str, Value<'_>)>| {
            fields.map(|(name, value)| format!("{name} {value:?}")).collect::<Vec<_>>().join(", ")
        };
        let actions = (0..event.len())
            .map(|action| format!("{}: {}", event.id(action), shown(&mut event.action(action))));
        let actions = actions.collect::<Vec<_>>().join("; ");
        format!(
            "{} | {actions} | {:?} {:?} {:?}",
            shown(&mut event.context()),
            event.chosen,
            event.reward,
            event.probability
        )
    }

    #[test]
    fn fields_are_found_wherever_they_stand() {
        assert_eq!(
            told(
                r#"{"context":{"user":{"age":30,"vip":true,"tags":["a","b"],"at":[1,[2,3]]},"x":null},"actions":[{"id":"news","features":{"price":1.5,"t":{"u":"v"}}},{"id":7.0,"price":0}],"action":7,"reward":-1,"probability":0.5,"other":[{}]}"#
            ),
            "user.age Number(30.0), user.vip Truth(true), user.tags Text(\"a\"), user.tags Text(\"b\"), user.at[0] Number(1.0), \
             user.at[1][0] Number(2.0), user.at[1][1] Number(3.0), x Missing | \
             news: price Number(1.5), t.u Text(\"v\"); 7: price Number(0.0) | Some(1) Some(-1.0) Some(0.5)"
        );
        assert_eq!(
            told(r#"{"actions":[{"a":1},{"features":[1,2.5]}],"context":{"s":"t"}}"#),
            "s Text(\"t\") | 1: a Number(1.0); 2: x1 Number(1.0), x2 Number(2.5) | None None None"
        );
        assert_eq!(told(r#"{"decision_id":"x","reward":1}"#), " |  | None Some(1.0) None");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, sentence) in [
            ("", "this is not an event in JSON: EOF while parsing a value at column 1"),
            ("[]", "this is not an event in JSON: invalid type: sequence, expected an object at column 1"),
            (
                r#"{"actions":{}}"#,
                "this is not an event in JSON: invalid type: map, expected a list of actions at column 11",
            ),
            (
                r#"{"actions":[1]}"#,
                "this is not an event in JSON: invalid type: integer `1`, expected an action, which is an object at column 13",
            ),
            (r#"{"actions":[{"id":"a"},{"id":"a"}]}"#, "two actions have the id \"a\""),
            (r#"{"actions":[{"id":"a"}],"action":"b"}"#, "`action` is \"b\", which is none of the actions"),
            (
                r#"{"context":{"x":1e60},"actions":[]}"#,
                "field `x` holds 1e60, but numbers must be finite and at most 1e50 in size",
            ),
            (r#"{"reward":1e60}"#, "`reward` is 1e60, but must be a number of at most 1e50 in size"),
            (
                r#"{"reward":"1"}"#,
                "this is not an event in JSON: invalid type: string \"1\", expected f64 at column 13",
            ),
            (r#"{"probability":0}"#, "`probability` is 0, but must be above 0 and at most 1"),
            (r#"{"reward":1,"reward":2}"#, "`reward` is there twice"),
            (
                r#"{"context":5}"#,
                "this is not an event in JSON: invalid type: a value, expected an object of fields or a list of numbers at column 12",
            ),
        ] {
            assert_eq!(told(text), sentence, "{text}");
        }
    }
}
