//! The sums of rows while they are read.

use truenorth::CrossProducts;

use crate::batch::Batch;
use crate::tolerance::{Missing, Tolerance};

/// Column of ones, whose sums are the count and the columns' totals.
pub(crate) const ONE: usize = 0;
/// Column of the reward.
pub(crate) const REWARD: usize = 1;
/// First column of the features.
pub(crate) const FEATURES: usize = 2;

/// Numbers are at most this large, so that no sum of squares overflows; the square of it.
const LARGEST_SQUARE: f64 = 1e100;

/// Sums over rows.
pub(crate) struct Tally {
    /// Ones, reward, columns of numbers, their missing values if those are to be the mean, what turned up.
    pub(crate) sums: CrossProducts,
    numbers: usize,
    /// Where the features begin that are not columns of numbers.
    pub(crate) first_discovered: usize,
    tolerance: Tolerance,
    pub(crate) rows: u64,
    /// Σ w²
    pub(crate) weight_squares: f64,
    /// Squared length of the longest row.
    pub(crate) largest: f64,
    ones: Vec<f64>,
    entries: Vec<(usize, f64)>,
}

impl Tally {
    pub(crate) fn new(numbers: usize, tolerance: Tolerance) -> Self {
        let marks = if tolerance.missing == Missing::Mean { numbers } else { 0 };
        let first_discovered = FEATURES + numbers + marks;
        Self {
            sums: CrossProducts::new(first_discovered),
            numbers,
            first_discovered,
            tolerance,
            rows: 0,
            weight_squares: 0.0,
            largest: 0.0,
            ones: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// Adds rows that are all numbers, given column by column; none of them if a number is not finite, too
    /// large or a reward out of range, which is for someone else to find.
    pub(crate) fn add_columns(&mut self, features: &[&[f64]], rewards: &[f64]) -> bool {
        let rows = rewards.len();
        self.ones.resize(self.ones.len().max(rows), 1.0);
        let mut columns = Vec::with_capacity(FEATURES + features.len());
        columns.extend([&self.ones[..rows], rewards]);
        columns.extend(features);
        let mut block = CrossProducts::new(columns.len());
        block.add_columns(&columns);
        // A sum of squares shows what is wrong with a single number.
        if !(0..columns.len()).all(|i| block.get(i, i) <= LARGEST_SQUARE)
            || !rewards.iter().all(|&reward| self.tolerance.check_reward(reward).is_ok())
        {
            return false;
        }
        self.largest = self.largest.max(CrossProducts::longest_square(features));
        self.sums.add(&block);
        self.rows += rows as u64;
        self.weight_squares += rows as f64;
        true
    }

    /// Adds a batch that a collector has checked; this many features have turned up so far.
    pub(crate) fn add_batch(&mut self, batch: &Batch, discovered: usize) {
        let complete = batch.ends.is_empty() && !batch.columns.iter().flatten().any(|x| x.is_nan());
        let columns: Vec<&[f64]> = batch.columns.iter().map(Vec::as_slice).collect();
        if complete && self.add_columns(&columns, &batch.rewards) {
            return;
        }
        self.sums.grow(self.first_discovered + discovered);
        for row in 0..batch.len() {
            self.entries.clear();
            for (i, column) in columns.iter().enumerate() {
                if column[row].is_nan() {
                    self.entries.push((FEATURES + self.numbers + i, 1.0));
                } else if column[row] != 0.0 {
                    self.entries.push((FEATURES + i, column[row]));
                }
            }
            let (found, weight) = batch.found(row);
            let first = self.first_discovered;
            self.entries.extend(found.iter().map(|&(feature, value)| (first + feature, value)));
            // Two levels may share a bucket; their values add up.
            self.entries.sort_unstable_by_key(|&(column, _)| column);
            self.entries.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
            let missing = FEATURES + self.numbers..first;
            let squares = self.entries.iter().filter(|(column, _)| !missing.contains(column));
            self.largest = self.largest.max(squares.map(|(_, value)| value * value).sum());
            self.entries.extend([(ONE, 1.0), (REWARD, batch.rewards[row])]);
            self.sums.add_row(&self.entries, weight);
            self.rows += 1;
            self.weight_squares += weight * weight;
        }
    }
}
