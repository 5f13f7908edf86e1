//! Policies by name.

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::learned::Epochs;
use crate::params::{Branches, CertificateRule, Explore, Layering, Params, Pooling, Width};
use crate::statistic::RidgeStatistic;

/// A named setting of the switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
    /// Ours, for practice: one posterior of logs and live data in which each direction of the logs counts as
    /// far as live rewards bear it out. Needs to be told nothing.
    TrueNorth,
    /// Ours, with confidence widths: flat, both branches, discounted pooling, adaptive certificate. The part of
    /// a width that stands for noise is guaranteed, the part that stands for drift is learned.
    TrueNorthConfidence,
    /// [`TrueNorth`](Self::TrueNorth) by posterior sampling, so that its decisions can be evaluated off-policy.
    TrueNorthSampling,
    /// Layered, online: SupLinUCB.
    SupLinUcb,
    /// Layered, both branches, full pooling, fixed certificate: the paper's Algorithm 1.
    EllipsoidalMinUcb,
    /// Layered, both branches, full pooling, learned certificate: the paper's Algorithm 2.
    EllipsoidalMinUcb3d,
    /// Layered, logs and live data treated alike.
    WarmSupLinUcb,
    /// The offline estimate for ever.
    OfflineOnly,
    /// Layered, full pooling, fixed certificate, no online fallback.
    PooledOnly,
    /// Flat, online.
    Oful,
    /// Flat, online, one posterior standard deviation wide.
    LinUcb,
    /// Flat, online, posterior sampling: linear Thompson sampling.
    LinTs,
    /// The largest mean of a ridge regression on live data.
    Greedy,
    /// Greedy but for one round in twenty, which goes to any action.
    EpsilonGreedy,
    /// Separate arms, fixed certificate: MIN-UCB of Cheung and Lyu (2024).
    MinUcb,
}

/// Share of the rounds in which [`Preset::EpsilonGreedy`] plays any action.
const EPSILON: f64 = 0.05;

impl Preset {
    /// Every preset, the default first.
    pub const ALL: [Self; 15] = [
        Self::TrueNorth,
        Self::TrueNorthConfidence,
        Self::TrueNorthSampling,
        Self::SupLinUcb,
        Self::EllipsoidalMinUcb,
        Self::EllipsoidalMinUcb3d,
        Self::WarmSupLinUcb,
        Self::OfflineOnly,
        Self::PooledOnly,
        Self::Oful,
        Self::LinUcb,
        Self::LinTs,
        Self::Greedy,
        Self::EpsilonGreedy,
        Self::MinUcb,
    ];

    /// The name that commands, files and services use.
    pub fn name(self) -> &'static str {
        match self {
            Self::TrueNorth => "truenorth",
            Self::TrueNorthConfidence => "truenorth-confidence",
            Self::TrueNorthSampling => "truenorth-sampling",
            Self::SupLinUcb => "suplinucb",
            Self::EllipsoidalMinUcb => "ellipsoidal-minucb",
            Self::EllipsoidalMinUcb3d => "ellipsoidal-minucb-3d",
            Self::WarmSupLinUcb => "warm-suplinucb",
            Self::OfflineOnly => "offline-only",
            Self::PooledOnly => "pooled-only",
            Self::Oful => "oful",
            Self::LinUcb => "lin-ucb",
            Self::LinTs => "lin-ts",
            Self::Greedy => "greedy",
            Self::EpsilonGreedy => "epsilon-greedy",
            Self::MinUcb => "min-ucb",
        }
    }

    /// Parameters of the preset, with the defaults of [`Params`]; those with a fixed certificate
    /// and those with layers still need theirs.
    pub fn params(self, dimension: usize) -> Result<Params> {
        use Branches::{Arms, Both, Offline, Online, Pooled, Warm};
        use Layering::{Flat, Layered};
        let (layering, branches) = match self {
            Self::TrueNorth | Self::TrueNorthConfidence | Self::TrueNorthSampling => (Flat, Both),
            Self::SupLinUcb => (Layered, Online),
            Self::EllipsoidalMinUcb | Self::EllipsoidalMinUcb3d => (Layered, Both),
            Self::WarmSupLinUcb => (Layered, Warm),
            Self::OfflineOnly => (Flat, Offline),
            Self::PooledOnly => (Layered, Pooled),
            Self::Oful | Self::LinUcb | Self::LinTs | Self::Greedy | Self::EpsilonGreedy => (Flat, Online),
            Self::MinUcb => (Flat, Arms),
        };
        let (pooling, certificate) = match self {
            Self::TrueNorth | Self::TrueNorthConfidence | Self::TrueNorthSampling => {
                (Pooling::Discounted, CertificateRule::Adaptive)
            }
            Self::EllipsoidalMinUcb3d => (Pooling::Full, CertificateRule::Learned(Epochs::Doubling)),
            _ => (Pooling::Full, CertificateRule::None),
        };
        let (width, explore, exploration_scale) = match self {
            Self::TrueNorth => (Width::Posterior, Explore::Ucb, 0.2),
            Self::TrueNorthSampling => (Width::Posterior, Explore::Sampling, 0.4),
            Self::LinUcb => (Width::Posterior, Explore::Ucb, 1.0),
            Self::LinTs => (Width::Posterior, Explore::Sampling, 1.0),
            Self::Greedy => (Width::Posterior, Explore::Ucb, 0.0),
            Self::EpsilonGreedy => (Width::Posterior, Explore::Epsilon(EPSILON), 0.0),
            _ => (Width::Confidence, Explore::Ucb, 1.0),
        };
        Ok(Params {
            dimension,
            horizon: None,
            noise: None,
            norm_bound: None,
            ridge: 1.0,
            delta: 0.01,
            schedule: None,
            layering,
            branches,
            pooling,
            certificate,
            width,
            explore,
            seed: 0,
            exploration_scale,
            offline: RidgeStatistic::new(dimension)?,
        })
    }
}

impl FromStr for Preset {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name).ok_or_else(|| Error::UnknownPreset {
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_presets() {
        for preset in Preset::ALL {
            assert_eq!(preset.name().parse(), Ok(preset));
        }
        let error = "suplin".parse::<Preset>().unwrap_err().to_string();
        assert!(error.starts_with(
            "there is no policy named \"suplin\"; the names are truenorth, truenorth-confidence"
        ));
    }
}
