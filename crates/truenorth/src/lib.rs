//! Linear contextual bandits that start from old, biased logs without letting their bias decide.
//!
//! A team has logs from an earlier policy, population or season and now makes live decisions. The
//! logs are right in some feature directions and wrong in others. This library measures an action's
//! reward twice, from live data alone and from live data pooled with the logs, and believes the
//! narrower of the two intervals; a *directional bias certificate* says how far each direction may
//! have drifted, given or learned from the data.
//!
//! ```
//! use truenorth::{Actions, Certificate, CertificateRule, Observation, Policy, Preset};
//!
//! let mut params = Preset::EllipsoidalMinUcb.params(2)?;
//! params.offline.observe(&[0.8, 0.6], 0.9)?; // one call a logged row
//! params.certificate = CertificateRule::Fixed(Certificate::from_budgets(&[0.5, 0.01])?);
//! (params.noise, params.horizon) = (Some(0.1), Some(1000));
//! let mut policy = Policy::new(params)?;
//! let actions = Actions::new(&[1.0, 0.0, 0.0, 1.0], 2)?; // two actions, two features each
//! let choice = policy.choose(actions)?;
//! let features = actions.features(choice.action);
//! policy.learn(Observation { decision: choice.decision, features, reward: 0.7 })?;
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
//! | `G_off`, `θ̂_off`, β_off | [`Offline::precision`], [`Offline::estimate`], [`Offline::radius`] | the logs' regression |
//! | (M_bias, ρ) | [`Certificate`] | ‖θ_* - θ†‖ in `M_bias` is at most ρ |
//! | A_l, b_l | [`LayerView::data`] | live Gram matrix and moment of a layer, no ridge |
//! | V_l, W | the two branches | online precision λI + A, and pooling weight in A + W |
//! | U, L, w | [`ActionInterval`] | upper and lower confidence bound, width |
//! | ψ, γ, β_on | the parts of a [`BranchInterval`] | routed bias, pooled and online radius |
//! | Λ_ℓ, Ψ̃_T | [`Policy::path`], [`Policy::routed_bias`] | what the regret bounds of [`theory`] need |
//!
//! The paper has λ = 1; for other ridges, log-determinants are relative to λI and √λ S stands where
//! the paper has S.

mod adaptive;
mod arms;
mod branch;
mod certificate;
mod check;
mod dense;
mod directions;
mod drift;
mod error;
mod evidence;
mod explain;
mod explore;
pub mod frame;
mod informed;
mod kernel;
mod learned;
mod lower;
mod neglect;
mod numbers;
mod offline;
mod params;
mod play;
mod policy;
mod precision;
mod preset;
mod products;
mod round;
mod score;
mod snapshot;
mod sparse;
mod statistic;
pub mod theory;
mod triangle;
mod trust;

pub use branch::{ActionInterval, Branch, BranchInterval};
pub use certificate::{Certificate, DriftDirection};
pub use dense::{Matrix, Vector};
pub use directions::FeatureView;
pub use error::{Error, Result};
pub use explain::{Explanation, LayerExplanation, PlayRule};
pub use learned::{Epochs, LearningRule, learn_certificate, parallel_sum};
pub use offline::{Offline, OfflineRegion};
pub use params::{Branches, CertificateRule, Explore, Layering, Params, Pooling, Schedule, Width};
pub use policy::{LayerView, Policy};
pub use preset::Preset;
pub use products::{CrossProducts, longest_square};
pub use round::{Actions, Choice, Counts, Decision, Observation};
pub use statistic::RidgeStatistic;

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
