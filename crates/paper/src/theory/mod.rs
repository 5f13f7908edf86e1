//! The paper's theorems as numbers: what a run is guaranteed, and what no policy can avoid.
//!
//! | question | answer | in the paper |
//! |---|---|---|
//! | where may the live parameter be, before any live data? | [`OfflineRegion`] | Proposition 1 |
//! | how much regret can this run have had? | [`guarantee`] | Theorem 1 |
//! | the same, before the run | [`spectral_bound`] | Definition 2, Theorem 2 |
//! | do the logs pay? | [`better_regime`] | Corollary 1 |
//! | what does learning the certificate cost? | [`LearnedEpochs`] | Theorems 4 and 7, Corollary 2 |
//! | what must every policy suffer? | [`DiagonalProblem::lower_bound`] | Theorem 3 |
//! | why is the length of the drift not enough to know? | [`IsotropicInstances`] | Theorem 5 |
//!
//! Theorems and corollaries are numbered in order of appearance, appendix included.
//!
//! # Which constants are open?
//!
//! `C_SL` (online fallback) and c, m₀ (lower bound) have no values in the paper's theorems; here
//! they are arguments. [`PROOF_SUBSET_SIZE`] and [`PROOF_CONSTANT`] are what the proof of Theorem 3
//! gives; for `C_SL` see [`FallbackParams::constant`].
//!
//! # Which ridges are covered?
//!
//! The paper has ridge λ = 1. Elsewhere λ enters through `β_off` alone (`√λ S`, and a
//! log-determinant relative to λI): the increments `Λ_ℓ` are relative to `G_off` for every λ. One
//! step of the proofs limits it: `log(1 + u) ≥ u/2`, with u the squared length of a feature vector
//! in `G_off⁻¹`, holds for u ≤ 2.51 only. Features of length at most 1 and no eigenvalue of `G_off`
//! below 0.4 suffice; without that, no upper bound here is proven.

mod alignment;
mod epochs;
mod guarantee;
mod impossibility;
mod ladder;
mod lower_bound;
mod pooled;
mod regime;
mod region;
mod spectral;
mod subset_search;
mod water;

pub use alignment::{alignment, bias_scale, learned_alignment};
pub use epochs::{LearnedEpoch, LearnedEpochs};
pub use guarantee::{FallbackParams, Guarantee, OnlineFallback, guarantee};
pub use impossibility::{IMPOSSIBILITY_CONSTANT, IMPOSSIBILITY_RANGE, IsotropicInstances, largest_drift};
pub use lower_bound::{DiagonalProblem, LowerBound, PROOF_CONSTANT, PROOF_SUBSET_SIZE};
pub use pooled::{LayerPath, PooledPath, PooledRadius};
pub use regime::{Regime, aligned_bound, better_regime};
pub use region::OfflineRegion;
pub use spectral::{SpectralBound, layer_count, spectral_bound, spectral_envelope};
pub use water::{Spectrum, WaterFilling};
