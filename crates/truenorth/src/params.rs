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
    /// Separate arms: counts and means of unit vectors, live and logged (MIN-UCB). Flat.
    Arms,
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
    /// Learned from the logs and the live data at the start of each epoch, as the paper does.
    Learned(Epochs),
    /// Learned from live data direction by direction, whenever it has grown by a quarter. Flat; discounted
    /// pooling.
    Adaptive,
}

/// What an interval's width stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Width {
    /// A confidence bound that holds with probability 1 - δ, for all rounds together.
    Confidence,
    /// Standard deviations of a Bayesian posterior. Flat; the ridge is σ²/S², or σ² over the mean square of a
    /// coefficient with an adaptive certificate.
    Posterior,
}

/// How a flat policy of width `posterior` chooses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Explore {
    /// The largest upper end of an interval.
    Ucb,
    /// The favourite of one draw from the posterior (Thompson), with its probability.
    Sampling,
    /// The largest mean, and with this probability any action, all alike.
    Epsilon(f64),
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
/// | `noise` | from the logs | σ, sub-Gaussian scale of a reward's noise; 1 without logs, but followed by adaptive and online policies of width `posterior` | ≥ 0; > 0 with discounted pooling or width `posterior` |
/// | `norm_bound` | from the logs | S, bound on the length of the live and the logged parameter: twice the length of the logs' estimate, 1 without logs | ≥ 0; > 0 with width `posterior` or an adaptive certificate |
/// | `ridge` | 1 | λ; σ²/S² instead with width `posterior` | > 0 |
/// | `delta` | 0.01 | probability that any interval ever fails | in (0, 1) |
/// | `schedule` | by layering | see [`Schedule`]; anytime when flat, per round when layered | |
/// | `layering`, `branches`, `pooling`, `certificate` | by preset | the four switches | |
/// | `width`, `explore` | by preset | what widths stand for, and how they are used | |
/// | `seed` | 0 | of `sampling` and `epsilon` | any |
/// | `exploration_scale` | 1; 0.2 for `truenorth`, 0.4 for `truenorth-sampling`, 0 for the greedy ones | multiplies every radius; below 1 the guarantee is gone | ≥ 0; > 0 with width `confidence` |
/// | `offline` | no logs | the logs' statistic | same dimension |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table above documents the fields")]
pub struct Params {
    pub dimension: usize,
    pub horizon: Option<u64>,
    pub noise: Option<f64>,
    pub norm_bound: Option<f64>,
    pub ridge: f64,
    pub delta: f64,
    pub schedule: Option<Schedule>,
    pub layering: Layering,
    pub branches: Branches,
    pub pooling: Pooling,
    pub certificate: CertificateRule,
    pub width: Width,
    pub explore: Explore,
    pub seed: u64,
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

    /// Whether live data enters through a branch of its own. A posterior has the logs and the live data in
    /// one piece.
    pub(crate) fn has_online(&self) -> bool {
        match self.branches {
            Branches::Online => true,
            Branches::Both => self.width == Width::Confidence,
            Branches::Pooled | Branches::Warm | Branches::Offline | Branches::Arms => false,
        }
    }

    /// Whether logs enter through the pooled branch, which needs a certificate.
    pub(crate) fn has_pooled(&self) -> bool {
        matches!(self.branches, Branches::Both | Branches::Pooled)
    }

    /// Whether the certificate is learned direction by direction.
    pub(crate) fn is_adaptive(&self) -> bool {
        self.has_pooled() && self.certificate == CertificateRule::Adaptive
    }

    pub(crate) fn check(&self) -> Result<()> {
        check::at_least("dimension", "at least 1", 1, self.dimension as u64)?;
        check::at_least("horizon", "at least 1", 1, self.horizon.unwrap_or(1))?;
        check::at_least_zero("noise", self.noise.unwrap_or(1.0))?;
        check::at_least_zero("norm_bound", self.norm_bound.unwrap_or(1.0))?;
        check::positive("ridge", self.ridge)?;
        check::probability("delta", self.delta)?;
        let scale = match self.width {
            Width::Confidence => check::positive,
            Width::Posterior => check::at_least_zero,
        };
        scale("exploration_scale", self.exploration_scale)?;
        if let Explore::Epsilon(epsilon) = self.explore
            && !(0.0..=1.0).contains(&epsilon)
        {
            return Err(Error::Parameter { name: "epsilon", range: "in [0, 1]", value: epsilon });
        }
        check::length("the moment of `offline`", self.dimension, self.offline.dimension())?;
        self.check_combination()
    }

    fn check_combination(&self) -> Result<()> {
        let pooled = self.has_pooled();
        match &self.certificate {
            CertificateRule::None | CertificateRule::Learned(_) | CertificateRule::Adaptive
                if self.branches == Branches::Arms =>
            {
                return Err(Error::Missing { name: "certificate", purpose: "by separate arms, a fixed one" });
            }
            CertificateRule::None if pooled => {
                return Err(Error::Missing { name: "certificate", purpose: "by the pooled branch" });
            }
            CertificateRule::Fixed(certificate) => {
                check::length("a row of the certificate's matrix", self.dimension, certificate.dimension())?;
            }
            CertificateRule::Learned(epochs) if pooled => {
                epochs.check(self.needed_horizon("by the learned certificate")?)?;
            }
            CertificateRule::None | CertificateRule::Learned(_) | CertificateRule::Adaptive => {}
        }
        let incompatible = |first, second| Err(Error::Incompatible { first, second });
        let posterior = self.width == Width::Posterior;
        if self.layering == Layering::Layered {
            match self.branches {
                Branches::Offline => return incompatible("the offline branch", "layers"),
                Branches::Arms => return incompatible("a policy of separate arms", "layers"),
                _ if posterior => return incompatible("width `posterior`", "layers"),
                _ if self.is_adaptive() => return incompatible("an adaptive certificate", "layers"),
                _ => {}
            }
        }
        if self.is_adaptive() && self.pooling == Pooling::Full {
            return incompatible("an adaptive certificate", "full pooling");
        }
        if posterior && pooled && matches!(self.certificate, CertificateRule::Learned(_)) {
            return incompatible("width `posterior`", "a certificate learned by epochs");
        }
        if posterior && matches!(self.branches, Branches::Offline | Branches::Arms) {
            return incompatible("width `posterior`", "the offline branch or separate arms");
        }
        if !posterior && self.explore != Explore::Ucb {
            return incompatible("width `confidence`", "exploration other than `ucb`");
        }
        let discounted = pooled && self.pooling == Pooling::Discounted;
        let positive = |name, needed: bool, range, value: Option<f64>| match value {
            Some(value) if needed && value < 1e-50 => Err(Error::Parameter { name, range, value }),
            _ => Ok(()),
        };
        let range = "positive with discounted pooling";
        positive("noise", discounted && !posterior, range, self.noise)?;
        positive("noise", posterior, "positive with width `posterior`", self.noise)?;
        positive("norm_bound", posterior, "positive with width `posterior`", self.norm_bound)?;
        let range = "positive with an adaptive certificate";
        positive("norm_bound", self.is_adaptive(), range, self.norm_bound)?;
        // The logarithm of a share of δ that underflows would be infinite.
        let share = self.layer_delta()?;
        if share < 1e-300 {
            let range = "large enough to leave every round and layer a share above 1e-300";
            return Err(Error::Parameter { name: "delta", range, value: self.delta });
        }
        Ok(())
    }
}
