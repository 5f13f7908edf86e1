//! Experiment files: what `truenorth simulate` plays, written down in TOML.
//!
//! A file is a figure. Its values are defaults that each `[[panel]]` may override; what neither gives is
//! that of the paper's studies. `docs/experiments.md` describes every key.

mod document;
mod policies;
mod scope;
#[cfg(test)]
mod tests;
mod world;

use std::fs;
use std::path::Path;

use truenorth_sim::{Figure, NormBound, Panel, Reading, Study};

use self::document::{Document, Entry, NOT_NEGATIVE, POSITIVE, PROBABILITY, Range};
use self::scope::{Scope, Table};
use crate::failure::Failure;

/// Keys of a file and of each of its panels.
const PANEL_KEYS: [&str; 16] = [
    "actions",
    "contexts",
    "coverage",
    "delta",
    "dimension",
    "horizon",
    "log_rows",
    "noise",
    "norm_bound",
    "parameters",
    "policies",
    "policy",
    "rewards",
    "ridge",
    "runs",
    "seed",
];
/// Keys that a file and its panels both have, but that a panel does not inherit, and those of the file
/// alone.
const NAME: &str = "name";
const FILE_KEYS: [&str; 2] = ["title", "panel"];

/// Every run is a job in memory before the first one starts.
const MOST_RUNS: u64 = 1_000_000;

/// Reads the figure that a file describes.
pub(crate) fn read(path: &Path) -> Result<Figure, Failure> {
    let bytes = fs::read(path).map_err(Failure::file(path))?;
    match std::str::from_utf8(&bytes) {
        Ok(text) => figure(path, text),
        Err(error) => {
            let text = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let document = Document { path, text: &text };
            Err(document.fail(text.len(), "this is not UTF-8 text"))
        }
    }
}

fn figure(path: &Path, text: &str) -> Result<Figure, Failure> {
    let document = Document { path, text };
    let root = document.parse()?;
    let file = Table::root(&document, &root);
    file.check_keys(&[&PANEL_KEYS[..], &[NAME], &FILE_KEYS].concat())?;
    let name = match file.get(NAME) {
        Some(entry) => entry.name()?.to_owned(),
        None => path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let title = file.get("title").map_or(Ok(name.as_str()), |entry| entry.text())?.to_owned();
    let tables = file.get("panel").map_or(Ok(Vec::new()), |entry| entry.tables())?;
    let panels = if tables.is_empty() {
        vec![panel(&Scope::new(&document, vec![file]), name.clone())?]
    } else {
        panels(&document, &file, tables)?
    };
    Ok(Figure { name, title, panels })
}

fn panels<'a>(
    document: &'a Document<'a>,
    file: &Table<'a>,
    tables: Vec<Table<'a>>,
) -> Result<Vec<Panel>, Failure> {
    let mut panels: Vec<Panel> = Vec::with_capacity(tables.len());
    for table in tables {
        table.check_keys(&[&PANEL_KEYS[..], &[NAME]].concat())?;
        let name = match table.get(NAME) {
            Some(entry) => entry.name()?.to_owned(),
            None => format!("panel {}", panels.len() + 1),
        };
        if panels.iter().any(|other| other.name == name) {
            return Err(table.fail_at(NAME, format!("two panels are named {name:?}")));
        }
        panels.push(panel(&Scope::new(document, vec![table, file.clone()]), name)?);
    }
    Ok(panels)
}

fn panel(scope: &Scope<'_>, name: String) -> Result<Panel, Failure> {
    // Without drift, so that a file says all that is wrong with its logs.
    let paper = &Study::Bias.figure(&Reading::default()).panels[0];
    let horizon = scope.or("horizon", paper.horizon, |entry| entry.whole(1..=u64::MAX))?;
    let mut panel = Panel {
        name,
        world: world::read(scope, &paper.world, horizon)?,
        policies: paper.policies.clone(),
        horizon,
        runs: scope.or("runs", paper.runs, |entry| entry.whole(1..=MOST_RUNS))?,
        seed: scope.or("seed", paper.seed, |entry| entry.whole(0..=u64::MAX))?,
        norm_bound: scope.or("norm_bound", paper.norm_bound, norm_bound)?,
        ridge: scope.or("ridge", paper.ridge, |entry| entry.number(POSITIVE))?,
        delta: scope.or("delta", paper.delta, |entry| entry.number(PROBABILITY))?,
    };
    if let Some(policies) = policies::read(scope, &panel)? {
        panel.policies = policies;
    }
    panel.check().map_err(|error| scope.fail(error))?;
    Ok(panel)
}

fn norm_bound(entry: &Entry<'_>) -> Result<NormBound, Failure> {
    if matches!(entry.text(), Ok("truth")) {
        return Ok(NormBound::Truth);
    }
    let range = Range { words: "\"truth\" or a number from 0 to 1e50", ..NOT_NEGATIVE };
    entry.number(range).map(NormBound::Given)
}
