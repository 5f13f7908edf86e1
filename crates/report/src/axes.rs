//! The frame of a panel: title, grid, ticks and axis labels.

use crate::font::{self, LINE, Weight};
use crate::layout::{LABEL, PANEL_TITLE, TICK};
use crate::palette::{AXIS, GRID, MUTED};
use crate::scale::Scale;
use crate::svg::{Anchor, Canvas, Direction, Point, Rect, Stroke, Text};

/// Between an axis and the text of its ticks.
const TICK_GAP: f64 = 8.0;

/// What a panel shows apart from its data.
pub(crate) struct Axes<'a> {
    pub(crate) title: &'a str,
    /// Below the plot, where not empty.
    pub(crate) x_label: &'a str,
    /// Left of the plot, where not empty, its middle this far from the plot.
    pub(crate) y_label: &'a str,
    pub(crate) y_label_gap: f64,
    pub(crate) x: &'a Scale,
    pub(crate) y: &'a Scale,
    pub(crate) grid: Grid,
}

/// Which faint lines lie behind the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grid {
    /// At the ticks of y: for heights over time.
    Rows,
    /// At all ticks: for the plane.
    Squares,
}

/// The size of a plot, at least so large that the labels of its axes fit beside it.
pub(crate) fn plot_size((width, height): (f64, f64), x_label: &str, y_label: &str) -> (f64, f64) {
    let length = |label| font::width(label, LABEL, Weight::Regular);
    (width.max(length(x_label)), height.max(length(y_label)))
}

/// Room for tick labels left of a plot.
pub(crate) fn tick_room<'a>(scales: impl Iterator<Item = &'a Scale>) -> f64 {
    let widths = scales.flat_map(|scale| scale.ticks.iter().map(|tick| tick_width(&tick.label)));
    TICK_GAP + widths.fold(0.0, f64::max)
}

/// Room below a plot, with and without the label of its axis.
pub(crate) fn bottom_room(label: &str) -> f64 {
    let label = if label.is_empty() { 0.0 } else { LABEL * LINE + 6.0 };
    TICK_GAP + TICK * LINE + label
}

/// Room above a plot for its title, with some air above.
pub(crate) fn top_room(titles: bool) -> f64 {
    if titles { PANEL_TITLE * LINE + 22.0 } else { 20.0 }
}

pub(crate) fn title_width(title: &str) -> f64 {
    font::width(title, PANEL_TITLE, Weight::SemiBold)
}

pub(crate) fn tick_width(label: &str) -> f64 {
    font::width(label, TICK, Weight::Regular)
}

/// The most ticks, up to `count`, whose labels leave air between them on an axis of this width.
pub(crate) fn fitted(width: f64, count: usize, scale: impl Fn(usize) -> Scale) -> Scale {
    let apart = |scale: &Scale| {
        let boxes = scale.ticks.iter().map(|tick| {
            let (place, half) = (scale.place(tick.value) * width, tick_width(&tick.label) / 2.0);
            (place - half, place + half)
        });
        let boxes: Vec<(f64, f64)> = boxes.collect();
        boxes.windows(2).all(|pair| pair[0].1 + 12.0 <= pair[1].0)
    };
    let mut scale_now = scale(count);
    for fewer in (1..count).rev() {
        if apart(&scale_now) {
            return scale_now;
        }
        scale_now = scale(fewer);
    }
    if !apart(&scale_now) {
        thin(&mut scale_now);
    }
    scale_now
}

/// Keeps the first and the last tick, where even the widest step leaves labels too close.
fn thin(scale: &mut Scale) {
    let last = scale.ticks.len().saturating_sub(1);
    let mut index = 0;
    scale.ticks.retain(|_| {
        index += 1;
        index == 1 || index == last + 1
    });
}

impl Axes<'_> {
    pub(crate) fn point(&self, plot: Rect, x: f64, y: f64) -> Point {
        point(plot, self.x.place(x), self.y.place(y))
    }

    /// Draws all but the data, which should lie on top.
    pub(crate) fn draw(&self, canvas: &mut Canvas, plot: Rect) {
        let middle = (plot.left + plot.width / 2.0, plot.top + plot.height / 2.0);
        self.title_line(canvas, plot);
        self.y_ticks(canvas, plot);
        self.x_ticks(canvas, plot);
        let (left, right, bottom) = (plot.left, plot.right(), plot.bottom());
        canvas.line("axis", (left, bottom), (right, bottom), Stroke::thin(AXIS));
        if !self.x_label.is_empty() {
            let at = (middle.0, bottom + TICK_GAP + TICK * LINE + 6.0 + LABEL * LINE / 2.0);
            let text = Text::new("axis-label", self.x_label, at, LABEL);
            canvas.text(Text { anchor: Anchor::Middle, color: MUTED, ..text });
        }
        if !self.y_label.is_empty() {
            let text = Text::new("axis-label", self.y_label, (left - self.y_label_gap, middle.1), LABEL);
            canvas.text(Text { anchor: Anchor::Middle, color: MUTED, direction: Direction::Up, ..text });
        }
    }

    fn title_line(&self, canvas: &mut Canvas, plot: Rect) {
        let y = plot.top - 10.0 - PANEL_TITLE * LINE / 2.0;
        if !self.title.is_empty() {
            let text = Text::new("panel-title", self.title, (plot.left, y), PANEL_TITLE);
            canvas.text(Text { weight: Weight::SemiBold, ..text });
        }
        let note = "log scale";
        let size = TICK - 2.0;
        let free = plot.width - title_width(self.title) - 14.0;
        if self.y.is_log() && font::width(note, size, Weight::Regular) <= free {
            let text = Text::new("note", note, (plot.right(), y + 1.0), size);
            canvas.text(Text { anchor: Anchor::End, color: MUTED, ..text });
        }
    }

    fn y_ticks(&self, canvas: &mut Canvas, plot: Rect) {
        let height = |value| plot.bottom() - self.y.place(value) * plot.height;
        for tick in &self.y.ticks {
            let y = height(tick.value);
            canvas.line("grid", (plot.left, y), (plot.right(), y), Stroke::thin(GRID));
            let text = Text::new("y-tick", &tick.label, (plot.left - TICK_GAP, y), TICK);
            canvas.text(Text { anchor: Anchor::End, color: MUTED, ..text });
        }
        for &value in &self.y.minor {
            let y = height(value);
            canvas.line("minor", (plot.left - 4.0, y), (plot.left, y), Stroke::thin(GRID.mix(AXIS, 0.5)));
        }
    }

    fn x_ticks(&self, canvas: &mut Canvas, plot: Rect) {
        let bottom = plot.bottom();
        for tick in &self.x.ticks {
            let x = plot.left + self.x.place(tick.value) * plot.width;
            if self.grid == Grid::Squares {
                canvas.line("grid", (x, plot.top), (x, bottom), Stroke::thin(GRID));
            }
            canvas.line("tick", (x, bottom), (x, bottom + 5.0), Stroke::thin(AXIS));
            let at = (x, bottom + TICK_GAP + TICK * LINE / 2.0);
            let text = Text::new("x-tick", &tick.label, at, TICK);
            canvas.text(Text { anchor: Anchor::Middle, color: MUTED, ..text });
        }
        for &value in &self.x.minor {
            let x = plot.left + self.x.place(value) * plot.width;
            canvas.line("minor", (x, bottom), (x, bottom + 3.0), Stroke::thin(AXIS));
        }
    }
}

/// The pixel at a place inside a plot, both from 0 to 1.
pub(crate) fn point(plot: Rect, x: f64, y: f64) -> Point {
    (plot.left + x * plot.width, plot.bottom() - y * plot.height)
}
