//! Actions that live play has long left alone: a wider index for them, and rechecks.
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

/// How long nothing has been learned about an action.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neglect {
    /// t/d.
    pub(crate) rounds: f64,
    /// The radius is so many times ‖x‖.
    pub(crate) norm: f64,
    /// s.
    pub(crate) scale: f64,
}

impl Neglect {
    /// ν of an action whose interval has this radius.
    pub(crate) fn of(self, radius: f64) -> f64 {
        let square = (radius / self.norm).powi(2);
        self.rounds * square / (1.0 + square)
    }

    /// Index of an action with this mean and UCB.
    pub(crate) fn index(self, mean: f64, ucb: f64) -> f64 {
        let radius = ucb - mean;
        let neglect = self.of(radius);
        if neglect > 1.0 { mean + radius * (1.0 + 2.0 * neglect.ln() / self.scale).sqrt() } else { ucb }
    }
}

/// When rechecks are due; remembers the next one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rechecks {
    /// No round from the first of these up to the second, which it is, is a recheck.
    quiet: (u64, u64),
}

impl Rechecks {
    pub(crate) fn is_due(&mut self, round: u64) -> bool {
        let (from, next) = self.quiet;
        if round < from || round > next {
            // t^(2/3) = k at t = k^(3/2).
            let whole = passed(round - 1) + 1.0;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a round, or beyond all"
            )]
            let near = (whole.powf(1.5) as u64).saturating_sub(2).max(round);
            let next = (near..=u64::MAX).find(|&round| is_recheck(round)).unwrap_or(u64::MAX);
            self.quiet = (round, next);
        }
        round == self.quiet.1
    }
}

/// Whether t^(2/3) passes a whole number with this round.
fn is_recheck(round: u64) -> bool {
    passed(round) > passed(round - 1)
}

/// Whole numbers that t^(2/3) has passed.
fn passed(round: u64) -> f64 {
    ((round as f64).cbrt().powi(2) + 1e-9).floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rechecks_thin_out() {
        let counts = [8, 1000, 27_000].map(|rounds| (1..=rounds).filter(|&round| is_recheck(round)).count());
        assert_eq!(counts, [4, 100, 900]);
    }

    #[test]
    fn the_next_recheck_is_remembered_and_never_missed() {
        let mut rechecks = Rechecks::default();
        // Also where rounds come in any order, as after a snapshot is restored.
        let orders = (1..20_000).chain((1..20_000).rev()).chain([1 << 40, 3, 1 << 41]);
        for round in orders {
            assert_eq!(rechecks.is_due(round), is_recheck(round), "{round}");
        }
        let mut later = Rechecks::default();
        let far = 10_000_000_000..10_000_020_000;
        assert!(far.clone().all(|round| later.is_due(round) == is_recheck(round)));
    }

    #[test]
    fn neglect_is_one_where_contexts_vary_and_grows_where_they_do_not() {
        let neglect = Neglect { rounds: 1000.0 / 5.0, norm: 2.0, scale: 1.0 };
        // Known from a fifth of the rounds, or from ten of them.
        assert!((neglect.of(2.0 / 200f64.sqrt()) - 1.0).abs() < 0.01);
        assert!((neglect.of(2.0 / 10f64.sqrt()) - 200.0 / 11.0).abs() < 1e-12);
    }
}
