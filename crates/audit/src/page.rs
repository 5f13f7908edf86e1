//! An audit as one self-contained page.

use truenorth_report::{Block, Callout, Error, Page, Section, Tile, Tone};

use crate::view::{Audit, Feature, PilotView, Use};

mod coverage;
mod method;
mod pair;
mod trust;
mod words;
mod worth;

use words::{amount, counted, number, whole};

/// Rows of a figure; a table may hold more.
const ROWS: usize = 40;

/// The audit of `source` as HTML: verdict, advice, trust, coverage, worth and method.
///
/// Numbers that are missing or not finite are left out; the page needs no network.
pub fn page(audit: &Audit, source: &str) -> Result<String, Error> {
    let audit = &named(audit);
    let mut sections = vec![verdict(audit)];
    if !audit.advice.is_empty() {
        sections.push(section("What to do", vec![Block::List(audit.advice.clone())]));
    }
    sections.push(section("Trust by feature", trust::features(audit)?));
    sections.push(section("Coverage", coverage::blocks(audit)?));
    if audit.pilot.is_some() && audit.directions.len() > 1 {
        sections.push(section("Trust by direction", trust::directions(audit)?));
    }
    if let Some(pair) = &audit.pair {
        let blocks = pair::blocks(pair, audit)?;
        if !blocks.is_empty() {
            sections.push(section("The two directions that matter most", blocks));
        }
    }
    sections.push(section("What the logs are worth", worth::blocks(audit)?));
    sections.push(section("How this was computed", method::blocks(audit)));
    Ok(Page { title: format!("Audit of {source}"), sections }.html())
}

/// The audit without names that nobody sees.
fn named(audit: &Audit) -> Audit {
    let mut audit = audit.clone();
    let name = |name: &str, otherwise: String| match name.trim() {
        "" => otherwise,
        visible => visible.to_owned(),
    };
    for (place, feature) in audit.features.iter_mut().enumerate() {
        feature.name = name(&feature.name, format!("(column {})", place + 1));
    }
    if let Some(pair) = &mut audit.pair {
        pair.names = pair.names.each_ref().map(|of| name(of, "(no name)".to_owned()));
    }
    audit
}

fn section(heading: &str, blocks: Vec<Block>) -> Section {
    Section { heading: heading.to_owned(), blocks }
}

fn paragraph(text: impl Into<String>) -> Block {
    Block::Paragraph(text.into())
}

/// The answer and the numbers behind it, above everything else.
fn verdict(audit: &Audit) -> Section {
    let (tone, word) = match audit.verdict.usable {
        Use::All => (Tone::Good, "USE ALL"),
        Use::Some => (Tone::Mixed, "USE SOME"),
        Use::None => (Tone::Bad, "DO NOT USE"),
    };
    let callout = Callout { tone, word: word.to_owned(), text: audit.verdict.sentence.clone() };
    let tile = |label: &str, value: String, note: String| Tile { label: label.to_owned(), value, note };
    let tested = match &audit.pilot {
        None => tile("Live rows tested", "none".to_owned(), "drift is assumed, not measured".to_owned()),
        Some(PilotView { rows, independent, .. }) => {
            let note = if independent == rows {
                String::new()
            } else {
                format!("in {}", counted(*independent, "round"))
            };
            tile("Live rows tested", whole(*rows), note)
        }
    };
    let features = match audit.pilot {
        Some(_) => trust::tally(audit.features.iter().map(Feature::standing)),
        None => String::new(),
    };
    let worth = match audit.worth.after_pilot {
        Some(_) => format!("{} before, if nothing had drifted", amount(audit.worth.unbiased)),
        None => format!("{} if nothing has drifted", amount(audit.worth.unbiased)),
    };
    let noise = match &audit.pilot {
        Some(pilot) if pilot.noise.is_finite() => format!("standard deviation; {} live", number(pilot.noise)),
        _ => "standard deviation".to_owned(),
    };
    let tiles = vec![
        tile("Logged rows", whole(audit.rows), String::new()),
        tile("Features", whole(audit.dimension as u64), features),
        tested,
        tile("Worth in live rounds", amount(audit.worth_rounds), worth),
        tile("Noise of a reward", number(audit.noise), noise),
    ];
    section("", vec![Block::Callout(callout), Block::Tiles(tiles)])
}
