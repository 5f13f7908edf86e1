//! Raw values, and the level that a value is where it is taken as a category.

use std::borrow::Cow;

/// Largest size of a number: its square and a sum of squares stay finite.
pub const LARGEST: f64 = 1e50;

/// A raw value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// Nothing: a null, an empty cell.
    Missing,
    /// A number.
    Number(f64),
    /// True or false.
    Truth(bool),
    /// Text, even if its letters are digits: a string of JSON, a column of text.
    Text(&'a str),
    /// A cell of CSV, which says nothing of its kind: whatever its letters look like.
    Cell(&'a str),
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Numbers, which are features as they are.
    Number,
    /// Texts or truth values, of which each level is a feature.
    Category,
}

impl<'a> Value<'a> {
    /// What a cell is, by its letters; any other value is what it is.
    #[must_use]
    #[inline]
    pub fn typed(self) -> Self {
        if let Self::Cell(text) = self { Self::of_cell(text.trim()) } else { self }
    }

    /// The level that it is; none where nothing is there.
    pub fn level(self) -> Option<String> {
        Some(match self {
            Self::Missing => return None,
            Self::Number(number) => number_level(number),
            Self::Truth(truth) => truth.to_string(),
            Self::Text(text) | Self::Cell(text) => text.trim().to_owned(),
        })
        .filter(|level| !level.is_empty())
    }

    fn of_cell(text: &'a str) -> Self {
        if is_missing(text) {
            Self::Missing
        } else if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
            Self::Truth(text.len() == 4)
        } else {
            text.parse().map_or(Self::Text(text), Self::Number)
        }
    }
}

/// Whether these letters mean that a number is not there.
pub fn is_missing(text: &str) -> bool {
    const WORDS: [&str; 8] = ["", "na", "n/a", "nan", "null", "none", "nil", "-"];
    text.len() <= 4 && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether these letters are a number but for its comma, as in 1,5 or 12,000.
pub(crate) fn has_comma(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mut parts, number) =
        (digits.split(','), |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()));
    parts.all(|part| !part.is_empty() && number(part)) && digits.contains(',')
}

/// What to do about a value that is not a number, if that is plain: the end of a sentence.
pub fn comma_hint(text: &str) -> &'static str {
    let hint = "; numbers have a decimal point and nothing between thousands";
    if has_comma(text.trim()) { hint } else { "" }
}

/// The level that a text is: without spaces around it, and where it is a number or a truth value, written as every
/// program writes those: `1.0` is `1`, and `True` is `true`. `007` and `1e5` are names, and stay what they are.
pub fn level(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false") {
        return Cow::Owned(text.to_ascii_lowercase());
    }
    // Programs write very small numbers with an exponent, and only numbers.
    if (text.contains("e-") || text.contains("E-") || text.starts_with('.') || text.ends_with('.'))
        && text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '-' | '.'))
        && let Ok(number) = text.parse::<f64>()
    {
        return Cow::Owned(number_level(number));
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let Some((whole, fraction)) = digits.split_once('.') else {
        return Cow::Borrowed(if text == "-0" { "0" } else { text });
    };
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) || whole.len() > 1 && whole.starts_with('0') {
        return Cow::Borrowed(text);
    }
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => Cow::Borrowed("0"),
        short => Cow::Borrowed(short),
    }
}

/// Whether two texts are the same level.
pub fn is_same(one: &str, other: &str) -> bool {
    level(one) == level(other)
}

/// The level that a number is.
pub fn number_level(number: f64) -> String {
    // Negative zero is zero.
    (number + 0.0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_value_is_the_same_level_however_it_is_written() {
        for (text, same) in [
            (" 1 ", "1"),
            ("1.0", "1"),
            ("1.50", "1.5"),
            ("-0.0", "0"),
            ("-0", "0"),
            ("0.10", "0.1"),
            ("TRUE", "true"),
            ("False", "false"),
            ("007", "007"),
            ("00.5", "00.5"),
            ("1e5", "1e5"),
            ("1.2.3", "1.2.3"),
            ("v1.0", "v1.0"),
            ("10", "10"),
            ("1e-05", "0.00001"),
            (".5", "0.5"),
            ("1.", "1"),
            ("100.0", "100"),
        ] {
            assert_eq!(level(text), same);
        }
        for number in [1.0, -2.5, 0.1, 1e15, -0.0, 123_456.789] {
            assert_eq!(level(&number.to_string()), number_level(number));
            assert_eq!(level(&format!("{number:?}")), number_level(number), "{number:?}");
        }
    }

    #[test]
    fn cells_are_what_they_look_like() {
        for (cell, value) in [
            ("1.5", Value::Number(1.5)),
            (" true", Value::Truth(true)),
            ("FALSE", Value::Truth(false)),
            ("", Value::Missing),
            ("n/a", Value::Missing),
            ("red", Value::Text("red")),
        ] {
            assert_eq!(Value::Cell(cell).typed(), value);
        }
        assert_eq!(Value::Text("1").typed(), Value::Text("1"));
    }
}
