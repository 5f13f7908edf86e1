//! Which values an axis names, and how it writes them.

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
    let mut parts = count;
    loop {
        let step = step(high - low, parts);
        let (first, last) = ((low / step - 1e-6).ceil(), (high / step + 1e-6).floor());
        if last > first || parts > 64 {
            let values: Vec<f64> = std::iter::successors(Some(first), |index| Some(index + 1.0))
                .take_while(|&index| index <= last)
                .map(|index| if index == 0.0 { 0.0 } else { index * step })
                .collect();
            let write = writer(&values, step, labels);
            return values.into_iter().map(|value| Tick { value, label: write(value) }).collect();
        }
        parts = 2 * parts + 1;
    }
}

/// Labelled ticks of a logarithmic axis between two exponents, and the places of the small ones.
pub(crate) fn log(low: f64, high: f64, count: usize, labels: Labels) -> (Vec<Tick>, Vec<f64>) {
    let (first, last) = ((low - 1e-6).ceil(), (high + 1e-6).floor());
    let powers = last - first + 1.0;
    let stride = (powers / count.max(2) as f64).ceil().max(1.0);
    let exponents = || std::iter::successors(Some(first - 1.0), |index| Some(index + 1.0));
    let inside = |exponent: &f64| (low - 1e-6..=high + 1e-6).contains(exponent);
    let multiples = |factors: &'static [f64]| -> Vec<f64> {
        exponents()
            .take_while(|&exponent| exponent <= last)
            .flat_map(|exponent| factors.iter().map(move |factor| factor * power(exponent)))
            .filter(|value| inside(&value.log10()))
            .collect()
    };
    let values = if powers >= 3.0 {
        exponents()
            .skip(1)
            .take_while(|&exponent| exponent <= last)
            .filter(|exponent| (exponent - first).rem_euclid(stride) < 0.5)
            .map(power)
            .collect()
    } else if high - low > 0.7 {
        multiples(if powers >= 2.0 { &[1.0, 3.0] } else { &[1.0, 2.0, 5.0] })
    } else {
        Vec::new()
    };
    if values.len() < 2 {
        return (linear(10f64.powf(low), 10f64.powf(high), count.min(4), labels), Vec::new());
    }
    let minor = match powers {
        few if few <= 6.0 => multiples(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
        _ => multiples(&[1.0]),
    };
    let ticks =
        values.iter().map(|&value| Tick { value, label: write_log(value, labels, &values) }).collect();
    (ticks, minor)
}

/// A number by itself, with three digits that count.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e7).contains(&size) {
        return scientific(value, size.log10().floor(), 2);
    }
    let decimals = [(100.0, 0), (10.0, 1), (1.0, 2), (0.1, 3), (0.01, 4)];
    let decimals = decimals.iter().find(|(from, _)| size >= *from).map_or(5, |(_, decimals)| *decimals);
    let text = grouped(value, decimals);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
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
        _ => grouped(value / unit.0, decimals(step / unit.0)) + unit.1,
    }
}

fn write_log(value: f64, labels: Labels, all: &[f64]) -> String {
    let plain = all.iter().all(|value| (0.9e-4..1.1e7).contains(value));
    let exponent = (value.log10() + 1e-9).floor();
    match labels {
        _ if !plain => scientific(value, exponent, 0),
        Labels::Compact if value >= 0.9e6 => grouped(value / 1e6, 0) + "M",
        Labels::Compact if value >= 0.9e3 => grouped(value / 1e3, 0) + "k",
        Labels::Compact | Labels::Grouped => grouped(value, decimals(power(exponent))),
        Labels::Percent => grouped(100.0 * value, decimals(100.0 * power(exponent))) + "%",
    }
}

/// Decimals that tell multiples of a step apart.
fn decimals(step: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 12")]
    let decimals = (-(step.log10() + 1e-6).floor()).clamp(0.0, 12.0) as usize;
    decimals
}

fn scientific(value: f64, exponent: f64, decimals: usize) -> String {
    let digits: String = format!("{exponent:.0}").chars().map(superscript).collect();
    match grouped(value / power(exponent), decimals).as_str() {
        "1" => format!("10{digits}"),
        mantissa => format!("{mantissa}×10{digits}"),
    }
}

fn superscript(digit: char) -> char {
    match digit {
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁻',
    }
}

/// Groups of three digits before the point, and a true minus.
fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    format!("{}{}{rest}", if value < 0.0 { "−" } else { "" }, thousands(whole))
}

/// Digits with their thousands apart: 17,044.
pub fn thousands(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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

    #[test]
    fn short_numbers_keep_three_digits() {
        let cases = [
            (80_123.0, "80,123"),
            (0.5, "0.5"),
            (12.34, "12.3"),
            (0.0, "0"),
            (-0.012_34, "−0.0123"),
            (1.5e9, "1.50×10⁹"),
        ];
        assert!(
            cases.iter().all(|(value, text)| short(*value) == *text),
            "{:?}",
            cases.map(|(v, _)| short(v))
        );
    }
}
