//! Numbers and names for people.

use truenorth_report::thousands;

/// What is written where there is no number.
pub(super) const NONE: &str = "–";

/// Three digits that count: 0.123, 4.56, 78.9, 1,230, 1.23×10⁹.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return NONE.to_owned();
    }
    if size == 0.0 {
        return "0".to_owned();
    }
    // What rounds up to 1000 is 1000.
    let exponent = rounded(size).log10().floor();
    if !(-4.0..7.0).contains(&exponent) {
        let mantissa = value / 10f64.powf(exponent);
        // Powers of subnormal numbers have no inverse.
        return if mantissa.is_finite() {
            format!("{}×10{}", plain(mantissa, 2), superscript(exponent))
        } else {
            "0".to_owned()
        };
    }
    let text = plain(rounded(size).copysign(value), decimals(exponent, 3));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A whole number with its thousands apart; of billions, three digits.
pub(super) fn whole(count: u64) -> String {
    if count >= 10_000_000_000 {
        return number(count as f64);
    }
    thousands(&count.to_string())
}

/// How many there are of something: 1 round, 1,234 rounds.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", whole(count), if count == 1 { "" } else { "s" })
}

/// Rows or rounds, which nobody counts in thousandths.
pub(super) fn amount(value: f64) -> String {
    match value {
        value if !value.is_finite() => NONE.to_owned(),
        none if none <= 0.0 => "0".to_owned(),
        few if few < 0.1 => "< 0.1".to_owned(),
        some if some < 10.0 => plain(some, 1).trim_end_matches(".0").to_owned(),
        many => number(many),
    }
}

/// A value with its standard error, both to the error's second digit: −0.031 ± 0.004.
pub(super) fn with_error(value: f64, stderr: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    if !(stderr.is_finite() && stderr > 0.0) {
        return number(value);
    }
    let exponent = value.abs().max(stderr).log10().floor();
    if (-3.0..7.0).contains(&exponent) {
        // At most six decimals, at least a digit of the value where the error is far smaller.
        let places = decimals(stderr.log10().floor(), 2).min(decimals(exponent, 4)).min(6);
        return format!(
            "{} ± {}",
            plain(value, places),
            plain(stderr, places.max(decimals(stderr.log10().floor(), 1).min(6)))
        );
    }
    let unit = 10f64.powf(exponent);
    if !(unit.is_normal() && (value / unit).is_finite()) {
        return "0".to_owned();
    }
    format!("({} ± {})×10{}", plain(value / unit, 2), plain(stderr / unit, 2), superscript(exponent))
}

/// A change with its sign, to the third digit of `unit`: what is far below it is nothing.
pub(super) fn change(value: f64, unit: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let exponent = unit.abs().log10().floor();
    let text = match value.abs().max(unit.abs()).log10() {
        plain_size if exponent >= -3.0 && plain_size < 7.0 => plain(value, decimals(exponent, 3)),
        _ if value.abs() < 5e-4 * unit.abs() => "0".to_owned(),
        _ => number(value),
    };
    let nothing = !text.chars().any(|digit| ('1'..='9').contains(&digit));
    match (nothing, value > 0.0) {
        (true, _) => "0".to_owned(),
        (false, true) => format!("+{text}"),
        (false, false) => text,
    }
}

/// Whole percents, but neither nothing nor everything where that is not so.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        unknown if unknown.is_nan() => NONE.to_owned(),
        none if none <= 0.0 => "0\u{a0}%".to_owned(),
        few if few < 1.0 => "<\u{a0}1\u{a0}%".to_owned(),
        most if most > 99.0 && most < 100.0 => ">\u{a0}99\u{a0}%".to_owned(),
        whole => format!("{:.0}\u{a0}%", whole.min(100.0)),
    }
}

/// A level or a probability: 5 %, 0.1 %.
pub(super) fn share(value: f64) -> String {
    format!("{}\u{a0}%", number(100.0 * value))
}

/// p = 0.012, p < 0.001.
pub(super) fn p_value(value: f64) -> String {
    match value {
        unknown if unknown.is_nan() => format!("p\u{a0}=\u{a0}{NONE}"),
        tiny if tiny < 0.001 => "p\u{a0}<\u{a0}0.001".to_owned(),
        value => format!("p\u{a0}=\u{a0}{value:.3}"),
    }
}

/// A name that is not longer than this many letters.
pub(super) fn shortened(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    let kept: String = name.chars().take(letters.saturating_sub(1)).collect();
    kept.trim_end().to_owned() + "…"
}

/// a, b and c.
pub(super) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The first few of a list, and how many more there are.
pub(super) fn some_of(items: &[String], most: usize) -> String {
    if items.len() <= most + 1 {
        return listed(items);
    }
    format!("{} and {} more", items[..most].join(", "), items.len() - most)
}

/// A direction by its largest weights: 0.8 price − 0.5 season + ….
pub(super) fn direction(weights: &[f64], names: &[&str], terms: usize, letters: usize) -> String {
    let mut order: Vec<usize> =
        (0..weights.len().min(names.len())).filter(|&i| weights[i].is_finite()).collect();
    order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
    let largest = order.first().map_or(0.0, |&first| weights[first].abs());
    if largest <= 0.0 {
        return NONE.to_owned();
    }
    // A direction and its opposite are the same: the largest weight is positive.
    let sign = weights[order[0]].signum();
    let total: f64 = order.iter().map(|&i| weights[i] * weights[i]).sum();
    let (mut text, mut told, mut used) = (String::new(), 0.0, 0);
    for &i in order.iter().take(terms).filter(|&&i| weights[i].abs() >= 0.25 * largest) {
        let weight = sign * weights[i];
        let size = format!("{:.1}", weight.abs());
        let size = match size.as_str() {
            "1.0" => String::new(),
            "0.0" => format!("{:.2} ", weight.abs()),
            _ => size + " ",
        };
        let joint = match (text.is_empty(), weight < 0.0) {
            (true, _) => "",
            (false, true) => " − ",
            (false, false) => " + ",
        };
        text.push_str(joint);
        text.push_str(&size);
        text.push_str(&shortened(names[i], letters));
        told += weights[i] * weights[i];
        used += 1;
    }
    if used < order.len() && told < 0.8 * total {
        text.push_str(" + …");
    }
    text
}

fn rounded(size: f64) -> f64 {
    let unit = 10f64.powf(size.log10().floor() - 2.0);
    let rounded = (size / unit).round() * unit;
    if unit.is_normal() && rounded.is_finite() { rounded } else { size }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 12")]
fn decimals(exponent: f64, digits: u32) -> usize {
    (f64::from(digits) - 1.0 - exponent).clamp(0.0, 12.0) as usize
}

/// Fixed decimals, thousands apart, a true minus, and no minus before nothing.
fn plain(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let minus = value < 0.0 && text.chars().any(|digit| ('1'..='9').contains(&digit));
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    format!("{}{}{rest}", if minus { "−" } else { "" }, thousands(whole))
}

fn superscript(exponent: f64) -> String {
    let digit = |letter: char| match letter.to_digit(10) {
        Some(digit) => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize],
        None => '⁻',
    };
    format!("{exponent:.0}").chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn amounts_are_not_counted_in_thousandths() {
        let shown = [-1e-9, 0.0, 1e-30, 0.25, 3.0, 12.34, 12_345.0].map(amount);
        assert_eq!(shown, ["0", "0", "< 0.1", "0.2", "3", "12.3", "12,300"]);
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
        let shown = [0.0, 1e-9, 0.42, 0.9999, 1.0].map(percent);
        assert_eq!(shown, ["0\u{a0}%", "<\u{a0}1\u{a0}%", "42\u{a0}%", ">\u{a0}99\u{a0}%", "100\u{a0}%"]);
        assert_eq!([share(0.05), share(0.001)], ["5\u{a0}%", "0.1\u{a0}%"]);
        assert_eq!([p_value(1e-30), p_value(0.0421)], ["p\u{a0}<\u{a0}0.001", "p\u{a0}=\u{a0}0.042"]);
    }

    #[test]
    fn directions_are_named_by_their_largest_weights() {
        let names = ["f_hsin1", "f_hcos2", "f_temp"];
        assert_eq!(direction(&[0.5, -0.8, 0.1], &names, 3, 20), "0.8 f_hcos2 − 0.5 f_hsin1");
        assert_eq!(direction(&[0.0, 1.0, 0.0], &names, 3, 20), "f_hcos2");
        assert_eq!(direction(&[0.6, 0.6, 0.5], &names, 2, 20), "0.6 f_hsin1 + 0.6 f_hcos2 + …");
        assert_eq!(direction(&[0.0; 3], &names, 3, 20), "–");
        assert_eq!(direction(&[0.05; 400], &vec!["x"; 400], 1, 20), "0.1 x + …");
    }

    #[test]
    fn lists_are_sentences() {
        let items: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        assert_eq!(listed(&items[..1]), "a");
        assert_eq!(listed(&items[..3]), "a, b and c");
        assert_eq!(some_of(&items, 2), "a, b and 2 more");
        assert_eq!(some_of(&items, 3), "a, b, c and d");
        assert_eq!(shortened("größer als alles", 7), "größer…");
        assert_eq!([counted(1, "row"), counted(12_345, "row")], ["1 row", "12,345 rows"]);
        assert_eq!(whole(u64::MAX), "1.84×10¹⁹");
    }
}
