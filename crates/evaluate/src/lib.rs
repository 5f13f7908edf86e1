//! What another policy would have earned: off-policy estimates from logs with probabilities. Numbers in, numbers out.
//!
//! A logged decision i took action a with probability p and paid r; the policy that is asked about would have taken a with probability
//! π. With w = π / p and a model q of rewards:
//!
//! ```text
//! replay  Σ π r / Σ π              what was earned where both agree: right only if the log chose uniformly
//! ips     (1/n) Σ w r              without bias, if p > 0 wherever π > 0
//! snips   Σ w r / Σ w              the same, divided by what the weights come to: less noise for a little bias
//! direct  (1/n) Σ Σ_b π(b) q(b)    as good as its model
//! dr      (1/n) Σ [Σ_b π(b) q(b) + w (r - q(a))]   without bias whatever the model, and the less noise the better it is
//! ```
//!
//! These are the formulas of Open Bandit Pipeline (`ReplayMethod`, `InverseProbabilityWeighting`, `SelfNormalizedInverseProbabilityWeighting`,
//! `DirectMethod`, `DoublyRobust`). Intervals come from the central limit theorem; [`Estimates::warnings`] says where that is not to
//! be relied on.
//!
//! ```
//! use truenorth_evaluate::{Decision, Estimates};
//!
//! let decision = |reward, target| Decision { reward, probability: 0.5, target, weight: 1.0 };
//! let decisions = [decision(1.0, 1.0), decision(0.0, 0.0), decision(0.0, 1.0), decision(1.0, 0.0)];
//! let found = Estimates::new(&decisions);
//! assert_eq!((found.ips.value, found.snips.value, found.effective), (0.5, 0.5, 2.0));
//! ```

mod direct;
mod estimates;
mod warning;

pub use direct::{Direct, MOST_FEATURES, Modelled, Row, modelled};
pub use estimates::{Decision, Estimate, Estimates};
