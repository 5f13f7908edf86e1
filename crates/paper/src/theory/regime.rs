//! When do the logs pay? The pooled bound against the online fallback (Corollary 1,
//! cor:pooled-better-regime).
//!
//! ```text
//! R_T ≤ 8 (Γ_pool + ρ √c_align) √(2 T Λ̃_T)
//! pooled is no larger  ⇔  Λ̃_T (Γ_pool + ρ √c_align)² ≤ (C_SL² / 128) d L_T³
//! ```
//!
//! "Pooled" means the simplified bound in the first line; Theorem 1's own pooled bounds are at most
//! that, so they can win where this test says no.

use truenorth::Result;

use super::guarantee::{FallbackParams, OnlineFallback};
use super::pooled::PooledPath;
use crate::check;

/// Both sides of Corollary 1's condition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Regime {
    /// `Λ̃_T (Γ_pool + ρ √c_align)²`.
    pub pooled: f64,
    /// `(C_SL² / 128) d L_T³`.
    pub online: f64,
}

impl Regime {
    /// The verdict: the pooled bound is no larger than the online fallback.
    pub fn logs_pay(&self) -> bool {
        self.pooled <= self.online
    }
}

/// Corollary 1's bound: Theorem 1 with the routed bias replaced by what alignment allows it to be, by the
/// [`bias_scale`](super::bias_scale).
pub fn aligned_bound(path: &PooledPath, bias_scale: f64) -> f64 {
    8.0 * (path.prefactor() + bias_scale) * path.potential()
}

/// Corollary 1's condition for a path over the whole horizon: the condition has T cancelled on
/// both sides, which is wrong for a path that is shorter.
pub fn better_regime(path: &PooledPath, bias_scale: f64, fallback: &OnlineFallback) -> Result<Regime> {
    let FallbackParams { horizon, dimension, constant, .. } = fallback.params;
    let whole = path.rounds() == horizon;
    check::range(whole, "rounds", "equal to the horizon", path.rounds() as f64)?;
    let prefactor = path.prefactor() + bias_scale;
    let ambient = dimension as f64 * fallback.log_factor.powi(3);
    let pooled = path.total_log_det() * prefactor.powi(2);
    Ok(Regime { pooled, online: constant.powi(2) / 128.0 * ambient })
}
