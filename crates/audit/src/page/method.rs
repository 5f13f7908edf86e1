//! How the numbers came about, in a few lines.

use truenorth_report::Block;

use super::paragraph;
use super::words::{counted, number, share};
use crate::view::Audit;

pub(super) fn blocks(audit: &Audit) -> Vec<Block> {
    let linear = "Rewards are taken to be linear in the features, up to noise. The logs' coefficients come from a \
                  regression on all logged rows, and the noise from what it leaves over.";
    let coverage = "Coverage counts rows of typical size that look at one feature, or in one direction, alone: what \
                    they would tell about it is what the logs tell. A running policy shows another number, told apart: the logged \
                    rows that tell a feature from all others. It is less where features follow from each other. Beside \
                    it stands no trust but reliance: how much the logs count there. That may be nearly all where a \
                    coefficient has certainly moved, but little.";
    let limits = "What the logs cannot tell: whether they still hold where no live data looked, what happens in \
                  directions that nobody tried, and what will drift tomorrow. A pilot speaks for the time and the \
                  people it was taken from.";
    let mut items = vec![linear.to_owned()];
    items.extend(drift(audit));
    items.push(coverage.to_owned());
    let scale = number(audit.scale);
    if scale != "1" {
        items.push(format!(
            "Policies get the features multiplied by {scale}. Everything on this page is in the units of the columns."
        ));
    }
    vec![Block::List(items), paragraph(limits)]
}

fn drift(audit: &Audit) -> Vec<String> {
    let Some(pilot) = &audit.pilot else {
        let assumed = "Without a pilot no drift is measured. What is said about worth and certificate holds if the \
                       drift is as long as stated, and no longer.";
        return vec![assumed.to_owned()];
    };
    let (level, margin) = (share(audit.level), number(audit.margin));
    let errors = if pilot.independent == pilot.rows {
        format!("The {} are taken to be independent of each other.", counted(pilot.rows, "live row"))
    } else {
        format!(
            "Rows of the same round share their luck, so the live errors are clustered: they count {}, not {}.",
            counted(pilot.independent, "independent round"),
            counted(pilot.rows, "row")
        )
    };
    let unclear = "Unclear: neither is shown. It is not a sign of drift, but of too little live data about this feature.";
    let trust =
        "Trust is the probability that the logged coefficient still holds, from even odds before the pilot.";
    vec![
        format!(
            "The drift of a feature is its live coefficient minus its logged one. Its standard error adds the errors \
             of both. {errors}"
        ),
        format!(
            "Drifted: zero drift is refuted. The chance that even one of the features without drift is called \
             drifted is at most {level}."
        ),
        format!(
            "Holds: no drift is found, and either trust is at least 80\u{a0}%, or the drift is shown to be too small to \
             matter: with all others as large, it would cost less than {margin} of what choosing well earns over choosing \
             at random.",
        ),
        unclear.to_owned(),
        trust.to_owned(),
    ]
}
