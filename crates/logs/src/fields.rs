//! What sums say about the fields of a model that was made from the data.

use std::collections::BTreeSet;

use truenorth_features::Factor;

use crate::summary::Summary;
use crate::tally::{FEATURES, ONE, REWARD};

/// Squared correlation from which on a number nearly tells the reward.
const NEARLY: f64 = 0.9;
/// With fewer rows than this, a field is constant or like the reward by chance.
const FEW: u64 = 50;

/// A field as the sum of the features of its term: a number is crossed with the levels of a category, of which each row has one.
struct Column {
    mean: f64,
    square: f64,
    /// Mean of the products with the reward.
    product: f64,
    /// Levels of a category; 1 of a number.
    levels: usize,
}

impl Column {
    fn variance(&self) -> f64 {
        variance(self.mean, self.square)
    }
}

/// 0 where rounding is all there is.
fn variance(mean: f64, square: f64) -> f64 {
    let variance = square - mean * mean;
    if variance > 1e-12 * square { variance } else { 0.0 }
}

impl Summary {
    /// Fields with the same value in every row, but for the action's id, without which nothing would be left.
    pub fn constant_fields(&self) -> Vec<&str> {
        let mut fields = self.fields_that(|column| column.levels <= 1 && column.variance() == 0.0);
        fields.retain(|field| self.recipe.id.as_deref() != Some(field));
        fields
    }

    /// Numbers that nearly tell the reward.
    pub fn fields_like_the_reward(&self) -> Vec<&str> {
        let [mean, square] = [ONE, REWARD].map(|other| self.mean_product(REWARD, other));
        let spread = variance(mean, square);
        self.fields_that(|column| {
            let (variance, covariance) = (column.variance(), column.product - column.mean * mean);
            variance > 0.0 && spread > 0.0 && covariance.powi(2) > NEARLY * variance * spread
        })
    }

    fn fields_that(&self, holds: impl Fn(&Column) -> bool) -> Vec<&str> {
        let model = &self.recipe.model;
        let makers = model.makers(self.features.iter().map(|feature| feature.name.as_str()));
        let fields = model.fields().into_iter().filter(|_| self.rows >= FEW);
        fields.filter(|field| self.column(field, &makers).is_some_and(|column| holds(&column))).collect()
    }

    /// None where a category is hashed. What makes each feature is told.
    fn column(&self, field: &str, makers: &[Option<usize>]) -> Option<Column> {
        let terms = &self.recipe.model.terms;
        let term = terms.iter().position(|term| term.parts()[0].name() == Some(field))?;
        let names = terms[term].parts().into_iter().map(Factor::name).collect::<Option<Vec<_>>>()?;
        let hashed = matches!(terms[term].0[..], [Factor::Hash(..)]);
        if hashed && self.recipe.categories().contains(&field) {
            return None;
        }
        let own = (0..makers.len()).filter(|&place| makers[place] == Some(term));
        let (features, places): (Vec<&str>, Vec<usize>) =
            own.map(|place| (self.features[place].name.as_str(), FEATURES + place)).unzip();
        let behind = names.get(1).map(|name| format!(":{name}="));
        let level = |name: &&'_ str| {
            let end = behind.as_ref().and_then(|behind| name.rfind(behind)).unwrap_or(name.len());
            name[..end].to_owned()
        };
        let sum = |other: usize| places.iter().map(|&place| self.mean_product(place, other)).sum();
        let levels = features.iter().map(level).collect::<BTreeSet<_>>().len();
        Some(Column {
            mean: sum(ONE),
            square: places.iter().map(|&place| sum(place)).sum(),
            product: sum(REWARD),
            levels: if hashed { 1 } else { levels },
        })
    }

    fn mean_product(&self, one: usize, other: usize) -> f64 {
        self.products.get(one, other) / self.products.get(ONE, ONE)
    }
}
