//! Actions that live play has long left alone: a wider index for them, and audits.
//!
//! A posterior that shrinks by itself may leave an action alone for ever on a wrong first impression. So the
//! deviations of an action's index grow with the rounds in which nothing was learned about it:
//!
//! ```text
//! κ² = s (s + 2 log₊ ν),     ν = t / (d (1 + 1/‖x‖²)),     ‖x‖ in V⁻¹, s the exploration scale
//! ```
//!
//! What is known of an action is worth 1/‖x‖² live observations of it. Where contexts vary by themselves, that
//! is about t/d for every action, and ν is about 1; for one of a few fixed actions that has been played n times
//! it is t/(dn), as in MOSS (Audibert and Bubeck 2009).
//!
//! Logs can also hide the best action from a policy that believes them. So in some t^(2/3) of t rounds live data
//! alone is asked for its favourite, and if live play has neglected that action, ν > 4, it is played.

use crate::branch::{self, ActionInterval, Radius};
use crate::kernel::LANES;
use crate::policy::{Policy, Workspace};

/// Neglect from which on an audit plays the favourite of live data.
const NEGLECTED: f64 = 4.0;

/// How long nothing has been learned about an action.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neglect {
    /// t/d.
    rounds: f64,
}

impl Neglect {
    /// ν of an action with this ‖x‖².
    fn of(self, square: f64) -> f64 {
        self.rounds * square / (1.0 + square)
    }

    /// Index of an interval whose radius is `norm` times ‖x‖.
    pub(crate) fn index(self, interval: &ActionInterval, norm: f64, scale: f64) -> f64 {
        let radius = interval.ucb - interval.mean();
        let neglect = self.of((radius / norm).powi(2));
        if neglect > 1.0 {
            interval.mean() + radius * (1.0 + 2.0 * neglect.ln() / scale).sqrt()
        } else {
            interval.ucb
        }
    }
}

impl Policy {
    pub(crate) fn neglect(&self, round: u64) -> Neglect {
        Neglect { rounds: round as f64 / self.params().dimension as f64 }
    }

    /// The neglected action that live data alone would play, if this is a round to ask for it. The actions are
    /// those that were scored last.
    pub(crate) fn audit(&mut self, round: u64) -> Option<usize> {
        let (trust, online) = (self.trust.as_ref()?, self.layers[0].reference.as_ref()?);
        if !is_audit(round) {
            return None;
        }
        let (neglect, noise) = (self.neglect(round), trust.noise());
        let Workspace { candidates, blocks, branch: scratch, .. } = &mut self.workspace;
        let mut favourite: Option<(usize, f64, f64)> = None;
        for (group, block) in candidates.chunks(LANES).zip(blocks.chunks_exact(self.params.dimension)) {
            let radius = Radius { norm: noise, ..Radius::default() };
            let intervals = branch::intervals(online, radius, block, scratch);
            for (&action, interval) in group.iter().zip(intervals) {
                let neglect = neglect.of((interval.statistical / noise).powi(2));
                let index = interval.mean + interval.statistical * (1.0 + 2.0 * neglect.max(1.0).ln()).sqrt();
                if favourite.is_none_or(|best| index > best.1) {
                    favourite = Some((action, index, neglect));
                }
            }
        }
        favourite.filter(|favourite| favourite.2 > NEGLECTED).map(|favourite| favourite.0)
    }
}

/// Whether t^(2/3) passes a whole number with this round.
fn is_audit(round: u64) -> bool {
    let passed = |round: u64| ((round as f64).cbrt().powi(2) + 1e-9).floor();
    passed(round) > passed(round - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audits_thin_out() {
        let counts = [8, 1000, 27_000].map(|rounds| (1..=rounds).filter(|&round| is_audit(round)).count());
        assert_eq!(counts, [4, 100, 900]);
    }

    #[test]
    fn neglect_is_one_where_contexts_vary_and_grows_where_they_do_not() {
        let neglect = Neglect { rounds: 1000.0 / 5.0 };
        // Known from a fifth of the rounds, or from ten of them.
        assert!((neglect.of(1.0 / 200.0) - 1.0).abs() < 0.01);
        assert!((neglect.of(1.0 / 10.0) - 200.0 / 11.0).abs() < 1e-12);
    }
}
