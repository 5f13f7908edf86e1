//! Live data alone, beside a belief that rests on logs as well. It is asked in one round of several, so rewards wait until then, and are
//! learned together, in one pass over memory; every number is the one that it would have been.
//!
//! Of many features, and where nothing it might say would be acted on, it rests: it learns nothing until the next fit, which knows
//! all rewards, and stands for the rewards before the last one.

use std::borrow::Cow;

use crate::kernel::Carried;
use crate::posterior::Known;
use crate::round::Row;
use crate::score::Scoreboard;

/// Features from which on a factor does not stay in the first cache.
const WORTH: usize = 128;
/// Rewards that wait, at most.
const WAITING: usize = 8;

/// See the module's head.
#[derive(Debug, Clone)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "Saved", from = "Saved")
)]
pub(crate) struct Later {
    known: Known,
    rests: bool,
    /// Features of the rewards that wait, one after the other.
    features: Vec<f64>,
    rewards: Vec<f64>,
    carried: Vec<Carried>,
}

/// The same without rewards that wait.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Saved {
    known: Known,
    rests: bool,
}

impl From<Saved> for Later {
    fn from(Saved { known, rests }: Saved) -> Self {
        let mut later = Self::from(known);
        later.set_rests(rests);
        later
    }
}

impl From<Later> for Saved {
    fn from(mut later: Later) -> Self {
        later.catch_up();
        Self { known: later.known, rests: later.rests }
    }
}

impl From<Known> for Later {
    fn from(known: Known) -> Self {
        Self { known, rests: false, features: Vec::new(), rewards: Vec::new(), carried: Vec::new() }
    }
}

impl Later {
    /// All that is known, but for rewards that wait.
    pub(crate) fn so_far(&self) -> &Known {
        &self.known
    }

    /// All that is known.
    pub(crate) fn known(&self) -> Cow<'_, Known> {
        if self.is_behind() {
            Cow::Owned(Saved::from(self.clone()).known)
        } else {
            Cow::Borrowed(&self.known)
        }
    }

    /// Whether it learns nothing until the next fit.
    #[inline]
    pub(crate) fn rests(&self) -> bool {
        self.rests
    }

    /// Has it rest, or learn from now on.
    pub(crate) fn set_rests(&mut self, rests: bool) {
        // Where rows touch a few features each, a reward costs little.
        self.rests = rests && self.known.whole().is_some();
    }

    /// Whether rewards wait.
    #[inline]
    pub(crate) fn is_behind(&self) -> bool {
        !self.rewards.is_empty()
    }

    /// Takes in the rewards that wait.
    pub(crate) fn catch_up(&mut self) {
        let Self { known, features, rewards, carried, .. } = self;
        if let Known::Whole(precision) = known
            && !rewards.is_empty()
        {
            let mut rows = [(&[][..], 0.0); WAITING];
            let waiting = features.chunks_exact(features.len() / rewards.len()).zip(&*rewards);
            for (row, (features, reward)) in rows.iter_mut().zip(waiting) {
                *row = (features, *reward);
            }
            precision.update_many(&rows[..rewards.len()], carried);
        }
        features.clear();
        rewards.clear();
    }

    /// Learns a reward, now or later, unless it rests.
    #[inline]
    pub(crate) fn learn(&mut self, features: Row<'_>, reward: f64, board: &mut Scoreboard) {
        if self.rests {
            return;
        }
        if features.values().len() < WORTH || matches!(self.known, Known::Parted(_)) {
            self.known.update(features, reward, board);
            return;
        }
        if self.rewards.capacity() == 0 {
            self.features.reserve_exact(WAITING * features.values().len());
            self.rewards.reserve_exact(WAITING);
            self.carried.resize_with(WAITING, || Carried::of(features.values()));
        }
        self.features.extend_from_slice(features.values());
        self.rewards.push(reward);
        if self.rewards.len() == WAITING {
            self.catch_up();
        }
    }

    /// Learns several rewards now, unless it rests.
    pub(crate) fn learn_many(&mut self, rows: &[(Row<'_>, f64)], level: f64, board: &mut Scoreboard) {
        if !self.rests {
            self.catch_up();
            self.known.update_many(rows, level, board);
        }
    }

    /// What is known, to be changed, once nothing waits.
    pub(crate) fn caught_up(&mut self) -> &mut Known {
        self.catch_up();
        &mut self.known
    }

    /// Takes over what a fit has found, which knows of the rewards that wait.
    pub(crate) fn become_like(&mut self, found: Known) {
        self.features.clear();
        self.rewards.clear();
        self.known.become_like(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::Turn;
    use crate::policy::{Family, Policy};
    use crate::posterior::Posterior;
    use crate::round::Actions;
    use crate::statistic::RidgeStatistic;

    const MANY: usize = 100;

    fn posterior(policy: &Policy) -> &Posterior {
        let Family::Posterior(posterior) = &policy.family else { panic!("the default is one") };
        posterior
    }

    fn rests(policy: &Policy) -> bool {
        posterior(policy).alone.as_ref().is_some_and(Later::rests)
    }

    /// Numbers between -0.5 and 0.5 without a pattern.
    fn row(seed: usize) -> Vec<f64> {
        (0..MANY).map(|i| ((i * 7919 + seed * 104_729 + i * seed) % 10_007) as f64 / 10_007.0 - 0.5).collect()
    }

    fn policy(truth: impl Fn(&[f64]) -> f64) -> Policy {
        let mut logs = RidgeStatistic::new(MANY).unwrap();
        for seed in 0..1000 {
            logs.observe(&row(seed), truth(&row(seed))).unwrap();
        }
        Policy::builder(MANY).noise(0.1).norm_bound(3.0).logs(logs).build().unwrap()
    }

    #[test]
    fn live_data_that_nothing_asks_rests_and_a_fit_tells_it_all() {
        let truth = |x: &[f64]| x[0] - x[1];
        let mut policy = policy(truth);
        let mut learned = 0;
        for round in 0..200 {
            let features: Vec<f64> = (0..3).flat_map(|k| row(2000 + 3 * round + k)).collect();
            let actions = Actions::new(&features, MANY).unwrap();
            let choice = policy.choose(actions).unwrap();
            let live = posterior(&policy).alone.as_ref().unwrap().so_far().log_det_growth();
            policy.learn(choice.rewarded(actions, truth(actions.row(choice.action).values()))).unwrap();
            let after = posterior(&policy).alone.as_ref().unwrap().so_far().log_det_growth();
            learned += usize::from(live.to_bits() != after.to_bits());
        }
        // Between fits it stands still; the last one, of 160 rewards, knew all of them.
        assert!(rests(&policy) && learned == 0, "{learned}");
        assert!(posterior(&policy).alone.as_ref().unwrap().so_far().log_det_growth() > 50.0);
        let restored: Policy = serde_json::from_str(&serde_json::to_string(&policy).unwrap()).unwrap();
        assert!(rests(&restored));
    }

    #[test]
    fn a_recheck_leaves_its_word_to_a_round_that_is_priced() {
        let truth = |x: &[f64]| x[0] - x[1];
        let mut policy = policy(truth);
        let mut heard = 0;
        for round in 0..1500 {
            let features: Vec<f64> = (0..3).flat_map(|k| row(2000 + 3 * round + k)).collect();
            let actions = Actions::new(&features, MANY).unwrap();
            let turn = Turn::new(&policy.given, actions, &policy.counts, &policy.before);
            let mut board = Scoreboard::default();
            if posterior(&policy).unchanged(turn, &mut board) == Some(true) {
                let price = |asked, board: &mut Scoreboard| {
                    board.all_candidates(3);
                    let played = posterior(&policy).choose(Turn { asked, ..turn }, board);
                    (played.position, played.toll.priced, played.toll.price.to_bits())
                };
                let found = price(true, &mut board);
                assert_eq!(found, price(false, &mut Scoreboard::default()));
                heard += usize::from(found.1);
            }
            let choice = policy.choose(actions).unwrap();
            policy.learn(choice.rewarded(actions, truth(actions.row(choice.action).values()))).unwrap();
        }
        assert!(heard > 3, "{heard}");
    }

    #[test]
    fn an_action_that_may_be_neglected_wakes_live_data() {
        // The same two actions in every round; logs and live rewards agree that the first is better.
        let features: Vec<f64> =
            (0..2 * MANY).map(|i| f64::from(u8::from(i == 0 || i == MANY + 1))).collect();
        let truth = |x: &[f64]| x[0];
        let mut policy = policy(truth);
        let mut woken = false;
        for _ in 0..3000 {
            let actions = Actions::new(&features, MANY).unwrap();
            let rested = rests(&policy);
            let choice = policy.choose(actions).unwrap();
            woken |= rested && !rests(&policy);
            policy.learn(choice.rewarded(actions, truth(actions.row(choice.action).values()))).unwrap();
        }
        assert!(woken);
    }
}
