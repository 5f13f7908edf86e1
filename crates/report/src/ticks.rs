//! Which values an axis names, and how it writes them.

use crate::numbers::{self, plain, scientific};

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Labels {
    /// 10,000
    Grouped,
    /// 10k
    Compact,
    /// 0.4 as 40%
    Percent,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: String,
}

/// The step of 1, 2 or 5 times a power of ten that makes about `count` parts of a span.
pub(crate) fn step(span: f64, count: usize) -> f64 {
    let rough = span / count.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let factor = match rough / power {
        ratio if ratio <= 1.01 => 1.0,
        ratio if ratio <= 2.02 => 2.0,
        ratio if ratio <= 5.05 => 5.0,
        _ => 10.0,
    };
    factor * power
}

/// Ticks at multiples of a round step, at least two.
pub(crate) fn linear(low: f64, high: f64, count: usize, labels: Labels) -> Vec<Tick> {
    let step = step(high - low, count);
    let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
    if first >= last && count <= 64 {
        return linear(low, high, 2 * count + 1, labels);
    }
    let multiple = |index: f64| if index == 0.0 { 0.0 } else { index * step };
    let values: Vec<f64> = whole(first, last).map(multiple).collect();
    let write = writer(&values, step, labels);
    values.into_iter().map(|value| Tick { value, label: write(value) }).collect()
}

/// Labelled ticks of a logarithmic axis between two exponents, and the places of the small ones.
pub(crate) fn log(low: f64, high: f64, count: usize, labels: Labels) -> (Vec<Tick>, Vec<f64>) {
    let (first, last) = ((low - 1e-6).ceil(), (high + 1e-6).floor());
    let multiples = |factors: &'static [f64]| -> Vec<f64> {
        let values = whole(first - 1.0, last)
            .flat_map(|exponent| factors.iter().map(move |factor| factor * power(exponent)));
        values.filter(|value| (low - 1e-6..=high + 1e-6).contains(&value.log10())).collect()
    };
    let powers = multiples(&[1.0]);
    let labelled = match powers.len() {
        3.. => powers.clone(),
        _ if high - low <= 0.7 => Vec::new(),
        2 => multiples(&[1.0, 3.0]),
        _ => multiples(&[1.0, 2.0, 5.0]),
    };
    let stride = powers.len().div_ceil(count.max(2)).max(1);
    let values: Vec<f64> = labelled.into_iter().step_by(stride).collect();
    if values.len() < 2 {
        return (linear(10f64.powf(low), 10f64.powf(high), count.min(4), labels), Vec::new());
    }
    let minor = if powers.len() <= 6 { multiples(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]) } else { powers };
    let ticks =
        values.iter().map(|&value| Tick { value, label: write_log(value, labels, &values) }).collect();
    (ticks, minor)
}

/// The whole numbers between two of them.
fn whole(first: f64, last: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(first), |index| Some(index + 1.0)).take_while(move |&index| index <= last)
}

/// 10 to a whole power; `powf` is inexact for negative ones.
fn power(exponent: f64) -> f64 {
    if exponent < 0.0 { 1.0 / 10f64.powf(-exponent) } else { 10f64.powf(exponent) }
}

/// How all ticks of a linear axis are written: one unit and one number of decimals.
fn writer(values: &[f64], step: f64, labels: Labels) -> impl Fn(f64) -> String + use<> {
    let largest = values.iter().fold(0.0, |size: f64, value| size.max(value.abs()));
    let unit = match labels {
        Labels::Percent => (0.01, "%"),
        Labels::Compact if (1e4..1e6).contains(&largest) => (1e3, "k"),
        Labels::Grouped if largest < 1e7 => (1.0, ""),
        _ if largest >= 1e9 => (1e9, "B"),
        _ if largest >= 1e6 => (1e6, "M"),
        _ => (1.0, ""),
    };
    let exponent = if largest > 0.0 { largest.log10().floor() } else { 0.0 };
    move |value| match value {
        0.0 if unit.1 != "%" => "0".to_owned(),
        _ if step < 1e-4 || largest >= 1e12 => scientific(value, exponent, decimals(step / power(exponent))),
        _ => plain(value / unit.0, decimals(step / unit.0)) + unit.1,
    }
}

fn write_log(value: f64, labels: Labels, all: &[f64]) -> String {
    let readable = all.iter().all(|value| (0.9e-4..1.1e7).contains(value));
    let exponent = (value.log10() + 1e-9).floor();
    match labels {
        _ if !readable => scientific(value, exponent, 0),
        Labels::Compact if value >= 0.9e6 => plain(value / 1e6, 0) + "M",
        Labels::Compact if value >= 0.9e3 => plain(value / 1e3, 0) + "k",
        _ => plain(value, decimals(power(exponent))),
    }
}

/// Decimals that tell multiples of a step apart.
fn decimals(step: f64) -> usize {
    numbers::decimals((step.log10() + 1e-6).floor(), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_share_their_decimals() {
        assert_eq!(written(&linear(0.0, 20_000.0, 4, Labels::Compact)), ["0", "5k", "10k", "15k", "20k"]);
        assert_eq!(written(&linear(0.0, 2000.0, 2, Labels::Compact)), ["0", "1,000", "2,000"]);
        assert_eq!(written(&linear(-1.0, 1.0, 4, Labels::Grouped)), ["−1.0", "−0.5", "0", "0.5", "1.0"]);
        assert_eq!(written(&linear(0.0, 1.0, 2, Labels::Percent)), ["0%", "50%", "100%"]);
        assert_eq!(written(&linear(0.0, 2e-5, 2, Labels::Grouped)), ["0", "10⁻⁵", "2×10⁻⁵"]);
    }

    #[test]
    fn log_ticks_thin_out_over_many_decades_and_multiply_within_one() {
        assert_eq!(written(&log(0.0, 6.0, 4, Labels::Compact).0), ["1", "100", "10k", "1M"]);
        assert_eq!(written(&log(-6.0, -4.0, 6, Labels::Grouped).0), ["10⁻⁶", "10⁻⁵", "10⁻⁴"]);
        assert_eq!(written(&log(0.1, 1.9, 6, Labels::Grouped).0), ["2", "5", "10", "20", "50"]);
        assert!(log(0.30, 0.35, 6, Labels::Grouped).0.len() >= 2);
    }
}
