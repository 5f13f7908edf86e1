//! The answer in a sentence.

use crate::standing::Standing::{self, Drifted, Holds, Slight, Undecided, Untested};
use crate::view::{Audit, PilotView, Use, Verdict};
use crate::words::{about, list, many, number};

/// The verdict of an audit that has all its numbers.
pub(crate) fn verdict(audit: &Audit) -> Verdict {
    let tested = audit.features.len() - names(audit, &[Untested]).len();
    let (usable, sentence) = match &audit.pilot {
        _ if audit.rows == 0 => (Use::None, "Use none of the logs: they have no rows.".to_owned()),
        Some(pilot) if tested > 0 => measured(audit, pilot, tested),
        pilot => (Use::Some, unmeasured(audit, pilot.as_ref())),
    };
    Verdict { usable, sentence }
}

/// Names of the features that stand like this.
fn names<'a>(audit: &'a Audit, standings: &[Standing]) -> Vec<&'a str> {
    let features = audit.features.iter().filter(|feature| standings.contains(&feature.finding.standing()));
    features.map(|feature| feature.name.as_str()).collect()
}

fn measured(audit: &Audit, pilot: &PilotView, tested: usize) -> (Use, String) {
    let [large, drifted, held, open] = [&[Drifted][..], &[Drifted, Slight], &[Holds], &[Undecided, Untested]]
        .map(|these| names(audit, these));
    let d = audit.features.len();
    let features = many(d as u64, "feature");
    let after = audit.worth.after_pilot.unwrap_or(0.0);
    let worthless = after < 0.01 * audit.worth.unbiased && 2 * drifted.len() >= d;
    let seen = seen(pilot);
    // A drift that is real but small leaves the logs useful.
    let count = drifted.len();
    let (usable, reason) = if large.len() == tested || worthless {
        let all = if count == d { "all".to_owned() } else { count.to_string() };
        (Use::None, format!("{all} of {features} have drifted in {seen} ({})", list(&drifted)))
    } else if count > 0 {
        let have = if count == 1 { "has" } else { "have" };
        (Use::Some, format!("{count} of {features} {have} drifted in {seen} ({})", list(&drifted)))
    } else if pilot.p_value.is_some_and(|p| p <= audit.level) {
        let along = audit.directions.iter().filter(|direction| direction.finding.drifted == Some(true));
        let most = match along.count() {
            0 => String::new(),
            along => format!(", most in {}", many(along as u64, "combination")),
        };
        let alone = format!("no single one of the {features} shows drift in {seen}");
        (Use::Some, format!("{alone}, but all of them together do{most}"))
    } else {
        let none = format!("none of the {features} shows drift in {seen}");
        if 2 * held.len() < d {
            (Use::Some, none + ", but most of them cannot be decided yet")
        } else {
            (Use::All, format!("{none}; {}", power(audit)))
        }
    };
    let (word, held) = match usable {
        Use::All => ("all", Vec::new()),
        Use::Some => ("some", held),
        Use::None => ("none", held),
    };
    let hold = if held.len() == 1 { "holds" } else { "hold" };
    let holding = if held.is_empty() { String::new() } else { format!("; {} still {hold}", list(&held)) };
    let open = if open.is_empty() { String::new() } else { format!("; undecided: {}", list(&open)) };
    let worth = format!("the logs are worth about {} live rounds", about(after));
    (usable, format!("Use {word} of the logs: {reason}{holding}{open}; {worth}."))
}

/// How much "no drift" says: shown to be small, or merely not shown to differ.
fn power(audit: &Audit) -> String {
    let tested = audit.features.iter().filter(|feature| feature.finding.drifted.is_some());
    let small = tested.clone().filter(|feature| feature.finding.equivalent == Some(true)).count();
    let are = |count: usize| if count == 1 { "is" } else { "are" };
    match (small, tested.count() - small) {
        (small, 0) => format!("all {small} tested are shown to be within the margin"),
        (0, _) => {
            "but the live data are too few to show for any that its drift is within the margin".to_owned()
        }
        (small, other) => format!(
            "{small} of them {} shown to be within the margin, the other {other} {} only not shown to differ",
            are(small),
            are(other)
        ),
    }
}

fn unmeasured(audit: &Audit, pilot: Option<&PilotView>) -> String {
    let coverages = audit.features.iter().map(|feature| (feature.finding.coverage, &feature.name));
    let least = coverages.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(String::new(), |(coverage, name)| {
        format!(" (least of all {name}, as {} rows would)", about(coverage))
    });
    let hint = match pilot {
        None => "bring a pilot, a little live data, to find out".to_owned(),
        Some(pilot) => format!("the pilot's {} are too few to tell", many(pilot.rows, "row")),
    };
    format!(
        "Use some of the logs, with care: their {} cover {}{least} and are worth about {} live rounds if nothing has \
         drifted, but {} under a drift of {}; {hint}.",
        many(audit.rows, "row"),
        many(audit.features.len() as u64, "feature"),
        about(audit.worth.unbiased),
        about(audit.worth.under_stated_drift),
        number(audit.worth.stated_drift),
    )
}

/// How much live data there was.
fn seen(pilot: &PilotView) -> String {
    let rows = many(pilot.rows, "live row");
    if pilot.independent == pilot.rows {
        return rows;
    }
    format!("{rows} of {}", many(pilot.independent, "round"))
}
