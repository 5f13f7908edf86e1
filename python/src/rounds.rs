//! Many rounds in one call: other threads of Python run meanwhile, and an interrupt stops it.

use std::time::{Duration, Instant};

use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use truenorth::{Actions, Decision, Observation};

use crate::array::{Axis, Numbers, python};
use crate::choice::{Columns, matrix};
use crate::error::Result;
use crate::policy::Policy;

/// How long a call may run before it looks whether it is to stop.
const PATIENCE: Duration = Duration::from_millis(50);
/// Rounds between two looks at the clock.
const UNHURRIED: usize = 32;

impl Policy {
    fn rounds<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Numbers<'py>> {
        Numbers::of("X", value, [Axis::Any("n"), Axis::Any("K"), Axis::Exactly(self.dimension)])
    }

    /// Plays rounds on a copy, which takes the place of the policy when all went well. Meanwhile other threads of
    /// Python run, and now and then signals are looked for.
    fn through(
        &self,
        py: Python<'_>,
        rounds: usize,
        mut round: impl FnMut(&mut truenorth::Policy, usize) -> truenorth::Result<()> + Send,
    ) -> PyResult<()> {
        let mut guard = self.lock(py);
        let mut policy = guard.clone();
        let mut next = 0;
        while next < rounds {
            let played = py.detach(|| -> Result<()> {
                let start = Instant::now();
                while next < rounds {
                    round(&mut policy, next)?;
                    next += 1;
                    if (next.is_multiple_of(UNHURRIED) || self.dimension > 100) && start.elapsed() > PATIENCE
                    {
                        break;
                    }
                }
                Ok(())
            });
            played?;
            py.check_signals()?;
        }
        *guard = policy;
        Ok(())
    }

    pub(crate) fn learn_all(
        &self,
        py: Python<'_>,
        choices: &Bound<'_, PyAny>,
        rewards: &Bound<'_, PyAny>,
        features: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let rewards = Numbers::of("rewards", rewards, [Axis::Any("n")])?;
        let count = rewards.shape()[0];
        let whole = python(py, "truenorth._decisions", "_columns", (choices,))?;
        let (decisions, own): (Vec<(u64, u32)>, Option<Bound<'_, PyAny>>) = whole.extract()?;
        let Some(features) = features.or(own.as_ref()) else {
            return Err(PyTypeError::new_err("`features` are needed beside decisions"));
        };
        let axes = [Axis::Exactly(decisions.len()), Axis::Exactly(self.dimension)];
        let features = Numbers::of("features", features, axes)?;
        if count != decisions.len() {
            let sentence = format!("there are {} decisions, but {count} rewards", decisions.len());
            return Err(PyValueError::new_err(sentence));
        }
        let (features, rewards) = (features.slice()?, rewards.slice()?);
        self.through(py, count, |policy, place| {
            let (round, layer) = decisions[place];
            policy.learn(Observation {
                decision: Decision { round, layer },
                features: &features[place * self.dimension..][..self.dimension],
                reward: rewards[place],
            })
        })
    }

    pub(crate) fn choose_all<'py>(
        &self,
        py: Python<'py>,
        rounds: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let numbers = self.rounds(rounds)?;
        let (all, width) = (numbers.slice()?, numbers.shape()[1] * self.dimension);
        let mut columns = Columns::default();
        let mut chosen = Vec::with_capacity(numbers.shape()[0] * self.dimension);
        self.through(py, numbers.shape()[0], |policy, place| {
            let actions = Actions::new(&all[place * width..][..width], self.dimension)?;
            let choice = policy.choose(actions)?;
            chosen.extend_from_slice(actions.features(choice.action));
            columns.push(&choice);
            Ok(())
        })?;
        let mut fields = columns.arrays(py);
        fields.push(matrix(py, chosen, self.dimension)?.into_any());
        python(py, "truenorth._decisions", "Choices", PyTuple::new(py, fields)?)
    }

    pub(crate) fn play_all<'py>(
        &self,
        py: Python<'py>,
        rounds: &Bound<'py, PyAny>,
        rewards: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let numbers = self.rounds(rounds)?;
        let &[rounds, actions, _] = numbers.shape() else { unreachable!("three axes were checked") };
        let rewards = Numbers::of("rewards", rewards, [Axis::Exactly(rounds), Axis::Exactly(actions)])?;
        let (all, paid, width) = (numbers.slice()?, rewards.slice()?, actions * self.dimension);
        let mut columns = Columns::default();
        let mut earned = Vec::with_capacity(rounds);
        self.through(py, rounds, |policy, place| {
            let offered = Actions::new(&all[place * width..][..width], self.dimension)?;
            let choice = policy.choose(offered)?;
            let reward = paid[place * actions + choice.action];
            if !reward.is_nan() {
                let features = offered.features(choice.action);
                policy.learn(Observation { decision: choice.decision, features, reward })?;
            }
            columns.push(&choice);
            earned.push(reward);
            Ok(())
        })?;
        let mut fields = columns.arrays(py);
        fields.push(PyArray1::from_vec(py, earned).into_any());
        python(py, "truenorth._decisions", "Played", PyTuple::new(py, fields)?)
    }
}
