//! Why a decision was made: every interval that was looked at, layer by layer.

use std::fmt;

use crate::branch::{ActionInterval, BranchInterval};

/// The full story of one decision, as [`Policy::choose_explained`](crate::Policy::choose_explained)
/// tells it. Its `Display` is a table for people.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Explanation {
    /// Round, counted from 1.
    pub(crate) round: u64,
    /// The action that was played.
    pub(crate) action: usize,
    /// The layers that were looked at, in order; the last one played.
    pub layers: Vec<LayerExplanation>,
    /// What had been spent after this decision; see [`Counts`](crate::Counts).
    pub(crate) spent: f64,
}

/// What happened in one layer.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LayerExplanation {
    /// The layer.
    pub layer: u32,
    /// When and what it plays, in words.
    pub rule: String,
    /// The intervals of the actions that were still alive.
    pub actions: Vec<ActionInterval>,
    /// Actions whose UCB was below the best LCB here, and which the next layer did not see.
    pub eliminated: Vec<usize>,
}

impl LayerExplanation {
    /// Whether live data alone decided, whatever set the intervals.
    pub fn is_live_alone(&self) -> bool {
        self.rule.starts_with(LIVE_ALONE)
    }
}

/// How the rules begin that leave the logs out.
const LIVE_ALONE: &str = "asks live data alone";

/// When a layer plays, and what.
#[derive(Clone, Copy)]
pub(crate) enum PlayRule {
    /// The largest UCB among the intervals wider than this, `2^-layer`, if there are any.
    WiderThan(f64),
    /// The largest UCB: the last layer always plays.
    LargestUcb,
    /// The largest mean: the offline estimate's favourite.
    LargestMean,
    /// The largest index: the UCB, and more for what live play has long left alone.
    LargestIndex,
    /// What live data alone would play: now and then, so that logs cannot hide the best action.
    LiveFavourite,
    /// The same, because the belief has spent its budget.
    Forced,
    /// The favourite of a draw from the posterior.
    Sampled,
    /// The largest mean, or any action with this probability.
    Epsilon(f64),
}

impl fmt::Display for PlayRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WiderThan(width) => write!(f, "plays if an interval is wider than {width}"),
            Self::LargestUcb => write!(f, "plays the largest ucb"),
            Self::LargestMean => write!(f, "plays the largest mean"),
            Self::LargestIndex => write!(f, "plays the largest ucb, wider for what was long left alone"),
            Self::LiveFavourite => write!(f, "{LIVE_ALONE}, lest the logs hide the best action"),
            Self::Forced => write!(f, "{LIVE_ALONE}, because the belief has spent its budget"),
            Self::Sampled => write!(f, "plays the favourite of a draw from the posterior"),
            Self::Epsilon(epsilon) => {
                write!(f, "plays the largest mean, or any action in {epsilon} of the rounds")
            }
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let played = self.layers.last().map_or(0, |layer| layer.layer);
        writeln!(f, "round {}: played action {} in layer {played}", self.round, self.action)?;
        if self.spent > 0.0 {
            writeln!(f, "spent so far: {:.4}", self.spent)?;
        }
        for layer in &self.layers {
            writeln!(f, "layer {} ({})", layer.layer, layer.rule)?;
            writeln!(
                f,
                "  action        lcb        ucb  set by   online mean ± statistical   informed mean ± statistical + bias"
            )?;
            for action in &layer.actions {
                writeln!(
                    f,
                    "  {:>6} {:>10.4} {:>10.4}  {:<8} {:<27} {}{}",
                    action.action,
                    action.lcb,
                    action.ucb,
                    action.branch.name(),
                    branch_text(action.online, false),
                    branch_text(action.informed, true),
                    if action.conflict { "  CONFLICT" } else { "" },
                )?;
            }
            if !layer.eliminated.is_empty() {
                let names: Vec<String> = layer.eliminated.iter().map(ToString::to_string).collect();
                writeln!(f, "  eliminated: {}", names.join(", "))?;
            }
        }
        Ok(())
    }
}

fn branch_text(interval: Option<BranchInterval>, with_bias: bool) -> String {
    let Some(BranchInterval { mean, statistical, bias }) = interval else { return "-".to_owned() };
    let bias = if with_bias { format!(" + {bias:.4}") } else { String::new() };
    format!("{mean:>9.4} ± {statistical:.4}{bias}")
}
