//! A panel's values over those of the file.

use toml::de::DeTable;

use super::FileError;
use super::document::has_word;
use super::values::Table;

/// What a section can describe: each kind with its keys, the default first. Keys without a kind belong to all
/// of them, and do not tell which one is meant.
type Kinds = [(&'static str, &'static str)];

const PARAMETERS: &Kinds = &[("uniform", "low high scale offset"), ("given", "live logged"), ("", "drift")];
const COVERAGE: &Kinds = &[("gaussian", "diversity"), ("box", "low high"), ("counts", "features counts")];
const CONTEXTS: &Kinds = &[
    ("gaussian", ""),
    ("box", "low high"),
    ("fixed", "features"),
    ("shifting", "phases phase_rounds quiet"),
    ("turning", "turn_rounds spread"),
];

/// The sections. What a panel lists there is not contradicted by a number further out, which is for other
/// panels: the last two are the list's key and that number's.
const SECTIONS: [(&str, &Kinds, &str, &str); 3] = [
    ("parameters", PARAMETERS, "", ""),
    ("coverage", COVERAGE, "counts", "log_rows"),
    ("contexts", CONTEXTS, "features", "actions"),
];

/// A section's kind and its keys.
pub(super) type Section<'a> = (&'static str, Table<'a>);

/// What a panel says, and otherwise the file: its keys, and its parameters, coverage and contexts.
pub(super) fn merged<'a>(
    file: &'a Table<'a>,
    panel: &'a Table<'a>,
) -> Result<(Table<'a>, [Section<'a>; 3]), FileError> {
    let mut outer = file.clone();
    // A panel with policies of its own plays those alone.
    if panel.get("policies").or(panel.get("policy")).is_some() {
        outer.entries.remove("policies");
        outer.entries.remove("policy");
    }
    let [parameters, coverage, contexts] = SECTIONS.map(|(name, kinds, list, number)| {
        let (inside, outside) = (section(panel, name, kinds)?, section(file, name, kinds)?);
        if inside.as_ref().is_some_and(|(_, inside)| inside.get(list).is_some()) {
            outer.entries.remove(number);
        }
        let (kind, table) = match (inside, outside) {
            // A panel that changes to another kind starts afresh.
            (Some((kind, inside)), Some((other, outside)))
                if kind.is_none() || other.is_none() || kind == other =>
            {
                (kind.or(other), over(inside, outside))
            }
            (inside, outside) => {
                let nothing = || (None, Table { entries: DeTable::new(), ..panel.clone() });
                inside.or(outside).unwrap_or_else(nothing)
            }
        };
        Ok((kind.unwrap_or(kinds[0].0), table))
    });
    Ok((over(panel.clone(), outer), [parameters?, coverage?, contexts?]))
}

fn over<'a>(mut inner: Table<'a>, mut outer: Table<'a>) -> Table<'a> {
    // Two ways to say the same.
    for (key, other) in [("drift", "logged"), ("logged", "drift")] {
        if inner.entries.contains_key(key) {
            outer.entries.remove(other);
        }
    }
    for (key, value) in outer.entries {
        inner.entries.entry(key).or_insert(value);
    }
    inner
}

/// A section of one table. Its kind is the one that it names, or else the one that its keys belong to.
fn section<'a>(
    table: &'a Table<'a>,
    name: &'a str,
    kinds: &'static Kinds,
) -> Result<Option<(Option<&'static str>, Table<'a>)>, FileError> {
    let Some(section) = table.get(name) else { return Ok(None) };
    let section = section.table(&format!("given as a [{name}] table"))?;
    let keys: Vec<_> = kinds.iter().map(|(_, keys)| *keys).chain(["kind"]).collect();
    section.check_keys(&keys.join(" "))?;
    let kinds = kinds.iter().filter(|(kind, _)| !kind.is_empty());
    let names: Vec<_> = kinds.clone().map(|(name, _)| *name).collect();
    let mut kind = section.get("kind").map(|word| word.one_of(&names)).transpose()?;
    for (place, key) in section.keys() {
        let Some((own, _)) = kinds.clone().find(|(_, keys)| has_word(keys, key)) else { continue };
        let kind = *kind.get_or_insert(own);
        if kind != *own {
            let reason = format!("`{key}` belongs to a `{name}` of kind `{own}`, not `{kind}`");
            return Err(table.document.fail(place, reason));
        }
    }
    Ok(Some((kind, section)))
}
