//! A run as the theorems see it: what they ask of a policy is added up while it plays.

use truenorth::{Certificate, Offline, Policy, RidgeStatistic, check};
use truenorth_sim::{Observer, Result, Step};

use crate::forecast::{is_bounded, is_learned, radius, told_certificate};
use crate::theory::{
    LayerPath, LearnedEpoch, LearnedEpochs, PooledPath, alignment, bias_scale, learned_alignment,
};

/// Sees the bias that enters the intervals of the actions played, and the epochs of a learned certificate.
#[derive(Debug, Clone, Default)]
pub struct PathObserver {
    /// Σ ρψ so far.
    pub routed_bias: f64,
    /// The epochs of a learned certificate so far, the last one unfinished.
    pub epochs: Vec<LearnedEpoch>,
    /// The certificate of the last epoch.
    certificate: Option<Certificate>,
}

/// One run of one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayedRun {
    /// What its layers have seen.
    pub path: PooledPath,
    /// Σ ρψ over the actions played: how much the certificate widened their intervals (Theorem 1; with a learned
    /// certificate Theorem 4's).
    pub routed_bias: f64,
    /// The epochs of a learned certificate.
    pub epochs: LearnedEpochs,
    /// ρ √c_align of these logs with a certificate that was told; Corollary 1 does not speak of a learned one.
    pub bias_scale: Option<f64>,
}

impl PathObserver {
    /// An epoch starts with the round that is decided by another certificate.
    fn start_epoch(&mut self, policy: &Policy) -> Result<()> {
        let learned = policy.certificate().filter(|_| is_learned(policy));
        let Some(certificate) = learned.filter(|&learned| self.certificate.as_ref() != Some(learned)) else {
            return Ok(());
        };
        let mut live = RidgeStatistic::new(policy.dimension())?;
        policy.layers().iter().try_for_each(|layer| live.merge(layer.data))?;
        let online = Offline::new(&live, policy.ridge())?;
        let alignment = learned_alignment(policy.offline().precision(), online.precision())?;
        self.epochs.push(LearnedEpoch { rounds: 0, radius: certificate.rho(), alignment, routed: 0.0 });
        self.certificate = Some(certificate.clone());
        Ok(())
    }
}

impl Observer for PathObserver {
    type Seen = PlayedRun;

    fn record(&mut self, step: &Step<'_>) -> Result<()> {
        self.start_epoch(step.policy)?;
        if let Some(epoch) = self.epochs.last_mut() {
            epoch.rounds += 1;
        }
        if step.choice.bias > 0.0 {
            // ρψ as the theorems have it, without the factor that a user may put on it.
            let bias = step.choice.bias / step.policy.exploration_scale();
            self.routed_bias += bias;
            if let Some(epoch) = self.epochs.last_mut() {
                epoch.routed += bias / epoch.radius;
            }
        }
        Ok(())
    }

    fn finish(self, policy: &Policy) -> Result<PlayedRun> {
        let scale = |told: &Certificate| {
            bias_scale(told.rho(), alignment(policy.offline().precision(), told.matrix())?)
        };
        Ok(PlayedRun {
            path: path(policy)?,
            routed_bias: self.routed_bias,
            epochs: LearnedEpochs::new(&self.epochs)?,
            bias_scale: told_certificate(policy).map(scale).transpose()?,
        })
    }
}

/// The trajectory of a policy so far, as [`guarantee`](crate::theory::guarantee) wants it; an error for policies that
/// the theorems do not speak of.
pub fn path(policy: &Policy) -> truenorth::Result<PooledPath> {
    if !is_bounded(policy) {
        return Err(check::incompatible("a regret bound", "a policy that is not layered with full pooling"));
    }
    let layers: Vec<_> = policy
        .layers()
        .iter()
        .map(|layer| LayerPath { rounds: layer.plays, log_det: layer.log_det_growth })
        .collect();
    PooledPath::new(radius(policy), &layers)
}
