//! What it would cost to play what the logs recommend.

use truenorth_report::Block;

use super::paragraph;
use super::words::{counted, number, share};
use crate::verdict::{Amounts, amounts};
use crate::view::{Audit, Cost};

pub(super) fn blocks(cost: &Cost, audit: &Audit) -> Vec<Block> {
    let Amounts { shown, estimate, per } = amounts(cost);
    let [low, high, gain, margin] = [cost.interval[0], cost.interval[1], cost.gain, cost.margin].map(&shown);
    let rounds = if cost.given {
        format!(
            "in {} of the pilot with {} actions on average",
            counted(cost.rounds, "round"),
            number(cost.actions)
        )
    } else if cost.rounds == 1 {
        format!("in a round of all {} different live rows, as the pilot has no rounds", number(cost.actions))
    } else {
        format!(
            "in rounds of {} live rows that are drawn at random, as the pilot has no rounds",
            number(cost.actions)
        )
    };
    let answer = if cost.is_small() {
        format!("A cost of {margin} would not matter, and it is shown to be less.")
    } else if cost.interval[0] > cost.margin {
        format!("A cost of {margin} would not matter, but it is shown to be more.")
    } else {
        format!("A cost of {margin} would not matter; whether it is less is not shown.")
    };
    vec![paragraph(format!(
        "Drift matters as far as it changes which action is the best. Playing for ever what the logs recommend would cost \
         {estimate} {per} ({low} to {high} with probability {}), {rounds}. Choosing well earns {gain} more than \
         choosing at random. {answer} A policy that learns pays this only until it has learned better.",
        share(1.0 - audit.level)
    ))]
}
