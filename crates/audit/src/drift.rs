//! Live coefficients minus logged ones: how large, how sure, and over all of them together.
//!
//! Logs are known by their sums only, so their errors are taken to be as clustered and uneven as the pilot's:
//! each coefficient's variance σ² [A⁻¹]_jj is multiplied by what the pilot's robust variance is above its own
//! equal-error variance, and never reduced.

use crate::{Matrix, Vector};

use crate::fit::{Fit, Units, positive, quotient};
use crate::live::Live;
use crate::maximum::Maximum;
use crate::robust::Spread;
use crate::spectrum::Spectrum;
use crate::tail;
use crate::view::{Finding, Options};

/// Standard deviation of a drift before it is measured, in standard deviations of the noise.
const PRIOR: f64 = 0.5;

/// Contrasts, linear combinations of coefficients, that are tested together, and what was measured of them.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    /// Contrasts as columns, for the units of [`Units`].
    pub(crate) weights: Matrix,
    /// What 1 of a contrast is in the units of the files.
    pub(crate) raw: Vec<f64>,
    /// How far a typical live row reaches along it.
    sizes: Vec<f64>,
    /// In the units of the files.
    pub(crate) findings: Vec<Finding>,
    /// None for what cannot be tested.
    pub(crate) measured: Vec<Option<Measured>>,
    /// p-value of no drift in any of them.
    pub(crate) p_value: Option<f64>,
    /// Bound on √ Σ (Δ / (|Δ̂| + width))² over what was tested.
    pub(crate) length: f64,
}

/// What the pilot shows about one contrast, in the units of [`Units`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) drift: f64,
    pub(crate) stderr: f64,
    /// The part of the squared standard error that more live rows would shrink.
    pub(crate) live: f64,
    /// Half the width of the simultaneous interval.
    pub(crate) width: f64,
    /// Drift that does not matter.
    pub(crate) margin: f64,
    /// Standard errors that a drift has to exceed, over all contrasts together.
    pub(crate) critical: f64,
    /// E[Δ²] after the pilot.
    square: f64,
}

impl Family {
    /// Each feature, or the part of its coefficient that can be known. Sizes are those of the live rows, or of the
    /// logs where live rows have only zeros.
    pub(crate) fn features(units: &Units, logs: &Fit, pilot: Option<&Fit>) -> Self {
        let d = units.columns.len();
        let size = |j: usize| positive(pilot.map_or(0.0, |pilot| pilot.sizes[j]), logs.sizes[j]);
        let weights = pilot.map_or_else(|| Matrix::identity(d, d), |pilot| logs.shared(pilot));
        Self::untested(weights, units, |j| (units.raw(j), size(j), logs.coverage(j)))
    }

    /// Each eigen-direction q of the logs: qᵀΔ = Σ_j (q_j / unit_j) Δ'_j.
    pub(crate) fn directions(units: &Units, logs: &Spectrum, live: Option<&Spectrum>) -> Self {
        let (mut weights, mut lengths) = (logs.vectors.clone(), Vec::new());
        for mut weights in weights.column_iter_mut() {
            weights.iter_mut().zip(&units.columns).for_each(|(weight, unit)| *weight /= unit);
            let most = weights.amax().max(f64::MIN_POSITIVE);
            let length = (&weights / most).norm() * most;
            weights /= length;
            lengths.push(length);
        }
        let reach = |k: usize| live.unwrap_or(logs).reach(logs.vectors.column(k).as_slice());
        Self::untested(weights, units, |k| {
            (lengths[k] * units.reward * units.scale, reach(k) * lengths[k], logs.coverage(k))
        })
    }

    /// Contrasts of which nothing is measured yet; `of` says what 1 of each is in the units of the files, its size and
    /// its coverage.
    fn untested(weights: Matrix, units: &Units, of: impl Fn(usize) -> (f64, f64, f64)) -> Self {
        let d = weights.ncols();
        let (mut raw, mut sizes, mut findings) = (Vec::new(), Vec::new(), Vec::new());
        for (unit, size, coverage) in (0..d).map(of) {
            let typical = size * units.reward / unit;
            findings.push(Finding { typical, coverage, trust: 0.5, ..Finding::default() });
            raw.push(unit);
            sizes.push(size);
        }
        Self { weights, raw, sizes, findings, measured: vec![None; d], p_value: None, length: 0.0 }
    }

    /// How many could be tested.
    pub(crate) fn tested(&self) -> usize {
        self.measured.iter().flatten().count()
    }

    /// A drift of this many standard deviations of the noise, in a typical reward.
    fn drift(&self, k: usize, deviations: f64, noise: f64) -> f64 {
        quotient(deviations * noise, self.sizes[k])
    }

    /// Prior standard deviation of the drift: τ = ½ noise / size.
    fn prior(&self, k: usize, noise: f64) -> f64 {
        // Without noise, a drift that matters is one that is seen at all.
        self.drift(k, PRIOR, noise.max(1e-6))
    }

    /// E[Δ²]; where nothing was measured, of even odds of no drift and of one from N(0, τ²).
    pub(crate) fn square(&self, k: usize, noise: f64) -> f64 {
        self.measured[k].map_or_else(|| 0.5 * self.prior(k, noise).powi(2), |measured| measured.square)
    }
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
    /// Rounds of the pilot, or rows, for each of its rows.
    independent: f64,
}

impl<'a> Comparison<'a> {
    /// Of logs and pilot, for the families that will be tested. Nothing where no error can be estimated.
    pub(crate) fn new(
        logs: &'a Fit,
        pilot: &'a Fit,
        live: &Live<'_>,
        units: &Units,
        families: [&Family; 2],
    ) -> Option<Self> {
        if logs.noise.is_none() || pilot.noise.is_none() || logs.rank() == 0 || pilot.rank() == 0 {
            return None;
        }
        let independent = live.independent as f64 / pilot.rows;
        let columns: Vec<_> = families.iter().flat_map(|family| family.weights.column_iter()).collect();
        let spread = match live.rows {
            Some(rows) => {
                Spread::of(rows, pilot, units, pilot.whitening.tr_mul(&Matrix::from_columns(&columns)))
            }
            None => Spread::even(pilot, columns.len()),
        };
        let live = &pilot.whitening * &spread.covariance * pilot.whitening.transpose();
        // D_j = max(1, robust / equal-error variance of the pilot).
        let even = pilot.resolved.powi(2);
        let inflation =
            |j: usize| quotient(live[(j, j)], even * pilot.whitening.row(j).norm_squared()).max(1.0);
        // D^½ σ² A⁻¹ D^½.
        let mut root = &logs.whitening * logs.resolved;
        for (j, mut row) in root.row_iter_mut().enumerate() {
            row *= inflation(j).sqrt();
        }
        let logged = &root * root.transpose();
        let difference = &pilot.estimate - &logs.estimate;
        Some(Self { logs, pilot, difference, live, logged, spread, independent })
    }

    /// Tests a family whose first contrast was number `first` of all. `noise` is in the units of [`Units`].
    pub(crate) fn test(&self, family: &mut Family, first: usize, options: &Options, noise: f64) {
        let level = options.level;
        // What both sides decide, with an error that can be estimated.
        let testable = |k: &usize| {
            let contrast = family.weights.column(*k);
            self.logs.identifies(contrast.as_slice())
                && self.pilot.identifies(contrast.as_slice())
                && self.spread.freedom[first + k] >= 1.0
                && !self.spread.rests_on_one(&self.pilot.whitening.tr_mul(&contrast))
        };
        let which: Vec<usize> = (0..family.raw.len()).filter(testable).collect();
        let weights = family.weights.select_columns(&which);
        let [live, logged] = [&self.live, &self.logged].map(|matrix| weights.tr_mul(&(matrix * &weights)));
        let covariance = &live + &logged;
        let drifts = weights.tr_mul(&self.difference);
        let stderr = covariance.diagonal().map(|variance| variance.max(0.0).sqrt());
        let ratios = drifts.zip_map(&stderr, ratio);
        let freedom = Vector::from_fn(which.len(), |i, _| {
            let own = self.spread.freedom[first + which[i]];
            let parts = [(live[(i, i)], own), (logged[(i, i)], self.logs.freedom())];
            // Satterthwaite: ν = (Σ v)² / Σ v²/ν.
            let shares: f64 =
                parts.iter().map(|(v, freedom)| (v / covariance[(i, i)]).powi(2) / freedom).sum();
            if shares > 0.0 { 1.0 / shares } else { own }
        });
        let p_values = ratios.zip_map(&freedom, tail::student);
        // The |z| that is as rare as this |t|: scores of different degrees of freedom become comparable.
        let scores = p_values.map(tail::normal_critical);
        let correlation = Matrix::from_fn(which.len(), which.len(), |i, j| {
            let between = quotient(covariance[(i, j)], stderr[i] * stderr[j]);
            if i == j { 1.0 } else { between.clamp(-1.0, 1.0) }
        });
        let maximum = Maximum::of(&correlation, scores.as_slice(), level);
        let common = tail::normal(maximum.critical);
        let criticals = freedom.map(|freedom| tail::student_critical(common, freedom));
        for (i, &k) in which.iter().enumerate() {
            let (drift, stderr, critical, raw) = (drifts[i], stderr[i], criticals[i], family.raw[k]);
            let width = critical * stderr;
            // TOST: |Δ| + t_{1-α} se ≤ margin · noise / size.
            let margin = family.drift(k, options.margin, noise);
            let one_sided = tail::student_critical((2.0 * level).min(1.0), freedom[i]);
            let equivalent = drift.abs() + one_sided * stderr <= margin;
            let (trust, square) = believe(drift, stderr, scores[i], family.prior(k, noise));
            let live = live[(i, i)].max(0.0);
            family.measured[k] = Some(Measured { drift, stderr, live, width, margin, critical, square });
            family.findings[k] = Finding {
                drift: Some(drift * raw),
                stderr: Some(stderr * raw),
                interval: Some([(drift - width) * raw, (drift + width) * raw]),
                p_value: Some(p_values[i]),
                drifted: Some(maximum.adjusted[i] <= level),
                equivalent: (margin > 0.0).then_some(equivalent),
                trust,
                ..family.findings[k]
            };
        }
        // All at once need more than one at a time: with skewed rewards of single rows, the full number rejects
        // twice too often. Sums over the r rows of a round are less skewed, and keep 1 - 1/(2r) of it.
        let shares: f64 = freedom.iter().map(|freedom| freedom.recip()).sum();
        let kept = 1.0 - 0.5 * self.independent.min(1.0);
        family.p_value = wald(&correlation, &ratios, kept * freedom.len() as f64 / shares);
        family.length = maximum.length_bound(&correlation, ratios.as_slice(), criticals.as_slice(), level);
    }
}

/// Δ / se, which is 0 for 0 / 0 and large for an error that is 0.
fn ratio(drift: f64, stderr: f64) -> f64 {
    if drift == 0.0 { 0.0 } else { drift / stderr.max(1e-9 * drift.abs()) }
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
/// Hotelling's. `ratios` are Δ_j / se_j.
fn wald(correlation: &Matrix, ratios: &Vector, freedom: f64) -> Option<f64> {
    if ratios.is_empty() {
        return None;
    }
    let eigen = correlation.clone().symmetric_eigen();
    let floor = 1e-10 * eigen.eigenvalues.max();
    let (mut rank, mut sum) = (0.0, 0.0);
    for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
        if *value > floor {
            rank += 1.0;
            sum += vector.dot(ratios).powi(2) / value;
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
        let p = wald(&Matrix::identity(1, 1), &Vector::from_element(1, ratio(-2.0, 0.8)), 12.0).unwrap();
        assert!((p - tail::student(2.5, 12.0)).abs() < 1e-12);
        assert_eq!(wald(&Matrix::identity(3, 3), &Vector::zeros(3), 2.0), None);
    }
}
