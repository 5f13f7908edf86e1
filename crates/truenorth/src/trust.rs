//! The adaptive certificate of width `posterior`: how far each direction of the logs is trusted, learned from
//! live rewards by Bayes' rule.
//!
//! Hypotheses are weighed by how well they predict the live data: a sparse drift (see
//! [`sparse`](crate::sparse)), a drift of all coefficients alike, small or large, or logs that are void
//! altogether. What is acted on is the Gaussian with mean and covariance of that mixture. It is fitted anew from the sufficient statistics whenever the number of live
//! rewards has grown by a quarter, and follows each reward by a rank-one update in between.
//!
//! A constant by which all live rewards differ from the logs (a season, a new unit) says nothing about any
//! feature, so it is integrated out under a prior of a tenth of the rewards' size.

use serde::{Deserialize, Serialize};

use crate::dense::{self, Matrix, Vector};
use crate::drift::{DriftLikelihood, dictionary};
use crate::error::Result;
use crate::evidence::Evidence;
use crate::sparse::Sites;
use crate::statistic::RidgeStatistic;

/// Prior probability that the logs are void altogether.
const VOID: f64 = 0.2;
/// Deviations of a drift of all coefficients alike, in units of their size, with their prior probabilities.
const DENSE: [(f64, f64); 2] = [(0.3, 0.15), (1.0, 0.15)];
/// Prior probability of a sparse drift.
const SPARSE: f64 = 0.5;
/// Prior deviation of the level by which live rewards differ, in units of the logged rewards' size.
const LEVEL: f64 = 0.1;
/// Live rewards that the logs' estimate of the noise is worth, at most.
const NOISE_COUNT: f64 = 20.0;

/// The state of the adaptive posterior.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Trust {
    /// σ² of the logged and of the live rewards.
    logged_variance: f64,
    variance: f64,
    /// Rows of the logs.
    log_count: f64,
    /// Mean square of a coefficient.
    scale: f64,
    /// Whether the noise is told, or followed.
    told: Told,
    /// Σ x and Σ r over the live data.
    feature_sums: Vec<f64>,
    reward_sum: f64,
    sites: Option<Sites>,
    /// Live rewards at which the next fit is due.
    due: u64,
    /// Probability that the logs are not void; 0 without logs.
    logs: f64,
    /// Probability that each coordinate of the logs is kept.
    kept: Vec<f64>,
    /// Mean and standard deviation of each coordinate's drift, if the logs are not void.
    drift: Vec<(f64, f64)>,
}

/// What the user has told.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Told {
    /// σ is given.
    pub(crate) noise: bool,
    /// S is given.
    pub(crate) norm_bound: bool,
}

/// A Gaussian belief about the live parameter.
pub(crate) struct Belief {
    pub(crate) mean: Vector,
    /// As wide as exploration wants it.
    pub(crate) covariance: Matrix,
}

/// Mean and covariance of the live parameter under a hypothesis, its covariance for exploration, and its
/// unnormalised log weight.
struct Hypothesis {
    log_weight: f64,
    mean: Vector,
    covariance: Matrix,
    optimistic: Matrix,
}

/// Mean and covariance of the drift under a hypothesis, its covariance for exploration where that is another,
/// and its unnormalised log weight.
struct Drift {
    log_weight: f64,
    mean: Vector,
    covariance: Matrix,
    optimistic: Option<Matrix>,
}

impl Drift {
    /// Δ ~ N(0, deviation² I).
    fn dense(likelihood: &DriftLikelihood, deviation: f64, prior: f64) -> Result<Self> {
        let dimension = likelihood.shift.len();
        let mut precision = likelihood.information.clone();
        for j in 0..dimension {
            precision[(j, j)] += deviation.powi(-2);
        }
        let factor = dense::cholesky("the precision of the drift", &precision)?;
        let mean = dense::solve_from_factor(&factor, &likelihood.shift);
        let growth = dense::log_det_from_factor(&factor) + 2.0 * dimension as f64 * deviation.ln();
        Ok(Self {
            log_weight: prior.ln() + 0.5 * (likelihood.shift.dot(&mean) - growth),
            mean,
            covariance: dense::inverse_from_factor(&factor),
            optimistic: None,
        })
    }

    fn hypothesis(&self, likelihood: &DriftLikelihood) -> Hypothesis {
        let (mean, covariance) = likelihood.live(&self.mean, &self.covariance);
        let optimistic = match &self.optimistic {
            Some(optimistic) => likelihood.live(&self.mean, optimistic).1,
            None => covariance.clone(),
        };
        Hypothesis { log_weight: self.log_weight, mean, covariance, optimistic }
    }
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

impl Trust {
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

    /// Ridge weight σ²/s of the logs' regression.
    pub(crate) fn ridge(&self) -> f64 {
        self.logged_variance / self.scale
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

    /// Fits everything anew. O(d³).
    pub(crate) fn fit(
        &mut self,
        logs: &RidgeStatistic,
        live: &RidgeStatistic,
        rounds: u64,
    ) -> Result<Belief> {
        self.due = live.count() + (live.count() / 4).max(1);
        if logs.count() == 0 {
            return self.fit_without_logs(live);
        }
        let precision = logs.precision(self.ridge())? / self.logged_variance;
        let estimate = logs.estimate(self.ridge())?;
        let (gram, moment) = self.leveled(logs, live);
        let likelihood = DriftLikelihood::new(&precision, &estimate, &gram, &moment)?;
        let unit = self.scale.sqrt();
        let columns = dictionary(&estimate, unit, 1.0);
        let mut anew: Vec<f64> = estimate.iter().map(|value| -value / unit).collect();
        anew.push(0.0);
        let q = columns.tr_mul(&(&likelihood.information * &columns));
        let h = columns.tr_mul(&likelihood.shift);
        let mut sites = self.sites.take().unwrap_or_else(|| Sites::new(&anew));
        let sparse = sites.fit(&q, &h, &anew, rounds as f64)?;
        self.sites = Some(sites);
        let in_features = |matrix: &Matrix| &columns * matrix * columns.transpose();
        let mut drifts = vec![Drift {
            log_weight: SPARSE.ln() + sparse.log_evidence,
            mean: &columns * &sparse.mean,
            covariance: in_features(&sparse.covariance),
            optimistic: Some(in_features(&sparse.optimistic)),
        }];
        for (deviation, prior) in DENSE {
            drifts.push(Drift::dense(&likelihood, deviation * unit, prior)?);
        }
        let void = self.void(&likelihood, &estimate, &gram, &moment)?;
        let mut weights: Vec<f64> =
            drifts.iter().map(|drift| drift.log_weight).chain([void.log_weight]).collect();
        normalise(&mut weights);
        self.note(&drifts, &weights, &sparse.kept);
        let mut hypotheses: Vec<Hypothesis> =
            drifts.iter().map(|drift| drift.hypothesis(&likelihood)).collect();
        hypotheses.push(void);
        Ok(self.mix(&hypotheses, &weights, live))
    }

    /// Keeps what people want to see: the drift of each coordinate, and how much the logs count there.
    fn note(&mut self, drifts: &[Drift], weights: &[f64], kept: &[f64]) {
        self.logs = weights[..drifts.len()].iter().sum();
        for (j, (drift, chance)) in self.drift.iter_mut().zip(&mut self.kept).enumerate() {
            *chance = weights[0] * kept[j];
            let moment = |value: &dyn Fn(&Drift) -> f64| -> f64 {
                drifts.iter().zip(weights).map(|(drift, weight)| weight * value(drift)).sum()
            };
            let mean = moment(&|drift| drift.mean[j]) / self.logs.max(f64::MIN_POSITIVE);
            let square = moment(&|drift| drift.covariance[(j, j)] + (drift.mean[j] - mean).powi(2));
            *drift = (mean, (square / self.logs.max(f64::MIN_POSITIVE)).max(0.0).sqrt());
        }
    }

    /// Live Gram matrix and moment as precisions, with the level integrated out.
    ///
    /// `r = c + xᵀθ + ε` with c ~ N(0, v_c) is the regression without c on `A - mmᵀ/(n + σ²/v_c)` and
    /// `b - m Σr/(n + σ²/v_c)`, where m = Σx.
    fn leveled(&self, logs: &RidgeStatistic, live: &RidgeStatistic) -> (Matrix, Vector) {
        let level = LEVEL.powi(2) * logs.sum_squares() / logs.count() as f64;
        let share = if level > 0.0 { (live.count() as f64 + self.variance / level).recip() } else { 0.0 };
        let sums = Vector::from_column_slice(&self.feature_sums);
        let gram = live.gram() - &sums * sums.transpose() * share;
        let moment = Vector::from_column_slice(live.moment()) - &sums * (self.reward_sum * share);
        (gram / self.variance, moment / self.variance)
    }

    /// θ_* ~ N(0, sI) whatever the logs say; in terms of the drift, Δ ~ N(-θ_off, sI).
    fn void(
        &self,
        drift: &DriftLikelihood,
        estimate: &Vector,
        gram: &Matrix,
        moment: &Vector,
    ) -> Result<Hypothesis> {
        let dimension = estimate.len();
        let prior = Matrix::identity(dimension, dimension) / self.scale;
        let factor = dense::cholesky("the precision of the drift", &(&drift.information + &prior))?;
        let surprise = &drift.shift + &drift.information * estimate;
        let log_evidence = 0.5 * surprise.dot(&dense::solve_from_factor(&factor, &surprise))
            - 0.5 * (dense::log_det_from_factor(&factor) + dimension as f64 * self.scale.ln())
            - drift.shift.dot(estimate)
            - 0.5 * estimate.dot(&(&drift.information * estimate));
        let factor = dense::cholesky("the live precision", &(gram + prior))?;
        let covariance = dense::inverse_from_factor(&factor);
        Ok(Hypothesis {
            log_weight: VOID.ln() + log_evidence,
            mean: dense::solve_from_factor(&factor, moment),
            optimistic: covariance.clone(),
            covariance,
        })
    }

    /// Mean and covariance of the mixture; the noise follows the residuals that it leaves.
    fn mix(&mut self, hypotheses: &[Hypothesis], weights: &[f64], live: &RidgeStatistic) -> Belief {
        let dimension = live.dimension();
        let weighed = || weights.iter().zip(hypotheses);
        let mean = weighed().fold(Vector::zeros(dimension), |sum, (&weight, each)| sum + &each.mean * weight);
        let covariance = weighed().fold(Matrix::zeros(dimension, dimension), |sum, (&weight, each)| {
            let apart = &each.mean - &mean;
            sum + (&each.optimistic + &apart * apart.transpose()) * weight
        });
        if !self.told.noise {
            let gram = live.gram();
            let used: f64 =
                weighed().map(|(weight, each)| weight * gram.component_mul(&each.covariance).sum()).sum();
            self.follow_noise(live, &mean, used / self.variance);
        }
        Belief { mean, covariance }
    }

    /// σ² from the residuals, with the logs' estimate as a prior worth `NOISE_COUNT` rewards.
    fn follow_noise(&mut self, live: &RidgeStatistic, mean: &Vector, used: f64) {
        let moment = Vector::from_column_slice(live.moment());
        let fitted = mean.dot(&(live.gram() * mean));
        let residual = (live.sum_squares() - 2.0 * mean.dot(&moment) + fitted).max(0.0);
        let count = live.count() as f64;
        let prior = NOISE_COUNT.min(self.log_count);
        let freedom = (count - used).max(0.1 * count);
        self.variance = (prior * self.logged_variance + residual) / (prior + freedom);
    }

    /// A ridge regression whose noise and scale come from the live data itself, where they are not told.
    fn fit_without_logs(&mut self, live: &RidgeStatistic) -> Result<Belief> {
        let found = Evidence::of(live);
        if !self.told.noise {
            self.variance = found.variance;
        }
        if !self.told.norm_bound {
            self.scale = found.scale;
        }
        let ridge = self.variance / self.scale;
        let factor = dense::cholesky("the live precision", &live.precision(ridge)?)?;
        let mean = dense::solve_from_factor(&factor, &Vector::from_column_slice(live.moment()));
        Ok(Belief { mean, covariance: dense::inverse_from_factor(&factor) * self.variance })
    }
}
