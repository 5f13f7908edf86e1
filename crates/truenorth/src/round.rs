//! What goes into a policy and what comes out, round by round.

use crate::branch::Branch;
use crate::check;
use crate::error::{Reason, Result};
use crate::kernel::{self, Falls, Follow, Repeat};

/// The feature vectors of one round's actions: all numbers, or those that are not 0.
///
/// ```
/// use truenorth::Actions;
///
/// let all = Actions::new(&[0.0, 0.5, 0.0, 2.0, 0.0, 1.0], 3)?;
/// // The same two actions: where each begins, in which columns it has which values.
/// let same = Actions::sparse(&[0, 1, 3], &[1, 0, 2], &[0.5, 2.0, 1.0], 3)?;
/// assert_eq!((all.count(), all.row(1).get(0)), (same.count(), same.row(1).get(0)));
/// # Ok::<(), truenorth::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Actions<'a> {
    /// Row after row.
    pub(crate) values: &'a [f64],
    /// Where each row starts and the last one ends, and the column of each value; nothing where all are there.
    sparse: Option<(&'a [usize], &'a [usize])>,
    /// Whether all rows have the same values, as where each arm has coefficients of its own, and whether every column of a row and
    /// of the next one is followed by the next.
    alike: bool,
    follow: bool,
    dimension: usize,
}

impl<'a> Actions<'a> {
    /// From the concatenated feature vectors of at least one action.
    pub fn new(features: &'a [f64], dimension: usize) -> Result<Self> {
        if features.is_empty() || dimension == 0 {
            return Err(Reason::NoActions.into());
        }
        let whole = features.len().div_ceil(dimension) * dimension;
        check::length("the list of features", whole, features.len())?;
        if let Some(at) = check::first_unusable(features) {
            let (action, feature) = (at / dimension, at % dimension);
            return Err(Reason::Feature { action, feature, value: features[at] }.into());
        }
        Ok(Self { values: features, sparse: None, alike: false, follow: false, dimension })
    }

    /// From the features that are not 0, as compressed rows (CSR): action k has the `values` from `starts[k]` up to
    /// `starts[k + 1]`, in `columns` that increase. A decision by a [sparse](crate::Settings::sparse) policy costs
    /// what these touch; any other policy fills the rows up.
    pub fn sparse(
        starts: &'a [usize],
        columns: &'a [usize],
        values: &'a [f64],
        dimension: usize,
    ) -> Result<Self> {
        if starts.len() < 2 || dimension == 0 {
            return Err(Reason::NoActions.into());
        }
        check::length("the list of columns", values.len(), columns.len())?;
        // Mostly, all actions have as many.
        let (count, period) = (starts.len() - 1, starts[1]);
        let even = period.checked_mul(count) == Some(values.len())
            && kernel::run(&mut Follow { numbers: starts, step: period });
        let sorted = even || starts.is_sorted();
        let whole = starts[0] == 0 && sorted && starts.last() == Some(&values.len());
        let last = starts.last().map_or(0.0, |&last| last as f64);
        check::range(whole, "starts", "increasing from 0 to the number of values", last)?;
        let mut actions =
            Self { values, sparse: Some((starts, columns)), alike: false, follow: false, dimension };
        // All at once; row by row only where something is wrong.
        actions.alike = even && period > 0 && kernel::run(&mut Repeat { numbers: values, period });
        actions.follow = kernel::run(&mut Follow { numbers: columns, step: 1 });
        let increase = if actions.follow {
            // The number after the largest of all is 0.
            columns.first() <= columns.last() && columns.last() < Some(&dimension)
        } else {
            // Columns fall between rows at most.
            let mut falls = kernel::run(&mut Falls { numbers: columns });
            let mut within = true;
            for ends in starts.windows(2).filter(|ends| ends[0] < ends[1]) {
                falls -= usize::from(ends[0] > 0 && columns[ends[0] - 1] >= columns[ends[0]]);
                within &= columns[ends[1] - 1] < dimension;
            }
            falls == 0 && within
        };
        let numbers = if actions.alike { &values[..period] } else { values };
        if !increase || check::first_unusable(numbers).is_some() {
            let at = |action| move |feature, value| Reason::Feature { action, feature, value };
            (0..actions.count()).try_for_each(|k| actions.row(k).check(dimension, at(k)))?;
        }
        Ok(actions)
    }

    /// Number of features of an action.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of actions.
    pub fn count(&self) -> usize {
        self.sparse.map_or_else(|| self.values.len() / self.dimension, |(starts, _)| starts.len() - 1)
    }

    /// Features of one action.
    ///
    /// # Panics
    ///
    /// If there is no such action.
    #[inline]
    pub fn row(&self, action: usize) -> Row<'a> {
        match self.sparse {
            None => Row::from(&self.values[action * self.dimension..][..self.dimension]),
            Some((starts, columns)) => {
                let range = starts[action]..starts[action + 1];
                Row { columns: Some(&columns[range.clone()]), values: &self.values[range] }
            }
        }
    }

    /// Columns and values of one action, of those that are not 0.
    #[inline]
    pub(crate) fn entries(&self, action: usize) -> (&'a [usize], &'a [f64]) {
        let Some((starts, columns)) = self.sparse else { return (&[], &[]) };
        let range = starts[action]..starts[action + 1];
        (&columns[range.clone()], &self.values[range])
    }

    /// Where each action starts, counted in columns, and the values of all, where the columns follow each other and the values are the same.
    #[inline]
    pub(crate) fn arms(&self) -> Option<(impl Iterator<Item = usize> + use<'a>, &'a [f64])> {
        let (starts, columns) = self.sparse.filter(|_| self.alike && self.follow)?;
        let first = *columns.first()?;
        Some((starts[..starts.len() - 1].iter().map(move |start| first + start), &self.values[..starts[1]]))
    }

    /// Whether only the features that are not 0 are there.
    pub(crate) fn is_sparse(&self) -> bool {
        self.sparse.is_some()
    }
}

/// The features of one action: all of them, or those that are not 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row<'a> {
    columns: Option<&'a [usize]>,
    values: &'a [f64],
}

impl<'a> Row<'a> {
    /// The features that are not 0, in columns that increase.
    pub fn sparse(columns: &'a [usize], values: &'a [f64]) -> Self {
        Self { columns: Some(columns), values }
    }

    /// The value in a column, 0 where there is none.
    pub fn get(&self, column: usize) -> f64 {
        let at = self.columns.map_or(Some(column), |columns| columns.binary_search(&column).ok());
        at.and_then(|at| self.values.get(at)).copied().unwrap_or(0.0)
    }

    /// The values, of all columns or of those that are named.
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// The columns of the values, where not all are there.
    pub fn columns(&self) -> Option<&'a [usize]> {
        self.columns
    }

    /// Columns with their values, increasing.
    pub(crate) fn entries(self) -> impl Iterator<Item = (usize, f64)> + Clone {
        let column = move |at: usize| self.columns.map_or(at, |columns| columns[at]);
        self.values.iter().enumerate().map(move |(at, &value)| (column(at), value))
    }

    /// All of so many, with zeros.
    pub(crate) fn filled(self, dimension: usize) -> Vec<f64> {
        let mut all = vec![0.0; dimension];
        self.entries().for_each(|(column, value)| all[column] = value);
        all
    }

    /// Those that are not 0: their columns and values.
    pub(crate) fn shown(self) -> (Vec<usize>, Vec<f64>) {
        self.entries().filter(|&(_, value)| value != 0.0).unzip()
    }

    /// Refuses numbers that cannot be used, and columns that are not there, come twice or in another order.
    #[inline]
    pub(crate) fn check(self, dimension: usize, unusable: impl Fn(usize, f64) -> Reason) -> Result<()> {
        match self.columns {
            None => check::length("the feature vector", dimension, self.values.len())?,
            Some(columns) => {
                check::length("the list of columns", self.values.len(), columns.len())?;
                let wrong = |at: usize| columns[at] >= dimension || at > 0 && columns[at] <= columns[at - 1];
                let wrong = (0..columns.len()).find(|&at| wrong(at)).map(|at| columns[at] as f64);
                let range = "below the number of features, and increase";
                check::range(wrong.is_none(), "columns", range, wrong.unwrap_or(0.0))?;
            }
        }
        match check::first_unusable(self.values) {
            None => Ok(()),
            Some(at) => Err(unusable(self.columns.map_or(at, |columns| columns[at]), self.values[at]).into()),
        }
    }
}

impl<'a> From<&'a [f64]> for Row<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self { columns: None, values }
    }
}

impl<'a> From<&'a Vec<f64>> for Row<'a> {
    fn from(values: &'a Vec<f64>) -> Self {
        Self::from(&**values)
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for Row<'a> {
    fn from(values: &'a [f64; N]) -> Self {
        Self::from(&values[..])
    }
}

/// What `learn` has to know about the decision that a reward belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Decision {
    /// Round, counted from 1.
    pub round: u64,
    /// Layer that played.
    pub layer: u32,
}

/// A decision that has been made: a fact, which [`Policy::record`](crate::Policy::record) takes note of without deciding again.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Choice {
    /// Hand this back with the reward.
    pub decision: Decision,
    /// Index of the chosen action.
    pub action: usize,
    /// Upper end of its interval.
    pub ucb: f64,
    /// Lower end of its interval.
    pub lcb: f64,
    /// Its estimated reward, by the branch that set the UCB, without the [`level`](crate::Policy::level) of all rewards.
    pub mean: f64,
    /// Part of its radius that allows for drift: ρψ times the exploration scale, 0 where there is none. For the regret
    /// bounds of a sister crate; no part of the interface.
    #[doc(hidden)]
    pub bias: f64,
    /// The branch that set the UCB.
    pub branch: Branch,
    /// Probability with which this action was chosen: 1 but for `sampling` and `epsilon`.
    pub propensity: f64,
    /// Actions that were still alive at the layer that played.
    pub candidates: usize,
    /// Action-layer pairs of this round whose online and pooled intervals are disjoint.
    pub conflicts: usize,
    /// What the belief is charged with. No part of the interface.
    #[doc(hidden)]
    pub toll: Toll,
}

/// What a decision is charged with, by a policy that may spend only so much on its belief.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[doc(hidden)]
pub struct Toll {
    /// What was spent.
    pub(crate) price: f64,
    /// Whether this round was one of those that are priced, and remembered as such.
    pub(crate) priced: bool,
    /// Whether nothing was left to spend.
    pub(crate) forced: bool,
    /// Whether live data alone was to decide.
    pub(crate) probe: bool,
}

impl Choice {
    /// What there is to learn once the chosen one of `actions` has paid.
    ///
    /// # Panics
    ///
    /// If the choice was made among more actions than these.
    pub fn rewarded<'a>(&self, actions: Actions<'a>, reward: f64) -> Observation<'a> {
        Observation { decision: self.decision, features: actions.row(self.action), reward }
    }
}

/// A reward, for a decision that may be long past and overtaken by later ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation<'a> {
    /// From the [`Choice`].
    pub decision: Decision,
    /// Features of the action that was played.
    pub features: Row<'a>,
    /// Its reward.
    pub reward: f64,
}

/// Counts of what a policy has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Counts {
    /// Rounds decided.
    pub rounds: u64,
    /// Rewards learned, of rounds, which may stay without one, and of rows of others.
    pub rewards: u64,
    /// Action-layer pairs whose online and pooled intervals were disjoint. Under the assumptions
    /// any conflict at all has probability at most δ: the certificate, `norm_bound` or `noise` is
    /// wrong, or luck was very bad.
    pub conflicts: u64,
    /// Rounds whose chosen action got its UCB from the pooled, warm or offline branch.
    pub informed: u64,
    /// What `truenorth` and `truenorth-sampling` may have lost against live data alone by its own intervals: the prices of
    /// what they played, estimated from some of the rounds, in standard deviations of the noise.
    pub spent: f64,
    /// Rounds in which nothing was left to spend, so that live data alone decided.
    pub forced: u64,
}

impl Counts {
    /// Share of the rounds in which the logs set the UCB of the chosen action.
    pub fn pooled_share(&self) -> f64 {
        if self.rounds == 0 { 0.0 } else { self.informed as f64 / self.rounds as f64 }
    }
}
