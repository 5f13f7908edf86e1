//! How large drifts are after the pilot.
//!
//! A drift is one of twelve sizes τ, from 0.01 to 1.8 standard deviations of the noise in a typical reward, and
//! N(0, τ²) by its size. How frequent sizes are is learned from all drifts together (empirical Bayes, by expectation and
//! maximisation), from even shares that count as much as two drifts: one that moved makes it likelier that others did.
//! Unlike trust it knows no drift that is exactly 0, so that it changes little from one pilot to the next.
//!
//! ```text
//! Δ = m + s z      m = Δ̂ τ²/(τ² + se²),  s² = τ² se²/(τ² + se²)
//! ```

use rand::{Rng, RngExt as _};
use rand_distr::{Distribution as _, StandardNormal};

/// Sizes that a drift may have, the smallest of them in standard deviations of the noise, and how they grow.
const SIZES: usize = 12;
const SMALLEST: f64 = 0.01;
const GROWTH: f64 = 1.6;

/// As many drifts have been seen before, as far as the shares of sizes are concerned.
const SEEN: f64 = 2.0;

/// What was measured of a drift.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Estimate {
    pub(crate) drift: f64,
    pub(crate) stderr: f64,
    /// Normal score of its p-value.
    pub(crate) score: f64,
    /// One standard deviation of the noise in a typical reward.
    pub(crate) unit: f64,
}

/// What is known about a drift: for each size its probability, and mean and variance of the drift.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size([(f64, f64, f64); SIZES]);

/// The sizes, each 1.6 times the one before.
fn sizes(unit: f64) -> [f64; SIZES] {
    let mut size = SMALLEST * unit / GROWTH;
    [(); SIZES].map(|()| {
        size *= GROWTH;
        size
    })
}

/// ln of how much more likely a score is under a drift from N(0, τ²) than without one, and τ²/(τ² + se²).
pub(crate) fn evidence(stderr: f64, score: f64, prior: f64) -> (f64, f64) {
    let stderr = stderr.max(1e-9 * prior);
    let kept = prior.powi(2) / (prior.powi(2) + stderr.powi(2));
    (0.5 * score * score * kept - 0.5 * (prior / stderr).powi(2).ln_1p(), kept)
}

impl Size {
    /// Of a drift that was not measured.
    pub(crate) fn unmeasured(unit: f64) -> Self {
        Self(sizes(unit).map(|size| (1.0 / SIZES as f64, 0.0, size * size)))
    }

    /// Of drifts that were measured together.
    pub(crate) fn of(measured: &[Estimate]) -> Vec<Self> {
        // Up to a factor, how likely each size makes the score.
        let mut drifts: Vec<Self> = measured.iter().map(Self::likelihoods).collect();
        let mut shares = [1.0 / SIZES as f64; SIZES];
        for _ in 0..30 {
            let mut sums = [SEEN / SIZES as f64; SIZES];
            for drift in &drifts {
                sums.iter_mut().zip(drift.weighed(shares).0).for_each(|(sum, part)| *sum += part.0);
            }
            shares = sums.map(|sum| sum / (SEEN + drifts.len() as f64));
        }
        for drift in &mut drifts {
            *drift = drift.weighed(shares);
        }
        drifts
    }

    fn likelihoods(of: &Estimate) -> Self {
        if of.unit <= 0.0 {
            return Self([(1.0, 0.0, 0.0); SIZES]);
        }
        let mut parts = sizes(of.unit).map(|size| {
            let (log, kept) = evidence(of.stderr, of.score, size);
            (log, of.drift * kept, kept * of.stderr.powi(2))
        });
        let most = parts.iter().map(|part| part.0).fold(f64::NEG_INFINITY, f64::max);
        for part in &mut parts {
            part.0 = (part.0 - most).exp();
        }
        Self(parts)
    }

    /// Likelihoods times shares, as probabilities.
    fn weighed(&self, shares: [f64; SIZES]) -> Self {
        let mut parts = self.0;
        parts.iter_mut().zip(shares).for_each(|(part, share)| part.0 *= share);
        let total: f64 = parts.iter().map(|part| part.0).sum();
        for part in &mut parts {
            part.0 /= total;
        }
        Self(parts)
    }

    /// E[Δ²].
    pub(crate) fn mean_square(&self) -> f64 {
        self.0.iter().map(|(share, mean, variance)| share * (mean * mean + variance)).sum()
    }

    /// One such drift.
    pub(crate) fn draw(&self, rng: &mut impl Rng) -> f64 {
        let mut left: f64 = rng.random();
        let chosen = self.0.iter().find(|part| {
            left -= part.0;
            left < 0.0
        });
        let (_, mean, variance) = chosen.unwrap_or(&self.0[SIZES - 1]);
        let z: f64 = StandardNormal.sample(rng);
        mean + variance.sqrt() * z
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn one(drift: f64, stderr: f64, unit: f64) -> Size {
        Size::of(&[Estimate { drift, stderr, score: (drift / stderr).clamp(-38.0, 38.0), unit }])[0]
    }

    #[test]
    fn mean_squares_by_hand() {
        // A pilot that tells nothing leaves the sizes, one that tells all the drift.
        let prior = sizes(2.0).map(|size| size * size).iter().sum::<f64>() / SIZES as f64;
        assert!((one(3.0, 1e9, 2.0).mean_square() / prior - 1.0).abs() < 1e-6);
        assert!((Size::unmeasured(2.0).mean_square() / prior - 1.0).abs() < 1e-12);
        assert!((one(0.5, 1e-6, 1.0).mean_square() - 0.25).abs() < 1e-3);
        assert!(one(0.0, 1e-9, 1.0).mean_square() < 1e-9);
        assert!(sizes(1.0)[0] == SMALLEST && (1.7..1.8).contains(&sizes(1.0)[SIZES - 1]));
    }

    #[test]
    fn a_drift_beside_others_that_moved_is_taken_for_larger() {
        let beside = |score: f64| {
            let drift = |score: f64| Estimate { drift: 0.05 * score, stderr: 0.05, score, unit: 1.0 };
            let all: Vec<Estimate> =
                std::iter::once(drift(1.0)).chain((0..9).map(|_| drift(score))).collect();
            Size::of(&all)[0].mean_square()
        };
        assert!(beside(4.0) > 2.0 * beside(0.0), "{} {}", beside(4.0), beside(0.0));
    }

    #[test]
    fn draws_have_the_mean_square() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        for drift in [one(0.1, 0.05, 1.0), Size::unmeasured(1.0)] {
            let mean = (0..40_000).map(|_| drift.draw(&mut rng).powi(2)).sum::<f64>() / 40_000.0;
            assert!((mean / drift.mean_square() - 1.0).abs() < 0.06, "{mean} {}", drift.mean_square());
        }
    }
}
