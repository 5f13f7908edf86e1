//! What a bandit is made from, as callers say it.

use std::fmt;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use truenorth::{Certificate, Policy, Preset};
use truenorth_app::audit::{Audited, audit};
use truenorth_app::bandit::{self, Told};
use truenorth_bandit::{Bandit, Limits, Parts};
use truenorth_features::Feature;
use truenorth_logs::Summary;

use crate::api::{Refused, example};

/// What a bandit is made from: one of `dimension`, `features`, `model` and `summary`, and what is told besides.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(example = example::bandit())]
pub(crate) struct Spec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) policy: Option<String>,
    /// Actions are lists of so many numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dimension: Option<usize>,
    /// Actions are lists of numbers with these names, or have fields of these names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) features: Option<Vec<String>>,
    /// A formula over raw fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
    /// A summary file, as base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) norm_bound: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) delta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) horizon: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exploration_scale: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) discount: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) season: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) half_life: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,
    /// Features from which on fits run beside decisions, 0 for never; 65 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fits_beside_from: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) certificate: Option<CertificateSpec>,
    /// Seconds in which a decision's reward may come. After that it gets the default one, or none if there is no default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reward_timeout_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) default_reward: Option<f64>,
    /// What becomes of several rewards of one decision.
    #[serde(skip_serializing_if = "Aggregation::is_earliest")]
    pub(crate) reward_aggregation: Aggregation,
    /// Decisions that may wait for their rewards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open: Option<usize>,
    #[serde(skip_serializing_if = "Mode::is_live")]
    pub(crate) mode: Mode,
}

/// How far the logs may have drifted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CertificateSpec {
    matrix: Vec<Vec<f64>>,
    rho: f64,
}

/// Who decides, and whether anything is learned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// The bandit decides and learns.
    #[default]
    Live,
    /// The caller's own choice is played and learned; the bandit's is recorded beside it.
    Shadow,
    /// The bandit decides and learns nothing.
    Frozen,
}

/// What becomes of several rewards of one decision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Aggregation {
    /// The first one is learned at once; another one is refused.
    #[default]
    Earliest,
    /// Those that come in time add up, and the sum is learned when the time is over.
    Sum,
}

impl Aggregation {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
    fn is_earliest(&self) -> bool {
        *self == Self::Earliest
    }
}

impl Mode {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
    fn is_live(&self) -> bool {
        *self == Self::Live
    }
}

fn wrong(message: impl fmt::Display) -> Refused {
    Refused::invalid(message.to_string())
}

/// A summary from base64.
fn read_summary(text: &str) -> Result<Summary, Refused> {
    let bytes = STANDARD.decode(text).map_err(|error| wrong(format!("`summary` is not base64: {error}")))?;
    Summary::from_bytes(&bytes).map_err(|problem| wrong(format!("`summary`: {problem}")))
}

impl Spec {
    /// As a bandit that is made now keeps it.
    pub(crate) fn text(&self) -> serde_json::Result<String> {
        let fits_beside_from = self.fits_beside_from.or(Some(FITS_BESIDE));
        serde_json::to_string(&Self { fits_beside_from, ..self.clone() })
    }

    /// Whether a bandit that was made from one text is the one that another asks for.
    pub(crate) fn is_same(made: &str, asked: &str) -> bool {
        let now = |made: Self| made.text();
        made == asked || serde_json::from_str(made).and_then(now).is_ok_and(|made| made == asked)
    }

    /// What the logs cover and are worth, if there are any.
    pub(crate) fn audit(&self) -> Result<Option<Audited>, Refused> {
        let Some(summary) = &self.summary else { return Ok(None) };
        audit(&read_summary(summary)?, None, &truenorth_audit::Options::default()).map(Some).map_err(wrong)
    }

    /// From the file of a summary, or else a model.
    pub(crate) fn from_file_or_model(told: &str) -> Result<Self, Refused> {
        let path = Path::new(told);
        if !path.is_file() && path.extension().is_none_or(|ending| ending != "tn") {
            return Ok(Self { model: Some(told.to_owned()), ..Self::default() });
        }
        let bytes = std::fs::read(path).map_err(|error| wrong(format!("{told}: {error}")))?;
        Summary::from_bytes(&bytes).map_err(|problem| wrong(format!("{told}: {problem}")))?;
        Ok(Self { summary: Some(STANDARD.encode(bytes)), ..Self::default() })
    }

    /// Names of the numbers that an action is a list of, if it is one.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        let counted = |count: usize| (0..count).map(|i| format!("f{i}")).collect();
        self.features.clone().or_else(|| self.dimension.map(counted))
    }

    /// Makes the bandit.
    pub(crate) fn bandit(&self) -> Result<Bandit, Refused> {
        let ways = [self.names().is_some(), self.model.is_some(), self.summary.is_some()];
        if ways.iter().filter(|way| **way).count() != 1 {
            return Err(wrong("a bandit is made from one of `dimension`, `features`, `model` and `summary`"));
        }
        if let Some(count) = self.names().map(|names| names.len())
            && !(1..=MOST_FEATURES).contains(&count)
        {
            return Err(wrong(format!("a bandit has 1 to {MOST_FEATURES} features, not {count}")));
        }
        for (name, value) in
            [("reward_timeout_s", self.reward_timeout_s), ("default_reward", self.default_reward)]
        {
            if let Some(value) = value.filter(|value| !(-1e50..=1e50).contains(value)) {
                return Err(wrong(format!("`{name}` is {value}, but must be a number of at most 1e50")));
            }
        }
        if let Some(seconds) = self.reward_timeout_s.filter(|seconds| *seconds < 0.0) {
            return Err(wrong(format!("`reward_timeout_s` is {seconds}, but must not be negative")));
        }
        if self.reward_aggregation == Aggregation::Sum && self.reward_timeout_s.is_none() {
            return Err(wrong(
                "`reward_aggregation` \"sum\" needs `reward_timeout_s`, after which the sum is learned",
            ));
        }
        if self.default_reward.is_some() && self.reward_timeout_s.is_none() {
            return Err(wrong("`default_reward` needs `reward_timeout_s`, after which it is given"));
        }
        let mut parts = match (&self.summary, &self.model, self.names()) {
            (Some(summary), ..) => bandit::parts(&read_summary(summary)?).map_err(wrong)?,
            (_, Some(model), _) => Parts::without_logs(model)?,
            (.., Some(names)) => {
                let numbers: Vec<String> = names.iter().map(|name| format!("N(`{name}`)")).collect();
                let features = names.iter().map(|name| Feature::new(name.clone())).collect();
                Parts { features, ..Parts::without_logs(&format!("0 + {}", numbers.join(" + ")))? }
            }
            _ => unreachable!("one of the ways was taken"),
        };
        if let Some(open) = self.open {
            parts.limits = Limits { open, ..parts.limits };
        }
        let mut bandit = bandit::new(parts, self.told()?).map_err(wrong)?;
        // One of too many features is served without.
        let _ = match self.default_reward {
            Some(_) => bandit.watch_where_none_is_lost(WATCH_LEVEL),
            None => bandit.watch(WATCH_LEVEL),
        };
        Ok(bandit)
    }

    /// The name of the first thing that a bandit of this state was told differently.
    pub(crate) fn differs(&self, state: &Bandit) -> Result<Option<&'static str>, Refused> {
        let found = state.policy().settings();
        let mut told = self.told()?.tell(Policy::builder(state.policy().dimension()));
        if state.policy().has_renewed() {
            told = told.discount(1.0);
        }
        let open = self.open.unwrap_or(Limits::default().open) != state.limits().open;
        Ok(told.differs(found).or(open.then_some("open")))
    }

    fn told(&self) -> Result<Told, Refused> {
        let policy = self.policy.as_deref().map(str::parse::<Preset>).transpose().map_err(wrong)?;
        let certificate = self.certificate.as_ref().map(|told| {
            let matrix: Vec<f64> = told.matrix.iter().flatten().copied().collect();
            Certificate::from_matrix(&matrix, told.rho)
        });
        Ok(Told {
            policy,
            noise: self.noise,
            norm_bound: self.norm_bound,
            delta: self.delta,
            horizon: self.horizon,
            exploration_scale: self.exploration_scale,
            discount: self.discount,
            season: self.season,
            half_life: self.half_life,
            seed: self.seed,
            certificate: certificate.transpose().map_err(wrong)?,
            // Bandits of before, which do not say it, had all of them beside.
            fits_beside_from: self.fits_beside_from.or(Some(1)),
        })
    }
}

/// Probability that a bandit of a world that stays ever says that it has moved on.
const WATCH_LEVEL: f64 = 0.05;
/// Features from which on fits run beside decisions: those of fewer take a tenth of a millisecond at most, and decisions are
/// then those of the command line and of Python to the last bit.
const FITS_BESIDE: usize = 65;
/// Numbers that an action may be a list of.
const MOST_FEATURES: usize = 10_000;
