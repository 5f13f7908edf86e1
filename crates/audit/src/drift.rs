//! Live coefficients minus logged ones: how large, how sure, and over all of them together.
//!
//! Logs are known by their sums only, so their errors are taken to be as clustered and uneven as the pilot's:
//! each coefficient's variance σ² [A⁻¹]_jj is multiplied by what the pilot's robust variance is above its own
//! equal-error variance, and never reduced. Where most rewards are the same, variances are not below what the logs lead to
//! [expect](crate::expected).

use crate::{Matrix, Vector};

use crate::expected::{Expected, larger};
use crate::fit::{Fit, Units, positive, quotient};
use crate::live::Live;
use crate::maximum::Maximum;
use crate::ranking::Choices;
use crate::robust::Spread;
use crate::sizes::{Estimate, Size, evidence};
use crate::spectrum::Spectrum;
use crate::tail;
use crate::view::Finding;

type VectorView<'a> = nalgebra::DVectorView<'a, f64>;

/// A large drift before it is measured, in standard deviations of the noise.
const PRIOR: f64 = 0.5;

/// What drifts are measured by, in the units of [`Units`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scales {
    /// Standard deviation of the noise.
    pub(crate) noise: f64,
    /// What a feature does to the rewards of a round's actions, by the logs: typically.
    pub(crate) signal: f64,
    /// Drift times spread within a round that does not matter; none where that is not known.
    pub(crate) allowed: Option<f64>,
    /// Whether there are rewards enough to decide anything.
    pub(crate) decisive: bool,
}

/// Contrasts, linear combinations of coefficients, that are tested together, and what was measured of them.
#[derive(Debug, Clone)]
pub(crate) struct Family {
    /// Contrasts as columns, for the units of [`Units`].
    pub(crate) weights: Matrix,
    /// What 1 of a contrast is in the units of the files.
    pub(crate) raw: Vec<f64>,
    /// How far a typical live row reaches along it.
    sizes: Vec<f64>,
    /// How far the actions of a round are apart along it, where rounds are known.
    within: Option<Vec<f64>>,
    /// In the units of the files.
    pub(crate) findings: Vec<Finding>,
    /// None for what cannot be tested.
    pub(crate) measured: Vec<Option<Measured>>,
    /// p-value of no drift in any of them, by the largest score or by all of them together.
    pub(crate) p_value: Option<f64>,
    /// Bound on √ Σ (Δ / (|Δ̂| + width))² over what was tested.
    pub(crate) length: f64,
}

/// What the pilot shows about one contrast, in the units of [`Units`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) drift: f64,
    pub(crate) stderr: f64,
    /// Half the width of the simultaneous interval.
    pub(crate) width: f64,
    /// How large the drift is.
    size: Size,
}

impl Family {
    /// Each feature, or the part of its coefficient that can be known. Sizes are those of the live rows, or of the
    /// logs where live rows have only zeros.
    pub(crate) fn features(
        units: &Units,
        logs: &Fit,
        pilot: Option<&Fit>,
        choices: Option<&Choices>,
    ) -> Self {
        let d = units.columns.len();
        let size = |j: usize| positive(pilot.map_or(0.0, |pilot| pilot.sizes[j]), logs.sizes[j]);
        let weights = pilot.map_or_else(|| Matrix::identity(d, d), |pilot| logs.shared(pilot));
        let within = choices.map(|choices| choices.within.diagonal().map(f64::sqrt).as_slice().to_vec());
        Self::untested(weights, units, within, |j| (units.raw(j), size(j), logs.coverage(j)))
    }

    /// Each eigen-direction q of the logs, for columns of size 1: qᵀΔ is what a typical step along it does to rewards.
    pub(crate) fn directions(
        units: &Units,
        logs: &Spectrum,
        live: Option<&Spectrum>,
        choices: Option<&Choices>,
    ) -> Self {
        let apart = |choices: &Choices, q: VectorView<'_>| q.dot(&(&choices.within * q)).max(0.0).sqrt();
        let directions = || logs.vectors.column_iter();
        let within = choices.map(|choices| directions().map(|q| apart(choices, q)).collect());
        Self::untested(logs.vectors.clone(), units, within, |k| {
            let reach = live.unwrap_or(logs).reach(logs.vectors.column(k).as_slice());
            (units.reward, reach, logs.coverage(k))
        })
    }

    /// Contrasts of which nothing is measured yet; `of` says what 1 of each is in the units of the files, its size and
    /// its coverage.
    fn untested(
        weights: Matrix,
        units: &Units,
        within: Option<Vec<f64>>,
        of: impl Fn(usize) -> (f64, f64, f64),
    ) -> Self {
        let d = weights.ncols();
        let (mut raw, mut sizes, mut findings) = (Vec::new(), Vec::new(), Vec::new());
        for (k, (unit, size, coverage)) in (0..d).map(of).enumerate() {
            let [typical, spread] = [Some(size), within.as_ref().map(|within| within[k])]
                .map(|size| Some(size? * units.reward / unit));
            let typical = typical.unwrap_or(0.0);
            findings.push(Finding { typical, spread, coverage, trust: 0.5, ..Finding::default() });
            raw.push(unit);
            sizes.push(size);
        }
        Self { weights, raw, sizes, within, findings, measured: vec![None; d], p_value: None, length: 0.0 }
    }

    /// How many could be tested.
    pub(crate) fn tested(&self) -> usize {
        self.measured.iter().flatten().count()
    }

    /// Two prior standard deviations of a drift, of even odds: as large as what a feature does by the logs, and ½ noise
    /// in a typical reward.
    fn priors(&self, k: usize, scales: &Scales) -> [f64; 2] {
        let large = PRIOR * self.unit(k, scales);
        let apart = self.within.as_ref().map_or(0.0, |within| within[k]);
        [positive(quotient(scales.signal, positive(apart, self.sizes[k])), large), large]
    }

    /// Drift that does not matter; infinite where it cannot change a choice.
    fn margin(&self, k: usize, scales: &Scales) -> Option<f64> {
        let (within, allowed) = (self.within.as_ref()?[k], scales.allowed?);
        // What is left of a column that is the same for all actions is rounding.
        Some(if within > 1e-9 * self.sizes[k] { allowed / within } else { f64::INFINITY })
    }

    /// One standard deviation of the noise in a typical reward. Without noise, any drift is large.
    fn unit(&self, k: usize, scales: &Scales) -> f64 {
        quotient(scales.noise.max(1e-6), self.sizes[k])
    }

    /// How large the drift is, also where nothing was measured.
    pub(crate) fn size(&self, k: usize, scales: &Scales) -> Size {
        self.measured[k].map_or_else(|| Size::unmeasured(self.unit(k, scales)), |measured| measured.size)
    }
}

/// Both sides of the comparison.
pub(crate) struct Comparison<'a> {
    pub(crate) logs: &'a Fit,
    pub(crate) pilot: &'a Fit,
    difference: Vector,
    spread: Spread,
    expected: Option<Expected>,
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
        let columns: Vec<_> = families.iter().flat_map(|family| family.weights.column_iter()).collect();
        let spread = match live.rows {
            Some(rows) => {
                Spread::of(rows, pilot, units, pilot.whitening.tr_mul(&Matrix::from_columns(&columns)))
            }
            None => Spread::even(pilot, columns.len()),
        };
        let expected = Expected::of(live, logs, pilot, units);
        let difference = &pilot.estimate - &logs.estimate;
        Some(Self { logs, pilot, difference, spread, expected })
    }

    /// Covariance of live contrasts by the spread of the pilot's errors.
    pub(crate) fn shown(&self, contrasts: &Matrix) -> Matrix {
        let whitened = self.pilot.whitening.tr_mul(contrasts);
        whitened.tr_mul(&(&self.spread.covariance * &whitened))
    }

    /// The same, and not below what the logs lead to expect.
    pub(crate) fn live(&self, contrasts: &Matrix) -> Matrix {
        let expected = self.expected.as_ref().map(|expected| expected.live(self.pilot, contrasts));
        larger(self.shown(contrasts), expected)
    }

    /// Covariance of logged contrasts, not below what is to be expected either.
    pub(crate) fn logged(&self, contrasts: &Matrix) -> Matrix {
        // D^½ σ² Cᵀ A⁻¹ C D^½.
        let mut root = self.logs.whitening.tr_mul(contrasts) * self.logs.resolved;
        for (mut column, inflation) in root.column_iter_mut().zip(self.inflation(contrasts)) {
            column *= inflation.sqrt();
        }
        let expected = self.expected.as_ref().map(|expected| expected.logged(self.logs, contrasts));
        larger(root.tr_mul(&root), expected)
    }

    /// What the logs' variance of each contrast is multiplied by, max(1, robust / equal-error variance of the pilot). Of
    /// contrasts and not of coefficients: beside a column far from 0, coefficients have large errors that cancel, and scaled
    /// one by one they no longer would.
    pub(crate) fn inflation(&self, contrasts: &Matrix) -> Vec<f64> {
        let whitened = self.pilot.whitening.tr_mul(contrasts);
        let turned = &self.spread.covariance * &whitened;
        let even = self.pilot.resolved.powi(2);
        let columns = whitened.column_iter().zip(turned.column_iter());
        columns.map(|(c, turned)| quotient(c.dot(&turned), even * c.norm_squared()).max(1.0)).collect()
    }

    /// Degrees of freedom of the live errors of the first `count` contrasts, on (harmonic) average.
    pub(crate) fn freedom(&self, count: usize) -> f64 {
        let known = self.spread.freedom.iter().take(count).filter(|freedom| **freedom >= 1.0);
        let (sum, count) =
            known.fold((0.0, 0.0), |(sum, count), freedom| (sum + freedom.recip(), count + 1.0));
        if count > 0.0 { count / sum } else { 1.0 }
    }

    /// Tests a family whose first contrast was number `first` of all.
    pub(crate) fn test(&self, family: &mut Family, first: usize, level: f64, scales: &Scales) {
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
        let (shown, live, logged) = (self.shown(&weights), self.live(&weights), self.logged(&weights));
        let covariance = &live + &logged;
        let drifts = weights.tr_mul(&self.difference);
        let stderr = covariance.diagonal().map(|variance| variance.max(0.0).sqrt());
        let ratios = drifts.zip_map(&stderr, ratio);
        let freedom = Vector::from_fn(which.len(), |i, _| {
            let own = self.spread.freedom[first + which[i]];
            let [shown, live] = [shown[(i, i)], live[(i, i)]];
            // What the logs lead to expect is known as well as they are.
            let known = self.logs.freedom();
            let parts = [(shown, own), ((live - shown).max(0.0), known), (logged[(i, i)], known)];
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
        let shares: f64 = freedom.iter().map(|freedom| freedom.recip()).sum();
        let together = wald(&correlation, &ratios, freedom.len() as f64 / shares);
        let maximum =
            Maximum::of(&correlation, scores.as_slice(), together.map(tail::normal_critical), level);
        let common = tail::normal(maximum.critical);
        let criticals = freedom.map(|freedom| tail::student_critical(common, freedom));
        let score = |i: usize| if scales.decisive { scores[i] } else { 0.0 };
        let estimates = which.iter().enumerate().map(|(i, &k)| Estimate {
            drift: drifts[i],
            stderr: stderr[i],
            score: score(i),
            unit: family.unit(k, scales),
        });
        let sizes = Size::of(&estimates.collect::<Vec<_>>());
        for (i, &k) in which.iter().enumerate() {
            let (drift, stderr, raw) = (drifts[i], stderr[i], family.raw[k]);
            let width = criticals[i] * stderr;
            // TOST: |Δ| + t_{1-α} se ≤ margin.
            let margin = family.margin(k, scales).filter(|margin| *margin > 0.0);
            let one_sided = tail::student_critical((2.0 * level).min(1.0), freedom[i]);
            let equivalent = margin.map(|margin| drift.abs() + one_sided * stderr <= margin);
            let trust = trust(stderr, score(i), family.priors(k, scales));
            family.measured[k] = Some(Measured { drift, stderr, width, size: sizes[i] });
            family.findings[k] = Finding {
                drift: Some(drift * raw),
                stderr: Some(stderr * raw),
                interval: Some([(drift - width) * raw, (drift + width) * raw]),
                p_value: scales.decisive.then_some(p_values[i]),
                drifted: Some(scales.decisive && maximum.adjusted[i] <= level),
                margin: margin.filter(|margin| margin.is_finite()).map(|margin| margin * raw),
                equivalent: equivalent.map(|equivalent| scales.decisive && equivalent),
                trust: if scales.decisive { trust } else { 0.5 },
                mean_square: Some(sizes[i].mean_square() * raw * raw),
                ..family.findings[k]
            };
        }
        family.p_value = maximum.all.filter(|_| scales.decisive);
        family.length = maximum.length_bound(&correlation, ratios.as_slice(), criticals.as_slice(), level);
    }
}

/// Δ / se, which is 0 for 0 / 0 and large for an error that is 0.
fn ratio(drift: f64, stderr: f64) -> f64 {
    if drift == 0.0 { 0.0 } else { drift / stderr.max(1e-9 * drift.abs()) }
}

/// Probability of no drift from even odds. Under drift, Δ is N(0, τ²), with either τ as likely before.
///
/// ```text
/// B = √(se²/(se² + τ²)) exp(z²/2 · τ²/(τ² + se²))      trust = 1 / (1 + mean of B)
/// ```
fn trust(stderr: f64, score: f64, priors: [f64; 2]) -> f64 {
    if priors.iter().any(|&prior| prior <= 0.0) {
        return 0.5;
    }
    let logs = priors.map(|prior| evidence(stderr, score, prior).0);
    let most = logs[0].max(logs[1]);
    let mean = f64::midpoint((logs[0] - most).exp(), (logs[1] - most).exp());
    1.0 / (1.0 + (most + mean.ln()).exp())
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
    fn trust_by_hand() {
        // τ = se = 1, z = 2: B = e / √2 = 1.92, trust = 0.342.
        let odds = 1f64.exp() / 2f64.sqrt();
        assert!((trust(1.0, 2.0, [1.0; 2]) - 1.0 / (1.0 + odds)).abs() < 1e-12);
        // Of two sizes each counts half: B = 1 for τ = 0, nearly.
        assert!((trust(1.0, 2.0, [1.0, 1e-9]) - 1.0 / (1.0 + f64::midpoint(odds, 1.0))).abs() < 1e-9);
        // A pilot that tells nothing leaves even odds.
        assert!((trust(1e9, 0.0, [2.0; 2]) - 0.5).abs() < 1e-9);
        assert!(trust(0.0, 0.0, [1.0; 2]) > 0.999 && trust(0.0, 38.0, [1.0; 2]) < 1e-9);
    }

    #[test]
    fn wald_of_one_score_is_its_t_test() {
        let p = wald(&Matrix::identity(1, 1), &Vector::from_element(1, ratio(-2.0, 0.8)), 12.0).unwrap();
        assert!((p - tail::student(2.5, 12.0)).abs() < 1e-12);
        assert_eq!(wald(&Matrix::identity(3, 3), &Vector::zeros(3), 2.0), None);
    }
}
