//! Regret of the pooled branch along a trajectory that was played (Theorem 1, thm:main).
//!
//! ```text
//! layerwise   R_T ≤ 8 Σ_ℓ (β_off + γ_ℓ) √(2 |Q_ℓ| Λ_ℓ) + 8 B       γ_ℓ = σ √(Λ_ℓ + 2 log(1/δ))
//! coarse      R_T ≤ 8 Γ_pool √(2 T Λ̃_T) + 8 B                      Γ_pool = β_off + max_ℓ γ_ℓ
//! ```
//!
//! `Q_ℓ` are the rounds that layer ℓ played, `Λ_ℓ = log det(A_ℓ + G_off) - log det G_off` with the
//! layer's final Gram matrix, `Λ̃_T` their sum, and B the routed bias: how much the certificate
//! widened the intervals of the played actions, in total. Layerwise is never larger than coarse
//! (Cauchy-Schwarz across layers).

use truenorth::Result;

use crate::check;

/// What one layer saw: its number of rounds `|Q_ℓ|` and its information gain `Λ_ℓ`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerPath {
    /// Rounds that this layer played.
    pub rounds: u64,
    /// `log det(A_ℓ + G_off) - log det G_off`; a value below 0 by rounding counts as 0.
    pub log_det: f64,
}

/// The statistical part of the pooled radius, as a function of what a layer has learned.
///
/// | field | in the paper | range |
/// |---|---|---|
/// | `offline_radius` | β_off(δ_off) | at least 0 |
/// | `noise` | σ | at least 0 |
/// | `delta_pool_min` | δ_min^pool, the smallest over rounds and layers | (0, 1) |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledRadius {
    /// Radius of the offline ellipsoid, with `√λ S` inside.
    pub offline_radius: f64,
    /// Sub-Gaussian scale of the rewards.
    pub noise: f64,
    /// Smallest failure probability of the pooled branch. The paper lets each layer use its own
    /// minimum; the common one is never too optimistic, and the same on the per-round schedule.
    pub delta_pool_min: f64,
}

impl PooledRadius {
    pub(super) fn check(&self) -> Result<()> {
        check::at_least_zero("offline_radius", self.offline_radius)?;
        check::at_least_zero("noise", self.noise)?;
        check::probability("delta_pool_min", self.delta_pool_min).map(drop)
    }

    /// `β_off + σ √(Λ + 2 log(1/δ))` for Λ ≥ 0: `β_off + γ_ℓ` for a layer's Λ, `Γ_pool` for the
    /// largest, `Γ_spec` for the largest possible.
    pub fn at(&self, log_det: f64) -> f64 {
        self.offline_radius + self.noise * (log_det - 2.0 * self.delta_pool_min.ln()).sqrt()
    }
}

/// A played trajectory as Theorem 1 sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledPath {
    radius: PooledRadius,
    layers: Vec<LayerPath>,
}

impl PooledPath {
    /// A trajectory from its layers, in any order; layers that never played may be left out.
    pub fn new(radius: PooledRadius, layers: &[LayerPath]) -> Result<Self> {
        radius.check()?;
        let checked = |layer: &LayerPath| {
            Ok(LayerPath { log_det: check::increment("log_det", layer.log_det)?, ..*layer })
        };
        Ok(Self { radius, layers: layers.iter().map(checked).collect::<Result<_>>()? })
    }

    /// The radius of its layers.
    pub fn radius(&self) -> &PooledRadius {
        &self.radius
    }

    /// Rounds played in all layers.
    pub fn rounds(&self) -> u64 {
        self.layers.iter().map(|layer| layer.rounds).sum()
    }

    /// `Λ̃_T`: what all layers have learned beyond the logs.
    pub fn total_log_det(&self) -> f64 {
        self.layers.iter().map(|layer| layer.log_det).sum()
    }

    /// `Γ_pool`: the statistical radius of the layer that has learned most.
    pub fn prefactor(&self) -> f64 {
        self.radius.at(self.layers.iter().map(|layer| layer.log_det).fold(0.0, f64::max))
    }

    /// `√(2 T Λ̃_T)`: what the features' pooled lengths can add up to (Corollary 5,
    /// cor:pooled-variance).
    pub fn potential(&self) -> f64 {
        (2.0 * self.rounds() as f64 * self.total_log_det()).sqrt()
    }

    /// Theorem 1's pooled bound, layer by layer, for a routed bias B of `ρ Ψ̃_T` or `Ψ̃_T^ep`.
    pub fn layerwise_bound(&self, routed_bias: f64) -> Result<f64> {
        let statistical = |layer: &LayerPath| {
            self.radius.at(layer.log_det) * (2.0 * layer.rounds as f64 * layer.log_det).sqrt()
        };
        let statistical: f64 = self.layers.iter().map(statistical).sum();
        Ok(8.0 * (statistical + check::at_least_zero("routed_bias", routed_bias)?))
    }

    /// Theorem 1's pooled bound with one prefactor for all layers, as the theorem displays it.
    pub fn coarse_bound(&self, routed_bias: f64) -> Result<f64> {
        let statistical = self.prefactor() * self.potential();
        Ok(8.0 * (statistical + check::at_least_zero("routed_bias", routed_bias)?))
    }
}
