//! The sums of rows while they are read.

use std::collections::BTreeMap;

use truenorth::CrossProducts;
use truenorth_features::Encoder;

use crate::batch::Batch;
use crate::tolerance::Tolerance;

/// Column of ones, whose sums are the count and the columns' totals.
pub(crate) const ONE: usize = 0;
/// Column of the reward.
pub(crate) const REWARD: usize = 1;
/// First column of the features.
pub(crate) const FEATURES: usize = 2;

/// Numbers are at most this large, so that no sum of squares overflows; the square of it.
const LARGEST_SQUARE: f64 = 1e100;

/// Rows that are summed up by themselves at least.
const RECENT: usize = 4096;

/// Sums over rows.
pub(crate) struct Tally {
    /// Ones, reward, the features that are there whatever the data, then features and marks as they turn up.
    sums: CrossProducts,
    /// The sums of the last rows. Small sums of few rows are added to large ones: adding millions of rows to one sum, one by
    /// one, would round all of them, often the same way, and the digits would depend on how rows are parted.
    recent: CrossProducts,
    recent_rows: usize,
    /// Products that were added to the recent sums.
    recent_products: usize,
    /// The columns of features.
    pub(crate) features: Vec<usize>,
    /// The columns of marks: the feature that lacks means, and whose.
    pub(crate) marks: BTreeMap<(u32, Vec<String>), usize>,
    /// Which columns are marks.
    is_mark: Vec<bool>,
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
    pub(crate) fn new(fixed: usize, tolerance: Tolerance) -> Self {
        Self {
            sums: CrossProducts::new(FEATURES + fixed),
            recent: CrossProducts::new(0),
            recent_rows: 0,
            recent_products: 0,
            features: (FEATURES..FEATURES + fixed).collect(),
            marks: BTreeMap::new(),
            is_mark: Vec::new(),
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

    /// Adds a batch that a collector has checked, with the encoder that has made its features.
    pub(crate) fn add_batch(&mut self, batch: &Batch, encoder: &Encoder) {
        let columns: Vec<&[f64]> = batch.columns.iter().map(Vec::as_slice).collect();
        let complete = batch.ends.is_empty() && !batch.columns.iter().flatten().any(|x| x.is_nan());
        if complete && self.add_columns(&columns, &batch.rewards) {
            return;
        }
        while self.features.len() < encoder.features().len() {
            self.features.push(self.sums.width());
            self.sums.grow(self.sums.width() + 1);
        }
        for row in 0..batch.len() {
            self.entries.clear();
            let (found, gaps, weight) = batch.found(row);
            for (place, column) in (0_u32..).zip(&columns) {
                if column[row].is_nan() {
                    let name = encoder.features()[place as usize].name.clone();
                    let mark = self.mark(place, vec![name]);
                    self.entries.push((mark, 1.0));
                } else if column[row] != 0.0 {
                    self.entries.push((self.features[place as usize], column[row]));
                }
            }
            self.entries
                .extend(found.iter().map(|&(feature, value)| (self.features[feature as usize], value)));
            // Two levels may share a bucket; their values add up.
            self.entries.sort_unstable_by_key(|&(column, _)| column);
            let own = self.entries.len();
            for gap in gaps {
                let names = encoder.gap_names(gap.set).map(str::to_owned).collect();
                let mark = self.mark(gap.feature, names);
                self.entries.push((mark, gap.value));
            }
            self.entries[own..].sort_unstable_by_key(|&(column, _)| column);
            self.entries.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
            let is_mark = |column: usize| self.is_mark.get(column).is_some_and(|is_mark| *is_mark);
            let squares = self.entries.iter().filter(|&&(column, _)| !is_mark(column));
            self.largest = self.largest.max(squares.map(|(_, value)| value * value).sum());
            self.entries.extend([(ONE, 1.0), (REWARD, batch.rewards[row])]);
            if self.recent.width() < self.sums.width() {
                self.recent.grow(self.sums.width());
            }
            self.recent.add_row(&self.entries, weight);
            self.recent_rows += 1;
            self.recent_products += self.entries.len() * self.entries.len();
            self.rows += 1;
            self.weight_squares += weight * weight;
        }
        // Adding the sums up takes a small part of the time that the rows took.
        let width = self.sums.width();
        if self.recent_rows >= RECENT && self.recent_products >= 4 * width * width {
            self.settle();
        }
    }

    fn settle(&mut self) {
        self.sums.add(&self.recent);
        self.recent = CrossProducts::new(0);
        (self.recent_rows, self.recent_products) = (0, 0);
    }

    /// The sums of all rows.
    pub(crate) fn sums(&mut self) -> &mut CrossProducts {
        if self.recent_rows > 0 {
            self.settle();
        }
        &mut self.sums
    }

    /// The column of a feature's missing means.
    fn mark(&mut self, feature: u32, names: Vec<String>) -> usize {
        *self.marks.entry((feature, names)).or_insert_with(|| {
            let column = self.sums.width();
            self.sums.grow(column + 1);
            self.is_mark.resize(column, false);
            self.is_mark.push(true);
            column
        })
    }
}
