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
use std::path::Path;

use serde::{Deserialize, Serialize};
use truenorth::{CrossProducts, RidgeStatistic};
use truenorth_features::{Encoder, Factor, Feature, Joining, MOST_NAMES, Missing, Recipe, quoted};

use crate::error::Problem;
use crate::origin::Origin;
use crate::tally::{FEATURES, ONE, REWARD};
use crate::tolerance::Rejected;

/// Name of the feature that is 1 everywhere.
pub(crate) const INTERCEPT: &str = "intercept";

/// Count, products and provenance of logged rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub(crate) origin: Origin,
    pub(crate) recipe: Recipe,
    pub(crate) features: Vec<Feature>,
    /// Columns of what is missing, increasing.
    pub(crate) marks: Vec<Mark>,
    /// Sum and weight of the numbers that may be missing, by name.
    pub(crate) means: BTreeMap<String, (f64, f64)>,
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

/// A column that is what a feature lacks but for means.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The feature.
    pub(crate) feature: usize,
    /// Whose means the column is to be multiplied with.
    pub(crate) means: Vec<String>,
}

impl Summary {
    /// Of no rows, for features that others have.
    pub fn empty(origin: Origin, recipe: Recipe) -> Self {
        let features = recipe.fixed_features();
        Self {
            origin,
            marks: Vec::new(),
            means: BTreeMap::new(),
            products: CrossProducts::new(FEATURES + features.len()),
            features,
            recipe,
            rows: 0,
            weight_squares: 0.0,
            largest: 0.0,
            files: BTreeMap::new(),
            rejected: Vec::new(),
        }
    }

    /// Number of rows that are counted.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// What rows were read from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// How features are made from raw values.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Files that were read, with the rows that are counted of each.
    pub fn files(&self) -> &BTreeMap<String, u64> {
        &self.files
    }

    /// Whether a file is one of those that were read.
    pub fn has_file(&self, path: &Path) -> bool {
        let place = path.canonicalize().ok();
        place.is_some() && self.files.keys().any(|file| Path::new(file).canonicalize().ok() == place)
    }

    /// Rows that were left out, by reason.
    pub fn rejected(&self) -> &[Rejected] {
        &self.rejected
    }

    /// The features but for the intercept.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Number of features d, intercept included.
    pub fn dimension(&self) -> usize {
        self.features.len() + usize::from(self.recipe.model.intercept)
    }

    /// Names of the features in their order, the intercept first if there is one.
    pub fn names(&self) -> Vec<String> {
        self.with_intercept(|feature| feature.name.clone())
    }

    fn with_intercept(&self, name: impl Fn(&Feature) -> String) -> Vec<String> {
        let intercept = self.recipe.model.intercept.then(|| INTERCEPT.to_owned());
        intercept.into_iter().chain(self.features.iter().map(name)).collect()
    }

    /// Names for people: buckets of the hash with what fell into them.
    pub fn labels(&self) -> Vec<String> {
        self.with_intercept(Feature::label)
    }

    /// An encoder of other rows with these features. One that is not among them joins or not, as told.
    pub fn encoder(&self, joining: Joining) -> Encoder {
        Encoder::new(self.recipe.clone(), self.features.clone(), joining).with_means(self.means())
    }

    /// What takes the place of missing numbers, by name.
    pub fn means(&self) -> BTreeMap<String, f64> {
        self.means.keys().map(|name| (name.clone(), self.mean(name))).collect()
    }

    /// What every feature is multiplied by, so that no row is longer than 1.
    pub fn scale(&self) -> f64 {
        let imputed: f64 = self.marks.iter().map(|mark| self.factor(mark).powi(2)).sum();
        let longest = (self.largest + imputed + f64::from(u8::from(self.recipe.model.intercept))).sqrt();
        if longest > 0.0 { longest.recip() } else { 1.0 }
    }

    /// Mean of a number over the rows that have it.
    pub(crate) fn mean(&self, name: &str) -> f64 {
        match self.means.get(name) {
            Some(&(sum, weight)) if weight > 0.0 => sum / weight,
            _ => 0.0,
        }
    }

    /// What the column of a mark is to be multiplied with.
    fn factor(&self, mark: &Mark) -> f64 {
        mark.means.iter().map(|name| self.mean(name)).product()
    }

    /// Mean of the reward.
    pub fn mean_reward(&self) -> f64 {
        let weight = self.products.get(ONE, ONE);
        if weight > 0.0 { self.products.get(ONE, REWARD) / weight } else { 0.0 }
    }

    /// Whether all rewards are the same, so that nothing can be learned from them.
    pub fn is_constant(&self) -> bool {
        let [weight, sum, squares] =
            [(ONE, ONE), (ONE, REWARD), (REWARD, REWARD)].map(|(i, j)| self.products.get(i, j));
        weight > 0.0 && squares - sum * sum / weight <= 1e-12 * squares
    }

    /// How many rewards are 1 and how many 0, where there are no others.
    pub fn clicks(&self) -> Option<[u64; 2]> {
        let [weight, sum, squares] =
            [(ONE, ONE), (ONE, REWARD), (REWARD, REWARD)].map(|(i, j)| self.products.get(i, j));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
        let counted = |count: f64| count.round() as u64;
        ((sum - squares).abs() <= 1e-12 * squares && sum <= weight)
            .then(|| [counted(sum), counted(weight - sum)])
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
        self.statistic_of(&other.features, other.recipe.model.intercept, other.scale())
    }

    /// The same for features as they are in the files.
    pub fn unscaled_statistic(&self) -> truenorth::Result<RidgeStatistic> {
        self.statistic_of(&self.features, self.recipe.model.intercept, 1.0)
    }

    /// The same for these features, of which some may be 0 in all rows, multiplied by a number.
    pub fn statistic_of(
        &self,
        features: &[Feature],
        intercept: bool,
        scale: f64,
    ) -> truenorth::Result<RidgeStatistic> {
        let weight = self.products.get(ONE, ONE);
        let kish = if self.weight_squares > 0.0 { weight / self.weight_squares } else { 1.0 };
        // Each feature is a sum of columns with factors: itself, and the mean where it is missing.
        let at: BTreeMap<&str, usize> = self.features.iter().map(|f| f.name.as_str()).zip(0..).collect();
        let first_mark = FEATURES + self.features.len();
        let column = |wanted: &Feature| {
            at.get(wanted.name.as_str()).map_or_else(Vec::new, |&feature| {
                let start = self.marks.partition_point(|mark| mark.feature < feature);
                let marks = self.marks.iter().enumerate().skip(start);
                let own = marks.take_while(|(_, mark)| mark.feature == feature);
                let own = own.map(|(place, mark)| (first_mark + place, self.factor(mark)));
                [(FEATURES + feature, 1.0)].into_iter().chain(own).collect()
            })
        };
        let intercept = intercept.then(|| vec![(ONE, 1.0)]);
        let features = intercept.into_iter().chain(features.iter().map(column));
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
        self.check_same(other)?;
        let fixed = self.recipe.fixed_features().len();
        let all = union(&self.features, &other.features, fixed);
        let hashes = self.recipe.model.terms.iter().flat_map(|term| &term.0);
        let hashes = hashes.filter(|factor| matches!(factor, Factor::Hash(..))).count();
        let named = all.iter().skip(fixed).filter(|f| hashes == 0 || !is_bucket(&f.name)).count();
        if named > MOST_NAMES {
            return Err(Problem::TooManyFeatures(MOST_NAMES));
        }
        let at: BTreeMap<&str, usize> = all.iter().map(|f| f.name.as_str()).zip(0..).collect();
        // The marks of a summary, with the features' places among all.
        let moved = |summary: &Self| -> Vec<Mark> {
            let place = |mark: &Mark| at[summary.features[mark.feature].name.as_str()];
            let marks = summary.marks.iter();
            marks.map(|mark| Mark { feature: place(mark), means: mark.means.clone() }).collect()
        };
        let mut marks = [moved(self), moved(other)].concat();
        marks.sort_unstable();
        marks.dedup();
        let columns = |summary: &Self| -> Vec<usize> {
            let features = summary.features.iter().map(|feature| FEATURES + at[feature.name.as_str()]);
            let first = FEATURES + all.len();
            let marks =
                moved(summary).into_iter().map(|mark| first + marks.partition_point(|other| *other < mark));
            [ONE, REWARD].into_iter().chain(features).chain(marks).collect()
        };
        let mut products = CrossProducts::new(FEATURES + all.len() + marks.len());
        products.merge(&self.products, &columns(self));
        products.merge(&other.products, &columns(other));
        self.products = products;
        self.features = all;
        if !marks.is_empty() {
            self.recipe.missing = Missing::Mean;
        }
        self.marks = marks;
        for (name, (sum, weight)) in &other.means {
            let mine = self.means.entry(name.clone()).or_default();
            (mine.0, mine.1) = (mine.0 + sum, mine.1 + weight);
        }
        if let (Some(mine), Some(theirs)) = (&mut self.recipe.action, &other.recipe.action) {
            mine.extend(theirs.iter().cloned());
        }
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

    /// Whether a summary of live rows has all that these logs have, in whatever order.
    pub fn check_live(&self, live: &Self) -> Result<(), String> {
        self.origin.check_live(&live.origin)?;
        let terms = &self.recipe.model.terms;
        match terms.iter().find(|term| !live.recipe.model.terms.contains(term)) {
            Some(term) => Err(format!("its model has no term {}, but that of the logs has", quoted(term))),
            None => self.check_cuts(live),
        }
    }

    /// Whether features mean the same in both.
    fn check_same(&self, other: &Self) -> Result<(), Problem> {
        let differ = self.origin.difference(&other.origin);
        let (mine, theirs) = (&self.recipe.model, &other.recipe.model);
        let models = || (!mine.is_same(theirs)).then(|| ("models", quoted(mine), quoted(theirs)));
        if let Some((what, mine, theirs)) = differ.or_else(models) {
            return Err(Problem::Other(format!("the summaries have different {what}: {mine} and {theirs}")));
        }
        self.check_cuts(other).map_err(Problem::Other)
    }

    /// Whether fields have the same kinds, and bins and splines the same places.
    fn check_cuts(&self, other: &Self) -> Result<(), String> {
        let (mine, theirs) = (&self.recipe, &other.recipe);
        let kind = mine
            .kinds
            .iter()
            .find(|(name, kind)| theirs.kinds.get(*name).is_some_and(|other| other != *kind));
        if let Some((name, _)) = kind {
            return Err(format!(
                "`{name}` holds numbers in one of the summaries and categories in the other"
            ));
        }
        match mine.cuts.iter().find(|(factor, cuts)| theirs.cuts.get(*factor) != Some(cuts)) {
            Some((factor, _)) => Err(format!(
                "{} has other places in the two summaries; read the logs of one of them as the other was read",
                quoted(factor)
            )),
            None => Ok(()),
        }
    }

    /// Whether there are features, and the summary can be read again.
    pub fn check(&self) -> Result<(), Problem> {
        if self.dimension() == 0 {
            return Err(Problem::other("the model has no features"));
        }
        let finite = |column: usize| {
            let square = self.products.get(column, column);
            square.is_finite() && self.products.fourth(column).is_finite()
        };
        let names = ["one", "reward"].into_iter().chain(self.features.iter().map(|f| f.name.as_str()));
        if let Some((name, _)) = names.zip(0..).find(|&(_, column)| !finite(column)) {
            return Err(Problem::Other(format!("the numbers of `{name}` are too large to be summed up")));
        }
        let mut seen = std::collections::BTreeSet::new();
        if let Some(twice) = self.features.iter().find(|feature| !seen.insert(&feature.name)) {
            return Err(Problem::Other(format!("two features are called `{}`", twice.name)));
        }
        if self.is_consistent() {
            Ok(())
        } else {
            Err(Problem::other(
                "the sums of these rows contradict each other, as their numbers are too large",
            ))
        }
    }

    /// Whether all parts fit each other: a file may come from anywhere.
    pub(crate) fn is_consistent(&self) -> bool {
        let names: std::collections::BTreeSet<&str> = self.features.iter().map(|f| f.name.as_str()).collect();
        let fixed = self.recipe.fixed_features();
        let cuts = self.recipe.cuts.values();
        self.products.width() == FEATURES + self.features.len() + self.marks.len()
            && self.products.entries().chain([self.weight_squares, self.largest]).all(f64::is_finite)
            && (0..self.products.width()).all(|column| self.products.get(column, column) >= 0.0)
            && (0..self.products.width())
                .all(|column| (0.0..=f64::MAX).contains(&self.products.fourth(column)))
            && self.weight_squares >= 0.0
            && self.largest >= 0.0
            && self.files.values().try_fold(0, |sum: u64, &rows| sum.checked_add(rows)) == Some(self.rows)
            && names.len() == self.features.len()
            && self.marks.is_sorted_by(|a, b| a < b)
            && self.marks.iter().all(|mark| mark.feature < self.features.len())
            && self.means.values().all(|(sum, weight)| sum.is_finite() && (0.0..=f64::MAX).contains(weight))
            && cuts.clone().flatten().all(|cut| cut.abs() <= truenorth_features::LARGEST)
            && cuts.into_iter().all(|cuts| cuts.is_sorted_by(|a, b| a < b))
            && fixed.len() <= self.features.len()
            && fixed.iter().zip(&self.features).all(|(fixed, feature)| fixed.name == feature.name)
            && (self.marks.is_empty() || self.recipe.missing == Missing::Mean)
    }
}

/// Whether a bucket of a hash is a part of a feature.
fn is_bucket(name: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    name.split(':').any(|part| part.rsplit_once('#').is_some_and(|(_, number)| digits(number)))
}

/// The features that both have whatever the data, then what turned up in either, by name.
fn union(mine: &[Feature], theirs: &[Feature], fixed: usize) -> Vec<Feature> {
    let mut found: BTreeMap<&str, Feature> = BTreeMap::new();
    for feature in mine[fixed..].iter().chain(&theirs[fixed..]) {
        let all = found.entry(&feature.name).or_insert_with(|| Feature::new(feature.name.clone()));
        feature.examples.iter().for_each(|example| all.add_example(example));
    }
    mine[..fixed].iter().cloned().chain(found.into_values()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of one row, of two numbers.
    fn summed(model: &str) -> Summary {
        let recipe = Recipe::without_data(model.parse().unwrap()).unwrap();
        let mut summary = Summary::empty(Origin::events(), recipe);
        let row: Vec<(usize, f64)> = (0..summary.products.width()).map(|column| (column, 1.0)).collect();
        summary.products.add_row(&row, 1.0);
        (summary.rows, summary.weight_squares) = (1, 1.0);
        summary.files.insert("a.csv".to_owned(), 1);
        summary
    }

    #[test]
    fn sums_that_are_too_large_and_features_of_one_name_are_said() {
        let whole = summed("N(x) + N(y)");
        whole.check().unwrap();
        let said = |change: &dyn Fn(&mut Summary)| {
            let mut changed = whole.clone();
            change(&mut changed);
            changed.check().unwrap_err().to_string()
        };
        let large = |column: usize, value: f64| {
            said(&|summary| {
                summary.products.add_row(&[(column, value)], 1.0);
            })
        };
        assert_eq!(large(FEATURES + 1, 1e100), "the numbers of `y` are too large to be summed up");
        assert_eq!(large(FEATURES, 1e200), "the numbers of `x` are too large to be summed up");
        assert_eq!(large(REWARD, 1e160), "the numbers of `reward` are too large to be summed up");
        // Each square can be finite where a sum of products is not.
        assert_eq!(
            said(&|summary| summary.largest = f64::INFINITY),
            "the sums of these rows contradict each other, as their numbers are too large"
        );
        assert_eq!(
            said(&|summary| summary.features[1] = summary.features[0].clone()),
            "two features are called `x`"
        );
        assert_eq!(
            Summary::empty(Origin::events(), Recipe::without_data("0".parse().unwrap()).unwrap())
                .check()
                .unwrap_err()
                .to_string(),
            "the model has no features"
        );
    }

    #[test]
    fn names_in_sentences_are_between_backticks_once() {
        let mut plain = summed("N(x)");
        let odd = summed("N(`odd name`)");
        assert_eq!(
            plain.merge(&odd).unwrap_err().to_string(),
            "the summaries have different models: `N(x)` and N(`odd name`)"
        );
        assert_eq!(
            odd.check_live(&plain).unwrap_err(),
            "its model has no term N(`odd name`), but that of the logs has"
        );
        let mut cut = odd.clone();
        cut.recipe.cuts.insert("bins(`odd name`, 3)".to_owned(), vec![1.0, 2.0]);
        assert_eq!(
            cut.check_live(&odd).unwrap_err(),
            "bins(`odd name`, 3) has other places in the two summaries; read the logs of one of them as the other was read"
        );
    }
}
