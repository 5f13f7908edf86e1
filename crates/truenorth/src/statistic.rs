//! The mergeable ridge statistic: all that linear regression needs to know about its data.
//!
//! ```text
//! n,   A = Σ z zᵀ,   b = Σ z y,   s = Σ y²
//! ```
//!
//! Logs, pilots, layers and merged clusters are all this one type; whatever else the library knows
//! about data (offline precision, estimate, noise) is computed from it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::check;
use crate::dense::{self, Matrix, Vector};
use crate::error::{Error, Result};
use crate::kernel::{self, AddSquares};
use crate::triangle::{Line, SIDE, Triangle};

/// Count, Gram matrix, moment and sum of squared rewards of a set of observations.
///
/// ```
/// use truenorth::RidgeStatistic;
///
/// let rows = [([1.0, 0.5], 2.0), ([0.25, -1.0], 0.5), ([-0.5, 0.5], 1.0)];
/// let (mut whole, mut first, mut rest) =
///     (RidgeStatistic::new(2)?, RidgeStatistic::new(2)?, RidgeStatistic::new(2)?);
/// for (i, (features, reward)) in rows.iter().enumerate() {
///     whole.observe(features, *reward)?;
///     if i < 1 { first.observe(features, *reward)? } else { rest.observe(features, *reward)? }
/// }
/// first.merge(&rest)?;
/// assert_eq!(first, whole);
/// # Ok::<(), truenorth::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "Unchecked", try_from = "Unchecked")]
pub struct RidgeStatistic {
    count: u64,
    /// Without the products of the vectors that are pending.
    gram: Triangle,
    moment: Vec<f64>,
    sum_squares: f64,
    /// The latest vectors: a few of them are multiplied at once, in one pass over memory.
    pending: Vec<Line>,
}

/// Vectors that may be pending.
const PENDING: usize = 16;

impl PartialEq for RidgeStatistic {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count
            && self.sum_squares == other.sum_squares
            && self.moment == other.moment
            && *self.settled() == *other.settled()
    }
}

/// A statistic as it is written, and as it was read, which may have come from anywhere.
#[derive(Serialize, Deserialize)]
struct Unchecked {
    count: u64,
    gram: Triangle,
    moment: Vec<f64>,
    sum_squares: f64,
}

impl From<RidgeStatistic> for Unchecked {
    fn from(statistic: RidgeStatistic) -> Self {
        let gram = statistic.settled().into_owned();
        Self { count: statistic.count, gram, moment: statistic.moment, sum_squares: statistic.sum_squares }
    }
}

impl TryFrom<Unchecked> for RidgeStatistic {
    type Error = Error;

    fn try_from(Unchecked { count, gram, moment, sum_squares }: Unchecked) -> Result<Self> {
        check::at_least("dimension", "at least 1", 1, moment.len() as u64)?;
        check::length("the moment", gram.dimension(), moment.len())?;
        let numbers = gram.entries().chain(moment.iter().copied()).chain([sum_squares]);
        let wrong = numbers.into_iter().find(|number| !number.is_finite());
        match wrong {
            None => Ok(Self { count, gram, moment, sum_squares, pending: Vec::new() }),
            Some(value) => Err(Error::Parameter { name: "statistic", range: "finite", value }),
        }
    }
}

impl RidgeStatistic {
    /// The statistic of no observations.
    pub fn new(dimension: usize) -> Result<Self> {
        check::at_least("dimension", "at least 1", 1, dimension as u64)?;
        let gram = Triangle::zeros(dimension);
        Ok(Self { count: 0, gram, moment: vec![0.0; dimension], sum_squares: 0.0, pending: Vec::new() })
    }

    /// Puts a statistic together from sums that were computed elsewhere.
    pub fn from_sums(count: u64, gram: &Matrix, moment: &[f64], sum_squares: f64) -> Result<Self> {
        let mut statistic = Self::new(moment.len())?;
        check::symmetric("the Gram matrix", gram)?;
        check::length("the moment", gram.nrows(), moment.len())?;
        check::numbers("moment", moment)?;
        check::at_least_zero("sum_squares", sum_squares)?;
        statistic.count = count;
        statistic.gram = Triangle::from_matrix(gram);
        statistic.moment.copy_from_slice(moment);
        statistic.sum_squares = sum_squares;
        Ok(statistic)
    }

    /// Adds one observation. O(d²), no allocation.
    pub fn observe(&mut self, features: &[f64], reward: f64) -> Result<()> {
        check::length("the feature vector", self.dimension(), features.len())?;
        check::numbers("feature", features)?;
        check::numbers("reward", &[reward])?;
        self.add(features, reward);
        Ok(())
    }

    /// Adds an observation that has been checked.
    pub(crate) fn add(&mut self, features: &[f64], reward: f64) {
        self.count += 1;
        self.sum_squares += reward * reward;
        for (entry, feature) in self.moment.iter_mut().zip(features) {
            *entry += feature * reward;
        }
        let (whole, rest) = features.as_chunks::<SIDE>();
        self.pending.extend(whole.iter().map(|&numbers| Line(numbers)));
        if !rest.is_empty() {
            self.pending.push(Line(std::array::from_fn(|i| rest.get(i).copied().unwrap_or(0.0))));
        }
        if self.pending.len() >= PENDING * features.len().div_ceil(SIDE) {
            kernel::run(&mut AddSquares { gram: &mut self.gram, vectors: &self.pending });
            self.pending.clear();
        }
    }

    /// Makes room for all that may be pending, so that [`add`](Self::add) never allocates.
    pub(crate) fn make_room(&mut self) {
        let most = PENDING * self.dimension().div_ceil(SIDE);
        self.pending.reserve_exact(most - self.pending.len());
    }

    /// The Gram matrix with all that is pending.
    fn settled(&self) -> Cow<'_, Triangle> {
        if self.pending.is_empty() {
            return Cow::Borrowed(&self.gram);
        }
        let mut gram = self.gram.clone();
        kernel::run(&mut AddSquares { gram: &mut gram, vectors: &self.pending });
        Cow::Owned(gram)
    }

    /// Adds all observations of `other`; the result is that of observing both sets.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        check::length("the merged statistic's moment", self.dimension(), other.dimension())?;
        self.count = self.count.saturating_add(other.count);
        self.sum_squares += other.sum_squares;
        for (mine, theirs) in self.moment.iter_mut().zip(&other.moment) {
            *mine += theirs;
        }
        self.gram = self.settled().into_owned();
        self.pending.clear();
        self.gram.add(&other.settled());
        Ok(())
    }

    /// Number of features d.
    pub fn dimension(&self) -> usize {
        self.moment.len()
    }

    /// Number of observations n.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Gram matrix A = Σ z zᵀ, without a ridge.
    pub fn gram(&self) -> Matrix {
        self.settled().to_symmetric()
    }

    /// Σ z_i², a diagonal entry of A.
    pub(crate) fn squares(&self, i: usize) -> f64 {
        let width = self.dimension().div_ceil(SIDE);
        let pending = self.pending.chunks_exact(width).map(|vector| vector[i / SIDE].0[i % SIDE].powi(2));
        self.gram.get(i, i) + pending.sum::<f64>()
    }

    /// Moment b = Σ z y.
    pub fn moment(&self) -> &[f64] {
        &self.moment
    }

    /// Σ y².
    pub fn sum_squares(&self) -> f64 {
        self.sum_squares
    }

    /// λI + A.
    pub fn precision(&self, ridge: f64) -> Result<Matrix> {
        check::positive("ridge", ridge)?;
        let mut precision = self.gram();
        for i in 0..self.dimension() {
            precision[(i, i)] += ridge;
        }
        Ok(precision)
    }

    /// Ridge estimate (λI + A)⁻¹ b.
    pub fn estimate(&self, ridge: f64) -> Result<Vector> {
        let factor = dense::cholesky("the ridge precision", &self.precision(ridge)?)?;
        Ok(dense::solve_from_factor(&factor, &Vector::from_column_slice(&self.moment)))
    }

    /// Residual estimate of the noise's standard deviation, or `None` where the observations leave
    /// no degree of freedom to see it.
    ///
    /// ```text
    /// σ̂² = (s - 2 θ̂ᵀb + θ̂ᵀAθ̂) / (n - tr(A(λI + A)⁻¹))
    /// ```
    pub fn residual_noise(&self, ridge: f64) -> Result<Option<f64>> {
        let factor = dense::cholesky("the ridge precision", &self.precision(ridge)?)?;
        let moment = Vector::from_column_slice(&self.moment);
        let estimate = dense::solve_from_factor(&factor, &moment);
        let fitted = estimate.dot(&(self.gram() * &estimate));
        // The three sums nearly cancel on noiseless data; rounding must not make a variance negative.
        let residual = (self.sum_squares - 2.0 * estimate.dot(&moment) + fitted).max(0.0);
        // tr(A V⁻¹) = d - λ tr(V⁻¹) for V = λI + A: the directions that the data, not the ridge, decide.
        let used = self.dimension() as f64 - ridge * dense::inverse_from_factor(&factor).trace();
        let freedom = self.count as f64 - used;
        Ok((freedom >= 1.0).then(|| (residual / freedom).sqrt()))
    }

    /// Whether the sizes fit the dimension: deserialised data may disagree with itself.
    pub(crate) fn is_consistent(&self, dimension: usize) -> bool {
        self.gram.dimension() == dimension && self.moment.len() == dimension
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_a_line_through_two_dots() {
        let mut dots = RidgeStatistic::new(2).unwrap();
        dots.observe(&[1.0, 0.0], 1.0).unwrap();
        dots.observe(&[1.0, 1.0], 3.0).unwrap();
        // A = [[2, 1], [1, 1]], b = (4, 3); with λ = 1: [[3, 1], [1, 2]] θ = b, so θ = (1, 1).
        let estimate = dots.estimate(1.0).unwrap();
        assert!((estimate[0] - 1.0).abs() < 1e-14 && (estimate[1] - 1.0).abs() < 1e-14);
        assert_eq!((dots.count(), dots.sum_squares()), (2, 10.0));
        assert_eq!(dots.gram(), Matrix::from_row_slice(2, 2, &[2.0, 1.0, 1.0, 1.0]));
    }

    #[test]
    fn residual_noise_of_alternating_errors_is_their_size() {
        // y = 2 ± 0.5 on a constant feature: residual 1000 · 0.25, one direction used.
        let mut data = RidgeStatistic::new(1).unwrap();
        for i in 0..1000 {
            data.observe(&[1.0], if i % 2 == 0 { 2.5 } else { 1.5 }).unwrap();
        }
        let noise = data.residual_noise(1e-9).unwrap().unwrap();
        assert!((noise - (250.0f64 / 999.0).sqrt()).abs() < 1e-9, "{noise}");
    }

    #[test]
    fn one_observation_says_nothing_about_noise() {
        let mut data = RidgeStatistic::new(1).unwrap();
        data.observe(&[1.0], 1.0).unwrap();
        assert_eq!(data.residual_noise(1e-12).unwrap(), None);
    }

    #[test]
    fn refused_observations_leave_no_trace() {
        let mut data = RidgeStatistic::new(2).unwrap();
        data.observe(&[0.5, 0.5], 1.0).unwrap();
        let before = data.clone();
        assert!(matches!(data.observe(&[0.5], 1.0), Err(Error::Length { found: 1, .. })));
        assert!(matches!(data.observe(&[0.5, f64::NAN], 1.0), Err(Error::NotFinite { index: 1, .. })));
        assert!(data.observe(&[0.5, 0.1], f64::INFINITY).is_err());
        assert!(data.merge(&RidgeStatistic::new(3).unwrap()).is_err());
        assert_eq!(data, before);
    }

    #[test]
    fn sums_from_elsewhere_are_checked() {
        let skew = Matrix::from_row_slice(2, 2, &[1.0, 0.5, 0.4, 1.0]);
        let error = RidgeStatistic::from_sums(3, &skew, &[0.0, 0.0], 1.0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the Gram matrix must be symmetric, but entry (1, 0) is 0.4 and its mirror image 0.5"
        );
    }
}
