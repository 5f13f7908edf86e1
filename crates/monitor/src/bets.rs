//! Capital that is bet against "nothing has moved", fairly: what it may grow to by chance is known beforehand.
//!
//! A bet b on a standardised surprise e that was announced before e is seen multiplies its stake by 1 + b·e, which is 1 on
//! average if e is 0 on average, whatever else its law is. The probability that such capital ever reaches 1/α is at most α
//! (Ville), however often one looks. Nobody knows when the world will move, so the capital of a [`Purse`] is staked little by little:
//!
//! ```text
//! in play ← (in play + w_n)·(1 + b·e),   w_n = ε s^ε / (n + s)^(1+ε),   worth = in play + what is not yet staked
//! ```
//!
//! That is the average over all times n of a bet that begins then, at the cost of one number (Shiryaev's recursion).

use serde::{Deserialize, Serialize};

/// How far bets go, in standard deviations of the surprise for a typical value of the feature: small ones for slow drift, large ones
/// for steps.
pub(crate) const SIZES: [f64; 3] = [0.05, 0.15, 0.4];
/// What a bet may lose at most of its stake if the surprise is no larger than all before it.
const MOST_LOST: f64 = 0.8;
/// What is left of a stake at least, whatever the surprise.
const LEAST_LEFT: f64 = 0.05;
/// Capital beyond which it stays: nobody needs more evidence, and products must not overflow.
const MOST: f64 = 1e100;
/// Rounds in which half of the stakes or so are put into play, and how fast they fall from there.
const SOON: f64 = 100.0;
const FALL: f64 = 0.25;

/// The share of a purse that is staked in round `n`, from 0.
pub(crate) fn stake(n: u64) -> f64 {
    unstaked(n) - unstaked(n + 1)
}

/// The share that is not yet staked before round `n`.
pub(crate) fn unstaked(n: u64) -> f64 {
    (SOON / (n as f64 + SOON)).powf(FALL)
}

/// How large surprises have been, below and above 0; bets are limited by it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Extremes {
    below: f64,
    above: f64,
}

impl Default for Extremes {
    fn default() -> Self {
        Self { below: 3.0, above: 3.0 }
    }
}

impl Extremes {
    pub(crate) fn see(&mut self, surprise: f64) {
        self.below = self.below.max(-surprise);
        self.above = self.above.max(surprise);
    }

    /// What a bet makes of its stake, if a surprise may be off by so much without anything having moved. A gain beyond what was ever
    /// seen is not paid out in full, which can only make the bet worse.
    pub(crate) fn factor(&self, bet: f64, surprise: f64, off: f64) -> f64 {
        let (lost, gained) = if bet > 0.0 { (self.below, self.above) } else { (self.above, self.below) };
        let bet = bet.clamp(-MOST_LOST / lost, MOST_LOST / lost);
        (1.0 + (bet * surprise).min(bet.abs() * gained) - bet.abs() * off).max(LEAST_LEFT)
    }
}

/// Capital staked on one kind of bet, from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Purse {
    in_play: f64,
}

impl Purse {
    pub(crate) const NEW: Self = Self { in_play: 0.0 };

    pub(crate) fn play(&mut self, stake: f64, factor: f64) {
        self.in_play = ((self.in_play + stake) * factor).min(MOST);
    }

    /// After `rounds` of play.
    pub(crate) fn worth(self, unstaked: f64) -> f64 {
        self.in_play + unstaked
    }
}
