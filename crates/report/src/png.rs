//! From SVG to PNG, with the embedded font and nothing of the system.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use crate::{Error, font};

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    for file in font::FILES {
        fonts.load_font_data(file.to_vec());
    }
    fonts.set_sans_serif_family("Inter");
    Arc::new(fonts)
});

/// Draws an SVG of this crate as PNG, `scale` pixels for each of its units.
///
/// Text is drawn with the embedded font, so that the same figure gives the same bytes on every
/// machine. An SVG of another origin may ask for fonts that are not there; its text is then left out
/// or drawn with the embedded font.
///
/// ```
/// let bars = vec![("greedy".to_owned(), 3.0)];
/// let figure = truenorth_report::Bars { bars, ..truenorth_report::Bars::default() };
/// let png = truenorth_report::png(&figure.svg()?, 2.0)?;
/// assert_eq!(&png[1..4], b"PNG");
/// # Ok::<(), truenorth_report::Error>(())
/// ```
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, Error> {
    let options = Options { fontdb: FONTS.clone(), font_family: "Inter".into(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| Error::Svg(Box::new(error)))?;
    let size = tree.size();
    let (width, height) = ((size.width() * scale).round(), (size.height() * scale).round());
    let sides = 1.0..=32_768.0;
    if !sides.contains(&width) || !sides.contains(&height) {
        return Err(Error::Size { width, height });
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "both are in 1..=32768")]
    let pixels = Pixmap::new(width as u32, height as u32);
    let mut pixels = pixels.ok_or(Error::Size { width, height })?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| Error::Encoding(Box::new(error)))
}
