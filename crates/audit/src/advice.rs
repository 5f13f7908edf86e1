//! What to do about it, one sentence each.

use crate::drift::{Finding, Tested};
use crate::fit::Fit;
use crate::verdict::Facts;
use crate::words::{about, list, many};

/// Share of the rows below which a feature is hardly covered.
const THIN: f64 = 0.05;

pub(crate) fn advice(
    facts: &Facts<'_>,
    logs: &Fit,
    pilot: Option<&Fit>,
    tested: Option<&Tested>,
) -> Vec<String> {
    let mut advice = Vec::new();
    if facts.rows == 0 {
        advice.push("The logs have no rows: start from live data alone.".to_owned());
        return advice;
    }
    let name = |j: usize| facts.features[j].name.as_str();
    let d = facts.features.len();
    let negligible = |j: &usize| facts.features[*j].equivalent == Some(true);
    let drifted = (0..d).filter(|&j| facts.features[j].drifted == Some(true));
    let (small, large): (Vec<usize>, Vec<usize>) = drifted.partition(negligible);
    let [small, large] = [small, large].map(|which| which.into_iter().map(name).collect::<Vec<&str>>());
    if !large.is_empty() {
        advice.push(format!(
            "Collect {} live again, and leave the logged coefficient{} out: {} drifted by more than the margin, or may have.",
            list(&large),
            if large.len() == 1 { "" } else { "s" },
            if large.len() == 1 { "it has" } else { "they have" }
        ));
    }
    if !small.is_empty() {
        advice.push(format!(
            "Keep {} if small errors do not matter: the drift is real, but within the margin.",
            list(&small)
        ));
    }
    let zero: Vec<&str> = (0..d).filter(|&j| logs.sizes[j] == 0.0).map(name).collect();
    if !zero.is_empty() {
        advice.push(format!(
            "Drop {} or collect rows that have {}: always 0 in the logs.",
            list(&zero),
            if zero.len() == 1 { "it" } else { "them" }
        ));
    }
    let absent = |j: &usize| pilot.is_some_and(|pilot| pilot.rows > 0.0 && pilot.sizes[*j] == 0.0);
    let absent: Vec<&str> = (0..d).filter(|j| absent(j) && logs.sizes[*j] > 0.0).map(name).collect();
    if !absent.is_empty() {
        let (is, it) = if absent.len() == 1 { ("it is", "it") } else { ("they are", "them") };
        advice.push(format!(
            "Collect live rows that have {}: {is} always 0 in the pilot, which cannot test {it}.",
            list(&absent)
        ));
    }
    if logs.freedom() < 1.0 {
        advice.push(format!(
            "Bring more logs: {} say nothing about the noise of {} coefficients.",
            many(facts.rows, "row"),
            logs.rank()
        ));
    }
    for group in logs.dependent() {
        let names: Vec<&str> = group.iter().map(|&j| name(j)).collect();
        if names.len() == 1 {
            continue;
        }
        advice.push(format!(
            "Drop one of {} if you want to read single coefficients: each of these follows from the others, and they are known only up to what can be moved between them.",
            list(&names)
        ));
    }
    let thin = |j: &usize| {
        let coverage = facts.features[*j].coverage;
        logs.sizes[*j] > 0.0 && coverage > 0.0 && coverage < THIN * facts.rows as f64
    };
    let thin: Vec<&str> = (0..d).filter(thin).map(name).collect();
    if !thin.is_empty() {
        advice.push(format!(
            "Do not expect much from the logs about {}: other features explain most of {}, and less than 5 % of the rows' worth is left.",
            list(&thin),
            if thin.len() == 1 { "it" } else { "them" }
        ));
    }
    let (Some(pilot), Some(tested)) = (pilot, tested) else {
        if pilot.is_none() {
            advice.push(
                "Bring live data with --pilot: what has drifted cannot be seen in the logs.".to_owned(),
            );
        }
        return advice;
    };
    advice.extend(more_rows(facts, pilot, tested));
    advice
}

/// How many live rows would settle what is open.
fn more_rows(facts: &Facts<'_>, pilot: &Fit, tested: &Tested) -> Vec<String> {
    let mut advice = Vec::new();
    let undecided = |j: usize| facts.features[j].drifted == Some(false) && facts.features[j].trust < 0.5;
    let unproven = |j: usize| {
        facts.features[j].drifted == Some(false)
            && !undecided(j)
            && facts.features[j].equivalent == Some(false)
    };
    let most = |needed: &dyn Fn(&Finding) -> Option<f64>, which: &dyn Fn(usize) -> bool| {
        let rows = tested.findings.iter().enumerate().filter(|(j, _)| which(*j));
        let rows: Vec<f64> = rows.filter_map(|(_, finding)| needed(finding.as_ref()?)).collect();
        (rows.len(), rows.into_iter().fold(0.0, f64::max))
    };
    // se² = live · n/n' + logged must come down to a target.
    let rows = |finding: &Finding, target: f64| {
        let left = target * target - (finding.stderr.powi(2) - finding.live);
        (left > 0.0 && target > 0.0)
            .then(|| (pilot.rows * finding.live / left).max(pilot.rows))
            .filter(|n| *n < 1e12)
    };
    let (count, needed) = most(&|finding| rows(finding, finding.drift.abs() / finding.critical), &undecided);
    if count > 0 {
        advice.push(format!(
            "Bring about {} live rows in all to decide {} that {} undecided, if the differences stay as they are.",
            about(needed),
            many(count as u64, "feature"),
            if count == 1 { "is" } else { "are" }
        ));
    }
    let hopeless = |j: &usize| {
        let finding = tested.findings[*j].as_ref();
        undecided(*j) && finding.is_some_and(|f| rows(f, f.drift.abs() / f.critical).is_none())
    };
    let hopeless: Vec<&str> =
        (0..facts.features.len()).filter(hopeless).map(|j| facts.features[j].name.as_str()).collect();
    if !hopeless.is_empty() {
        advice.push(format!(
            "Do not wait for live rows to decide {}: the logs are too uncertain there to show a difference of this size.",
            list(&hopeless)
        ));
    }
    // A margin of 3 standard errors: without any drift, TOST succeeds in 9 of 10 pilots or so.
    let (count, needed) = most(&|finding| rows(finding, finding.margin / 3.0), &unproven);
    if count > 0 {
        advice.push(format!(
            "Bring about {} live rows in all to show for {} that {} drift is within the margin, if it is.",
            about(needed),
            many(count as u64, "more feature"),
            if count == 1 { "its" } else { "their" }
        ));
    }
    advice
}
