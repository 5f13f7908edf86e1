//! Logs that name their features event by event: one module for each format.

mod dsjson;
mod obd;
mod plain;
#[cfg(test)]
mod tests;
mod vw;

use std::path::Path;

pub use obd::Items;

use truenorth_features::Event;

use crate::collector::{Sink, is_usable};
use crate::error::{Problem, Result};
use crate::event::{EventLines, Events, Extent, NUMBER};
use crate::format::Format;
use crate::source::json::each_entry;
use crate::source::lines::{Lines, text};
use crate::source::{Source, Take};

/// Opens a file of events.
pub(crate) fn open(
    path: &Path,
    format: Format,
    items: Option<&Items>,
    extent: Extent,
) -> Result<Box<dyn Source>> {
    let lines = Lines::open(path)?;
    let counting = extent == Extent::Counting;
    let events: Box<dyn Events> = match format {
        Format::VowpalWabbit => vw::open(lines, counting)?,
        Format::Dsjson => Box::new(EventLines { lines, counting, read: dsjson::read }),
        Format::Events => Box::new(EventLines { lines, counting, read: plain::read }),
        Format::OpenBandit => Box::new(obd::open(lines, items, extent == Extent::Everything)?),
        _ => return Err(Problem::NoFeatures.into()),
    };
    Ok(Box::new(EventSource { events, event: Event::default() }))
}

/// Whether nothing is known of an action but its id: so it is in Vowpal Wabbit's `cb`.
pub(crate) fn has_only_ids(path: &Path, format: Format) -> Result<bool> {
    Ok(format == Format::VowpalWabbit && !vw::is_adf(&mut Lines::open(path)?, &mut Vec::new())?)
}

/// Events as rows.
struct EventSource {
    events: Box<dyn Events>,
    event: Event,
}

impl Source for EventSource {
    fn read(&mut self, sink: &mut dyn Sink, _: &mut Take<'_>) -> Result<bool> {
        self.event.clear();
        let Some(place) = self.events.next(&mut self.event)? else { return Ok(false) };
        sink.event(place, &self.event)?;
        Ok(true)
    }
}

/// The format of events that a file's first line that is not blank tells.
pub(crate) fn sniffed(line: &[u8]) -> Option<Format> {
    let line = text(line).ok()?;
    if is_obd_header(line) {
        Some(Format::OpenBandit)
    } else if looks_like_dsjson(line) {
        Some(Format::Dsjson)
    } else if looks_like_event(line) {
        Some(Format::Events)
    } else {
        looks_like_vw(line).then_some(Format::VowpalWabbit)
    }
}

/// Whether the first line is the header of a log of the Open Bandit Dataset.
fn is_obd_header(line: &str) -> bool {
    let has = |name: &str| line.split(',').any(|field| field.trim().trim_matches('"') == name);
    // A table of items is sent there as well, to be told what it is for.
    has("item_id") && (has("position") && has("click") || has("item_feature_0"))
}

/// Whether the first line that is not blank is one of the Decision Service's.
fn looks_like_dsjson(line: &str) -> bool {
    let (mut event, mut id, mut reward) = (false, false, false);
    let read = each_entry(line, |name, value| match &*name {
        "c" => event |= value.starts_with('{'),
        "_label_cost" | "_label_Cost" | "_labelIndex" | "_label" | "_outcomes" | "_multi" => event = true,
        "EventId" => id = true,
        "RewardValue" | "ActionTaken" => reward = true,
        _ => {}
    });
    read.is_ok() && (event || id && reward)
}

/// Whether the first line that is not blank is an event with its actions.
fn looks_like_event(line: &str) -> bool {
    let mut found = false;
    let read = each_entry(line, |name, value| found |= name == "actions" && value.starts_with('['));
    read.is_ok() && found
}

/// Whether the first line that is not blank is one of Vowpal Wabbit's text.
fn looks_like_vw(line: &str) -> bool {
    let Some((head, _)) = line.split_once('|') else {
        return false;
    };
    let touching = !head.ends_with(|last: char| last.is_ascii_whitespace());
    let mut words = head.split_ascii_whitespace().peekable();
    let Some(first) = words.next() else {
        return true;
    };
    // A lone number that touches the bar is a tag, but could as well be a table with bars between fields.
    let is_tag = touching && words.peek().is_none() && !first.contains(':');
    let is_label = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit() || b":.+-eE".contains(&byte));
    first.starts_with('\'')
        || matches!(first, "shared" | "ccb" | "slates" | "ca")
        || is_label(first) && !is_tag
}

/// A number that the library takes.
fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|&value| is_usable(value))
}

/// A value that a feature cannot have.
fn unusable_value(error: truenorth_features::Error) -> Problem {
    match error {
        truenorth_features::Error::NotFinite { field, value } => {
            Problem::unusable(&format!("feature `{}`", crate::error::shortened(&field)), &value, NUMBER)
        }
        error => error.into(),
    }
}

/// An event with several decisions, and what Vowpal Wabbit calls it.
fn multi_slot(kind: &str) -> Problem {
    Problem::other(format!("this is a multi-slot ({kind}) event: only events with one decision are read"))
}
