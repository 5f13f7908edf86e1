//! Regret of the pooled branch before a single round is played (Theorem 2,
//! thm:spectral-pooled-envelope).
//!
//! ```text
//! Λ̃_T ≤ L_max Φ_G(T / L_max)                                L_max = ⌈log₂ T⌉ + 1
//! R_T ≤ 8 (Γ_spec + ρ √c_align) √(2 T L_max Φ_G(T / L_max))
//! Γ_spec = β_off + σ √(Φ_G(T) + 2 log(1/δ))
//! ```
//!
//! The layers share T rounds, and `Φ_G` is concave, so equal shares are the worst case.

use super::alignment::AlignedBias;
use super::pooled::PooledRadius;
use super::water::Spectrum;
use crate::check;
use crate::error::Result;

/// Theorem 2's bound with its parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpectralBound {
    /// `Γ_spec`, at least `Γ_pool` of every trajectory.
    pub prefactor: f64,
    /// `L_max Φ_G(T / L_max)`, at least `Λ̃_T` of every trajectory.
    pub envelope: f64,
    /// The bound on the pooled branch's regret.
    pub regret: f64,
}

/// `L_max`: how many layers `SupLinUCB` has for a horizon of at least 1.
pub fn layer_count(horizon: u64) -> u32 {
    // ⌈log₂ T⌉ in whole numbers: `log2` of a rounded T can miss the next power of two.
    if horizon <= 1 { 1 } else { (horizon - 1).ilog2() + 2 }
}

/// `L_max Φ_G(T / L_max)`: no trajectory over `horizon` rounds learns more than this.
pub fn spectral_envelope(spectrum: &Spectrum, horizon: u64) -> Result<f64> {
    check::at_least("horizon", "at least 1", 1, horizon)?;
    let layers = f64::from(layer_count(horizon));
    Ok(layers * spectrum.water_filling(horizon as f64 / layers)?.value)
}

/// Theorem 2's bound for the spectrum of the offline precision.
pub fn spectral_bound(
    spectrum: &Spectrum,
    radius: &PooledRadius,
    bias: &AlignedBias,
    horizon: u64,
) -> Result<SpectralBound> {
    let envelope = spectral_envelope(spectrum, horizon)?;
    let t = horizon as f64;
    let prefactor = radius.at(spectrum.water_filling(t)?.value);
    // Theorem 2, its display.
    let regret = 8.0 * (prefactor + bias.scale()) * (2.0 * t * envelope).sqrt();
    Ok(SpectralBound { prefactor, envelope, regret })
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{Numbers, Trajectory};
    use super::super::pooled::{PooledPath, RadiusParams};
    use super::super::regime::aligned_bound;
    use super::*;

    fn radius(noise: f64) -> PooledRadius {
        // 2 log(1/δ) = 8.
        let params = RadiusParams { offline_radius: 1.0, noise, delta_pool_min: (-4f64).exp() };
        PooledRadius::new(params).unwrap()
    }

    #[test]
    fn layers_are_counted_exactly_around_powers_of_two() {
        let counts = [(1, 1), (2, 2), (3, 3), (4, 3), (5, 4), (1024, 11), (1025, 12), ((1 << 53) + 1, 55)];
        for (horizon, layers) in counts {
            assert_eq!(layer_count(horizon), layers, "horizon {horizon}");
        }
    }

    #[test]
    fn one_direction_by_hand() {
        // T = 4, L_max = 3, g = 2: envelope 3 log(1 + (4/3)/2) = 3 log(5/3); Φ(4) = log 3.
        let spectrum = Spectrum::new(vec![2.0]).unwrap();
        let bias = AlignedBias::new(0.5, 4.0).unwrap();
        let bound = spectral_bound(&spectrum, &radius(3.0), &bias, 4).unwrap();
        let envelope = 3.0 * (5.0f64 / 3.0).ln();
        let prefactor = 1.0 + 3.0 * (3f64.ln() + 8.0).sqrt();
        assert!((bound.envelope - envelope).abs() < 1e-14);
        assert!((bound.prefactor - prefactor).abs() < 1e-13);
        // ρ √c = 0.5 · 2.
        let regret = 8.0 * (prefactor + 1.0) * (8.0 * envelope).sqrt();
        assert!((bound.regret - regret).abs() < 1e-11);
    }

    #[test]
    fn every_played_trajectory_stays_below_the_envelope() {
        let mut numbers = Numbers::seeded(3);
        for samples in [0, 3, 30] {
            let offline = numbers.precision(3, samples);
            let spectrum = Spectrum::of(&offline).unwrap();
            let layers = usize::try_from(layer_count(40)).unwrap();
            let unbiased = |seen: &nalgebra::DMatrix<f64>| seen * 0.0;
            let played = Trajectory::play(&mut numbers, &offline, layers, &[40], unbiased);
            for layer in &played.layers {
                let most = spectrum.water_filling(layer.rounds as f64).unwrap().value;
                assert!(layer.log_det <= most + 1e-12);
            }
            let path = PooledPath::new(radius(0.3), &played.layers).unwrap();
            let bias = AlignedBias::new(0.2, 7.0).unwrap();
            let bound = spectral_bound(&spectrum, &radius(0.3), &bias, 40).unwrap();
            assert!(path.total_log_det() <= bound.envelope);
            assert!(path.total_log_det() > 0.3 * bound.envelope, "the envelope is far from reach");
            assert!(path.prefactor() <= bound.prefactor);
            assert!(aligned_bound(&path, &bias) <= bound.regret);
        }
    }

    #[test]
    fn more_logs_never_raise_the_envelope() {
        let envelope =
            |weakest| spectral_envelope(&Spectrum::new(vec![weakest, 5.0, 9.0]).unwrap(), 1000).unwrap();
        assert!(envelope(1.0) > envelope(2.0) && envelope(2.0) > envelope(400.0));
        assert!(spectral_envelope(&Spectrum::new(vec![1.0]).unwrap(), 0).is_err());
    }
}
