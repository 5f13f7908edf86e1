//! What is believed in a model of the drift, where that is a mean and a covariance of all columns at once: the covariance of the model that a search
//! started from, and a vector for every column that has changed since.

use std::rc::Rc;

use super::models::{Change, Weighed};
use crate::dense::Vector;
use crate::error::Result;

/// The likelihood of the columns' drift, and of what else may be unknown with it: those come behind the columns.
pub(crate) trait Likelihood {
    /// A covariance S, in whatever form.
    type Covariance;

    /// What is believed with `1/τ²` and `m/τ²` of each column.
    fn posterior(&self, precision: &[f64], natural: &[f64]) -> Result<Posterior<Self::Covariance>>;

    /// S_j.
    fn column(&self, covariance: &Self::Covariance, j: usize) -> Vector;
}

pub(crate) struct Posterior<Covariance> {
    pub(crate) mean: Vector,
    /// nᵀSn + log det S, relative to what it would be without a drift and without its prior.
    pub(crate) log_weight: f64,
    /// The diagonal of S.
    pub(crate) variances: Vector,
    pub(crate) covariance: Covariance,
}

/// `S = covariance of its start - Σ factor v vᵀ`.
pub(crate) struct Stepped<Covariance> {
    start: Rc<Covariance>,
    pub(super) changes: Vec<(f64, Rc<Vector>)>,
    variances: Vector,
    pub(super) mean: Vector,
}

impl<C> Clone for Stepped<C> {
    fn clone(&self) -> Self {
        let Self { start, changes, variances, mean } = self;
        Self {
            start: Rc::clone(start),
            changes: changes.clone(),
            variances: variances.clone(),
            mean: mean.clone(),
        }
    }
}

impl<L: Likelihood> Weighed for L {
    type State = Stepped<L::Covariance>;
    type Mixed = Mixed<L::Covariance>;

    fn start(&self, precision: &[f64], natural: &[f64]) -> Result<(Self::State, f64)> {
        let Posterior { mean, log_weight, variances, covariance } = self.posterior(precision, natural)?;
        let start = Rc::new(covariance);
        Ok((Stepped { start, changes: Vec::new(), variances, mean }, log_weight))
    }

    fn marginals<'a>(&self, state: &'a Self::State, _: &'a mut [Vec<f64>; 2]) -> [&'a [f64]; 2] {
        [state.mean.as_slice(), state.variances.as_slice()]
    }

    /// O(d) for each change since its start.
    fn changed(&self, state: &Self::State, column: usize, change: &Change) -> Self::State {
        let mut vector = self.column(&state.start, column);
        for (factor, before) in &state.changes {
            vector.axpy(-factor * before[column], before, 1.0);
        }
        let mut state = state.clone();
        state.mean.axpy(change.shift, &vector, 1.0);
        state.variances.zip_apply(&vector, |variance, entry| *variance -= change.factor * entry * entry);
        state.changes.push((change.factor, Rc::new(vector)));
        state
    }

    fn mixed(&self, models: Vec<(f64, Self::State)>) -> Self::Mixed {
        let nothing = Vector::zeros(models[0].1.mean.len());
        let mean = models.iter().fold(nothing, |sum, (weight, state)| sum + &state.mean * *weight);
        let (mut terms, mut starts) =
            (Vec::<(f64, Rc<Vector>)>::new(), Vec::<(f64, Rc<L::Covariance>)>::new());
        for (weight, state) in models {
            for (factor, vector) in &state.changes {
                match terms.iter_mut().find(|(_, known)| Rc::ptr_eq(known, vector)) {
                    Some((sum, _)) => *sum -= weight * factor,
                    None => terms.push((-weight * factor, Rc::clone(vector))),
                }
            }
            terms.push((weight, Rc::new(&state.mean - &mean)));
            match starts.iter_mut().find(|(_, start)| Rc::ptr_eq(start, &state.start)) {
                Some((sum, _)) => *sum += weight,
                None => starts.push((weight, state.start)),
            }
        }
        Mixed { mean, spread: Spread { starts, terms } }
    }
}

/// Mean and covariance of the drift, in the dictionary's coordinates.
pub(crate) struct Mixed<Covariance> {
    pub(crate) mean: Vector,
    pub(crate) spread: Spread<Covariance>,
}

/// A covariance that is the sum of some, times their weights, and of products of vectors with themselves, times theirs.
pub(crate) struct Spread<Covariance> {
    pub(crate) starts: Vec<(f64, Rc<Covariance>)>,
    pub(crate) terms: Vec<(f64, Rc<Vector>)>,
}
