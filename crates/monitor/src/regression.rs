//! Least squares that grows by a row at a time, from next to no prior.

use serde::{Deserialize, Serialize};

/// What the prior is worth, in rows of the first size of each feature: just enough for an inverse to be there. More would pull
/// large coefficients to 0, and their slow way back would look like drift.
const PRIOR: f64 = 1e-8;

/// Rows of its first size that say something of a feature alone, from which on it does not follow from the others: far more than the prior of
/// hundreds of features says, and less than a single row.
const APART: f64 = 1e-5;

/// Features in units of the first value of each that was not 0, so that nothing depends on the units of columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Regression {
    /// 0 for features that were never seen.
    units: Vec<f64>,
    /// Inverse of the sum of x xᵀ and the prior, row by row.
    inverse: Vec<f64>,
    estimate: Vec<f64>,
}

/// A row beside what the rows before it say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Standing {
    /// Features that are not 0, in their units.
    pub(crate) row: Vec<(usize, f64)>,
    /// Inverse times row.
    pub(crate) gain: Vec<f64>,
    /// Variance of the prediction, in those of the noise.
    pub(crate) variance: f64,
    pub(crate) prediction: f64,
}

impl Standing {
    /// A feature's value, in its unit.
    pub(crate) fn value(&self, feature: usize) -> f64 {
        self.row.iter().find(|(at, _)| *at == feature).map_or(0.0, |(_, value)| *value)
    }
}

impl Regression {
    pub(crate) fn new(dimension: usize) -> Self {
        let mut empty = Self { units: Vec::new(), inverse: Vec::new(), estimate: Vec::new() };
        empty.grow(dimension);
        empty
    }

    pub(crate) fn dimension(&self) -> usize {
        self.units.len()
    }

    /// Whether its parts fit together, as they do unless bytes were damaged.
    pub(crate) fn is_sound(&self) -> bool {
        let d = self.dimension();
        self.inverse.len() == d * d && self.estimate.len() == d
    }

    /// More features, all 0 so far.
    pub(crate) fn grow(&mut self, dimension: usize) {
        let before = self.dimension();
        let mut inverse = vec![0.0; dimension * dimension];
        for row in 0..dimension {
            if row < before {
                inverse[row * dimension..][..before].copy_from_slice(&self.inverse[row * before..][..before]);
            } else {
                inverse[row * dimension + row] = 1.0 / PRIOR;
            }
        }
        self.inverse = inverse;
        self.units.resize(dimension, 0.0);
        self.estimate.resize(dimension, 0.0);
    }

    pub(crate) fn unit(&self, feature: usize) -> f64 {
        self.units[feature]
    }

    pub(crate) fn diagonal(&self, feature: usize) -> f64 {
        self.inverse[feature * (self.dimension() + 1)]
    }

    /// Whether a feature has a coefficient of its own by the rows so far, which does not follow from those of others.
    pub(crate) fn is_apart(&self, feature: usize) -> bool {
        self.diagonal(feature) * APART < 1.0
    }

    /// Where a row stands. O(d) for each of its features.
    pub(crate) fn stand(&mut self, features: &[(usize, f64)], standing: &mut Standing) {
        let d = self.dimension();
        standing.row.clear();
        standing.gain.clear();
        standing.gain.resize(d, 0.0);
        standing.prediction = 0.0;
        for &(feature, value) in features.iter().filter(|(_, value)| *value != 0.0) {
            if self.units[feature] == 0.0 {
                self.units[feature] = value.abs();
            }
            let value = value / self.units[feature];
            standing.row.push((feature, value));
            standing.prediction += value * self.estimate[feature];
            for (gain, cell) in standing.gain.iter_mut().zip(&self.inverse[feature * d..][..d]) {
                *gain += value * cell;
            }
        }
        standing.variance = standing.row.iter().map(|&(feature, value)| value * standing.gain[feature]).sum();
    }

    /// What a row pays by all rows so far.
    pub(crate) fn predict(&self, features: &[(usize, f64)]) -> f64 {
        let known = features.iter().filter(|(feature, _)| self.units[*feature] > 0.0);
        known.map(|&(feature, value)| value / self.units[feature] * self.estimate[feature]).sum()
    }

    /// Learns a row where it stands. O(d²).
    pub(crate) fn learn(&mut self, standing: &Standing, reward: f64) {
        let d = self.dimension();
        let share = 1.0 / (1.0 + standing.variance);
        let surprise = (reward - standing.prediction) * share;
        for (row, &gain) in standing.gain.iter().enumerate().filter(|(_, gain)| **gain != 0.0) {
            self.estimate[row] += gain * surprise;
            let gain = gain * share;
            for (cell, other) in self.inverse[row * d..][..d].iter_mut().zip(&standing.gain) {
                *cell -= gain * other;
            }
        }
    }
}
