//! What it would cost to play what the logs recommend.

use truenorth_report::Block;
use truenorth_report::numbers::count;

use super::paragraph;
use super::words::{counted, number, share};
use crate::verdict::{Amounts, amounts, costs_by_rewards};
use crate::view::{Audit, Cost};

pub(super) fn blocks(cost: &Cost, audit: &Audit) -> Vec<Block> {
    let Amounts { shown, estimate, per } = amounts(cost);
    let [low, high, gain, margin] = [cost.interval[0], cost.interval[1], cost.gain, cost.margin].map(&shown);
    let all = audit.pilot.as_ref().map_or(0, |pilot| pilot.independent);
    let rounds = if cost.given {
        let which = if cost.rounds < all {
            format!("{} of the pilot's {}, evenly spread,", count(cost.rounds), counted(all, "round"))
        } else {
            format!("{} of the pilot", counted(cost.rounds, "round"))
        };
        format!("in {which} with {} actions on average", number(cost.actions))
    } else if cost.rounds == 1 {
        format!("in a round of all {} different live rows, as the pilot has no rounds", number(cost.actions))
    } else {
        format!(
            "in rounds of {} live rows that are drawn at random, as the pilot has no rounds",
            number(cost.actions)
        )
    };
    let probability = share(1.0 - audit.level);
    let linear = format!(
        "{estimate} {per} ({low} to {high} with probability \
         {probability}), {rounds}. Choosing well earns {gain} more than choosing at random."
    );
    let refutation = cost.refutation();
    let less = if cost.is_small() {
        ", and it is shown to be less."
    } else if refutation.map_or(cost.interval, |measured| measured.interval)[0] > cost.margin {
        ", but it is shown to be more."
    } else {
        "; whether it is less is not shown."
    };
    let answer = format!(
        "A cost of {margin} would not matter{less} A policy that learns pays this only until it has learned better."
    );
    let measured = cost.measured.map(|measured| {
        let [low, high] = measured.interval;
        // What is told as a gain is one.
        let [low, high] = if measured.estimate < 0.0 { [-high, -low] } else { [low, high] }
            .map(|end| shown(end).replace('-', "−"));
        format!(
            "{} ({low} to {high} with probability {probability}): what least squares on a part of the pilot recommends is \
             held against it in the rest, in all {}, part by part.",
            costs_by_rewards(cost, &measured),
            counted(measured.rounds, "round"),
        )
    });
    let matters = "Drift matters as far as it changes which action is the best.";
    let texts = match (measured, refutation) {
        (Some(measured), Some(_)) => vec![
            format!(
                "{matters} By the pilot's own rewards, playing for ever what the logs recommend would {measured} {answer}"
            ),
            format!(
                "A linear model says something else, and cannot be right: rewards are not linear in these features. By it, \
                 the cost is {linear}"
            ),
        ],
        (measured, _) => {
            let first =
                format!("{matters} Playing for ever what the logs recommend would cost {linear} {answer}");
            let second = measured.map(|measured| {
                format!("That is by a linear model. By the rewards themselves, it would {measured}")
            });
            [Some(first), second].into_iter().flatten().collect()
        }
    };
    texts.into_iter().map(paragraph).collect()
}
