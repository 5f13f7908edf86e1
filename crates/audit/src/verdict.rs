//! The answer in a few sentences.

use crate::live::Outcomes;
use crate::standing::Standing::{self, Drifted, Harmless, Holds, Unclear, Untested};
use crate::view::{Audit, Cost, Feature, MeasuredCost, PilotView, Use, Verdict};
use crate::words::{NAMES, about, list, many, number, with_error};

/// What an audit that has all its numbers shows; nothing without rewards enough.
pub(crate) fn usable(audit: &Audit, enough: bool, silent: bool) -> Use {
    if silent {
        return Use::None;
    }
    let count = |standing: Standing| names(audit, &[standing]).len();
    let (d, untested) = (audit.features.len(), count(Untested));
    let Some(pilot) = audit.pilot.as_ref().filter(|_| enough && untested < d) else {
        return if audit.rows == 0 { Use::None } else { Use::Unclear };
    };
    let drifted = count(Drifted) + count(Harmless);
    let worthless = audit.worth_rounds < 0.01 * audit.worth.unbiased && 2 * drifted >= d;
    let together = pilot.p_value.is_some_and(|p| p <= audit.level);
    let small = audit.cost.as_ref().is_some_and(Cost::is_small);
    let refuted = audit.cost.as_ref().is_some_and(|cost| cost.refutation().is_some()) && !small;
    // Of features that are the same for all actions of a round nothing has to be shown.
    let matters = |feature: &&Feature| {
        feature.finding.spread.is_none_or(|spread| spread > 1e-9 * feature.finding.typical)
    };
    let mattering: Vec<&Feature> = audit.features.iter().filter(matters).collect();
    let held = mattering.iter().filter(|feature| feature.finding.standing() == Holds).count();
    // Drift that changes no choice leaves the logs useful.
    let misleading = (count(Drifted) == d - untested || worthless) && !small;
    // Where something holds, a policy that doubts feature by feature still gains by it.
    if audit.rows == 0 || misleading || held == 0 && worse_than_chance(audit) {
        Use::None
    } else if drifted > 0 || together {
        Use::Some
    } else if (small || count(Unclear) == 0 && !refuted) && untested == 0 {
        Use::All
    } else if small || 2 * held >= mattering.len() && held > 0 {
        Use::Some
    } else {
        Use::Unclear
    }
}

/// Whether the logs' choice is shown to earn less than choosing at random.
fn worse_than_chance(audit: &Audit) -> bool {
    let errors = crate::tail::normal_critical(audit.level);
    audit.cost.as_ref().is_some_and(|cost| is_worse_than_chance(cost, errors))
}

/// The same by so many standard errors: by a linear model, unless the rewards show the contrary, or by these where they
/// contradict it.
fn is_worse_than_chance(cost: &Cost, errors: f64) -> bool {
    let worse = cost.advantage + errors * cost.advantage_stderr < 0.0;
    cost.measured.map_or(worse, |measured| {
        let [low, high] =
            [-errors, errors].map(|errors| measured.advantage + errors * measured.advantage_stderr);
        if measured.contradicts { high < 0.0 } else { worse && low <= 0.0 }
    })
}

/// The verdict; `few` are outcomes that are too few to tell anything, `only` is the one reward that all logged rows have.
pub(crate) fn verdict(audit: &Audit, usable: Use, few: Option<Outcomes>, only: Option<f64>) -> Verdict {
    let tested = audit.features.iter().any(|feature| feature.finding.drifted.is_some());
    let sentence = match (&audit.pilot, only) {
        _ if audit.rows == 0 => "Use none of the logs: they have no rows.".to_owned(),
        (_, Some(reward)) => format!(
            "Use none of the logs: all {} are {}, so these logs cannot tell one action from another.",
            many(audit.rows, "reward"),
            number(reward)
        ),
        (Some(pilot), _) if tested => measured(audit, pilot, usable, few),
        (pilot, _) => unmeasured(audit, pilot.as_ref()),
    };
    Verdict { usable, sentence }
}

/// Names of the features that stand like this; of more than a sentence bears, first those whose drift changes rewards most.
pub(crate) fn names<'a>(audit: &'a Audit, standings: &[Standing]) -> Vec<&'a str> {
    let features = audit.features.iter().filter(|feature| standings.contains(&feature.finding.standing()));
    let mut found: Vec<&Feature> = features.collect();
    let effect = |Feature { finding, .. }: &Feature| {
        finding.drift.unwrap_or(0.0).abs() * finding.spread.unwrap_or(finding.typical)
    };
    if found.len() > NAMES {
        found.sort_by(|a, b| effect(b).total_cmp(&effect(a)));
    }
    found.into_iter().map(|feature| feature.name.as_str()).collect()
}

fn measured(audit: &Audit, pilot: &PilotView, usable: Use, few: Option<Outcomes>) -> String {
    let [drifted, held, open, untested] =
        [&[Drifted, Harmless][..], &[Holds], &[Unclear], &[Untested]].map(|these| names(audit, these));
    let (d, count, seen) = (audit.features.len(), drifted.len(), seen(pilot));
    let features = many(d as u64, "feature");
    let reason = if let Some(few) = few {
        too_few(few, pilot)
    } else if count > 0 {
        let all = if count == d { "all".to_owned() } else { count.to_string() };
        let have = if count == 1 { "has" } else { "have" };
        format!("{all} of {features} {have} drifted in {seen} ({})", list(&drifted))
    } else if pilot.p_value.is_some_and(|p| p <= audit.level) {
        let along = audit.directions.iter().filter(|direction| direction.finding.drifted == Some(true));
        let most = match along.count() {
            0 => String::new(),
            along => format!(", most in {}", many(along as u64, "combination")),
        };
        format!("no single one of the {features} shows drift in {seen}, but all of them together do{most}")
    } else if usable == Use::Unclear {
        format!("{seen} do not show whether the logs hold")
    } else {
        format!("none of the {features} shows drift in {seen}")
    };
    let mut first = match usable {
        Use::All => format!("Use all of the logs: {reason}"),
        Use::Some => format!("Use some of the logs: {reason}"),
        Use::None => format!("Use none of the logs: {reason}"),
        Use::Unclear => format!("Unclear: {reason}"),
    };
    let still = ["still holds", "still hold"];
    let holding = if usable == Use::Unclear && few.is_none() {
        ["feature still holds", "features still hold"]
    } else {
        still
    };
    // Their names are in the table below.
    let decided = matches!(usable, Use::Some | Use::None);
    let rest = [
        (usable != Use::All, held.len(), holding),
        (decided, open.len(), ["is unclear", "are unclear"]),
        (decided, untested.len(), ["was not tested", "were not tested"]),
    ];
    let told = rest.into_iter().filter(|(told, count, _)| *told && *count > 0);
    let rest: Vec<String> =
        told.map(|(_, count, words)| format!("{count} {}", words[usize::from(count > 1)])).collect();
    if !rest.is_empty() {
        first = format!("{first}; {}", rest.join(", "));
    }
    let mut sentences = vec![first];
    if few.is_none() {
        sentences.extend(audit.cost.as_ref().map(cost));
    }
    let refuted = audit.cost.as_ref().is_some_and(|cost| cost.refutation().is_some());
    if usable == Use::Unclear && refuted && few.is_none() {
        sentences.push("More live rows would not settle it: other features would".to_owned());
    } else if usable == Use::Unclear {
        sentences.extend(settled(pilot, few.is_some()));
    } else {
        let between = audit.worth.interval.map(|[low, high]| format!(" ({} to {})", about(low), about(high)));
        let between = between.unwrap_or_default();
        sentences.push(format!(
            "The logs are worth about {} live rounds{between} to a policy that is told how far each feature has moved, \
             and less to the default, which finds out as it plays",
            about(audit.worth_rounds)
        ));
    }
    sentences.join(". ") + "."
}

/// What following the logs would cost, and whether that is shown not to matter.
fn cost(cost: &Cost) -> String {
    let Amounts { shown, estimate, per } = amounts(cost);
    let [high, margin] = [cost.interval[1], cost.margin].map(&shown);
    let beside = if cost.is_small() {
        format!(", at most {high}, and up to {margin} counts as harmless")
    } else if is_worse_than_chance(cost, 2.0) {
        ", more than choosing at random".to_owned()
    } else {
        String::new()
    };
    let Some(refutation) = cost.refutation() else {
        return format!("Playing what they recommend would cost {estimate} {per}{beside}");
    };
    let beside = match cost.is_small() {
        true if refutation.estimate < 0.0 => String::new(),
        true => format!(", and up to {margin} counts as harmless"),
        false => beside,
    };
    format!(
        "By the pilot's own rewards, playing what they recommend would {}{beside}. A linear model says that it costs {estimate}: rewards \
         are not linear in these features",
        costs_by_rewards(cost, refutation)
    )
}

/// What the logs' choice costs by the rewards, as a predicate.
pub(crate) fn costs_by_rewards(cost: &Cost, measured: &MeasuredCost) -> String {
    let (factor, per) = counted_in(cost);
    let amount = with_error(factor * measured.estimate.abs(), factor * measured.stderr);
    if measured.estimate < 0.0 {
        return format!("earn {amount} {per} more than what a fit of the pilot recommends");
    }
    format!("cost {amount} {per}")
}

/// Amounts of reward in sentences.
pub(crate) struct Amounts<F> {
    /// How one is written.
    pub(crate) shown: F,
    /// The cost with its standard error.
    pub(crate) estimate: String,
    /// What of: rewards in 100 rounds where they are 0 or 1, whatever they are called, or reward a round.
    pub(crate) per: &'static str,
}

pub(crate) fn amounts(cost: &Cost) -> Amounts<impl Fn(f64) -> String> {
    let (factor, per) = counted_in(cost);
    let estimate = with_error(factor * cost.estimate, factor * cost.stderr);
    Amounts { shown: move |amount: f64| number(factor * amount), estimate, per }
}

fn counted_in(cost: &Cost) -> (f64, &'static str) {
    if cost.clicks { (100.0, "rewards in 100 rounds") } else { (1.0, "of reward a round") }
}

fn too_few(few: Outcomes, pilot: &PilotView) -> String {
    let (one, several) = if few.clicks {
        ("reward of 1", "rewards of 1")
    } else {
        ("reward other than the usual one", "rewards other than the usual one")
    };
    let counted = |count: f64| match count.round() {
        none if none < 1.0 => format!("not a single {one}"),
        single if single < 2.0 => format!("1 {one}"),
        count => format!("{count} {several}"),
    };
    let scarce = match few.logged {
        Some(logged) if logged < 10.0 => format!("the logs have {}", counted(logged)),
        _ => format!("{} have {}", seen(pilot), counted(few.live.unwrap_or(0) as f64)),
    };
    scarce + ", and fewer than 10 tell nothing"
}

/// How many more live rows would settle it, or at least let anything be told.
fn settled(pilot: &PilotView, few: bool) -> Option<String> {
    let more = pilot.settled_by.map(|rows| about((rows - pilot.rows as f64).max(1.0)));
    match (more, few) {
        (Some(more), true) => Some(format!("It takes about {more} more live rows like these to have enough of them")),
        (None, true) => None,
        (Some(more), false) => Some(format!(
            "About {more} more live rows would settle it: if the logs hold, 8 of 10 audits would show that then"
        )),
        (None, false) => Some(
            "No number of live rows would show that they hold: the logs are too uncertain themselves, or which \
             action is chosen makes too little difference"
                .to_owned(),
        ),
    }
}

fn unmeasured(audit: &Audit, pilot: Option<&PilotView>) -> String {
    let coverages = audit.features.iter().map(|feature| (feature.finding.coverage, &feature.name));
    let least = coverages.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(String::new(), |(coverage, name)| {
        format!(" (least of all {name}, as {} rows of it alone would)", about(coverage))
    });
    let hint = match pilot {
        None => "nothing live has tested them".to_owned(),
        Some(PilotView { rows: 1, .. }) => "the pilot's 1 row is too few to tell".to_owned(),
        Some(pilot) => format!("the pilot's {} are too few to tell", many(pilot.rows, "row")),
    };
    format!(
        "Unclear: {hint}. The logs' {} cover {}{least}. They are worth about {} live rounds to a policy that knows that \
         nothing has drifted, but {} to one that has to expect a drift of {}.",
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
