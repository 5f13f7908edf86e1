//! The Decision Service's JSON: an event in each line, with all actions and the one that was taken.

use truenorth_features::{Event, Misread};

use super::{multi_slot, number, unusable_value};
use crate::error::{Problem, Result};
use crate::event::{NO_REWARD, NUMBER};
use crate::source::json::{self, each_entry, each_entry_at, elements};
use crate::source::lines::text;

/// The entries of a line that matter.
const NAMES: [&str; 12] = [
    "c",
    "_outcomes",
    "_label_cost",
    "_labelIndex",
    "_label_Action",
    "a",
    "pdrop",
    "_skipLearn",
    "_multi",
    "_label_probability",
    "_label",
    "_label_ca",
];

/// Reads an event from its line.
pub(super) fn read(line: &[u8], counting: bool, event: &mut Event) -> Result<(), Problem> {
    let line = text(line)?;
    let mut entries = NAMES.map(|_| None);
    let mut twice = None;
    each_entry(line, |name, value| {
        // The service writes `_label_cost`, others `_label_Cost`.
        let is =
            |known: &str| known == name || name.starts_with("_label") && known.eq_ignore_ascii_case(&name);
        let entry = NAMES.iter().zip(&mut entries).find(|(known, _)| is(known));
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
    let [
        context,
        outcomes,
        cost,
        index,
        action,
        ranking,
        dropped,
        skipped,
        multi,
        probability,
        label,
        continuous,
    ] = entries;
    if outcomes.is_some() {
        return Err(multi_slot("ccb or slates"));
    }
    if continuous.is_some() {
        return Err(Problem::other(
            "this is an event with continuous actions (ca): only events with a list of actions are read",
        ));
    }
    // Vowpal Wabbit's plain JSON has the context where the decision service has the rest of the event.
    let plain = multi.is_some() || label.is_some() || cost.is_some() || index.is_some();
    let Some(context) = context.or(plain.then_some(line)) else {
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
        read_context(context, start, if counting { Wanted::None } else { Wanted::All }, event)?;
        return match skips {
            true => Err(Problem::Uncounted("marked `_skipLearn`")),
            false if counting => Err(NO_REWARD),
            false => Ok(()),
        };
    };
    let misplaced = |expected: &str| unusable(name, place, expected);
    let position = place.parse().ok().and_then(|place: usize| place.checked_sub(first));
    let position =
        position.ok_or_else(|| misplaced(&format!("the place of an action, counted from {first}")))?;
    let paid = number(cost).ok_or_else(|| unusable("`_label_cost`", cost, NUMBER))?;
    if let Some(text) = dropped {
        // Each event that was kept stands for those that were dropped as well.
        let share = number(text).filter(|share| (0.0..1.0).contains(share));
        event.weight =
            1.0 / (1.0 - share.ok_or_else(|| unusable("`pdrop`", text, "at least 0 and below 1"))?);
    }
    let wanted = if counting { Wanted::One(position) } else { Wanted::All };
    let listed = read_context(context, start, wanted, event)?;
    (event.reward, event.chosen) = (Some(0.0 - paid), Some(position));
    event.probability = probability.and_then(number).filter(|share| *share > 0.0 && *share <= 1.0);
    match event.len() {
        _ if !listed => Err(Problem::other("the event has a cost, but no list `_multi` of the actions")),
        actions if position < actions => Ok(()),
        actions => Err(misplaced(&format!("the place of one of {actions} actions"))),
    }
}

fn unusable(name: &str, text: &str, expected: &str) -> Problem {
    // The sentence has its own quotes.
    Problem::unusable(name, text.trim_matches('"'), expected)
}

/// Which actions' fields are read.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    None,
    One(usize),
    All,
}

/// Adds the fields that all actions share, and the actions. Tells whether these are listed.
fn read_context(context: &str, start: usize, wanted: Wanted, event: &mut Event) -> Result<bool, Problem> {
    let mut shared = Vec::new();
    let (mut multi, mut problem) = (None, None);
    each_entry_at(context, start, |name, value| match &*name {
        "_slots" => problem = Some(multi_slot("ccb or slates")),
        "_multi" if multi.is_some() => problem = Some(Problem::TwoColumns("_multi".to_owned())),
        "_multi" => multi = Some(value),
        // The decision service's own entries are no features, nor are those of the label.
        name if name.starts_with('_') && name != "_text" => {}
        _ => shared.push((name, value)),
    })?;
    if let Some(problem) = problem {
        return Err(problem);
    }
    let misread = |json: &str, misread: Misread| match misread {
        Misread::Json(error) => json::problem(&error, start + json.as_ptr().addr() - context.as_ptr().addr()),
        Misread::Value(error) => unusable_value(error),
    };
    if wanted != Wanted::None {
        for (name, value) in shared {
            let read = if name == "_text" {
                event.read_value("", &format!("{{\"_text\":{value}}}"), true)
            } else {
                event.read_value(&name, value, true)
            };
            read.map_err(|error| misread(value, error))?;
        }
    }
    let Some(multi) = multi.filter(|multi| *multi != "null") else { return Ok(false) };
    let at = start + multi.as_ptr().addr() - context.as_ptr().addr();
    for (place, action) in elements(multi, at)?.into_iter().enumerate() {
        event.push_numbered().map_err(unusable_value)?;
        if wanted == Wanted::All || wanted == Wanted::One(place) {
            if let Some(id) = id(action, start + action.as_ptr().addr() - context.as_ptr().addr())? {
                event.rename(&id);
            }
            event.read_value("", action, true).map_err(|error| misread(action, error))?;
        }
    }
    Ok(true)
}

/// The id of an action: its tag, or the entry that is called so.
fn id(action: &str, start: usize) -> Result<Option<String>, Problem> {
    let (mut tag, mut id) = (None, None);
    each_entry_at(action, start, |name, value| match &*name {
        "_tag" => tag = Some(value),
        "id" => id = Some(value),
        _ => {}
    })?;
    let text = tag.or(id).filter(|text| !text.starts_with(['{', '[']) && *text != "null");
    Ok(text.map(|text| serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_owned())))
}

#[cfg(test)]
mod tests;
