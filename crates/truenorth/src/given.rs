//! What is known before the first round: the settings, the numbers that they leave to the logs, the logs' regression.

use crate::belief::{Belief, Evidence, Told};
use crate::error::Result;
use crate::offline::Offline;
use crate::settings::{Method, Prior, Settings};

/// Fixed once a policy is made; a function of its settings alone.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) settings: Settings,
    /// σ, as told or estimated from the logs.
    pub(crate) noise: f64,
    /// S, as told or estimated from the logs.
    pub(crate) norm_bound: f64,
    pub(crate) offline: Offline,
    /// β_off(δ/3).
    pub(crate) offline_radius: f64,
    /// δ_{t,l} of either branch.
    pub(crate) layer_delta: f64,
}

impl Given {
    /// With the state of a posterior that learns before it has learned anything, where the method has one.
    pub(crate) fn new(settings: Settings) -> Result<(Self, Option<Belief>)> {
        settings.check()?;
        let (logs, dimension) = (&settings.logs, settings.dimension);
        let known = logs.count() > 0;
        let estimated = settings.noise.is_none() || settings.norm_bound.is_none();
        let found =
            if known && estimated { Evidence::of(logs) } else { Evidence { variance: 1.0, scale: 1.0 } };
        let noise = settings.noise.unwrap_or(found.variance.sqrt());
        let norm_bound = match settings.norm_bound {
            Some(bound) => bound,
            None if known => {
                let estimate = logs.estimate((found.variance / found.scale).clamp(1e-45, 1e45))?;
                let length = estimate.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
                if length > 1e-50 { 2.0 * length } else { 1.0 }
            }
            None => 1.0,
        };
        // A length S means S²/d for the square of each of d coefficients.
        let scale = settings.norm_bound.map_or(found.scale, |bound| bound * bound / dimension as f64);
        let evidence = Evidence { variance: noise * noise, scale };
        let told = Told { noise: settings.noise.is_some(), norm_bound: settings.norm_bound.is_some() };
        let learns = match settings.method {
            Method::Posterior { prior: Prior::Adaptive, .. } => true,
            // Live data alone has to tell the noise where nobody else does.
            Method::Posterior { prior: Prior::Ridge, .. } => !known && !told.noise,
            _ => false,
        };
        let belief = learns.then(|| Belief::new(dimension, evidence, told, logs));
        let ridge = match (&settings.method, &belief) {
            (_, Some(belief)) => belief.ridge(),
            (Method::Posterior { .. }, None) => (noise / norm_bound).powi(2).clamp(1e-45, 1e45),
            _ => settings.ridge,
        };
        let offline = Offline::new(logs, ridge)?;
        let given = Self {
            offline_radius: offline.radius(noise, norm_bound, settings.delta / 3.0),
            layer_delta: settings.layer_delta()?,
            noise,
            norm_bound,
            offline,
            settings,
        };
        Ok((given, belief))
    }
}
