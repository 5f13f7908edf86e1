//! How the logs enter: the informed branch of every layer, made from the logs and a certificate.

use crate::adaptive::adaptive_certificate;
use crate::certificate::Certificate;
use crate::dense::{self, Matrix};
use crate::drift::merged;
use crate::error::{Error, Result};
use crate::learned::{LearningRule, learn_certificate};
use crate::params::{Branches, CertificateRule, Params, Pooling, Width};
use crate::policy::Policy;
use crate::precision::Precision;
use crate::theory::{LearnedEpoch, learned_alignment};

impl Policy {
    /// Learns the certificate anew if an epoch starts with this round, or if enough live data has come.
    pub(crate) fn start_epoch(&mut self, round: u64) -> Result<()> {
        if self.trust.is_some() || self.params.is_adaptive() {
            return self.adapt(round);
        }
        let (CertificateRule::Learned(epochs), true) = (&self.params.certificate, self.params.has_pooled())
        else {
            return Ok(());
        };
        let horizon = self.params.needed_horizon("by the learned certificate")?;
        if !epochs.starts(round, horizon) {
            return Ok(());
        }
        let count = epochs.count(horizon);
        match self.learn_epoch(round, count) {
            // Features of wildly different sizes can make the live precision singular by rounding. The
            // certificate in force was learned to hold for good (Theorem 6), so it stays.
            Err(Error::NotPositiveDefinite { .. }) if self.certificate.is_some() => Ok(()),
            learned => learned,
        }
    }

    fn adapt(&mut self, round: u64) -> Result<()> {
        let rewards = self.counts.rewards;
        let due = self.trust.as_ref().map_or(rewards >= self.due, |trust| trust.is_due(rewards));
        if !due {
            return Ok(());
        }
        self.due = rewards + (rewards / 4).max(1);
        let adapted = if self.trust.is_some() { self.adapt_belief(round) } else { self.adapt_certificate() };
        match adapted {
            // As above: what was believed before stays in force, and follows each reward.
            Err(Error::NotPositiveDefinite { .. }) if round > 1 => Ok(()),
            adapted => adapted,
        }
    }

    fn adapt_belief(&mut self, round: u64) -> Result<()> {
        let Some(trust) = &mut self.trust else { return Ok(()) };
        let layer = &mut self.layers[0];
        let belief = trust.fit(&self.params.offline, &self.offline, &layer.data, round)?;
        let precision = Precision::from_belief(&belief.mean, &belief.covariance, trust.noise().powi(2))?;
        if self.params.has_pooled() {
            layer.informed = Some(precision);
        } else {
            layer.online = Some(precision);
        }
        Ok(())
    }

    fn adapt_certificate(&mut self) -> Result<()> {
        let live = &self.layers[0].data;
        let certificate = adaptive_certificate(&self.offline, live, self.noise, self.norm_bound)?;
        self.set_certificate(Some(certificate))?;
        let layer = &mut self.layers[0];
        if layer.reference.is_none() {
            layer.reference.clone_from(&layer.informed);
        }
        Ok(())
    }

    fn learn_epoch(&mut self, round: u64, epochs: u64) -> Result<()> {
        let Params { ridge, delta, .. } = self.params;
        let (noise, norm_bound) = (self.noise, self.norm_bound);
        let live = merged(self.params.dimension, self.layers.iter().map(|layer| &layer.data))?;
        let rule = LearningRule { noise, norm_bound, ridge, delta, epochs };
        let certificate = learn_certificate(&self.offline, &live, round, &rule)?;
        let alignment = learned_alignment(self.offline.precision(), &live.precision(ridge)?)?;
        let radius = certificate.radius();
        self.set_certificate(Some(certificate))?;
        self.epochs.push(LearnedEpoch { rounds: 0, radius, alignment, routed: 0.0 });
        Ok(())
    }

    /// Puts a certificate in force: makes the informed branch of every layer anew.
    pub(crate) fn set_certificate(&mut self, certificate: Option<Certificate>) -> Result<()> {
        if !matches!(self.params.branches, Branches::Online | Branches::Arms) {
            let informed = self.informed_branches(certificate.as_ref())?;
            for (layer, informed) in self.layers.iter_mut().zip(informed) {
                layer.informed = Some(informed);
            }
        }
        self.certificate = certificate;
        Ok(())
    }

    fn informed_branches(&self, certificate: Option<&Certificate>) -> Result<Vec<Precision>> {
        let discounted = self.params.has_pooled() && self.params.pooling == Pooling::Discounted;
        let weight = match certificate {
            Some(certificate) if discounted => self.discounted_weight(certificate)?,
            _ => self.offline.precision().clone(),
        };
        let posterior = self.params.width == Width::Posterior;
        // ψ = ‖N W V⁻¹x‖ with NᵀN = M⁻¹ (equation 5), and the same with G_off for the logs' own error.
        let mut maps: Vec<Matrix> = Vec::with_capacity(2);
        if let Some(certificate) = certificate
            && self.params.branches != Branches::Warm
            && !posterior
        {
            maps.push(certificate.root() * &weight);
        }
        if discounted && !posterior {
            maps.push(self.offline.covariance_root() * &weight);
        }
        let branches = self.layers.iter().map(|layer| match &layer.informed {
            // The weight is the same as ever: the rank-one state stays, only its maps change.
            Some(informed) if !discounted => Ok(informed.with_maps(&maps)),
            _ => Precision::assemble(&weight, self.offline.estimate(), &layer.data, &maps),
        });
        branches.collect()
    }

    /// W = σ² (β_off² G_off⁻¹ + ρ² M⁻¹)⁻¹: each direction weighs what is known about it, so that the
    /// offline error and the bias together are at most √2 σ ‖x‖ in V⁻¹, however large ρ is.
    ///
    /// With a learned certificate W changes with the epoch, and the martingale part of the radius is
    /// computed with the current one, as if it had been fixed before play.
    ///
    /// Width `posterior` has σ in place of β_off: the precision of N(θ_off, σ² G_off⁻¹ + ρ² M⁻¹).
    fn discounted_weight(&self, certificate: &Certificate) -> Result<Matrix> {
        let posterior = self.params.width == Width::Posterior;
        let (beta, rho) = (if posterior { self.noise } else { self.offline_radius }, certificate.radius());
        let spread = self.offline.covariance() * (beta * beta) + certificate.inverse() * (rho * rho);
        let factor = dense::cholesky("the covariance of drift and logs", &spread)?;
        Ok(dense::inverse_from_factor(&factor) * self.noise.powi(2))
    }
}
