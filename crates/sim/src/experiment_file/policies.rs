//! The policies of a panel: presets by name, and tables that change their switches.

use std::path::Path;

use truenorth::{Explore, Preset};

use super::FileError;
use super::values::{Table, Value};
use crate::panel::Panel;
use crate::policy::PolicySpec;

/// Keys of `[[policy]]`.
pub(super) const KEYS: &str = "name preset certificate layering branches pooling schedule width explore epsilon \
                               exploration_scale told";

/// The policies that are listed, if any. `panel` holds the numbers that switches must go together with.
pub(super) fn read(keys: &Table<'_>, panel: &Panel) -> Result<Option<Vec<PolicySpec>>, FileError> {
    let names = keys.get("policies");
    let Some(first) = names.or(keys.get("policy")) else {
        return Ok(None);
    };
    let mut listed = Vec::new();
    for name in names.map_or(Ok(Vec::new()), |names| names.list("a list"))? {
        listed.push((name.place(), PolicySpec::preset(preset(name)?)));
    }
    for table in keys.tables("policy")? {
        listed.push((table.get("name").map_or(table.place, Value::place), spec(&table)?));
    }
    for (i, (place, spec)) in listed.iter().enumerate() {
        let name = &spec.name;
        if listed[..i].iter().any(|(_, other)| other.name == *name) {
            return Err(keys.document.fail(*place, format!("two policies are named {name:?}")));
        }
        let said = |error| keys.document.fail(*place, format!("policy {name:?}: {error}"));
        spec.check(panel).map_err(said)?;
    }
    if listed.is_empty() {
        return Err(first.fail("`policies` must list at least one policy"));
    }
    Ok(Some(listed.into_iter().map(|(_, spec)| spec).collect()))
}

fn spec(table: &Table<'_>) -> Result<PolicySpec, FileError> {
    table.check_keys(KEYS)?;
    let mut spec = PolicySpec::preset(preset(table.needs("preset")?)?);
    spec.name = table.name(|| spec.name)?;
    if let Some(told) = table.get("certificate") {
        if Path::new(told.text()?).extension().is_some_and(|ending| ending == "toml") {
            // Beside the experiment that names it.
            let path = table.document.path.with_file_name(told.text()?);
            spec.given = Some((table.document.certificates)(&path)?);
        } else {
            spec.certificate = Some(told.word()?);
        }
    }
    let own = &mut spec.switches;
    own.layering = table.word("layering", own.layering)?;
    own.branches = table.word("branches", own.branches)?;
    own.pooling = table.word("pooling", own.pooling)?;
    own.width = table.word("width", own.width)?;
    own.explore = match (table.get("explore"), table.get("epsilon")) {
        (Some(_), Some(epsilon)) => {
            return Err(epsilon.fail("`epsilon` and `explore` exclude each other"));
        }
        (None, None) => own.explore,
        (None, Some(epsilon)) => Explore::Epsilon(epsilon.number()?),
        // The third way has a number, and so a key of its own.
        (Some(word), None) if word.one_of(&["ucb", "sampling"])? == "ucb" => Explore::Ucb,
        (Some(_), None) => Explore::Sampling,
    };
    spec.schedule = table.get("schedule").map(Value::word).transpose()?;
    spec.exploration_scale = table.number("exploration_scale", spec.exploration_scale)?;
    spec.told = table.get("told").map_or(Ok(spec.told), Value::truth)?;
    Ok(spec)
}

fn preset(name: Value<'_>) -> Result<Preset, FileError> {
    name.text()?.parse().map_err(|error: truenorth::Error| name.fail(error))
}
