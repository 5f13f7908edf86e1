//! MIN-UCB of Cheung and Lyu (2024): counts and means of separate arms, nothing shared between them.

use crate::branch::BranchInterval;
use crate::certificate::Certificate;
use crate::decide::{Played, Turn};
use crate::error::{Reason, Result};
use crate::explain::PlayRule;
use crate::round::Row;
use crate::score::Scoreboard;
use crate::statistic::RidgeStatistic;

/// Stands for no observation at all where numbers are divided by their count.
const UNSEEN: f64 = 1e-100;

/// The state of a policy of separate arms: live counts and sums.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Arms {
    pub(crate) data: RidgeStatistic,
}

impl Arms {
    pub(crate) fn choose(&self, turn: Turn<'_>, board: &mut Scoreboard) -> Result<Played> {
        self.score(turn, board)?;
        let conflicts = board.bound();
        let position = board.largest_ucb(None).unwrap_or(0);
        Ok(Played { conflicts, ..Played::at(position, PlayRule::LargestUcb) })
    }

    pub(crate) fn score(&self, turn: Turn<'_>, board: &mut Scoreboard) -> Result<()> {
        let Turn { given, actions, round, .. } = turn;
        let certificate = given.settings.certificate.as_ref().expect("separate arms are told one");
        let scales = (given.settings.exploration_scale, given.noise);
        board.set(|action| {
            let arm = arm(action, actions.row(action))?;
            Ok(intervals(arm, round, scales, &self.data, given.logs(), certificate))
        })
    }
}

/// The arm that a feature vector stands for: the place of its only 1.
pub(crate) fn arm<'a>(action: usize, features: impl Into<Row<'a>>) -> Result<usize> {
    let features = features.into();
    #[expect(clippy::float_cmp, reason = "a unit vector holds exactly zeros and a one")]
    let arm = features.entries().find(|&(_, feature)| feature == 1.0);
    match arm {
        Some((arm, _)) if features.values().iter().filter(|&&feature| feature != 0.0).count() == 1 => Ok(arm),
        _ => Err(Reason::NotAnArm { action }.into()),
    }
}

/// Intervals of one arm from live data alone, and from live data and logs together.
///
/// ```text
/// X̄ ± σ √(2 log(2t/δ_t) / N),    (N X̄ + T Ȳ)/(N + T) ± (σ √(2 log(2t/δ_t) / (N + T)) + T/(N + T) V),
/// ```
///
/// with δ_t = 1/(2 K t²), N live and T logged observations of the arm, and V the largest drift that the
/// certificate allows it. Without an observation an interval has no end, and the other one decides. `scale` multiplies both radii.
fn intervals(
    arm: usize,
    round: u64,
    (scale, noise): (f64, f64),
    live: &RidgeStatistic,
    logs: &RidgeStatistic,
    certificate: &Certificate,
) -> (BranchInterval, BranchInterval) {
    let drift = scale * certificate.axis_bound(arm);
    let noise = scale * noise;
    let (t, arms) = (round as f64, live.dimension() as f64);
    let log = 2.0 * (4.0 * arms * t.powi(3)).ln(); // 2 log(2t / δ_t)
    // Σ x² and Σ x r of a unit vector's coordinate are the arm's count and its sum of rewards.
    let sums = |data: &RidgeStatistic| (data.squares(arm), data.moment()[arm]);
    let ((live_count, live_sum), (log_count, log_sum)) = (sums(live), sums(logs));
    let (online, pooled) = (live_count.max(UNSEEN), (live_count + log_count).max(UNSEEN));
    (
        BranchInterval { mean: live_sum / online, statistical: noise * (log / online).sqrt(), bias: 0.0 },
        BranchInterval {
            mean: (live_sum + log_sum) / pooled,
            statistical: noise * (log / pooled).sqrt(),
            bias: log_count / pooled * drift,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_by_hand() {
        let (mut live, mut logs) = (RidgeStatistic::new(2).unwrap(), RidgeStatistic::new(2).unwrap());
        for (data, count, reward) in [(&mut live, 4, 0.5), (&mut logs, 12, 0.9)] {
            for _ in 0..count {
                data.observe(&[0.0, 1.0], reward).unwrap();
            }
        }
        let certificate = Certificate::isotropic(2, 0.4).unwrap();
        let (online, pooled) = intervals(1, 3, (1.0, 0.2), &live, &logs, &certificate);
        let log = 2.0 * (2.0 * 3.0 * 2.0 * 2.0 * 9.0f64).ln();
        assert!((online.mean - 0.5).abs() < 1e-15 && (pooled.mean - 0.8).abs() < 1e-15);
        assert!((online.statistical - 0.2 * (log / 4.0).sqrt()).abs() < 1e-14);
        assert!((pooled.statistical - 0.2 * (log / 16.0).sqrt()).abs() < 1e-14);
        assert!((pooled.bias - 0.75 * 0.4).abs() < 1e-14);
    }

    #[test]
    fn only_unit_vectors_are_arms() {
        assert_eq!(arm(0, &[0.0, 1.0, 0.0]), Ok(1));
        for wrong in [[0.0, 0.0], [1.0, 1.0], [0.5, 0.0], [1.0, -1.0]] {
            assert_eq!(arm(7, &wrong), Err(Reason::NotAnArm { action: 7 }.into()));
        }
    }
}
