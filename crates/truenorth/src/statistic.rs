//! The mergeable ridge statistic: all that linear regression needs to know about its data.
//!
//! ```text
//! n,   A = Σ z zᵀ,   b = Σ z y,   s = Σ y²
//! ```
//!
//! Logs, pilots, layers and merged clusters are all this one type; whatever else the library knows
//! about data (offline precision, estimate, noise) is computed from it.

use std::borrow::Cow;

use crate::check;
use crate::dense::{self, Matrix, Vector};
use crate::error::{Error, Result};
use crate::kernel::{self, AddSquares};
use crate::products::CrossProducts;
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
#[derive(Debug, Clone)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "Unchecked", try_from = "Unchecked")
)]
pub struct RidgeStatistic {
    count: u64,
    /// Without the products of the vectors that are pending.
    gram: Triangle,
    moment: Vec<f64>,
    sum_squares: f64,
    /// Room for the latest vectors: a few of them are multiplied at once, in one pass over memory.
    latest: Vec<Line>,
    /// Lines of them that are pending.
    pending: usize,
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
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
        check::at_least_one("dimension", moment.len() as u64)?;
        check::length("the moment", gram.dimension, moment.len())?;
        let numbers = gram.entries().chain(moment.iter().copied()).chain([sum_squares]);
        let wrong = numbers.into_iter().find(|number| !number.is_finite());
        match wrong {
            None => Ok(Self::of(count, gram, moment, sum_squares)),
            Some(value) => Err(Error::Parameter { name: "statistic", range: "finite", value }),
        }
    }
}

impl RidgeStatistic {
    /// The statistic of no observations.
    pub fn new(dimension: usize) -> Result<Self> {
        check::at_least_one("dimension", dimension as u64)?;
        Ok(Self::empty(dimension))
    }

    fn of(count: u64, gram: Triangle, moment: Vec<f64>, sum_squares: f64) -> Self {
        let latest = vec![Line::default(); PENDING * moment.len().div_ceil(SIDE)];
        Self { count, gram, moment, sum_squares, latest, pending: 0 }
    }

    /// The same for any dimension; that of 0 is good for nothing.
    pub(crate) fn empty(dimension: usize) -> Self {
        Self::of(0, Triangle::zeros(dimension), vec![0.0; dimension], 0.0)
    }

    /// Puts a statistic together from sums that were computed elsewhere; the Gram matrix row by row.
    pub fn from_sums(count: u64, gram: &[f64], moment: &[f64], sum_squares: f64) -> Result<Self> {
        let dimension = moment.len();
        check::at_least_one("dimension", dimension as u64)?;
        check::length("the Gram matrix", dimension * dimension, gram.len())?;
        let gram = Matrix::from_row_slice(dimension, dimension, gram);
        check::symmetric("the Gram matrix", &gram)?;
        Self::from_checked(count, &gram, moment.to_vec(), sum_squares)
    }

    /// The statistic of rows whose products of columns were added up: the reward is the last column, a feature every
    /// other one.
    pub fn from_products(count: u64, products: &CrossProducts) -> Result<Self> {
        let dimension = products.width().saturating_sub(1);
        check::at_least_one("dimension", dimension as u64)?;
        let gram = Matrix::from_fn(dimension, dimension, |i, j| products.get(i, j));
        check::numbers("the Gram matrix", gram.as_slice())?;
        let moment = (0..dimension).map(|j| products.get(dimension, j)).collect();
        Self::from_checked(count, &gram, moment, products.get(dimension, dimension))
    }

    /// From a Gram matrix that has been checked.
    fn from_checked(count: u64, gram: &Matrix, moment: Vec<f64>, sum_squares: f64) -> Result<Self> {
        check::numbers("moment", &moment)?;
        check::at_least_zero("sum_squares", sum_squares)?;
        Ok(Self::of(count, Triangle::from_matrix(gram), moment, sum_squares))
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
        for (line, numbers) in self.latest[self.pending..].iter_mut().zip(Line::lines(features)) {
            *line = numbers;
        }
        self.pending += features.len().div_ceil(SIDE);
        if self.pending == self.latest.len() {
            kernel::run(&mut AddSquares { gram: &mut self.gram, vectors: &self.latest });
            self.pending = 0;
        }
    }

    /// The Gram matrix with all that is pending.
    fn settled(&self) -> Cow<'_, Triangle> {
        if self.pending == 0 {
            return Cow::Borrowed(&self.gram);
        }
        let mut gram = self.gram.clone();
        kernel::run(&mut AddSquares { gram: &mut gram, vectors: &self.latest[..self.pending] });
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
        self.pending = 0;
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

    /// Gram matrix A = Σ z zᵀ row by row, without a ridge.
    pub fn gram(&self) -> Vec<f64> {
        self.gram_matrix().as_slice().to_vec()
    }

    pub(crate) fn gram_matrix(&self) -> Matrix {
        self.settled().to_symmetric()
    }

    /// Σ z_i², a diagonal entry of A.
    pub(crate) fn squares(&self, i: usize) -> f64 {
        let width = self.dimension().div_ceil(SIDE);
        let latest = self.latest[..self.pending].chunks_exact(width);
        self.gram.get(i, i) + latest.map(|vector| vector[i / SIDE].0[i % SIDE].powi(2)).sum::<f64>()
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
    pub(crate) fn precision(&self, ridge: f64) -> Result<Matrix> {
        check::positive("ridge", ridge)?;
        let mut precision = self.gram_matrix();
        for i in 0..self.dimension() {
            precision[(i, i)] += ridge;
        }
        Ok(precision)
    }

    /// Ridge estimate (λI + A)⁻¹ b.
    pub fn estimate(&self, ridge: f64) -> Result<Vec<f64>> {
        let factor = dense::cholesky("the ridge precision", &self.precision(ridge)?)?;
        let estimate = dense::solve_from_factor(&factor, &Vector::from_column_slice(&self.moment));
        Ok(estimate.as_slice().to_vec())
    }
}

/// Several statistics in one, of at least one.
pub(crate) fn merged<'a>(parts: impl IntoIterator<Item = &'a RidgeStatistic>) -> Result<RidgeStatistic> {
    let mut parts = parts.into_iter();
    let mut all = parts.next().map_or_else(|| RidgeStatistic::empty(0), Clone::clone);
    for part in parts {
        all.merge(part)?;
    }
    Ok(all)
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
        assert_eq!(dots.gram(), [2.0, 1.0, 1.0, 1.0]);
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
        let skew = [1.0, 0.5, 0.4, 1.0];
        let error = RidgeStatistic::from_sums(3, &skew, &[0.0, 0.0], 1.0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the Gram matrix must be symmetric, but entry (1, 0) is 0.4 and its mirror image 0.5"
        );
    }
}
