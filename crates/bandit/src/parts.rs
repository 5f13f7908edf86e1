//! What a bandit is made from.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use truenorth::RidgeStatistic;
use truenorth_features::{Feature, Recipe};

use crate::error::{Error, Result};

/// What a bandit is made from.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// How features are made of raw values.
    pub recipe: Recipe,
    /// The features that are known so far, in the order of the logs' statistic, without the intercept.
    pub features: Vec<Feature>,
    /// What stands for a missing number, by the name of what is missing.
    pub means: BTreeMap<String, f64>,
    /// The logs; their first feature is the intercept, if the model has one.
    pub logs: Option<RidgeStatistic>,
    /// What may be remembered.
    pub limits: Limits,
}

impl Parts {
    /// A model alone: levels and features join as they come.
    pub fn without_logs(model: &str) -> Result<Self> {
        Ok(Self { recipe: Recipe::without_data(model.parse()?)?, ..Self::default() })
    }
}

/// What may be remembered.
///
/// | limit | default | purpose | range |
/// |---|---|---|---|
/// | `joining` | 1,000 | features that may join beside those it was made with; any beyond these share `term=other` | any |
/// | `open` | 100,000 | decisions that may wait for their rewards; the oldest expires. As many ids that wait no longer are remembered | at least 1 |
/// | `age` | 1,000,000 | rounds that a decision may wait, and that its id is remembered afterwards | at least 1 |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the table above documents the fields")]
pub struct Limits {
    pub joining: usize,
    pub open: usize,
    pub age: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { joining: 1000, open: 100_000, age: 1_000_000 }
    }
}

pub(crate) fn check_names(features: &[Feature]) -> Result<()> {
    let mut names: Vec<&str> = features.iter().map(|feature| &*feature.name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Error::invalid(format!("two features are called `{}`", pair[0]))),
    }
}
