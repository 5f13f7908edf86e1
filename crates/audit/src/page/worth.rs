//! What the logs are worth in live rounds, and what the paper promises.

use truenorth_report::{AxisScale, Bars, Block, Error};

use super::words::{amount, counted, number, share, whole};
use super::{LARGEST, paragraph, trust};
use crate::bounds::PAPER;
use crate::view::{Audit, Bounds};

pub(super) fn blocks(audit: &Audit) -> Result<Vec<Block>, Error> {
    let counted = "Worth is counted in live rounds: how many of them at the start would spare a policy as much as the \
                   logs do, if it is told how far each feature has moved. Drift takes from it, because what has moved has to be \
                   learned again. The default policy is not told and finds out as it plays: it gains less.";
    let file = "The certificate's file holds a budget for each feature and a number rho: the allowed drift is the budget times \
                rho. Hand it to policies that are told a \
                certificate, such as ellipsoidal-minucb. The policy truenorth needs none: it measures the drift while \
                it plays.";
    if audit.worth.unbiased <= 0.0 {
        return Ok(vec![
            paragraph("They are worth nothing."),
            paragraph(certificate(audit)),
            paragraph(file),
        ]);
    }
    let mut blocks = vec![paragraph(counted), bars(audit)?];
    blocks.extend([paragraph(certificate(audit)), paragraph(file)]);
    Ok(blocks)
}

fn bars(audit: &Audit) -> Result<Block, Error> {
    let worth = &audit.worth;
    let cases = [
        ("if nothing has drifted".to_owned(), worth.unbiased),
        (format!("if they drifted by {} somewhere", number(worth.stated_drift)), worth.under_stated_drift),
        ("with what the pilot found".to_owned(), worth.after_pilot.unwrap_or(f64::NAN)),
    ];
    // Nobody counts rounds in hundredths.
    let sane = |value: f64| match value {
        none if none < 0.1 => 0.0,
        few if few < 10.0 => (10.0 * few).round() / 10.0,
        // Three digits, as everywhere else.
        many => {
            let step = 10f64.powf((many.log10() - 2.0).floor().max(0.0));
            ((many / step).round() * step).min(LARGEST)
        }
    };
    let known = cases.into_iter().filter(|(_, value)| !value.is_nan());
    let bars: Vec<_> = known.map(|(name, value)| (name, sane(value))).collect();
    if bars.is_empty() {
        return Ok(paragraph("The worth of these logs is not known."));
    }
    let bars = Bars {
        title: "What the logs are worth".to_owned(),
        value_label: "live rounds".to_owned(),
        scale: AxisScale::Auto,
        bars,
    };
    Ok(Block::Figure { svg: bars.svg()?, caption: String::new() })
}

/// The bounds in plain words.
pub(super) fn promise(bounds: &Bounds) -> Vec<Block> {
    let Bounds { horizon, with_logs, without_logs, logs_pay, .. } = *bounds;
    let pay = if logs_pay { "do" } else { "do not: they bring nothing that is guaranteed" };
    let told = format!(
        "In the worst case, over {} with any number of actions, a policy with these logs and this certificate loses at most \
         {} of reward, and one without logs at most {}. By this yardstick logs pay if their bound is the smaller one, \
         and here they {pay}.",
        counted(horizon, "round"),
        amount(with_logs),
        amount(without_logs)
    );
    let cautious = "Such bounds are far above what any policy loses: compare them with each other, not with what you \
                    expect to lose. They are for rewards in [0, 1] and noise of a known size; outside of that, read \
                    them as rates.";
    let source = format!("They are from the paper “{PAPER}”.");
    if bounds.say_nothing() {
        let most = whole(horizon);
        return vec![paragraph(format!(
            "They say nothing here: they are for rewards in [0, 1], of which {most} rounds cannot lose more than {most}, and \
             with these logs as without, the bound is above that. {source}"
        ))];
    }
    vec![paragraph(told), paragraph(format!("{cautious} {source}"))]
}

/// The certificate in a sentence.
fn certificate(audit: &Audit) -> String {
    let tested = audit.features.iter().any(|feature| feature.finding.drifted.is_some());
    let start = match audit.pilot.filter(|_| tested) {
        Some(_) => format!("The certificate bounds the drift with probability {}.", share(1.0 - audit.level)),
        None => format!(
            "The certificate is an assumption: that the coefficients have moved by at most {} in all.",
            number(audit.worth.stated_drift)
        ),
    };
    let Some(budgets) = trust::budgets(audit) else { return start };
    let effect = |place: usize| {
        let effect = budgets[place] * audit.features[place].finding.typical;
        if effect.is_finite() { effect } else { 0.0 }
    };
    let mut order: Vec<usize> = (0..budgets.len()).collect();
    order.sort_by(|&a, &b| effect(b).total_cmp(&effect(a)));
    let name = |place: usize| &audit.features[place].name;
    let told = |place: usize| {
        format!("by up to {} ({} for one unit)", number(effect(place)), number(budgets[place]))
    };
    match order.as_slice() {
        [] => start,
        [one] => {
            format!("{start} Counted in a typical reward, {} may have moved {}.", name(*one), told(*one))
        }
        [most, .., least] => format!(
            "{start} Counted in a typical reward, {} may have moved most, {}, and {} least, {}. The table of features has \
             all of them.",
            name(*most),
            told(*most),
            name(*least),
            told(*least)
        ),
    }
}
