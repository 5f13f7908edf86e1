//! The sums of rows while they are read.

use truenorth::{CrossProducts, longest_square};

use crate::batch::Batch;

/// Column of ones, whose sums are the count and the columns' totals.
pub(crate) const ONE: usize = 0;
/// Column of the reward.
pub(crate) const REWARD: usize = 1;
/// First column of the features.
pub(crate) const FEATURES: usize = 2;

/// Numbers are at most this large, so that no sum of squares overflows; the square of it.
const LARGEST_SQUARE: f64 = 1e100;

/// Sums over rows: ones, reward, columns of numbers, their missing values, and what turned up.
pub(crate) struct Tally {
    /// Sums of rows that are all numbers: ones, reward, columns of numbers.
    dense: CrossProducts,
    /// Sums of all other rows: the same columns, then what `first_discovered` tells.
    sparse: CrossProducts,
    numbers: usize,
    /// Whether missing numbers have columns of their own, behind the numbers.
    marks_missing: bool,
    pub(crate) rows: u64,
    /// Σ w²
    pub(crate) weight_squares: f64,
    /// Squared length of the longest row.
    pub(crate) largest: f64,
    ones: Vec<f64>,
    entries: Vec<(usize, f64)>,
}

impl Tally {
    pub(crate) fn new(numbers: usize, marks_missing: bool) -> Self {
        Self {
            dense: CrossProducts::new(FEATURES + numbers),
            sparse: CrossProducts::new(FEATURES + numbers * if marks_missing { 2 } else { 1 }),
            numbers,
            marks_missing,
            rows: 0,
            weight_squares: 0.0,
            largest: 0.0,
            ones: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// Where the features begin that are not columns of numbers.
    pub(crate) fn first_discovered(&self) -> usize {
        FEATURES + self.numbers * if self.marks_missing { 2 } else { 1 }
    }

    /// Adds rows that are all numbers, given column by column; none of them if a number is not finite or
    /// too large, which is for someone else to find.
    pub(crate) fn add_columns(&mut self, features: &[&[f64]], rewards: &[f64]) -> bool {
        let rows = rewards.len();
        self.ones.resize(self.ones.len().max(rows), 1.0);
        let mut columns = Vec::with_capacity(FEATURES + features.len());
        columns.extend([&self.ones[..rows], rewards]);
        columns.extend(features);
        let mut block = CrossProducts::new(columns.len());
        block.add_columns(&columns);
        // A sum of squares shows what is wrong with a single number.
        if !(0..columns.len()).all(|i| block.get(i, i) <= LARGEST_SQUARE) {
            return false;
        }
        self.largest = self.largest.max(longest_square(features));
        let positions: Vec<usize> = (0..columns.len()).collect();
        self.dense.merge(&block, &positions);
        self.rows += rows as u64;
        self.weight_squares += rows as f64;
        true
    }

    /// Adds a batch that a collector has checked.
    pub(crate) fn add_batch(&mut self, batch: &Batch, discovered: usize) {
        let complete = batch.levels.is_empty() && !batch.columns.iter().flatten().any(|x| x.is_nan());
        let columns: Vec<&[f64]> = batch.columns.iter().map(Vec::as_slice).collect();
        if complete && self.add_columns(&columns, &batch.rewards) {
            return;
        }
        let first = self.first_discovered();
        self.sparse.grow(first + discovered);
        for row in 0..batch.len() {
            self.entries.clear();
            for (i, column) in columns.iter().enumerate() {
                if column[row].is_nan() {
                    self.entries.push((FEATURES + self.numbers + i, 1.0));
                } else if column[row] != 0.0 {
                    self.entries.push((FEATURES + i, column[row]));
                }
            }
            let levels = batch.levels.iter().filter_map(|column| column[row]);
            self.entries.extend(levels.map(|level| (first + level, 1.0)));
            self.add_entries(batch.rewards[row], 1.0);
        }
    }

    /// Adds a row of features that turned up, by their numbers in the vocabulary.
    pub(crate) fn add_event(
        &mut self,
        features: &[(usize, f64)],
        reward: f64,
        weight: f64,
        discovered: usize,
    ) {
        let first = self.first_discovered();
        self.sparse.grow(first + discovered);
        self.entries.clear();
        self.entries.extend(features.iter().map(|&(feature, value)| (first + feature, value)));
        self.add_entries(reward, weight);
    }

    fn add_entries(&mut self, reward: f64, weight: f64) {
        // Two levels may share a bucket; their values add up.
        self.entries.sort_unstable_by_key(|&(column, _)| column);
        self.entries.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let missing = FEATURES + self.numbers..self.first_discovered();
        let squares = self.entries.iter().filter(|(column, _)| !missing.contains(column));
        self.largest = self.largest.max(squares.map(|(_, value)| value * value).sum());
        self.entries.extend([(ONE, 1.0), (REWARD, reward)]);
        self.sparse.add_row(&self.entries, weight);
        self.rows += 1;
        self.weight_squares += weight * weight;
    }

    /// All sums; columns as in the sparse part.
    pub(crate) fn products(mut self, discovered: usize) -> CrossProducts {
        self.sparse.grow(self.first_discovered() + discovered);
        let positions: Vec<usize> = (0..self.dense.width()).collect();
        self.sparse.merge(&self.dense, &positions);
        self.sparse
    }
}
