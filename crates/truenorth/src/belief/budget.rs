//! What the belief may lose, at most, to a policy that trusts live data alone.
//!
//! Live data alone has intervals `xᵀθ̂ ± β_t ‖x‖ in V⁻¹`, V⁻¹ without the exploration scale, that all hold with probability
//! 1 - δ if the root of the mean square of the live coefficients is at most 2s in the units of their columns
//! (Abbasi-Yadkori, Pál and Szepesvári 2011, theorem 2, with S = 2s√d and λ = σ²/s²):
//!
//! ```text
//! β_t = σ (√(2 log 1/δ + log det V/det λI) + 2√d)
//! ```
//!
//! Let o be the action with the largest upper end. While these intervals hold, a round that plays a instead loses at most its
//! *price* `U(o) - L(a)`, and at most what coefficients of that length allow. The belief may play as long as it has not
//! `spent` more than η (4β_t √(dt) + dSX), η = 16, X the round's longest action: d rounds may cost whoever learns d coefficients
//! whatever they can, and where there is next to no noise that is most of what is lost. Else o is played, which is a round of OFUL. Prices cost a pass over V, so a
//! coin picks one round in eight, and its price counts eight times. All are counted in σ, so that the unit of rewards makes no
//! difference. docs/method.md has the bound that follows.

/// η.
const FACTOR: f64 = 16.0;
/// One round in so many is priced.
pub(crate) const PRICED: u64 = 8;

/// The radius of live data alone, and what the belief may spend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// β_t / σ.
    pub(crate) radius: f64,
    /// η 4β_t √(dt) / σ.
    lasting: f64,
    /// η d.
    once: f64,
}

impl Budget {
    /// With the growth of log det V, δ, d and t.
    pub(crate) fn new(growth: f64, delta: f64, dimension: usize, round: u64) -> Self {
        let dimension = dimension as f64;
        let radius = (2.0 * delta.recip().ln() + growth).sqrt() + 2.0 * dimension.sqrt();
        let lasting = FACTOR * 4.0 * radius * (dimension * round as f64).sqrt();
        Self { radius, lasting, once: FACTOR * dimension }
    }

    /// Whether so much is more than it; `reach` is SX / σ, which is seldom asked for.
    pub(crate) fn is_below(&self, spent: f64, reach: impl FnOnce() -> f64) -> bool {
        spent > self.lasting && spent > self.lasting + self.once * reach()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_radius_and_the_budget_by_hand() {
        let budget = Budget::new(7.0, (-1.0f64).exp(), 4, 25);
        // √(2 + 7) + 2·2 and 16·(4·7·√100 + 4·3).
        assert!((budget.radius - 7.0).abs() < 1e-12);
        assert!(!budget.is_below(4671.9, || 3.0) && budget.is_below(4672.1, || 3.0));
    }
}
