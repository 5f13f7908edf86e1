//! A method in words, as files, commands and Python have it: six switches, not all of which go together.

#![expect(missing_docs, reason = "`Method` and what it is made of have the same words")]

use serde::{Deserialize, Serialize};
use truenorth::{Drift, Error, Explore, Intervals, Method, Pooling, Prior, Result, check};

/// One layer, or the elimination layers of SupLinUCB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layering {
    Layered,
    Flat,
}

/// Which intervals a decision rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Branches {
    Online,
    Both,
    Pooled,
    Warm,
    Offline,
    Arms,
}

/// Where the bias certificate comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum Certification {
    Told,
    Learned(Option<Vec<u64>>),
    Adaptive,
}

/// What an interval's width stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Width {
    Confidence,
    Posterior,
}

/// The switches. Those that a method has no use for may have any value.
#[derive(Debug, Clone, PartialEq)]
pub struct Switches {
    pub layering: Layering,
    pub branches: Branches,
    pub pooling: Pooling,
    pub certificate: Certification,
    pub width: Width,
    pub explore: Explore,
}

impl TryFrom<Switches> for Method {
    type Error = Error;

    fn try_from(words: Switches) -> Result<Self> {
        let Switches { layering, branches, pooling, certificate, width, explore } = words;
        let (layered, posterior) = (layering == Layering::Layered, width == Width::Posterior);
        let (offline, arms) = (branches == Branches::Offline, branches == Branches::Arms);
        let fallback = branches == Branches::Both;
        let pooled = fallback || branches == Branches::Pooled;
        let adaptive = pooled && certificate == Certification::Adaptive;
        let learned = pooled && matches!(certificate, Certification::Learned(_));
        if arms && certificate != Certification::Told {
            return Err(check::missing("certificate", "by separate arms, a fixed one"));
        }
        let incompatible = [
            (layered && offline, "the offline branch", "layers"),
            (layered && arms, "a policy of separate arms", "layers"),
            (layered && posterior, "width `posterior`", "layers"),
            (layered && adaptive, "an adaptive certificate", "layers"),
            (adaptive && pooling == Pooling::Full, "an adaptive certificate", "full pooling"),
            (!posterior && explore != Explore::Ucb, "width `confidence`", "exploration other than `ucb`"),
            (adaptive && !posterior, "an adaptive certificate", "width `confidence`"),
            (posterior && (offline || arms), "width `posterior`", "the offline branch or separate arms"),
            (posterior && learned, "width `posterior`", "a certificate learned by epochs"),
        ];
        if let Some(&(_, first, second)) = incompatible.iter().find(|(both, ..)| *both) {
            return Err(check::incompatible(first, second));
        }
        let intervals = match (branches, certificate) {
            (Branches::Offline, _) => return Ok(Self::Offline),
            (Branches::Arms, _) => return Ok(Self::Arms),
            _ if posterior => {
                let prior = match branches {
                    Branches::Online => Prior::Ridge,
                    _ if adaptive => Prior::Adaptive,
                    _ if pooled && pooling == Pooling::Discounted => Prior::Told,
                    // Of logs that are pooled in full, a posterior allows for no drift.
                    _ => Prior::Warm,
                };
                return Ok(Self::Posterior { prior, explore });
            }
            (Branches::Online, _) => Intervals::Online,
            (Branches::Warm, _) => Intervals::Warm,
            (_, Certification::Told | Certification::Adaptive) => {
                Intervals::Pooled { pooling, drift: Drift::Told, fallback }
            }
            (_, Certification::Learned(epochs)) => {
                Intervals::Pooled { pooling, drift: Drift::Learned(epochs), fallback }
            }
        };
        Ok(if layered { Self::Layered(intervals) } else { Self::Flat(intervals) })
    }
}

impl From<Method> for Switches {
    fn from(method: Method) -> Self {
        let flat = |branches| Self {
            layering: Layering::Flat,
            branches,
            pooling: Pooling::Full,
            certificate: Certification::Told,
            width: Width::Confidence,
            explore: Explore::Ucb,
        };
        let both = |fallback| flat(if fallback { Branches::Both } else { Branches::Pooled });
        let discounted = |certificate, words| Self { pooling: Pooling::Discounted, certificate, ..words };
        match method {
            Method::Layered(intervals) => {
                Self { layering: Layering::Layered, ..Method::Flat(intervals).into() }
            }
            Method::Flat(Intervals::Online) => flat(Branches::Online),
            Method::Flat(Intervals::Warm) => flat(Branches::Warm),
            Method::Flat(Intervals::Pooled { pooling, drift: Drift::Told, fallback }) => {
                Self { pooling, ..both(fallback) }
            }
            Method::Flat(Intervals::Pooled { pooling, drift: Drift::Learned(epochs), fallback }) => {
                Self { pooling, certificate: Certification::Learned(epochs), ..both(fallback) }
            }
            Method::Posterior { prior, explore } => {
                let words = match prior {
                    Prior::Ridge => flat(Branches::Online),
                    Prior::Warm => flat(Branches::Warm),
                    Prior::Told => discounted(Certification::Told, both(true)),
                    Prior::Adaptive => discounted(Certification::Adaptive, both(true)),
                };
                Self { width: Width::Posterior, explore, ..words }
            }
            Method::Offline => flat(Branches::Offline),
            Method::Arms => flat(Branches::Arms),
            other => unreachable!("{other:?} has no words yet"),
        }
    }
}
