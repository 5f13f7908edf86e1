//! An audit as one self-contained page.

use truenorth_report::{Block, Error, Page, Section, Tile, Tone};

use crate::next::next_steps;
use crate::view::{Audit, PilotView, Use};

mod cost;
mod coverage;
mod method;
mod pair;
mod trust;
mod words;
mod worth;

use words::{amount, counted, number, whole};

/// Rows of a figure; a table may hold more.
const ROWS: usize = 40;

/// Figures take numbers up to here.
const LARGEST: f64 = 1e90;

/// The audit of the summary `source` as HTML, tested by the rows in `live`: verdict, advice, trust, cost, coverage, worth,
/// the paper's bounds, method, and what to do next.
///
/// Numbers that are missing or not finite are left out; the page needs no network.
pub fn page(audit: &Audit, source: &str, live: Option<&str>) -> Result<String, Error> {
    let audit = &named(audit);
    let mut sections = vec![verdict(audit)];
    let steps = next_steps(audit, source, live);
    // Whoever may use them all is not left with what not to do.
    let begin = steps.first().filter(|_| audit.verdict.usable == Use::All);
    let begin = begin.map(|step| format!("Use them: {}", step.command));
    let advice: Vec<String> = begin.into_iter().chain(audit.advice.iter().cloned()).collect();
    if !advice.is_empty() {
        sections.push(section("What to do", vec![Block::List(advice)]));
    }
    sections.push(section("Trust by feature", trust::features(audit)?));
    if let Some(cost) = &audit.cost {
        sections.push(section("What following the logs would cost", cost::blocks(cost, audit)));
    }
    sections.push(section("Coverage", coverage::blocks(audit)?));
    if audit.pilot.is_some() && audit.directions.len() > 1 {
        sections.push(section("Trust by direction", trust::directions(audit)?));
    }
    if let Some(pair) = audit.pair.as_ref().filter(|pair| pair.logs.is_drawable()) {
        let heading = match pair.live {
            Some(_) if any_drifted(audit) => "The two features that have moved most",
            Some(_) => "The two largest measured differences",
            None => "The two weakest directions that the logs tell anything about",
        };
        sections.push(section(heading, pair::blocks(pair, audit)?));
    }
    sections.push(section("What the logs are worth", worth::blocks(audit)?));
    if let Some(bounds) = &audit.bounds {
        sections.push(section("Bounds in the worst case", worth::promise(bounds)));
    }
    sections.push(section("How this was computed", method::blocks(audit)));
    let steps = steps.into_iter().flat_map(|step| [paragraph(step.why), Block::Code(step.command)]);
    sections.push(section("What to do next", steps.collect()));
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

/// Whether any feature is shown to have moved.
fn any_drifted(audit: &Audit) -> bool {
    audit.features.iter().any(|feature| feature.finding.drifted == Some(true))
}

/// Names of the features.
fn names(audit: &Audit) -> Vec<&str> {
    audit.features.iter().map(|feature| feature.name.as_str()).collect()
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
        Use::Unclear => (Tone::Plain, "UNCLEAR"),
    };
    let callout = Block::Callout { tone, word: word.to_owned(), text: audit.verdict.sentence.clone() };
    let mut live = ("none".to_owned(), "drift is assumed, not measured".to_owned());
    let (mut features, mut noise) = (String::new(), "standard deviation".to_owned());
    if let Some(PilotView { rows, independent, noise: live_noise, .. }) = audit.pilot {
        let rounds = || format!("in {}", counted(independent, "round"));
        live = (whole(rows), if independent == rows { String::new() } else { rounds() });
        features = trust::tally(audit.features.iter().map(|feature| &feature.finding));
        if live_noise.is_finite() {
            noise = format!("{noise}; {} live", number(live_noise));
        }
    }
    let worth = if audit.worth.unbiased > 0.0 {
        let drift = match audit.worth.after_pilot {
            Some(_) => String::new(),
            None => format!(" of {}", number(audit.worth.stated_drift)),
        };
        format!("to a policy told the drift{drift}; {} if nothing had drifted", amount(audit.worth.unbiased))
    } else {
        String::new()
    };
    let tiles = [
        ("Logged rows", whole(audit.rows), String::new()),
        ("Features", whole(audit.dimension as u64), features),
        ("Live rows tested", live.0, live.1),
        ("Worth about, in live rounds", amount(audit.worth_rounds), worth),
        ("Noise of a reward", number(audit.noise), noise),
    ];
    let tiles = tiles.map(|(label, value, note)| Tile { label: label.to_owned(), value, note }).to_vec();
    section("", vec![callout, Block::Tiles(tiles)])
}
