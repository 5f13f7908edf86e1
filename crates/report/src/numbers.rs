//! Numbers as people write them, for figures, pages and terminals.
//!
//! | function | of what | 0.012345 | 1234.5 |
//! |---|---|---|---|
//! | [`number`] | anything on a page | 0.0123 | 1,230 |
//! | [`short`] | a value beside its mark in a figure | 0.0123 | 1,234 |
//! | [`amount`] | rows or rounds on a page | < 0.1 | 1,230 |
//! | [`about`] | rows or rounds in a sentence | 0 | 1,230 |
//! | [`brief`] | anything in a sentence | 0.0123 | 1230 |
//! | [`tabular`] | a column of one kind in a terminal | 0.012 | 1,234 |
//! | [`significant`] | a column of many sizes in a terminal | 0.0123 | 1234 |
//!
//! Sentences and terminals have plain characters, pages and figures a true minus and powers of ten.

/// What is written where there is no number.
pub const NONE: &str = "–";

/// A count with its thousands apart: 17,044.
pub fn count(value: u64) -> String {
    thousands(&value.to_string())
}

/// One or several: `1 feature`, `2,000 features`.
pub fn many(value: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(value), if value == 1 { "" } else { "s" })
}

/// Three digits that count: 0.123, 4.56, 78.9, 1,230, 1.23×10⁹.
pub fn number(value: f64) -> String {
    // What rounds up to 1000 is 1000.
    if value.is_finite() { readable(value, three_digits(value), -4.0) } else { NONE.to_owned() }
}

/// Three digits that count and all digits before the point: 0.123, 4.56, 78.9, 80,123, 1.23×10⁹.
pub fn short(value: f64) -> String {
    readable(value, value, -3.0)
}

/// Three digits at least: of `shown`, or of `value` in units of a power of ten where that is below the smallest.
fn readable(value: f64, shown: f64, smallest: f64) -> String {
    match shown.abs().log10().floor() {
        f64::NEG_INFINITY => "0".to_owned(),
        exponent if (smallest..7.0).contains(&exponent) => trimmed(&plain(shown, decimals(exponent, 3))),
        exponent => scientific(value, exponent, 2),
    }
}

/// Rows or rounds, which nobody counts in thousandths.
pub fn amount(value: f64) -> String {
    match value {
        value if !value.is_finite() => NONE.to_owned(),
        none if none <= 0.0 => "0".to_owned(),
        few if few < 0.1 => "< 0.1".to_owned(),
        some if some < 10.0 => plain(some, 1).trim_end_matches(".0").to_owned(),
        many => number(many),
    }
}

/// Rows or rounds in a sentence: 3.1, 42, 17,000.
pub fn about(value: f64) -> String {
    if value < 10.0 {
        return format!("{}", (value * 10.0).round() / 10.0);
    }
    let step = 10f64.powf((value.log10() - 2.0).floor().max(0.0));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
    count(((value / step).round() * step).round() as u64)
}

/// Three digits for a sentence: 0.5, -12.3, 123000, 1.00e-9.
pub fn brief(value: f64) -> String {
    let step = 10f64.powf(2.0 - value.abs().log10().floor());
    extreme(value, 1e-4).unwrap_or_else(|| format!("{}", (value * step).round() / step))
}

/// Three digits for a column of numbers of any size: 0.500, -12.3, 123456, 1.00e-9.
pub fn significant(value: f64) -> String {
    let decimals = decimals(value.abs().log10().floor(), 3);
    extreme(value, 1e-5).unwrap_or_else(|| format!("{value:.decimals$}"))
}

/// Three digits or so for a column of numbers of one kind: 0.123, 4.56, 78.9, -1,234.
pub fn tabular(value: f64) -> String {
    if !value.is_finite() || value.abs() >= 1e15 {
        return format!("{value:.3e}");
    }
    let exponent = value.abs().log10().floor().max(-1.0);
    plain(value, decimals(exponent, 3)).replace('−', "-")
}

/// Two digits: a standard error beside a [`tabular`] number needs no more.
pub fn error(value: f64) -> String {
    let size = value.abs();
    if size >= 10.0 {
        return tabular(value.round()).trim_end_matches(".0").to_owned();
    }
    format!("{value:.*}", decimals(size.log10().floor().max(-2.0), 2))
}

/// A value with its standard error, both to the error's second digit: −0.031 ± 0.004.
pub fn with_error(value: f64, stderr: f64) -> String {
    if !(value.is_finite() && stderr.is_finite() && stderr > 0.0) {
        return number(value);
    }
    let exponent = value.abs().max(stderr).log10().floor();
    if (-3.0..7.0).contains(&exponent) {
        // At most six decimals, at least a digit of the value where the error is far smaller.
        let of_error = stderr.log10().floor();
        let places = decimals(of_error, 2).min(decimals(exponent, 4)).min(6);
        let error = plain(stderr, places.max(decimals(of_error, 1).min(6)));
        return format!("{} ± {error}", plain(value, places));
    }
    let unit = 10f64.powf(exponent);
    if !(unit.is_normal() && (value / unit).is_finite()) {
        return "0".to_owned();
    }
    format!("({} ± {})×10{}", plain(value / unit, 2), plain(stderr / unit, 2), superscript(exponent))
}

/// A change with its sign, to the third digit of `unit`: what is far below it is nothing.
pub fn change(value: f64, unit: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let exponent = unit.abs().log10().floor();
    let text = match value.abs().max(unit.abs()).log10() {
        plain_size if exponent >= -3.0 && plain_size < 7.0 => plain(value, decimals(exponent, 3)),
        _ if value.abs() < 5e-4 * unit.abs() => "0".to_owned(),
        _ => number(value),
    };
    match (is_nothing(&text), value > 0.0) {
        (true, _) => "0".to_owned(),
        (false, true) => format!("+{text}"),
        (false, false) => text,
    }
}

/// Whole percents, but neither nothing nor everything where that is not so; `space` stands before each sign.
pub fn percent(share: f64, space: &str) -> String {
    match 100.0 * share {
        unknown if unknown.is_nan() => NONE.to_owned(),
        none if none <= 0.0 => format!("0{space}%"),
        few if few < 1.0 => format!("<{space}1{space}%"),
        most if most > 99.0 && most < 100.0 => format!(">{space}99{space}%"),
        whole => format!("{:.0}{space}%", whole.min(100.0)),
    }
}

/// A level or a probability: 5 %, 0.1 %.
pub fn share(value: f64) -> String {
    format!("{}\u{a0}%", number(100.0 * value))
}

/// A p-value with so many decimals: 0.012, <0.001.
pub fn p_value(value: f64, decimals: usize) -> String {
    let smallest = 1.0 / 10f64.powf(decimals as f64);
    match value {
        unknown if unknown.is_nan() => NONE.to_owned(),
        tiny if tiny < smallest => format!("<{smallest:.decimals$}"),
        value => format!("{value:.decimals$}"),
    }
}

/// Fixed decimals, thousands apart, a true minus, and no minus before nothing.
pub(crate) fn plain(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let minus = if value < 0.0 && !is_nothing(&text) { "−" } else { "" };
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    format!("{minus}{}{rest}", thousands(whole))
}

/// A number in units of 10 to the power of `exponent`: 1.23×10⁹, 10⁻⁵.
pub(crate) fn scientific(value: f64, exponent: f64, decimals: usize) -> String {
    let power = superscript(exponent);
    match value / 10f64.powf(exponent) {
        // Powers of subnormal numbers have no inverse.
        infinite if infinite.is_infinite() => "0".to_owned(),
        mantissa => match plain(mantissa, decimals).as_str() {
            "1" => format!("10{power}"),
            mantissa => format!("{mantissa}×10{power}"),
        },
    }
}

/// Decimals that show so many digits of a number whose first one stands for 10 to the power of `exponent`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 12")]
pub(crate) fn decimals(exponent: f64, digits: u32) -> usize {
    (f64::from(digits) - 1.0 - exponent).clamp(0.0, 12.0) as usize
}

/// Nothing, and numbers that are better written with a power of ten, as terminals have it.
fn extreme(value: f64, smallest: f64) -> Option<String> {
    match value.abs() {
        0.0 => Some("0".to_owned()),
        size if (smallest..1e6).contains(&size) => None,
        _ => Some(format!("{value:.2e}")),
    }
}

fn three_digits(value: f64) -> f64 {
    let unit = 10f64.powf(value.abs().log10().floor() - 2.0);
    let rounded = (value / unit).round() * unit;
    if unit.is_normal() && rounded.is_finite() { rounded } else { value }
}

fn thousands(digits: &str) -> String {
    let groups = (0..digits.len()).rev().step_by(3).map(|last| &digits[last.saturating_sub(2)..=last]);
    groups.rev().collect::<Vec<_>>().join(",")
}

fn trimmed(text: &str) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }.to_owned()
}

fn is_nothing(text: &str) -> bool {
    !text.chars().any(|digit| ('1'..='9').contains(&digit))
}

fn superscript(exponent: f64) -> String {
    let raised = |letter: char| "⁻⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth("-0123456789".find(letter)?);
    format!("{exponent:.0}").chars().filter_map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_and_agree_with_their_noun() {
        let counts = [0, 999, 1000, 17_044, 1_234_567].map(count);
        assert_eq!(counts, ["0", "999", "1,000", "17,044", "1,234,567"]);
        let shown = [0, 1, 10, 999, 1000, 1_234_567].map(|count| many(count, "row"));
        assert_eq!(shown, ["0 rows", "1 row", "10 rows", "999 rows", "1,000 rows", "1,234,567 rows"]);
        assert_eq!([many(1, "row"), many(1200, "row")], ["1 row", "1,200 rows"]);
    }

    #[test]
    fn numbers_have_three_digits() {
        let shown = [0.0, 0.123_44, 4.567, 78.94, 999.6, 1234.5, 80_123.0, -0.012_34].map(number);
        assert_eq!(shown, ["0", "0.123", "4.57", "78.9", "1,000", "1,230", "80,100", "−0.0123"]);
        let extreme = [1e30, -2.5e-30, 1e-320, f64::MAX, f64::NAN, f64::INFINITY].map(number);
        assert_eq!(extreme[..2], ["1.00×10³⁰", "−2.50×10⁻³⁰"]);
        assert_eq!(extreme[4..], ["–", "–"]);
        assert_eq!(extreme[3], "1.80×10³⁰⁸");
    }

    #[test]
    fn short_numbers_keep_three_digits() {
        let shown = [80_123.0, 0.5, 12.34, 0.0, -0.012_34, 1.5e9].map(short);
        assert_eq!(shown, ["80,123", "0.5", "12.3", "0", "−0.0123", "1.50×10⁹"]);
    }

    #[test]
    fn amounts_are_not_counted_in_thousandths() {
        let shown = [-1e-9, 0.0, 1e-30, 0.25, 3.0, 12.34, 12_345.0].map(amount);
        assert_eq!(shown, ["0", "0", "< 0.1", "0.2", "3", "12.3", "12,300"]);
    }

    #[test]
    fn sentences_have_numbers_as_people_write_them() {
        let about = [0.0, 0.04, 3.1234, 42.4, 17_044.0, 1e30].map(about);
        assert_eq!(about, ["0", "0", "3.1", "42", "17,000", "18,446,744,073,709,551,615"]);
        let numbers = [0.0, 0.123_456, -12.3456, 123_456.0, 1e-9].map(brief);
        assert_eq!(numbers, ["0", "0.123", "-12.3", "123000", "1.00e-9"]);
    }

    #[test]
    fn columns_have_numbers_of_about_three_digits() {
        let shown = [0.0, 0.1234, 4.567, 78.94, 999.4, 1234.5, 1_234_567.0, -1234.0].map(tabular);
        assert_eq!(shown, ["0.000", "0.123", "4.57", "78.9", "999", "1,234", "1,234,567", "-1,234"]);
        assert_eq!([tabular(999.7), tabular(-1e-9), tabular(f64::INFINITY)], ["1,000", "0.000", "inf"]);
        let shown = [0.0, 0.5, -12.345, 123_456.0, 1e-9, f64::NAN].map(significant);
        assert_eq!(shown, ["0", "0.500", "-12.3", "123456", "1.00e-9", "NaN"]);
        let shown = [0.0, 0.0123, 0.123, 1.23, 12.3, 99.7, 1234.5, f64::NAN].map(error);
        assert_eq!(shown, ["0.000", "0.012", "0.12", "1.2", "12", "100", "1,235", "NaN"]);
    }

    #[test]
    fn an_error_decides_how_many_digits_are_shown() {
        assert_eq!(with_error(-0.031_234, 0.004_1), "−0.0312 ± 0.0041");
        assert_eq!(with_error(1e-17, 0.01), "0.000 ± 0.010");
        assert_eq!(with_error(-1e-17, 0.01), "0.000 ± 0.010");
        assert_eq!(with_error(123.4, 12.3), "123 ± 12");
        assert_eq!(with_error(1e-30, 2e-31), "(1.00 ± 0.20)×10⁻³⁰");
        assert_eq!(with_error(2e30, 1e29), "(2.00 ± 0.10)×10³⁰");
        assert_eq!(with_error(0.5, f64::NAN), "0.5");
        assert_eq!(with_error(f64::NAN, 1.0), "–");
        assert!(with_error(0.5, 1e-12).starts_with("0.5"));
    }

    #[test]
    fn changes_have_signs_and_no_noise() {
        let shown = [0.0123, -0.0123, 1e-17, 0.0].map(|value| change(value, 0.3));
        assert_eq!(shown, ["+0.012", "−0.012", "0", "0"]);
        assert_eq!(
            [change(1e30, 1e-30), change(1e-40, 1e-30), change(-2e-30, 1e-30)],
            ["+1.00×10³⁰", "0", "−2.00×10⁻³⁰"]
        );
        assert_eq!([change(5.0, 0.0), change(f64::NAN, 1.0)], ["+5", "–"]);
    }

    #[test]
    fn shares_are_neither_nothing_nor_everything_unless_they_are() {
        let shares = [0.0, 1e-9, 0.42, 0.9999, 1.0];
        let shown = shares.map(|share| percent(share, "\u{a0}"));
        assert_eq!(shown, ["0\u{a0}%", "<\u{a0}1\u{a0}%", "42\u{a0}%", ">\u{a0}99\u{a0}%", "100\u{a0}%"]);
        assert_eq!(shares.map(|share| percent(share, "")), ["0%", "<1%", "42%", ">99%", "100%"]);
        assert_eq!([share(0.05), share(0.001)], ["5\u{a0}%", "0.1\u{a0}%"]);
        assert_eq!(
            [p_value(1e-30, 3), p_value(0.0421, 3), p_value(0.0421, 4)],
            ["<0.001", "0.042", "0.0421"]
        );
    }
}
