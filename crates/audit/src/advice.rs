//! What to do about it, one sentence each.

use crate::drift::Family;
use crate::fit::Fit;
use crate::standing::Standing;
use crate::view::{Audit, Feature, Finding};
use crate::words::{about, list, many};

/// Share of the rows below which a feature is hardly covered.
const THIN: f64 = 0.05;

pub(crate) fn advice(audit: &Audit, logs: &Fit, pilot: Option<&Fit>, columns: &Family) -> Vec<String> {
    if audit.rows == 0 {
        return vec!["The logs have no rows: start from live data alone.".to_owned()];
    }
    let names = |which: &dyn Fn(usize, &Finding) -> bool| -> Vec<&str> {
        let features = audit.features.iter().enumerate();
        features.filter_map(|(j, f)| which(j, &f.finding).then_some(f.name.as_str())).collect()
    };
    let mut advice = Vec::new();
    advice.extend(sentence(
        &names(&|_, finding| finding.standing() == Standing::Drifted),
        "Collect {} live again, and leave the logged coefficient out: it has drifted by more than the margin, or may have.",
        "Collect {} live again, and leave the logged coefficients out: they have drifted by more than the margin, or may have.",
    ));
    let keep = "Keep {} if small errors do not matter: the drift is real, but within the margin.";
    advice.extend(sentence(&names(&|_, finding| finding.standing() == Standing::Slight), keep, keep));
    advice.extend(sentence(
        &names(&|j, _| logs.sizes[j] == 0.0),
        "Drop {} or collect rows that have it: always 0 in the logs.",
        "Drop {} or collect rows that have them: always 0 in the logs.",
    ));
    let live = pilot.filter(|pilot| pilot.rows > 0.0);
    advice.extend(sentence(
        &names(&|j, _| live.is_some_and(|live| live.sizes[j] == 0.0) && logs.sizes[j] > 0.0),
        "Collect live rows that have {}: it is always 0 in the pilot, which cannot test it.",
        "Collect live rows that have {}: they are always 0 in the pilot, which cannot test them.",
    ));
    if logs.freedom() < 1.0 {
        let (rows, rank) = (many(audit.rows, "row"), logs.rank());
        advice.push(format!("Bring more logs: {rows} say nothing about the noise of {rank} coefficients."));
    }
    for group in logs.dependent() {
        advice.push(format!(
            "Drop one of {} if you want to read single coefficients: each of these follows from the others, and they \
             are known only up to what can be moved between them.",
            list(&names(&|j, _| group.contains(&j)))
        ));
    }
    let thin = |j: usize, finding: &Finding| {
        logs.sizes[j] > 0.0 && finding.coverage > 0.0 && finding.coverage < THIN * audit.rows as f64
    };
    advice.extend(sentence(
        &names(&thin),
        "Do not expect much from the logs about {}: other features explain most of it, and less than 5 % of the rows' worth is left.",
        "Do not expect much from the logs about {}: other features explain most of them, and less than 5 % of the rows' worth is left.",
    ));
    let bring = "Bring a pilot, a little live data: what has drifted cannot be seen in the logs.";
    match pilot {
        Some(pilot) => advice.extend(more_rows(&audit.features, pilot.rows, columns)),
        None => advice.push(bring.to_owned()),
    }
    advice
}

/// What to say about one feature or several; `{}` is where their names go.
fn sentence(names: &[&str], one: &str, several: &str) -> Option<String> {
    let words = match names.len() {
        0 => return None,
        1 => one,
        _ => several,
    };
    Some(words.replacen("{}", &list(names), 1))
}

/// How many live rows would settle what is open.
fn more_rows(features: &[Feature], live_rows: f64, columns: &Family) -> Vec<String> {
    let (mut to_decide, mut hopeless, mut to_show) = (Vec::new(), Vec::new(), Vec::new());
    for (Feature { name, finding, .. }, measured) in features.iter().zip(&columns.measured) {
        let Some(measured) = measured.filter(|_| finding.drifted == Some(false)) else { continue };
        // se² = live · n/n' + logged must come down to a target; none where no number of live rows would do.
        let needed = |target: f64| {
            let left = target * target - (measured.stderr.powi(2) - measured.live);
            let rows = (live_rows * measured.live / left).max(live_rows);
            (left > 0.0 && target > 0.0 && rows < 1e12).then_some(rows)
        };
        if finding.trust < 0.5 {
            match needed(measured.drift.abs() / measured.critical) {
                Some(rows) => to_decide.push(rows),
                None => hopeless.push(name.as_str()),
            }
        } else if finding.equivalent == Some(false) {
            // A margin of 3 standard errors: without any drift, TOST succeeds in 9 of 10 pilots or so.
            to_show.extend(needed(measured.margin / 3.0));
        }
    }
    let most = |rows: &[f64]| about(rows.iter().copied().fold(0.0, f64::max));
    let which = |rows: &[f64], noun: &str, one: &str, several: &str| {
        many(rows.len() as u64, noun) + if rows.len() == 1 { one } else { several }
    };
    let mut advice = Vec::new();
    if !to_decide.is_empty() {
        let (rows, which) = (most(&to_decide), which(&to_decide, "feature", " that is", " that are"));
        advice.push(format!(
            "Bring about {rows} live rows in all to decide {which} undecided, if the differences stay as they are."
        ));
    }
    let wait = "Do not wait for live rows to decide {}: the logs are too uncertain there to show a difference of this size.";
    advice.extend(sentence(&hopeless, wait, wait));
    if !to_show.is_empty() {
        let (rows, which) = (most(&to_show), which(&to_show, "more feature", " that its", " that their"));
        advice.push(format!(
            "Bring about {rows} live rows in all to show for {which} drift is within the margin, if it is."
        ));
    }
    advice
}
