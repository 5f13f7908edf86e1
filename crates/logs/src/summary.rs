//! The summary of logs: all that a linear model needs to know of them, in a small file.
//!
//! Kept are the sums of products of all pairs of columns: a column of ones, the reward, the features as
//! they are in the files, and a mark for each feature whose missing values are to be the mean. Scaling, the
//! intercept and the imputed means are applied to the sums, not to the rows, so summaries merge exactly.
//!
//! # Units
//!
//! Logs have units of their own: the numbers as they are in the files. A file, a summary, coefficients that people
//! see and everything that people tell (a drift, a length of the coefficients, a certificate) is in these. Theorems
//! want rows that are at most 1 long, so computations that rest on them multiply every feature by one number,
//! 1 over the length of the longest row, and what they say about coefficients is multiplied by it once more on the
//! way out. Who computes in which:
//!
//! | who | features | how |
//! |---|---|---|
//! | a policy that is given rows by its user (Python) | as they are | [`Summary::unscaled_statistic`] |
//! | an audit, the bounds | times [`Summary::scale`] | [`Summary::statistic`], live rows by [`Summary::read_rows`] or [`Summary::statistic_as`] |
//! | a comparison on recorded rounds | times 1 / `Contest::unit`, the longest of logged and live rows | rows, not sums: `Contest` of `truenorth-sim` |
//!
//! Rewards are never scaled.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truenorth::{CrossProducts, RidgeStatistic};

use crate::error::Problem;
use crate::recipe::Recipe;
use crate::tally::{FEATURES, ONE, REWARD};
use crate::tolerance::{Missing, Rejected};
use crate::vocabulary::MOST_NAMES;

/// How many names a bucket of the hash is remembered by.
const EXAMPLES: usize = 3;

/// Name of the feature that is 1 everywhere.
pub(crate) const INTERCEPT: &str = "intercept";

/// Count, products and provenance of logged rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub(crate) recipe: Recipe,
    pub(crate) features: Vec<SummaryFeature>,
    /// Features that have a column for their missing values, increasing.
    pub(crate) imputed: Vec<usize>,
    /// Ones, reward, features, marks of missing values.
    pub(crate) products: CrossProducts,
    pub(crate) rows: u64,
    /// Σ w² over the rows.
    pub(crate) weight_squares: f64,
    /// Squared length of the longest row, without intercept and imputed values.
    pub(crate) largest: f64,
    pub(crate) files: BTreeMap<String, u64>,
    pub(crate) rejected: Vec<Rejected>,
}

/// A feature of a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryFeature {
    /// The column, `column=level`, or `#bucket`.
    pub name: String,
    /// For a bucket of the hash: names that fell into it, at most three.
    pub examples: Vec<String>,
}

impl SummaryFeature {
    /// Remembers a name that fell into the bucket; of many, the first in the alphabet.
    pub(crate) fn add_example(&mut self, name: &str) {
        if let Err(place) = self.examples.binary_search_by(|other| other.as_str().cmp(name)) {
            self.examples.insert(place, name.to_owned());
            self.examples.truncate(EXAMPLES);
        }
    }
}

impl Summary {
    /// Number of rows that are counted.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How features are made from rows.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Files that were read, with the rows that are counted of each.
    pub fn files(&self) -> &BTreeMap<String, u64> {
        &self.files
    }

    /// Rows that were left out, by reason.
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    /// The features but for the intercept.
    pub fn features(&self) -> &[SummaryFeature] {
        &self.features
    }

    /// Number of features d, intercept included.
    pub fn dimension(&self) -> usize {
        self.features.len() + usize::from(self.recipe.intercept)
    }

    /// Names of the features in their order, the intercept first if there is one.
    pub fn names(&self) -> Vec<String> {
        self.with_intercept(|feature| feature.name.clone())
    }

    fn with_intercept(&self, name: impl Fn(&SummaryFeature) -> String) -> Vec<String> {
        let intercept = self.recipe.intercept.then(|| INTERCEPT.to_owned());
        intercept.into_iter().chain(self.features.iter().map(name)).collect()
    }

    /// Names for people: buckets of the hash with what fell into them.
    pub fn labels(&self) -> Vec<String> {
        self.with_intercept(|feature| match feature.examples.as_slice() {
            [] => feature.name.clone(),
            examples => format!("{} ({})", feature.name, examples.join(", ")),
        })
    }

    /// What every feature is multiplied by, so that no row is longer than 1.
    pub fn scale(&self) -> f64 {
        let imputed: f64 = self.imputed.iter().map(|&feature| self.mean(feature).powi(2)).sum();
        let longest = (self.largest + imputed + f64::from(u8::from(self.recipe.intercept))).sqrt();
        if longest > 0.0 { longest.recip() } else { 1.0 }
    }

    /// Mean of a feature over the rows that have it.
    pub(crate) fn mean(&self, feature: usize) -> f64 {
        let missing = self.mark(feature).map_or(0.0, |mark| self.products.get(ONE, mark));
        let present = self.products.get(ONE, ONE) - missing;
        if present > 0.0 { self.products.get(ONE, FEATURES + feature) / present } else { 0.0 }
    }

    /// Mean of the reward.
    pub fn mean_reward(&self) -> f64 {
        let weight = self.products.get(ONE, ONE);
        if weight > 0.0 { self.products.get(ONE, REWARD) / weight } else { 0.0 }
    }

    /// Column of a feature's missing values.
    fn mark(&self, feature: usize) -> Option<usize> {
        self.imputed.binary_search(&feature).ok().map(|mark| FEATURES + self.features.len() + mark)
    }

    /// The ridge statistic of the features, scaled and with the mean in place of missing values.
    ///
    /// A row that stands for w dropped ones counts w times in the averages, but it is one observation: all
    /// sums are multiplied by Σw / Σw² (Kish's effective sample size over the total weight).
    pub fn statistic(&self) -> truenorth::Result<RidgeStatistic> {
        self.statistic_as(self)
    }

    /// The same with the features and the scale of another summary; features that this one never had are 0.
    pub fn statistic_as(&self, other: &Self) -> truenorth::Result<RidgeStatistic> {
        self.scaled_statistic(other, other.scale())
    }

    /// The same for features as they are in the files.
    pub fn unscaled_statistic(&self) -> truenorth::Result<RidgeStatistic> {
        self.scaled_statistic(self, 1.0)
    }

    fn scaled_statistic(&self, other: &Self, scale: f64) -> truenorth::Result<RidgeStatistic> {
        let weight = self.products.get(ONE, ONE);
        let kish = if self.weight_squares > 0.0 { weight / self.weight_squares } else { 1.0 };
        // Each feature is a sum of columns with factors: itself, and the mean where it is missing.
        let at: BTreeMap<&str, usize> = self.features.iter().map(|f| f.name.as_str()).zip(0..).collect();
        let column = |wanted: &SummaryFeature| {
            at.get(wanted.name.as_str()).map_or_else(Vec::new, |&feature| {
                let mark = self.mark(feature).map(|mark| (mark, self.mean(feature)));
                [(FEATURES + feature, 1.0)].into_iter().chain(mark).collect()
            })
        };
        let intercept = other.recipe.intercept.then(|| vec![(ONE, 1.0)]);
        let features = intercept.into_iter().chain(other.features.iter().map(column));
        let features = features.map(|column| (column, scale));
        let [ones, reward] = [ONE, REWARD].map(|column| (vec![(column, 1.0)], 1.0));
        let columns: Vec<(Vec<(usize, f64)>, f64)> =
            [ones].into_iter().chain(features).chain([reward]).collect();
        let sum = |i: usize, j: usize| {
            let ((left, unit), (right, other)) = (&columns[i], &columns[j]);
            let pairs = left.iter().flat_map(|&(i, a)| right.iter().map(move |&(j, b)| (i, j, a * b)));
            let sum = pairs.map(|(i, j, factor)| factor * self.products.get(i, j)).sum::<f64>();
            kish * sum * unit * other
        };
        // A value is itself or the mean, never both.
        let fourth = |i: usize| {
            let (parts, unit): &(Vec<(usize, f64)>, f64) = &columns[i];
            let sum: f64 = parts.iter().map(|&(part, a)| a.powi(4) * self.products.fourth(part)).sum();
            kish * sum * unit.powi(4)
        };
        let products = CrossProducts::from_fn(columns.len(), sum, fourth);
        let effective = (kish * weight).round();
        // Between 0 and the number of rows, by the inequality of Cauchy and Schwarz.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of rows")]
        let count = (effective as u64).min(self.rows);
        RidgeStatistic::from_products(count, &products)
    }

    /// Adds the rows of another summary.
    pub fn merge(&mut self, other: &Self) -> Result<(), Problem> {
        self.recipe.check_same(&other.recipe)?;
        let all = union(&self.features, &other.features, self.recipe.numbers().len());
        let named = all.iter().skip(self.recipe.numbers().len()).filter(|f| f.examples.is_empty()).count();
        if named > MOST_NAMES {
            return Err(Problem::TooManyFeatures(MOST_NAMES));
        }
        let at: BTreeMap<&str, usize> = all.iter().map(|f| f.name.as_str()).zip(FEATURES..).collect();
        // Only columns of numbers have marks, and their places are the same in both.
        let mut imputed = [&self.imputed[..], &other.imputed].concat();
        imputed.sort_unstable();
        imputed.dedup();
        let columns = |summary: &Self| -> Vec<usize> {
            let features = summary.features.iter().map(|feature| at[feature.name.as_str()]);
            let mark = |feature| FEATURES + all.len() + imputed.partition_point(|other| other < feature);
            [ONE, REWARD].into_iter().chain(features).chain(summary.imputed.iter().map(mark)).collect()
        };
        let mut products = CrossProducts::new(FEATURES + all.len() + imputed.len());
        products.merge(&self.products, &columns(self));
        products.merge(&other.products, &columns(other));
        self.products = products;
        self.features = all;
        if !imputed.is_empty() {
            self.recipe.missing = Missing::Mean;
        }
        self.imputed = imputed;
        self.rows = self.rows.saturating_add(other.rows);
        self.weight_squares += other.weight_squares;
        self.largest = self.largest.max(other.largest);
        for (file, rows) in &other.files {
            let mine = self.files.entry(file.clone()).or_default();
            *mine = mine.saturating_add(*rows);
        }
        for rejected in &other.rejected {
            match self.rejected.iter_mut().find(|mine| mine.reason == rejected.reason) {
                Some(mine) => mine.rows = mine.rows.saturating_add(rejected.rows),
                None => self.rejected.push(rejected.clone()),
            }
        }
        Ok(())
    }

    /// Whether all parts fit each other: a file may come from anywhere.
    pub(crate) fn is_consistent(&self) -> bool {
        let names: std::collections::BTreeSet<&str> = self.features.iter().map(|f| f.name.as_str()).collect();
        let numbers = self.recipe.numbers();
        self.products.width() == FEATURES + self.features.len() + self.imputed.len()
            && self.products.entries().chain([self.weight_squares, self.largest]).all(f64::is_finite)
            && (0..self.products.width()).all(|column| self.products.get(column, column) >= 0.0)
            && (0..self.products.width())
                .all(|column| (0.0..=f64::MAX).contains(&self.products.fourth(column)))
            && self.weight_squares >= 0.0
            && self.largest >= 0.0
            && self.files.values().try_fold(0, |sum: u64, &rows| sum.checked_add(rows)) == Some(self.rows)
            && names.len() == self.features.len()
            && self.imputed.is_sorted_by(|a, b| a < b)
            && self.imputed.last().is_none_or(|&last| last < numbers.len())
            && numbers.len() <= self.features.len()
            && numbers.iter().zip(&self.features).all(|(name, feature)| *name == feature.name)
            && (self.imputed.is_empty() || self.recipe.missing == Missing::Mean)
    }
}

/// The columns of numbers, which both have, then what turned up in either, by name.
fn union(mine: &[SummaryFeature], theirs: &[SummaryFeature], numbers: usize) -> Vec<SummaryFeature> {
    let mut found: BTreeMap<&str, SummaryFeature> = BTreeMap::new();
    for feature in mine[numbers..].iter().chain(&theirs[numbers..]) {
        let empty = || SummaryFeature { name: feature.name.clone(), examples: Vec::new() };
        let all = found.entry(&feature.name).or_insert_with(empty);
        feature.examples.iter().for_each(|example| all.add_example(example));
    }
    mine[..numbers].iter().cloned().chain(found.into_values()).collect()
}
