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

use std::path::Path;

use truenorth::Certificate;

use self::document::{Document, Entry, NOT_NEGATIVE, POSITIVE, PROBABILITY, Range};
use self::scope::{Scope, Table};
use crate::panel::{Figure, NormBound, Panel};
use crate::studies::{Reading, Study};

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

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct FileError {
    /// The file, and the line if there is one.
    pub place: String,
    /// What is wrong there.
    pub reason: String,
}

/// Reads certificates that an experiment names, from files beside it.
pub type ReadCertificate<'a> = &'a dyn Fn(&Path) -> Result<Certificate, FileError>;

impl Figure {
    /// The figure that an experiment file describes: its content, and the path that names it in messages.
    pub fn from_toml(
        path: &Path,
        content: &[u8],
        certificates: ReadCertificate<'_>,
    ) -> Result<Self, FileError> {
        match std::str::from_utf8(content) {
            Ok(text) => figure(&Document { path, text, certificates }),
            Err(error) => {
                let text = String::from_utf8_lossy(&content[..error.valid_up_to()]);
                let document = Document { path, text: &text, certificates };
                Err(document.fail(text.len(), "this is not UTF-8 text"))
            }
        }
    }
}

fn figure(document: &Document<'_>) -> Result<Figure, FileError> {
    let root = document.parse()?;
    let file = Table::root(document, &root);
    file.check_keys(&[&PANEL_KEYS[..], &[NAME], &FILE_KEYS].concat())?;
    let name = match file.get(NAME) {
        Some(entry) => entry.name()?.to_owned(),
        None => document.path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    };
    let title = file.get("title").map_or(Ok(name.as_str()), |entry| entry.text())?.to_owned();
    let tables = file.get("panel").map_or(Ok(Vec::new()), |entry| entry.tables())?;
    let panels = if tables.is_empty() {
        vec![panel(&Scope::new(document, vec![file]), name.clone())?]
    } else {
        panels(document, &file, tables)?
    };
    Ok(Figure { name, title, panels })
}

fn panels<'a>(
    document: &'a Document<'a>,
    file: &Table<'a>,
    tables: Vec<Table<'a>>,
) -> Result<Vec<Panel>, FileError> {
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

fn panel(scope: &Scope<'_>, name: String) -> Result<Panel, FileError> {
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

fn norm_bound(entry: &Entry<'_>) -> Result<NormBound, FileError> {
    if matches!(entry.text(), Ok("truth")) {
        return Ok(NormBound::Truth);
    }
    let range = Range { words: "\"truth\" or a number from 0 to 1e50", ..NOT_NEGATIVE };
    entry.number(range).map(NormBound::Given)
}
