//! The theorems for a policy before it plays.

use serde::Serialize;
use truenorth::{Certificate, Drift, Intervals, Method, Policy, Pooling, Result};

use crate::theory::{
    FallbackParams, OnlineFallback, PooledRadius, Spectrum, alignment, bias_scale, spectral_bound,
};

/// What the theorems say about one policy before it plays.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Forecast {
    /// c_align of logs and certificate.
    pub alignment: f64,
    /// ρ √c_align.
    pub bias_scale: f64,
    /// β_off.
    pub offline_radius: f64,
    /// L_max Φ(T / L_max): the most that any run can learn beyond the logs.
    pub spectral_envelope: f64,
    /// Theorem 2.
    pub spectral_bound: f64,
    /// The same for live data alone, which is what it has to beat: Theorem 2 with λI for logs and without bias
    /// (Corollary 4). Unlike the fallback, it has no constant that the paper leaves open.
    pub online_bound: f64,
    /// C_SL √(T d L_T³): a rate, and no bound unless C_SL is known.
    pub online_fallback: f64,
}

impl Forecast {
    /// From the offline precision and the certificate's matrix, both row by row, and the certificate's radius ρ.
    /// Live data alone starts from the ridge λ and the norm bound S.
    pub fn new(
        offline_precision: &[f64],
        (certificate, rho): (&[f64], f64),
        radius: PooledRadius,
        (ridge, norm_bound): (f64, f64),
        fallback: FallbackParams,
    ) -> Result<Self> {
        let alignment = alignment(offline_precision, certificate)?;
        let bias_scale = bias_scale(rho, alignment)?;
        let spectrum = Spectrum::of(offline_precision)?;
        let spectral = spectral_bound(&spectrum, &radius, bias_scale, fallback.horizon)?;
        let d = fallback.dimension;
        let nothing: Vec<f64> = (0..d * d).map(|at| if at / d == at % d { ridge } else { 0.0 }).collect();
        let alone = PooledRadius { offline_radius: ridge.sqrt() * norm_bound, ..radius };
        let online = spectral_bound(&Spectrum::of(&nothing)?, &alone, 0.0, fallback.horizon)?;
        Ok(Self {
            alignment,
            bias_scale,
            offline_radius: radius.offline_radius,
            spectral_envelope: spectral.envelope,
            spectral_bound: spectral.regret,
            online_bound: online.regret,
            online_fallback: OnlineFallback::new(fallback)?.bound(),
        })
    }

    /// Corollary 1 at its worst, both sides explicit: whether the logs' bound is at most that of live data alone.
    pub fn logs_pay(&self) -> bool {
        self.spectral_bound <= self.online_bound
    }

    /// For policies that are told a certificate; a learned one is not known before play. `constant` is C_SL.
    pub fn of(policy: &Policy, actions: usize, constant: f64) -> Result<Option<Self>> {
        let Some(certificate) = told_certificate(policy) else { return Ok(None) };
        let fallback = FallbackParams {
            horizon: policy.horizon().unwrap_or(1),
            actions,
            dimension: policy.dimension(),
            delta_online: policy.delta() / 3.0,
            constant,
        };
        let told = (certificate.matrix(), certificate.rho());
        let online = (policy.ridge(), policy.norm_bound());
        Self::new(policy.offline().precision(), told, radius(policy), online, fallback).map(Some)
    }
}

/// Whether the paper bounds this policy's regret: layered, and either online alone or pooled in
/// full, with intervals as wide as they should be.
pub fn is_bounded(policy: &Policy) -> bool {
    bounded(policy).is_some()
}

fn bounded(policy: &Policy) -> Option<&Intervals> {
    let Method::Layered(intervals) = policy.method() else { return None };
    let wide = policy.exploration_scale() >= 1.0;
    let spoken_of = matches!(intervals, Intervals::Online | Intervals::Pooled { pooling: Pooling::Full, .. });
    (wide && spoken_of).then_some(intervals)
}

/// The certificate of a bounded policy that pools, where it is known before play.
pub(crate) fn told_certificate(policy: &Policy) -> Option<&Certificate> {
    let told = matches!(bounded(policy)?, Intervals::Pooled { drift: Drift::Told, .. });
    policy.certificate().filter(|_| told)
}

/// Whether the certificate changes with the epochs of the run.
pub(crate) fn is_learned(policy: &Policy) -> bool {
    let (Method::Layered(intervals) | Method::Flat(intervals)) = policy.method() else {
        return false;
    };
    matches!(intervals, Intervals::Pooled { drift: Drift::Learned(_), .. })
}

/// The radius of a bounded policy's pooled branch. An online branch alone is the pooled one with λI for logs
/// (Corollary 4).
pub(crate) fn radius(policy: &Policy) -> PooledRadius {
    let offline_radius = match bounded(policy) {
        Some(Intervals::Online) => policy.ridge().sqrt() * policy.norm_bound(),
        _ => policy.offline_radius(),
    };
    PooledRadius { offline_radius, noise: policy.noise(), delta_pool_min: policy.layer_delta() }
}
