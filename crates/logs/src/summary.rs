//! The summary of logs: all that a linear model needs to know of them, in a small file.
//!
//! Kept are the sums of products of all pairs of columns: a column of ones, the reward, the features as
//! they are in the files, and a mark for each feature whose missing values are to be the mean. Scaling, the
//! intercept and the imputed means are applied to the sums, not to the rows, so summaries merge exactly.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truenorth::{CrossProducts, Matrix, RidgeStatistic};

use crate::batch::{Missing, Rejected};
use crate::error::Problem;
use crate::recipe::Recipe;
use crate::tally::{FEATURES, ONE, REWARD};
use crate::vocabulary::{EXAMPLES, MOST_NAMES};

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
        let intercept = self.recipe.intercept.then(|| INTERCEPT.to_owned());
        intercept.into_iter().chain(self.features.iter().map(|feature| feature.name.clone())).collect()
    }

    /// Names for people: buckets of the hash with what fell into them.
    pub fn labels(&self) -> Vec<String> {
        let label = |feature: &SummaryFeature| match feature.examples.as_slice() {
            [] => feature.name.clone(),
            examples => format!("{} ({})", feature.name, examples.join(", ")),
        };
        let intercept = self.recipe.intercept.then(|| INTERCEPT.to_owned());
        intercept.into_iter().chain(self.features.iter().map(label)).collect()
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
        let columns: Vec<Vec<(usize, f64)>> =
            intercept.into_iter().chain(other.features.iter().map(column)).collect();
        let product = |left: &[(usize, f64)], right: &[(usize, f64)]| {
            let pairs = left.iter().flat_map(|&(i, a)| right.iter().map(move |&(j, b)| (i, j, a * b)));
            kish * pairs.map(|(i, j, factor)| factor * self.products.get(i, j)).sum::<f64>()
        };
        let mut gram = Matrix::zeros(columns.len(), columns.len());
        for i in 0..columns.len() {
            for j in 0..=i {
                let entry = product(&columns[i], &columns[j]) * scale * scale;
                (gram[(i, j)], gram[(j, i)]) = (entry, entry);
            }
        }
        let reward = [(REWARD, 1.0)];
        let moment: Vec<f64> = columns.iter().map(|column| product(column, &reward) * scale).collect();
        let effective = (kish * weight).round();
        // Between 0 and the number of rows, by the inequality of Cauchy and Schwarz.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of rows")]
        let count = (effective as u64).min(self.rows);
        RidgeStatistic::from_sums(count, &gram, &moment, product(&reward, &reward))
    }

    /// Adds the rows of another summary.
    pub fn merge(&mut self, other: &Self) -> Result<(), Problem> {
        self.recipe.check_same(&other.recipe)?;
        let all = union(&self.features, &other.features, self.recipe.numbers().len());
        let named = all.iter().skip(self.recipe.numbers().len()).filter(|f| f.examples.is_empty()).count();
        if named > MOST_NAMES {
            return Err(Problem::TooManyFeatures { limit: MOST_NAMES });
        }
        let position = |features: &[SummaryFeature], all: &[SummaryFeature]| -> Vec<usize> {
            let at: BTreeMap<&str, usize> = all.iter().map(|f| f.name.as_str()).zip(0..).collect();
            features.iter().map(|feature| at[feature.name.as_str()]).collect()
        };
        let (mine, theirs) = (position(&self.features, &all), position(&other.features, &all));
        let mut imputed: Vec<usize> = self.imputed.iter().map(|&feature| mine[feature]).collect();
        imputed.extend(other.imputed.iter().map(|&feature| theirs[feature]));
        imputed.sort_unstable();
        imputed.dedup();
        let columns = |summary: &Self, position: &[usize]| -> Vec<usize> {
            let features = position.iter().map(|&feature| FEATURES + feature);
            let marks = summary.imputed.iter().map(|&feature| {
                FEATURES + all.len() + imputed.partition_point(|&other| other < position[feature])
            });
            [ONE, REWARD].into_iter().chain(features).chain(marks).collect()
        };
        let mut products = CrossProducts::new(FEATURES + all.len() + imputed.len());
        products.merge(&self.products, &columns(self, &mine));
        products.merge(&other.products, &columns(other, &theirs));
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
        self.products.is_consistent(FEATURES + self.features.len() + self.imputed.len())
            && self
                .products
                .entries()
                .iter()
                .chain([&self.weight_squares, &self.largest])
                .all(|x| x.is_finite())
            && (0..self.products.width()).all(|column| self.products.get(column, column) >= 0.0)
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
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for feature in mine[numbers..].iter().chain(&theirs[numbers..]) {
        let examples = found.entry(feature.name.clone()).or_default();
        examples.extend(feature.examples.iter().cloned());
        examples.sort_unstable();
        examples.dedup();
        examples.truncate(EXAMPLES);
    }
    let found = found.into_iter().map(|(name, examples)| SummaryFeature { name, examples });
    mine[..numbers].iter().cloned().chain(found).collect()
}
