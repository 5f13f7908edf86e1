//! An event as the policy sees it: a row of numbers for each action.

use truenorth::{Actions, Policy};
use truenorth_features::{Event, LARGEST, Recipe, Rows};

use crate::bandit::Bandit;
use crate::error::{Error, Result, shown};

/// How long the id of an action may be, in bytes.
const LONGEST_ACTION: usize = 1000;
/// Numbers in the rows of one event.
const MOST_NUMBERS: usize = 50_000_000;

/// An event as the policy sees it.
pub(crate) struct Round {
    /// Features of each action that are not 0, in their order, without the intercept.
    pub(crate) rows: Vec<Vec<(u32, f64)>>,
    /// The same with the intercept, as the policy takes them: where each row starts, columns, values.
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
    /// Hash of ids and rows.
    pub(crate) content: u128,
}

impl Round {
    /// The actions, for a policy of as many features.
    pub(crate) fn actions(&self, policy: &Policy) -> truenorth::Result<Actions<'_>> {
        Actions::sparse(&self.starts, &self.columns, &self.values, policy.dimension())
    }
}

impl Bandit {
    /// Makes the rows of an event.
    pub(crate) fn round(&mut self, event: &Event) -> Result<Round> {
        if event.is_empty() {
            return Err(Error::invalid("the event has no `actions` to choose from"));
        }
        let mut encoded = Rows::default();
        self.encoder.rows(event, &mut encoded)?;
        let recipe = self.encoder.recipe();
        let width = width(recipe, self.encoder.features().len());
        // A policy that is not sparse fills the rows up.
        let all = width.saturating_mul(event.len());
        if all > MOST_NUMBERS && !self.policy.is_sparse() {
            return Err(Error::invalid(format!(
                "{} actions with {width} features each are more than {MOST_NUMBERS} numbers",
                event.len()
            )));
        }
        let (mut rows, mut starts) = (Vec::with_capacity(event.len()), Vec::with_capacity(event.len() + 1));
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        starts.push(0);
        let mut hash = Hash::default();
        for action in 0..event.len() {
            let id = event.id(action);
            check_action(id)?;
            let row = self.merged(encoded.row(action), id)?;
            spread(&row, recipe.model.intercept, &mut columns, &mut values);
            starts.push(values.len());
            hash.text(id);
            hash.word(row.len() as u64);
            for &(feature, value) in &row {
                hash.word(feature.into());
                hash.word(value.to_bits());
            }
            rows.push(row);
        }
        Ok(Round { rows, starts, columns, values, content: hash.0 })
    }

    /// The entries of a row in the order of features, each once.
    pub(crate) fn merged(&self, entries: &[(u32, f64)], action: &str) -> Result<Vec<(u32, f64)>> {
        let mut row = entries.to_vec();
        row.sort_by_key(|&(feature, _)| feature);
        row.dedup_by(|next, first| {
            let same = next.0 == first.0;
            first.1 += if same { next.1 } else { 0.0 };
            same
        });
        row.retain(|&(_, value)| value != 0.0);
        match row.iter().find(|(_, value)| !is_usable(*value)) {
            None => Ok(row),
            Some(&(feature, value)) => Err(Error::invalid(format!(
                "feature `{}` of action {} is {value:e}, but must be finite and at most 1e50 in size",
                self.encoder.features()[feature as usize].name,
                shown(action)
            ))),
        }
    }
}

/// Features of a policy: a place is kept where there is none yet.
pub(crate) fn width(recipe: &Recipe, features: usize) -> usize {
    (usize::from(recipe.model.intercept) + features).max(1)
}

/// Adds a row's columns and values, behind those of the intercept.
pub(crate) fn spread(row: &[(u32, f64)], intercept: bool, columns: &mut Vec<usize>, values: &mut Vec<f64>) {
    if intercept {
        columns.push(0);
        values.push(1.0);
    }
    columns.extend(row.iter().map(|&(feature, _)| usize::from(intercept) + feature as usize));
    values.extend(row.iter().map(|&(_, value)| value));
}

pub(crate) fn is_usable(number: f64) -> bool {
    number.abs() <= LARGEST
}

pub(crate) fn check_action(id: &str) -> Result<()> {
    if id.len() <= LONGEST_ACTION {
        return Ok(());
    }
    let long = id.len();
    Err(Error::invalid(format!(
        "the id of action {} has {long} bytes, but may have {LONGEST_ACTION}",
        shown(id)
    )))
}

/// A hash of 128 bits: a product and a shift a word, each of which can be undone, so that contents which differ in one word
/// never meet.
#[derive(Default)]
pub(crate) struct Hash(pub(crate) u128);

impl Hash {
    pub(crate) fn word(&mut self, word: u64) {
        let product = (self.0 ^ u128::from(word)).wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645);
        // Zeros would be lost without an addition.
        self.0 = (product ^ (product >> 64)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    }

    fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        for bytes in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            self.word(u64::from_le_bytes(word));
        }
    }
}
