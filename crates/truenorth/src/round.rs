//! What goes into a policy and what comes out, round by round.

use crate::branch::Branch;
use crate::check;
use crate::error::{Reason, Result};

/// The feature vectors of one round's actions, row after row.
#[derive(Debug, Clone, Copy)]
pub struct Actions<'a> {
    /// Row after row.
    pub(crate) features: &'a [f64],
    dimension: usize,
}

impl<'a> Actions<'a> {
    /// From the concatenated feature vectors of at least one action.
    pub fn new(features: &'a [f64], dimension: usize) -> Result<Self> {
        if features.is_empty() || dimension == 0 {
            return Err(Reason::NoActions.into());
        }
        let whole = features.len().div_ceil(dimension) * dimension;
        check::length("the list of features", whole, features.len())?;
        if let Some(at) = check::first_unusable(features) {
            return Err(Reason::Feature {
                action: at / dimension,
                feature: at % dimension,
                value: features[at],
            }
            .into());
        }
        Ok(Self { features, dimension })
    }

    /// Number of features of an action.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of actions.
    pub fn count(&self) -> usize {
        self.features.len() / self.dimension
    }

    /// Features of one action.
    ///
    /// # Panics
    ///
    /// If there is no such action.
    pub fn row(&self, action: usize) -> &'a [f64] {
        &self.features[action * self.dimension..][..self.dimension]
    }
}

/// What `learn` has to know about the decision that a reward belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Decision {
    /// Round, counted from 1.
    pub round: u64,
    /// Layer that played.
    pub layer: u32,
}

/// A decision that has been made.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Choice {
    /// Hand this back with the reward.
    pub decision: Decision,
    /// Index of the chosen action.
    pub action: usize,
    /// Upper end of its interval.
    pub ucb: f64,
    /// Lower end of its interval.
    pub lcb: f64,
    /// Its estimated reward, by the branch that set the UCB, without the [`level`](crate::Policy::level) of all rewards.
    pub mean: f64,
    /// Part of its radius that allows for drift: ρψ times the exploration scale, 0 where there is none. For the regret
    /// bounds of a sister crate; no part of the interface.
    #[doc(hidden)]
    pub bias: f64,
    /// The branch that set the UCB.
    pub branch: Branch,
    /// Probability with which this action was chosen: 1 but for `sampling` and `epsilon`.
    pub propensity: f64,
    /// Actions that were still alive at the layer that played.
    pub candidates: usize,
    /// Action-layer pairs of this round whose online and pooled intervals are disjoint.
    pub conflicts: usize,
}

impl Choice {
    /// What there is to learn once the chosen one of `actions` has paid.
    ///
    /// # Panics
    ///
    /// If the choice was made among more actions than these.
    pub fn rewarded<'a>(&self, actions: Actions<'a>, reward: f64) -> Observation<'a> {
        Observation { decision: self.decision, features: actions.row(self.action), reward }
    }
}

/// A reward, for a decision that may be long past and overtaken by later ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation<'a> {
    /// From the [`Choice`].
    pub decision: Decision,
    /// Features of the action that was played.
    pub features: &'a [f64],
    /// Its reward.
    pub reward: f64,
}

/// Counts of what a policy has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Counts {
    /// Rounds decided.
    pub rounds: u64,
    /// Rewards learned, of rounds, which may stay without one, and of rows of others.
    pub rewards: u64,
    /// Action-layer pairs whose online and pooled intervals were disjoint. Under the assumptions
    /// any conflict at all has probability at most δ: the certificate, `norm_bound` or `noise` is
    /// wrong, or luck was very bad.
    pub conflicts: u64,
    /// Rounds whose chosen action got its UCB from the pooled, warm or offline branch.
    pub informed: u64,
    /// What `truenorth` and `truenorth-sampling` may have lost against live data alone by its own intervals: the prices of
    /// what they played, estimated from some of the rounds, in standard deviations of the noise.
    pub spent: f64,
    /// Rounds in which nothing was left to spend, so that live data alone decided.
    pub forced: u64,
}

impl Counts {
    /// Share of the rounds in which the logs set the UCB of the chosen action.
    pub fn pooled_share(&self) -> f64 {
        if self.rounds == 0 { 0.0 } else { self.informed as f64 / self.rounds as f64 }
    }
}
