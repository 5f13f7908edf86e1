//! Logs that name their features event by event: one module for each format.

mod dsjson;
mod obd;
#[cfg(test)]
mod tests;
mod vw;

use std::fs::File;
use std::path::Path;

pub use obd::Items;

use crate::batch::is_usable;
use crate::error::{Fault, Problem, shortened};
use crate::event::{Event, Events};
use crate::format::{Format, is_gzip};
use crate::source::json::each_entry;
use crate::source::lines::{LONGEST, Lines, text};

/// Opens a file of events.
pub(crate) fn open(path: &Path, format: Format, items: Option<&Items>) -> Result<Box<dyn Events>, Fault> {
    let lines = Lines::new(File::open(path).map_err(Problem::Unreadable)?, is_gzip(path));
    match format {
        Format::VowpalWabbit => Ok(Box::new(vw::open(lines)?)),
        Format::Dsjson => Ok(Box::new(dsjson::open(lines))),
        Format::OpenBandit => Ok(Box::new(obd::open(lines, items)?)),
        Format::Csv | Format::JsonLines | Format::Parquet | Format::Arrow => Err(Problem::NoFeatures.into()),
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

/// What a number must be.
const NUMBER: &str = "a number of at most 1e50 in size";

/// A number that the library takes.
fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|&value| is_usable(value))
}

/// Adds a feature whose name is these parts, one after another.
fn push(event: &mut Event, name: &[&str], value: f64) -> Result<(), Problem> {
    if !is_usable(value) {
        let what = format!("feature `{}`", shortened(&name.concat()));
        return Err(Problem::unusable(&what, &format!("{value:e}"), NUMBER));
    }
    if value == 0.0 {
        return Ok(());
    }
    // A long namespace before many short names could take far more than the line that holds them.
    let length: usize = name.iter().map(|part| part.len()).sum();
    if (event.bytes() + length) as u64 > LONGEST {
        return Err(Problem::LongEvent { limit: LONGEST });
    }
    event.push(name, value);
    Ok(())
}
