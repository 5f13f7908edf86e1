//! The paper's bounds for these logs and this certificate, before a round is played.

use truenorth::{Offline, RidgeStatistic};
use truenorth_paper::Forecast;
use truenorth_paper::theory::{FallbackParams, PooledRadius, layer_count};

use crate::view::{Bounds, CertificateView, Options};

/// Where the bounds come from.
pub const PAPER: &str = "Direction-Aware Offline-to-Online Learning in Linear Contextual Bandits";

/// None where the theory refuses: a horizon of 1, a matrix that is no certificate, numbers that overflow.
pub(crate) fn bounds(
    logs: &RidgeStatistic,
    certificate: &CertificateView,
    scale: f64,
    noise: f64,
    norm: f64,
    options: &Options,
) -> Option<Bounds> {
    let &Options { horizon, actions, level, .. } = options;
    let offline = Offline::new(logs, 1.0).ok()?;
    // ‖Δ‖ in M_raw = ‖Δ / scale‖ in M_raw scale²: the same ρ for scaled features.
    let matrix: Vec<f64> = certificate.matrix.iter().flatten().map(|entry| entry * scale * scale).collect();
    // S = 2 ‖θ̂‖ and thirds of δ, as a policy has them.
    let radius = PooledRadius {
        offline_radius: offline.radius(noise, 2.0 * norm, level / 3.0),
        noise,
        delta_pool_min: level / (3.0 * horizon as f64 * f64::from(layer_count(horizon))),
    };
    let dimension = logs.dimension();
    // The constant is that of a rate which is not shown.
    let fallback = FallbackParams { horizon, actions, dimension, delta_online: level / 3.0, constant: 1.0 };
    let told = (matrix.as_slice(), certificate.rho);
    let forecast = Forecast::new(offline.precision(), told, radius, (1.0, 2.0 * norm), fallback).ok()?;
    let Forecast { spectral_bound: with_logs, online_bound: without_logs, .. } = forecast;
    let finite = with_logs.is_finite() && without_logs.is_finite();
    finite.then_some(Bounds { horizon, actions, with_logs, without_logs, logs_pay: forecast.logs_pay() })
}
