//! The instances P_j of Theorem 3's proof, for arms that are all alike.

use truenorth_sim::{Error, Result, World};

use crate::studies::{axes, axis, fixed_actions};
use crate::theory::DiagonalProblem;

/// S = all arms, with as many logged rows and the same budget each.
///
/// | field | purpose | range |
/// |---|---|---|
/// | `horizon` | T | at least 1 |
/// | `arms` | m = d, the whole of S | at least 4 |
/// | `logs_per_round` | N/T; every arm has ⌊(N/T) T/m⌋ rows | |
/// | `budget` | v, how far a mean may have drifted, the same for all arms | at least 0 |
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the table above documents the fields")]
pub struct Problem {
    pub horizon: u64,
    pub arms: usize,
    pub logs_per_round: u64,
    pub budget: f64,
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
        let [live, logged] = [gap, gap - drift].map(|mean| axis(self.arms, hard_arm, mean));
        World {
            noise: 1.0,
            ..fixed_actions(axes(self.arms), vec![self.rows_per_arm(); self.arms], live, logged)
        }
    }
}
