//! Writes SVG elements: no styles, no ids, so that figures can share one page.

use std::f64::consts::TAU;
use std::fmt::Write;

use crate::font::{self, Weight};
use crate::palette::{Color, Marker, TEXT, WHITE};

pub(crate) type Point = (f64, f64);

/// White around letters.
const HALO: &str = " stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"";

/// A rectangle with its sides along the axes; y grows downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    pub(crate) fn around((x, y): Point, width: f64, height: f64) -> Self {
        Self { left: x - width / 2.0, top: y - height / 2.0, width, height }
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right()
            && other.left < self.right()
            && self.top < other.bottom()
            && other.top < self.bottom()
    }

    pub(crate) fn contains(&self, (x, y): Point) -> bool {
        (self.left..=self.right()).contains(&x) && (self.top..=self.bottom()).contains(&y)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Stroke<'a> {
    pub(crate) color: Color,
    pub(crate) width: f64,
    pub(crate) dash: &'a str,
}

impl Stroke<'_> {
    pub(crate) fn thin(color: Color) -> Self {
        Self { color, width: 1.0, dash: "" }
    }
}

/// One line of text whose capitals are centred on `at` vertically.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) class: &'a str,
    pub(crate) content: &'a str,
    pub(crate) at: Point,
    pub(crate) size: f64,
    pub(crate) weight: Weight,
    /// Whether `at` is its "start", "middle" or "end".
    pub(crate) anchor: &'static str,
    pub(crate) color: Color,
    /// Turned to the left, to be read from below.
    pub(crate) upwards: bool,
    /// With white behind the letters, to set them off from lines they cross.
    pub(crate) halo: bool,
}

impl<'a> Text<'a> {
    pub(crate) fn new(class: &'a str, content: &'a str, at: Point, size: f64) -> Self {
        let (weight, anchor) = (Weight::Regular, "start");
        Self { class, content, at, size, weight, anchor, color: TEXT, upwards: false, halo: false }
    }
}

/// An SVG in the making.
#[derive(Debug, Default)]
pub(crate) struct Canvas {
    body: String,
}

impl Canvas {
    pub(crate) fn group(&mut self, class: &str, draw: impl FnOnce(&mut Self)) {
        self.put(format_args!("<g class=\"{class}\">\n"));
        draw(self);
        self.put(format_args!("</g>\n"));
    }

    pub(crate) fn line(&mut self, class: &str, from: Point, to: Point, stroke: Stroke) {
        let ([x1, y1, x2, y2], stroke) = ([from.0, from.1, to.0, to.1].map(number), attributes(stroke));
        self.put(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"{stroke}/>\n"
        ));
    }

    pub(crate) fn polyline(&mut self, class: &str, name: &str, points: &[Point], stroke: Stroke) {
        let (name, path, stroke) = (escape(name), path(points), attributes(stroke));
        self.put(format_args!(
            "<path class=\"{class}\" data-name=\"{name}\" d=\"{path}\" fill=\"none\" stroke-linejoin=\"round\"{stroke}/>\n"
        ));
    }

    pub(crate) fn area(&mut self, class: &str, name: &str, points: &[Point], fill: Color, opacity: f64) {
        let (name, path, opacity) = (escape(name), path(points), number(opacity));
        self.put(format_args!(
            "<path class=\"{class}\" data-name=\"{name}\" d=\"{path}Z\" fill=\"{fill}\" fill-opacity=\"{opacity}\"/>\n"
        ));
    }

    pub(crate) fn rect(&mut self, class: &str, rect: Rect, fill: Color) {
        let [x, y, width, height] = [rect.left, rect.top, rect.width, rect.height].map(number);
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>\n"
        ));
    }

    pub(crate) fn marker(&mut self, class: &str, marker: Marker, at: Point, radius: f64, color: Color) {
        let corner = |index: u32| {
            let angle = (f64::from(index) / f64::from(marker.corners) + marker.turn) * TAU;
            let reach = radius * marker.reach[index as usize % 2];
            (at.0 + reach * angle.sin(), at.1 - reach * angle.cos())
        };
        let shape = if marker.corners == 0 {
            let [x, y, r] = [at.0, at.1, radius].map(number);
            format!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\"")
        } else {
            let path = path(&(0..marker.corners).map(corner).collect::<Vec<_>>());
            format!("<path class=\"{class}\" d=\"{path}Z\"")
        };
        self.put(format_args!("{shape} fill=\"{color}\" stroke=\"#ffffff\"/>\n"));
    }

    pub(crate) fn text(&mut self, text: Text) {
        let Text { class, content, at: (x, y), size, weight, anchor, color, upwards, halo } = text;
        let shift = font::BASELINE * size;
        let (x, y) = if upwards { (x + shift, y) } else { (x, y + shift) };
        let [x, y, size, length] = [x, y, size, font::width(content, size, weight)].map(number);
        let weight = if weight == Weight::SemiBold { " font-weight=\"600\"" } else { "" };
        let halo = if halo { HALO } else { "" };
        let turn = if upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
        let shown = escape(content);
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{weight} fill=\"{color}\" \
             text-anchor=\"{anchor}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\"{halo}{turn}>{shown}</text>\n"
        ));
    }

    /// The finished document; a screen reader says its title, or else `kind`.
    pub(crate) fn finish(self, width: f64, height: f64, title: &str, kind: &str) -> String {
        let [width, height] = [width.ceil(), height.ceil()].map(number);
        let (label, family, body) =
            (escape(if title.is_empty() { kind } else { title }), font::FAMILY, self.body);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{family}\" role=\"img\" aria-label=\"{label}\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{WHITE}\"/>\n{body}</svg>\n"
        )
    }

    fn put(&mut self, text: std::fmt::Arguments) {
        self.body.write_fmt(text).expect("a String takes every text");
    }
}

/// A number with at most two decimals: a hundredth of a pixel is invisible, and rounding keeps bytes
/// the same where the last bits of a logarithm differ.
fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text that is safe inside an element and inside a quoted attribute.
///
/// Control characters, which XML forbids, become spaces.
pub(crate) fn escape(text: &str) -> String {
    let forbidden = |letter: char| letter.is_control() || matches!(letter, '\u{FFFE}' | '\u{FFFF}');
    let text = text.replace(forbidden, " ").replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

fn attributes(stroke: Stroke) -> String {
    let Stroke { color, width, dash } = stroke;
    let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
    format!(" stroke=\"{color}\" stroke-width=\"{}\"{dash}", number(width))
}

fn path(points: &[Point]) -> String {
    let places = points.iter().map(|(x, y)| format!("{} {}", number(*x), number(*y)));
    format!("M{}", places.collect::<Vec<_>>().join("L"))
}
