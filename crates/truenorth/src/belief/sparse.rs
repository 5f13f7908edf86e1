//! Which directions have drifted? Expectation propagation for a drift that is zero in most of them.
//!
//! Along each column of the dictionary the drift is one of three things, in shares π that are learned from
//! all columns together:
//!
//! | component | mean | deviation | the logs are |
//! |---|---|---|---|
//! | kept | 0 | 0.002 | right |
//! | nudged | 0 | 0.1 | a little off |
//! | void | -θ_off / s | 1 | worth nothing: the coefficient is drawn anew |
//!
//! in units of s, the root of the mean square of a coefficient. (The dictionary's last column, a factor on all of
//! `θ_off`, is in units of `θ_off` itself, and its void has the mean 0.) The posterior of such a mixture has 3^d parts; expectation
//! propagation replaces each column's mixture by the Gaussian *site* that leaves mean and variance of that
//! column's posterior the same (Minka 2001; Hernández-Lobato et al. 2013 for spikes and slabs).

use crate::dense::{self, Matrix, Vector};
use crate::error::Result;

/// Number of components of the mixture.
pub(crate) const COMPONENTS: usize = 3;
/// Their deviations, in units of s.
const DEVIATIONS: [f64; COMPONENTS] = [0.002, 0.1, 1.0];
/// Pseudo-counts of the shares: before any data nine columns in ten are kept.
const PSEUDO_COUNTS: [f64; COMPONENTS] = [0.9, 0.05, 0.05];
/// Sweeps over all sites at most; the sites start from those of the last fit. A sweep is dear where there are many
/// columns, and so many sites settle together.
fn sweeps(columns: usize) -> usize {
    (300 / columns).clamp(3, 20)
}
/// Relative change of the sites below which the sweeps end.
const TOLERANCE: f64 = 1e-3;

/// The Gaussian sites and the mixture's shares: all that a later fit starts from.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Sites {
    precision: Vec<f64>,
    shift: Vec<f64>,
    shares: [f64; COMPONENTS],
}

/// What a fit says, in the dictionary's coordinates.
#[derive(Debug)]
pub(crate) struct SparseDrift {
    /// Mean of the drift.
    pub(crate) mean: Vector,
    /// Covariance of the drift, where a drift that live play could not yet rule out counts in full: what to explore
    /// by.
    pub(crate) optimistic: Matrix,
    /// Log of the live data's probability, relative to no drift at all.
    pub(crate) log_evidence: f64,
    /// Probability that a column is kept.
    pub(crate) kept: Vec<f64>,
}

/// One column's mixture posterior, given all that the other columns and the data say of it.
struct Tilted {
    shares: [f64; COMPONENTS],
    mean: f64,
    variance: f64,
    optimistic: f64,
    log_mass: f64,
}

impl Sites {
    /// Sites that stand for the mixture alone.
    pub(crate) fn new(void: &[f64]) -> Self {
        let site = |&void: &f64| {
            let moments = |power: i32| {
                let at = |k: usize| PSEUDO_COUNTS[k] * (if k == 2 { void } else { 0.0 }).powi(power);
                (0..COMPONENTS).map(at).sum::<f64>()
            };
            let spread: f64 = PSEUDO_COUNTS.iter().zip(DEVIATIONS).map(|(share, d)| share * d * d).sum();
            let mean = moments(1);
            let precision = (spread + moments(2) - mean * mean).recip();
            (precision, precision * mean)
        };
        let (precision, shift) = void.iter().map(site).unzip();
        Self { precision, shift, shares: PSEUDO_COUNTS }
    }

    /// Whether this can be a fit's state: deserialised data may be anything.
    pub(crate) fn is_consistent(&self, columns: usize) -> bool {
        self.precision.len() == columns
            && self.shift.len() == columns
            && self.precision.iter().all(|&p| p > 0.0 && p.is_finite())
            && self.shift.iter().all(|u| u.is_finite())
            && self.shares.iter().all(|&share| share > 0.0 && share <= 1.0)
    }

    /// Fits the sites to the likelihood `hᵀw - ½ wᵀQw`. `void` is the mean of the third component of each
    /// column, `rounds` the number of rounds played so far. O(d³) a sweep.
    pub(crate) fn fit(&mut self, q: &Matrix, h: &Vector, void: &[f64], rounds: f64) -> Result<SparseDrift> {
        let columns = void.len();
        // What the data say of a column if all others may have drifted, too.
        let axes = columns - 1;
        let free = factor_with_diagonal(&q.view((0, 0), (axes, axes)).into_owned(), &vec![1.0; axes])?;
        let free = dense::inverse_diagonal(&free);
        let widest = DEVIATIONS[COMPONENTS - 1];
        let (least, most) = (0.5 / widest.powi(2), DEVIATIONS[0].powi(-2));
        let mut optimistic = vec![0.0; columns];
        let mut kept = vec![0.0; columns];
        let sweeps = sweeps(columns);
        for sweep in 0..sweeps {
            let (mean, factor) = self.posterior(q, h)?;
            let variances = dense::inverse_diagonal(&factor);
            let natural = h + Vector::from_column_slice(&self.shift);
            let joint_mass = 0.5 * (natural.dot(&mean) - dense::log_det_from_factor(&factor));
            let mut counts = PSEUDO_COUNTS;
            let (mut change, mut sites_mass) = (0.0f64, 0.0);
            for j in 0..columns {
                let variance = variances[j];
                // The cavity: this column's posterior without its own site.
                let precision = (1.0 / variance - self.precision[j]).max(1e-6 * least);
                let shift = mean[j] / variance - self.shift[j];
                let resolved = if j < axes { free[j].recip() } else { 1.0 + precision * widest.powi(2) };
                let tilted = self.tilted(precision, shift, void[j], rounds / resolved.powi(2));
                for (count, share) in counts.iter_mut().zip(tilted.shares) {
                    *count += share;
                }
                kept[j] = tilted.shares[0];
                optimistic[j] = (1.0 / tilted.optimistic - precision).clamp(least, most);
                sites_mass += tilted.log_mass - 0.5 * (mean[j] * mean[j] / variance + variance.ln());
                // Moment matching; the first sweeps go all the way, later ones are damped.
                let target = (1.0 / tilted.variance - precision).clamp(least, most);
                let step: f64 = if sweep < 3 { 1.0 } else { 0.7 };
                let moved = (self.precision[j].ln() * (1.0 - step) + target.ln() * step).exp();
                change = change.max((moved / self.precision[j]).ln().abs());
                self.precision[j] = moved;
                let target_shift = tilted.mean * (target + precision) - shift;
                self.shift[j] = self.shift[j] * (1.0 - step) + target_shift * step;
            }
            let total: f64 = counts.iter().sum();
            self.shares = counts.map(|count| count / total);
            if change < TOLERANCE || sweep + 1 == sweeps {
                let log_evidence = joint_mass + sites_mass;
                let (mean, ..) = self.posterior(q, h)?;
                let optimistic = dense::inverse_from_factor(&factor_with_diagonal(q, &optimistic)?);
                return Ok(SparseDrift { mean, optimistic, log_evidence, kept });
            }
        }
        unreachable!("the last sweep returns")
    }

    /// Mean of N(Σ(h + u), Σ) with Σ = (Q + diag p)⁻¹, and the Cholesky factor of Σ⁻¹.
    fn posterior(&self, q: &Matrix, h: &Vector) -> Result<(Vector, Matrix)> {
        let factor = factor_with_diagonal(q, &self.precision)?;
        let mean = dense::solve_from_factor(&factor, &(h + Vector::from_column_slice(&self.shift)));
        Ok((mean, factor))
    }

    /// The product of the mixture with the cavity N(shift / precision, 1 / precision). A component counts in
    /// the optimistic variance as if it were `rounds` times as likely, but at most once.
    fn tilted(&self, precision: f64, shift: f64, void: f64, rounds: f64) -> Tilted {
        let (spread, center) = (1.0 / precision, shift / precision);
        let at = |k: usize| {
            let (prior, own) = (if k == 2 { void } else { 0.0 }, DEVIATIONS[k].powi(2));
            let total = spread + own;
            let log_mass = self.shares[k].ln() - 0.5 * (total.ln() + (center - prior).powi(2) / total);
            (log_mass, (center * own + prior * spread) / total, spread * own / total)
        };
        let components: [_; COMPONENTS] = std::array::from_fn(at);
        let peak = components.iter().map(|component| component.0).fold(f64::NEG_INFINITY, f64::max);
        let mass: f64 = components.iter().map(|component| (component.0 - peak).exp()).sum();
        let shares = components.map(|component| (component.0 - peak).exp() / mass);
        let mean: f64 = shares.iter().zip(&components).map(|(share, component)| share * component.1).sum();
        let spread_of = |(_, middle, variance): (f64, f64, f64)| variance + (middle - mean).powi(2);
        let variance = shares.iter().zip(&components).map(|(share, &component)| share * spread_of(component));
        let optimism = |share: f64| (share * rounds.max(1.0)).min(1.0);
        let optimistic = shares.iter().zip(&components).map(|(&share, &c)| optimism(share) * spread_of(c));
        Tilted {
            shares,
            mean,
            variance: variance.sum(),
            optimistic: optimistic.sum(),
            log_mass: peak + mass.ln() + 0.5 * (center * shift - precision.ln()),
        }
    }
}

/// Cholesky factor of Q + diag p.
fn factor_with_diagonal(q: &Matrix, diagonal: &[f64]) -> Result<Matrix> {
    let mut sum = q.clone();
    for (j, entry) in diagonal.iter().enumerate() {
        sum[(j, j)] += entry;
    }
    dense::cholesky("the precision of the drift", &sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(information: &[f64], estimates: &[f64], void: &[f64]) -> SparseDrift {
        let q = Matrix::from_diagonal(&Vector::from_column_slice(information));
        let h = &q * Vector::from_column_slice(estimates);
        Sites::new(void).fit(&q, &h, void, 1.0).unwrap()
    }

    /// Density of the mixture with its prior shares times the likelihood, by brute force.
    fn by_quadrature(
        information: f64,
        estimate: f64,
        void: f64,
        shares: [f64; COMPONENTS],
    ) -> (f64, f64, f64) {
        let (mut mass, mut first, mut second) = (0.0, 0.0, 0.0);
        let width = 1e-4;
        for step in -80_000..80_000 {
            let w = f64::from(step) * width;
            let likelihood = (information * w * (estimate - 0.5 * w)).exp();
            let mixture: f64 = (0..COMPONENTS)
                .map(|k| {
                    let (mean, deviation) = (if k == 2 { void } else { 0.0 }, DEVIATIONS[k]);
                    shares[k] * (-0.5 * ((w - mean) / deviation).powi(2)).exp()
                        / (deviation * 2.506_628_274_631)
                })
                .sum();
            mass += likelihood * mixture * width;
            first += w * likelihood * mixture * width;
            second += w * w * likelihood * mixture * width;
        }
        let mean = first / mass;
        (mass.ln(), mean, second / mass - mean * mean)
    }

    #[test]
    fn one_column_is_exact() {
        // With a single column the site sees the exact likelihood, so mean, variance and evidence are those
        // of the mixture with the shares that were learned.
        for (information, estimate, void) in [(4.0, 0.8, 0.0), (40.0, 1.3, 0.9), (25.0, 0.1, -1.0)] {
            let void = [void];
            let q = Matrix::from_element(1, 1, information);
            let h = Vector::from_element(1, information * estimate);
            let mut sites = Sites::new(&void);
            let found = sites.fit(&q, &h, &void, 1.0).unwrap();
            let (log_mass, mean, variance) = by_quadrature(information, estimate, void[0], sites.shares);
            assert!((found.mean[0] - mean).abs() < 2e-3, "{} {mean}", found.mean[0]);
            assert!(
                (found.optimistic[0] / variance - 1.0).abs() < 2e-2,
                "{} {variance}",
                found.optimistic[0]
            );
            assert!((found.log_evidence - log_mass).abs() < 2e-2, "{} {log_mass}", found.log_evidence);
        }
    }

    #[test]
    fn the_drifted_column_is_found_and_the_others_are_kept() {
        let found = fit(&[1e4; 6], &[0.0, 0.001, 1.4, 0.0, -0.002, 0.001], &[0.0; 6]);
        for j in [0, 1, 3, 4, 5] {
            assert!(found.kept[j] > 0.9 && found.mean[j].abs() < 0.002, "{j}: {found:?}");
        }
        assert!(found.kept[2] < 1e-6 && (found.mean[2] - 1.4).abs() < 0.01);
    }

    #[test]
    fn without_data_the_mixture_itself_remains() {
        let found = fit(&[0.0, 0.0], &[0.0, 0.0], &[0.0, -1.0]);
        assert!((found.kept[0] - 0.9).abs() < 1e-3 && (found.kept[1] - 0.9).abs() < 1e-3);
        let variance: f64 = PSEUDO_COUNTS.iter().zip(DEVIATIONS).map(|(share, d)| share * d * d).sum();
        assert!((found.optimistic[(0, 0)] / variance - 1.0).abs() < 1e-3);
        assert!((found.mean[1] + 0.05).abs() < 1e-3 && found.log_evidence.abs() < 1e-3);
    }

    #[test]
    fn optimism_counts_what_is_unresolved_in_full() {
        let (q, h, void) = (Matrix::zeros(1, 1), Vector::zeros(1), [0.0]);
        let early = Sites::new(&void).fit(&q, &h, &void, 1.0).unwrap();
        let late = Sites::new(&void).fit(&q, &h, &void, 1e4).unwrap();
        assert!(early.optimistic[0] < 0.1 && late.optimistic[0] > 0.9);
    }
}
