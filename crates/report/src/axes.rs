//! The frame of a plot: title, grid, ticks and axis labels.

use crate::font::{self, LINE, Weight};
use crate::layout::{LABEL, PANEL_TITLE, TICK};
use crate::palette::{AXIS, GRID, MUTED};
use crate::scale::Scale;
use crate::svg::{Canvas, Point, Rect, Stroke, Text};
use crate::ticks::Tick;

/// Between an axis and the text of its ticks.
const TICK_GAP: f64 = 8.0;
/// Between the text of ticks and the label of their axis.
const LABEL_GAP: f64 = 6.0;

/// A plot with two axes.
pub(crate) struct Axes<'a> {
    pub(crate) plot: Rect,
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
    /// At the ticks of x, in place of them: for bars.
    Columns,
}

/// The size of a plot, at least so large that the labels of its axes fit beside it.
pub(crate) fn plot_size((width, height): (f64, f64), x_label: &str, y_label: &str) -> (f64, f64) {
    let length = |label| font::width(label, LABEL, Weight::Regular);
    (width.max(length(x_label)), height.max(length(y_label)))
}

/// Room for tick labels left of a plot.
pub(crate) fn tick_room<'a>(scales: impl Iterator<Item = &'a Scale>) -> f64 {
    let labels = scales.flat_map(|scale| scale.ticks.iter().map(|tick| &tick.label));
    TICK_GAP + font::widest(labels, TICK, Weight::Regular)
}

/// Room below a plot, with and without the label of its axis.
pub(crate) fn bottom_room(label: &str) -> f64 {
    TICK_GAP + TICK * LINE + label_room(label)
}

/// Room beside the ticks for the label of an axis.
pub(crate) fn label_room(label: &str) -> f64 {
    if label.is_empty() { 0.0 } else { LABEL * LINE + LABEL_GAP }
}

/// The most ticks, up to `count`, whose labels leave air between them on an axis of this width; or else the
/// first and the last of the fewest.
pub(crate) fn fitted(width: f64, count: usize, scale: impl Fn(usize) -> Scale) -> Scale {
    let apart = |scale: &Scale| {
        let place = |tick: &Tick| scale.place(tick.value) * width;
        let half = |tick: &Tick| tick_width(&tick.label) / 2.0;
        let gap = |pair: &[Tick]| place(&pair[0]) + half(&pair[0]) + 12.0 <= place(&pair[1]) - half(&pair[1]);
        scale.ticks.windows(2).all(gap)
    };
    (1..=count).rev().map(&scale).find(apart).unwrap_or_else(|| scale(1).thinned())
}

pub(crate) fn tick_width(label: &str) -> f64 {
    font::width(label, TICK, Weight::Regular)
}

impl Axes<'_> {
    /// The pixel of a value.
    pub(crate) fn point(&self, x: f64, y: f64) -> Point {
        self.pixel(self.x.place(x), self.y.place(y))
    }

    /// The pixels of these values.
    pub(crate) fn points(&self, xs: &[f64], ys: &[f64]) -> Vec<Point> {
        xs.iter().zip(ys).map(|(&x, &y)| self.point(x, y)).collect()
    }

    /// The pixel at a place inside the plot, both from 0 to 1.
    pub(crate) fn pixel(&self, x: f64, y: f64) -> Point {
        (self.plot.left + x * self.plot.width, self.plot.bottom() - y * self.plot.height)
    }

    /// Draws all but the data, which should lie on top: the label of x below the plot, that of y left of it behind this
    /// much room for ticks, where they are not empty.
    pub(crate) fn draw(&self, canvas: &mut Canvas, [title, x_label, y_label]: [&str; 3], tick_room: f64) {
        let Self { plot, .. } = *self;
        self.draw_title(canvas, title);
        for tick in &self.y.ticks {
            let y = self.point(0.0, tick.value).1;
            canvas.line("grid", (plot.left, y), (plot.right(), y), Stroke::thin(GRID));
            let text = Text::new("y-tick", &tick.label, (plot.left - TICK_GAP, y), TICK);
            canvas.text(Text { anchor: "end", color: MUTED, ..text });
        }
        for &value in &self.y.minor {
            let y = self.point(0.0, value).1;
            canvas.line("minor", (plot.left - 4.0, y), (plot.left, y), Stroke::thin(GRID.mix(AXIS, 0.5)));
        }
        draw_x(canvas, plot, self.x, x_label, self.grid);
        if !y_label.is_empty() {
            let left = plot.left - tick_room - LABEL_GAP - LABEL * LINE / 2.0;
            let text = Text::new("axis-label", y_label, (left, plot.top + plot.height / 2.0), LABEL);
            canvas.text(Text { anchor: "middle", color: MUTED, upwards: true, ..text });
        }
    }

    fn draw_title(&self, canvas: &mut Canvas, title: &str) {
        let (plot, note, size) = (self.plot, "log scale", TICK - 2.0);
        let y = plot.top - 10.0 - PANEL_TITLE * LINE / 2.0;
        if !title.is_empty() {
            let text = Text::new("panel-title", title, (plot.left, y), PANEL_TITLE);
            canvas.text(Text { weight: Weight::SemiBold, ..text });
        }
        let free = plot.width - font::width(title, PANEL_TITLE, Weight::SemiBold) - 14.0;
        if self.y.log && font::width(note, size, Weight::Regular) <= free {
            let text = Text::new("note", note, (plot.right(), y + 1.0), size);
            canvas.text(Text { anchor: "end", color: MUTED, ..text });
        }
    }
}

/// A horizontal axis below a plot: ticks, line and label.
pub(crate) fn draw_x(canvas: &mut Canvas, plot: Rect, scale: &Scale, label: &str, grid: Grid) {
    let (bottom, place) = (plot.bottom(), |value| plot.left + scale.place(value) * plot.width);
    for tick in &scale.ticks {
        let x = place(tick.value);
        if grid != Grid::Rows {
            let end = if grid == Grid::Columns { 5.0 } else { 0.0 };
            canvas.line("grid", (x, plot.top), (x, bottom + end), Stroke::thin(GRID));
        }
        if grid != Grid::Columns {
            canvas.line("tick", (x, bottom), (x, bottom + 5.0), Stroke::thin(AXIS));
        }
        let text = Text::new("x-tick", &tick.label, (x, bottom + TICK_GAP + TICK * LINE / 2.0), TICK);
        canvas.text(Text { anchor: "middle", color: MUTED, ..text });
    }
    for &value in &scale.minor {
        canvas.line("minor", (place(value), bottom), (place(value), bottom + 3.0), Stroke::thin(AXIS));
    }
    canvas.line("axis", (plot.left, bottom), (plot.right(), bottom), Stroke::thin(AXIS));
    if !label.is_empty() {
        let below = bottom + TICK_GAP + TICK * LINE + LABEL_GAP + LABEL * LINE / 2.0;
        let text = Text::new("axis-label", label, (plot.left + plot.width / 2.0, below), LABEL);
        canvas.text(Text { anchor: "middle", color: MUTED, ..text });
    }
}
