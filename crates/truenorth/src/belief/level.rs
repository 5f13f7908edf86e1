//! Data with a level of its own, which no feature explains: a season, a new unit of the rewards.
//!
//! `r = c + xᵀθ + ε` with c ~ N(c₀, v) is a regression without c on
//!
//! ```text
//! A - share ffᵀ,   b - c₀f - share f (Σr - nc₀),   Σ(r - c₀)² - share (Σr - nc₀)²,       f = Σx,  share = 1/(n + σ²/v)
//! ```

use super::units::Units;
use crate::dense::{self, Matrix, Vector};
use crate::statistic::RidgeStatistic;

/// Share of a sum that may be nothing but rounding.
pub(super) const ROUNDING: f64 = 1e-14;

/// Products of columns in their units, and of rewards, without the level.
pub(crate) struct Leveled {
    pub(crate) gram: Matrix,
    pub(crate) moment: Vector,
    pub(crate) squares: f64,
    /// What the level is multiplied by, and where it was expected.
    share: f64,
    expected: f64,
    pub(crate) count: f64,
}

impl Leveled {
    /// `expected` is c₀, `ratio` σ²/v: 0 if nothing is known of the level.
    pub(crate) fn new(data: &RidgeStatistic, units: &Units, expected: f64, ratio: f64) -> Self {
        let count = data.weight();
        let share = if count > 0.0 { (count + ratio).recip() } else { 0.0 };
        let (sums, rewards) = (Vector::from_column_slice(data.sums()), data.reward_sum() - count * expected);
        let widths = units.vector();
        let narrow = widths.map(f64::recip);
        let mut gram = data.gram_above();
        for (j, mut column) in gram.column_iter_mut().enumerate() {
            let (sum, factor) = (sums[j] * share, narrow[j]);
            let above = column.as_mut_slice()[..=j].iter_mut().zip(sums.as_slice()).zip(narrow.as_slice());
            above.for_each(|((entry, other), narrow)| *entry = (*entry - other * sum) * (narrow * factor));
        }
        dense::mirror(&mut gram);
        let moment = Vector::from_column_slice(data.moment()) - &sums * (expected + rewards * share);
        let about = data.sum_squares() - expected * (rewards + data.reward_sum());
        let squares = about - rewards * rewards * share;
        Self {
            gram,
            moment: moment.component_div(&widths),
            // What is left of equal rewards is rounding.
            squares: if squares > ROUNDING * data.sum_squares() { squares } else { 0.0 },
            share,
            expected,
            count,
        }
    }

    /// Gram matrix and moment of columns that are not in these units.
    pub(crate) fn raw(&self, units: &Vector) -> (Matrix, Vector) {
        let side = units.len();
        let gram = Matrix::from_fn(side, side, |i, j| self.gram[(i, j)] * units[i] * units[j]);
        (gram, self.moment.component_mul(units))
    }

    /// Rewards that say something besides the level.
    pub(crate) fn free(&self) -> f64 {
        self.count * (1.0 - self.share)
    }

    /// The level, if the coefficients are these.
    pub(crate) fn level(&self, data: &RidgeStatistic, coefficients: &Vector) -> f64 {
        let explained = coefficients.dot(&Vector::from_column_slice(data.sums()));
        self.expected + self.share * (data.reward_sum() - self.count * self.expected - explained)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_on_every_reward_is_the_level_and_nothing_else() {
        let data = |constant: f64| {
            let mut data = RidgeStatistic::new(1).unwrap();
            for (x, y) in [(1.0, 2.0), (2.0, 3.0), (4.0, 5.0)] {
                data.observe(&[x], y + constant).unwrap();
            }
            data
        };
        let units = Units::none(1);
        for constant in [0.0, 7.0] {
            // y = 1 + x, and the level is free, or expected to be 3 and known as well as by three rewards.
            let free = Leveled::new(&data(constant), &units, 0.0, 0.0);
            assert!((free.gram[0] - 14.0 / 3.0).abs() < 1e-12 && (free.moment[0] - 14.0 / 3.0).abs() < 1e-12);
            assert!((free.squares - 14.0 / 3.0).abs() < 1e-12 && (free.free() - 2.0).abs() < 1e-15);
            let one = Vector::from_element(1, 1.0);
            assert!((free.level(&data(constant), &one) - 1.0 - constant).abs() < 1e-12);
            let expected = Leveled::new(&data(constant), &units, 3.0 + constant, 3.0);
            assert!((expected.level(&data(constant), &one) - 2.0 - constant).abs() < 1e-12);
        }
    }
}
