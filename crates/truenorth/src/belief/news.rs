//! Columns that are new: what logs and live data say of them weighs less than their prior.
//!
//! A level that was never logged, a feature that has joined: there the belief is wide by its prior alone, and only play can
//! make it narrow. In the [units](super::units) of the columns, N(0, s²) is the prior of a coefficient and
//!
//! ```text
//! i_j = s² (Σz_j²/σ_off² + Σx_j²/σ²) / u_j²,      new while i_j < 1,      n = Σ over new j  x_j² s²/u_j² / (1 + i_j)
//! ```
//!
//! is the part of an action's variance that comes from new columns. How that widens its index is in [neglect](super::neglect).

use super::units::Units;
use crate::round::Row;

/// The new columns.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub(crate) struct News {
    /// In columns that increase.
    new: Vec<New>,
    /// What a square counts by column, up to the last new one: 0 where a column is not new.
    #[cfg_attr(feature = "serde", serde(skip))]
    weights: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct New {
    column: usize,
    /// s²/u².
    prior: f64,
    /// i.
    known: f64,
}

impl News {
    /// With s² and, of a column, Σz²/σ² of logs and live data together. One that nobody has seen has no unit, nor does an
    /// action show it.
    pub(crate) fn new(units: &Units, scale: f64, information: impl Fn(usize) -> f64) -> Self {
        let new = |(column, unit): (usize, &f64)| {
            let prior = scale / (unit * unit);
            New { column, prior, known: prior * information(column) }
        };
        let shown = units.by_column().iter().enumerate().filter(|(_, unit)| **unit > 0.0);
        let mut news = Self { new: shown.map(new).filter(New::is_new).collect(), weights: Vec::new() };
        news.weigh();
        news
    }

    /// Finds the weights, which are not stored.
    pub(crate) fn weigh(&mut self) {
        self.weights = vec![0.0; self.new.last().map_or(0, |new| new.column + 1)];
        self.new.iter().for_each(|new| self.weights[new.column] = new.weight());
    }

    /// Takes in a live observation with noise of this variance. It can make nothing new.
    pub(crate) fn learn(&mut self, features: Row<'_>, noise: f64) {
        if self.is_empty() {
            return;
        }
        let mut known_now = false;
        for (column, value) in features.entries() {
            if let Ok(at) = self.new.binary_search_by_key(&column, |new| new.column) {
                let new = &mut self.new[at];
                new.known += new.prior * value.powi(2) / noise;
                known_now |= !new.is_new();
                self.weights[column] = new.weight();
            }
        }
        if known_now {
            self.new.retain(New::is_new);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.new.is_empty()
    }

    /// n of an action.
    pub(crate) fn variance(&self, features: Row<'_>) -> f64 {
        let part = |value: f64, column: usize| value * value * self.weights.get(column).unwrap_or(&0.0);
        if features.columns().is_none() {
            return self.new.iter().map(|new| part(features.get(new.column), new.column)).sum();
        }
        features.entries().map(|(column, value)| part(value, column)).sum()
    }

    /// Whether this can be a policy's state: deserialised data may be anything.
    pub(crate) fn is_consistent(&self, dimension: usize) -> bool {
        let usable = |number: f64| (0.0..f64::INFINITY).contains(&number);
        self.new.is_sorted_by_key(|new| new.column)
            && self.new.iter().all(|new| new.column < dimension && usable(new.prior) && usable(new.known))
    }
}

impl New {
    fn is_new(&self) -> bool {
        self.known < 1.0
    }

    fn weight(&self) -> f64 {
        if self.is_new() { self.prior / (1.0 + self.known) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_new_until_data_weighs_as_much_as_its_prior() {
        let mut news = News::new(&Units::none(3), 0.5, |j| [0.0, 1.0, 2.0][j]);
        // i is 0, 0.5 and 1: the first two are new.
        assert!((news.variance(Row::from(&[1.0, 2.0, 9.0])) - (0.5 + 4.0 * 0.5 / 1.5)).abs() < 1e-15);
        news.learn(Row::from(&[0.0, 1.0, 0.0]), 1.0);
        assert!((news.variance(Row::from(&[1.0, 2.0, 9.0])) - 0.5).abs() < 1e-15);
        news.learn(Row::sparse(&[0], &[2.0]), 2.0);
        assert!(news.is_empty() && news.is_consistent(0));
    }
}
