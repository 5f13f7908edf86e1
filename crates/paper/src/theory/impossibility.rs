//! Three problems with the same logs and the same length of drift: one easy, two hard (Theorem 5,
//! thm:rho-only-nonident, appendix B).
//!
//! ```text
//! all three        ‖θ - θ†‖₂ = ρ
//! Plus or Minus    E[R_T] ≥ c₁ ρ² T / ρ₀, whatever the policy
//! Good             always playing action 0 has no regret
//! ```
//!
//! Rewards are Bernoulli with mean xᵀθ, in three dimensions. The hard pair differs in the sign of a
//! drift that the logs are silent about, and ρ ≤ c₀/√T makes the two too alike to tell within T
//! rounds. For a fixed ρ₀ that keeps the bound below c₁ c₀²/ρ₀; along ρ₀ = 4ρ it grows like √T.

use truenorth::Result;

use crate::check;

/// c₀ = √(39/256), the largest that the proof allows: the divergence of the hard pair is at most
/// `(32/39) ρ² T`, and has to stay at or below 1/8.
pub const IMPOSSIBILITY_RANGE: f64 = 0.390_312_374_899_899_9;

/// c₁ = e^(-1/8)/64: half of Bretagnolle-Huber's `e^(-1/8)/2`, times the regret `ρ² T / (16 ρ₀)`.
pub const IMPOSSIBILITY_CONSTANT: f64 = 0.013_789_014_102_884_304;

/// The construction of Theorem 5 for one horizon, ρ₀ and ρ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IsotropicInstances {
    horizon: u64,
    signal: f64,
    drift: f64,
}

/// Largest ρ that the theorem covers: min{ρ₀/4, c₀/√T}.
pub fn largest_drift(horizon: u64, signal: f64) -> f64 {
    (signal / 4.0).min(IMPOSSIBILITY_RANGE / (horizon as f64).sqrt())
}

impl IsotropicInstances {
    /// For `horizon` T ≥ 1, `signal` ρ₀ in (0, 1/4] and `drift` ρ in (0, [`largest_drift`]].
    pub fn new(horizon: u64, signal: f64, drift: f64) -> Result<Self> {
        check::at_least_one("horizon", horizon)?;
        check::range(signal > 0.0 && signal <= 0.25, "signal", "above 0 and at most 1/4", signal)?;
        let range = "above 0 and at most min(signal/4, 0.39/sqrt(horizon))";
        check::range(drift > 0.0 && drift <= largest_drift(horizon, signal), "drift", range, drift)?;
        Ok(Self { horizon, signal, drift })
    }

    /// The three feature vectors x⁽⁰⁾, x⁽⁺⁾, x⁽⁻⁾, of length 1, the same in every round.
    pub fn actions(&self) -> [[f64; 3]; 3] {
        let (rho_0, rho_bar) = (self.signal, self.drift_coordinate());
        let norm = rho_0.hypot(rho_bar);
        [[1.0, 0.0], [rho_0 / norm, rho_bar / norm], [rho_0 / norm, -rho_bar / norm]]
            .map(|[a_1, a_2]| [1.0, a_1, a_2].map(|entry| entry * std::f64::consts::FRAC_1_SQRT_2))
    }

    /// θ†, the same in all three problems.
    pub fn offline_parameter(&self) -> [f64; 3] {
        lift(self.signal, 0.0)
    }

    /// θ of each problem, at distance ρ from θ†.
    ///
    /// Plus: the hidden drift points towards action 1, which is then optimal. Minus: towards action 2, which is then
    /// optimal. Good: the drift only strengthens what the logs say, and action 0 is optimal.
    pub fn parameters(&self) -> [[f64; 3]; 3] {
        let (rho_0, rho_bar) = (self.signal, self.drift_coordinate());
        [lift(rho_0, rho_bar), lift(rho_0, -rho_bar), lift(rho_0 + rho_bar, 0.0)]
    }

    /// c₁ ρ² T / ρ₀: no policy has less expected regret in both `Plus` and `Minus`.
    pub fn regret_lower_bound(&self) -> f64 {
        IMPOSSIBILITY_CONSTANT * self.drift.powi(2) * self.horizon as f64 / self.signal
    }

    /// ρ̄ = ρ / √2: the lift by √2 makes a step of ρ̄ a drift of length ρ.
    fn drift_coordinate(&self) -> f64 {
        self.drift * std::f64::consts::FRAC_1_SQRT_2
    }
}

/// e₀/√2 + √2 (u e₁ + v e₂): an action (e₀ + a)/√2 then has mean 1/2 + u a₁ + v a₂.
fn lift(u: f64, v: f64) -> [f64; 3] {
    let root = std::f64::consts::SQRT_2;
    [std::f64::consts::FRAC_1_SQRT_2, root * u, root * v]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLUS: usize = 0;
    const MINUS: usize = 1;
    const GOOD: usize = 2;

    /// The corners and the inside of the admitted range.
    fn grid() -> Vec<IsotropicInstances> {
        let mut grid = Vec::new();
        for horizon in [1, 2, 100, 1_000_000] {
            for signal in [0.25, 0.1, 1e-3] {
                for share in [1.0, 0.5, 1e-3] {
                    let drift = share * largest_drift(horizon, signal);
                    grid.push(IsotropicInstances::new(horizon, signal, drift).unwrap());
                }
            }
        }
        grid
    }

    /// Mean rewards of the three actions.
    fn means(instances: &IsotropicInstances, instance: usize) -> [f64; 3] {
        let theta = instances.parameters()[instance];
        instances.actions().map(|x| std::iter::zip(x, theta).map(|(x, theta)| x * theta).sum())
    }

    fn norm(vector: [f64; 3]) -> f64 {
        vector.iter().map(|entry| entry * entry).sum::<f64>().sqrt()
    }

    fn best(means: [f64; 3]) -> f64 {
        means.into_iter().fold(0.0, f64::max)
    }

    #[test]
    fn every_drift_has_length_rho_and_every_vector_fits_the_unit_ball() {
        for instances in grid() {
            let offline = instances.offline_parameter();
            for instance in [PLUS, MINUS, GOOD] {
                let theta = instances.parameters()[instance];
                let drift = norm([0, 1, 2].map(|j| theta[j] - offline[j]));
                assert!((drift - instances.drift).abs() < 1e-15, "{instances:?}");
                assert!(norm(theta) <= 1.0);
            }
            assert!(instances.actions().into_iter().all(|x| (norm(x) - 1.0).abs() < 1e-15));
        }
    }

    #[test]
    fn all_means_lie_between_a_half_and_thirteen_sixteenths() {
        for instances in grid() {
            for mean in [PLUS, MINUS, GOOD].into_iter().flat_map(|instance| means(&instances, instance)) {
                assert!((0.5..=13.0 / 16.0).contains(&mean), "{mean} in {instances:?}");
            }
        }
    }

    #[test]
    fn optimal_actions_and_gaps_are_the_proofs() {
        for instances in grid() {
            let (rho_0, rho) = (instances.signal, instances.drift);
            let [center, plus, minus] = means(&instances, GOOD);
            assert!(center > plus && (plus - minus).abs() < 1e-15);
            assert!((center - (0.5 + rho_0 + rho / 2f64.sqrt())).abs() < 1e-15);
            for (instance, optimal) in [(PLUS, 1), (MINUS, 2)] {
                let means = means(&instances, instance);
                assert!((best(means) - means[optimal]).abs() < 1e-300);
                // Optimal mean 1/2 + √(ρ₀² + ρ̄²), and ρ²/(8ρ₀) or more below it for the others.
                let gap = rho * rho / (8.0 * rho_0);
                assert!((means[optimal] - (0.5 + rho_0.hypot(rho / 2f64.sqrt()))).abs() < 1e-15);
                for other in (0..3).filter(|&action| action != optimal) {
                    assert!(means[optimal] - means[other] >= gap - 1e-15, "{instances:?}");
                }
            }
        }
    }

    #[test]
    fn divergence_of_the_hard_pair_supports_both_constants() {
        assert!((IMPOSSIBILITY_RANGE.powi(2) - 39.0 / 256.0).abs() < 1e-15);
        let mut closest = 0.0_f64;
        for instances in grid() {
            let (plus, minus) = (means(&instances, PLUS), means(&instances, MINUS));
            let kl = |p: f64, q: f64| p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln();
            let round = std::iter::zip(plus, minus).map(|(p, q)| kl(p, q)).fold(0.0, f64::max);
            // What the proof adds up over T rounds: at most (32/39) ρ² T ≤ 1/8.
            let allowed = 32.0 / 39.0 * instances.drift.powi(2) * instances.horizon as f64;
            assert!(round * instances.horizon as f64 <= allowed + 1e-9 && allowed <= 0.125 + 1e-12);
            closest = closest.max(allowed);
            // c₁: half of ρ²T/(16ρ₀), times the e^(-1/8)/2 that Bretagnolle-Huber leaves.
            let on_event = instances.drift.powi(2) * instances.horizon as f64 / (16.0 * instances.signal);
            let expected = 0.5 * on_event * 0.5 * (-0.125f64).exp();
            assert!((instances.regret_lower_bound() / expected - 1.0).abs() < 1e-14);
        }
        assert!(closest > 0.1249, "no grid point uses c₀ up");
    }

    #[test]
    fn lower_bound_by_hand() {
        // T = 100, ρ₀ = 0.1: ρ may be min{0.025, 0.039}. c₁ · 0.025² · 100 / 0.1 = 0.625 c₁.
        let instances = IsotropicInstances::new(100, 0.1, 0.025).unwrap();
        assert!((instances.regret_lower_bound() - 0.008_618_133_8).abs() < 1e-10);
    }

    #[test]
    fn values_outside_the_theorem_are_refused() {
        assert!(IsotropicInstances::new(0, 0.1, 0.01).is_err());
        assert!(IsotropicInstances::new(1, 0.26, 0.01).is_err());
        assert!(IsotropicInstances::new(1, f64::NAN, 0.01).is_err());
        assert!(IsotropicInstances::new(1, 0.1, 0.0251).is_err());
        assert!(IsotropicInstances::new(1, 0.1, 0.0).is_err());
        let late = IsotropicInstances::new(10_000, 0.1, 0.004).unwrap_err();
        assert_eq!(
            late.to_string(),
            "`drift` must be above 0 and at most min(signal/4, 0.39/sqrt(horizon)), but is 0.004"
        );
    }
}
