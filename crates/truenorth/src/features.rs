//! What has been learned about each feature, for people.

use crate::dense::{self, Matrix, Vector};
use crate::error::Result;
use crate::given::Given;
use crate::policy::{Family, Policy};
use crate::posterior::Posterior;
use crate::settings::{Intervals, Method, Pooling, Prior};
use crate::statistic::{RidgeStatistic, merged};

/// One feature: what the logs know of it, how far live truth has moved, how much the logs still count.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FeatureView {
    /// Estimated live coefficient.
    pub estimate: f64,
    /// What the logs know: the number of rows of this feature alone, of its typical size in the logs, that would tell
    /// as much about its coefficient. At most the logs' rows, whatever the units. An audit has the same number, or more
    /// where features follow from each other: this one is of what tells a feature apart from all others.
    pub coverage: f64,
    /// Estimated difference of the live coefficient from the logged one; none before live data or without
    /// logs.
    pub drift: Option<f64>,
    /// Standard deviation of that estimate.
    pub stderr: Option<f64>,
    /// Reliance: how much the logs count here, from 0 to 1. It is not an audit's trust, the probability that nothing has moved: logs that
    /// moved by a tenth of a coefficient are certainly wrong, and still nearly all of what is known. With an adaptive posterior `1/(1 + g²)` on average, where the
    /// coefficient may have moved by g of its size, and 0 where it was drawn anew; with discounted pooling the share of
    /// the logs' own uncertainty in what they are taken to be uncertain by; otherwise 0 or 1.
    pub trust: f64,
}

/// What a precision of so many observations of size 1 is in rows of the size that a column has in the logs.
fn in_rows(known: f64, logs: &RidgeStatistic, column: usize) -> f64 {
    let rows = logs.count() as f64;
    let square = logs.squares(column) / rows;
    if square > 0.0 { (known / square).clamp(0.0, rows) } else { 0.0 }
}

impl Posterior {
    /// The same of a sparse policy.
    fn features(&self, given: &Given, live: bool) -> Result<Vec<FeatureView>> {
        let logged = given.logs().weight() > 0.0;
        let estimate = self.known.estimate();
        let coverage = self.belief.as_ref().map(|belief| belief.coverage(given.logs())).transpose()?;
        let view = |(j, estimate): (usize, f64)| {
            let belief = self.belief.as_ref().filter(|_| logged);
            let drift = belief.filter(|_| live).map(|belief| belief.drift(j));
            FeatureView {
                estimate,
                coverage: coverage.as_ref().map_or(0.0, |coverage| in_rows(coverage[j], given.logs(), j)),
                drift: drift.map(|drift| drift.0),
                stderr: drift.map(|drift| drift.1),
                trust: belief.map_or(0.0, |belief| belief.kept(j)),
            }
        };
        Ok(estimate.into_iter().enumerate().map(view).collect())
    }
}

impl Policy {
    /// What has been learned about each feature. O(d³).
    pub fn features(&self) -> Result<Vec<FeatureView>> {
        let (settings, offline, norm_bound) = (self.settings(), self.offline(), self.norm_bound());
        if let Family::Posterior(policy) = &self.family
            && settings.sparse
        {
            return policy.features(&self.given, self.counts.rewards > 0);
        }
        let layers = self.layers();
        let live = merged(layers.iter().map(|layer| layer.data))?;
        let logged = settings.logs.count() > 0;
        let covariance = offline.covariance();
        let known = (logged && live.count() > 0).then_some(());
        // θ̂_on - θ̂_off, with the ridge that an unknown coefficient deserves.
        let ridge = (self.noise() / norm_bound.max(1e-50)).powi(2).clamp(1e-45, 1e45);
        let factor = dense::cholesky("the live precision", &live.precision(ridge)?)?;
        let spread = dense::inverse_from_factor(&factor) + &covariance;
        let online = dense::solve_from_factor(&factor, &Vector::from_column_slice(live.moment()));
        // That of the branch that knows most, at the first layer.
        let known_best = layers[0].branches.iter().flatten().next();
        let estimate = known_best.map_or_else(|| online.as_slice().to_vec(), |branch| branch.estimate());
        let (believed, allowance) = (self.belief(), self.allowance());
        let uses_logs = !matches!(settings.method, Method::Posterior { prior: Prior::Ridge, .. })
            && settings.method.intervals() != Some(&Intervals::Online);
        let view = |j: usize| {
            let own = covariance[(j, j)];
            let gap = (online[j] - offline.estimate()[j], self.noise() * spread[(j, j)].sqrt());
            let (drift, stderr) = believed.map_or(gap, |belief| belief.drift(j));
            FeatureView {
                estimate: estimate[j],
                coverage: in_rows(own.recip() - offline.ridge()[j], &settings.logs, j),
                drift: known.map(|()| drift),
                stderr: known.map(|()| stderr),
                trust: match (believed, &allowance) {
                    _ if !logged => 0.0,
                    (Some(belief), _) => belief.kept(j),
                    (None, Some((beta, allowed))) => {
                        beta * beta * own / (beta * beta * own + allowed[(j, j)])
                    }
                    (None, None) => f64::from(u8::from(uses_logs)),
                },
            }
        };
        Ok((0..settings.dimension).map(view).collect())
    }

    /// β and ρ²M⁻¹ of discounted pooling: what the logs are taken to be uncertain by.
    fn allowance(&self) -> Option<(f64, Matrix)> {
        let method = &self.settings().method;
        let beta = match (method, method.intervals()) {
            (_, Some(Intervals::Pooled { pooling: Pooling::Discounted, .. })) => self.offline_radius(),
            (Method::Posterior { prior: Prior::Told, .. }, _) => self.noise(),
            _ => return None,
        };
        Some((beta, self.certificate()?.allowed()))
    }
}
