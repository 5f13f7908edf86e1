//! Contexts and separate arms, laid out as rows here instead of in Python: what the adapters call once a round.

use std::sync::PoisonError;

use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use truenorth::{Actions, RidgeStatistic};

use crate::array::{Axis, Numbers};
use crate::choice::matrix;
use crate::error::Result;
use crate::policy::Policy;
use crate::rounds::along;

/// Contexts for a policy whose arms have coefficients of their own, one block after the other.
pub(crate) struct Arms<'a, 'py> {
    policy: &'a Policy,
    contexts: Numbers<'py>,
    intercept: bool,
}

/// The contexts without Python, for other threads.
#[derive(Clone, Copy)]
struct Contexts<'a> {
    values: &'a [f64],
    width: usize,
    intercept: bool,
    /// Of the policy.
    dimension: usize,
}

impl<'a> Contexts<'a> {
    fn get(self, place: usize) -> &'a [f64] {
        &self.values[place * self.width..][..self.width]
    }
}

/// Rows of arms, in whose blocks one context stands.
#[derive(Default)]
struct Offer {
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Offer {
    fn new(arms: impl Iterator<Item = usize>, width: usize) -> Self {
        let columns: Vec<usize> = arms.flat_map(|arm| arm * width..(arm + 1) * width).collect();
        let starts = (0..=columns.len() / width.max(1)).map(|k| k * width).collect();
        Self { starts, columns, values: Vec::new() }
    }

    /// All of them in one context.
    fn of(&mut self, contexts: Contexts<'_>, place: usize) -> truenorth::Result<Actions<'_>> {
        self.values.clear();
        for _ in 1..self.starts.len() {
            self.values.extend(contexts.intercept.then_some(1.0));
            self.values.extend_from_slice(contexts.get(place));
        }
        Actions::sparse(&self.starts, &self.columns, &self.values, contexts.dimension)
    }

    /// Another arm, where there is one.
    fn alone(&mut self, arm: usize, contexts: Contexts<'_>, place: usize) -> truenorth::Result<Actions<'_>> {
        let width = self.columns.len();
        self.columns.clear();
        self.columns.extend(arm * width..(arm + 1) * width);
        self.of(contexts, place)
    }
}

impl<'a, 'py> Arms<'a, 'py> {
    pub(crate) fn of(policy: &'a Policy, contexts: &Bound<'py, PyAny>, intercept: bool) -> PyResult<Self> {
        let contexts = Numbers::of("contexts", contexts, [Axis::Any("n"), Axis::Any("w")])?;
        let found = Self { policy, contexts, intercept };
        if found.width() == 0 || !policy.dimension().is_multiple_of(found.width()) {
            let (width, dimension) = (found.width(), policy.dimension());
            let sentence = format!("contexts of {width} values go with no arms of {dimension} features");
            return Err(PyValueError::new_err(sentence));
        }
        Ok(found)
    }

    fn count(&self) -> usize {
        self.contexts.shape()[0]
    }

    /// Coefficients of an arm.
    fn width(&self) -> usize {
        self.contexts.shape()[1] + usize::from(self.intercept)
    }

    fn view(&self) -> Contexts<'_> {
        Contexts {
            values: self.contexts.slice(),
            width: self.contexts.shape()[1],
            intercept: self.intercept,
            dimension: self.policy.dimension(),
        }
    }

    fn check(&self, arms: &[usize]) -> PyResult<()> {
        let count = self.policy.dimension() / self.width();
        match arms.iter().find(|&&arm| arm >= count) {
            None => Ok(()),
            Some(arm) => Err(PyValueError::new_err(format!("there is no arm {arm} of {count}"))),
        }
    }

    pub(crate) fn choose(&self, py: Python<'_>, arms: Option<Vec<usize>>) -> PyResult<Vec<usize>> {
        let (width, contexts) = (self.width(), self.view());
        let arms = arms.unwrap_or_else(|| (0..contexts.dimension / width).collect());
        self.check(&arms)?;
        let mut offer = Offer::new(arms.into_iter(), width);
        let mut chosen = Vec::with_capacity(self.count());
        let mut policy = self.policy.lock(py);
        along(py, &mut policy, self.count(), |policy, place| {
            chosen.push(policy.choose(offer.of(contexts, place)?)?.action);
            Ok(())
        })?;
        Ok(chosen)
    }

    pub(crate) fn learn(
        &self,
        py: Python<'_>,
        arms: &[usize],
        rewards: &Bound<'_, PyAny>,
        rounds: bool,
    ) -> PyResult<()> {
        let rewards = self.paid(arms, rewards)?;
        let (rewards, contexts) = (rewards.slice(), self.view());
        let mut offer = Offer::new(0..1, self.width());
        let mut policy = self.policy.lock(py);
        along(py, &mut policy, arms.len(), |policy, place| {
            let actions = offer.alone(arms[place], contexts, place)?;
            if !rounds {
                return policy.learn_row(actions.row(0), rewards[place]);
            }
            let choice = policy.choose(actions)?;
            policy.learn(choice.rewarded(actions, rewards[place]))
        })
    }

    pub(crate) fn log(&self, py: Python<'_>, arms: &[usize], rewards: &Bound<'_, PyAny>) -> Result<()> {
        let rewards = self.paid(arms, rewards)?;
        let (rewards, contexts, policy) = (rewards.slice(), self.view(), &self.policy.inner);
        let mut offer = Offer::new(0..1, self.width());
        let logs = || -> truenorth::Result<()> {
            let mut logs = RidgeStatistic::sparse(contexts.dimension)?;
            for (place, &arm) in arms.iter().enumerate() {
                logs.observe(offer.alone(arm, contexts, place)?.row(0), rewards[place])?;
            }
            policy.lock().unwrap_or_else(PoisonError::into_inner).add_logs(&logs)
        };
        Ok(py.detach(logs)?)
    }

    pub(crate) fn means(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let contexts = self.view();
        let arms = contexts.dimension / self.width();
        let mut offer = Offer::new(0..arms, self.width());
        let mut means = Vec::with_capacity(self.count() * arms);
        let mut policy = self.policy.lock(py);
        along(py, &mut policy, self.count(), |policy, place| {
            let found = policy.intervals(0, offer.of(contexts, place)?)?;
            means.extend(found.iter().map(truenorth::ActionInterval::mean));
            Ok(())
        })?;
        drop(policy);
        matrix(py, means, arms)
    }

    /// A reward for each context, with its arm.
    fn paid(&self, arms: &[usize], rewards: &Bound<'py, PyAny>) -> PyResult<Numbers<'py>> {
        self.check(arms)?;
        if arms.len() != self.count() {
            let sentence = format!("there are {} contexts, but {} arms", self.count(), arms.len());
            return Err(PyValueError::new_err(sentence));
        }
        Numbers::of("rewards", rewards, [Axis::Exactly(self.count())])
    }
}
