//! Linear contextual bandits that start from old, biased logs without letting their bias decide.
//!
//! A team has logs from an earlier policy, population or season and now makes live decisions. The
//! logs are right in some feature directions and wrong in others. This library measures an action's
//! reward twice, from live data alone and from live data pooled with the logs, and believes the
//! narrower of the two intervals; a *directional bias certificate* says how far each direction may
//! have drifted, given or learned from the data.
//!
//! ```
//! use truenorth::{Actions, Policy, RidgeStatistic};
//!
//! let mut logs = RidgeStatistic::new(2)?;
//! logs.observe(&[0.8, 0.6], 0.9)?; // one call a logged row
//! let mut policy = Policy::builder(2).logs(logs).build()?;
//! let actions = Actions::new(&[1.0, 0.0, 0.0, 1.0], 2)?; // two actions, two features each
//! let choice = policy.choose(actions)?;
//! policy.learn(choice.rewarded(actions, 0.7))?;
//! # Ok::<(), truenorth::Error>(())
//! ```
//!
//! # Symbols
//!
//! | paper | here | what it is |
//! |---|---|---|
//! | T, K, d | `horizon`, [`Actions::count`], `dimension` | rounds, actions, features |
//! | θ_*, θ† | live parameter, logged parameter | what rewards depend on, now and in the logs |
//! | σ, S, λ, δ | `noise`, `norm_bound`, `ridge`, `delta` | noise scale, bound on both parameters, ridge, failure probability |
//! | D_off | [`RidgeStatistic`] | count, Gram matrix, moment, squares of the logs |
//! | `G_off`, `θ̂_off`, β_off | `Offline` | the logs' regression |
//! | (M_bias, ρ) | [`Certificate`] | ‖θ_* - θ†‖ in `M_bias` is at most ρ |
//! | A_l, b_l | `LayerView` | live Gram matrix and moment of a layer, no ridge |
//! | V_l, W | the two branches | online precision λI + A, and pooling weight in A + W |
//! | U, L, w | [`ActionInterval`] | upper and lower confidence bound, width |
//! | ψ, γ, β_on | the parts of a [`BranchInterval`] | routed bias, pooled and online radius |
//! | Λ_ℓ, ρψ | `LayerView`, `Choice` | what the regret bounds need of a run |
//!
//! The paper has λ = 1; for other ridges, log-determinants are relative to λI and √λ S stands where
//! the paper has S.

mod arms;
mod aside;
mod band;
mod belief;
mod blocks;
mod branch;
mod certificate;
#[doc(hidden)]
pub mod check;
mod confidence;
mod decide;
mod dense;
mod error;
mod explain;
mod explore;
mod favourite;
mod features;
mod fit;
#[cfg(feature = "serde")]
#[doc(hidden)]
pub mod frame;
mod given;
mod gram;
mod grow;
mod kernel;
mod later;
mod learned;
mod offline;
mod parted;
mod policy;
mod posterior;
mod precision;
mod preset;
mod products;
mod round;
mod score;
mod settings;
#[cfg(feature = "serde")]
mod snapshot;
mod spare;
mod statistic;
mod triangle;

pub use branch::{ActionInterval, Branch, BranchInterval};
pub use certificate::Certificate;
pub use decide::Room;
pub use error::{Error, ErrorKind, Result};
pub use explain::{Explanation, LayerExplanation};
pub use features::FeatureView;
pub use fit::{Fit, Fitted};
pub use policy::Policy;
pub use preset::Preset;
pub use round::{Actions, Choice, Counts, Decision, Observation, Row};
pub use settings::{Drift, Explore, Intervals, Method, Pooling, Prior, Schedule, Settings};
pub use statistic::RidgeStatistic;
#[doc(hidden)]
// For sister crates: the regression of the logs, and a layer, as the theorems see them; sums of columns.
pub use {offline::Offline, policy::LayerView, products::CrossProducts};

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
