//! Where the parts of a figure go: title, legend, then panels in rows.

use crate::font::{self, LINE, Weight};
use crate::legend::Legend;
use crate::svg::{Canvas, Rect, Text};

/// Text sizes in pixels: half of each is still readable on a screen.
pub(crate) const TITLE: f64 = 21.0;
pub(crate) const PANEL_TITLE: f64 = 18.0;
pub(crate) const LABEL: f64 = 17.0;
pub(crate) const TICK: f64 = 16.0;

/// Free space around a figure.
pub(crate) const MARGIN: f64 = 14.0;

/// Room around the plot of each panel, for ticks, titles and labels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inset {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

/// Equal panels in rows, below a title and a legend.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) count: usize,
    pub(crate) columns: usize,
    /// Width and height of the area inside the axes.
    pub(crate) plot: (f64, f64),
    pub(crate) inset: Inset,
    /// Room left of the first column, for the label of the y axes.
    pub(crate) y_label: f64,
}

impl Layout {
    /// Columns for this many panels: one row up to `most`, even rows beyond.
    pub(crate) fn columns(count: usize, most: usize) -> usize {
        count.div_ceil(count.div_ceil(most).max(1)).max(1)
    }

    /// Draws the whole figure: title and legend here, each panel by `panel`.
    pub(crate) fn draw(
        &self,
        title: &str,
        legend: &Legend,
        mut panel: impl FnMut(&mut Canvas, usize, Rect),
    ) -> String {
        let mut canvas = Canvas::default();
        let title_width = font::width(title, TITLE, Weight::SemiBold);
        let width = self.width().max(title_width).max(legend.widest()) + 2.0 * MARGIN;
        let mut top = MARGIN;
        if !title.is_empty() {
            let at = (MARGIN, top + TITLE * LINE / 2.0);
            canvas.text(Text { weight: Weight::SemiBold, ..Text::new("title", title, at, TITLE) });
            top += TITLE * LINE + 8.0;
        }
        let inset = self.inset;
        let spare = self.spare_cell().filter(|cell| legend.fits(cell.width - inset.left, cell.height));
        if spare.is_none() {
            top += legend.row(&mut canvas, MARGIN, top, width - 2.0 * MARGIN);
        }
        for index in 0..self.count {
            let rect = shifted(self.plot_of(index), top);
            canvas.group("panel", |canvas| panel(canvas, index, rect));
        }
        if let Some(cell) = spare {
            let cell = shifted(cell, top);
            legend.column(&mut canvas, cell.left + inset.left, cell.top + inset.top);
        }
        let label = if title.is_empty() { "Figure" } else { title };
        canvas.finish(width, top + self.rows() as f64 * self.cell().1 + MARGIN, label)
    }

    pub(crate) fn is_left(&self, index: usize) -> bool {
        index.is_multiple_of(self.columns)
    }

    pub(crate) fn is_bottom(&self, index: usize) -> bool {
        index + self.columns >= self.count
    }

    fn rows(&self) -> usize {
        self.count.div_ceil(self.columns)
    }

    fn cell(&self) -> (f64, f64) {
        let Inset { left, right, top, bottom } = self.inset;
        (left + self.plot.0 + right, top + self.plot.1 + bottom)
    }

    fn width(&self) -> f64 {
        self.y_label + self.columns as f64 * self.cell().0
    }

    fn cell_of(&self, index: usize) -> Rect {
        let ((width, height), column, row) = (self.cell(), index % self.columns, index / self.columns);
        let left = MARGIN + self.y_label + column as f64 * width;
        Rect { left, top: row as f64 * height, width, height }
    }

    fn plot_of(&self, index: usize) -> Rect {
        let (cell, (width, height)) = (self.cell_of(index), self.plot);
        Rect { left: cell.left + self.inset.left, top: cell.top + self.inset.top, width, height }
    }

    /// The cell after the last panel, where the last row has room.
    fn spare_cell(&self) -> Option<Rect> {
        (!self.count.is_multiple_of(self.columns)).then(|| self.cell_of(self.count))
    }
}

fn shifted(rect: Rect, down: f64) -> Rect {
    Rect { top: rect.top + down, ..rect }
}
