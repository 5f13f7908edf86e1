//! Policies by name.

use std::str::FromStr;

use crate::error::{Error, Result};
use crate::learned::Epochs;
use crate::params::{Branches, CertificateRule, Layering, Params, Pooling};
use crate::statistic::RidgeStatistic;

/// A named setting of the four switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
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
}

impl Preset {
    /// Every preset.
    pub const ALL: [Self; 7] = [
        Self::SupLinUcb,
        Self::EllipsoidalMinUcb,
        Self::EllipsoidalMinUcb3d,
        Self::WarmSupLinUcb,
        Self::OfflineOnly,
        Self::PooledOnly,
        Self::Oful,
    ];

    /// The name that commands, files and services use.
    pub fn name(self) -> &'static str {
        match self {
            Self::SupLinUcb => "suplinucb",
            Self::EllipsoidalMinUcb => "ellipsoidal-minucb",
            Self::EllipsoidalMinUcb3d => "ellipsoidal-minucb-3d",
            Self::WarmSupLinUcb => "warm-suplinucb",
            Self::OfflineOnly => "offline-only",
            Self::PooledOnly => "pooled-only",
            Self::Oful => "oful",
        }
    }

    /// Parameters of the preset, with the defaults of [`Params`]; those with a fixed certificate
    /// and those with layers still need theirs.
    pub fn params(self, dimension: usize) -> Result<Params> {
        use Branches::{Both, Offline, Online, Pooled, Warm};
        use Layering::{Flat, Layered};
        let (layering, branches) = match self {
            Self::SupLinUcb => (Layered, Online),
            Self::EllipsoidalMinUcb | Self::EllipsoidalMinUcb3d => (Layered, Both),
            Self::WarmSupLinUcb => (Layered, Warm),
            Self::OfflineOnly => (Flat, Offline),
            Self::PooledOnly => (Layered, Pooled),
            Self::Oful => (Flat, Online),
        };
        Ok(Params {
            dimension,
            horizon: None,
            noise: 1.0,
            norm_bound: 1.0,
            ridge: 1.0,
            delta: 0.01,
            schedule: None,
            layering,
            branches,
            pooling: Pooling::Full,
            certificate: match self {
                Self::EllipsoidalMinUcb3d => CertificateRule::Learned(Epochs::Doubling),
                _ => CertificateRule::None,
            },
            exploration_scale: 1.0,
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
        assert!(
            error.starts_with(
                "there is no policy named \"suplin\"; the names are suplinucb, ellipsoidal-minucb"
            )
        );
    }
}
