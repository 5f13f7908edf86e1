//! How many rounds in one call are played: other threads of Python run meanwhile, and an interrupt stops it.

use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::array::{Axis, Numbers};
use crate::error::Result;
use crate::policy::Policy;

/// How long a call may run before it looks whether it is to stop.
const PATIENCE: Duration = Duration::from_millis(50);
/// Rounds between two looks at the clock.
const UNHURRIED: usize = 32;

impl Policy {
    pub(crate) fn rounds<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Numbers<'py>> {
        Numbers::of("X", value, [Axis::Any("n"), Axis::Any("K"), Axis::Exactly(self.dimension())])
    }

    /// Plays rounds on a copy, which takes the place of the policy when all went well. Meanwhile other threads of
    /// Python run, and now and then signals are looked for.
    pub(crate) fn through(
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
                    if (next.is_multiple_of(UNHURRIED) || self.dimension() > 100)
                        && start.elapsed() > PATIENCE
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
}
