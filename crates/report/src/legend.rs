//! The key to a figure's colours, in a row above the panels or a column in a free cell.

use crate::font::{self, LINE, Weight};
use crate::layout::LABEL;
use crate::palette::{Color, Marker, STAR};
use crate::svg::{Canvas, Point, Rect, Stroke, Text};

const KEY: f64 = 36.0;
const KEY_GAP: f64 = 8.0;
const ITEM_GAP: f64 = 26.0;
const ROW: f64 = LABEL * LINE + 5.0;

/// What stands before a name.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key {
    /// A piece of the line, with its marker where lines have them.
    Line(Stroke<'static>, Option<Marker>),
    /// A star by itself.
    Star(Color),
}

#[derive(Debug, Default)]
pub(crate) struct Legend {
    pub(crate) items: Vec<(String, Key)>,
}

impl Legend {
    /// Draws rows of items, broken at `width`; returns the height they take.
    pub(crate) fn row(&self, canvas: &mut Canvas, left: f64, top: f64, width: f64) -> f64 {
        if self.items.is_empty() {
            return 0.0;
        }
        let (mut x, mut y) = (left, top + ROW / 2.0);
        canvas.group("legend", |canvas| {
            for (name, key) in &self.items {
                if x > left && x + item_width(name) > left + width {
                    (x, y) = (left, y + ROW);
                }
                item(canvas, name, *key, (x, y));
                x += item_width(name) + ITEM_GAP;
            }
        });
        y + ROW / 2.0 - top + 6.0
    }

    /// Draws a column of items inside of this free place.
    pub(crate) fn column(&self, canvas: &mut Canvas, free: Rect) {
        canvas.group("legend", |canvas| {
            for (index, (name, key)) in self.items.iter().enumerate() {
                item(canvas, name, *key, (free.left, free.top + (index as f64 + 0.5) * (ROW + 4.0)));
            }
        });
    }

    /// Width of the longest item.
    pub(crate) fn widest(&self) -> f64 {
        self.items.iter().map(|(name, _)| item_width(name)).fold(0.0, f64::max)
    }

    /// Whether a column of all items has room here.
    pub(crate) fn fits(&self, width: f64, height: f64) -> bool {
        self.widest() <= width && (self.items.len() as f64 + 1.0) * (ROW + 4.0) <= height
    }
}

fn item_width(name: &str) -> f64 {
    KEY + KEY_GAP + font::width(name, LABEL, Weight::Regular)
}

fn item(canvas: &mut Canvas, name: &str, key: Key, (x, y): Point) {
    let middle = (x + KEY / 2.0, y);
    match key {
        Key::Line(stroke, marker) => {
            canvas.line("key", (x, y), (x + KEY, y), stroke);
            if let Some(marker) = marker {
                canvas.marker("key", marker, middle, 4.5, stroke.color);
            }
        }
        Key::Star(color) => canvas.marker("key", STAR, middle, 9.0, color),
    }
    canvas.text(Text::new("legend-name", name, (x + KEY + KEY_GAP, y), LABEL));
}
