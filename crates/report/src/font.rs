//! The embedded font: how wide a text is, and the files that PNGs are drawn with.
//!
//! Widths leave kerning out, as the embedded files do. Every text of an SVG states its width
//! (`textLength`), so that a browser without the font squeezes its own into the same box.

use std::sync::LazyLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// The families an SVG asks for: the embedded one, then what systems have.
pub(crate) const FAMILY: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// Height of a line of text, relative to its size.
pub(crate) const LINE: f64 = 1.2;

/// From the middle of a capital letter down to the baseline, relative to its size.
pub(crate) const BASELINE: f64 = 0.36;

/// How wide a character is drawn that the font lacks, relative to its size.
const UNKNOWN: f64 = 0.7;

pub(crate) static FILES: [&[u8]; 2] =
    [include_bytes!("../fonts/Inter-Regular.otf"), include_bytes!("../fonts/Inter-SemiBold.otf")];

static FONTS: LazyLock<[FontRef<'static>; 2]> =
    LazyLock::new(|| FILES.map(|file| FontRef::new(file).expect("the embedded font is readable")));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    SemiBold,
}

/// Width of one line of text in pixels.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    let font = &FONTS[weight as usize];
    let (letters, metrics) = (font.charmap(), font.glyph_metrics(Size::new(1.0), LocationRef::default()));
    let advance = |letter: char| {
        letters.map(letter).and_then(|glyph| metrics.advance_width(glyph)).map_or(UNKNOWN, f64::from)
    };
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
    use super::*;

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
