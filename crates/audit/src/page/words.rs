//! Numbers and names for people.

use truenorth_report::numbers;
pub(super) use truenorth_report::numbers::{NONE, amount, change, number, share, with_error};

/// A whole number with its thousands apart; of billions, three digits.
pub(super) fn whole(count: u64) -> String {
    if count >= 10_000_000_000 {
        return number(count as f64);
    }
    numbers::count(count)
}

/// How many there are of something: 1 round, 1,234 rounds.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", whole(count), if count == 1 { "" } else { "s" })
}

/// Whole percents, but neither nothing nor everything where that is not so.
pub(super) fn percent(share: f64) -> String {
    numbers::percent(share, "\u{a0}")
}

/// p = 0.012, p < 0.001.
pub(super) fn p_value(value: f64) -> String {
    let text = numbers::p_value(value, 3);
    match text.strip_prefix('<') {
        Some(bound) => format!("p\u{a0}<\u{a0}{bound}"),
        None => format!("p\u{a0}=\u{a0}{text}"),
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

/// A name that fits: of one that does not, the beginning and the end, which tell it from others.
pub(super) fn abridged(name: &str, fits: impl Fn(&str) -> bool) -> String {
    let all: Vec<char> = name.chars().collect();
    let cut = |letters: usize| -> String {
        let (start, end) = (&all[..letters / 2], &all[all.len() + 1 + letters / 2 - letters..]);
        start.iter().chain(&['…']).chain(end).collect()
    };
    if fits(name) {
        name.to_owned()
    } else {
        (2..all.len()).rev().map(cut).find(|cut| fits(cut)).unwrap_or_default()
    }
}

/// A direction by its largest weights: 0.8 price − 0.5 season + …. Names stay whole: of terms that do not fit the last ones
/// go, and a name is abridged only where it does not fit by itself.
pub(super) fn direction(
    weights: &[f64],
    names: &[&str],
    terms: usize,
    fits: impl Fn(&str) -> bool,
) -> String {
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
    let (mut text, mut told) = (String::new(), 0.0);
    let mut shown = String::new();
    for (used, &i) in order.iter().take(terms).filter(|&&i| weights[i].abs() >= 0.25 * largest).enumerate() {
        let weight = sign * weights[i];
        let size = match format!("{:.1} ", weight.abs()).as_str() {
            "1.0 " => String::new(),
            "0.0 " => format!("{:.2} ", weight.abs()),
            size => size.to_owned(),
        };
        let joint = match (text.is_empty(), weight < 0.0) {
            (true, _) => "",
            (false, true) => " − ",
            (false, false) => " + ",
        };
        told += weights[i] * weights[i];
        let more = if used + 1 < order.len() && told < 0.8 * total { " + …" } else { "" };
        let with = |name: &str| format!("{text}{joint}{size}{name}{more}");
        let name = if used == 0 { abridged(names[i], |name| fits(&with(name))) } else { names[i].to_owned() };
        let longer = with(&name);
        if used > 0 && !fits(&longer) {
            break;
        }
        text = format!("{text}{joint}{size}{name}");
        shown = longer;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_neither_nothing_nor_everything_unless_they_are() {
        let shown = [0.0, 1e-9, 0.42, 0.9999, 1.0].map(percent);
        assert_eq!(shown, ["0\u{a0}%", "<\u{a0}1\u{a0}%", "42\u{a0}%", ">\u{a0}99\u{a0}%", "100\u{a0}%"]);
        assert_eq!([p_value(1e-30), p_value(0.0421)], ["p\u{a0}<\u{a0}0.001", "p\u{a0}=\u{a0}0.042"]);
    }

    #[test]
    fn directions_are_named_by_their_largest_weights() {
        let names = ["f_hsin1", "f_hcos2", "f_temp"];
        let letters = |most: usize| move |text: &str| text.chars().count() <= most;
        assert_eq!(direction(&[0.5, -0.8, 0.1], &names, 3, letters(30)), "0.8 f_hcos2 − 0.5 f_hsin1");
        assert_eq!(direction(&[0.0, 1.0, 0.0], &names, 3, letters(30)), "f_hcos2");
        assert_eq!(direction(&[0.6, 0.6, 0.5], &names, 2, letters(30)), "0.6 f_hsin1 + 0.6 f_hcos2 + …");
        assert_eq!(direction(&[0.6, 0.6, 0.5], &names, 2, letters(28)), "0.6 f_hsin1 + …");
        assert_eq!(direction(&[0.0; 3], &names, 3, letters(30)), "–");
        assert_eq!(direction(&[0.05; 400], &vec!["x"; 400], 1, letters(30)), "0.1 x + …");
        // No name is cut while another one can go.
        let long = ["segment=student:item=news", "segment=student:item=sport", "x"];
        assert_eq!(direction(&[0.7, 0.6, 0.1], &long, 2, letters(40)), "0.7 segment=student:item=news + …");
        assert_eq!(direction(&[0.0, 1.0, 0.0], &long, 2, letters(11)), "segme…sport");
        assert_eq!(direction(&[0.7, 0.6, 0.1], &long, 2, letters(19)), "0.7 segme…=news + …");
        assert_eq!(abridged("f_temp", letters(6)), "f_temp");
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
