//! The Decision Service's JSON: an event in each line, with all actions and the one that was taken.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{multi_slot, number};
use crate::error::{Problem, Result};
use crate::event::{Event, NO_REWARD, NUMBER};
use crate::source::json::{self, Key, each_entry};
use crate::source::lines::text;

/// The entries of a line that matter.
const NAMES: [&str; 8] =
    ["c", "_outcomes", "_label_cost", "_labelIndex", "_label_Action", "a", "pdrop", "_skipLearn"];

/// Reads an event from its line.
pub(super) fn read(line: &[u8], event: &mut Event) -> Result<(), Problem> {
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
        return Err(Problem::TwoColumns(name.into_owned()));
    }
    let [context, outcomes, cost, index, action, ranking, dropped, skipped] = entries;
    if outcomes.is_some() {
        return Err(multi_slot("ccb"));
    }
    let Some(context) = context else {
        return Err(Problem::Uncounted("a reward without its decision"));
    };
    let start = context.as_ptr().addr() - line.as_ptr().addr();
    let skips = match skipped {
        None | Some("false") => false,
        Some("true") => true,
        Some(other) => return Err(unusable("`_skipLearn`", other, "true or false")),
    };
    // The action that was taken comes first in a ranking.
    let ranked = ranking.and_then(|list| list.trim_start_matches('[').split([',', ']']).next());
    // Where it stands among all of them: by which entry, its text, and from where that counts.
    let taken = index
        .map(|text| ("`_labelIndex`", text, 0))
        .or(action.map(|text| ("`_label_Action`", text, 1)))
        .or(ranked.map(|text| ("the first of `a`", text.trim(), 1)).filter(|(_, text, _)| !text.is_empty()));
    let label = if skips { None } else { cost.zip(taken) };
    let Some((cost, (name, place, first))) = label else {
        read_context(context, start, None, event)?;
        return Err(if skips { Problem::Uncounted("marked `_skipLearn`") } else { NO_REWARD });
    };
    let misplaced = |expected: &str| unusable(name, place, expected);
    let position = place.parse().ok().and_then(|place: usize| place.checked_sub(first));
    let position =
        position.ok_or_else(|| misplaced(&format!("the place of an action, counted from {first}")))?;
    let paid = number(cost).ok_or_else(|| unusable("`_label_cost`", cost, NUMBER))?;
    event.reward = 0.0 - paid;
    if let Some(text) = dropped {
        // Each event that was kept stands for those that were dropped as well.
        let share = number(text).filter(|share| (0.0..1.0).contains(share));
        event.weight =
            1.0 / (1.0 - share.ok_or_else(|| unusable("`pdrop`", text, "at least 0 and below 1"))?);
    }
    match read_context(context, start, Some(position), event)? {
        None => Err(Problem::other("the event has a cost, but no list `_multi` of the actions")),
        Some(actions) if position < actions => Ok(()),
        Some(actions) => Err(misplaced(&format!("the place of one of {actions} actions"))),
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
    let mut walk = Walk { event, taken, actions: None, path: String::new(), problem: None };
    let mut reader = serde_json::Deserializer::from_str(context);
    let read = Part { walk: &mut walk, kind: Kind::Context }.deserialize(&mut reader);
    match walk.problem {
        Some(problem) => Err(problem),
        None => read.map(|()| walk.actions).map_err(|error| json::problem(&error, start)),
    }
}

/// Goes through nested values once, so that memory is only needed for what becomes a feature. serde_json ends
/// it where nesting becomes too deep.
struct Walk<'e> {
    event: &'e mut Event,
    /// The action that was taken.
    taken: Option<usize>,
    /// How many there are, if they are listed.
    actions: Option<usize>,
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
        self.event.push(&[&self.path, a, b, c], value).or_else(|problem| self.stop(problem))
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
        map.next_value_seed(Part { walk: self, kind: Kind::Value(None) })?;
        self.path.truncate(end);
        Ok(())
    }
}

/// A part of the context on the walk.
struct Part<'w, 'e> {
    walk: &'w mut Walk<'e>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// The object `c`.
    Context,
    /// The list `_multi`, of which one action is read and the others are counted.
    Actions,
    /// An action, whose entries add to the path.
    Action,
    /// A value of any kind, perhaps at a place of a list.
    Value(Option<usize>),
}

impl<'de> DeserializeSeed<'de> for Part<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.kind {
            Kind::Context | Kind::Action => deserializer.deserialize_map(self),
            Kind::Actions => deserializer.deserialize_seq(self),
            Kind::Value(_) => deserializer.deserialize_any(self),
        }
    }
}

impl<'de> Visitor<'de> for Part<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Context | Kind::Action => "an object",
            Kind::Actions => "a list of actions",
            Kind::Value(_) => "a value",
        })
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
        match self.kind {
            Kind::Value(Some(index)) => self.walk.add(["[", &index.to_string(), "]"], value),
            _ => self.walk.add(["", "", ""], value),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.walk.add(["=", text, ""], 1.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { walk, kind } = self;
        let end = walk.path.len();
        if let Kind::Value(Some(index)) = kind {
            walk.path.extend(["[", &index.to_string(), "]"]);
        }
        let mut count = 0;
        loop {
            let more = match kind {
                Kind::Actions if walk.taken != Some(count) => list.next_element::<IgnoredAny>()?.is_some(),
                Kind::Actions => list.next_element_seed(Part { walk, kind: Kind::Action })?.is_some(),
                _ => list.next_element_seed(Part { walk, kind: Kind::Value(Some(count)) })?.is_some(),
            };
            if !more {
                break;
            }
            count += 1;
        }
        if kind == Kind::Actions {
            walk.actions = Some(count);
        }
        walk.path.truncate(end);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { walk, kind } = self;
        let whole = kind == Kind::Context;
        while let Some(Key(key)) = map.next_key()? {
            match &*key {
                "_slots" if whole => return walk.stop(multi_slot("ccb")),
                "_multi" if whole && walk.actions.is_some() => {
                    return walk.stop(Problem::TwoColumns(key.into_owned()));
                }
                "_multi" if whole => map.next_value_seed(Part { walk, kind: Kind::Actions })?,
                _ if walk.taken.is_none() => map.next_value().map(|IgnoredAny| ())?,
                key => walk.entry(key, &mut map)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
