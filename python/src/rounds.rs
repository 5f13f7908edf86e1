//! How many rounds in one call are played: other threads of Python run meanwhile, and an interrupt stops it.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::array::{Axis, Numbers};
use crate::error::Result;
use crate::policy::Policy;
use crate::rows::{Rounds, sparse_rounds};

/// How long a call may run before it looks whether it is to stop.
const PATIENCE: Duration = Duration::from_millis(50);
/// Rounds between two looks at the clock.
const UNHURRIED: usize = 32;

impl Policy {
    /// The actions of many rounds: an array of three axes, or a list of sparse matrices.
    pub(crate) fn rounds<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Rounds<'py>> {
        let width = self.dimension();
        if let Some(rounds) = sparse_rounds(value, width, !self.sparse)? {
            return Ok(Rounds::Sparse(rounds));
        }
        let axes = [Axis::Any("n"), Axis::Any("K"), Axis::Exactly(width)];
        Ok(Rounds::Whole { numbers: Numbers::of("X", value, axes)?, width })
    }

    /// Plays rounds on a copy, which takes the place of the policy when all went well. Meanwhile other threads of
    /// Python run, and now and then signals are looked for.
    pub(crate) fn through(
        &self,
        py: Python<'_>,
        rounds: usize,
        round: impl FnMut(&mut truenorth::Policy, usize) -> truenorth::Result<()> + Send,
    ) -> PyResult<()> {
        let mut guard = self.lock(py);
        let mut policy = guard.clone();
        along(py, &mut policy, rounds, round)?;
        *guard = policy;
        Ok(())
    }
}

/// Plays rounds in their order; an error leaves those that were played.
pub(crate) fn along(
    py: Python<'_>,
    policy: &mut truenorth::Policy,
    rounds: usize,
    mut round: impl FnMut(&mut truenorth::Policy, usize) -> truenorth::Result<()> + Send,
) -> PyResult<()> {
    let slow = policy.dimension() > 100;
    let mut next = 0;
    while next < rounds {
        let played = py.detach(|| -> Result<()> {
            let start = Instant::now();
            while next < rounds {
                round(policy, next)?;
                next += 1;
                if (next.is_multiple_of(UNHURRIED) || slow) && start.elapsed() > PATIENCE {
                    break;
                }
            }
            Ok(())
        });
        played?;
        py.check_signals()?;
    }
    Ok(())
}
