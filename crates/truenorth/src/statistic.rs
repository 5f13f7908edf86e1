//! The mergeable ridge statistic: all that linear regression needs to know about its data.
//!
//! ```text
//! n,   A = Σ z zᵀ,   b = Σ z y,   s = Σ y²;      Σ z and Σ y, for a level of its own;   Σ z⁴ of each column, for its unit
//! ```
//!
//! Logs, pilots, layers and merged clusters are all this one type; whatever else the library knows
//! about data (offline precision, estimate, noise) is computed from it.

use crate::blocks::Blocks;
use crate::check;
use crate::dense::{self, Matrix, Vector};
use crate::error::{Error, Reason, Result};
use crate::gram::Gram;
use crate::products::CrossProducts;
use crate::round::Row;
use crate::triangle::Triangle;

/// Count, Gram matrix, moment, sum of squared rewards, sums and fourth powers of the columns of a set of observations.
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
    /// Observations, each as much as it is worth.
    weight: f64,
    gram: Gram,
    moment: Vec<f64>,
    sum_squares: f64,
    columns: Columns,
}

/// What is known of the columns besides their products.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Columns {
    /// Σ z.
    sums: Vec<f64>,
    /// Σ y.
    reward_sum: f64,
    /// Σ z⁴ of each column.
    fourths: Vec<f64>,
}

impl PartialEq for RidgeStatistic {
    fn eq(&self, other: &Self) -> bool {
        self.weight == other.weight
            && self.sum_squares == other.sum_squares
            && self.moment == other.moment
            && self.columns == other.columns
            && *self.gram.settled() == *other.gram.settled()
    }
}

/// A statistic as it is written, and as it was read, which may have come from anywhere.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Unchecked {
    weight: f64,
    gram: Gram,
    moment: Vec<f64>,
    sum_squares: f64,
    columns: Columns,
}

impl From<RidgeStatistic> for Unchecked {
    fn from(statistic: RidgeStatistic) -> Self {
        let RidgeStatistic { weight, gram, moment, sum_squares, columns } = statistic;
        Self { weight, gram, moment, sum_squares, columns }
    }
}

impl TryFrom<Unchecked> for RidgeStatistic {
    type Error = Error;

    fn try_from(Unchecked { weight, gram, moment, sum_squares, columns }: Unchecked) -> Result<Self> {
        check::at_least_one("dimension", moment.len() as u64)?;
        let Columns { sums, reward_sum, fourths } = &columns;
        for found in [sums.len(), fourths.len()] {
            check::length("the moment", found, moment.len())?;
        }
        let numbers = [&moment, sums, fourths].into_iter().flatten().copied();
        let numbers = numbers.chain([weight.sqrt(), sum_squares, *reward_sum]);
        let wrong = numbers.into_iter().find(|number| !number.is_finite());
        check::range(wrong.is_none(), "statistic", "finite", wrong.unwrap_or(0.0))?;
        check::range(gram.is_consistent(moment.len()), "statistic", "a matrix of its features", f64::NAN)?;
        Ok(Self::of(weight, gram, moment, sum_squares, columns))
    }
}

impl RidgeStatistic {
    /// The statistic of no observations.
    pub fn new(dimension: usize) -> Result<Self> {
        check::at_least_one("dimension", dimension as u64)?;
        Ok(Self { gram: Gram::whole(Triangle::zeros(dimension)), ..Self::empty(dimension) })
    }

    /// The same for rows that touch a few of many features each: what no row has touched together is neither stored nor
    /// visited. For [sparse](crate::Settings::sparse) policies.
    ///
    /// ```
    /// use truenorth::{RidgeStatistic, Row};
    ///
    /// let mut logs = RidgeStatistic::sparse(100_000)?;
    /// logs.observe(Row::sparse(&[3, 70_000], &[1.0, 0.5]), 0.25)?;
    /// # Ok::<(), truenorth::Error>(())
    /// ```
    pub fn sparse(dimension: usize) -> Result<Self> {
        check::at_least_one("dimension", dimension as u64)?;
        let gram = Gram::Parts(Blocks::diagonal(vec![0.0; dimension]));
        Ok(Self { gram, ..Self::empty(dimension) })
    }

    fn of(weight: f64, gram: Gram, moment: Vec<f64>, sum_squares: f64, columns: Columns) -> Self {
        Self { weight, gram, moment, sum_squares, columns }
    }

    /// The same with its matrix in parts.
    pub(crate) fn parted(&self) -> Self {
        Self { gram: Gram::Parts(self.gram.parted().into_owned()), ..self.clone() }
    }

    /// The parts of its matrix, where it has some.
    pub(crate) fn blocks(&self) -> Option<&Blocks> {
        if let Gram::Parts(blocks) = &self.gram { Some(blocks) } else { None }
    }

    /// From parts.
    pub(crate) fn of_parts(
        weight: f64,
        (gram, moment): (Blocks, Vec<f64>),
        (level, squares): (f64, f64),
        units: impl Fn(usize) -> f64,
    ) -> Self {
        let fourths = (0..moment.len()).map(|j| gram.get(j, j) * units(j).powi(2)).collect();
        let columns = Columns { sums: vec![0.0; moment.len()], reward_sum: weight * level, fourths };
        Self::of(weight, Gram::Parts(gram), moment, squares + weight * level * level, columns)
    }

    /// The same for any dimension; that of 0 is good for nothing.
    pub(crate) fn empty(dimension: usize) -> Self {
        let nothing = || vec![0.0; dimension];
        let columns = Columns { sums: nothing(), reward_sum: 0.0, fourths: nothing() };
        Self::of(0.0, Gram::Nothing(dimension), nothing(), 0.0, columns)
    }

    /// Puts a statistic together from sums that were computed elsewhere; the Gram matrix row by row. Rows and rewards are
    /// taken to have the mean 0; [`with_columns`](Self::with_columns) tells their sums.
    pub fn from_sums(count: u64, gram: &[f64], moment: &[f64], sum_squares: f64) -> Result<Self> {
        let dimension = moment.len();
        check::at_least_one("dimension", dimension as u64)?;
        check::length("the Gram matrix", dimension * dimension, gram.len())?;
        let gram = Matrix::from_row_slice(dimension, dimension, gram);
        check::symmetric("the Gram matrix", &gram)?;
        Self::from_checked(count, &gram, moment.to_vec(), sum_squares)
    }

    /// The statistic of rows whose products of columns were added up: the first column is 1 everywhere, the last one
    /// the reward, a feature every other one. For the sister crate that reads logs; no part of the interface.
    #[doc(hidden)]
    pub fn from_products(count: u64, products: &CrossProducts) -> Result<Self> {
        let dimension = products.width().saturating_sub(2);
        check::at_least_one("dimension", dimension as u64)?;
        let (features, reward) = (1..=dimension, dimension + 1);
        let gram = Matrix::from_fn(dimension, dimension, |i, j| products.get(i + 1, j + 1));
        check::numbers("the Gram matrix", gram.as_slice())?;
        let row = |with: usize| features.clone().map(|j| products.get(with, j)).collect::<Vec<f64>>();
        let all = Self::from_checked(count, &gram, row(reward), products.get(reward, reward))?;
        let fourths: Vec<f64> = features.clone().map(|j| products.fourth(j)).collect();
        all.with_columns(&row(0), products.get(reward, 0), &fourths)
    }

    /// From a Gram matrix that has been checked.
    fn from_checked(count: u64, gram: &Matrix, moment: Vec<f64>, sum_squares: f64) -> Result<Self> {
        check::numbers("moment", &moment)?;
        check::at_least_zero("sum_squares", sum_squares)?;
        // As of Gaussian columns.
        let fourth = |square: &f64| 3.0 * square * square / (count as f64).max(1.0);
        let fourths = gram.diagonal().iter().map(fourth).collect();
        let columns = Columns { sums: vec![0.0; moment.len()], reward_sum: 0.0, fourths };
        let gram = Gram::whole(Triangle::from_matrix(gram));
        Ok(Self::of(count as f64, gram, moment, sum_squares, columns))
    }

    /// The same with Σ z, Σ y, and Σ z⁴ of each column.
    pub fn with_columns(mut self, sums: &[f64], reward_sum: f64, fourths: &[f64]) -> Result<Self> {
        for found in [sums, fourths] {
            check::length("the list of sums", self.dimension(), found.len())?;
        }
        check::numbers("sum", sums)?;
        check::numbers("sum of rewards", &[reward_sum])?;
        if let Some(index) = fourths.iter().position(|fourth| !(0.0..=f64::MAX).contains(fourth)) {
            let what = "sum of fourth powers";
            return Err(Reason::NotFinite { what, index, value: fourths[index] }.into());
        }
        self.columns = Columns { sums: sums.to_vec(), reward_sum, fourths: fourths.to_vec() };
        Ok(self)
    }

    /// Adds one observation. O(d²), no allocation.
    pub fn observe<'a>(&mut self, features: impl Into<Row<'a>>, reward: f64) -> Result<()> {
        let features = features.into();
        let unusable = |index, value| Reason::NotFinite { what: "feature", index, value };
        features.check(self.dimension(), unusable)?;
        check::numbers("reward", &[reward])?;
        match (&self.gram, features.columns()) {
            (Gram::Whole { .. } | Gram::Nothing(_), Some(_)) => {
                self.add(Row::from(&features.filled(self.dimension())), reward);
            }
            (Gram::Parts(_), None) => {
                let (columns, values) = features.shown();
                self.add(Row::sparse(&columns, &values), reward);
            }
            _ => self.add(features, reward),
        }
        Ok(())
    }

    /// Adds an observation that has been checked, in the form of the matrix.
    pub(crate) fn add(&mut self, features: Row<'_>, reward: f64) {
        self.weight += 1.0;
        self.sum_squares += reward * reward;
        let Columns { sums, reward_sum, fourths } = &mut self.columns;
        *reward_sum += reward;
        let add = |moment: &mut f64, sum: &mut f64, fourth: &mut f64, feature: f64| {
            let square = feature * feature;
            *moment += feature * reward;
            *sum += feature;
            *fourth += square * square;
        };
        if features.columns().is_none() {
            let columns = self.moment.iter_mut().zip(sums).zip(fourths);
            for (((moment, sum), fourth), &feature) in columns.zip(features.values()) {
                add(moment, sum, fourth, feature);
            }
        } else {
            for (j, feature) in features.entries() {
                add(&mut self.moment[j], &mut sums[j], &mut fourths[j], feature);
            }
        }
        self.gram.add(features);
    }

    /// Adds all observations of `other`; the result is that of observing both sets.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        check::length("the merged statistic's moment", self.dimension(), other.dimension())?;
        self.weight += other.weight;
        self.sum_squares += other.sum_squares;
        self.columns.reward_sum += other.columns.reward_sum;
        for (mine, theirs) in [
            (&mut self.moment, &other.moment),
            (&mut self.columns.sums, &other.columns.sums),
            (&mut self.columns.fourths, &other.columns.fourths),
        ] {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
        self.gram.merge(&other.gram);
        Ok(())
    }

    /// Adds features, which come last and were 0 in all observations so far. For the crates beside this one: a policy grows
    /// by [`Policy::grow`](crate::Policy::grow).
    #[doc(hidden)]
    pub fn grow(&mut self, dimension: usize) -> Result<()> {
        let range = "at least the number of features so far";
        check::range(dimension >= self.dimension(), "dimension", range, dimension as f64)?;
        let gram = self.gram.grown(dimension);
        let Columns { sums, reward_sum, fourths } = &self.columns;
        let widened = |numbers: &[f64]| {
            let mut numbers = numbers.to_vec();
            numbers.resize(dimension, 0.0);
            numbers
        };
        let columns = Columns { sums: widened(sums), reward_sum: *reward_sum, fourths: widened(fourths) };
        *self = Self::of(self.weight, gram, widened(&self.moment), self.sum_squares, columns);
        Ok(())
    }

    /// The same data with its features at these places among so many, each at another place; the others were 0 in all
    /// observations.
    ///
    /// ```
    /// use truenorth::RidgeStatistic;
    ///
    /// let (mut data, mut other) = (RidgeStatistic::new(2)?, RidgeStatistic::new(3)?);
    /// data.observe(&[0.5, 2.0], 1.0)?;
    /// other.observe(&[2.0, 0.0, 0.5], 1.0)?;
    /// assert_eq!(data.placed(&[2, 0], 3)?, other);
    /// # Ok::<(), truenorth::Error>(())
    /// ```
    ///
    /// For the crates beside this one, which know features by name.
    #[doc(hidden)]
    pub fn placed(&self, places: &[usize], dimension: usize) -> Result<Self> {
        check::length("the list of places", self.dimension(), places.len())?;
        check::at_least_one("dimension", dimension as u64)?;
        let mut sources = vec![None; dimension];
        for (source, &place) in places.iter().enumerate() {
            let taken =
                sources.get_mut(place).map(|taken: &mut Option<usize>| taken.replace(source).is_some());
            check::range(taken == Some(false), "place", "below the dimension, and there once", place as f64)?;
        }
        let gram = self.gram.settled();
        let entry = |i: usize, j: usize| match (sources[i], sources[j]) {
            (Some(i), Some(j)) => gram.get(i.max(j), i.min(j)),
            _ => 0.0,
        };
        let placed = |numbers: &[f64]| {
            sources.iter().map(|source| source.map_or(0.0, |source| numbers[source])).collect::<Vec<f64>>()
        };
        let Columns { sums, reward_sum, fourths } = &self.columns;
        let columns = Columns { sums: placed(sums), reward_sum: *reward_sum, fourths: placed(fourths) };
        let gram = Gram::whole(Triangle::from_fn(dimension, entry));
        Ok(Self::of(self.weight, gram, placed(&self.moment), self.sum_squares, columns))
    }

    /// Number of features d.
    pub fn dimension(&self) -> usize {
        self.moment.len()
    }

    /// Number of observations n.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count; casts saturate")]
    pub fn count(&self) -> u64 {
        self.weight.round() as u64
    }

    /// The same, each observation as much as it is worth.
    pub(crate) fn weight(&self) -> f64 {
        self.weight
    }

    /// Gram matrix A = Σ z zᵀ row by row, without a ridge.
    pub fn gram(&self) -> Vec<f64> {
        self.gram_matrix().as_slice().to_vec()
    }

    pub(crate) fn gram_matrix(&self) -> Matrix {
        self.gram.settled().to_symmetric()
    }

    /// A without what is below the diagonal.
    pub(crate) fn gram_above(&self) -> Matrix {
        self.gram.settled().to_upper()
    }

    /// Σ z_i², a diagonal entry of A.
    pub(crate) fn squares(&self, i: usize) -> f64 {
        self.gram.square(i)
    }

    /// Moment b = Σ z y.
    pub fn moment(&self) -> &[f64] {
        &self.moment
    }

    /// Σ z.
    pub(crate) fn sums(&self) -> &[f64] {
        &self.columns.sums
    }

    /// Σ y.
    pub(crate) fn reward_sum(&self) -> f64 {
        self.columns.reward_sum
    }

    /// Σ z⁴ of each column.
    pub(crate) fn fourths(&self) -> &[f64] {
        &self.columns.fourths
    }

    /// Data that nobody has observed, from what a regression without its level is to find: a Gram matrix, a moment and a sum
    /// of squares about this level, of columns with these units.
    pub(crate) fn imagined(
        weight: f64,
        (gram, moment): (&Matrix, &Vector),
        (level, squares): (f64, f64),
        units: &Vector,
    ) -> Self {
        let fourths = gram.diagonal().iter().zip(units).map(|(square, unit)| square * unit * unit).collect();
        let columns = Columns { sums: vec![0.0; moment.len()], reward_sum: weight * level, fourths };
        let squares = squares + weight * level * level;
        let gram = Gram::whole(Triangle::from_matrix(gram));
        Self::of(weight, gram, moment.as_slice().to_vec(), squares, columns)
    }

    /// The same data with rewards by their distance from this level.
    pub(crate) fn about(&self, level: f64) -> Self {
        let mut data = self.clone();
        data.moment.iter_mut().zip(&self.columns.sums).for_each(|(moment, sum)| *moment -= level * sum);
        data.columns.reward_sum -= level * self.weight;
        data.sum_squares -= level * (self.columns.reward_sum + data.columns.reward_sum);
        data
    }

    /// The same data, each observation worth so much of what it was.
    pub(crate) fn weighted(&self, weight: f64) -> Self {
        let times = |numbers: &[f64]| numbers.iter().map(|number| number * weight).collect::<Vec<_>>();
        let Columns { sums, reward_sum, fourths } = &self.columns;
        Self::of(
            self.weight * weight,
            self.gram.times(weight),
            times(&self.moment),
            self.sum_squares * weight,
            Columns { sums: times(sums), reward_sum: reward_sum * weight, fourths: times(fourths) },
        )
    }

    /// Σ y².
    pub fn sum_squares(&self) -> f64 {
        self.sum_squares
    }

    /// The one reward that all observations have; none if they differ or there are none. Of sums without Σ y, only 0 can be
    /// told.
    pub fn only_reward(&self) -> Option<f64> {
        let [mean, square] = [self.columns.reward_sum, self.sum_squares].map(|sum| sum / self.weight);
        // Zero by zero where there are no rows.
        // Sums of many rows have rounded by far more than one number has.
        let same = square == 0.0 || (square - mean * mean).abs() <= 1e-12 * square;
        same.then_some(if square == 0.0 { 0.0 } else { mean })
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
    use crate::gram::PENDING;

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
    fn sums_of_squares_are_those_of_the_matrix_to_the_last_bit_whatever_is_pending() {
        let mut data = RidgeStatistic::new(11).unwrap();
        for row in 0..3 * PENDING {
            let features: Vec<f64> = (0..11).map(|j| f64::sin((1 + row * 11 + j) as f64)).collect();
            data.observe(&features, 1.0).unwrap();
            let diagonal = data.gram_matrix().diagonal();
            assert!((0..11).all(|j| data.squares(j).to_bits() == diagonal[j].to_bits()), "{row}");
        }
    }

    #[test]
    fn refused_observations_leave_no_trace() {
        let mut data = RidgeStatistic::new(2).unwrap();
        data.observe(&[0.5, 0.5], 1.0).unwrap();
        let before = data.clone();
        assert!(matches!(data.observe(&[0.5], 1.0), Err(Error(Reason::Length { found: 1, .. }))));
        assert!(matches!(
            data.observe(&[0.5, f64::NAN], 1.0),
            Err(Error(Reason::NotFinite { index: 1, .. }))
        ));
        assert!(data.observe(&[0.5, 0.1], f64::INFINITY).is_err());
        assert!(data.merge(&RidgeStatistic::new(3).unwrap()).is_err());
        assert_eq!(data, before);
    }

    #[test]
    fn features_that_come_later_were_zero_before() {
        for (before, after) in [(1, 2), (3, 8), (7, 9), (8, 20)] {
            let row =
                |i: usize| (0..before).map(|j| ((i * 5 + j * 3) % 7) as f64 - 3.0).collect::<Vec<f64>>();
            let (mut grown, mut whole) = (RidgeStatistic::empty(before), RidgeStatistic::empty(after));
            for i in 0..21 {
                grown.observe(&row(i), i as f64).unwrap();
                let mut row = row(i);
                row.resize(after, 0.0);
                whole.observe(&row, i as f64).unwrap();
            }
            grown.grow(after).unwrap();
            assert_eq!(grown, whole);
            for data in [&mut grown, &mut whole] {
                data.observe(&vec![0.5; after], 2.0).unwrap();
            }
            assert_eq!(grown, whole);
            assert!(grown.grow(before).is_err());
            assert_eq!(grown, whole);
        }
    }

    #[test]
    fn rewards_about_a_level_are_as_if_it_had_been_taken_off() {
        let (mut data, mut off) = (RidgeStatistic::empty(1), RidgeStatistic::empty(1));
        for (x, y) in [(1.0, 4.0), (-2.0, 1.0), (0.5, 7.0)] {
            data.observe(&[x], y).unwrap();
            off.observe(&[x], y - 3.0).unwrap();
        }
        assert_eq!(data.about(3.0), off);
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
