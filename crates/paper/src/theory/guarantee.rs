//! The whole guarantee of Theorem 1 (thm:main): the smaller of online fallback and pooled bound.
//!
//! ```text
//! R_T ≤ min{ C_SL √(T d L_T³),  pooled bound }        L_T = log(2 K T log T / δ_on)
//! ```
//!
//! It holds with probability at least 1 - T⁻² when all failure probabilities together are at most
//! T⁻², and when rewards lie in [0, 1]. With a learned certificate see [`super::LearnedEpochs`].

use truenorth::Result;

use super::pooled::PooledPath;
use crate::check;

/// Parameters of an [`OnlineFallback`].
///
/// | field | in the paper | range |
/// |---|---|---|
/// | `horizon` | T | at least 2: L_T needs log T > 0 |
/// | `actions` | K | at least 1 |
/// | `dimension` | d | at least 1 |
/// | `delta_online` | δ_on, failure probability of the whole online branch | (0, 1) |
/// | `constant` | C_SL | positive |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FallbackParams {
    /// Rounds that the policy was set up for.
    pub horizon: u64,
    /// Largest number of actions in a round.
    pub actions: usize,
    /// Number of features.
    pub dimension: usize,
    /// Failure probability of the online branch, all rounds and layers together.
    pub delta_online: f64,
    /// `C_SL`, which the paper leaves open.
    ///
    /// The proof takes the count from `SupLinUCB`, whose radius is free of d. The radius here is
    /// not: its log-determinant can reach `d log T`, so count on `C_SL` growing like `σ √d + S`.
    /// An online bound without open constants is [`PooledPath::layerwise_bound`] of the path with
    /// λI in place of `G_off`, `offline_radius = √λ S` and no bias (Corollary 4).
    pub constant: f64,
}

/// What the online branch guarantees by itself (Proposition 3, prop:online-fallback).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnlineFallback {
    /// What it was made from.
    pub(super) params: FallbackParams,
    /// `L_T`.
    pub(super) log_factor: f64,
}

impl OnlineFallback {
    /// Checks the parameters.
    pub fn new(params: FallbackParams) -> Result<Self> {
        let FallbackParams { horizon, actions, dimension, delta_online, constant } = params;
        let t = check::range(horizon >= 2, "horizon", "at least 2", horizon as f64)?;
        let k = check::at_least_one("actions", actions as u64)?;
        check::at_least_one("dimension", dimension as u64)?;
        check::probability("delta_online", delta_online)?;
        check::positive("constant", constant)?;
        // L_T of Theorem 1; positive, since 2 K T log T ≥ 4 log 2 > 1.
        let log_factor = (2.0 * k * t * t.ln() / delta_online).ln();
        Ok(Self { params, log_factor })
    }

    /// `C_SL √(T d L_T³)`.
    pub fn bound(&self) -> f64 {
        let FallbackParams { horizon, dimension, constant, .. } = self.params;
        constant * (horizon as f64 * dimension as f64 * self.log_factor.powi(3)).sqrt()
    }
}

/// The bounds on one run's regret, side by side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guarantee {
    /// `C_SL √(T d L_T³)`.
    pub online: f64,
    /// Pooled bound, layer by layer.
    pub layerwise: f64,
    /// Pooled bound with one prefactor, never below `layerwise`.
    pub coarse: f64,
}

impl Guarantee {
    /// The smallest: what the theorem guarantees.
    pub fn regret(&self) -> f64 {
        self.online.min(self.layerwise)
    }
}

/// Theorem 1 for a trajectory, with `routed_bias = ρ Ψ̃_T = ρ Σ_t ψ(x_t)`.
///
/// A path shorter than the horizon bounds the regret so far: every step of the pooled proof is a
/// sum over the rounds played.
pub fn guarantee(path: &PooledPath, fallback: &OnlineFallback, routed_bias: f64) -> Result<Guarantee> {
    let fits = path.rounds() <= fallback.params.horizon;
    check::range(fits, "rounds", "at most the horizon", path.rounds() as f64)?;
    Ok(Guarantee {
        online: fallback.bound(),
        layerwise: path.layerwise_bound(routed_bias)?,
        coarse: path.coarse_bound(routed_bias)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::pooled::{LayerPath, PooledRadius};
    use super::*;

    /// `L_T = log(2·3·100·log 100 / 0.01)`.
    const PARAMS: FallbackParams =
        FallbackParams { horizon: 100, actions: 3, dimension: 4, delta_online: 0.01, constant: 2.0 };

    fn path(log_det: f64) -> PooledPath {
        let params = PooledRadius { offline_radius: 1.0, noise: 0.5, delta_pool_min: 1e-6 };
        let layers = [LayerPath { rounds: 60, log_det }, LayerPath { rounds: 40, log_det: 0.01 }];
        PooledPath::new(params, &layers).unwrap()
    }

    #[test]
    fn fallback_by_hand() {
        let fallback = OnlineFallback::new(PARAMS).unwrap();
        // 2·3·100·4.605170 / 0.01 = 276310.2, log = 12.529279; 2·√(400·12.529279³) = 1773.982.
        assert!((fallback.log_factor - 12.529_279).abs() < 1e-6);
        assert!((fallback.bound() - 1_773.982).abs() < 0.001, "{}", fallback.bound());
        let twice = OnlineFallback::new(FallbackParams { constant: 4.0, ..PARAMS }).unwrap();
        assert!((twice.bound() - 2.0 * fallback.bound()).abs() < 1e-9);
    }

    #[test]
    fn the_smaller_bound_is_guaranteed_and_named() {
        let fallback = OnlineFallback::new(PARAMS).unwrap();
        let informative = guarantee(&path(0.1), &fallback, 1.0).unwrap();
        assert!(informative.layerwise < informative.online);
        assert_eq!(informative.regret().to_bits(), informative.layerwise.to_bits());
        let misleading = guarantee(&path(0.1), &fallback, 1_000.0).unwrap();
        assert!(misleading.layerwise >= misleading.online);
        assert_eq!(misleading.regret().to_bits(), fallback.bound().to_bits());
        // The bias enters both pooled bounds, eight times.
        assert!((misleading.layerwise - informative.layerwise - 8.0 * 999.0).abs() < 1e-9);
        assert!((misleading.coarse - informative.coarse - 8.0 * 999.0).abs() < 1e-9);
        assert!(informative.layerwise < informative.coarse);
    }

    #[test]
    fn shortest_horizon_is_two_and_its_bound_is_a_number() {
        let fallback = OnlineFallback::new(FallbackParams { horizon: 2, actions: 1, ..PARAMS });
        assert!(fallback.unwrap().bound() > 0.0);
        let one = OnlineFallback::new(FallbackParams { horizon: 1, ..PARAMS }).unwrap_err();
        assert_eq!(one.to_string(), "`horizon` must be at least 2, but is 1");
    }

    #[test]
    fn impossible_inputs_are_refused() {
        assert!(OnlineFallback::new(FallbackParams { actions: 0, ..PARAMS }).is_err());
        assert!(OnlineFallback::new(FallbackParams { dimension: 0, ..PARAMS }).is_err());
        assert!(OnlineFallback::new(FallbackParams { constant: 0.0, ..PARAMS }).is_err());
        assert!(OnlineFallback::new(FallbackParams { delta_online: 1.0, ..PARAMS }).is_err());
        let short = OnlineFallback::new(FallbackParams { horizon: 99, ..PARAMS }).unwrap();
        assert!(guarantee(&path(0.1), &short, 0.0).is_err());
        let fallback = OnlineFallback::new(PARAMS).unwrap();
        assert!(guarantee(&path(0.1), &fallback, f64::NAN).is_err());
    }
}
