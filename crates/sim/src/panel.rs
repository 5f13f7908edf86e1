//! One panel of a figure: a world, the policies that play in it, for how long and how often.

use truenorth::Preset::{EllipsoidalMinUcb, EllipsoidalMinUcb3d, OfflineOnly, SupLinUcb, WarmSupLinUcb};

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

impl Default for Panel {
    /// The paper's policies in its world without drift, told the truth: what an experiment is unless it says
    /// otherwise.
    fn default() -> Self {
        let policies = [SupLinUcb, EllipsoidalMinUcb, EllipsoidalMinUcb3d, WarmSupLinUcb, OfflineOnly];
        Self {
            name: String::new(),
            world: World::default(),
            policies: policies.map(PolicySpec::preset).to_vec(),
            horizon: 20_000,
            runs: 50,
            seed: 42,
            norm_bound: NormBound::Truth,
            ridge: 1.0,
            delta: 0.01,
        }
    }
}

impl Panel {
    /// Checks everything that does not depend on what is drawn.
    pub fn check(&self) -> Result<()> {
        self.world.check()?;
        let policies = self.policies.len() as u64;
        // Every run is kept until the last one is done, so their number has an end.
        for (name, range, value, fine) in [
            ("runs", "at least 1", self.runs, self.runs >= 1),
            ("runs", "at most 1000000", self.runs, self.runs <= 1_000_000),
            ("horizon", "at least 1", self.horizon, self.horizon >= 1),
            ("policies", "at least one", policies, policies >= 1),
        ] {
            if !fine {
                return Err(Error::Number { name, range, value: value as f64 });
            }
        }
        for (i, policy) in self.policies.iter().enumerate() {
            if self.policies[..i].iter().any(|other| other.name == policy.name) {
                return Err(Error::SameName { name: policy.name.clone() });
            }
        }
        Ok(())
    }
}
