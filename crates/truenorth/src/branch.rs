//! Confidence intervals of the branches, and how two of them become one.

use crate::kernel::Scores;

/// Which branch set an upper confidence bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Branch {
    /// Live data alone.
    Online,
    /// Logs and live data, with the bias that the certificate allows.
    Pooled,
    /// Logs and live data, as if the logs were unbiased.
    Warm,
    /// Logs alone.
    Offline,
}

impl Branch {
    /// The name that commands and files use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Pooled => "pooled",
            Self::Warm => "warm",
            Self::Offline => "offline",
        }
    }
}

/// One branch's interval for one action: `mean ± (statistical + bias)`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct BranchInterval {
    /// Estimated reward.
    pub mean: f64,
    /// Part of the radius that more data shrinks.
    pub statistical: f64,
    /// Part of the radius that the certificate adds for drift.
    pub bias: f64,
}

impl BranchInterval {
    /// That of one of the actions that were scored.
    pub(crate) fn of(scores: &Scores, k: usize) -> Self {
        Self { mean: scores.mean[k], statistical: scores.statistical[k], bias: scores.bias[k] }
    }

    /// Upper end.
    pub(crate) fn ucb(&self) -> f64 {
        self.mean + (self.statistical + self.bias)
    }

    /// Lower end.
    pub(crate) fn lcb(&self) -> f64 {
        self.mean - (self.statistical + self.bias)
    }
}

/// The interval that a layer works with for one action, and what it was made of.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ActionInterval {
    /// Index of the action in its round.
    pub action: usize,
    /// Upper end of the aggregated interval.
    pub ucb: f64,
    /// Lower end of the aggregated interval.
    pub lcb: f64,
    /// What a flat policy ranks actions by: the UCB, and with width `posterior` somewhat more for an action
    /// that live play has long left alone.
    pub index: f64,
    /// The branch that set the upper end.
    pub branch: Branch,
    /// Whether the two branches' intervals are disjoint: an assumption is refuted, and the online
    /// interval is used alone.
    pub conflict: bool,
    /// The online branch, where the policy has one.
    pub online: Option<BranchInterval>,
    /// The pooled, warm or offline branch, where the policy has one.
    pub informed: Option<BranchInterval>,
}

impl ActionInterval {
    /// Estimated reward by the branch that set the upper end.
    pub fn mean(&self) -> f64 {
        let (first, second) = (self.online, self.informed);
        let winner = if self.branch == Branch::Online { first.or(second) } else { second };
        winner.map_or(f64::NAN, |interval| interval.mean)
    }

    /// The smaller of the UCBs and the larger of the LCBs (equation 8), or the online interval
    /// where the two do not meet.
    pub(crate) fn aggregate(
        action: usize,
        online: Option<BranchInterval>,
        informed: Option<BranchInterval>,
        informed_branch: Branch,
    ) -> Self {
        let (ucb, lcb, branch, conflict) = match (online, informed) {
            (Some(online), Some(informed)) => {
                let (ucb, lcb) = (online.ucb().min(informed.ucb()), online.lcb().max(informed.lcb()));
                let branch = if informed.ucb() < online.ucb() { informed_branch } else { Branch::Online };
                if ucb < lcb {
                    (online.ucb(), online.lcb(), Branch::Online, true)
                } else {
                    (ucb, lcb, branch, false)
                }
            }
            (Some(online), None) => (online.ucb(), online.lcb(), Branch::Online, false),
            (None, Some(informed)) => (informed.ucb(), informed.lcb(), informed_branch, false),
            (None, None) => unreachable!("a policy has at least one branch"),
        };
        Self { action, ucb, lcb, index: ucb, branch, conflict, online, informed }
    }
}

/// Multipliers that turn the norms a [`Precision`](crate::precision::Precision) tracks into a radius:
/// `norm · ‖x‖ + offline · ‖second map‖ + bias · ‖first map‖`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Radius {
    /// Multiplies ‖x‖ in V⁻¹.
    pub(crate) norm: f64,
    /// Multiplies the first map, the certificate's: ‖W V⁻¹x‖ in M⁻¹.
    pub(crate) bias: f64,
    /// Multiplies the second map, the logs' own uncertainty: ‖W V⁻¹x‖ in G_off⁻¹.
    pub(crate) offline: f64,
}

impl Radius {
    /// All parts multiplied.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self { norm: factor * self.norm, bias: factor * self.bias, offline: factor * self.offline }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(mean: f64, statistical: f64, bias: f64) -> BranchInterval {
        BranchInterval { mean, statistical, bias }
    }

    #[test]
    fn aggregated_interval_is_the_intersection() {
        let action = ActionInterval::aggregate(
            3,
            Some(interval(0.0, 1.0, 0.0)),
            Some(interval(0.5, 0.25, 0.5)),
            Branch::Pooled,
        );
        assert_eq!(
            (action.ucb, action.lcb, action.branch, action.conflict),
            (1.0, -0.25, Branch::Online, false)
        );
        assert_eq!((action.ucb - action.lcb, action.mean()), (1.25, 0.0));
    }

    #[test]
    fn disjoint_intervals_fall_back_to_live_data_and_count_as_a_conflict() {
        let action = ActionInterval::aggregate(
            0,
            Some(interval(0.0, 1.0, 0.0)),
            Some(interval(3.0, 1.0, 0.5)),
            Branch::Pooled,
        );
        assert_eq!(
            (action.ucb, action.lcb, action.branch, action.conflict),
            (1.0, -1.0, Branch::Online, true)
        );
    }

    #[test]
    fn intervals_that_touch_are_no_conflict_and_ties_go_to_live_data() {
        let (a, b) = (interval(0.0, 1.0, 0.0), interval(2.0, 1.0, 0.0));
        assert!(!ActionInterval::aggregate(0, Some(a), Some(b), Branch::Pooled).conflict);
        let same = ActionInterval::aggregate(0, Some(a), Some(a), Branch::Pooled);
        assert_eq!(same.branch, Branch::Online);
    }
}
