//! The belief about live coefficients: the logs as far as live rewards bear them out, by Bayes' rule.
//!
//! In the [units](units) of the columns, and with the [level](level) of rewards left aside, the logs say
//! `θ† ~ N(θ_off, G⁻¹)`. How far live truth has drifted from that is an average over [models], or, with a prior probability of
//! 0.05, the logs are void and θ_* ~ N(0, s²I). What is acted on is the Gaussian with mean and covariance of all that. It
//! is fitted anew from the sums whenever the number of live rewards has grown by a quarter (more, where a fit is dear), and
//! follows each reward by a rank-one update in between.
//!
//! What is played cannot tell whether what is never played is as the logs have it. So the belief without logs, *alone*,
//! decides as many rounds as its probability says: see [`is_probe`](Belief::is_probe).

mod arrow;
mod batch;
mod budget;
mod drift;
mod evidence;
mod level;
mod models;
mod neglect;
mod news;
mod parted;
mod quadratic;
mod regression;
mod span;
mod stepped;
mod units;

pub(crate) use self::budget::{Budget, PRICED};
use self::drift::{Dictionary, DriftLikelihood, Information};
pub(crate) use self::evidence::Evidence;
pub(crate) use self::level::Leveled;
use self::models::{Models, Named, Past};
pub(crate) use self::neglect::{Neglect, is_recheck};
pub(crate) use self::news::News;
use self::quadratic::{Covariance, Thin, Whole};
use self::stepped::Mixed;
use self::units::Look;
pub(crate) use self::units::{Units, first_unit};
use crate::dense::{self, Matrix, Vector};
use crate::error::Result;
use crate::round::{Actions, Row};
use crate::spare;
use crate::statistic::RidgeStatistic;

/// Prior probability that the logs are void.
const VOID: f64 = 0.05;
/// A probability that is none.
const NOTHING: f64 = 1e-40;
/// Prior deviation of the live level from that of the logs, in deviations of the logged rewards.
const LEVEL: f64 = 0.3;
/// Live rewards that the logs' estimate of the noise is worth, at most.
const NOISE_COUNT: f64 = 100.0;

/// What has been learned about logs, noise, scale, units and level.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Belief {
    told: Told,
    /// Whether the logs are the policy's own past.
    own: bool,
    units: Units,
    /// Noise and scale of the logs, or of live data where there are none.
    evidence: Evidence,
    /// σ² of the live rewards.
    variance: f64,
    /// Levels of the live rewards as of the last fit, by the belief and by live data alone.
    levels: [f64; 2],
    heaviest: Option<Named>,
    /// Live rewards at which the next fit is due.
    due: u64,
    /// Probability that the logs are void; 1 without logs.
    void: f64,
    /// Rounds that live data alone may still decide.
    credit: f64,
    /// How much each coordinate of the logs still counts, from 0 to 1.
    kept: Vec<f64>,
    /// Mean and standard deviation of each coordinate's drift.
    drift: Vec<(f64, f64)>,
    /// Columns that logs and live data say next to nothing of; none without logs, where at first all are.
    news: News,
    /// Follows from the logs and the units.
    #[cfg_attr(feature = "serde", serde(skip))]
    logs: Option<Logs>,
}

/// What the user has told.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Told {
    /// σ.
    pub(crate) noise: Option<f64>,
    /// S.
    pub(crate) norm_bound: Option<f64>,
}

/// The logs' regression, in the units of the columns.
#[derive(Debug, Clone)]
struct Logs {
    /// log det G.
    log_det: f64,
    /// θ_off.
    estimate: Vector,
    /// Diagonal of G⁻¹.
    variances: Vec<f64>,
    level: f64,
    /// Deviation of the logged rewards.
    spread: f64,
}

/// A belief about the live parameter, in the users' units.
pub(crate) struct Gaussian {
    pub(crate) mean: Vector,
    pub(crate) shape: Shape,
    /// Growth of the precision's log det since the first reward; 0 for a mixture, which has no use for it.
    pub(crate) growth: f64,
}

/// A covariance, or its root U, upper triangular, where that is at hand, with U⁻¹ times the mean: the covariance is UUᵀ.
pub(crate) enum Shape {
    Covariance(Matrix),
    Root(Matrix, Vector),
}

/// What a fit finds.
pub(crate) struct Found {
    pub(crate) belief: Gaussian,
    /// Live data alone; nothing where there are no logs, as the belief is that.
    pub(crate) alone: Option<Gaussian>,
}

impl Found {
    /// Leaves its memory to the next fit.
    pub(crate) fn keep(self) {
        let matrix = |found: Gaussian| match found.shape {
            Shape::Covariance(matrix) | Shape::Root(matrix, _) => matrix,
        };
        spare::keep([self.belief].into_iter().chain(self.alone).map(matrix));
    }
}

/// Features from which on a fit is dear, and very dear.
const DEAR: usize = 50;
const VERY_DEAR: usize = 100;

/// Rewards until the next fit: a quarter of those so far, but half of them, or as many again, where a fit is dear.
fn spacing(rewards: u64, dimension: usize) -> u64 {
    let grown = match dimension {
        ..DEAR => rewards / 4,
        DEAR..VERY_DEAR => rewards / 2,
        _ => rewards,
    };
    grown.max(dimension as u64 / 10).max(1)
}

impl Belief {
    pub(crate) fn new(told: Told, logs: &RidgeStatistic) -> Self {
        let dimension = logs.dimension();
        let known = logs.weight() > 0.0;
        Self {
            told,
            own: false,
            units: Units::new(logs),
            evidence: Evidence::NONE,
            variance: told.noise.map_or(1.0, |noise| noise * noise),
            levels: [0.0; 2],
            heaviest: None,
            due: 0,
            void: if known { VOID } else { 1.0 },
            credit: 0.0,
            kept: vec![if known { 1.0 } else { 0.0 }; dimension],
            drift: vec![(0.0, 0.0); dimension],
            news: News::default(),
            logs: None,
        }
    }

    /// Says that the logs are the policy's own past.
    pub(crate) fn owned(self) -> Self {
        Self { own: true, ..self }
    }

    /// Adds features that nobody has seen; returns their precision, times σ². The other coefficients are believed to be
    /// what they were until the next fit, which comes with the round that first offers one of these: then it has a unit.
    pub(crate) fn grow(&mut self, dimension: usize) -> f64 {
        let Evidence { scale, .. } = self.evidence;
        self.units.grow(dimension);
        self.heaviest.iter_mut().for_each(|named| named.grow(dimension + 1));
        // The logs say nothing here; live and logged coefficient are known apart from each other.
        self.kept.resize(dimension, 0.0);
        self.drift.resize(dimension, (0.0, (2.0 * scale).sqrt()));
        self.logs = None;
        self.variance / scale
    }

    pub(crate) fn dimension(&self) -> usize {
        self.kept.len()
    }

    /// Takes over what a fit has found, if it has, but for what rounds since then have changed: the units of columns that they
    /// showed, and the rounds that live data alone may decide.
    pub(crate) fn take(&mut self, fitted: Self, found: bool) {
        let Self { units, credit, .. } = self.clone();
        if !found {
            self.due = fitted.due;
            return;
        }
        // In other units, all is to be fitted anew.
        let same = units.by_column() == fitted.units.by_column();
        let (logs, due) = if same { (fitted.logs.clone(), fitted.due) } else { (None, 0) };
        *self = Self { units, due, credit, logs, ..fitted };
    }

    /// Says that the logs are other ones now, which the next fit is to read.
    pub(crate) fn read_again(&mut self, logs: &RidgeStatistic) {
        self.units.set(logs);
        self.logs = None;
    }

    /// σ of the live rewards' noise, as far as it is known.
    pub(crate) fn noise(&self) -> f64 {
        self.variance.sqrt()
    }

    /// What all live rewards have in common that the features do not explain: by the belief, and by live data alone.
    pub(crate) fn levels(&self) -> [f64; 2] {
        self.levels
    }

    /// What an action's mean reward may be, either way, if the root of the coefficients' mean square is at most 2s.
    pub(crate) fn farthest(&self, features: Row<'_>) -> f64 {
        2.0 * self.evidence.scale.sqrt() * (self.kept.len() as f64).sqrt() * self.units.length(features)
    }

    /// Columns that logs and live data say next to nothing of.
    pub(crate) fn news(&self) -> &News {
        &self.news
    }

    /// Finds what follows from a belief that was read.
    pub(crate) fn weigh_news(&mut self) {
        self.news.weigh();
    }

    /// Takes note of a live observation between fits.
    pub(crate) fn learn(&mut self, features: Row<'_>) {
        self.news.learn(features, self.variance);
    }

    /// Probability that the logs are void.
    pub(crate) fn void(&self) -> f64 {
        self.void
    }

    /// How much coordinate `j` of the logs still counts, from 0 to 1.
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
        positive(self.evidence.variance)
            && positive(self.evidence.scale)
            && positive(self.variance)
            && self.units.is_consistent(dimension)
            && self.kept.len() == dimension
            && self.drift.len() == dimension
            && self.news.is_consistent(dimension)
            && self.levels.iter().chain([&self.credit]).all(|number| number.is_finite())
            && (0.0..=1.0).contains(&self.void)
            && self.heaviest.iter().all(|named| named.is_consistent(dimension + 1))
    }

    /// Looks at a round's actions, and tells whether so many live rewards make a new fit worth its while.
    pub(crate) fn is_due(
        &mut self,
        (round, rewards): (u64, u64),
        actions: Actions<'_>,
        logs: &RidgeStatistic,
    ) -> bool {
        let look = self.units.look(round, actions, logs);
        if look != Look::Same {
            self.logs = None;
        }
        // Where a fit is dear, other units wait for the next one.
        let now = look == Look::First || look == Look::Other && self.dimension() < DEAR;
        now || rewards >= self.due
    }

    /// Whether so many live rewards make a new fit worth its while.
    pub(crate) fn is_due_after(&self, rewards: u64) -> bool {
        rewards >= self.due
    }

    /// Whether live data alone is to decide this round: in the long run, in as many as the logs are void with some
    /// probability.
    pub(crate) fn is_probe(&self) -> bool {
        self.credit + self.void >= 1.0
    }

    /// Whether live data alone is worth keeping up with so many rewards: where that is cheap, or where it is to decide a round before
    /// the next fit, if each has its reward.
    pub(crate) fn is_alone_worth(&self, rewards: u64) -> bool {
        let rounds = self.due.saturating_sub(rewards) as f64;
        self.dimension() < VERY_DEAR || self.credit + self.void * rounds >= 1.0
    }

    /// Counts a round, which live data alone may have decided.
    pub(crate) fn count_probe(&mut self, probe: bool) {
        self.credit += self.void;
        self.credit -= f64::from(u8::from(probe));
    }

    /// Whether a round is looked at for the units of its columns.
    pub(crate) fn is_looking(&self, round: u64, actions: Actions<'_>) -> bool {
        self.units.is_looking(round, actions)
    }

    /// Fits everything anew to the logs and the live data. O(d³).
    pub(crate) fn fit(
        &mut self,
        logs: &RidgeStatistic,
        data: &RidgeStatistic,
        rewards: u64,
    ) -> Result<Found> {
        self.due = rewards + spacing(rewards, data.dimension());
        if logs.weight() == 0.0 {
            return self.fit_without_logs(data);
        }
        // Their level is whatever it is.
        let leveled = Leveled::new(logs, &self.units, 0.0, 0.0);
        let (known, precision) = match self.logs.take() {
            Some(known) => (known, self.precision(leveled.gram)),
            None => self.regression(leveled, logs)?,
        };
        let found = self.fit_with_logs((&known, precision), logs, data);
        self.logs = Some(known);
        found
    }

    /// The logs' regression, and G.
    fn regression(&mut self, mut data: Leveled, logs: &RidgeStatistic) -> Result<(Logs, Matrix)> {
        self.evidence = self.told(|| Evidence::of(&data));
        if data.count > 0.0 && self.heaviest.is_none() && self.told.noise.is_none() {
            self.variance = self.evidence.variance;
        }
        let precision = self.precision(std::mem::take(&mut data.gram));
        let (factor, root) = dense::roots("the offline precision", spare::lower(&precision))?;
        let moment = &data.moment / self.evidence.variance;
        let estimate = dense::solve_from_roots((&factor, &root), &moment);
        let known = Logs {
            log_det: dense::log_det_from_factor(&factor),
            variances: dense::diagonal_from_root(&root).as_slice().to_vec(),
            level: data.level(logs, &estimate.component_div(&self.units.vector())),
            spread: (data.squares / data.free().max(1.0)).sqrt(),
            estimate,
        };
        spare::keep([factor, root]);
        Ok((known, precision))
    }

    /// G, from the Gram matrix of the logs without their level.
    fn precision(&self, mut gram: Matrix) -> Matrix {
        let Evidence { variance, scale } = self.evidence;
        gram *= variance.recip();
        ridged(gram, scale)
    }

    /// Noise and scale as they are told, and as they were found where they are not.
    fn told(&self, find: impl FnOnce() -> Evidence) -> Evidence {
        let Told { noise, norm_bound } = self.told;
        let found = if noise.is_some() && norm_bound.is_some() { Evidence::NONE } else { find() };
        let units = self.units.vector();
        // ‖θ‖ ≤ S: a coefficient's mean square is S²/d.
        let size = |bound: f64| (bound * bound * units.norm_squared()) / (units.len() as f64).powi(2);
        Evidence {
            variance: noise.map_or(found.variance, |noise| noise * noise),
            scale: norm_bound.map_or(found.scale, size).max(f64::MIN_POSITIVE),
        }
    }

    fn fit_with_logs(
        &mut self,
        (logs, precision): (&Logs, Matrix),
        logged: &RidgeStatistic,
        data: &RidgeStatistic,
    ) -> Result<Found> {
        let scale = self.evidence.scale;
        let width = (LEVEL * logs.spread).powi(2);
        let ratio = if width > 0.0 { self.variance / width } else { 0.0 };
        let mut live = Leveled::new(data, &self.units, logs.level, ratio);
        let mut gram = std::mem::take(&mut live.gram);
        gram *= self.variance.recip();
        let moment = &live.moment / self.variance;
        let (likelihood, information) =
            DriftLikelihood::new((precision, &logs.estimate), (&gram, &moment), live.count)?;
        let unit = scale.sqrt();
        let columns = Dictionary::new(&logs.estimate, unit);
        // Drawn anew, a coefficient is N(0, scale): its drift has the mean -θ_off.
        let anew: Vec<f64> = logs.estimate.iter().map(|value| -value / unit).chain([0.0]).collect();
        let (h, last) = (columns.project(&likelihood.shift), self.heaviest.as_ref());
        let drifted = match information {
            Information::Whole(q) => {
                let whole = Whole { q: columns.restrict(q), h };
                let averaged = Models::new(&whole, &anew, self.past()).average(last)?;
                spare::keep([whole.q]);
                averaged
            }
            Information::Square(root) => {
                let thin = Thin { root: columns.restrict_root(&root), h };
                spare::keep([root]);
                Models::new(&thin, &anew, self.past()).average(last)?
            }
        };
        let alone = Alone::new(scale, &gram, &moment)?;
        let evidence = alone.log_evidence - likelihood.log_evidence(logs.log_det, &logs.estimate, &moment);
        self.void = (1.0 + (1.0 - VOID) / VOID * (drifted.log_evidence - evidence).exp()).recip();
        let belief = self.mixture(&likelihood, &columns, &drifted.mixed, &alone);
        self.heaviest = Some(drifted.heaviest);
        self.note(&belief, logs, &drifted.kept);
        if self.told.noise.is_none() {
            self.follow_noise((&live, &gram), &belief, logged.weight());
        }
        let said = |j: usize| logged.squares(j) / self.evidence.variance + data.squares(j) / self.variance;
        self.news = News::new(&self.units, scale, said);
        let units = self.units.vector();
        let (mut covariance, raw) = (belief.covariance, belief.mean.component_div(&units));
        let narrow = units.map(f64::recip);
        for (mut column, factor) in covariance.column_iter_mut().zip(&narrow) {
            let column = column.as_mut_slice().iter_mut();
            column.zip(narrow.as_slice()).for_each(|(entry, narrow)| *entry *= narrow * factor);
        }
        let belief = Gaussian { mean: raw, shape: Shape::Covariance(covariance), growth: 0.0 };
        let alone = alone.raw(&units, 1.0);
        self.levels = [&belief, &alone].map(|believed| live.level(data, &believed.mean));
        spare::keep([gram]);
        likelihood.keep();
        Ok(Found { belief, alone: Some(alone) })
    }

    fn past(&self) -> Past {
        if self.own { Past::OWN } else { Past::LOGS }
    }

    /// Mean and covariance of the logs with their drift, and of live data alone.
    fn mixture(
        &self,
        likelihood: &DriftLikelihood,
        columns: &Dictionary,
        drifted: &Mixed<Covariance>,
        alone: &Alone,
    ) -> Mixture {
        // θ_* = θ_pool + RΔ.
        let informed = &likelihood.pooled + likelihood.gain.times(&columns.combine(&drifted.mean));
        let (void, holds) = (self.void, 1.0 - self.void);
        let apart = &informed - &alone.mean;
        let mut covariance = spare::zeros(apart.len(), apart.len());
        let spread = columns.spread(drifted.spread.matrix(drifted.mean.len()));
        likelihood.gain.add_both_sides(&spread, holds, &mut covariance);
        spare::keep([spread]);
        for (root, share) in [(&likelihood.root, holds), (&alone.root, void)] {
            if share > NOTHING {
                dense::add_symmetric(&mut covariance, share, (root, true), (root, true));
            }
        }
        dense::mirror_up(&mut covariance);
        if void > NOTHING {
            covariance.ger(holds * void, &apart, &apart, 1.0);
        }
        Mixture { mean: informed * holds + &alone.mean * void, covariance }
    }

    /// Keeps what people want to see: the drift of each coordinate, and how much the logs count there.
    fn note(&mut self, belief: &Mixture, logs: &Logs, kept: &[f64]) {
        let (dimension, units) = (logs.estimate.len(), self.units.vector());
        for j in 0..dimension {
            // The last column is a common factor on all coefficients.
            self.kept[j] = (1.0 - self.void) * kept[j] * kept[dimension];
            // Live and logged coefficient share the logs' error where these hold, and are known apart from each
            // other where they are void: the larger of the two spreads is the honest one.
            let spread = belief.covariance[(j, j)] + logs.variances[j];
            self.drift[j] = ((belief.mean[j] - logs.estimate[j]) / units[j], spread.sqrt() / units[j]);
        }
    }

    /// Logs of so many rows that would leave a belief with this covariance (σ² times the `inverse`) and mean.
    ///
    /// ```text
    /// A = σ² max(P - I/s², 0),   b = min(A + σ²/s², 2A) μ,   Σr² = (n - γ) σ² + 2μ'ᵀb - μ'ᵀAμ',       γ = tr A(A + σ²/s²)⁻¹,   μ' = (A + σ²/s²)⁻¹b
    /// ```
    ///
    /// with the precision P in the units of the columns, direction by direction: what is less certain than the prior (coefficients of
    /// logs that were off by far, columns that are the same) is as uncertain as the prior. Rows have no more than twice the coefficients
    /// that are believed: where they say next to nothing, b without A would be the word of huge ones. The level is that of the
    /// live rewards.
    pub(crate) fn imagined(&self, weight: f64, inverse: &Matrix, mean: &Vector) -> Result<RidgeStatistic> {
        let (units, side) = (self.units.vector(), mean.len());
        let inverse = Matrix::from_fn(side, side, |i, j| inverse[(i, j)] * units[i] * units[j]);
        let ridge = self.variance / self.evidence.scale;
        let Imagined { gram, moment, used, explained } =
            Imagined::new(&inverse, &mean.component_mul(&units), ridge)?;
        let squares = (weight - used).max(1.0) * self.variance + explained;
        let raw = Matrix::from_fn(side, side, |i, j| gram[(i, j)] * units[i] * units[j]);
        let moment = moment.component_mul(&units);
        Ok(RidgeStatistic::imagined(weight, (&raw, &moment), (self.levels[0], squares), &units))
    }

    /// σ² from the residuals, with the logs' estimate as a prior worth `NOISE_COUNT` rewards.
    fn follow_noise(&mut self, (live, gram): (&Leveled, &Matrix), belief: &Mixture, logged: f64) {
        let explained = self.variance * belief.mean.dot(&(gram * &belief.mean));
        let fitted = explained - 2.0 * belief.mean.dot(&live.moment);
        let used: f64 = gram.as_slice().iter().zip(belief.covariance.as_slice()).map(|(a, b)| a * b).sum();
        self.set_noise((live.count, live.free()), (live.squares + fitted).max(0.0), used, logged);
    }

    /// With the live rewards and those beside the level, what is left of their squares, and how many coefficients they decide.
    fn set_noise(&mut self, (count, free): (f64, f64), residual: f64, used: f64, logged: f64) {
        let used = used + count - free;
        let prior = NOISE_COUNT.min(logged);
        let freedom = (count - used).max(0.1 * count);
        self.variance = (prior * self.evidence.variance + residual) / (prior + freedom);
    }

    /// A ridge regression whose noise and scale come from the live data itself, where they are not told.
    fn fit_without_logs(&mut self, data: &RidgeStatistic) -> Result<Found> {
        let live = Leveled::new(data, &self.units, 0.0, 0.0);
        self.evidence = self.told(|| Evidence::of(&live));
        self.variance = self.evidence.variance;
        let alone =
            Alone::new(self.evidence.scale, &(&live.gram / self.variance), &(&live.moment / self.variance))?;
        let mut wider = 1.0;
        if live.free() > 0.0 {
            let Told { noise, norm_bound } = self.told;
            let estimated = i32::from(noise.is_none()) + i32::from(norm_bound.is_none());
            wider = Evidence::student(live.free()).powi(estimated);
        }
        let belief = alone.raw(&self.units.vector(), wider);
        self.levels = [live.level(data, &belief.mean); 2];
        Ok(Found { belief, alone: None })
    }
}

/// Rows that nobody has seen: see [`imagined`](Belief::imagined).
struct Imagined {
    /// A.
    gram: Matrix,
    /// b.
    moment: Vector,
    /// γ.
    used: f64,
    /// What of Σr² the coefficients explain.
    explained: f64,
}

impl Imagined {
    /// That leave this covariance over σ², and this mean.
    fn new(inverse: &Matrix, mean: &Vector, ridge: f64) -> Result<Self> {
        let factor = dense::cholesky("the covariance of the belief", inverse)?;
        let mut eigen = dense::inverse_from_factor(&factor).symmetric_eigen();
        eigen.eigenvalues.apply(|value| *value = (*value - ridge).max(0.0));
        let (mut along, mut used, mut explained) = (eigen.eigenvectors.tr_mul(mean), 0.0, 0.0);
        for (value, along) in eigen.eigenvalues.iter().zip(&mut along) {
            let moment = (value + ridge).min(2.0 * value) * *along;
            let left = moment / (value + ridge);
            used += value / (value + ridge);
            explained += (2.0 * moment - value * left) * left;
            *along = moment;
        }
        Ok(Self { moment: &eigen.eigenvectors * along, gram: eigen.recompose(), used, explained })
    }
}

/// Mean and covariance of all that is believed, in the units of the columns.
struct Mixture {
    mean: Vector,
    covariance: Matrix,
}

/// A precision with that of N(0, scale I).
fn ridged(mut precision: Matrix, scale: f64) -> Matrix {
    let side = precision.nrows();
    precision.as_mut_slice().iter_mut().step_by(side + 1).for_each(|entry| *entry += scale.recip());
    precision
}

/// Live data alone: θ_* ~ N(0, scale I) before the first reward.
struct Alone {
    mean: Vector,
    /// U, upper triangular: the covariance is UUᵀ.
    root: Matrix,
    /// U⁻¹ times the mean.
    whitened: Vector,
    /// Growth of the precision's log det since the first reward.
    growth: f64,
    /// log ∫ p(live | θ) N(θ; 0, scale I) dθ, with `exp(bᵀθ - ½ θᵀAθ)` for the likelihood.
    log_evidence: f64,
}

impl Alone {
    fn new(scale: f64, gram: &Matrix, moment: &Vector) -> Result<Self> {
        let dimension = moment.len();
        let (factor, root) = dense::roots("the live precision", ridged(spare::lower(gram), scale))?;
        let mut whitened = moment.clone();
        dense::solve_lower(&factor, &mut whitened);
        let mean = dense::combined((&root, true), 0, whitened.as_slice());
        let growth = dense::log_det_from_factor(&factor) + dimension as f64 * scale.ln();
        let log_evidence = 0.5 * (moment.dot(&mean) - growth);
        spare::keep([factor]);
        Ok(Self { mean, root, whitened, growth, log_evidence })
    }

    /// In the users' units, with variances that are so many times wider.
    fn raw(self, units: &Vector, wider: f64) -> Gaussian {
        let Self { mean, mut root, whitened, growth, .. } = self;
        let narrow = units.map(|unit| wider.sqrt() / unit);
        for (j, mut column) in root.column_iter_mut().enumerate() {
            let above = column.as_mut_slice()[..=j].iter_mut().zip(narrow.as_slice());
            above.for_each(|(entry, narrow)| *entry *= narrow);
        }
        let shape = Shape::Root(root, whitened / wider.sqrt());
        Gaussian { mean: mean.component_div(units), shape, growth }
    }
}
