//! What a certificate costs that is learned from the run itself (Theorems 4 and 7, Corollary 2).
//!
//! ```text
//! epoch by epoch   R_T ≤ pooled bound with B = Ψ̃_T^ep = Σ_k ρ̂_k Σ_{t in epoch k} ψ̂_k(x_t)
//! by penalty       R_T ≤ pooled bound with B = √(2 Λ̃_T S_ep),    S_ep = Σ_k n_k ρ̂_k² ĉ_k
//!                      = 8 (Γ_pool + √(S_ep / T)) √(2 T Λ̃_T)                (Corollary 2, coarse)
//! ```
//!
//! Both with the online fallback beside them, with probability at least `1 - T⁻² - δ_bias`. The
//! second is never smaller (Cauchy-Schwarz over the rounds), but needs no ψ̂ of single rounds. The
//! paper states it for doubling epochs; its proof uses nothing of them, so any epochs will do.

use truenorth::Result;

use super::guarantee::{Guarantee, OnlineFallback, guarantee};
use super::pooled::PooledPath;
use crate::check;

/// One epoch of a learned certificate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearnedEpoch {
    /// `n_k`: rounds played in it.
    pub rounds: u64,
    /// `ρ̂_k`.
    pub radius: f64,
    /// `ĉ_k`, as [`learned_alignment`](super::learned_alignment) gives it.
    pub alignment: f64,
    /// `Σ ψ̂_k(x_t)` over the epoch's rounds, at their layers; the factor `ρ̂_k` not included.
    pub routed: f64,
}

/// All epochs of a run, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct LearnedEpochs(Vec<LearnedEpoch>);

impl LearnedEpochs {
    /// Checks the numbers of every epoch.
    pub fn new(epochs: &[LearnedEpoch]) -> Result<Self> {
        for epoch in epochs {
            check::at_least_zero("radius", epoch.radius)?;
            check::at_least_zero("alignment", epoch.alignment)?;
            check::at_least_zero("routed", epoch.routed)?;
        }
        Ok(Self(epochs.to_vec()))
    }

    /// Whether no certificate was learned.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `Ψ̃_T^ep`: the bias routed through the learned certificates (Theorem 4,
    /// thm:epoch-parallel-regret).
    pub fn routed_bias(&self) -> f64 {
        self.0.iter().map(|epoch| epoch.radius * epoch.routed).sum()
    }

    /// `S_ep`: the adaptivity penalty (Corollary 2, cor:epoch-adaptivity-penalty).
    pub fn penalty(&self) -> f64 {
        self.0.iter().map(|epoch| epoch.rounds as f64 * epoch.radius.powi(2) * epoch.alignment).sum()
    }

    /// Theorem 4: the bound with the bias that was routed.
    pub fn guarantee(&self, path: &PooledPath, fallback: &OnlineFallback) -> Result<Guarantee> {
        self.check_rounds(path)?;
        guarantee(path, fallback, self.routed_bias())
    }

    /// Theorem 7 (thm:epoch-doubling-regret); its `coarse` is Corollary 2's bound.
    pub fn penalty_guarantee(&self, path: &PooledPath, fallback: &OnlineFallback) -> Result<Guarantee> {
        self.check_rounds(path)?;
        guarantee(path, fallback, (2.0 * path.total_log_det() * self.penalty()).sqrt())
    }

    /// Epochs of another run would bound nothing.
    fn check_rounds(&self, path: &PooledPath) -> Result<()> {
        let rounds: u64 = self.0.iter().map(|epoch| epoch.rounds).sum();
        let range = "in total as many in epochs as in layers";
        check::range(rounds == path.rounds(), "rounds", range, rounds as f64).map(drop)
    }
}
