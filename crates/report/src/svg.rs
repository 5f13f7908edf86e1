//! Writes SVG elements: no styles, no ids, so that figures can share one page.

use std::fmt::Write;

use crate::font::{self, Weight};
use crate::palette::{Color, Marker, TEXT, WHITE};

pub(crate) type Point = (f64, f64);

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Across,
    Up,
}

/// One line of text whose capitals are centred on `at` vertically.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) class: &'a str,
    pub(crate) content: &'a str,
    pub(crate) at: Point,
    pub(crate) size: f64,
    pub(crate) weight: Weight,
    pub(crate) anchor: Anchor,
    pub(crate) color: Color,
    pub(crate) direction: Direction,
    /// Drawn behind the letters, to set them off from lines they cross.
    pub(crate) halo: Option<Color>,
}

impl<'a> Text<'a> {
    pub(crate) fn new(class: &'a str, content: &'a str, at: Point, size: f64) -> Self {
        let (weight, anchor, direction) = (Weight::Regular, Anchor::Start, Direction::Across);
        Self { class, content, at, size, weight, anchor, color: TEXT, direction, halo: None }
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
        let (x1, y1, x2, y2) = (number(from.0), number(from.1), number(to.0), number(to.1));
        self.put(format_args!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"{}/>\n",
            attributes(stroke)
        ));
    }

    pub(crate) fn polyline(&mut self, class: &str, name: &str, points: &[Point], stroke: Stroke) {
        let (name, path) = (escape(name), path(points));
        self.put(format_args!(
            "<path class=\"{class}\" data-name=\"{name}\" d=\"{path}\" fill=\"none\" \
             stroke-linejoin=\"round\"{}/>\n",
            attributes(stroke)
        ));
    }

    pub(crate) fn area(&mut self, class: &str, name: &str, points: &[Point], fill: Color, opacity: f64) {
        let (name, path, fill, opacity) = (escape(name), path(points), fill.hex(), number(opacity));
        self.put(format_args!(
            "<path class=\"{class}\" data-name=\"{name}\" d=\"{path}Z\" fill=\"{fill}\" fill-opacity=\"{opacity}\"/>\n"
        ));
    }

    pub(crate) fn rect(&mut self, class: &str, rect: Rect, fill: Color) {
        let (x, y) = (number(rect.left), number(rect.top));
        let (width, height, fill) = (number(rect.width), number(rect.height), fill.hex());
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"/>\n"
        ));
    }

    pub(crate) fn marker(&mut self, class: &str, marker: Marker, at: Point, radius: f64, color: Color) {
        let ring = |count: u32, turn: f64, radius: &dyn Fn(u32) -> f64| -> Vec<Point> {
            let angle = |step: u32| (f64::from(step) / f64::from(count) + turn) * std::f64::consts::TAU;
            (0..count)
                .map(|k| (at.0 + radius(k) * angle(k).sin(), at.1 - radius(k) * angle(k).cos()))
                .collect()
        };
        let points = match marker {
            Marker::Circle => {
                let (x, y, r, fill) = (number(at.0), number(at.1), number(radius), color.hex());
                return self.put(format_args!(
                    "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{fill}\" stroke=\"#ffffff\"/>\n"
                ));
            }
            Marker::Square => ring(4, 0.125, &|_| 1.25 * radius),
            Marker::Diamond => ring(4, 0.0, &|_| 1.3 * radius),
            Marker::Triangle => ring(3, 0.0, &|_| 1.35 * radius),
            Marker::Cross => ring(8, 0.0, &|k| if k % 2 == 0 { 0.4 * radius } else { 1.4 * radius }),
            Marker::Star => ring(10, 0.0, &|k| if k % 2 == 0 { radius } else { 0.42 * radius }),
        };
        let (path, fill) = (path(&points), color.hex());
        self.put(format_args!(
            "<path class=\"{class}\" d=\"{path}Z\" fill=\"{fill}\" stroke=\"#ffffff\"/>\n"
        ));
    }

    /// Writes the text and returns the box it fills.
    pub(crate) fn text(&mut self, text: Text) -> Rect {
        let Text { class, content, at: (x, y), size, weight, anchor, direction, .. } = text;
        let width = font::width(content, size, weight);
        let (anchor, before) = match anchor {
            Anchor::Start => ("start", 0.0),
            Anchor::Middle => ("middle", width / 2.0),
            Anchor::End => ("end", width),
        };
        let shift = font::BASELINE * size;
        let (baseline, turn) = match direction {
            Direction::Across => ((x, y + shift), String::new()),
            Direction::Up => {
                let at = (x + shift, y);
                (at, format!(" transform=\"rotate(-90 {} {})\"", number(at.0), number(at.1)))
            }
        };
        let weight = if weight == Weight::SemiBold { " font-weight=\"600\"" } else { "" };
        let halo = text.halo.map_or(String::new(), |color| {
            format!(
                " stroke=\"{}\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"",
                color.hex()
            )
        });
        let (shown, color, length) = (escape(content), text.color.hex(), number(width));
        let (left, base, points) = (number(baseline.0), number(baseline.1), number(size));
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{left}\" y=\"{base}\" font-size=\"{points}\"{weight} fill=\"{color}\" \
             text-anchor=\"{anchor}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\"{halo}{turn}>{shown}</text>\n"
        ));
        let height = font::LINE * size;
        match direction {
            Direction::Across => Rect { left: x - before, top: y - height / 2.0, width, height },
            Direction::Up => {
                Rect { left: x - height / 2.0, top: y + before - width, width: height, height: width }
            }
        }
    }

    /// The finished document; `label` is what a screen reader says.
    pub(crate) fn finish(self, width: f64, height: f64, label: &str) -> String {
        let (width, height, label) = (number(width.ceil()), number(height.ceil()), escape(label));
        let (family, paper, body) = (font::FAMILY, WHITE.hex(), self.body);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{family}\" role=\"img\" aria-label=\"{label}\">\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{paper}\"/>\n{body}</svg>\n"
        )
    }

    fn put(&mut self, text: std::fmt::Arguments) {
        self.body.write_fmt(text).expect("a String takes every text");
    }
}

/// A number with at most two decimals: a hundredth of a pixel is invisible, and rounding keeps bytes
/// the same where the last bits of a logarithm differ.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text that is safe inside an element and inside a quoted attribute.
///
/// Control characters, which XML forbids, become spaces.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{FFFE}' | '\u{FFFF}' => escaped.push(' '),
            letter if letter.is_control() => escaped.push(' '),
            letter => escaped.push(letter),
        }
    }
    escaped
}

fn attributes(stroke: Stroke) -> String {
    let (color, width) = (stroke.color.hex(), number(stroke.width));
    let dash =
        if stroke.dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", stroke.dash) };
    format!(" stroke=\"{color}\" stroke-width=\"{width}\"{dash}")
}

fn path(points: &[Point]) -> String {
    let mut path = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        write!(path, "{command}{} {}", number(*x), number(*y)).expect("a String takes every text");
    }
    path
}
