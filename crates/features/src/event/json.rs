//! Events from JSON, in one pass and without a tree.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::hash::BuildHasher as _;
use std::ops::Range;

use rustc_hash::{FxBuildHasher, FxHashSet};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::{Event, Raw};
use crate::error::{Error, Result, shortened};
use crate::value::{Value, number_level};

impl Event {
    /// Reads an event from JSON.
    pub fn read_json(&mut self, text: &str) -> Result<()> {
        self.clear();
        let mut reader = serde_json::Deserializer::from_str(text);
        let mut line = Line::new(self);
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
        let mut line = Line::new(self);
        line.path.push_str(name);
        let kind =
            if name.is_empty() { Kind::Fields { hidden } } else { Kind::Value { hidden, place: None } };
        let mut reader = serde_json::Deserializer::from_str(json);
        let read = Part { line: &mut line, kind }.deserialize(&mut reader);
        match line.problem {
            Some(problem) => Err(Misread::Value(problem)),
            None => read.map_err(Misread::Json),
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
    let reason = without_place(error);
    let reason = match reason.char_indices().nth(200) {
        None => reason,
        Some((end, _)) => format!("{}…", &reason[..end]),
    };
    Error::Event(format!("this is not an event in JSON: {reason} at column {}", error.column().max(1)))
}

/// The sentence of serde_json, which ends with a place inside of the text that it was given.
fn without_place(error: &serde_json::Error) -> String {
    let sentence = error.to_string();
    sentence.split(" at line ").next().unwrap_or_default().to_owned()
}

/// Up to here, every whole number is a double. A larger one is kept as it is written: where it is a level, no digit is lost.
const EXACT: u64 = 1 << 53;

/// An event that is being read, and why the reading stopped, if the reason is not in the JSON itself.
struct Line<'e> {
    event: &'e mut Event,
    /// Keys on the way to the value that is being read, with dots between them.
    path: String,
    chosen: Option<String>,
    problem: Option<Error>,
}

impl<'e> Line<'e> {
    fn new(event: &'e mut Event) -> Self {
        Self { event, path: String::new(), chosen: None, problem: None }
    }

    fn stop<T, E: serde::de::Error>(&mut self, problem: Error) -> Result<T, E> {
        self.problem = Some(problem);
        Err(E::custom("stopped"))
    }

    /// Adds a field whose name is the path and these parts.
    fn push<E: serde::de::Error>(&mut self, more: [&str; 3], value: Value<'_>) -> Result<(), E> {
        let pushed = match more {
            ["", "", ""] => self.event.push(&[&self.path], value),
            [a, b, c] => self.event.push(&[&self.path, a, b, c], value),
        };
        pushed.or_else(|problem| self.stop(problem))
    }
}

/// The keys of an object so far, by their hashes: a handful is looked through faster than it is put into a table.
#[derive(Default)]
struct Keys {
    first: [u64; 16],
    count: usize,
    rest: FxHashSet<u64>,
}

impl Keys {
    /// Adds a key, which must be new.
    fn add<E: serde::de::Error>(&mut self, key: &str, line: &mut Line<'_>) -> Result<(), E> {
        let hash = FxBuildHasher.hash_one(key);
        let is_new = !self.first[..self.count].contains(&hash);
        let is_new = match self.first.get_mut(self.count) {
            Some(free) => {
                *free = hash;
                self.count += 1;
                is_new
            }
            None => is_new && self.rest.insert(hash),
        };
        if is_new {
            return Ok(());
        }
        let dot = if line.path.is_empty() { "" } else { "." };
        line.stop(Error::event(format!(
            "`{}` is there twice",
            shortened(&format!("{}{dot}{key}", line.path))
        )))
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
    /// An object whose entries are fields.
    Fields {
        hidden: bool,
    },
    /// A value, perhaps at a place of a list.
    Value {
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
struct Id(String);

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Id;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a number")
            }
            fn visit_str<E>(self, text: &str) -> Result<Id, E> {
                Ok(Id(text.to_owned()))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Id, E> {
                Ok(Id(number.to_string()))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Id, E> {
                Ok(Id(number.to_string()))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Id, E> {
                Ok(Id(number_level(number)))
            }
        }
        deserializer.deserialize_any(Text)
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
            Kind::Value { .. } => self.line.push([""; 3], Value::Missing),
            _ => Ok(()),
        }
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.leaf(Value::Truth(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        if value.unsigned_abs() <= EXACT {
            return self.leaf(Value::Number(value as f64));
        }
        self.leaf(Value::Cell(&value.to_string()))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        if value <= EXACT {
            return self.leaf(Value::Number(value as f64));
        }
        self.leaf(Value::Cell(&value.to_string()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.leaf(Value::Number(value))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        // A list of texts is a field with several levels.
        match &self.kind {
            Kind::Value { .. } => self.line.push([""; 3], Value::Text(text)),
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
                    line.push(["x", &place.to_string(), ""], Value::Number(number))?;
                }
            }
            Kind::Value { hidden, place } => {
                let end = line.path.len();
                if let Some(place) = place {
                    let _ = write!(line.path, "[{place}]");
                }
                let mut place = 0;
                while list
                    .next_element_seed(Part { line, kind: Kind::Value { hidden, place: Some(place) } })?
                    .is_some()
                {
                    place += 1;
                }
                line.path.truncate(end);
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
                if let Err(problem) = line.event.push_numbered() {
                    return line.stop(problem);
                }
                line.fields(map, false, true)
            }
            Kind::Features => line.fields(map, false, false),
            // Objects of a list are one: so it is in Vowpal Wabbit's JSON.
            Kind::Fields { hidden } | Kind::Value { hidden, .. } => line.fields(map, hidden, false),
            Kind::Actions => Err(A::Error::invalid_type(serde::de::Unexpected::Map, &"a list of actions")),
        }
    }
}

impl Part<'_, '_> {
    fn leaf<E: serde::de::Error>(self, value: Value<'_>) -> Result<(), E> {
        match &self.kind {
            Kind::Value { place: None, .. } => self.line.push([""; 3], value),
            Kind::Value { place: Some(place), .. } => self.line.push(["[", &place.to_string(), "]"], value),
            _ => Err(E::invalid_type(serde::de::Unexpected::Other("a value"), &self)),
        }
    }
}

impl Line<'_> {
    /// The entries of an event.
    fn event<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        let mut keys = Keys::default();
        while let Some(Key(key)) = map.next_key()? {
            keys.add(&key, self)?;
            match &*key {
                "context" => {
                    if self.event.actions.is_empty() {
                        map.next_value_seed(Part { line: self, kind: Kind::Features })?;
                    } else {
                        // Fields of the context come first in memory, so those of actions make room.
                        self.late_context(&mut map)?;
                    }
                }
                "actions" => map.next_value_seed(Part { line: self, kind: Kind::Actions })?,
                "action" => {
                    let given = map.next_value::<&RawValue>()?.get();
                    if given.starts_with('[') {
                        let sentence = "`action` is the id of the action that was taken; what there is to choose from is the list `actions`";
                        return self.stop(Error::event(sentence));
                    }
                    // A place inside of the id alone would be taken for one in the line.
                    let id: Option<Id> = serde_json::from_str(given)
                        .map_err(|error| A::Error::custom(without_place(&error)))?;
                    self.chosen = id.map(|id| id.0);
                }
                "reward" => self.event.reward = self.number(&key, &mut map)?,
                "probability" => self.event.probability = self.number(&key, &mut map)?,
                "decision_id" => {
                    self.event.decision_id = map.next_value::<Option<Id>>()?.map(|id| id.0);
                }
                "time" => self.event.time = map.next_value::<Option<Id>>()?.map(|id| id.0),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    /// A number, if there is one.
    fn number<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<Option<f64>, A::Error> {
        let given = map.next_value::<&RawValue>()?.get();
        if given == "null" {
            return Ok(None);
        }
        let wrong = |_| Error::event(format!("`{name}` is {}, but must be a number", shortened(given)));
        given.parse().map(Some).map_err(wrong).or_else(|problem| self.stop(problem))
    }

    /// A context behind the actions.
    fn late_context<'de, A: MapAccess<'de>>(&mut self, map: &mut A) -> Result<(), A::Error> {
        let mut context = Event::default();
        let mut line = Line::new(&mut context);
        let read = map.next_value_seed(Part { line: &mut line, kind: Kind::Features });
        if let Some(problem) = line.problem {
            return self.stop(problem);
        }
        read?;
        let moved = self.event.text.len();
        self.event.text.push_str(&context.text);
        let shift = |range: &Range<usize>| range.start + moved..range.end + moved;
        let fields = context.fields.iter().map(|(name, raw)| {
            let raw = match raw {
                Raw::Text(text) => Raw::Text(shift(text)),
                Raw::Cell(text) => Raw::Cell(shift(text)),
                raw => raw.clone(),
            };
            (shift(name), raw)
        });
        let fields: Vec<_> = fields.collect();
        let count = fields.len();
        self.event.fields.splice(0..0, fields);
        self.event.shared = count;
        self.event.actions.iter_mut().for_each(|action| action.start += count);
        Ok(())
    }

    /// The entries of an object as fields; those of an action may name it.
    fn fields<'de, A: MapAccess<'de>>(
        &mut self,
        mut map: A,
        hidden: bool,
        action: bool,
    ) -> Result<(), A::Error> {
        let end = self.path.len();
        let dot = if end == 0 { "" } else { "." };
        let mut keys = Keys::default();
        while let Some(Key(key)) = map.next_key()? {
            // Vowpal Wabbit adds up what comes twice.
            if !hidden {
                keys.add(&key, self)?;
            }
            match &*key {
                "id" if action => {
                    if let Some(Id(id)) = map.next_value()? {
                        self.event.rename(&id);
                    }
                }
                "features" if action => map.next_value_seed(Part { line: self, kind: Kind::Features })?,
                "_text" if hidden => {
                    let Key(text) = map.next_value()?;
                    for word in text.split_whitespace() {
                        self.push([dot, word, ""], Value::Number(1.0))?;
                    }
                }
                key if hidden && key.starts_with('_') => {
                    map.next_value::<IgnoredAny>()?;
                }
                key => {
                    self.path.push_str(dot);
                    self.path.push_str(key);
                    map.next_value_seed(Part { line: self, kind: Kind::Value { hidden, place: None } })?;
                    self.path.truncate(end);
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
            (
                r#"{"action":[{"id":"a"}]}"#,
                "`action` is the id of the action that was taken; what there is to choose from is the list `actions`",
            ),
            (r#"{"actions":[{"id":"a"},{"id":"a"}]}"#, "two actions have the id \"a\""),
            (r#"{"actions":[{"id":"a"}],"action":"b"}"#, "`action` is \"b\", which is none of the actions"),
            (
                r#"{"actions":[{"id":"a"}],"action":true}"#,
                "this is not an event in JSON: invalid type: boolean `true`, expected a text or a number at column 38",
            ),
            (
                r#"{"context":{"x":1e60},"actions":[]}"#,
                "field `x` holds 1e60, but numbers must be finite and at most 1e50 in size",
            ),
            (r#"{"reward":1e60}"#, "`reward` is 1e60, but must be a number of at most 1e50 in size"),
            (r#"{"reward":"1"}"#, "`reward` is \"1\", but must be a number"),
            (r#"{"reward": [1, 2] }"#, "`reward` is [1, 2], but must be a number"),
            (r#"{"probability":true}"#, "`probability` is true, but must be a number"),
            (r#"{"reward":1e400}"#, "`reward` is inf, but must be a number of at most 1e50 in size"),
            (r#"{"probability":0}"#, "`probability` is 0, but must be above 0 and at most 1"),
            (r#"{"reward":1,"reward":2}"#, "`reward` is there twice"),
            (r#"{"context":{"x":1,"y":2,"x":3},"actions":[]}"#, "`x` is there twice"),
            (r#"{"context":{"u":{"x":1,"\u0078":3}},"actions":[]}"#, "`u.x` is there twice"),
            (r#"{"actions":[{"id":"a","id":"b"}]}"#, "`id` is there twice"),
            (r#"{"actions":[{"features":{"x":1,"x":1}}],"context":{}}"#, "`x` is there twice"),
            (r#"{"actions":[],"context":{"x":1,"x":1}}"#, "`x` is there twice"),
            (
                r#"{"context":5}"#,
                "this is not an event in JSON: invalid type: a value, expected an object of fields or a list of numbers at column 12",
            ),
        ] {
            assert_eq!(told(text), sentence, "{text}");
        }
    }

    #[test]
    fn a_key_that_comes_twice_is_found_among_many() {
        let event = |more: &str| {
            let keys: Vec<String> = (0..1000).map(|key| format!("\"k{key}\":1")).collect();
            told(&format!("{{\"context\":{{{},\"{more}\":1}},\"actions\":[]}}", keys.join(",")))
        };
        assert_eq!(event("k15"), "`k15` is there twice");
        assert_eq!(event("k16"), "`k16` is there twice");
        assert!(event("k1000").ends_with("k1000 Number(1.0) |  | None None None"));
        // One name may come from many objects, and Vowpal Wabbit adds up what comes twice.
        assert!(told(r#"{"context":{"u":[{"x":1},{"x":2}],"v":{"x":1}},"actions":[]}"#).starts_with("u.x"));
        let mut event = Event::default();
        event.read_value("", r#"{"x":1,"x":2}"#, true).unwrap();
        assert_eq!(event.context().count(), 2);
    }
}
