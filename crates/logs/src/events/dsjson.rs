//! The Decision Service's JSON: an event in each line, with all actions and the one that was taken.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{NUMBER, number, push};
use crate::error::{Fault, Place, Problem};
use crate::event::{Event, Events, Next, Rejection};
use crate::source::json::{self, Key, each_entry};
use crate::source::lines::{Lines, text};

pub(crate) struct DsJson(Lines);

pub(crate) fn open(lines: Lines) -> DsJson {
    DsJson(lines)
}

impl Events for DsJson {
    fn next(&mut self, event: &mut Event) -> Result<Next, Fault> {
        event.clear();
        if !self.0.next_filled()? {
            return Ok(Next::End);
        }
        read(&self.0.line, event).map_err(|problem| problem.at(self.0.place()))
    }

    fn place(&self) -> Place {
        self.0.place()
    }
}

/// The entries of a line that matter.
const NAMES: [&str; 8] =
    ["c", "_outcomes", "_label_cost", "_labelIndex", "_label_Action", "a", "pdrop", "_skipLearn"];

fn read(line: &[u8], event: &mut Event) -> Result<Next, Problem> {
    let line = text(line)?;
    let mut entries = NAMES.map(|_| None);
    let mut twice = None;
    each_entry(line, |name, value| {
        let entry = NAMES.iter().zip(&mut entries).find(|(known, _)| **known == name);
        if let Some((_, entry)) = entry
            && value != "null"
            && entry.replace(value).is_some()
        {
            twice = Some(name);
        }
    })?;
    if let Some(name) = twice {
        return Err(Problem::TwoColumns { name: name.into_owned() });
    }
    let [context, outcomes, cost, index, action, ranking, dropped, skipped] = entries;
    if outcomes.is_some() {
        return Err(Problem::MultiSlot { kind: "ccb" });
    }
    let Some(context) = context else {
        return Ok(Next::Rejected(Rejection::DanglingReward));
    };
    let start = context.as_ptr().addr() - line.as_ptr().addr();
    let skips = match skipped {
        None | Some("false") => false,
        Some("true") => true,
        Some(other) => return Err(unusable("`_skipLearn`", other, "true or false")),
    };
    let taken = if skips || cost.is_none() { None } else { Taken::find(index, action, ranking)? };
    let (Some(cost), Some(taken)) = (cost, taken) else {
        read_context(context, start, None, event)?;
        let rejection = if skips { Rejection::SkipLearn } else { Rejection::NoReward };
        return Ok(Next::Rejected(rejection));
    };
    let paid = number(cost).ok_or_else(|| unusable("`_label_cost`", cost, NUMBER))?;
    event.reward = 0.0 - paid;
    if let Some(text) = dropped {
        // Each event that was kept stands for those that were dropped as well.
        let share = number(text).filter(|share| (0.0..1.0).contains(share));
        event.weight =
            1.0 / (1.0 - share.ok_or_else(|| unusable("`pdrop`", text, "at least 0 and below 1"))?);
    }
    match read_context(context, start, Some(taken.position), event)? {
        None => Err(Problem::NoActions),
        Some(actions) if taken.position < actions => Ok(Next::Event),
        Some(actions) => Err(taken.unusable(&format!("the place of one of {actions} actions"))),
    }
}

/// Where the action that was taken stands among all of them, from 0, and how that is written.
struct Taken<'a> {
    position: usize,
    name: &'static str,
    text: &'a str,
}

impl<'a> Taken<'a> {
    fn find(
        index: Option<&'a str>,
        action: Option<&'a str>,
        ranking: Option<&'a str>,
    ) -> Result<Option<Self>, Problem> {
        // The action that was taken comes first in a ranking.
        let ranked = ranking.map(|list| {
            let list = list.trim_start_matches('[');
            list.split([',', ']']).next().unwrap_or_default().trim()
        });
        let (name, text, first) = match (index, action, ranked) {
            (Some(text), ..) => ("`_labelIndex`", text, 0),
            (None, Some(text), _) => ("`_label_Action`", text, 1),
            (None, None, Some(text)) if !text.is_empty() => ("the first of `a`", text, 1),
            _ => return Ok(None),
        };
        let position = text.parse().ok().and_then(|place: usize| place.checked_sub(first));
        let taken = Self { position: position.unwrap_or_default(), name, text };
        match position {
            Some(_) => Ok(Some(taken)),
            None => Err(taken.unusable(&format!("the place of an action, counted from {first}"))),
        }
    }

    fn unusable(&self, expected: &str) -> Problem {
        unusable(self.name, self.text, expected)
    }
}

fn unusable(name: &str, text: &str, expected: &str) -> Problem {
    // The sentence has its own quotes.
    Problem::unusable(name, text.trim_matches('"'), expected)
}

/// Adds the features that all actions share and those of the action that was taken; none if no action was.
/// Tells how many actions there are, if they are listed.
fn read_context(
    context: &str,
    start: usize,
    taken: Option<usize>,
    event: &mut Event,
) -> Result<Option<usize>, Problem> {
    let mut walk = Walk { event, path: String::new(), problem: None };
    let mut reader = serde_json::Deserializer::from_str(context);
    let actions = reader.deserialize_map(Context { walk: &mut walk, taken });
    match walk.problem {
        Some(problem) => Err(problem),
        None => actions.map_err(|error| json::problem(&error, start)),
    }
}

/// Goes through nested values once, so that memory is only needed for what becomes a feature. serde_json ends
/// it where nesting becomes too deep.
struct Walk<'e> {
    event: &'e mut Event,
    /// Keys on the way to the value, with dots between them.
    path: String,
    /// Why the walk stopped, if the reason is not in the JSON itself.
    problem: Option<Problem>,
}

impl Walk<'_> {
    fn stop<T, E: Error>(&mut self, problem: Problem) -> Result<T, E> {
        self.problem = Some(problem);
        Err(E::custom("stopped"))
    }

    /// Adds a feature whose name is the path and these parts.
    fn add<E: Error>(&mut self, parts: [&str; 3], value: f64) -> Result<(), E> {
        let [a, b, c] = parts;
        match push(self.event, &[&self.path, a, b, c], value) {
            Ok(()) => Ok(()),
            Err(problem) => self.stop(problem),
        }
    }

    /// Reads the value of a key.
    fn entry<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let dot = if self.path.is_empty() { "" } else { "." };
        if key == "_text" {
            let Key(text) = map.next_value()?;
            return text.split_whitespace().try_for_each(|word| self.add([dot, word, ""], 1.0));
        }
        if key.starts_with('_') {
            return map.next_value().map(|IgnoredAny| ());
        }
        let end = self.path.len();
        self.path.push_str(dot);
        self.path.push_str(key);
        map.next_value_seed(Value { walk: self, index: None })?;
        self.path.truncate(end);
        Ok(())
    }
}

/// The object `c`.
struct Context<'w, 'e> {
    walk: &'w mut Walk<'e>,
    taken: Option<usize>,
}

impl<'de> Visitor<'de> for Context<'_, '_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self { walk, taken } = self;
        let mut actions = None;
        while let Some(Key(key)) = map.next_key()? {
            match &*key {
                "_slots" => return walk.stop(Problem::MultiSlot { kind: "ccb" }),
                "_multi" if actions.is_some() => {
                    return walk.stop(Problem::TwoColumns { name: key.into_owned() });
                }
                "_multi" => actions = Some(map.next_value_seed(Actions { walk, taken })?),
                _ if taken.is_none() => map.next_value().map(|IgnoredAny| ())?,
                key => walk.entry(key, &mut map)?,
            }
        }
        Ok(actions)
    }
}

/// The list `_multi`, of which one action is read and the others are counted.
struct Actions<'w, 'e> {
    walk: &'w mut Walk<'e>,
    taken: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for Actions<'_, '_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Actions<'_, '_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of actions")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<usize, A::Error> {
        let mut count = 0;
        loop {
            let more = if self.taken == Some(count) {
                list.next_element_seed(Action(&mut *self.walk))?.is_some()
            } else {
                list.next_element::<IgnoredAny>()?.is_some()
            };
            if !more {
                return Ok(count);
            }
            count += 1;
        }
    }
}

/// An object, whose entries add to the path.
struct Action<'w, 'e>(&'w mut Walk<'e>);

impl<'de> DeserializeSeed<'de> for Action<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Action<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key()? {
            self.0.entry(&key, &mut map)?;
        }
        Ok(())
    }
}

/// A value of any kind, perhaps at a place of a list.
struct Value<'w, 'e> {
    walk: &'w mut Walk<'e>,
    index: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for Value<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.visit_f64(f64::from(u8::from(value)))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.visit_f64(value as f64)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.visit_f64(value as f64)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        match self.index {
            None => self.walk.add(["", "", ""], value),
            Some(index) => self.walk.add(["[", &index.to_string(), "]"], value),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.walk.add(["=", text, ""], 1.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { walk, index } = self;
        let end = walk.path.len();
        if let Some(index) = index {
            walk.path.extend(["[", &index.to_string(), "]"]);
        }
        let mut place = 0;
        while list.next_element_seed(Value { walk: &mut *walk, index: Some(place) })?.is_some() {
            place += 1;
        }
        walk.path.truncate(end);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        Action(self.walk).visit_map(map)
    }
}

#[cfg(test)]
mod tests;
