//! The embedded font: how wide a text is, and the files that PNGs are drawn with.
//!
//! Widths leave kerning out, as the embedded files do. Every text of an SVG states its width
//! (`textLength`), so that a browser without the font squeezes its own into the same box.

use std::collections::HashMap;
use std::sync::LazyLock;

/// The families an SVG asks for: the embedded one, then what systems have.
pub(crate) const FAMILY: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// Height of a line of text, relative to its size.
pub(crate) const LINE: f64 = 1.2;

/// From the middle of a capital letter down to the baseline, relative to its size.
pub(crate) const BASELINE: f64 = 0.36;

/// How wide a character is drawn that the font lacks, relative to its size.
const UNKNOWN: f64 = 0.7;

#[cfg(any(feature = "png", test))]
pub(crate) static FILES: [&[u8]; 2] =
    [include_bytes!("../fonts/Inter-Regular.otf"), include_bytes!("../fonts/Inter-SemiBold.otf")];

/// How wide each character of the two files is, in parts of its size: a table, as a reader of fonts takes long to compile.
static WIDTHS: LazyLock<HashMap<char, [f64; 2]>> = LazyLock::new(|| {
    let line = |line: &str| {
        let mut cells = line.split(' ');
        let letter = char::from_u32(u32::from_str_radix(cells.next()?, 16).ok()?)?;
        let mut part = || Some(f64::from(cells.next()?.parse::<u32>().ok()?) / 65_536.0);
        Some((letter, [part()?, part()?]))
    };
    include_str!("../fonts/widths.txt").lines().filter_map(line).collect()
});

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    SemiBold,
}

/// Width of one line of text in pixels.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let advance = |letter: char| WIDTHS.get(&letter).map_or(UNKNOWN, |widths| widths[weight as usize]);
    size * text.chars().map(advance).sum::<f64>()
}

/// Width of the widest of these texts.
pub(crate) fn widest<S: AsRef<str>>(texts: impl IntoIterator<Item = S>, size: f64, weight: Weight) -> f64 {
    texts.into_iter().map(|text| width(text.as_ref(), size, weight)).fold(0.0, f64::max)
}

/// Breaks a text at spaces into lines of at most `limit` pixels; a longer word stays whole.
pub(crate) fn wrap(text: &str, size: f64, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size, Weight::Regular) <= limit => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A text of at most `limit` pixels, cut with an ellipsis where it is longer.
pub(crate) fn elided(text: &str, size: f64, limit: f64) -> String {
    let fits = |text: &str| width(text, size, Weight::Regular) <= limit;
    if fits(text) {
        return text.to_owned();
    }
    let mut cuts = text.char_indices().rev().map(|(end, _)| text[..end].trim_end().to_owned() + "…");
    cuts.find(|cut| fits(cut)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use skrifa::instance::{LocationRef, Size};
    use skrifa::{FontRef, MetadataProvider};

    use super::*;

    #[test]
    fn the_table_has_the_widths_of_the_files() {
        for (file, weight) in FILES.into_iter().zip([Weight::Regular, Weight::SemiBold]) {
            let font = FontRef::new(file).unwrap();
            let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
            assert_eq!(font.charmap().mappings().count(), WIDTHS.len());
            for (letter, glyph) in font.charmap().mappings() {
                let letter = char::from_u32(letter).unwrap();
                let drawn = f64::from(metrics.advance_width(glyph).unwrap());
                assert_eq!(WIDTHS[&letter][weight as usize].to_bits(), drawn.to_bits(), "{letter:?}");
            }
        }
    }

    #[test]
    fn widths_add_up_and_grow_with_size() {
        let width = |text, size| width(text, size, Weight::Regular);
        assert!((width("ab", 10.0) - width("a", 10.0) - width("b", 10.0)).abs() < 1e-9);
        assert!((width("θ", 20.0) - 2.0 * width("θ", 10.0)).abs() < 1e-9);
        assert!(width("", 10.0).abs() < 1e-9);
    }

    #[test]
    fn a_combining_hat_takes_no_room() {
        assert!(width("\u{302}", 10.0, Weight::Regular).abs() < 1e-9);
    }

    #[test]
    fn long_texts_are_cut_to_fit() {
        assert_eq!(elided("price", 10.0, 100.0), "price");
        let cut = elided("price of the cheapest seat", 10.0, 70.0);
        assert!(cut.starts_with("price of") && cut.ends_with('…'), "{cut}");
        assert!(width(&cut, 10.0, Weight::Regular) <= 70.0);
        assert_eq!(elided("price", 10.0, 1.0), "");
    }

    #[test]
    fn long_names_break_at_spaces_only() {
        assert_eq!(wrap("pooled with the logs", 10.0, 60.0), ["pooled with", "the logs"]);
        assert_eq!(wrap("EllipsoidalMinUcb", 10.0, 20.0), ["EllipsoidalMinUcb"]);
    }
}
