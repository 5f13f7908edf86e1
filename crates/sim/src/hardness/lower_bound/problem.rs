//! The instances P_j of Theorem 3's proof, for arms that are all alike.

use truenorth::theory::DiagonalProblem;

use crate::error::{Error, Result};
use crate::world::{Contexts, Coverage, ParameterLaw, RewardModel, World};

/// S = all arms, with as many logged rows and the same budget each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Problem {
    pub(super) horizon: u64,
    pub(super) arms: usize,
    pub(super) logs_per_round: u64,
    pub(super) budget: f64,
}

impl Problem {
    /// n_j.
    pub(super) fn rows_per_arm(&self) -> u64 {
        self.logs_per_round.saturating_mul(self.horizon) / self.arms.max(1) as u64
    }

    /// Ψ(S).
    pub(super) fn hardness(&self) -> Result<f64> {
        if self.arms < 4 {
            return Err(Error::Number { name: "arms", range: "at least 4", value: self.arms as f64 });
        }
        let (counts, budgets) = (vec![self.rows_per_arm(); self.arms], vec![self.budget; self.arms]);
        let everything: Vec<usize> = (0..self.arms).collect();
        Ok(DiagonalProblem::new(self.horizon, &counts, &budgets)?.hardness(&everything)?)
    }

    /// μ and v̄.
    pub(super) fn gap_and_drift(&self) -> (f64, f64) {
        let (m, t) = (self.arms as f64, self.horizon as f64);
        let n = m * self.rows_per_arm() as f64;
        if n == 0.0 {
            return ((m / t).sqrt() / 8.0, 0.0);
        }
        let drift = self.budget.min((m * (t + n) / (n * t)).sqrt() / 32.0);
        (n / (n + t) * drift + (m / (n + t)).sqrt() / 64.0, drift)
    }

    /// P_j.
    pub(super) fn world(&self, hard_arm: usize) -> World {
        let (gap, drift) = self.gap_and_drift();
        let axis = |arm: usize, length: f64| {
            let mut vector = vec![0.0; self.arms];
            vector[arm] = length;
            vector
        };
        let axes: Vec<Vec<f64>> = (0..self.arms).map(|arm| axis(arm, 1.0)).collect();
        World {
            dimension: self.arms,
            parameters: ParameterLaw::Given {
                live: axis(hard_arm, gap),
                logged: axis(hard_arm, gap - drift),
            },
            coverage: Coverage::Counts {
                features: axes.clone(),
                counts: vec![self.rows_per_arm(); self.arms],
            },
            log_rows: 0,
            contexts: Contexts::Fixed { features: axes },
            rewards: RewardModel::Gaussian,
            noise: 1.0,
        }
    }
}
