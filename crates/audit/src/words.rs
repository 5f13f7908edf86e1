//! Numbers and lists as sentences have them.

use truenorth_report::thousands;

/// A count with its thousands apart: 17,044.
pub(crate) fn count(value: u64) -> String {
    thousands(&value.to_string())
}

/// A number of rounds or rows: three digits are enough.
pub(crate) fn about(value: f64) -> String {
    if value < 10.0 {
        return format!("{}", (value * 10.0).round() / 10.0);
    }
    let step = 10f64.powf((value.log10() - 2.0).floor().max(0.0));
    count(whole((value / step).round() * step))
}

/// A number for a sentence: three digits.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    let digits = 2.0 - size.log10().floor();
    let step = 10f64.powf(digits);
    let rounded = (value * step).round() / step;
    format!("{rounded}")
}

/// A non-negative number as a count.
pub(crate) fn whole(value: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "casts saturate")]
    let whole = value.round() as u64;
    whole
}

/// All names up to 40, else the first 20 and how many more.
pub(crate) fn list(names: &[&str]) -> String {
    if names.len() <= 40 {
        return names.join(", ");
    }
    format!("{} and {} more", names[..20].join(", "), names.len() - 20)
}

/// One or several: `1 feature`, `2 features`.
pub(crate) fn many(value: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(value), if value == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        let counts = [0, 999, 1000, 17_044, 1_234_567].map(count);
        assert_eq!(counts, ["0", "999", "1,000", "17,044", "1,234,567"]);
        let about = [0.0, 0.04, 3.1234, 42.4, 17_044.0, 1e30].map(about);
        assert_eq!(about, ["0", "0", "3.1", "42", "17,000", "18,446,744,073,709,551,615"]);
        let numbers = [0.0, 0.123_456, -12.3456, 123_456.0, 1e-9].map(number);
        assert_eq!(numbers, ["0", "0.123", "-12.3", "123000", "1.00e-9"]);
        assert_eq!([many(1, "row"), many(1200, "row")], ["1 row", "1,200 rows"]);
        let names = vec!["x"; 53];
        assert!(list(&names).ends_with("x and 33 more") && list(&names[..3]) == "x, x, x");
    }
}
