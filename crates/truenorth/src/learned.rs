//! The certificate learned from data, epoch by epoch (Algorithm 2; valid by Theorem 6).
//!
//! Before round τ_k, from the live observations so far:
//!
//! ```text
//! G_k = λI + Σ x xᵀ,   θ̂_k = G_k⁻¹ Σ x r
//! M̂_k = (G_k⁻¹ + G_off⁻¹)⁻¹                                          (parallel sum)
//! ρ̂_k = ‖θ̂_k - θ̂_off‖ in M̂_k + β_k + β_off(δ/2)
//! β_k  = σ √(d log(1 + τ_k) + 2 log(2 K_ep/δ)) + √λ S
//! ```
//!
//! β_k is the closed form of the paper's appendix. It bounds the log-determinant of `G_k/λ` when
//! `λ ≥ 1/d` (features of length at most 1); for smaller ridges it is a convention, not a theorem.

use serde::{Deserialize, Serialize};

use crate::certificate::Certificate;
use crate::check;
use crate::dense::{self, Matrix, Vector};
use crate::error::{Error, Result};
use crate::offline::Offline;
use crate::statistic::RidgeStatistic;

/// When the certificate is learned anew: the rounds τ_1 = 1 < τ_2 < ...
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Epochs {
    /// τ_k = 2^(k-1).
    #[default]
    Doubling,
    /// The starts themselves.
    Given(Vec<u64>),
}

impl Epochs {
    /// K_ep, the number of epochs that start within `horizon` rounds.
    pub fn count(&self, horizon: u64) -> u64 {
        match self {
            Self::Doubling => u64::from(horizon.max(1).ilog2()) + 1,
            Self::Given(starts) => starts.len() as u64,
        }
    }

    /// Whether an epoch starts with this round, counted from 1.
    pub fn starts(&self, round: u64, horizon: u64) -> bool {
        match self {
            Self::Doubling => round.is_power_of_two() && round <= horizon,
            Self::Given(starts) => starts.binary_search(&round).is_ok(),
        }
    }

    pub(crate) fn check(&self, horizon: u64) -> Result<()> {
        let Self::Given(starts) = self else { return Ok(()) };
        let mut previous = 0;
        for (index, &start) in starts.iter().enumerate() {
            if start <= previous || start > horizon || (index == 0 && start != 1) {
                return Err(Error::Epochs { index, start, horizon });
            }
            previous = start;
        }
        if starts.is_empty() { Err(Error::Epochs { index: 0, start: 0, horizon }) } else { Ok(()) }
    }
}

/// What the learned radius depends on besides the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearningRule {
    /// σ.
    pub noise: f64,
    /// S.
    pub norm_bound: f64,
    /// λ.
    pub ridge: f64,
    /// δ_bias, the probability that any epoch's certificate fails.
    pub delta: f64,
    /// K_ep.
    pub epochs: u64,
}

/// The parallel sum `(A⁻¹ + B⁻¹)⁻¹ = A (A + B)⁻¹ B` of two positive definite matrices.
///
/// Its quadratic form is the cheapest way to split a vector between the two (Proposition 4):
///
/// ```text
/// ‖x‖² in A ∥ B = min over x = u + v of ‖u‖² in A + ‖v‖² in B
/// ```
pub fn parallel_sum(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    check::symmetric("the first matrix", a)?;
    check::symmetric("the second matrix", b)?;
    check::length("the second matrix", a.len(), b.len())?;
    let factor = dense::cholesky("the sum of the two matrices", &(a + b))?;
    // A(A+B)⁻¹B = A - A(A+B)⁻¹A would cancel; with A+B = CCᵀ, the product (C⁻¹A)ᵀ(C⁻¹B) does not.
    let (mut left, mut right) = (a.clone(), b.clone());
    factor.solve_lower_triangular_mut(&mut left);
    factor.solve_lower_triangular_mut(&mut right);
    let product = left.tr_mul(&right);
    Ok((&product + product.transpose()) * 0.5)
}

/// The certificate of the epoch that starts with round `start`, from the live data before it.
pub fn learn_certificate(
    offline: &Offline,
    live: &RidgeStatistic,
    start: u64,
    rule: &LearningRule,
) -> Result<Certificate> {
    check::at_least_zero("noise", rule.noise)?;
    check::at_least_zero("norm_bound", rule.norm_bound)?;
    check::probability("delta", rule.delta)?;
    check::at_least("epochs", "at least 1", 1, rule.epochs)?;
    check::length("the live moment", offline.dimension(), live.dimension())?;
    let precision = live.precision(rule.ridge)?;
    let factor = dense::cholesky("the live precision", &precision)?;
    let estimate = dense::solve_from_factor(&factor, &Vector::from_column_slice(live.moment()));
    let matrix = parallel_sum(&precision, offline.precision())?;
    let inverse = dense::inverse_from_factor(&factor) + offline.covariance();

    let gap = estimate - Vector::from_column_slice(offline.estimate());
    // ρ̂_k with the closed-form radii of the doubling schedule (Theorem 7).
    let distance = gap.dot(&(&matrix * &gap)).max(0.0).sqrt();
    let (d, log_budget) = (live.dimension() as f64, (2.0 * rule.epochs as f64 / rule.delta).ln());
    let live_radius = rule.noise * (d * (start as f64).ln_1p() + 2.0 * log_budget).sqrt()
        + rule.ridge.sqrt() * rule.norm_bound;
    let offline_radius = offline.radius(rule.noise, rule.norm_bound, rule.delta / 2.0);
    Certificate::from_inverse(&inverse, matrix, distance + live_radius + offline_radius)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_sum_adds_resistances() {
        let (a, b) = (Matrix::from_diagonal_element(2, 2, 3.0), Matrix::from_diagonal_element(2, 2, 6.0));
        assert!((parallel_sum(&a, &b).unwrap() - Matrix::from_diagonal_element(2, 2, 2.0)).amax() < 1e-15);
    }

    #[test]
    fn first_epoch_knows_only_the_prior() {
        let offline = Offline::new(&RidgeStatistic::new(2).unwrap(), 1.0).unwrap();
        let rule = LearningRule { noise: 0.5, norm_bound: 1.0, ridge: 1.0, delta: 0.1, epochs: 4 };
        let certificate = learn_certificate(&offline, &RidgeStatistic::new(2).unwrap(), 1, &rule).unwrap();
        // M̂ = I/2; ρ̂ = 0 + 0.5 √(2 log 2 + 2 log 80) + 1 + 0.5 √(2 log 20) + 1.
        assert!((certificate.matrix() - Matrix::from_diagonal_element(2, 2, 0.5)).amax() < 1e-15);
        let by_hand = 2.0 + 0.5 * ((2.0 * 2f64.ln() + 2.0 * 80f64.ln()).sqrt() + (2.0 * 20f64.ln()).sqrt());
        assert!((certificate.radius() - by_hand).abs() < 1e-14);
    }

    #[test]
    fn rules_and_matrices_that_do_not_fit_are_refused() {
        let (two, three) = (RidgeStatistic::new(2).unwrap(), RidgeStatistic::new(3).unwrap());
        let offline = Offline::new(&two, 1.0).unwrap();
        let rule = LearningRule { noise: 0.5, norm_bound: 1.0, ridge: 1.0, delta: 0.1, epochs: 4 };
        assert!(learn_certificate(&offline, &three, 1, &rule).is_err());
        assert!(learn_certificate(&offline, &two, 1, &LearningRule { delta: -0.1, ..rule }).is_err());
        assert!(learn_certificate(&offline, &two, 1, &LearningRule { epochs: 0, ..rule }).is_err());
        assert!(parallel_sum(&Matrix::identity(2, 2), &Matrix::identity(3, 3)).is_err());
        assert!(parallel_sum(&Matrix::zeros(2, 3), &Matrix::identity(2, 2)).is_err());
    }

    #[test]
    fn doubling_epochs_start_at_powers_of_two_within_the_horizon() {
        let starts: Vec<u64> = (1..=20).filter(|&t| Epochs::Doubling.starts(t, 9)).collect();
        assert_eq!(starts, [1, 2, 4, 8]);
        assert_eq!([1, 2, 3, 4, 9].map(|horizon| Epochs::Doubling.count(horizon)), [1, 2, 2, 3, 4]);
    }

    #[test]
    fn given_epochs_must_start_with_the_first_round_and_increase() {
        assert_eq!(Epochs::Given(vec![1, 5, 9]).check(9), Ok(()));
        for (starts, index) in [(vec![], 0), (vec![2], 0), (vec![1, 1], 1), (vec![1, 5, 10], 2)] {
            assert!(
                matches!(Epochs::Given(starts).check(9), Err(Error::Epochs { index: i, .. }) if i == index)
            );
        }
    }
}
