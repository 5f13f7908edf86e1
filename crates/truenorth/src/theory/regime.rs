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

use super::alignment::AlignedBias;
use super::guarantee::OnlineFallback;
use super::pooled::PooledPath;
use crate::error::{Error, Result};

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

/// Corollary 1's bound: Theorem 1 with the routed bias replaced by what alignment allows it to be.
pub fn aligned_bound(path: &PooledPath, bias: &AlignedBias) -> f64 {
    8.0 * (path.prefactor() + bias.scale()) * path.potential()
}

/// Corollary 1's condition for a path over the whole horizon: the condition has T cancelled on
/// both sides, which is wrong for a path that is shorter.
pub fn better_regime(path: &PooledPath, bias: &AlignedBias, fallback: &OnlineFallback) -> Result<Regime> {
    let params = fallback.params();
    if path.rounds() != params.horizon {
        let value = path.rounds() as f64;
        return Err(Error::Parameter { name: "rounds", range: "equal to the horizon", value });
    }
    let prefactor = path.prefactor() + bias.scale();
    let ambient = params.dimension as f64 * fallback.log_factor().powi(3);
    Ok(Regime {
        pooled: path.total_log_det() * prefactor.powi(2),
        online: params.constant.powi(2) / 128.0 * ambient,
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::Numbers;
    use super::super::guarantee::FallbackParams;
    use super::super::pooled::{LayerPath, PooledRadius, RadiusParams};
    use super::*;

    const FALLBACK: FallbackParams =
        FallbackParams { horizon: 8, actions: 3, dimension: 4, delta_online: 0.01, constant: 2.0 };

    /// `Γ_pool` = 1 + 2·√(1 + 8) = 7, Λ̃ = 1.5, T = 8.
    fn path() -> PooledPath {
        let params = RadiusParams { offline_radius: 1.0, noise: 2.0, delta_pool_min: (-4f64).exp() };
        let layers = [LayerPath { rounds: 6, log_det: 1.0 }, LayerPath { rounds: 2, log_det: 0.5 }];
        PooledPath::new(PooledRadius::new(params).unwrap(), &layers).unwrap()
    }

    #[test]
    fn both_sides_by_hand() {
        let fallback = OnlineFallback::new(FALLBACK).unwrap();
        // ρ √c = 1.5 · 2 = 3: the pooled side is 1.5·(7 + 3)² = 150, the bound 80·√(2·8·1.5).
        let bias = AlignedBias::new(1.5, 4.0).unwrap();
        let regime = better_regime(&path(), &bias, &fallback).unwrap();
        assert!((regime.pooled - 150.0).abs() < 1e-10);
        assert!((aligned_bound(&path(), &bias) - 80.0 * 24f64.sqrt()).abs() < 1e-10);
        // L_T = log(2·3·8·log 8 / 0.01) = 9.208471: 4/128 · 4 · 9.208471³ = 97.605.
        assert!((regime.online - 97.605).abs() < 0.001, "{}", regime.online);
        assert!(!regime.logs_pay());
    }

    #[test]
    fn verdict_is_that_of_the_two_bounds() {
        let mut numbers = Numbers::seeded(8);
        let mut verdicts = [0, 0];
        for _ in 0..500 {
            let constant = 8.0 * numbers.uniform() + 0.1;
            let fallback = OnlineFallback::new(FallbackParams { constant, ..FALLBACK }).unwrap();
            let bias = AlignedBias::new(2.0 * numbers.uniform(), 9.0 * numbers.uniform()).unwrap();
            let regime = better_regime(&path(), &bias, &fallback).unwrap();
            assert_eq!(regime.logs_pay(), aligned_bound(&path(), &bias) <= fallback.bound());
            // Not only the verdict: the ratio of the sides is the squared ratio of the bounds.
            let ratio = (aligned_bound(&path(), &bias) / fallback.bound()).powi(2);
            assert!((regime.pooled / regime.online / ratio - 1.0).abs() < 1e-12);
            verdicts[usize::from(regime.logs_pay())] += 1;
        }
        assert!(verdicts.iter().all(|&count| count > 50), "{verdicts:?}");
    }

    #[test]
    fn unbiased_logs_pay_by_the_statistical_part_alone() {
        let none = AlignedBias::new(0.0, 1e6).unwrap();
        let coarse = path().coarse_bound(0.0).unwrap();
        assert!((aligned_bound(&path(), &none) - coarse).abs() < 1e-10);
    }

    #[test]
    fn shorter_paths_are_refused() {
        let fallback = OnlineFallback::new(FallbackParams { horizon: 9, ..FALLBACK }).unwrap();
        let bias = AlignedBias::new(0.0, 1.0).unwrap();
        let refused = better_regime(&path(), &bias, &fallback).unwrap_err();
        assert_eq!(refused.to_string(), "`rounds` must be equal to the horizon, but is 8");
    }
}
