//! What every policy must suffer on a diagonal problem (Theorem 3, the lower bound, thm:lower).
//!
//! ```text
//! Ψ(S) = √(|S| T² / (T + N(S))) + min{ N(S) T v(S) / (T + N(S)), √(|S| N(S) T / (T + N(S))) }
//! inf over policies, sup over instances:   E[R_T] ≥ c max_{|S| ≥ m₀} min{ √(d T), Ψ(S) }
//! ```
//!
//! Actions are the d coordinate axes, with unit Gaussian rewards; arm i has `n_i` logged samples
//! and may have drifted by `v_i = ρ / √b_i`. N(S) sums the counts, v(S) is the smallest budget in S.
//! The first term is what online exploration costs when N(S) samples are given; the second what
//! a drift costs that those samples cannot show. For noise σ, divide the budgets by σ and multiply
//! the bound by it.
//!
//! # Which subset?
//!
//! Every subset gives a valid bound, so a search that misses the best one is merely less sharp. Up
//! to 20 arms all subsets are tried (which an m₀ of 32 leaves no room for). Beyond, for a given
//! size and smallest budget, Ψ is concave in `N/(T + N)` and so has one peak in N. Of the arms with
//! that budget or more, subsets are then walked from the smallest counts to the largest, one arm
//! giving way to the next larger at a time, and the two on either side of the peak are tried.
//! O(d² log d).

use serde::Serialize;
use truenorth::Result;

use super::subset_search::{by_enumeration, by_ladders};
use crate::check;

/// m₀ of the proof of Theorem 3. The theorem says only that some m₀ exists.
pub const PROOF_SUBSET_SIZE: usize = 32;

/// c of the proof of Theorem 3, `(e^(-1/100)/2 - 1/4) / 128`; the paper does not state it.
///
/// Regret is at least `μT/2` with probability `e^(-1/100)/2 - 1/4` or more, and μT at least
/// `Ψ(S)/64` (case N > 0; the other case has a larger constant).
pub const PROOF_CONSTANT: f64 = 0.001_914_257_163_082_688;

/// Most arms for which all 2^d subsets are tried: about a million.
const ENUMERABLE: usize = 20;

/// Arms along the axes, with logged counts `n_i` and bias budgets `v_i`.
#[derive(Debug, Clone, PartialEq)]
pub struct DiagonalProblem {
    pub(super) horizon: f64,
    pub(super) counts: Vec<f64>,
    pub(super) budgets: Vec<f64>,
}

/// The best lower bound that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LowerBound {
    /// c min{ √(d T), Ψ(S) }: the regret that no policy avoids on all instances.
    pub regret: f64,
    /// min{ √(d T), Ψ(S) }, without the constant.
    pub hardness: f64,
    /// S, as increasing arm indices from 0.
    pub subset: Vec<usize>,
    /// What min{ √(d T), Ψ(S) } is at most, over all subsets: the search missed no more than that.
    #[serde(skip)]
    pub ceiling: f64,
    /// Whether no subset is harder, up to rounding: all were tried, or `hardness` is the `ceiling`.
    pub exact: bool,
}

impl DiagonalProblem {
    /// From the horizon T, the counts `n_i` and the budgets `v_i`.
    pub fn new(horizon: u64, counts: &[u64], budgets: &[f64]) -> Result<Self> {
        let horizon = check::at_least_one("horizon", horizon)?;
        check::at_least_one("dimension", counts.len() as u64)?;
        check::length("the list of budgets", counts.len(), budgets.len())?;
        for &budget in budgets {
            check::at_least_zero("budgets", budget)?;
        }
        let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        // Sums of whole numbers below 2^53 are exact, in any order of the arms.
        let total: f64 = counts.iter().sum();
        check::range(total <= 9e15, "counts", "at most 9e15 in total", total)?;
        Ok(Self { horizon, counts, budgets: budgets.to_vec() })
    }

    /// Ψ(S) for the arms of `subset`, which must be distinct.
    pub fn hardness(&self, subset: &[usize]) -> Result<f64> {
        let mut chosen = vec![false; self.counts.len()];
        check::range(!subset.is_empty(), "subset", "of at least 1 arm", subset.len() as f64)?;
        for &arm in subset {
            let fits = arm < chosen.len() && !std::mem::replace(&mut chosen[arm], true);
            check::range(fits, "subset", "of distinct arms of the problem", arm as f64)?;
        }
        Ok(self.psi_of(subset))
    }

    /// Theorem 3's bound over subsets of at least `smallest_subset` arms (m₀), times `constant`
    /// (c); `None` with fewer arms than that, where the theorem is silent.
    ///
    /// [`PROOF_SUBSET_SIZE`] and [`PROOF_CONSTANT`] are the values that the proof supports.
    pub fn lower_bound(&self, smallest_subset: usize, constant: f64) -> Result<Option<LowerBound>> {
        check::at_least_one("smallest_subset", smallest_subset as u64)?;
        check::positive("constant", constant)?;
        let dimension = self.counts.len();
        if dimension < smallest_subset {
            return Ok(None);
        }
        let found = if dimension <= ENUMERABLE {
            by_enumeration(self, smallest_subset)
        } else {
            by_ladders(self, smallest_subset)
        };
        let ambient = (dimension as f64 * self.horizon).sqrt();
        let (hardness, ceiling) = (found.psi.min(ambient), found.ceiling.min(ambient));
        Ok(Some(LowerBound {
            regret: constant * hardness,
            hardness,
            subset: found.subset,
            ceiling,
            exact: hardness >= ceiling,
        }))
    }

    /// Ψ(S) of distinct arms.
    pub(super) fn psi_of(&self, subset: &[usize]) -> f64 {
        let total = subset.iter().map(|&arm| self.counts[arm]).sum();
        let budget = subset.iter().map(|&arm| self.budgets[arm]).fold(f64::INFINITY, f64::min);
        self.psi(subset.len(), total, budget)
    }

    /// Ψ as a function of |S|, N(S) and v(S).
    pub(super) fn psi(&self, size: usize, total: f64, budget: f64) -> f64 {
        let (m, n, v, t) = (size as f64, total, budget, self.horizon);
        // T / (T + N), first: T² would be rounded for no reason.
        let share = t / (t + n);
        (m * t * share).sqrt() + (n * share * v).min((m * n * share).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardness_by_hand() {
        let problem = DiagonalProblem::new(100, &[0, 100, 200, 5], &[9.0, 0.1, 0.5, 0.0]).unwrap();
        // S = {1, 2}: N = 300, T/(T+N) = 1/4, v = 0.1: √50 + min{7.5, √150}.
        let both = problem.hardness(&[2, 1]).unwrap();
        assert!((both - (50f64.sqrt() + 7.5)).abs() < 1e-12);
        // S = {2}: N = 200, share 1/3, v = 0.5: √(100/3) + min{33.3, √(200/3)}.
        let one = problem.hardness(&[2]).unwrap();
        assert!((one - ((100f64 / 3.0).sqrt() + (200f64 / 3.0).sqrt())).abs() < 1e-12);
        // No samples: √(|S| T). No drift: the first term alone.
        assert!((problem.hardness(&[0]).unwrap() - 10.0).abs() < 1e-12);
        let undrifted = (2.0 * 1e4 / 205.0f64).sqrt();
        assert!((problem.hardness(&[1, 3]).unwrap() - undrifted).abs() < 1e-12);
    }

    #[test]
    fn without_logs_the_bound_is_the_online_one_times_the_constant() {
        let problem = DiagonalProblem::new(10_000, &[0; 36], &[1.0; 36]).unwrap();
        let bound = problem.lower_bound(PROOF_SUBSET_SIZE, PROOF_CONSTANT).unwrap().unwrap();
        // √(36 · 10⁴) = 600.
        assert!((bound.hardness - 600.0).abs() < 1e-9 && bound.exact);
        assert!((bound.regret - 600.0 * PROOF_CONSTANT).abs() < 1e-12);
        assert_eq!(bound.subset.len(), 36);
    }

    #[test]
    fn trustworthy_arms_are_left_out() {
        // 40 arms without logs, 40 with 10⁶ samples that cannot have drifted.
        let (mut counts, mut budgets) = ([0; 80], [0.5; 80]);
        counts[40..].fill(1_000_000);
        budgets[40..].fill(0.0);
        let problem = DiagonalProblem::new(1000, &counts, &budgets).unwrap();
        let bound = problem.lower_bound(PROOF_SUBSET_SIZE, 1.0).unwrap().unwrap();
        assert_eq!(bound.subset, (0..40).collect::<Vec<_>>());
        assert!((bound.hardness - 200.0).abs() < 1e-9 && bound.exact);
    }

    #[test]
    fn useless_logs_are_capped_at_the_online_rate() {
        // N = T and a huge drift: Ψ = √(dT/2) + √(dT/2) = √2 √(dT), which is cut to √(dT).
        let problem = DiagonalProblem::new(320, &[10; 32], &[1e6; 32]).unwrap();
        let everything: Vec<usize> = (0..32).collect();
        let ambient = (32.0 * 320f64).sqrt();
        let psi = problem.hardness(&everything).unwrap();
        assert!((psi - ambient * 2f64.sqrt()).abs() < 1e-9);
        let bound = problem.lower_bound(PROOF_SUBSET_SIZE, 1.0).unwrap().unwrap();
        assert!((bound.hardness - ambient).abs() < 1e-9 && bound.exact);
    }

    #[test]
    fn constants_follow_from_the_proof() {
        let escapes = 0.5 * (-0.01f64).exp() - 0.25;
        // Case N > 0: half the rounds cost μ, and μT is at least Ψ/64.
        assert!((PROOF_CONSTANT - escapes / 2.0 / 64.0).abs() < 1e-17);
        // Case N = 0: half the rounds cost √(m/T)/8, with Markov's 2/m instead of 8/m.
        let markov = 2.0 / PROOF_SUBSET_SIZE as f64;
        assert!((0.5 * (-0.01f64).exp() - markov) / 2.0 / 8.0 > PROOF_CONSTANT);
        // m₀: 8/m ≤ 1/4 is what the proof asks of the size.
        assert!((8.0 / PROOF_SUBSET_SIZE as f64 - 0.25).abs() < 1e-15);
    }

    #[test]
    fn fewer_arms_than_the_theorem_needs_give_no_bound() {
        let problem = DiagonalProblem::new(10, &[0; 31], &[1.0; 31]).unwrap();
        assert_eq!(problem.lower_bound(PROOF_SUBSET_SIZE, 1.0), Ok(None));
        assert!(problem.lower_bound(31, 1.0).unwrap().is_some());
    }

    #[test]
    fn impossible_inputs_are_refused() {
        let short = DiagonalProblem::new(10, &[1, 2], &[1.0]).unwrap_err();
        assert_eq!(short.to_string(), "the list of budgets must hold 2 numbers, but holds 1");
        assert!(DiagonalProblem::new(0, &[1], &[1.0]).is_err());
        assert!(DiagonalProblem::new(1, &[], &[]).is_err());
        assert!(DiagonalProblem::new(1, &[1], &[-1.0]).is_err());
        assert!(DiagonalProblem::new(1, &[u64::MAX], &[1.0]).is_err());
        let problem = DiagonalProblem::new(10, &[1, 2], &[1.0, 1.0]).unwrap();
        for subset in [&[] as &[usize], &[2], &[0, 0]] {
            assert!(problem.hardness(subset).is_err(), "{subset:?}");
        }
        assert!(problem.lower_bound(0, 1.0).is_err() && problem.lower_bound(1, 0.0).is_err());
    }
}
