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
//! τ_k is the number of observations before the epoch, and one, where there were more of them than rounds: rows of others.
//! β_k is the closed form of the paper's appendix. It bounds the log-determinant of `G_k/λ` when
//! `λ ≥ 1/d` (features of length at most 1); for smaller ridges it is a convention, not a theorem.

use crate::certificate::Certificate;
use crate::check;
use crate::dense::{self, Matrix, Vector};
use crate::error::{Reason, Result};
use crate::given::Given;
use crate::settings::Settings;
use crate::statistic::RidgeStatistic;

/// When the certificate is learned anew: the rounds τ_1 = 1 < τ_2 < ... as they were given, or τ_k = 2^(k-1).
#[derive(Clone, Copy)]
pub(crate) struct Epochs<'a>(pub(crate) &'a Option<Vec<u64>>);

impl Epochs<'_> {
    /// K_ep, the number of epochs that start within `horizon` rounds.
    pub(crate) fn count(self, horizon: u64) -> u64 {
        match self.0 {
            None => u64::from(horizon.max(1).ilog2()) + 1,
            Some(starts) => starts.len() as u64,
        }
    }

    /// Whether an epoch starts with this round, counted from 1.
    pub(crate) fn starts(self, round: u64, horizon: u64) -> bool {
        match self.0 {
            None => round.is_power_of_two() && round <= horizon,
            Some(starts) => starts.binary_search(&round).is_ok(),
        }
    }

    /// The last start up to this round, or the first.
    pub(crate) fn latest(self, round: u64, horizon: u64) -> u64 {
        match self.0 {
            None => 1 << round.clamp(1, horizon.max(1)).ilog2(),
            Some(starts) => starts.iter().copied().take_while(|&start| start <= round).last().unwrap_or(1),
        }
    }

    pub(crate) fn check(self, horizon: u64) -> Result<()> {
        let Some(starts) = self.0 else { return Ok(()) };
        let mut previous = 0;
        for (index, &start) in starts.iter().enumerate() {
            if start <= previous || start > horizon || (index == 0 && start != 1) {
                return Err(Reason::Epochs { index, start, horizon }.into());
            }
            previous = start;
        }
        if starts.is_empty() { Err(Reason::Epochs { index: 0, start: 0, horizon }.into()) } else { Ok(()) }
    }
}

/// The parallel sum `(A⁻¹ + B⁻¹)⁻¹ = A (A + B)⁻¹ B` of two positive definite matrices.
///
/// Its quadratic form is the cheapest way to split a vector between the two (Proposition 4):
///
/// ```text
/// ‖x‖² in A ∥ B = min over x = u + v of ‖u‖² in A + ‖v‖² in B
/// ```
pub(crate) fn parallel_sum(a: &Matrix, b: &Matrix) -> Result<Matrix> {
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

/// The certificate of one of so many epochs, that which starts with round `start`, from the live data before it.
pub(crate) fn learn_certificate(
    given: &Given,
    live: &RidgeStatistic,
    start: u64,
    epochs: u64,
) -> Result<Certificate> {
    let Given { noise, norm_bound, ref offline, settings: Settings { delta, .. }, .. } = *given;
    check::length("the live moment", given.ridge.len(), live.dimension())?;
    let precision = live.gram_matrix() + Matrix::from_diagonal(&given.ridge);
    let factor = dense::cholesky("the live precision", &precision)?;
    let estimate = dense::solve_from_factor(&factor, &Vector::from_column_slice(live.moment()));
    let matrix = parallel_sum(&precision, offline.precision_matrix())?;
    let inverse = dense::inverse_from_factor(&factor) + offline.covariance();

    let gap = estimate - Vector::from_column_slice(offline.estimate());
    // ρ̂_k with the closed-form radii of the doubling schedule (Theorem 7).
    let distance = gap.dot(&(&matrix * &gap)).max(0.0).sqrt();
    // Without rows of others there are no more observations than rounds before.
    let observed = (start as f64).max(live.weight() + 1.0);
    let live_radius = live_radius(given, live.dimension(), observed, epochs);
    let offline_radius = offline.radius(noise, norm_bound, delta / 2.0);
    Certificate::from_inverse(&inverse, matrix, distance + live_radius + offline_radius)
}

/// β_k, with d and τ_k.
fn live_radius(given: &Given, dimension: usize, observed: f64, epochs: u64) -> f64 {
    let log_budget = (2.0 * epochs as f64 / given.settings.delta).ln();
    given.noise * (dimension as f64 * observed.ln_1p() + 2.0 * log_budget).sqrt() + given.slack
}

/// The certificate in force as it would have been with features that were 0 in logs and live data, which come last: there
/// M̂_k is λ ∥ λ, and β_k grows with d. `others` are the live observations that are no round's.
pub(crate) fn grown_certificate(
    given: &Given,
    epochs: Epochs<'_>,
    certificate: &Certificate,
    (rounds, others): (u64, f64),
) -> Result<Certificate> {
    let horizon = given.settings.needed_horizon("by the learned certificate")?;
    // At most so many of them came before the epoch; β_k of more observations grows by more.
    let observed = epochs.latest(rounds, horizon) as f64 + others;
    let radius = |dimension: usize| live_radius(given, dimension, observed, epochs.count(horizon));
    let dimension = given.settings.dimension;
    let rho = certificate.rho() + (radius(dimension) - radius(certificate.dimension()));
    certificate.grown_by(dimension, 0.5 * given.ridge[dimension - 1]).with_radius(rho)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::Preset;
    use crate::settings::{Drift, Intervals, Method, Pooling};

    fn settings(delta: f64) -> Settings {
        let settings = Settings::new(2).preset(Preset::EllipsoidalMinUcb3d).horizon(8);
        settings.noise(0.5).norm_bound(1.0).delta(delta)
    }

    fn given(delta: f64) -> Given {
        Given::new(settings(delta)).unwrap().0
    }

    #[test]
    fn parallel_sum_adds_resistances() {
        let (a, b) = (Matrix::from_diagonal_element(2, 2, 3.0), Matrix::from_diagonal_element(2, 2, 6.0));
        assert!((parallel_sum(&a, &b).unwrap() - Matrix::from_diagonal_element(2, 2, 2.0)).amax() < 1e-15);
    }

    #[test]
    fn parallel_sum_is_the_cheapest_split() {
        let spread = |side: usize, seed: usize| {
            let root = Matrix::from_fn(side, side, |i, j| ((i * 7 + j * 13 + seed * 5) % 11) as f64 - 5.0);
            root.tr_mul(&root) + Matrix::identity(side, side)
        };
        let form = |matrix: &Matrix, x: &Vector| x.dot(&(matrix * x));
        for (side, seed) in (1..7).flat_map(|side| (0..10).map(move |seed| (side, seed))) {
            let (a, b) = (spread(side, seed), spread(side, seed + 3));
            let x = Vector::from_fn(side, |i, _| ((i * 3 + seed) % 7) as f64 - 3.5);
            let cost = form(&parallel_sum(&a, &b).unwrap(), &x);
            // The minimiser of the proof attains it, and no other split is cheaper.
            let u = (&a + &b).cholesky().unwrap().solve(&(&b * &x));
            assert!((form(&a, &u) + form(&b, &(&x - &u)) - cost).abs() <= 1e-10 * cost);
            for turn in 1..20 {
                let other = &u + Vector::from_fn(side, |i, _| 0.1 * (((i + turn) * seed) % 5) as f64 - 0.2);
                assert!(form(&a, &other) + form(&b, &(&x - &other)) >= cost * (1.0 - 1e-12));
            }
        }
    }

    #[test]
    fn first_epoch_knows_only_the_prior() {
        let certificate = learn_certificate(&given(0.1), &RidgeStatistic::new(2).unwrap(), 1, 4).unwrap();
        // M̂ = I/2; ρ̂ = 0 + 0.5 √(2 log 2 + 2 log 80) + 1 + 0.5 √(2 log 20) + 1.
        assert!(
            certificate.matrix().iter().zip([0.5, 0.0, 0.0, 0.5]).all(|(found, m)| (found - m).abs() < 1e-15)
        );
        let by_hand = 2.0 + 0.5 * ((2.0 * 2f64.ln() + 2.0 * 80f64.ln()).sqrt() + (2.0 * 20f64.ln()).sqrt());
        assert!((certificate.rho() - by_hand).abs() < 1e-14);
    }

    #[test]
    fn rows_of_others_count_among_the_observations_of_an_epoch() {
        let mut live = RidgeStatistic::new(2).unwrap();
        let rho =
            |live: &RidgeStatistic, start| learn_certificate(&given(0.1), live, start, 4).unwrap().rho();
        for _ in 0..7 {
            live.observe(&[0.5, 0.0], 0.0).unwrap();
        }
        // Seven observations are before round 8 at the earliest, where M̂ and the distance are the same.
        assert!([1, 2, 7].iter().all(|&start| (rho(&live, start) - rho(&live, 8)).abs() < 1e-15));
        assert!(rho(&live, 9) > rho(&live, 8));
    }

    #[test]
    fn the_epoch_in_force_is_the_last_that_started() {
        assert_eq!([0, 1, 2, 3, 8, 9, 99].map(|round| Epochs(&None).latest(round, 9)), [1, 1, 2, 2, 8, 8, 8]);
        let starts = Some(vec![1, 5, 9]);
        assert_eq!([0, 1, 4, 5, 99].map(|round| Epochs(&starts).latest(round, 9)), [1, 1, 1, 5, 9]);
    }

    #[test]
    fn rules_and_matrices_that_do_not_fit_are_refused() {
        assert!(learn_certificate(&given(0.1), &RidgeStatistic::new(3).unwrap(), 1, 4).is_err());
        assert!(Given::new(settings(-0.1)).is_err());
        let drift = Drift::Learned(Some(Vec::new()));
        let none = Intervals::Pooled { pooling: Pooling::Full, drift, fallback: true };
        assert!(Given::new(settings(0.1).method(Method::Flat(none))).is_err());
        assert!(parallel_sum(&Matrix::identity(2, 2), &Matrix::identity(3, 3)).is_err());
        assert!(parallel_sum(&Matrix::zeros(2, 3), &Matrix::identity(2, 2)).is_err());
    }

    #[test]
    fn doubling_epochs_start_at_powers_of_two_within_the_horizon() {
        let starts: Vec<u64> = (1..=20).filter(|&t| Epochs(&None).starts(t, 9)).collect();
        assert_eq!(starts, [1, 2, 4, 8]);
        assert_eq!([1, 2, 3, 4, 9].map(|horizon| Epochs(&None).count(horizon)), [1, 2, 2, 3, 4]);
    }

    #[test]
    fn given_epochs_must_start_with_the_first_round_and_increase() {
        assert_eq!(Epochs(&Some(vec![1, 5, 9])).check(9), Ok(()));
        for (starts, index) in [(vec![], 0), (vec![2], 0), (vec![1, 1], 1), (vec![1, 5, 10], 2)] {
            assert!(
                matches!(Epochs(&Some(starts)).check(9).unwrap_err().0, Reason::Epochs { index: i, .. } if i == index)
            );
        }
    }
}
