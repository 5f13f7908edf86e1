//! What has been learned about each feature, for people.

use serde::Serialize;

use crate::dense::{self, Matrix};
use crate::drift::merged;
use crate::error::Result;
use crate::params::{Branches, Pooling, Width};
use crate::policy::Policy;
use crate::precision::Precision;

/// One feature: what the logs know of it, how far live truth has moved, how much the logs still count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FeatureView {
    /// Estimated live coefficient.
    pub estimate: f64,
    /// What the logs know: the number of observations of this feature alone (of size 1) that would tell as
    /// much about its coefficient.
    pub coverage: f64,
    /// Estimated difference of the live coefficient from the logged one; none before live data or without
    /// logs.
    pub drift: Option<f64>,
    /// Standard deviation of that estimate.
    pub stderr: Option<f64>,
    /// How much the logs count here, from 0 to 1: with an adaptive posterior the probability that the logged
    /// coefficient is as good as ever, with discounted pooling the share of the logs' own uncertainty in what
    /// they are taken to be uncertain by, otherwise 0 or 1.
    pub trust: f64,
}

impl Policy {
    /// What has been learned about each feature. O(d³).
    pub fn features(&self) -> Result<Vec<FeatureView>> {
        let dimension = self.params.dimension;
        let live = merged(dimension, self.layers.iter().map(|layer| &layer.data))?;
        let logged = self.params.offline.count() > 0;
        let covariance = self.offline.covariance();
        let known = (logged && live.count() > 0).then_some(());
        // θ̂_on - θ̂_off, with the ridge that an unknown coefficient deserves.
        let ridge = (self.noise() / self.norm_bound.max(1e-50)).powi(2).clamp(1e-45, 1e45);
        let factor = dense::cholesky("the live precision", &live.precision(ridge)?)?;
        let spread = dense::inverse_from_factor(&factor) + &covariance;
        let online = live.estimate(ridge)?;
        let estimate =
            self.layers.first().and_then(|layer| layer.informed.as_ref().or(layer.online.as_ref()));
        let estimate = estimate.map_or_else(|| online.as_slice().to_vec(), Precision::estimate);
        let discount = self.discount();
        Ok((0..dimension)
            .map(|j| {
                let gap = online[j] - self.offline.estimate()[j];
                let (drift, stderr) = match &self.trust {
                    Some(trust) => trust.drift(j),
                    None => (gap, self.noise * spread[(j, j)].sqrt()),
                };
                let own = covariance[(j, j)];
                FeatureView {
                    estimate: estimate[j],
                    coverage: (own.recip() - self.offline.ridge()).max(0.0),
                    drift: known.map(|()| drift),
                    stderr: known.map(|()| stderr),
                    trust: match (&self.trust, &discount) {
                        _ if !logged => 0.0,
                        (Some(trust), _) => trust.kept(j),
                        (None, Some((beta, allowed))) => {
                            beta * beta * own / (beta * beta * own + allowed[(j, j)])
                        }
                        (None, None) => f64::from(u8::from(self.params.branches != Branches::Online)),
                    },
                }
            })
            .collect())
    }

    /// β and ρ²M⁻¹ of discounted pooling.
    fn discount(&self) -> Option<(f64, Matrix)> {
        let discounted = self.params.has_pooled() && self.params.pooling == Pooling::Discounted;
        let certificate = self.certificate.as_ref().filter(|_| discounted)?;
        let beta = if self.params.width == Width::Posterior { self.noise } else { self.offline_radius };
        Some((beta, certificate.inverse() * certificate.radius().powi(2)))
    }
}
