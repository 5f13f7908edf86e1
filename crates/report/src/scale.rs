//! From values to places on an axis.

use crate::ticks::{self, Labels, Tick};

/// How values are spread over an axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AxisScale {
    /// Logarithmic if no value is negative and the largest positive final mean is more than 30 times
    /// the smallest, linear otherwise. The x axis of curves is linear.
    #[default]
    Auto,
    /// Equal steps for equal differences.
    Linear,
    /// Equal steps for equal ratios. Zeros, negative values and values below the smallest one that the
    /// axis shows are drawn on its lower edge, whose tick then says `≤`.
    Log,
}

/// Room around the values of a logarithmic axis, unless it ends where they do.
pub(crate) const PAD: f64 = 0.02;
/// More than this between final means, and a linear axis hides the smaller ones.
const WIDE: f64 = 30.0;

impl AxisScale {
    /// The scale that `Auto` stands for, given every value and those that lines end at.
    pub(crate) fn resolve(self, all: &[f64], ends: &[f64]) -> Self {
        let positive = ends.iter().copied().filter(|&end| end > 0.0);
        let (low, high) = extent(positive);
        match self {
            Self::Auto if all.iter().all(|&value| value >= 0.0) && high > WIDE * low => Self::Log,
            Self::Auto => Self::Linear,
            chosen => chosen,
        }
    }
}

/// An axis: a range of values, and the ticks on it.
#[derive(Debug, Clone)]
pub(crate) struct Scale {
    pub(crate) log: bool,
    low: f64,
    high: f64,
    pub(crate) ticks: Vec<Tick>,
    /// Places of small ticks between the labelled ones of a logarithmic axis.
    pub(crate) minor: Vec<f64>,
}

impl Scale {
    /// A linear axis that ends at ticks and starts at zero where that costs less than half of it.
    pub(crate) fn rounded(values: &[f64], count: usize, labels: Labels) -> Self {
        let (low, high) = widened(extent(values.iter().copied()));
        let low = if low > 0.0 && low <= 0.5 * high { 0.0 } else { low };
        let high = if high < 0.0 && high >= 0.5 * low { 0.0 } else { high };
        let step = ticks::step(high - low, count);
        let (low, high) = ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step);
        Self::linear(low, high, count, labels)
    }

    /// A linear axis over exactly the range of the values. What comes in whole numbers has its ticks at some of them.
    pub(crate) fn tight(values: &[f64], count: usize, labels: Labels) -> Self {
        let (low, high) = widened(extent(values.iter().copied()));
        let whole = high - low >= 1.0 && values.iter().all(|value| value.fract() == 0.0);
        let fits = |parts: &usize| !whole || *parts as f64 <= high - low;
        Self::linear(low, high, (1..=count).rev().find(fits).unwrap_or(count), labels)
    }

    pub(crate) fn linear(low: f64, high: f64, count: usize, labels: Labels) -> Self {
        Self { log: false, low, high, ticks: ticks::linear(low, high, count, labels), minor: Vec::new() }
    }

    /// A logarithmic axis with this part of it as room around its values. Values below `floor` do not widen it.
    pub(crate) fn log(values: &[f64], floor: Option<f64>, pad: f64, count: usize, labels: Labels) -> Self {
        let (smallest, high) = extent(values.iter().copied().filter(|&value| value > 0.0));
        let (smallest, high) = if smallest > high { (1.0, 10.0) } else { (smallest, high) };
        let shown = floor.map_or(smallest, |floor| smallest.max(floor.min(high)));
        let clips = values.iter().any(|&value| value < shown);
        let (mut low, mut high) = (shown.log10(), high.log10());
        if clips {
            low = (low - 1e-9).floor();
        }
        if high - low < 0.3 {
            (low, high) = (if clips { low } else { low - 0.5 }, high + 0.5);
        }
        let pad = pad * (high - low);
        (low, high) = (if clips { low } else { low - pad }, high + pad);
        let (mut ticks, minor) = ticks::log(low, high, count, labels);
        // The edge is a power of ten, where ticks start.
        if clips && let Some(edge) = ticks.first_mut() {
            edge.label.insert_str(0, "≤ ");
        }
        Self { log: true, low, high, ticks, minor }
    }

    /// Where a value lies between the ends of the axis, 0 to 1; values outside lie on the nearer end.
    pub(crate) fn place(&self, value: f64) -> f64 {
        self.place_unbounded(value).clamp(0.0, 1.0)
    }

    /// Where a value lies, also beyond the ends: a line to there can be cut at the edge.
    pub(crate) fn place_unbounded(&self, value: f64) -> f64 {
        let value = match self.log {
            true if value > 0.0 => value.log10(),
            true => self.low,
            false => value,
        };
        (value - self.low) / (self.high - self.low)
    }

    /// The value at a place between the ends.
    pub(crate) fn value(&self, place: f64) -> f64 {
        let value = self.low + place * (self.high - self.low);
        if self.log { 10f64.powf(value) } else { value }
    }

    /// Without all ticks but the first and the last.
    pub(crate) fn thinned(mut self) -> Self {
        if self.ticks.len() > 2 {
            self.ticks.drain(1..self.ticks.len() - 1);
        }
        self
    }
}

/// Smallest and largest; infinity and minus infinity of nothing.
pub(crate) fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// A range with room around a single value.
fn widened((low, high): (f64, f64)) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    match high - low {
        span if span > 1e-9 * size && span > 1e-200 => (low, high),
        _ if size < 1e-200 => (0.0, 1.0),
        _ if low > 0.0 => (0.0, 1.25 * high),
        _ => (1.25 * low, 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn auto_is_logarithmic_only_for_wide_ranges_of_no_negative_value() {
        let resolve = |all: &[f64], ends: &[f64]| AxisScale::Auto.resolve(all, ends);
        assert_eq!(resolve(&[0.0, 0.3, 80.0], &[0.3, 80.0]), AxisScale::Log);
        assert_eq!(resolve(&[3.0, 80.0], &[3.0, 80.0]), AxisScale::Linear);
        assert_eq!(resolve(&[-1.0, 0.3, 80.0], &[0.3, 80.0]), AxisScale::Linear);
        assert_eq!(resolve(&[0.0], &[0.0]), AxisScale::Linear);
    }

    #[test]
    fn a_log_axis_labels_powers_of_ten_and_says_where_it_clips() {
        let scale = Scale::log(&[0.0, 0.3, 50_000.0], None, PAD, 6, Labels::Grouped);
        assert_eq!(labels(&scale), ["≤ 0.1", "1", "10", "100", "1,000", "10,000"]);
        let sparse = Scale::log(&[0.0, 0.3, 50_000.0], None, PAD, 3, Labels::Grouped);
        assert_eq!(labels(&sparse), ["≤ 0.1", "10", "1,000"]);
        assert!(scale.place(0.0).abs() < 1e-12);
        let open = Scale::log(&[1.0, 1000.0], None, PAD, 6, Labels::Grouped);
        assert_eq!(labels(&open), ["1", "10", "100", "1,000"]);
    }

    #[test]
    fn a_linear_axis_starts_at_zero_and_ends_at_a_tick() {
        let scale = Scale::rounded(&[1.0, 9.3], 5, Labels::Grouped);
        assert_eq!(labels(&scale), ["0", "2", "4", "6", "8", "10"]);
    }

    #[test]
    fn whole_numbers_have_whole_ticks() {
        let counted = |last: u32| {
            let values: Vec<f64> = (1..=last).map(f64::from).collect();
            Scale::tight(&values, 8, Labels::Compact)
        };
        assert_eq!(labels(&counted(2)), ["1", "2"]);
        assert_eq!(labels(&counted(4)), ["1", "2", "3", "4"]);
        assert_eq!(labels(&counted(18)), ["5", "10", "15"]);
        assert_eq!(labels(&Scale::tight(&[0.5, 2.0], 3, Labels::Compact)), ["0.5", "1.0", "1.5", "2.0"]);
    }

    #[test]
    fn single_values_have_an_axis_around_them() {
        for value in [0.0, 5.0, -5.0, 1e-300, 1e99] {
            for scale in [
                Scale::rounded(&[value], 5, Labels::Grouped),
                Scale::tight(&[value], 5, Labels::Compact),
                Scale::log(&[value], None, PAD, 5, Labels::Grouped),
            ] {
                assert!(scale.ticks.len() >= 2, "{value}: {scale:?}");
                assert!(scale.ticks.is_sorted_by(|a, b| a.value < b.value), "{value}: {scale:?}");
                assert!((0.0..=1.0).contains(&scale.place(value)));
            }
        }
    }
}
