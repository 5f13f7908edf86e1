//! The numbers of a policy: as told, or as estimated from the logs.

use crate::error::Result;
use crate::evidence::Evidence;
use crate::params::{Branches, Params, Width};
use crate::trust::{Told, Trust};

/// The numbers of a policy, as told or estimated.
pub(crate) struct Numbers {
    /// σ.
    pub(crate) noise: f64,
    /// S.
    pub(crate) norm_bound: f64,
    /// λ.
    pub(crate) ridge: f64,
    /// The adaptive posterior before play, where there is one.
    pub(crate) trust: Option<Trust>,
}

impl Numbers {
    pub(crate) fn of(params: &Params) -> Result<Self> {
        let (logs, dimension) = (&params.offline, params.dimension);
        let known = logs.count() > 0;
        let estimated = params.noise.is_none() || params.norm_bound.is_none();
        let found =
            if known && estimated { Evidence::of(logs) } else { Evidence { variance: 1.0, scale: 1.0 } };
        let noise = params.noise.unwrap_or(found.variance.sqrt());
        let norm_bound = match params.norm_bound {
            Some(bound) => bound,
            None if known => {
                let length = logs.estimate((found.variance / found.scale).clamp(1e-45, 1e45))?.norm();
                if length > 1e-50 { 2.0 * length } else { 1.0 }
            }
            None => 1.0,
        };
        if params.width == Width::Confidence {
            return Ok(Self { noise, norm_bound, ridge: params.ridge, trust: None });
        }
        // A length S means S²/d for the square of each of d coefficients.
        let scale = params.norm_bound.map_or(found.scale, |bound| bound * bound / dimension as f64);
        let evidence = Evidence { variance: noise * noise, scale };
        let told = Told { noise: params.noise.is_some(), norm_bound: params.norm_bound.is_some() };
        // Live data alone has to tell the noise where nobody else does.
        let alone = params.branches == Branches::Online && !known && !told.noise;
        let trust = (params.is_adaptive() || alone).then(|| Trust::new(dimension, evidence, told, logs));
        let ridge = match &trust {
            Some(trust) => trust.ridge(),
            None => (noise / norm_bound).powi(2),
        };
        Ok(Self { noise, norm_bound, ridge: ridge.clamp(1e-45, 1e45), trust })
    }
}
