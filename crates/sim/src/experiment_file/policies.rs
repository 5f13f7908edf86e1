//! The policies of a panel: presets by name, and tables that change their switches.

use std::path::Path;

use crate::{CertificateKind, Panel, PolicySpec};
use serde::Deserialize;
use truenorth::{Explore, Preset};

use super::FileError;
use super::document::{Entry, NOT_NEGATIVE, SHARE};
use super::scope::{Scope, Table};

pub(super) const KEYS: [&str; 12] = [
    "name",
    "preset",
    "certificate",
    "layering",
    "branches",
    "pooling",
    "schedule",
    "width",
    "explore",
    "epsilon",
    "exploration_scale",
    "told",
];

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Told {
    Coordinate,
    Isotropic,
    Learned,
    Adaptive,
}

/// Values of `explore`; the third way has a number, and so a key of its own.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Explored {
    Ucb,
    Sampling,
}

/// The policies that the panel or the file lists, if any. A panel that lists its own does not play
/// those of the file. `panel` holds the numbers that switches must go together with.
pub(super) fn read(scope: &Scope<'_>, panel: &Panel) -> Result<Option<Vec<PolicySpec>>, FileError> {
    let Some(table) = scope.innermost(&["policies", "policy"]) else {
        return Ok(None);
    };
    let mut policies: Vec<PolicySpec> = Vec::new();
    let mut add = |spec: PolicySpec, fail: &dyn Fn(String) -> FileError| {
        if policies.iter().any(|other| other.name == spec.name) {
            return Err(fail(format!("two policies are named {:?}", spec.name)));
        }
        spec.check(panel).map_err(|error| fail(format!("policy {:?}: {error}", spec.name)))?;
        policies.push(spec);
        Ok(())
    };
    for entry in table.get("policies").map_or(Ok(Vec::new()), |entry| entry.items())? {
        add(PolicySpec::preset(preset(&entry)?), &|reason| entry.fail(reason))?;
    }
    for table in table.get("policy").map_or(Ok(Vec::new()), |entry| entry.tables())? {
        add(spec(&table)?, &|reason| table.fail_at("name", reason))?;
    }
    if policies.is_empty() {
        return Err(table.fail_at("policies", "`policies` must list at least one policy"));
    }
    Ok(Some(policies))
}

fn spec(table: &Table<'_>) -> Result<PolicySpec, FileError> {
    table.check_keys(&KEYS)?;
    let Some(entry) = table.get("preset") else {
        return Err(table.fail("`policy` needs a `preset`"));
    };
    let mut spec = PolicySpec::preset(preset(&entry)?);
    if let Some(entry) = table.get("name") {
        entry.name()?.clone_into(&mut spec.name);
    }
    let named = table.get("certificate").map(|entry| entry.text().map(|text| (entry, text))).transpose()?;
    if let Some((entry, file)) =
        named.filter(|(_, text)| Path::new(text).extension().is_some_and(|ending| ending == "toml"))
    {
        // Beside the experiment that names it.
        let path = entry.document.path.with_file_name(file);
        spec.given = Some((entry.document.certificates)(&path)?);
    } else if let Some((entry, _)) = named {
        spec.certificate = Some(match entry.switch()? {
            Told::Coordinate => CertificateKind::Coordinate,
            Told::Isotropic => CertificateKind::Isotropic,
            Told::Learned => CertificateKind::Learned,
            Told::Adaptive => CertificateKind::Adaptive,
        });
    }
    spec.layering = switch(table, "layering")?;
    spec.branches = switch(table, "branches")?;
    spec.pooling = switch(table, "pooling")?;
    spec.schedule = switch(table, "schedule")?;
    spec.width = switch(table, "width")?;
    spec.explore = switch(table, "explore")?.map(|explored| match explored {
        Explored::Ucb => Explore::Ucb,
        Explored::Sampling => Explore::Sampling,
    });
    if let Some(entry) = table.get("epsilon") {
        if spec.explore.is_some() {
            return Err(entry.fail("`epsilon` and `explore` exclude each other"));
        }
        spec.explore = Some(Explore::Epsilon(entry.number(SHARE)?));
    }
    if let Some(entry) = table.get("exploration_scale") {
        spec.exploration_scale = Some(entry.number(NOT_NEGATIVE)?);
    }
    if let Some(entry) = table.get("told") {
        spec.told = entry.flag()?;
    }
    Ok(spec)
}

fn switch<'a, T: Deserialize<'a>>(table: &Table<'a>, key: &str) -> Result<Option<T>, FileError> {
    table.get(key).map(|entry| entry.switch()).transpose()
}

fn preset(entry: &Entry<'_>) -> Result<Preset, FileError> {
    entry.text()?.parse().map_err(|error: truenorth::Error| entry.fail(error))
}
