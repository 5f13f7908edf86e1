//! Where the parts of a figure go: title, legend, then panels in rows.

use crate::axes::{self, Axes, Grid};
use crate::font::{self, LINE, Weight};
use crate::legend::Legend;
use crate::scale::Scale;
use crate::svg::{Canvas, Rect, Text};

/// Text sizes in pixels: half of each is still readable on a screen.
pub(crate) const TITLE: f64 = 21.0;
pub(crate) const PANEL_TITLE: f64 = 18.0;
pub(crate) const LABEL: f64 = 17.0;
pub(crate) const TICK: f64 = 16.0;

/// Free space around a figure.
pub(crate) const MARGIN: f64 = 14.0;

/// Plots of equal size with axes around them, in rows below a title and a legend.
pub(crate) struct Panels<'a> {
    /// Title of the figure, labels of the x and y axes; none where empty.
    pub(crate) labels: [&'a str; 3],
    pub(crate) legend: Legend,
    pub(crate) columns: usize,
    /// Width and height of each plot, and the room right of it for what belongs to its data.
    pub(crate) plot: (f64, f64),
    pub(crate) right: f64,
    pub(crate) grid: Grid,
    /// Title, x and y axis of each.
    pub(crate) frames: Vec<(&'a str, Scale, Scale)>,
}

/// Columns for this many panels: one row up to `most`, even rows beyond.
pub(crate) fn columns(count: usize, most: usize) -> usize {
    count.div_ceil(count.div_ceil(most).max(1)).max(1)
}

/// Draws the title of a figure, if it has one; returns where what is below it starts.
pub(crate) fn draw_title(canvas: &mut Canvas, title: &str, gap: f64) -> f64 {
    if title.is_empty() {
        return MARGIN;
    }
    let text = Text::new("title", title, (MARGIN, MARGIN + TITLE * LINE / 2.0), TITLE);
    canvas.text(Text { weight: Weight::SemiBold, ..text });
    MARGIN + TITLE * LINE + gap
}

pub(crate) fn title_width(title: &str) -> f64 {
    font::width(title, TITLE, Weight::SemiBold)
}

impl Panels<'_> {
    /// The whole figure: everything but the data of each panel here, the data by `draw`.
    pub(crate) fn svg(&self, mut draw: impl FnMut(&mut Canvas, &Axes, usize)) -> String {
        let Self { labels: [title, x_label, y_label], legend, frames, .. } = self;
        let (columns, count, (width, height)) = (self.columns, frames.len(), self.plot);
        let titles = font::widest(frames.iter().map(|frame| frame.0), PANEL_TITLE, Weight::SemiBold);
        let named = frames.iter().any(|frame| !frame.0.is_empty());
        // Room around each plot: ticks on the left, the title above with some air, ticks and label below.
        let left = axes::tick_room(frames.iter().map(|frame| &frame.2));
        let right = self.right.max(titles - width + 20.0);
        let top = if named { PANEL_TITLE * LINE + 22.0 } else { 20.0 };
        let bottom = axes::bottom_room(x_label) + 4.0;
        let cell = (left + width + right, top + height + bottom);
        let labels = axes::label_room(y_label);
        let all = (labels + columns as f64 * cell.0).max(title_width(title)).max(legend.widest());

        let mut canvas = Canvas::default();
        let mut start = draw_title(&mut canvas, title, 8.0);
        // The legend goes into the cell after the last panel, where it fits there.
        let spare = !count.is_multiple_of(columns) && legend.fits(cell.0 - left, cell.1);
        if !spare {
            start += legend.row(&mut canvas, MARGIN, start, all);
        }
        let plot = |index: usize| {
            let (column, row) = ((index % columns) as f64, (index / columns) as f64);
            let (left, top) = (MARGIN + labels + column * cell.0 + left, row * cell.1 + top + start);
            Rect { left, top, width, height }
        };
        for (index, (title, x, y)) in frames.iter().enumerate() {
            let axes = Axes { plot: plot(index), x, y, grid: self.grid };
            let x_label = if index + columns >= count { x_label } else { "" };
            let y_label = if index.is_multiple_of(columns) { y_label } else { "" };
            canvas.group("panel", |canvas| {
                axes.draw(canvas, [title, x_label, y_label], left);
                draw(canvas, &axes, index);
            });
        }
        if spare {
            legend.column(&mut canvas, plot(count));
        }
        let rows = count.div_ceil(columns) as f64;
        canvas.finish(all + 2.0 * MARGIN, start + rows * cell.1 + MARGIN, title, "Figure")
    }
}
