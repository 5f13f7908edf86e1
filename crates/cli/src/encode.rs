//! `truenorth encode`: raw events in, rows of named features out.

use std::io::{BufRead, Write};
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value};
use truenorth_features::{Encoder, Event, Joining, Rows};
use truenorth_logs::{EventRows, Missing, Summary};
use truenorth_report::numbers::many;

use crate::decide::Lines;
use crate::failure::Failure;
use crate::output::json;
use crate::summarize::{FormatChoice, format, warn};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The logs, as `truenorth summarize` wrote them
    #[arg(value_name = "SUMMARY")]
    summary: PathBuf,
    /// Events; JSON lines on standard input unless named
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Format of the file: auto (by ending and content), csv, parquet, jsonl, arrow, vw, dsjson, obd or events
    #[arg(long, default_value = "auto", value_parser = format, requires = "file")]
    format: FormatChoice,
}

/// An event as a policy would see it.
#[derive(Serialize)]
struct Encoded {
    actions: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reward: Option<f64>,
}

#[derive(Serialize)]
struct Row {
    id: String,
    features: Map<String, Value>,
}

pub(crate) fn run(
    arguments: &Arguments,
    input: impl BufRead,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let summary = Summary::read(&arguments.summary)?;
    warn(summary.recipe());
    // Features that were never logged join, as they do in a bandit.
    let mut encoder = summary.encoder(Joining::Sharing(usize::MAX));
    let mut rows = Rows::default();
    let drops = summary.recipe().missing == Missing::Drop;
    let known = summary.features().len();
    let mut left_out = 0;
    // Whether there is a row; one that lacks a value is left out where the logs' were.
    let mut encode = |event: &Event, encoder: &mut Encoder, rows: &mut Rows| match encoder.rows(event, rows) {
        Err(error) if drops && error.missing().is_some() => {
            left_out += 1;
            Ok(false)
        }
        made => made.map(|()| true),
    };
    if let Some(path) = &arguments.file {
        let mut events = EventRows::open(path, arguments.format.0, &summary)?;
        while let Some(event) = events.next() {
            let event = event?;
            if encode(&event, &mut encoder, &mut rows).map_err(|error| events.error(error))? {
                write(output, &encoded(&event, &rows, &encoder))?;
            }
        }
    } else {
        let mut lines = Lines::new(input);
        let mut event = Event::default();
        while let Some(line) = lines.next().map_err(Failure::Output)? {
            let read = line.and_then(|line| event.read_json(line).map_err(|error| error.to_string()));
            let place = format!("standard input, line {}", lines.number);
            let made = read
                .and_then(|()| encode(&event, &mut encoder, &mut rows).map_err(|error| error.to_string()));
            if made.map_err(|reason| truenorth_app::Error::input(&place, reason))? {
                write(output, &encoded(&event, &rows, &encoder))?;
            }
        }
    }
    if left_out > 0 {
        eprintln!("truenorth: left out {}, for want of a value", many(left_out, "event"));
    }
    let joined = &encoder.features()[known..];
    if !joined.is_empty() {
        let count = many(joined.len() as u64, "feature");
        let names: Vec<&str> = joined.iter().take(10).map(|feature| feature.name.as_str()).collect();
        let more = if joined.len() > names.len() { ", ..." } else { "" };
        let were = if joined.len() == 1 { "was" } else { "were" };
        eprintln!("truenorth: {count} {were} never logged: {}{more}", names.join(", "));
    }
    for (name, count) in encoder.unknown_fields() {
        eprintln!("truenorth: the model has no use for field `{name}`, which came {}", many(*count, "time"));
    }
    Ok(())
}

fn write(output: &mut impl Write, encoded: &Encoded) -> Result<(), Failure> {
    let line = json(encoded)?;
    output.write_all(line.as_bytes()).map_err(Failure::Output)
}

fn encoded(event: &Event, rows: &Rows, encoder: &Encoder) -> Encoded {
    let row = |action: usize| {
        let intercept = encoder.recipe().model.intercept;
        let mut features = Map::new();
        if intercept {
            features.insert("intercept".to_owned(), 1.0.into());
        }
        for &(feature, value) in rows.row(action) {
            let name = &encoder.features()[feature as usize].name;
            // Values of a feature that comes twice add up.
            let before = features.get(name).and_then(Value::as_f64).unwrap_or(0.0);
            features.insert(name.clone(), (before + value).into());
        }
        Row { id: event.id(action).to_owned(), features }
    };
    Encoded {
        actions: (0..event.len()).map(row).collect(),
        action: event.chosen.map(|action| event.id(action).to_owned()),
        reward: event.reward,
    }
}
