//! One panel of a figure: a world, the policies that play in it, for how long and how often.

use crate::error::{Error, Result};
use crate::policy::PolicySpec;
use crate::world::World;

/// The bound on the parameters' length that policies are told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NormBound {
    /// max(1, ‖θ_*‖, ‖θ†‖): true in every run.
    Truth,
    /// A number, true or not.
    Given(f64),
}

/// Panels that are drawn side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Its name, and that of its files.
    pub name: String,
    /// What it shows, in a line.
    pub title: String,
    /// Its panels.
    pub panels: Vec<Panel>,
}

/// One experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Its name in figures and results.
    pub name: String,
    /// Where it takes place.
    pub world: World,
    /// Who plays.
    pub policies: Vec<PolicySpec>,
    /// Rounds of a run.
    pub horizon: u64,
    /// Runs.
    pub runs: u64,
    /// Base seed; with the run's number it determines all that is drawn.
    pub seed: u64,
    /// What policies are told about the parameters' length.
    pub norm_bound: NormBound,
    /// λ.
    pub ridge: f64,
    /// δ.
    pub delta: f64,
}

impl Panel {
    /// Checks everything that does not depend on what is drawn.
    pub fn check(&self) -> Result<()> {
        self.world.check()?;
        check_runs(self.runs)?;
        if self.horizon == 0 {
            return Err(Error::Number { name: "horizon", range: "at least 1", value: 0.0 });
        }
        if self.policies.is_empty() {
            return Err(Error::Number { name: "policies", range: "at least one", value: 0.0 });
        }
        for (i, policy) in self.policies.iter().enumerate() {
            if self.policies[..i].iter().any(|other| other.name == policy.name) {
                return Err(Error::SameName { name: policy.name.clone() });
            }
        }
        Ok(())
    }
}

/// Every run is kept until the last one is done, so their number has an end.
pub(crate) fn check_runs(runs: u64) -> Result<()> {
    match runs {
        0 => Err(Error::Number { name: "runs", range: "at least 1", value: 0.0 }),
        1..=1_000_000 => Ok(()),
        _ => Err(Error::Number { name: "runs", range: "at most 1000000", value: runs as f64 }),
    }
}
