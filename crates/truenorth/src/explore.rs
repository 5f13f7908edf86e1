//! Decisions with a dice: posterior sampling and ε-greedy, with the probability of what was chosen.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::kernel::{self, Aligned, Panels, Sampled};
use crate::precision::Precision;

/// Draws from the posterior for one decision.
pub(crate) const DRAWS: usize = 128;

/// What chance is made of.
pub(crate) type Dice = Xoshiro256PlusPlus;

/// The generator of one round: no state has to be kept, and a decision can be made again.
pub(crate) fn generator(seed: u64, round: u64) -> Dice {
    // An odd factor keeps different rounds of different seeds apart; the generator mixes the rest.
    Dice::seed_from_u64(seed ^ round.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// Room for the draws.
#[derive(Debug, Clone, Default)]
pub(crate) struct Draws {
    normals: Vec<f64>,
    best: Vec<(f64, usize)>,
    whitened: Aligned,
}

impl Draws {
    /// Thompson sampling. Every draw has its favourite among the actions; the first draw's is played, and its
    /// probability is the [`share`](Self::share) of draws with the same favourite. The draws are exchangeable, so that, given
    /// the set of them, this is exactly the probability with which the action was chosen.
    pub(crate) fn play(
        &mut self,
        precision: &Precision,
        deviation: f64,
        panels: &Panels,
        dice: &mut Dice,
    ) -> usize {
        let dimension = precision.whitened_estimate.len();
        self.normals.clear();
        self.normals.extend((0..DRAWS * dimension).map(|_| -> f64 { StandardNormal.sample(dice) }));
        self.best.clear();
        self.best.resize(DRAWS, (f64::NEG_INFINITY, 0));
        let Self { normals, best, whitened } = self;
        // θ ~ N(θ̂, deviation² V⁻¹).
        kernel::run(&mut Sampled { precision, panels, deviation, normals, best, whitened });
        self.best[0].1
    }

    /// Share of the draws with this favourite.
    pub(crate) fn share(&self, favourite: usize) -> f64 {
        self.best.iter().filter(|best| best.1 == favourite).count() as f64 / DRAWS as f64
    }
}

/// With probability ε any action, all alike, and otherwise the `favourite`; with the probability of the result.
pub(crate) fn epsilon_greedy(
    epsilon: f64,
    favourite: usize,
    actions: usize,
    dice: &mut Dice,
) -> (usize, f64) {
    let played = if dice.random::<f64>() < epsilon { dice.random_range(0..actions) } else { favourite };
    let chance = epsilon / actions as f64;
    (played, if played == favourite { 1.0 - epsilon + chance } else { chance })
}
