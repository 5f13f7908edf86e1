//! The paper's bounds for these logs and this certificate, before a round is played.

use truenorth::theory::{
    AlignedBias, FallbackParams, OnlineFallback, PooledRadius, RadiusParams, Spectrum, layer_count,
    spectral_bound,
};
use truenorth::{Matrix, Offline, RidgeStatistic};

use crate::view::{Bounds, CertificateView, Options};

/// None where the theory refuses: a horizon of 1, a matrix that is no certificate, numbers that overflow.
pub(crate) fn bounds(
    logs: &RidgeStatistic,
    certificate: &CertificateView,
    scale: f64,
    noise: f64,
    norm: f64,
    options: &Options,
) -> Option<Bounds> {
    let &Options { horizon, actions, constant, level, .. } = options;
    let dimension = logs.dimension();
    let offline = Offline::new(logs, 1.0).ok()?;
    // ‖Δ‖ in M_raw = ‖Δ / scale‖ in M_raw scale²: the same ρ for scaled features.
    let matrix = Matrix::from_fn(dimension, dimension, |i, j| certificate.matrix[i][j] * scale * scale);
    let bias = AlignedBias::of(offline.precision(), &matrix, certificate.rho).ok()?;
    // S = 2 ‖θ̂‖ and thirds of δ, as a policy has them.
    let radius = PooledRadius::new(RadiusParams {
        offline_radius: offline.radius(noise, 2.0 * norm, level / 3.0),
        noise,
        delta_pool_min: level / (3.0 * horizon as f64 * f64::from(layer_count(horizon))),
    });
    let spectrum = Spectrum::of(offline.precision()).ok()?;
    let with_logs = spectral_bound(&spectrum, &radius.ok()?, &bias, horizon).ok()?.regret;
    let params = FallbackParams { horizon, actions, dimension, delta_online: level / 3.0, constant };
    let without_logs = OnlineFallback::new(params).ok()?.bound();
    // Corollary 1 with Λ̃_T and Γ_pool at the most they can be, which is Theorem 2 against the fallback.
    let logs_pay = with_logs <= without_logs;
    let finite = with_logs.is_finite() && without_logs.is_finite();
    finite.then_some(Bounds { horizon, actions, with_logs, without_logs, logs_pay })
}
