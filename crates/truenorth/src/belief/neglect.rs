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
//! s is small because what is known of most actions is known well enough. A share r of an action's variance may
//! come from [new](super::news) columns, which nothing but play tells about; its own scale, up to 1, takes the place of s:
//!
//! ```text
//! s_x² = s² + (1 - s²) r,     r = min(n / σ²‖x‖², 1)
//! ```
//!
//! Logs can also hide the best action from a policy that believes them. So in t^(2/3) of t rounds live data
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

    /// How many radii an index lies above the mean, at most; with new columns or without. ν is at most t/d.
    pub(crate) fn widest(self, new: bool) -> f64 {
        let (longest, scale) = (2.0 * self.rounds.max(1.0).ln(), self.scale);
        if new { (1.0 + longest).sqrt() / scale } else { (1.0 + longest / scale).sqrt() }
    }

    /// The same where so much of the action's variance is due to new columns.
    pub(crate) fn index_of_new(self, mean: f64, ucb: f64, new: f64) -> f64 {
        let (radius, square) = (ucb - mean, self.scale * self.scale);
        let deviation = radius / self.scale;
        let share = (new / (deviation * deviation)).min(1.0);
        let scale = (square + (1.0 - square) * share).sqrt();
        mean + deviation * (scale * (scale + 2.0 * self.of(radius).max(1.0).ln())).sqrt()
    }
}

/// Whether live data alone is asked in this round: in t^(2/3) of the first t rounds.
pub(crate) fn is_recheck(round: u64) -> bool {
    // One of Newton's steps from seven digits: half the time of a root that is right to the last one.
    let (near, t) = (f64::from((round as f32).cbrt()), round as f64);
    let root = near - (near - t / (near * near)) / 3.0;
    // Squares of cube roots are off by less than the distance to the next whole number, up to some 10⁸ rounds; beyond, one of
    // many rechecks comes twice.
    let so_far = (root * root + 1e-9).floor();
    // They were fewer a round ago: so_far > (t - 1)^(2/3).
    so_far.powi(3) > (t - 1.0).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rechecks_thin_out() {
        let counts = [8, 1000, 40_000].map(|rounds| (1..=rounds).filter(|&round| is_recheck(round)).count());
        assert_eq!(counts, [4, 100, 1169]);
        // In whole numbers: k³ ≤ t² for one k more than a round ago.
        let mut so_far = 0u64;
        for round in 1..=300_000u64 {
            let more = (so_far + 1).pow(3) <= round * round;
            so_far += u64::from(more);
            assert_eq!(is_recheck(round), more, "{round}");
        }
    }

    #[test]
    fn neglect_is_one_where_contexts_vary_and_grows_where_they_do_not() {
        let neglect = Neglect { rounds: 1000.0 / 5.0, norm: 2.0, scale: 1.0 };
        // Known from a fifth of the rounds, or from ten of them.
        assert!((neglect.of(2.0 / 200f64.sqrt()) - 1.0).abs() < 0.01);
        assert!((neglect.of(2.0 / 10f64.sqrt()) - 200.0 / 11.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_new_has_full_width_and_what_is_not_the_scale() {
        let (cautious, full) = (0.2, 1.0);
        let of = |scale: f64| Neglect { rounds: 50.0, norm: scale * 2.0, scale };
        for deviation in [0.01, 1.0, 3.0] {
            let index =
                |scale: f64, new: f64| of(scale).index_of_new(0.5, 0.5 + scale * deviation, new) - 0.5;
            let plain = |scale: f64| of(scale).index(0.5, 0.5 + scale * deviation) - 0.5;
            assert!((index(cautious, 0.0) - plain(cautious)).abs() < 1e-12);
            assert!((index(cautious, deviation * deviation) - plain(full)).abs() < 1e-12);
            assert!((index(full, 0.1) - plain(full)).abs() < 1e-12);
        }
    }
}
