//! Logs that name their features event by event: one module for each format.

mod dsjson;
mod obd;
#[cfg(test)]
mod tests;
mod vw;

use std::path::Path;

pub use obd::Items;

use crate::collector::{Collector, is_usable};
use crate::error::{Problem, Result};
use crate::event::{Event, EventLines, Events};
use crate::format::Format;
use crate::selection::Columns;
use crate::source::json::each_entry;
use crate::source::lines::{Lines, text};
use crate::source::{Opened, Source, Take};

/// Opens a file of events, whose features are hashed or keep their names.
pub(crate) fn open(
    path: &Path,
    format: Format,
    hashed: bool,
    items: Option<&Items>,
) -> Result<Opened<'static>> {
    let lines = Lines::open(path)?;
    let events: Box<dyn Events> = match format {
        Format::VowpalWabbit => vw::open(lines)?,
        Format::Dsjson => Box::new(EventLines { lines, read: dsjson::read }),
        Format::OpenBandit => Box::new(obd::open(lines, items)?),
        _ => return Err(Problem::NoFeatures.into()),
    };
    Ok((Columns::default(), Box::new(EventRows { events, event: Event::default(), hashed })))
}

/// Events as rows of features that turn up.
struct EventRows {
    events: Box<dyn Events>,
    event: Event,
    hashed: bool,
}

impl Source for EventRows {
    fn read(&mut self, collector: &mut Collector, _: &mut Take<'_>) -> Result<bool> {
        self.event.clear();
        let Some(place) = self.events.next(&mut self.event)? else { return Ok(false) };
        collector.push_event(place, &self.event, self.hashed)?;
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
        "_label_cost" | "_labelIndex" | "_outcomes" => event = true,
        "EventId" => id = true,
        "RewardValue" | "ActionTaken" => reward = true,
        _ => {}
    });
    read.is_ok() && (event || id && reward)
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
    first.starts_with('\'') || matches!(first, "shared" | "ccb" | "slates") || is_label(first) && !is_tag
}

/// A number that the library takes.
fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|&value| is_usable(value))
}

/// An event with several decisions, and what Vowpal Wabbit calls it.
fn multi_slot(kind: &str) -> Problem {
    Problem::other(format!("this is a multi-slot ({kind}) event: only events with one decision are read"))
}
