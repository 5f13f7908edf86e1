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

use truenorth::Result;

use super::pooled::PooledRadius;
use super::water::Spectrum;
use crate::check;

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
    let t = check::at_least_one("horizon", horizon)?;
    let layers = f64::from(layer_count(horizon));
    Ok(layers * spectrum.water_filling(t / layers)?.value)
}

/// Theorem 2's bound for the spectrum of the offline precision.
pub fn spectral_bound(
    spectrum: &Spectrum,
    radius: &PooledRadius,
    bias_scale: f64,
    horizon: u64,
) -> Result<SpectralBound> {
    radius.check()?;
    let envelope = spectral_envelope(spectrum, horizon)?;
    let t = horizon as f64;
    let prefactor = radius.at(spectrum.water_filling(t)?.value);
    // Theorem 2, its display.
    let regret = 8.0 * (prefactor + bias_scale) * (2.0 * t * envelope).sqrt();
    Ok(SpectralBound { prefactor, envelope, regret })
}
