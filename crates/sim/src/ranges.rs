//! What each number of an experiment must be, by the name it has in files and messages.

use std::ops::RangeInclusive;

/// Names, what their numbers must be, and the same in figures. Typing errors of a few zeros are told here, not by a
/// machine that runs out of memory; the library refuses numbers above 1e50 in size.
const RANGES: [(&str, &str, RangeInclusive<f64>); 11] = [
    ("dimension phases", "a whole number from 1 to 10000", 1.0..=1e4),
    ("actions", "a whole number from 1 to 100000", 1.0..=1e5),
    // Every run is a job in memory before the first one starts.
    ("runs", "a whole number from 1 to 1000000", 1.0..=1e6),
    ("log_rows counts", "a whole number from 0 to 1000000000", 0.0..=1e9),
    ("horizon phase_rounds turn_rounds", "a whole number of at least 1", 1.0..=f64::INFINITY),
    ("seed", "a whole number of at least 0", 0.0..=f64::INFINITY),
    ("norm_bound", "\"truth\" or a number from 0 to 1e50", 0.0..=1e50),
    ("ridge", "a number from 1e-50 to 1e50", 1e-50..=1e50),
    // The smallest number above 0, and the largest below 1.
    ("delta", "a number strictly between 0 and 1", f64::from_bits(1)..=1.0_f64.next_down()),
    ("epsilon", "a number from 0 to 1", 0.0..=1.0),
    ("noise offset diversity quiet spread exploration_scale", "a number from 0 to 1e50", 0.0..=1e50),
];

/// The range of a number in words, and in figures.
pub(crate) fn range(name: &str) -> (&'static str, RangeInclusive<f64>) {
    let known = RANGES.into_iter().find(|(names, ..)| names.split(' ').any(|known| known == name));
    known.map_or(("a number of at most 1e50 in size", -1e50..=1e50), |(_, words, range)| (words, range))
}
