//! Policies by name.

use std::str::FromStr;

use crate::error::{Error, Reason, Result};
use crate::settings::{Drift, Explore, Intervals, Method, Pooling, Prior};

/// A method and its exploration scale by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// Ours, for practice: one posterior of logs and live data in which each direction of the logs counts as
    /// far as live rewards bear it out. Needs to be told nothing.
    TrueNorth,
    /// Ours, with confidence widths: flat, both branches, discounted pooling, under a certificate that you give; without
    /// one, drift may be as long as twice the norm bound.
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
    /// [`LinUcb`](Self::LinUcb) on logs and live data alike.
    WarmLinUcb,
    /// [`Greedy`](Self::Greedy) on logs and live data alike.
    WarmGreedy,
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

const LEARNED: Drift = Drift::Learned(None);

const CONFIDENCE: Method =
    Method::Flat(Intervals::Pooled { pooling: Pooling::Discounted, drift: Drift::Told, fallback: true });

const fn pooled(drift: Drift, fallback: bool) -> Method {
    Method::Layered(Intervals::Pooled { pooling: Pooling::Full, drift, fallback })
}

const fn posterior(prior: Prior, explore: Explore) -> Method {
    Method::Posterior { prior, explore }
}

impl Preset {
    /// Name, factor on every radius and method of each preset, in their order.
    const TABLE: &[(Self, &'static str, f64, Method)] = &[
        (Self::TrueNorth, "truenorth", 0.2, posterior(Prior::Adaptive, Explore::Ucb)),
        (Self::TrueNorthConfidence, "truenorth-confidence", 1.0, CONFIDENCE),
        (Self::TrueNorthSampling, "truenorth-sampling", 1.0, posterior(Prior::Adaptive, Explore::Sampling)),
        (Self::SupLinUcb, "suplinucb", 1.0, Method::Layered(Intervals::Online)),
        (Self::EllipsoidalMinUcb, "ellipsoidal-minucb", 1.0, pooled(Drift::Told, true)),
        (Self::EllipsoidalMinUcb3d, "ellipsoidal-minucb-3d", 1.0, pooled(LEARNED, true)),
        (Self::WarmSupLinUcb, "warm-suplinucb", 1.0, Method::Layered(Intervals::Warm)),
        (Self::WarmLinUcb, "warm-lin-ucb", 1.0, posterior(Prior::Warm, Explore::Ucb)),
        (Self::WarmGreedy, "warm-greedy", 0.0, posterior(Prior::Warm, Explore::Ucb)),
        (Self::OfflineOnly, "offline-only", 1.0, Method::Offline),
        (Self::PooledOnly, "pooled-only", 1.0, pooled(Drift::Told, false)),
        (Self::Oful, "oful", 1.0, Method::Flat(Intervals::Online)),
        (Self::LinUcb, "lin-ucb", 1.0, posterior(Prior::Ridge, Explore::Ucb)),
        (Self::LinTs, "lin-ts", 1.0, posterior(Prior::Ridge, Explore::Sampling)),
        (Self::Greedy, "greedy", 0.0, posterior(Prior::Ridge, Explore::Ucb)),
        (Self::EpsilonGreedy, "epsilon-greedy", 0.0, posterior(Prior::Ridge, Explore::Epsilon(EPSILON))),
        (Self::MinUcb, "min-ucb", 1.0, Method::Arms),
    ];

    /// Every preset, the default first.
    pub const ALL: &[Self] = &{
        let mut all = [Self::TrueNorth; Self::TABLE.len()];
        let mut i = 0;
        while i < all.len() {
            all[i] = Self::TABLE[i].0;
            i += 1;
        }
        all
    };

    /// The names of all presets.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::TABLE.iter().map(|row| row.1)
    }

    /// The name that commands, files and services use.
    pub fn name(self) -> &'static str {
        Self::TABLE[self as usize].1
    }

    /// How it decides.
    pub fn method(self) -> Method {
        Self::TABLE[self as usize].3.clone()
    }

    /// Its factor on every radius.
    pub fn exploration_scale(self) -> f64 {
        Self::TABLE[self as usize].2
    }

    /// Whether it has to be told how far the logs may have drifted.
    pub fn needs_certificate(self) -> bool {
        self.method().needs_certificate().is_some()
    }
}

impl FromStr for Preset {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let known = || Self::names().collect::<Vec<_>>().join(", ");
        let found = Self::ALL.iter().find(|preset| preset.name() == name);
        found.copied().ok_or_else(|| Reason::UnknownPreset { name: name.to_owned(), known: known() }.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_presets() {
        for &preset in Preset::ALL {
            assert_eq!(preset.name().parse(), Ok(preset));
            assert_eq!(Preset::TABLE[preset as usize].0, preset);
        }
        let error = "suplin".parse::<Preset>().unwrap_err().to_string();
        assert!(error.starts_with(
            "there is no policy named \"suplin\"; the names are truenorth, truenorth-confidence"
        ));
    }
}
