//! What the logs are worth in live rounds, and what the paper promises.

use truenorth_report::{AxisScale, Bar, BarGroup, Bars, BarsFigure, Block, Error};

use super::words::{amount, counted, number, share};
use super::{paragraph, trust};
use crate::view::{Audit, Bounds};

/// Figures take numbers up to here.
const LARGEST: f64 = 1e90;

pub(super) fn blocks(audit: &Audit) -> Result<Vec<Block>, Error> {
    let mut blocks = vec![paragraph(
        "Worth is counted in live rounds: how many of them would teach as much about the live coefficients as the \
         logs do. Drift takes from it, because what has moved has to be learned again.",
    )];
    blocks.push(bars(audit)?);
    if let Some(bounds) = &audit.bounds {
        blocks.push(paragraph(promise(bounds)));
    }
    blocks.push(paragraph(certificate(audit)));
    blocks.push(paragraph(
        "The file certificate.toml holds this as a matrix and a radius rho. Hand it to policies that are told a \
         certificate, such as ellipsoidal-minucb. The policy truenorth needs none: it measures the drift while it \
         plays.",
    ));
    Ok(blocks)
}

fn bars(audit: &Audit) -> Result<Block, Error> {
    let worth = &audit.worth;
    let assumed = format!("if they drifted by {} somewhere", number(worth.stated_drift));
    let mut cases =
        vec![("if nothing has drifted".to_owned(), worth.unbiased), (assumed, worth.under_stated_drift)];
    if let Some(after) = worth.after_pilot {
        cases.push(("with what the pilot found".to_owned(), after));
    }
    cases.retain(|(_, value)| !value.is_nan());
    if cases.is_empty() {
        return Ok(paragraph("The worth of these logs is not known."));
    }
    // Nobody counts rounds in hundredths.
    let sane = |value: f64| match value {
        none if none < 0.1 => 0.0,
        few if few < 10.0 => (10.0 * few).round() / 10.0,
        many => many.round().min(LARGEST),
    };
    let bars = cases.into_iter().map(|(name, value)| Bar::new(name, sane(value))).collect();
    let bars = Bars {
        title: "What the logs are worth".to_owned(),
        value_label: "live rounds".to_owned(),
        scale: AxisScale::Auto,
        groups: vec![BarGroup { title: String::new(), bars }],
        ..Bars::default()
    };
    Ok(Block::Figure { svg: BarsFigure::new(bars)?.svg(), caption: String::new() })
}

/// The bounds in plain words.
fn promise(bounds: &Bounds) -> String {
    let Bounds { horizon, actions, with_logs, without_logs, logs_pay } = *bounds;
    let rounds = counted(horizon, "round");
    let actions = counted(actions as u64, "action");
    let mut text = format!(
        "In the worst case, over {rounds} with {actions} each, the paper guarantees that a policy with these logs \
         and this certificate loses at most {} of reward, and one without logs at most {}.",
        amount(with_logs),
        amount(without_logs)
    );
    text.push_str(if logs_pay {
        " Its condition for logs that pay holds here."
    } else {
        " Its condition for logs that pay does not hold here: by this yardstick the logs bring nothing that is \
         guaranteed, though they may still help."
    });
    text.push_str(
        " Such guarantees are cautious; compare them with each other, not with what you expect to lose.",
    );
    text
}

/// The certificate in a sentence.
fn certificate(audit: &Audit) -> String {
    let start = match audit.pilot {
        Some(_) => format!("The certificate bounds the drift with probability {}.", share(1.0 - audit.level)),
        None => format!(
            "The certificate is an assumption: that the coefficients have moved by at most {} in all.",
            number(audit.worth.stated_drift)
        ),
    };
    let Some(budgets) = trust::budgets(audit) else { return start };
    let effect = |place: usize| {
        let effect = budgets[place] * audit.features[place].typical;
        if effect.is_finite() { effect } else { 0.0 }
    };
    let mut order: Vec<usize> = (0..budgets.len()).collect();
    order.sort_by(|&a, &b| effect(b).total_cmp(&effect(a)));
    let told = |place: usize| {
        format!(
            "{} (at most {} for one unit, which moves a typical reward by {})",
            audit.features[place].name,
            number(budgets[place]),
            number(effect(place))
        )
    };
    match order.as_slice() {
        [] => start,
        [one] => format!("{start} It allows {} to have moved.", told(*one)),
        [most, .., least] => {
            format!(
                "{start} It allows most to {}, and least to {}. The table of features has all of them.",
                told(*most),
                told(*least)
            )
        }
    }
}
