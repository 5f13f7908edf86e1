//! Where the central limit theorem is not to be relied on.

use crate::estimates::{Decision, Estimate, Estimates};

/// Decisions that an interval should rest on.
const ENOUGH: f64 = 50.0;
/// Deviations of one size that would make up the standard error: below so many, they are far from normal.
const ENOUGH_TERMS: f64 = 20.0;
/// Standard errors by which the mean weight may be off.
const OFF: f64 = 4.0;
/// What rounding may do to the mean of the weights.
const ROUNDED: f64 = 0.005;
/// Share of decisions in which nothing but the action that was taken had a chance, from which on it is worth a word.
const CERTAIN: f64 = 0.05;

pub(crate) fn of(found: &Estimates, decisions: &[Decision]) -> Vec<String> {
    let mut warnings = Vec::new();
    if found.effective == 0.0 {
        return vec![
            "the policy never takes an action that the log took: nothing is known about it".to_owned(),
        ];
    }
    if is_constant(decisions) {
        let (count, value) = (found.decisions, decisions[0].reward);
        // The rule of three: 3/n is where (1 - p)ⁿ is 5 %.
        let more = match value {
            0.0 => format!("; if rewards are 0 or 1, the log's own mean is at most 3/{count}"),
            1.0 => format!("; if rewards are 0 or 1, the log's own mean is at least 1 - 3/{count}"),
            _ => String::new(),
        };
        warnings.push(format!("all {count} rewards are {value}, so that no interval can be told{more}"));
    }
    if found.effective < ENOUGH {
        warnings.push(format!(
            "the estimates rest on {} in effect, of {}: too few for such intervals",
            counted(found.effective),
            found.decisions
        ));
    }
    let terms = effective_terms(decisions, found.snips.value);
    if found.effective >= ENOUGH && terms < ENOUGH_TERMS {
        warnings.push(format!(
            "most of the uncertainty comes from about {}, by large weights or rare rewards: too few for such intervals",
            counted(terms)
        ));
    }
    let weight = found.mean_weight;
    if is_off(weight) {
        let more = if weight.value < 1.0 {
            "the policy takes actions that the log gave no chance, or the probabilities are not those the log was made with"
        } else {
            "the probabilities are not those the log was made with"
        };
        warnings.push(format!("the weights are {:.3} on average, not 1: {more}", weight.value));
    }
    let certain = decisions.iter().filter(|decision| decision.probability >= 1.0).count();
    let share = certain as f64 / decisions.len() as f64;
    if share >= CERTAIN {
        warnings.push(format!(
            "in {:.0} % of the decisions the log took its action with probability 1: it tells nothing about other actions there",
            100.0 * share
        ));
    }
    warnings
}

/// Whether all rewards are the same. Of a single decision, there is no interval anyway.
pub(crate) fn is_constant(decisions: &[Decision]) -> bool {
    decisions.len() > 1
        && !decisions.iter().any(|decision| (decision.reward - decisions[0].reward).abs() > 0.0)
}

/// Whether the weights are not 1 on average, so that estimates by them are about another policy. Logs round probabilities, to .333.
pub(crate) fn is_off(weight: Estimate) -> bool {
    weight.stderr.is_some_and(|stderr| (weight.value - 1.0).abs() > OFF * stderr + ROUNDED)
}

fn counted(decisions: f64) -> String {
    let shown = format!("{decisions:.0}");
    format!("{shown} decision{}", if shown == "1" { "" } else { "s" })
}

/// How many numbers of one size would make the same squares as the deviations of the self-normalised estimate.
fn effective_terms(decisions: &[Decision], value: f64) -> f64 {
    let squares = decisions.iter().map(|d| (d.weight * d.ratio() * (d.reward - value)).powi(2));
    let (sum, fourths) =
        squares.fold((0.0, 0.0), |(sum, fourths), square| (sum + square, fourths + square * square));
    if fourths > 0.0 { sum * sum / fourths } else { f64::INFINITY }
}
