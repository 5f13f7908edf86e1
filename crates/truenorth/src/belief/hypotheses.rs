//! The adaptive certificate of width `posterior`: how far each direction of the logs is trusted, learned from
//! live rewards by Bayes' rule.
//!
//! Hypotheses are weighed by how well they predict the live data: a sparse drift (see
//! [`sparse`](super::sparse)), a drift of all coefficients alike, small or large, or logs that are void
//! altogether. What is acted on is the Gaussian with mean and covariance of that mixture. It is fitted anew from the sufficient statistics whenever the number of live
//! rewards has grown by a quarter, and follows each reward by a rank-one update in between.
//!
//! A constant by which all live rewards differ from the logs (a season, a new unit) says nothing about any
//! feature, so it is integrated out under a prior of a tenth of the rewards' size.

use super::drift::{Dictionary, DriftLikelihood};
use super::evidence::Evidence;
use super::sparse::{Sites, SparseDrift};
use crate::dense::{self, Matrix, Vector};
use crate::error::Result;
use crate::offline::Offline;
use crate::statistic::RidgeStatistic;

/// Prior probability that the logs are void altogether.
const VOID: f64 = 0.2;
/// Deviations of a drift of all coefficients alike, in units of their size, with their prior probabilities.
const DENSE: [(f64, f64); 2] = [(0.3, 0.15), (1.0, 0.15)];
/// Prior probability of a sparse drift.
const SPARSE: f64 = 0.5;
/// Prior deviation of the level by which live rewards differ, in units of the logged rewards' size.
const LEVEL: f64 = 0.1;
/// Weight below which a hypothesis is left out of the mixture.
const NEGLIGIBLE: f64 = 1e-9;
/// Live rewards that the logs' estimate of the noise is worth, at most.
const NOISE_COUNT: f64 = 20.0;

/// The state of the adaptive posterior.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Belief {
    /// σ² of the logged and of the live rewards.
    logged_variance: f64,
    variance: f64,
    /// Rows of the logs.
    log_count: f64,
    /// Mean square of a coefficient.
    scale: f64,
    /// Which of the numbers are told, and which are followed.
    told: Told,
    /// Σ x and Σ r over the live data.
    feature_sums: Vec<f64>,
    reward_sum: f64,
    /// Estimated level of the live rewards, as of the last fit.
    level: f64,
    sites: Option<Sites>,
    /// Live rewards at which the next fit is due.
    due: u64,
    /// Probability that the logs are not void; 0 without logs.
    logs: f64,
    /// Probability that each coordinate of the logs is kept.
    kept: Vec<f64>,
    /// Mean and standard deviation of each coordinate's drift.
    drift: Vec<(f64, f64)>,
}

/// What the user has told.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Told {
    /// σ is given.
    pub(crate) noise: bool,
    /// S is given.
    pub(crate) norm_bound: bool,
}

/// A belief about the live parameter, as wide as exploration wants it.
pub(crate) struct Gaussian {
    pub(crate) mean: Vector,
    pub(crate) covariance: Matrix,
}

/// Live data as precisions, with the level integrated out.
///
/// `r = c + xᵀθ + ε` with c ~ N(0, v) is the regression without c on `A - share mmᵀ`, `b - share m Σr` and
/// `Σr² - share (Σr)²`, where m = Σx and share = 1/(n + σ²/v).
struct Leveled {
    gram: Matrix,
    moment: Vector,
    /// In the rewards' own units.
    squares: f64,
    share: f64,
    count: f64,
}

impl Leveled {
    fn new(trust: &Belief, logs: &RidgeStatistic, live: &RidgeStatistic) -> Self {
        let (variance, rewards, count) = (trust.variance, trust.reward_sum, live.count() as f64);
        let level = LEVEL.powi(2) * logs.sum_squares() / logs.count() as f64;
        let share = if level > 0.0 { (count + variance / level).recip() } else { 0.0 };
        let sums = Vector::from_column_slice(&trust.feature_sums);
        let gram = live.gram_matrix() - &sums * sums.transpose() * share;
        let moment = Vector::from_column_slice(live.moment()) - &sums * (rewards * share);
        let squares = live.sum_squares() - rewards * rewards * share;
        Self { gram: gram / variance, moment: moment / variance, squares, share, count }
    }
}

/// What a hypothesis says, and its unnormalised log weight.
struct Hypothesis {
    log_weight: f64,
    says: Says,
}

enum Says {
    /// The drift is N(mean, covariance).
    Drift(Vector, Matrix),
    /// The drift is N(mean, (CCᵀ)⁻¹).
    DriftByFactor(Vector, Matrix),
    /// The live parameter is N(mean, (CCᵀ)⁻¹).
    LiveByFactor(Vector, Matrix),
}

impl Hypothesis {
    /// Most directions are kept.
    fn sparse(sparse: &SparseDrift, columns: &Dictionary) -> Self {
        Self {
            log_weight: SPARSE.ln() + sparse.log_evidence,
            says: Says::Drift(columns.combine(&sparse.mean), columns.spread(&sparse.optimistic)),
        }
    }

    /// Δ ~ N(0, deviation² I).
    fn dense(likelihood: &DriftLikelihood, deviation: f64, prior: f64) -> Result<Self> {
        let dimension = likelihood.shift.len();
        let precision = &likelihood.information + Matrix::identity(dimension, dimension) * deviation.powi(-2);
        let factor = dense::cholesky("the precision of the drift", &precision)?;
        let mean = dense::solve_from_factor(&factor, &likelihood.shift);
        let growth = dense::log_det_from_factor(&factor) + 2.0 * dimension as f64 * deviation.ln();
        let log_weight = prior.ln() + 0.5 * (likelihood.shift.dot(&mean) - growth);
        Ok(Self { log_weight, says: Says::DriftByFactor(mean, factor) })
    }

    /// θ_* ~ N(0, scale I) whatever the logs say. Its evidence is that of the live data alone, relative to the
    /// logs without drift as for the other hypotheses:
    ///
    /// ```text
    /// log ∫ p(live | θ) N(θ; 0, scale I) dθ - log ∫ p(live | θ) N(θ; θ_off, G⁻¹) dθ
    /// ```
    fn void(
        scale: f64,
        likelihood: &DriftLikelihood,
        logs_log_det: f64,
        estimate: &Vector,
        live: &Leveled,
    ) -> Result<Self> {
        let dimension = estimate.len();
        let precision = &live.gram + Matrix::identity(dimension, dimension) / scale;
        let factor = dense::cholesky("the live precision", &precision)?;
        let mean = dense::solve_from_factor(&factor, &live.moment);
        let growth = dense::log_det_from_factor(&factor) + dimension as f64 * scale.ln();
        let alone = 0.5 * (live.moment.dot(&mean) - growth);
        let fitted = &live.gram * estimate;
        let surprise = &live.moment - &fitted;
        let pooled = live.moment.dot(estimate) - 0.5 * estimate.dot(&fitted)
            + 0.5 * surprise.dot(&(&likelihood.covariance * &surprise))
            - 0.5 * (likelihood.log_det - logs_log_det);
        Ok(Self { log_weight: VOID.ln() + alone - pooled, says: Says::LiveByFactor(mean, factor) })
    }
}

/// Mean and covariance of a mixture; what is next to impossible is left out.
fn mixture(likelihood: &DriftLikelihood, hypotheses: &[Hypothesis], weights: &[f64]) -> Gaussian {
    let dimension = likelihood.shift.len();
    let possible = || {
        weights.iter().zip(hypotheses).filter(|(weight, _)| **weight > NEGLIGIBLE).map(|(w, h)| (*w, &h.says))
    };
    // θ_* = θ_pool + RΔ: the spreads of all drifts go through R together.
    let (mut drifting, mut drift, mut covariance) =
        (0.0, Matrix::zeros(dimension, dimension), Matrix::zeros(dimension, dimension));
    let mut means = Vec::with_capacity(hypotheses.len());
    for (weight, says) in possible() {
        match says {
            Says::Drift(mean, spread) => {
                drift += spread * weight;
                drifting += weight;
                means.push((weight, &likelihood.pooled + &likelihood.gain * mean));
            }
            Says::DriftByFactor(mean, factor) => {
                drift += dense::inverse_from_factor(factor) * weight;
                drifting += weight;
                means.push((weight, &likelihood.pooled + &likelihood.gain * mean));
            }
            Says::LiveByFactor(mean, factor) => {
                covariance += dense::inverse_from_factor(factor) * weight;
                means.push((weight, mean.clone()));
            }
        }
    }
    if drifting > 0.0 {
        covariance += &likelihood.covariance * drifting;
        covariance += &likelihood.gain * drift * likelihood.gain.transpose();
    }
    let mean = means.iter().fold(Vector::zeros(dimension), |sum, (weight, mean)| sum + mean * *weight);
    for (weight, middle) in &means {
        let apart = middle - &mean;
        covariance.ger(*weight, &apart, &apart, 1.0);
    }
    Gaussian { mean, covariance }
}

/// Rewards until the next fit: a quarter of those so far, but half of them where a fit is dear.
fn spacing(rewards: u64, dimension: u64) -> u64 {
    let share = if dimension < 50 { 4 } else { 2 };
    (rewards / share).max(dimension / 10).max(1)
}

/// log det(cI).
fn dimension_times_log(vector: &Vector, value: f64) -> f64 {
    vector.len() as f64 * value.ln()
}

/// Turns log weights into weights that sum to 1.
fn normalise(weights: &mut [f64]) {
    let peak = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for weight in &mut *weights {
        *weight = (*weight - peak).exp();
    }
    let total: f64 = weights.iter().sum();
    for weight in weights {
        *weight /= total;
    }
}

impl Belief {
    pub(crate) fn new(dimension: usize, evidence: Evidence, told: Told, logs: &RidgeStatistic) -> Self {
        let known = if logs.count() > 0 { 1.0 - VOID } else { 0.0 };
        Self {
            logged_variance: evidence.variance,
            variance: evidence.variance,
            log_count: logs.count() as f64,
            scale: evidence.scale,
            told,
            feature_sums: vec![0.0; dimension],
            reward_sum: 0.0,
            level: 0.0,
            sites: None,
            due: 0,
            logs: known,
            kept: vec![SPARSE * known.ceil(); dimension],
            drift: vec![(0.0, 0.0); dimension],
        }
    }

    /// σ of the live rewards' noise, as far as it is known.
    pub(crate) fn noise(&self) -> f64 {
        self.variance.sqrt()
    }

    /// What all live rewards have in common that the features do not explain.
    pub(crate) fn level(&self) -> f64 {
        self.level
    }

    /// Ridge weight of the logs' regression: σ² over the mean square of a coefficient.
    pub(crate) fn ridge(&self) -> f64 {
        (self.logged_variance / self.scale).clamp(1e-45, 1e45)
    }

    /// Probability that the logs are not void.
    pub(crate) fn logs(&self) -> f64 {
        self.logs
    }

    /// Probability that coordinate `j` of the logs is as good as ever.
    pub(crate) fn kept(&self, j: usize) -> f64 {
        self.kept[j]
    }

    /// Mean and standard deviation of the drift of coordinate `j`.
    pub(crate) fn drift(&self, j: usize) -> (f64, f64) {
        self.drift[j]
    }

    /// Whether this can be a policy's state: deserialised data may be anything.
    pub(crate) fn is_consistent(&self, dimension: usize) -> bool {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        positive(self.logged_variance)
            && positive(self.variance)
            && positive(self.scale)
            && self.feature_sums.len() == dimension
            && self.kept.len() == dimension
            && self.drift.len() == dimension
            && self.feature_sums.iter().all(|sum| sum.is_finite())
            && self.reward_sum.is_finite()
            && self.level.is_finite()
            && self.sites.iter().all(|sites| sites.is_consistent(dimension + 1))
    }

    /// Notes one live reward. O(d).
    pub(crate) fn observe(&mut self, features: &[f64], reward: f64) {
        for (sum, feature) in self.feature_sums.iter_mut().zip(features) {
            *sum += feature;
        }
        self.reward_sum += reward;
    }

    /// Whether so many live rewards make a new fit worth its while.
    pub(crate) fn is_due(&self, rewards: u64) -> bool {
        rewards >= self.due
    }

    /// Fits everything anew to the logs, of which `offline` is the regression, and the live data. O(d³).
    pub(crate) fn fit(
        &mut self,
        logs: &RidgeStatistic,
        offline: &Offline,
        live: &RidgeStatistic,
        rounds: u64,
    ) -> Result<Gaussian> {
        self.due = live.count() + spacing(live.count(), live.dimension() as u64);
        if logs.count() == 0 {
            return self.fit_without_logs(live);
        }
        let estimate = Vector::from_column_slice(offline.estimate());
        let precision = offline.precision_matrix() / self.logged_variance;
        let live = Leveled::new(self, logs, live);
        let likelihood = DriftLikelihood::new(&precision, &estimate, &live.gram, &live.moment)?;
        let unit = self.scale.sqrt();
        let columns = Dictionary::new(&estimate, unit, 1.0);
        // Drawn anew, a coefficient is N(0, scale): its drift has the mean -θ_off.
        let mut anew: Vec<f64> = estimate.iter().map(|value| -value / unit).collect();
        anew.push(0.0);
        let (q, h) = (columns.restrict(&likelihood.information), columns.project(&likelihood.shift));
        let mut sites = self.sites.take().unwrap_or_else(|| Sites::new(&anew));
        let sparse = sites.fit(&q, &h, &anew, rounds as f64)?;
        self.sites = Some(sites);
        let mut hypotheses = vec![Hypothesis::sparse(&sparse, &columns)];
        for (deviation, prior) in DENSE {
            hypotheses.push(Hypothesis::dense(&likelihood, deviation * unit, prior)?);
        }
        let logs_log_det =
            offline.log_det() + dimension_times_log(&estimate, self.ridge() / self.logged_variance);
        hypotheses.push(Hypothesis::void(self.scale, &likelihood, logs_log_det, &estimate, &live)?);
        let mut weights: Vec<f64> = hypotheses.iter().map(|each| each.log_weight).collect();
        normalise(&mut weights);
        let belief = mixture(&likelihood, &hypotheses, &weights);
        self.note(&belief, &weights, &sparse.kept, offline);
        if !self.told.noise {
            self.follow_noise(&live, &belief);
        }
        let explained = belief.mean.dot(&Vector::from_column_slice(&self.feature_sums));
        self.level = live.share * (self.reward_sum - explained);
        Ok(belief)
    }

    /// Keeps what people want to see: the drift of each coordinate, and how much the logs count there.
    fn note(&mut self, belief: &Gaussian, weights: &[f64], kept: &[f64], offline: &Offline) {
        let dimension = offline.dimension();
        let logged = offline.variances();
        self.logs = 1.0 - weights[weights.len() - 1];
        for j in 0..dimension {
            // The last column is a common factor on all coefficients.
            self.kept[j] = weights[0] * kept[j] * kept[dimension];
            // Live and logged coefficient share the logs' error where these hold, and are known apart from each
            // other where they are void: the larger of the two spreads is the honest one.
            let spread = belief.covariance[(j, j)] + logged[j] * self.logged_variance;
            self.drift[j] = (belief.mean[j] - offline.estimate()[j], spread.sqrt());
        }
    }

    /// σ² from the residuals, with the logs' estimate as a prior worth `NOISE_COUNT` rewards.
    fn follow_noise(&mut self, live: &Leveled, belief: &Gaussian) {
        let fitted = belief.mean.dot(&(&live.gram * &belief.mean)) - 2.0 * belief.mean.dot(&live.moment);
        let residual = (live.squares + fitted * self.variance).max(0.0);
        let used = live.gram.component_mul(&belief.covariance).sum() + live.count * live.share;
        let prior = NOISE_COUNT.min(self.log_count);
        let freedom = (live.count - used).max(0.1 * live.count);
        self.variance = (prior * self.logged_variance + residual) / (prior + freedom);
    }

    /// A ridge regression whose noise and scale come from the live data itself, where they are not told.
    fn fit_without_logs(&mut self, live: &RidgeStatistic) -> Result<Gaussian> {
        let found = Evidence::of(live);
        if !self.told.noise {
            self.variance = found.variance;
        }
        if !self.told.norm_bound {
            self.scale = found.scale;
        }
        let ridge = (self.variance / self.scale).clamp(1e-45, 1e45);
        let factor = dense::cholesky("the live precision", &live.precision(ridge)?)?;
        let mean = dense::solve_from_factor(&factor, &Vector::from_column_slice(live.moment()));
        Ok(Gaussian { mean, covariance: dense::inverse_from_factor(&factor) * self.variance })
    }
}
