//! What to do about it, one sentence each.

use crate::fit::Fit;
use crate::standing::Standing;
use crate::verdict;
use crate::view::{Audit, Finding};
use crate::words::{list, many};

/// Share of the rows below which a feature is hardly covered.
const THIN: f64 = 0.05;
/// Groups of features that follow from each other, as many as a sentence bears.
const GROUPS: usize = 3;

pub(crate) fn advice(audit: &Audit, logs: &Fit, pilot: Option<&Fit>, silent: bool) -> Vec<String> {
    if audit.rows == 0 {
        return vec!["The logs have no rows: start from live data alone.".to_owned()];
    }
    if silent {
        return vec!["Bring logs whose rewards differ, or start from live data alone.".to_owned()];
    }
    let names = |which: &dyn Fn(usize, &Finding) -> bool| -> Vec<&str> {
        let features = audit.features.iter().enumerate();
        features.filter_map(|(j, f)| which(j, &f.finding).then_some(f.name.as_str())).collect()
    };
    let mut advice = Vec::new();
    let learned = "Let {} be learned anew: the default policy does so by itself, feature by feature, and needs no option.";
    advice.extend(sentence(&verdict::names(audit, &[Standing::Drifted]), learned, learned));
    let kept = "Nothing to do about {}: the drift is real, but costs too little to matter.";
    advice.extend(sentence(&verdict::names(audit, &[Standing::Harmless]), kept, kept));
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
    if logs.noise.is_some_and(|noise| noise <= 0.0) && audit.noise <= 0.0 && audit.norm > 0.0 {
        advice.push(
            "Look at the columns again: they tell the reward without any error, as another outcome of the same decision \
             would. Leave such a column out, since nobody knows it when a decision is made."
                .to_owned(),
        );
    }
    if audit.cost.is_some_and(|cost| cost.refutation().is_some()) {
        advice.push(
            "Look for better features: rewards are not linear in these. Squares, bins and products of columns may be what is \
             missing: a model makes them (truenorth summarize --model)."
                .to_owned(),
        );
    }
    let groups = logs.dependent();
    if !groups.is_empty() {
        let first = groups.iter().take(GROUPS).map(|group| list(&names(&|j, _| group.contains(&j))));
        let more = groups.len().saturating_sub(GROUPS) as u64;
        let told: Vec<String> = first.chain((more > 0).then(|| many(more, "more group"))).collect();
        let told = told.join("; of ");
        let these = if groups.len() == 1 { "each of these features" } else { "each feature of a group" };
        advice.push(format!(
            "Do not read single coefficients of {told}: {these} follows from the others, so that what they do together is \
             known, but not what each does alone. Decisions are none the worse for it."
        ));
    }
    let thin = |j: usize, finding: &Finding| {
        logs.sizes[j] > 0.0 && finding.coverage > 0.0 && finding.coverage < THIN * audit.rows as f64
    };
    advice.extend(sentence(
        &names(&thin),
        "Do not expect much from the logs about {}: other features explain most of it, and its coverage is less than 5 % of the rows.",
        "Do not expect much from the logs about {}: other features explain most of them, and their coverage is less than 5 % of the rows.",
    ));
    if pilot.is_none() {
        advice.push(
            "Bring a pilot, a little live data: what has drifted cannot be seen in the logs.".to_owned(),
        );
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
