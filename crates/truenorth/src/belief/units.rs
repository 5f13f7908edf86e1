//! The unit of each column: what its coefficient is measured by, so that no decision depends on how users measure.
//!
//! ```text
//! u = √(Σz⁴ / Σz²)
//! ```
//!
//! It is 1 for columns of zeros and ones, however rare the ones are, √3 deviations of a Gaussian column, and it is
//! multiplied with its column. A column's unit is the larger one of its unit in the logs and of that in the actions offered
//! at rounds 1, 2, 4, 8, ...; one that nobody has seen has none, and is given it in the round in which it is first offered.

use crate::dense::Vector;
use crate::kernel::{self, JoinUnits, Offered, SquareInUnits, powers, unit};
use crate::round::{Actions, Row};
use crate::statistic::RidgeStatistic;

/// The unit of a column in the actions of a round; nothing where they do not show it.
pub(crate) fn first_unit(actions: Actions<'_>, j: usize) -> Option<f64> {
    let [(square, fourth)] = powers((0..actions.count()).map(|k| [actions.row(k).get(j)]));
    Some(unit(square, fourth)).filter(|&unit| unit > 0.0)
}

/// The units, and what they are made of.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Units {
    /// By column; 0 where nobody has seen it.
    by_column: Vec<f64>,
    /// Σx² and Σx⁴ of the offered actions that were looked at.
    offered: Vec<(f64, f64)>,
    /// Whether there is a column that nobody has seen.
    unseen: bool,
    /// Units in the logs: their sums are spread over memory that a decision does not read otherwise. Nothing where they are to be read again.
    #[cfg_attr(feature = "serde", serde(skip))]
    logged: Vec<f64>,
}

/// What a look at a round's actions finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// No unit has changed.
    Same,
    /// Some have changed.
    Other,
    /// A column that nobody had seen has its first one.
    First,
}

/// Units that change by no more than this share of them stay as they are: a fit is dear.
const TOLERANCE: f64 = 0.1;

impl Units {
    /// Columns as they are.
    pub(crate) fn none(dimension: usize) -> Self {
        let offered = vec![(0.0, 0.0); dimension];
        Self { by_column: vec![1.0; dimension], offered, unseen: false, logged: Vec::new() }
    }

    pub(crate) fn new(logs: &RidgeStatistic) -> Self {
        let mut units = Self { by_column: Vec::new(), ..Self::none(logs.dimension()) };
        units.set(logs);
        units
    }

    /// Finds them anew, with other logs.
    pub(crate) fn set(&mut self, logs: &RidgeStatistic) {
        self.logged = (0..logs.dimension()).map(|j| unit(logs.squares(j), logs.fourths()[j])).collect();
        self.join();
    }

    /// The larger one of a column's two units.
    fn join(&mut self) {
        let Self { logged, offered, by_column: to, .. } = self;
        kernel::run(&mut JoinUnits { logged, offered, to });
        self.unseen = self.by_column.contains(&0.0);
    }

    /// Adds columns that nobody has seen.
    pub(crate) fn grow(&mut self, dimension: usize) {
        self.by_column.resize(dimension, 0.0);
        self.offered.resize(dimension, (0.0, 0.0));
        self.logged.clear();
        self.unseen = self.by_column.contains(&0.0);
    }

    /// Whether a look at the actions of a round is due.
    pub(crate) fn is_looking(&self, round: u64, actions: Actions<'_>) -> bool {
        let new = |(column, value): (usize, f64)| self.by_column[column] == 0.0 && value != 0.0;
        let shown = || (0..actions.count()).any(|k| actions.row(k).entries().any(new));
        round.is_power_of_two() || self.unseen && shown()
    }

    /// Looks at the actions of a round, if that is due. Tells whether units have changed, and how.
    pub(crate) fn look(&mut self, round: u64, actions: Actions<'_>, logs: &RidgeStatistic) -> Look {
        if !self.is_looking(round, actions) {
            return Look::Same;
        }
        if actions.is_sparse() {
            let rows = (0..actions.count()).flat_map(|k| actions.row(k).entries());
            let mut shown: Vec<(usize, f64)> = rows.filter(|(_, value)| *value != 0.0).collect();
            shown.sort_by_key(|(column, _)| *column);
            for shown in shown.chunk_by(|a, b| a.0 == b.0) {
                let [(square, fourth)] = powers(shown.iter().map(|(_, value)| [*value]));
                let offered = &mut self.offered[shown[0].0];
                *offered = (offered.0 + square, offered.1 + fourth);
            }
        } else {
            kernel::run(&mut Offered { actions, to: &mut self.offered });
        }
        let before = std::mem::take(&mut self.by_column);
        if self.logged.is_empty() {
            self.set(logs);
        } else {
            self.join();
        }
        let alike = |(new, old): (&f64, &f64)| (old - new).abs() <= TOLERANCE * old;
        let same = self.by_column.iter().zip(&before).all(alike);
        if same {
            self.by_column = before;
            return Look::Same;
        }
        let first = self.by_column.iter().zip(&before).any(|(new, old)| *old == 0.0 && *new > 0.0);
        if first { Look::First } else { Look::Other }
    }

    /// Columns that nobody has seen.
    pub(crate) fn unseen(&self) -> Vec<usize> {
        (0..self.by_column.len()).filter(|&j| self.by_column[j] == 0.0).collect()
    }

    /// By column; 0 where nobody has seen it.
    pub(crate) fn by_column(&self) -> &[f64] {
        &self.by_column
    }

    /// By column; 1 where nobody has seen it, which then makes no difference.
    pub(super) fn known(&self, j: usize) -> f64 {
        if self.by_column[j] > 0.0 { self.by_column[j] } else { 1.0 }
    }

    /// All of them as a vector.
    pub(crate) fn vector(&self) -> Vector {
        Vector::from_fn(self.by_column.len(), |j, _| self.known(j))
    }

    /// Length of a feature vector in these units.
    pub(crate) fn length(&self, features: Row<'_>) -> f64 {
        let square = if features.columns().is_some() || self.unseen {
            features.entries().map(|(j, x)| (x / self.known(j)).powi(2)).sum()
        } else {
            kernel::run(&mut SquareInUnits { features: features.values(), units: &self.by_column })
        };
        square.sqrt()
    }

    /// Whether this can be a policy's state: deserialised data may be anything.
    pub(crate) fn is_consistent(&self, dimension: usize) -> bool {
        let usable = |number: f64| (0.0..f64::INFINITY).contains(&number);
        self.by_column.len() == dimension
            && self.offered.len() == dimension
            && self.unseen == self.by_column.contains(&0.0)
            && self.by_column.iter().all(|&unit| usable(unit))
            && self.offered.iter().all(|&(square, fourth)| usable(square) && usable(fourth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_have_the_unit_one_however_rare_and_others_their_size() {
        let mut logs = RidgeStatistic::new(3).unwrap();
        for row in 0..100 {
            logs.observe(&[if row == 7 { 1.0 } else { 0.0 }, -5.0, 0.0], 0.0).unwrap();
        }
        let mut units = Units::new(&logs);
        assert_eq!((units.by_column.as_slice(), units.unseen), (&[1.0, 5.0, 0.0][..], true));
        // The third column comes alive in the fifth round, which would not be looked at otherwise.
        assert_eq!(units.look(5, Actions::new(&[1.0, 1.0, 0.0], 3).unwrap(), &logs), Look::Same);
        assert_eq!(units.look(5, Actions::new(&[9.0, 1.0, 0.25], 3).unwrap(), &logs), Look::First);
        assert_eq!((units.by_column.as_slice(), units.unseen), (&[9.0, 5.0, 0.25][..], false));
    }
}
