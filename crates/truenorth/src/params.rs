//! The switches and numbers of a policy, checked once, when the policy is made.

use serde::{Deserialize, Serialize};

use crate::certificate::Certificate;
use crate::check;
use crate::error::{Error, Result};
use crate::learned::Epochs;
use crate::statistic::RidgeStatistic;

/// One layer, or the elimination layers of SupLinUCB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layering {
    /// Layers 0 to ⌈log2 horizon⌉; a layer plays when an interval is wider than 2^-layer.
    Layered,
    /// One layer; the largest UCB over all actions is played.
    Flat,
}

/// Which confidence intervals a decision rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Branches {
    /// Live data alone.
    Online,
    /// The smaller of the online and the pooled UCB, the larger of the LCBs.
    Both,
    /// Logs and live data pooled, without the online fallback.
    Pooled,
    /// Logs treated as if they were live: no bias term. The baseline that trusts blindly.
    Warm,
    /// The offline estimate for ever. Flat; plays the largest mean.
    Offline,
}

/// How much of the offline precision the pooled branch takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// `W = G_off`, the paper's.
    Full,
    /// `W = σ² (β_off² G_off⁻¹ + ρ² M⁻¹)⁻¹`: each direction in proportion to what is known of it.
    Discounted,
}

/// Where the bias certificate comes from. Policies without a pooled branch ignore it, but for
/// [`Branches::Offline`], which shows a fixed one in its intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum CertificateRule {
    /// None is needed.
    None,
    /// Known before the first round.
    Fixed(Certificate),
    /// Learned from the logs and the live data at the start of each epoch.
    Learned(Epochs),
}

/// How the failure probability is divided among rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// The paper's: δ / (3 · horizon · layers) for each round and layer.
    PerRound,
    /// δ / (3 · layers) for each layer and all its rounds: the self-normalised bound holds
    /// uniformly in time. Needs no horizon when flat.
    Anytime,
}

/// Everything a policy is made from.
///
/// | field | default | purpose | range |
/// |---|---|---|---|
/// | `dimension` | given | features of an action | at least 1 |
/// | `horizon` | none | rounds to come; layered policies, per-round schedules and learned certificates need it | at least 1 |
/// | `noise` | 1 | σ, sub-Gaussian scale of a reward's noise | ≥ 0; > 0 with discounted pooling |
/// | `norm_bound` | 1 | S, bound on the length of the live and the logged parameter | ≥ 0 |
/// | `ridge` | 1 | λ | > 0 |
/// | `delta` | 0.01 | probability that any interval ever fails | in (0, 1) |
/// | `schedule` | by layering | see [`Schedule`]; anytime when flat, per round when layered | |
/// | `layering`, `branches`, `pooling`, `certificate` | by preset | the four switches | |
/// | `exploration_scale` | 1 | multiplies every radius; below 1 the guarantee is gone | > 0 |
/// | `offline` | no logs | the logs' statistic | same dimension |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table above documents the fields")]
pub struct Params {
    pub dimension: usize,
    pub horizon: Option<u64>,
    pub noise: f64,
    pub norm_bound: f64,
    pub ridge: f64,
    pub delta: f64,
    pub schedule: Option<Schedule>,
    pub layering: Layering,
    pub branches: Branches,
    pub pooling: Pooling,
    pub certificate: CertificateRule,
    pub exploration_scale: f64,
    pub offline: RidgeStatistic,
}

impl Params {
    /// The given schedule, or the layering's own.
    pub(crate) fn schedule(&self) -> Schedule {
        self.schedule.unwrap_or(match self.layering {
            Layering::Flat => Schedule::Anytime,
            Layering::Layered => Schedule::PerRound,
        })
    }

    /// L, the index of the last layer: ⌈log2 horizon⌉.
    pub(crate) fn last_layer(&self) -> Result<u32> {
        match self.layering {
            Layering::Flat => Ok(0),
            Layering::Layered => match self.needed_horizon("by layered policies")? {
                1 => Ok(0),
                horizon => Ok((horizon - 1).ilog2() + 1),
            },
        }
    }

    /// δ_{t,l}: the failure probability of one branch at one layer (and round, if per round).
    pub(crate) fn layer_delta(&self) -> Result<f64> {
        let layers = f64::from(self.last_layer()? + 1);
        let rounds = match self.schedule() {
            Schedule::PerRound => self.needed_horizon("by the per-round schedule")? as f64,
            Schedule::Anytime => 1.0,
        };
        Ok(self.delta / (3.0 * rounds * layers))
    }

    pub(crate) fn needed_horizon(&self, purpose: &'static str) -> Result<u64> {
        self.horizon.ok_or(Error::Missing { name: "horizon", purpose })
    }

    /// Whether live data enters through a branch of its own.
    pub(crate) fn has_online(&self) -> bool {
        matches!(self.branches, Branches::Online | Branches::Both)
    }

    /// Whether logs enter through the pooled branch, which needs a certificate.
    pub(crate) fn has_pooled(&self) -> bool {
        matches!(self.branches, Branches::Both | Branches::Pooled)
    }

    pub(crate) fn check(&self) -> Result<()> {
        check::at_least("dimension", "at least 1", 1, self.dimension as u64)?;
        check::at_least("horizon", "at least 1", 1, self.horizon.unwrap_or(1))?;
        check::at_least_zero("noise", self.noise)?;
        check::at_least_zero("norm_bound", self.norm_bound)?;
        check::positive("ridge", self.ridge)?;
        check::probability("delta", self.delta)?;
        check::positive("exploration_scale", self.exploration_scale)?;
        check::length("the moment of `offline`", self.dimension, self.offline.dimension())?;
        self.check_combination()
    }

    fn check_combination(&self) -> Result<()> {
        let pooled = self.has_pooled();
        match &self.certificate {
            CertificateRule::None if pooled => {
                return Err(Error::Missing { name: "certificate", purpose: "by the pooled branch" });
            }
            CertificateRule::Fixed(certificate) => {
                check::length("a row of the certificate's matrix", self.dimension, certificate.dimension())?;
            }
            CertificateRule::Learned(epochs) if pooled => {
                epochs.check(self.needed_horizon("by the learned certificate")?)?;
            }
            CertificateRule::None | CertificateRule::Learned(_) => {}
        }
        if self.branches == Branches::Offline && self.layering == Layering::Layered {
            return Err(Error::Incompatible { first: "the offline branch", second: "layers" });
        }
        if pooled && self.pooling == Pooling::Discounted && self.noise == 0.0 {
            return Err(Error::Parameter {
                name: "noise",
                range: "positive with discounted pooling",
                value: self.noise,
            });
        }
        // The logarithm of a share of δ that underflows would be infinite.
        let share = self.layer_delta()?;
        if share < 1e-300 {
            let range = "large enough to leave every round and layer a share above 1e-300";
            return Err(Error::Parameter { name: "delta", range, value: self.delta });
        }
        Ok(())
    }
}
