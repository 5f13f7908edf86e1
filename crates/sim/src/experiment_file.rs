//! Experiment files: what `truenorth simulate` plays, written down in TOML.
//!
//! A file is a figure. Its values are defaults that each `[[panel]]` may override; what neither gives is
//! that of the paper's studies. `docs/experiments.md` describes every key.

mod document;
mod overriding;
mod policies;
#[cfg(test)]
mod tests;
mod values;
mod world;

use std::path::Path;

use toml::de::DeTable;
use truenorth::Certificate;

use self::document::Document;
use self::values::{Table, Value};
use crate::panel::{Figure, NormBound, Panel};

/// Keys of a panel, and of a file as their defaults.
const KEYS: &str = "actions contexts coverage delta dimension horizon log_rows noise norm_bound parameters \
                    policies policy rewards ridge runs seed name";

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
        let (document, entries) = Document::parse(path, content, certificates)?;
        let file = Table { document: &document, name: "", place: 0, entries };
        file.check_keys(&format!("{KEYS} title panel"))?;
        let name = file.name(|| path.file_stem().unwrap_or_default().to_string_lossy().into_owned())?;
        let title = file.get("title").map_or(Ok(name.as_str()), Value::text)?.to_owned();
        // A panel does not inherit these.
        let mut defaults = file.clone();
        for key in ["name", "title", "panel"] {
            defaults.entries.remove(key);
        }
        let mut panels = Vec::new();
        for table in &file.tables("panel")? {
            let default = format!("panel {}", panels.len() + 1);
            panels.push(panel(&defaults, table, default, &panels)?);
        }
        if panels.is_empty() {
            let nothing = Table { entries: DeTable::new(), ..file.clone() };
            panels.push(panel(&defaults, &nothing, name.clone(), &[])?);
        }
        Ok(Self { name, title, panels })
    }
}

/// One panel, after the others.
fn panel(file: &Table<'_>, table: &Table<'_>, default: String, others: &[Panel]) -> Result<Panel, FileError> {
    table.check_keys(KEYS)?;
    let name = table.name(|| default)?;
    if others.iter().any(|other| other.name == name) {
        let place = table.get("name").map_or(table.place, Value::place);
        return Err(table.document.fail(place, format!("two panels are named {name:?}")));
    }
    let (keys, sections) = overriding::merged(file, table)?;
    // Without drift, so that a file says all that is wrong with its logs.
    let paper = Panel::default();
    let horizon = keys.number("horizon", paper.horizon)?;
    let mut panel = Panel {
        name,
        world: world::read(&keys, &sections, horizon)?,
        horizon,
        runs: keys.number("runs", paper.runs)?,
        seed: keys.number("seed", paper.seed)?,
        norm_bound: match keys.get("norm_bound") {
            None => paper.norm_bound,
            Some(bound) if bound.text().is_ok_and(|word| word == "truth") => NormBound::Truth,
            Some(bound) => NormBound::Given(bound.number()?),
        },
        ridge: keys.number("ridge", paper.ridge)?,
        delta: keys.number("delta", paper.delta)?,
        policies: paper.policies,
    };
    if let Some(policies) = policies::read(&keys, &panel)? {
        panel.policies = policies;
    }
    panel.check().map_err(|error| table.document.fail(table.place, error))?;
    Ok(panel)
}
