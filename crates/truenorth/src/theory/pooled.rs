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

use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::Result;

/// What one layer saw: its number of rounds `|Q_ℓ|` and its information gain `Λ_ℓ`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LayerPath {
    /// Rounds that this layer played.
    pub rounds: u64,
    /// `log det(A_ℓ + G_off) - log det G_off`; a value below 0 by rounding counts as 0.
    pub log_det: f64,
}

/// Parameters of a [`PooledRadius`].
///
/// | field | in the paper | range |
/// |---|---|---|
/// | `offline_radius` | β_off(δ_off) | at least 0 |
/// | `noise` | σ | at least 0 |
/// | `delta_pool_min` | δ_min^pool, the smallest over rounds and layers | (0, 1) |
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RadiusParams {
    /// Radius of the offline ellipsoid, with `√λ S` inside.
    pub offline_radius: f64,
    /// Sub-Gaussian scale of the rewards.
    pub noise: f64,
    /// Smallest failure probability of the pooled branch. The paper lets each layer use its own
    /// minimum; the common one is never too optimistic, and the same on the per-round schedule.
    pub delta_pool_min: f64,
}

/// The statistical part of the pooled radius, as a function of what a layer has learned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledRadius(RadiusParams);

impl PooledRadius {
    /// Checks the parameters.
    pub fn new(params: RadiusParams) -> Result<Self> {
        check::at_least_zero("offline_radius", params.offline_radius)?;
        check::at_least_zero("noise", params.noise)?;
        check::probability("delta_pool_min", params.delta_pool_min)?;
        Ok(Self(params))
    }

    /// `β_off + σ √(Λ + 2 log(1/δ))` for Λ ≥ 0: `β_off + γ_ℓ` for a layer's Λ, `Γ_pool` for the
    /// largest, `Γ_spec` for the largest possible.
    pub fn at(&self, log_det: f64) -> f64 {
        let RadiusParams { offline_radius, noise, delta_pool_min } = self.0;
        offline_radius + noise * (log_det - 2.0 * delta_pool_min.ln()).sqrt()
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
        let layers = layers
            .iter()
            .map(|layer| Ok(LayerPath { log_det: check::increment("log_det", layer.log_det)?, ..*layer }))
            .collect::<Result<_>>()?;
        Ok(Self { radius, layers })
    }

    /// The layers it was made from.
    pub fn layers(&self) -> &[LayerPath] {
        &self.layers
    }

    /// The parameters of its radius.
    pub fn radius(&self) -> &RadiusParams {
        &self.radius.0
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
        let statistical: f64 = self
            .layers
            .iter()
            .map(|layer| self.radius.at(layer.log_det) * (2.0 * layer.rounds as f64 * layer.log_det).sqrt())
            .sum();
        Ok(8.0 * (statistical + check::at_least_zero("routed_bias", routed_bias)?))
    }

    /// Theorem 1's pooled bound with one prefactor for all layers, as the theorem displays it.
    pub fn coarse_bound(&self, routed_bias: f64) -> Result<f64> {
        let statistical = self.prefactor() * self.potential();
        Ok(8.0 * (statistical + check::at_least_zero("routed_bias", routed_bias)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::Numbers;
    use super::*;

    /// σ = 2, `β_off` = 1, and δ with 2 log(1/δ) = 8, so that Λ = 1 has radius 1 + 2·3 = 7.
    fn radius() -> PooledRadius {
        let params = RadiusParams { offline_radius: 1.0, noise: 2.0, delta_pool_min: (-4f64).exp() };
        PooledRadius::new(params).unwrap()
    }

    #[test]
    fn two_layers_by_hand() {
        let layers = [(2, 1.0), (7, 8.0), (0, 0.0)].map(|(rounds, log_det)| LayerPath { rounds, log_det });
        let path = PooledPath::new(radius(), &layers).unwrap();
        // Layer 0: (1 + 2·√9) √(2·2·1) = 7·2 = 14. Layer 1: (1 + 2·√16) √(2·7·8) = 9·√112.
        let layerwise = 8.0 * (14.0 + 9.0 * 112f64.sqrt()) + 8.0 * 0.5;
        // Γ_pool = 9, T = 9, Λ̃ = 9: 8·9·√(2·9·9) + 4.
        let coarse = 72.0 * 162f64.sqrt() + 4.0;
        assert_eq!(path.rounds(), 9);
        assert!((path.prefactor() - 9.0).abs() < 1e-12);
        assert!((path.layerwise_bound(0.5).unwrap() - layerwise).abs() < 1e-10);
        assert!((path.coarse_bound(0.5).unwrap() - coarse).abs() < 1e-10);
    }

    #[test]
    fn one_layer_leaves_nothing_to_coarsen() {
        let path = PooledPath::new(radius(), &[LayerPath { rounds: 50, log_det: 3.7 }]).unwrap();
        let (layerwise, coarse) = (path.layerwise_bound(2.0), path.coarse_bound(2.0));
        assert!((layerwise.unwrap() - coarse.unwrap()).abs() < 1e-10);
    }

    #[test]
    fn layerwise_is_never_above_coarse() {
        let mut numbers = Numbers::seeded(1);
        let mut strictly_below = 0;
        for _ in 0..200 {
            let layers: Vec<_> = (0..=numbers.below(8))
                .map(|_| LayerPath { rounds: numbers.below(1000), log_det: 20.0 * numbers.uniform() })
                .collect();
            let path = PooledPath::new(radius(), &layers).unwrap();
            let (layerwise, coarse) = (path.layerwise_bound(1.0).unwrap(), path.coarse_bound(1.0).unwrap());
            assert!(layerwise <= coarse * (1.0 + 1e-14), "{layerwise} > {coarse} for {layers:?}");
            strictly_below += usize::from(layerwise < 0.99 * coarse);
        }
        assert!(strictly_below > 100);
    }

    #[test]
    fn without_new_information_only_the_bias_is_left() {
        let path = PooledPath::new(radius(), &[LayerPath { rounds: 10, log_det: -1e-15 }]).unwrap();
        assert_eq!(path.layerwise_bound(0.25), Ok(2.0));
        assert_eq!(path.coarse_bound(0.25), Ok(2.0));
    }

    #[test]
    fn impossible_inputs_are_refused() {
        assert!(PooledPath::new(radius(), &[LayerPath { rounds: 1, log_det: -0.1 }]).is_err());
        assert!(PooledPath::new(radius(), &[]).unwrap().layerwise_bound(-1.0).is_err());
        let params = RadiusParams { offline_radius: 1.0, noise: 1.0, delta_pool_min: 0.5 };
        assert!(PooledRadius::new(RadiusParams { delta_pool_min: 0.0, ..params }).is_err());
        assert!(PooledRadius::new(RadiusParams { noise: -1.0, ..params }).is_err());
        assert!(PooledRadius::new(RadiusParams { offline_radius: f64::NAN, ..params }).is_err());
    }
}
