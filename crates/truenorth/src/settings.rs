//! What a policy is made from: a method, numbers and logs, checked once, when the policy is made.

use crate::certificate::Certificate;
use crate::check;
use crate::error::Result;
use crate::learned::Epochs;
use crate::policy::Policy;
use crate::preset::Preset;
use crate::statistic::RidgeStatistic;

/// How a policy decides. What cannot be played cannot be written down.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Method {
    /// Confidence intervals in the layers of SupLinUCB, 0 to ⌈log2 horizon⌉: a layer plays when an interval is
    /// wider than 2^-layer. The paper's family.
    Layered(Intervals),
    /// Confidence intervals in one layer: the largest UCB over all actions is played.
    Flat(Intervals),
    /// A Bayesian posterior; widths are its standard deviations.
    Posterior {
        /// What is believed before the first reward.
        prior: Prior,
        /// How it chooses.
        explore: Explore,
    },
    /// The offline estimate for ever: plays its largest mean.
    Offline,
    /// Separate arms: counts and means of unit vectors, live and logged (MIN-UCB).
    Arms,
}

/// Which confidence intervals a decision rests on.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Intervals {
    /// Those of live data alone.
    Online,
    /// Logs treated as if they were live: no bias term. The baseline that trusts blindly.
    Warm,
    /// Logs and live data pooled, wider by what may have drifted.
    Pooled {
        /// How much of the logs is pooled.
        pooling: Pooling,
        /// Where the certificate comes from.
        drift: Drift,
        /// Whether live data alone has a branch too: the smaller of both UCBs, the larger of both LCBs.
        fallback: bool,
    },
}

/// How much of the offline precision the pooled branch takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Pooling {
    /// `W = G_off`, the paper's.
    Full,
    /// `W = σ² (β_off² G_off⁻¹ + ρ² M⁻¹)⁻¹`: each direction in proportion to what is known of it.
    Discounted,
}

/// Where a bias certificate comes from.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Drift {
    /// [`Settings::certificate`], known before the first round.
    Told,
    /// Learned from the logs and the live data at the start of each epoch, as the paper does. Epochs start with these
    /// rounds; without them with 1, 2, 4, 8, ...
    Learned(Option<Vec<u64>>),
}

/// What a posterior believes before the first reward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Prior {
    /// Nothing of the logs: a ridge of weight σ²/S².
    Ridge,
    /// The logs, as if they were live.
    Warm,
    /// The logs, but for the drift that [`Settings::certificate`] allows.
    Told,
    /// Hypotheses about the logs, weighed by how well they predict live rewards.
    Adaptive,
}

/// How a posterior chooses.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Explore {
    /// The largest upper end of an interval.
    Ucb,
    /// The favourite of one draw from the posterior (Thompson), with its probability.
    Sampling,
    /// The largest mean, and with this probability any action, all alike.
    Epsilon(f64),
}

/// How the failure probability of confidence intervals is divided among rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Schedule {
    /// The paper's: δ / (3 · horizon · layers) for each round and layer.
    PerRound,
    /// δ / (3 · layers) for each layer and all its rounds: the self-normalised bound holds
    /// uniformly in time. Needs no horizon when flat.
    Anytime,
}

impl Method {
    /// The branches of the confidence family.
    pub(crate) fn intervals(&self) -> Option<&Intervals> {
        match self {
            Self::Layered(intervals) | Self::Flat(intervals) => Some(intervals),
            Self::Posterior { .. } | Self::Offline | Self::Arms => None,
        }
    }

    /// Whether logs make a difference.
    pub(crate) fn uses_logs(&self) -> bool {
        self.intervals() != Some(&Intervals::Online)
            && !matches!(self, Self::Posterior { prior: Prior::Ridge, .. })
    }

    /// What needs to be told how far the logs may have drifted, if anything does. Discounted pooling does without: it
    /// takes twice the norm bound.
    pub(crate) fn needs_certificate(&self) -> Option<&'static str> {
        match self {
            Self::Layered(Intervals::Pooled { drift: Drift::Told, pooling: Pooling::Full, .. })
            | Self::Flat(Intervals::Pooled { drift: Drift::Told, pooling: Pooling::Full, .. })
            | Self::Posterior { prior: Prior::Told, .. } => Some("by the pooled branch"),
            Self::Arms => Some("by separate arms, a fixed one"),
            _ => None,
        }
    }

    /// The same method under a certificate that is told instead of learned.
    fn told(&mut self) {
        match self {
            Self::Layered(Intervals::Pooled { drift, .. }) | Self::Flat(Intervals::Pooled { drift, .. }) => {
                *drift = Drift::Told;
            }
            Self::Posterior { prior: prior @ Prior::Adaptive, .. } => *prior = Prior::Told,
            _ => {}
        }
    }
}

/// Everything a policy is made from; [`Policy::builder`] starts it. What has no default but is left open may be told
/// as an `Option`, too.
///
/// | setting | default | purpose | range |
/// |---|---|---|---|
/// | `dimension` | given | features of an action | at least 1 |
/// | `method` | `truenorth`'s | how it decides | |
/// | `logs` | none | the logs' statistic | same dimension |
/// | `certificate` | none; twice the norm bound with discounted pooling | how far the logs may have drifted; methods without a use for it ignore it | same dimension |
/// | `horizon` | none | rounds to come; layers, per-round schedules and learned certificates need it | at least 1 |
/// | `noise` | from the logs | σ, sub-Gaussian scale of a reward's noise; 1 without logs, but followed by posteriors that learn | ≥ 0; > 0 with discounted pooling and posteriors |
/// | `norm_bound` | from the logs | S, bound on the length of the live and the logged parameter: twice the length of the logs' estimate, 1 without logs | ≥ 0; > 0 with posteriors |
/// | `ridge` | 1; of the data in posteriors and `offline-only` | λ | > 0 |
/// | `delta` | 0.01 | probability δ that any interval ever fails; 2δ with a learned certificate, which may fail by itself | in (0, 1) |
/// | `schedule` | anytime when flat, per round when layered | see [`Schedule`] | |
/// | `exploration_scale` | 1; 0.2 for `truenorth`, 0 for the greedy ones | multiplies every radius (not that of what `truenorth` finds new); below 1 the guarantee is gone | ≥ 0; > 0 for confidence intervals |
/// | `discount` | 1 | what a row of the logs is worth, in live rows | in (0, 1] |
/// | `season` | none | rounds after which all that is known becomes the logs of a new season; see [`Policy::renew`] | at least 1 |
/// | `half_life` | none | rounds after which a live reward counts half, for a world that moves slowly | > 0 |
/// | `seed` | 0 | of posteriors with a dice | any |
/// | `fits_beside` | no | whether a fit that is due is left to the caller, so that no decision waits for it; [from so many features on](Settings::fits_beside_from) | |
/// | `sparse` | no | whether actions touch a few features each; see [`sparse`](Settings::sparse) | with `truenorth`, `lin-ucb`, `greedy` and their twins |
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[must_use]
pub struct Settings {
    pub(crate) dimension: usize,
    pub(crate) method: Method,
    pub(crate) logs: RidgeStatistic,
    pub(crate) certificate: Option<Certificate>,
    pub(crate) horizon: Option<u64>,
    pub(crate) noise: Option<f64>,
    pub(crate) norm_bound: Option<f64>,
    pub(crate) ridge: Option<f64>,
    pub(crate) delta: f64,
    pub(crate) schedule: Option<Schedule>,
    pub(crate) exploration_scale: f64,
    pub(crate) discount: f64,
    pub(crate) season: Option<u64>,
    pub(crate) half_life: Option<f64>,
    pub(crate) seed: u64,
    pub(crate) sparse: bool,
    /// Features from which on fits run beside decisions; 0 for never.
    pub(crate) fits_beside_from: usize,
}

impl Settings {
    pub(crate) fn new(dimension: usize) -> Self {
        Self {
            dimension,
            method: Preset::TrueNorth.method(),
            logs: RidgeStatistic::empty(dimension),
            certificate: None,
            horizon: None,
            noise: None,
            norm_bound: None,
            ridge: None,
            delta: 0.01,
            schedule: None,
            exploration_scale: Preset::TrueNorth.exploration_scale(),
            discount: 1.0,
            season: None,
            half_life: None,
            seed: 0,
            sparse: false,
            fits_beside_from: 0,
        }
    }

    /// Method and exploration scale of a preset.
    pub fn preset(mut self, preset: Preset) -> Self {
        (self.method, self.exploration_scale) = (preset.method(), preset.exploration_scale());
        self
    }

    /// Another method.
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// The logs.
    pub fn logs(mut self, logs: RidgeStatistic) -> Self {
        self.logs = logs;
        self
    }

    /// How far the logs may have drifted. A method that would learn it takes this instead.
    pub fn certificate(mut self, certificate: impl Into<Option<Certificate>>) -> Self {
        self.certificate = certificate.into();
        if self.certificate.is_some() {
            self.method.told();
        }
        self
    }

    /// Rounds to come.
    pub fn horizon(mut self, horizon: impl Into<Option<u64>>) -> Self {
        self.horizon = horizon.into();
        self
    }

    /// σ.
    pub fn noise(mut self, noise: impl Into<Option<f64>>) -> Self {
        self.noise = noise.into();
        self
    }

    /// S.
    pub fn norm_bound(mut self, norm_bound: impl Into<Option<f64>>) -> Self {
        self.norm_bound = norm_bound.into();
        self
    }

    /// λ.
    pub fn ridge(mut self, ridge: impl Into<Option<f64>>) -> Self {
        self.ridge = ridge.into();
        self
    }

    /// δ.
    pub fn delta(mut self, delta: f64) -> Self {
        self.delta = delta;
        self
    }

    /// How δ is divided among rounds.
    pub fn schedule(mut self, schedule: impl Into<Option<Schedule>>) -> Self {
        self.schedule = schedule.into();
        self
    }

    /// Factor on every radius.
    pub fn exploration_scale(mut self, scale: f64) -> Self {
        self.exploration_scale = scale;
        self
    }

    /// What a row of the logs is worth, in live rows.
    pub fn discount(mut self, discount: f64) -> Self {
        self.discount = discount;
        self
    }

    /// Rounds of a season: after so many, all that is known becomes the logs of the next one.
    pub fn season(mut self, rounds: impl Into<Option<u64>>) -> Self {
        self.season = rounds.into();
        self
    }

    /// Rounds after which a live reward counts half.
    pub fn half_life(mut self, rounds: impl Into<Option<f64>>) -> Self {
        self.half_life = rounds.into();
        self
    }

    /// Seed of the dice.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Says that an action touches a few of many features: those of its arm, some crosses, some hashed words. A decision
    /// then costs the squares of what its actions touch, and a reward the square of what has ever been touched together with
    /// it, whatever d is.
    ///
    /// ```
    /// use truenorth::{Actions, Policy};
    ///
    /// // Two features of context, and coefficients of its own for each of 500 arms.
    /// let mut policy = Policy::builder(1000).sparse(true).build()?;
    /// let context = [0.6, 0.8].repeat(500);
    /// let (starts, columns): (Vec<usize>, Vec<usize>) = ((0..=500).map(|k| 2 * k).collect(), (0..1000).collect());
    /// let actions = Actions::sparse(&starts, &columns, &context, 1000)?;
    /// let choice = policy.choose(actions)?;
    /// policy.learn(choice.rewarded(actions, 0.7))?;
    /// # Ok::<(), truenorth::Error>(())
    /// ```
    ///
    /// Decisions are those of the same policy without this, up to rounding: always, where there are no logs; with logs in the
    /// rounds that fit the belief anew. Between fits a reward changes what is believed of the features that were ever
    /// touched together with its own, and, of all the others, what follows from the level of rewards, from a common factor on
    /// the logs and from whether they are void.
    pub fn sparse(mut self, sparse: bool) -> Self {
        self.sparse = sparse;
        self
    }

    /// Has a fit that is due run beside decisions instead of within one: see [`Policy::begin_fit`]. What was believed before
    /// stays in force until then, and follows each reward.
    pub fn fits_beside(self, beside: bool) -> Self {
        self.fits_beside_from(usize::from(beside))
    }

    /// The same from so many features on, 0 for never: a fit of few features takes less than to hand it to somebody else, and
    /// its decision then knows what the actions of its own round have shown.
    pub fn fits_beside_from(mut self, features: usize) -> Self {
        self.fits_beside_from = features;
        self
    }

    /// Whether the fits of a policy of this size run beside its decisions.
    pub(crate) fn are_fits_beside(&self) -> bool {
        (1..=self.dimension).contains(&self.fits_beside_from)
    }

    /// The name of the first thing that `other` was told differently. Dimension and logs are data, and grow. For the crates
    /// beside this one.
    #[doc(hidden)]
    pub fn differs(&self, other: &Self) -> Option<&'static str> {
        let certificate = match (&self.certificate, &other.certificate) {
            (Some(one), Some(another)) => {
                let dimension = one.dimension().max(another.dimension());
                one.grown(dimension) == another.grown(dimension)
            }
            (one, another) => one.is_none() && another.is_none(),
        };
        let same = [
            ("policy", self.method == other.method),
            ("noise", self.noise == other.noise),
            ("norm_bound", self.norm_bound == other.norm_bound),
            ("delta", self.delta.to_bits() == other.delta.to_bits()),
            ("horizon", self.horizon == other.horizon),
            ("exploration_scale", self.exploration_scale.to_bits() == other.exploration_scale.to_bits()),
            ("discount", self.discount.to_bits() == other.discount.to_bits()),
            ("season", self.season == other.season),
            ("half_life", self.half_life == other.half_life),
            ("seed", self.seed == other.seed),
            ("certificate", certificate),
        ];
        same.into_iter().find(|(_, same)| !same).map(|(name, _)| name)
    }

    /// Checks everything and fits the logs. O(d³).
    pub fn build(self) -> Result<Policy> {
        Policy::new(self)
    }

    /// Whether the method goes with [`sparse`](Self::sparse). For the crates beside this one.
    #[doc(hidden)]
    pub fn can_be_sparse(&self) -> bool {
        matches!(self.method, Method::Posterior { prior: Prior::Ridge | Prior::Adaptive, .. })
    }

    /// Whether the policy doubts what it knows, so that [`Policy::renew`] can begin a new season. For the crates beside this one.
    #[doc(hidden)]
    pub fn can_renew(&self) -> bool {
        matches!(self.method, Method::Posterior { prior: Prior::Adaptive, .. })
    }

    /// L, the index of the last layer: ⌈log2 horizon⌉.
    pub(crate) fn last_layer(&self) -> Result<u32> {
        let Method::Layered(_) = self.method else { return Ok(0) };
        let horizon = self.needed_horizon("by layered policies")?;
        Ok((horizon - 1).checked_ilog2().map_or(0, |log| log + 1))
    }

    /// δ_{t,l}: the failure probability of one branch at one layer (and round, if per round).
    pub(crate) fn layer_delta(&self) -> Result<f64> {
        let layers = f64::from(self.last_layer()? + 1);
        let rounds = match (self.schedule, &self.method) {
            (Some(Schedule::PerRound), _) | (None, Method::Layered(_)) => {
                self.needed_horizon("by the per-round schedule")? as f64
            }
            _ => 1.0,
        };
        Ok(self.delta / (3.0 * rounds * layers))
    }

    pub(crate) fn needed_horizon(&self, purpose: &'static str) -> Result<u64> {
        self.horizon.ok_or_else(|| check::missing("horizon", purpose))
    }

    pub(crate) fn check(&self) -> Result<()> {
        check::at_least_one("dimension", self.dimension as u64)?;
        check::at_least_one("horizon", self.horizon.unwrap_or(1))?;
        check::at_least_zero("noise", self.noise.unwrap_or(1.0))?;
        check::at_least_zero("norm_bound", self.norm_bound.unwrap_or(1.0))?;
        check::positive("ridge", self.ridge.unwrap_or(1.0))?;
        check::probability("delta", self.delta)?;
        let posterior = matches!(self.method, Method::Posterior { .. });
        let scale = if posterior { check::at_least_zero } else { check::positive };
        scale("exploration_scale", self.exploration_scale)?;
        check::range(self.discount > 0.0 && self.discount <= 1.0, "discount", "in (0, 1]", self.discount)?;
        check::at_least_one("season", self.season.unwrap_or(1))?;
        check::range(
            self.half_life.is_none_or(|rounds| rounds > 0.0),
            "half_life",
            "positive",
            self.half_life.unwrap_or(1.0),
        )?;
        if !self.can_renew() {
            let second = "a policy that never doubts its logs";
            for (first, given) in [("season", self.season.is_some()), ("half_life", self.half_life.is_some())]
            {
                if given {
                    return Err(check::incompatible(first, second));
                }
            }
        }
        if self.sparse && !self.can_be_sparse() {
            return Err(check::incompatible(
                "`sparse`",
                "a policy other than `truenorth`, `lin-ucb` or their twins",
            ));
        }
        check::length("the moment of the logs", self.dimension, self.logs.dimension())?;
        if let Some(certificate) = &self.certificate {
            check::length("a row of the certificate's matrix", self.dimension, certificate.dimension())?;
        } else if let Some(purpose) = self.method.needs_certificate() {
            return Err(check::missing("certificate", purpose));
        }
        let positive = |name, range, value: Option<f64>| {
            value.map_or(Ok(1.0), |value| check::range(value >= 1e-50, name, range, value))
        };
        if let Method::Posterior { explore, .. } = self.method {
            positive("noise", "above 0", self.noise)?;
            positive("norm_bound", "above 0", self.norm_bound)?;
            if let Explore::Epsilon(epsilon) = explore {
                check::range((0.0..=1.0).contains(&epsilon), "epsilon", "in [0, 1]", epsilon)?;
            }
        }
        if let Some(Intervals::Pooled { pooling, drift, .. }) = self.method.intervals() {
            if *pooling == Pooling::Discounted {
                positive("noise", "positive with discounted pooling", self.noise)?;
            }
            if let Drift::Learned(starts) = drift {
                Epochs(starts).check(self.needed_horizon("by the learned certificate")?)?;
            }
        }
        // The logarithm of a share of δ that underflows would be infinite.
        let range = "large enough to leave every round and layer a share above 1e-300";
        check::range(self.layer_delta()? >= 1e-300, "delta", range, self.delta).map(drop)
    }
}
