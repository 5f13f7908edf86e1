//! Live coefficients minus logged ones: how large, how sure, and over all of them together.
//!
//! Logs are known by their sums only, so their errors are taken to be as clustered and uneven as the pilot's:
//! each coefficient's variance σ² [A⁻¹]_jj is multiplied by what the pilot's robust variance is above its own
//! equal-error variance, and never reduced.

use truenorth::{Matrix, Vector};

use crate::fit::{Fit, Units};
use crate::maximum::{Maximum, length_bound};
use crate::robust::{Rows, Spread};
use crate::spectrum::Spectrum;
use crate::tail;

/// Standard deviation of a drift before it is measured, in standard deviations of the noise.
const PRIOR: f64 = 0.5;

/// Linear combinations of coefficients that are tested together.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    /// Combinations as columns, for the units of [`Units`].
    weights: Matrix,
    /// What 1 of a combination is in the units of the files.
    pub(crate) raw: Vec<f64>,
    /// How far a typical live row reaches along it.
    sizes: Vec<f64>,
}

impl Family {
    /// Each feature, or the part of its coefficient that can be known. Sizes are those of the live rows, or of the logs where live rows have only zeros.
    pub(crate) fn features(units: &Units, logs: &Fit, pilot: Option<&Fit>) -> Self {
        let d = units.columns.len();
        let size = |j: usize| pilot.map_or(0.0, |pilot| pilot.sizes[j]);
        Self {
            weights: pilot.map_or_else(|| Matrix::identity(d, d), |pilot| logs.shared(pilot)),
            raw: (0..d).map(|j| units.raw(j)).collect(),
            sizes: (0..d).map(|j| if size(j) > 0.0 { size(j) } else { logs.sizes[j] }).collect(),
        }
    }

    /// Each eigen-direction q of the logs: qᵀΔ = Σ_j (q_j / unit_j) Δ'_j.
    pub(crate) fn directions(units: &Units, logs: &Spectrum, live: Option<&Spectrum>) -> Self {
        let d = units.columns.len();
        let mut family = Self { weights: Matrix::zeros(d, d), raw: Vec::new(), sizes: Vec::new() };
        for (k, q) in logs.vectors.column_iter().enumerate() {
            let divided = Vector::from_fn(d, |j, _| q[j] / units.columns[j]);
            let most = divided.amax().max(f64::MIN_POSITIVE);
            let length = (&divided / most).norm() * most;
            family.weights.set_column(k, &(divided / length));
            family.raw.push(length * units.reward * units.scale);
            family.sizes.push(live.unwrap_or(logs).reach(q.as_slice()) * length);
        }
        family
    }

    /// The weights of combination k.
    pub(crate) fn weights(&self, k: usize) -> Vector {
        self.weights.column(k).into_owned()
    }

    /// How far a typical live row reaches along combination k, in the units of the files.
    pub(crate) fn typical(&self, k: usize, units: &Units) -> f64 {
        self.sizes[k] * units.reward / self.raw[k]
    }

    /// Prior standard deviation of the drift: τ = ½ noise / size.
    fn prior(&self, k: usize, noise: f64) -> f64 {
        // Without noise, a drift that matters is one that is seen at all.
        let noise = noise.max(1e-6);
        if self.sizes[k] > 0.0 { PRIOR * noise / self.sizes[k] } else { 0.0 }
    }
}

/// What is known about one combination, in the units of [`Units`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finding {
    pub(crate) drift: f64,
    pub(crate) stderr: f64,
    /// The part of the squared standard error that more live rows would shrink.
    pub(crate) live: f64,
    /// Half the width of the simultaneous interval.
    pub(crate) width: f64,
    pub(crate) p_value: f64,
    pub(crate) drifted: bool,
    pub(crate) equivalent: Option<bool>,
    /// Drift that does not matter.
    pub(crate) margin: f64,
    /// Standard errors that a drift has to exceed, over all combinations together.
    pub(crate) critical: f64,
    pub(crate) trust: f64,
    /// E[Δ²] after the pilot.
    pub(crate) square: f64,
}

/// How sure to be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) level: f64,
    pub(crate) margin: f64,
    /// Noise of the rewards, in the units of [`Units`].
    pub(crate) noise: f64,
}

/// Both sides of the comparison.
pub(crate) struct Comparison<'a> {
    pub(crate) logs: &'a Fit,
    pub(crate) pilot: &'a Fit,
    difference: Vector,
    /// Covariance of the live coefficients.
    pub(crate) live: Matrix,
    /// Covariance of the logged ones.
    pub(crate) logged: Matrix,
    spread: Spread,
}

impl<'a> Comparison<'a> {
    /// Of logs and pilot, for the families that will be tested. Nothing where no error can be estimated.
    pub(crate) fn new(
        logs: &'a Fit,
        pilot: &'a Fit,
        rows: Option<Rows<'_>>,
        units: &Units,
        families: &[&Family],
    ) -> Option<Self> {
        if logs.noise.is_none() || pilot.noise.is_none() || logs.rank() == 0 || pilot.rank() == 0 {
            return None;
        }
        let d = logs.estimate.len();
        let count: usize = families.iter().map(|family| family.weights.ncols()).sum();
        let mut contrasts = Matrix::zeros(d, count);
        let mut column = 0;
        for family in families {
            contrasts.columns_mut(column, family.weights.ncols()).copy_from(&family.weights);
            column += family.weights.ncols();
        }
        let spread = match rows {
            Some(rows) => Spread::of(rows, pilot, units, &pilot.whitening.tr_mul(&contrasts)),
            None => Spread::even(pilot, count),
        };
        let live = &pilot.whitening * &spread.covariance * pilot.whitening.transpose();
        // D_j = max(1, robust / equal-error variance of the pilot).
        let even = pilot.resolved.powi(2);
        let inflation = |j: usize| {
            let expected = even * pilot.whitening.row(j).norm_squared();
            if expected > 0.0 { (live[(j, j)] / expected).max(1.0) } else { 1.0 }
        };
        // D^½ σ² A⁻¹ D^½.
        let mut root = &logs.whitening * logs.resolved;
        for (j, mut row) in root.row_iter_mut().enumerate() {
            row *= inflation(j).sqrt();
        }
        let logged = &root * root.transpose();
        Some(Self { logs, pilot, difference: &pilot.estimate - &logs.estimate, live, logged, spread })
    }

    /// Rounds of the pilot, or its rows.
    pub(crate) fn independent(&self) -> u64 {
        self.spread.independent
    }

    /// Which combinations both sides decide, with an error that can be estimated.
    fn testable(&self, family: &Family, first: usize) -> Vec<usize> {
        let tested = |k: &usize| {
            let contrast = family.weights.column(*k);
            self.logs.identifies(contrast.as_slice())
                && self.pilot.identifies(contrast.as_slice())
                && self.spread.freedom[first + k] >= 1.0
                && !self.spread.rests_on_one(&self.pilot.whitening.tr_mul(&contrast))
        };
        (0..family.weights.ncols()).filter(tested).collect()
    }

    /// Tests a family whose first combination was number `first` of all.
    pub(crate) fn test(&self, family: &Family, first: usize, terms: Terms) -> Tested {
        let which = self.testable(family, first);
        let weights = family.weights.select_columns(&which);
        let (live, logged) =
            (weights.tr_mul(&(&self.live * &weights)), weights.tr_mul(&(&self.logged * &weights)));
        let covariance = &live + &logged;
        let drifts = weights.tr_mul(&self.difference);
        let stderr: Vec<f64> =
            covariance.diagonal().iter().map(|variance| variance.max(0.0).sqrt()).collect();
        let freedom: Vec<f64> = (0..which.len())
            .map(|i| {
                let parts = [
                    (live[(i, i)], self.spread.freedom[first + which[i]]),
                    (logged[(i, i)], self.logs.freedom()),
                ];
                // Satterthwaite: ν = (Σ v)² / Σ v²/ν.
                let shares: f64 =
                    parts.iter().map(|(v, freedom)| (v / covariance[(i, i)]).powi(2) / freedom).sum();
                if shares > 0.0 { 1.0 / shares } else { parts[0].1 }
            })
            .collect();
        let p_values: Vec<f64> =
            (0..which.len()).map(|i| tail::student(ratio(drifts[i], stderr[i]), freedom[i])).collect();
        // The |z| that is as rare as this |t|: scores of different degrees of freedom become comparable.
        let scores: Vec<f64> = p_values.iter().map(|&p| tail::normal_critical(p)).collect();
        let correlation = Matrix::from_fn(which.len(), which.len(), |i, j| {
            let size = stderr[i] * stderr[j];
            match (i == j, size > 0.0) {
                (true, _) => 1.0,
                (false, true) => (covariance[(i, j)] / size).clamp(-1.0, 1.0),
                (false, false) => 0.0,
            }
        });
        let maximum = Maximum::of(&correlation, &scores, terms.level);
        let common = tail::normal(maximum.critical);
        let criticals: Vec<f64> =
            freedom.iter().map(|&freedom| tail::student_critical(common, freedom)).collect();
        let length = {
            let ratios: Vec<f64> =
                drifts.iter().zip(&stderr).map(|(d, &se)| ratio(*d, se) * d.signum()).collect();
            let budgets: Vec<f64> = ratios.iter().zip(&criticals).map(|(ratio, c)| ratio.abs() + c).collect();
            let widths: Vec<f64> = criticals.iter().map(|c| c / maximum.critical).collect();
            length_bound(&correlation, &ratios, &budgets, &widths, terms.level)
        };
        let mut findings = vec![None; family.weights.ncols()];
        for (i, &k) in which.iter().enumerate() {
            let critical = criticals[i];
            // TOST: |Δ| + t_{1-α} se ≤ margin · noise / size.
            let margin =
                if family.sizes[k] > 0.0 { terms.margin * terms.noise / family.sizes[k] } else { 0.0 };
            let one_sided = tail::student_critical((2.0 * terms.level).min(1.0), freedom[i]);
            let equivalent = drifts[i].abs() + one_sided * stderr[i] <= margin;
            let (trust, square) = believe(drifts[i], stderr[i], scores[i], family.prior(k, terms.noise));
            findings[k] = Some(Finding {
                drift: drifts[i],
                stderr: stderr[i],
                live: live[(i, i)].max(0.0),
                width: critical * stderr[i],
                p_value: p_values[i],
                drifted: maximum.adjusted[i] <= terms.level,
                equivalent: (margin > 0.0).then_some(equivalent),
                margin,
                critical,
                trust,
                square,
            });
        }
        // All at once need more than one at a time: with skewed rewards of single rows, the full number rejects
        // twice too often. Sums over the r rows of a round are less skewed, and keep 1 - 1/(2r) of it.
        let shares: f64 = freedom.iter().map(|freedom| freedom.recip()).sum();
        let kept = 1.0 - 0.5 * (self.spread.independent as f64 / self.pilot.rows).min(1.0);
        let p_value = wald(&correlation, &drifts, &stderr, kept * freedom.len() as f64 / shares);
        Tested { findings, p_value, length }
    }
}

/// A family's findings.
#[derive(Debug, Clone)]
pub(crate) struct Tested {
    /// None for what cannot be tested.
    pub(crate) findings: Vec<Option<Finding>>,
    /// p-value of no drift in any of them.
    pub(crate) p_value: Option<f64>,
    /// Bound on √ Σ (Δ / (|Δ̂| + width))² over what was tested.
    pub(crate) length: f64,
}

impl Tested {
    /// Where nothing can be tested.
    pub(crate) fn nothing(family: &Family) -> Self {
        Self { findings: vec![None; family.raw.len()], p_value: None, length: 0.0 }
    }

    /// How many could be tested.
    pub(crate) fn count(&self) -> usize {
        self.findings.iter().flatten().count()
    }
}

/// E[Δ²] where nothing was measured: even odds of no drift and of one from N(0, τ²).
pub(crate) fn unmeasured_square(family: &Family, k: usize, noise: f64) -> f64 {
    0.5 * family.prior(k, noise).powi(2)
}

/// Δ / se, which is 0 for 0 / 0 and large for an error that is 0.
fn ratio(drift: f64, stderr: f64) -> f64 {
    if drift == 0.0 { 0.0 } else { drift.abs() / stderr.max(1e-9 * drift.abs()) }
}

/// Probability of no drift from even odds, and E[Δ²] after the pilot.
///
/// ```text
/// BF = √(1 + τ²/se²) exp(-z²/2 · τ²/(τ² + se²))      trust = BF / (1 + BF)
/// E[Δ²] = (1 - trust) (m² + s²)     m = Δ τ²/(τ² + se²),  s² = τ² se²/(τ² + se²)
/// ```
fn believe(drift: f64, stderr: f64, score: f64, prior: f64) -> (f64, f64) {
    if prior <= 0.0 {
        return (0.5, 0.0);
    }
    let stderr = stderr.max(1e-9 * prior);
    let kept = prior.powi(2) / (prior.powi(2) + stderr.powi(2));
    let log_odds = 0.5 * (prior / stderr).powi(2).ln_1p() - 0.5 * score * score * kept;
    let trust = 1.0 / (1.0 + (-log_odds).exp());
    (trust, (1.0 - trust) * ((drift * kept).powi(2) + kept * stderr.powi(2)))
}

/// p-value of T² = Δᵀ Σ⁻¹ Δ, where Σ has ν degrees of freedom: T² (ν - m + 1) / (m ν) is F(m, ν - m + 1), as
/// Hotelling's.
fn wald(correlation: &Matrix, drifts: &Vector, stderr: &[f64], freedom: f64) -> Option<f64> {
    if drifts.is_empty() {
        return None;
    }
    let eigen = correlation.clone().symmetric_eigen();
    let floor = 1e-10 * eigen.eigenvalues.max();
    let scores = Vector::from_fn(drifts.len(), |i, _| ratio(drifts[i], stderr[i]) * drifts[i].signum());
    let (mut rank, mut sum) = (0.0, 0.0);
    for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
        if *value > floor {
            rank += 1.0;
            sum += vector.dot(&scores).powi(2) / value;
        }
    }
    let second = freedom - rank + 1.0;
    (second >= 1.0).then(|| tail::fisher(sum * second / (rank * freedom), rank, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn belief_by_hand() {
        // τ = se = 1, z = 2: BF = √2 e⁻¹ = 0.52, trust = 0.342, m = 1, s² = ½.
        let (trust, square) = believe(2.0, 1.0, 2.0, 1.0);
        let odds = 2f64.sqrt() * (-1f64).exp();
        assert!((trust - odds / (1.0 + odds)).abs() < 1e-12);
        assert!((square - (1.0 - trust) * 1.5).abs() < 1e-12);
        // A pilot that tells nothing leaves even odds and half of the prior square.
        let (trust, square) = believe(3.0, 1e9, 0.0, 2.0);
        assert!((trust - 0.5).abs() < 1e-9 && (square - 2.0).abs() < 1e-9);
        let (trust, square) = believe(0.0, 0.0, 0.0, 1.0);
        assert!(trust > 0.999 && square < 1e-3);
        let (trust, _) = believe(1.0, 0.0, 38.0, 1.0);
        assert!(trust < 1e-9);
    }

    #[test]
    fn wald_of_one_score_is_its_t_test() {
        let p = wald(&Matrix::identity(1, 1), &Vector::from_element(1, -2.0), &[0.8], 12.0).unwrap();
        assert!((p - tail::student(2.5, 12.0)).abs() < 1e-12);
        assert_eq!(wald(&Matrix::identity(3, 3), &Vector::zeros(3), &[1.0; 3], 2.0), None);
    }
}
