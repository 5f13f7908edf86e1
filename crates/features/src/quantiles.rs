//! Quantiles of numbers that come in any order and in any parts: the same whatever the order and the parts are.
//!
//! Numbers are counted by their leading bits: by all of them as long as there are few values, so that quantiles are exact, and
//! by one bit less whenever there are too many. How many bits are left is a function of all numbers together, not of how
//! they came: of fewer numbers there are never more values.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Values that are told apart.
const MOST: usize = 1 << 16;

/// Counts of numbers by value, or by values that are near each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Quantiles {
    /// Trailing bits that are not looked at.
    hidden: u32,
    /// By the other bits: how many numbers there are, and the smallest of them.
    counts: FxHashMap<u64, (u64, u64)>,
}

impl Quantiles {
    pub(crate) fn add(&mut self, number: f64) {
        let ordered = ordered(number);
        self.count(ordered, 1);
        self.shrink();
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.hide(other.hidden);
        for &(count, smallest) in other.counts.values() {
            self.count(smallest, count);
        }
        self.shrink();
    }

    fn count(&mut self, ordered: u64, count: u64) {
        let kept = self.counts.entry(ordered >> self.hidden).or_insert((0, ordered));
        *kept = (kept.0 + count, kept.1.min(ordered));
    }

    fn shrink(&mut self) {
        while self.counts.len() > MOST {
            self.hide(self.hidden + 1);
        }
    }

    /// Looks at no more than the bits before these.
    fn hide(&mut self, bits: u32) {
        if bits > self.hidden {
            self.hidden = bits;
            for (count, smallest) in std::mem::take(&mut self.counts).into_values() {
                self.count(smallest, count);
            }
        }
    }

    /// The smallest number, and the numbers so many steps of so many on the way from it to the largest.
    pub(crate) fn at(&self, steps: impl Iterator<Item = (u32, u32)>) -> Option<(f64, Vec<f64>)> {
        let sorted: BTreeMap<u64, u64> =
            self.counts.values().map(|&(count, smallest)| (smallest, count)).collect();
        let mut below = 0;
        // How many numbers there are up to each.
        let ends: Vec<(u64, f64)> = sorted
            .into_iter()
            .map(|(smallest, count)| {
                below += count;
                (below, number(smallest))
            })
            .collect();
        let first = ends.first()?.1;
        let place = |(step, steps): (u32, u32)| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a list")]
            let place = ((below - 1) as f64 * f64::from(step) / f64::from(steps)).round() as u64;
            let place = ends.partition_point(|&(end, _)| end <= place);
            ends[place.min(ends.len() - 1)].1
        };
        Some((first, steps.map(place).collect()))
    }
}

/// The bits of a number, so that of two numbers the larger one has the larger bits; negative zero is zero.
fn ordered(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn number(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 { ordered & !(1 << 63) } else { !ordered })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: impl IntoIterator<Item = f64>) -> Quantiles {
        let mut quantiles = Quantiles::default();
        numbers.into_iter().for_each(|number| quantiles.add(number));
        quantiles
    }

    const THIRDS: [(u32, u32); 4] = [(0, 3), (1, 3), (2, 3), (3, 3)];

    #[test]
    fn quantiles_of_few_values_are_exact_with_signs_and_repetitions() {
        let (first, found) = of([3.0, -1.0, -0.0, 3.0, -7.5, 3.0, 0.0]).at(THIRDS.into_iter()).unwrap();
        assert!((first + 7.5).abs() < 1e-300);
        assert_eq!(found, [-7.5, 0.0, 3.0, 3.0]);
        assert!(of([]).at(THIRDS.into_iter()).is_none());
    }

    #[test]
    fn order_and_parts_change_nothing_however_many_values_there_are() {
        // No two of them are equal, and they are of different sizes.
        let wave = |row: u32| (f64::from(row) * 0.7).sin() * 1000.0 + f64::from(row % 7);
        let whole = of((0..200_000).map(wave));
        let mut parts = of((0..7).map(wave));
        parts.merge(&of((150_000..200_000).map(wave)));
        parts.merge(&of((7..150_000).rev().map(wave)));
        assert_eq!(whole, parts);
        assert!(whole.counts.len() <= MOST && whole.hidden > 0);
        let mut sorted: Vec<f64> = (0..200_000).map(wave).collect();
        sorted.sort_by(f64::total_cmp);
        let (_, found) = whole.at([(1, 4), (1, 2), (9, 10)].into_iter()).unwrap();
        for (found, share) in found.into_iter().zip([0.25, 0.5, 0.9]) {
            let rank = sorted.partition_point(|&number| number < found) as f64 / 2e5;
            assert!((rank - share).abs() < 1e-3, "{found} has the rank {rank}, not {share}");
        }
    }
}
