//! Stacked areas: how a whole divides into parts over time.

use crate::axes::{self, Axes, Grid};
use crate::check::{List, not_empty, quoted};
use crate::font::{self, LINE, Weight};
use crate::layout::{Inset, LABEL, Layout, TICK};
use crate::legend::Legend;
use crate::palette::{Color, WHITE};
use crate::scale::Scale;
use crate::svg::{Anchor, Canvas, Point, Rect, Stroke, Text};
use crate::ticks::Labels;
use crate::trace::simplified;
use crate::{Error, Palette};

const KEY: f64 = 16.0;

/// One part of the whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// What the part is called.
    pub name: String,
    /// Its size at each `x`: a share, a count or any other number that is not negative.
    pub size: Vec<f64>,
}

/// How the parts of a panel are coloured.
#[derive(Debug, Clone, PartialEq)]
pub enum ShareColors {
    /// From dark violet to yellow in the order given: for layers, ages, sizes.
    Ramp,
    /// By name: for kinds without an order.
    Names(Palette),
}

/// One plot of a [`SharesFigure`].
#[derive(Debug, Clone, PartialEq)]
pub struct SharesPanel {
    /// Stands above the plot.
    pub title: String,
    /// Where sizes are known; increasing, at least one.
    pub x: Vec<f64>,
    /// The parts from bottom to top, at least one.
    pub shares: Vec<Share>,
    /// How they are coloured.
    pub colors: ShareColors,
}

/// Everything a [`SharesFigure`] shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shares {
    /// Stands above the figure, unless empty.
    pub title: String,
    /// Label of the x axes.
    pub x_label: String,
    /// Label of the y axes.
    pub y_label: String,
    /// The plots, at least one.
    pub panels: Vec<SharesPanel>,
}

/// Stacked areas that fill 0 to 100% at each `x`, with a key beside each panel in the same order.
///
/// Sizes are divided by their sum at each `x`; where that is zero, so are all parts.
///
/// ```
/// use truenorth_report::{Palette, Share, ShareColors, Shares, SharesFigure, SharesPanel};
///
/// let share = |name: &str, size: [f64; 2]| Share { name: name.into(), size: size.into() };
/// let panel = SharesPanel {
///     title: "by branch".into(),
///     x: vec![1.0, 100.0],
///     shares: vec![share("online", [0.1, 0.7]), share("pooled", [0.9, 0.3])],
///     colors: ShareColors::Names(Palette::default()),
/// };
/// let figure = SharesFigure::new(Shares { panels: vec![panel], ..Shares::default() })?;
/// assert!(figure.svg().contains("pooled"));
/// # Ok::<(), truenorth_report::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SharesFigure {
    shares: Shares,
}

impl SharesPanel {
    fn check(&self) -> Result<(), Error> {
        not_empty(&self.shares, "share", &format!("panel `{}`", self.title))?;
        not_empty(&self.x, "point", &quoted(&self.title))?;
        List { of: &self.title, field: "x", values: &self.x }.finite()?.increasing()?;
        for Share { name, size } in &self.shares {
            List { of: name, field: "size", values: size }.len(self.x.len())?.finite()?.not_negative()?;
        }
        Ok(())
    }

    fn color(&self, index: usize) -> Color {
        match &self.colors {
            ShareColors::Ramp => Color::ramp(index, self.shares.len()),
            ShareColors::Names(palette) => {
                let names = self.shares.iter().map(|share| share.name.as_str());
                palette.with(names).style(&self.shares[index].name).color.mix(WHITE, 0.2)
            }
        }
    }

    /// The edges between parts, from the bottom up: one more than there are parts.
    fn edges(&self) -> Vec<Vec<f64>> {
        let totals: Vec<f64> =
            (0..self.x.len()).map(|at| self.shares.iter().map(|share| share.size[at]).sum()).collect();
        let mut edges = vec![vec![0.0; self.x.len()]];
        for (index, share) in self.shares.iter().enumerate() {
            let part = |at: usize| if totals[at] > 0.0 { share.size[at] / totals[at] } else { 0.0 };
            edges.push((0..self.x.len()).map(|at| (edges[index][at] + part(at)).min(1.0)).collect());
        }
        edges
    }

    /// Height of a line of the key: smaller where many have to fit.
    fn key_row(&self, height: f64) -> f64 {
        (height / self.shares.len() as f64).clamp(12.0, TICK * LINE + 6.0)
    }
}

impl SharesFigure {
    /// Checks the numbers: finite, not negative, of equal lengths, `x` increasing.
    pub fn new(shares: Shares) -> Result<Self, Error> {
        not_empty(&shares.panels, "panel", "a figure of shares")?;
        shares.panels.iter().try_for_each(SharesPanel::check)?;
        Ok(Self { shares })
    }

    /// The figure as SVG.
    pub fn svg(&self) -> String {
        let Shares { title, x_label, y_label, panels } = &self.shares;
        let columns = Layout::columns(panels.len(), 3);
        let (width, height) = [(620.0, 360.0), (400.0, 290.0), (270.0, 260.0)][columns - 1];
        let most = panels.iter().map(|panel| panel.shares.len()).max().unwrap_or(1);
        let (width, height) = axes::plot_size((width, height), x_label, y_label);
        let plot = (width, height.max(12.0 * most as f64));
        let y = Scale::linear(0.0, 1.0, 5, Labels::Percent);
        let ticks = axes::tick_room([&y].into_iter());
        let names = panels.iter().flat_map(|panel| &panel.shares).map(|share| share.name.as_str());
        let keys = names.map(|name| font::width(name, TICK, Weight::Regular)).fold(0.0, f64::max);
        let titles = panels.iter().map(|panel| axes::title_width(&panel.title)).fold(0.0, f64::max);
        let layout = Layout {
            count: panels.len(),
            columns,
            plot,
            inset: Inset {
                left: ticks,
                right: (14.0 + KEY + 6.0 + keys + 26.0).max(titles - width + 20.0),
                top: axes::top_room(panels.iter().any(|panel| !panel.title.is_empty())),
                bottom: axes::bottom_room(x_label) + 4.0,
            },
            y_label: if y_label.is_empty() { 0.0 } else { LABEL * LINE + 6.0 },
        };
        layout.draw(title, &Legend::default(), |canvas, index, rect| {
            let panel = &panels[index];
            let tight = |count| Scale::tight(&panel.x, count, Labels::Compact);
            let axes = Axes {
                title: &panel.title,
                x_label: if layout.is_bottom(index) { x_label } else { "" },
                y_label: if layout.is_left(index) { y_label } else { "" },
                y_label_gap: ticks + 6.0 + LABEL * 0.6,
                x: &axes::fitted(width, 5, tight),
                y: &y,
                grid: Grid::Rows,
            };
            axes.draw(canvas, rect);
            draw_areas(canvas, rect, &axes, panel);
            draw_key(canvas, rect, panel);
        })
    }
}

fn draw_areas(canvas: &mut Canvas, plot: Rect, axes: &Axes, panel: &SharesPanel) {
    let line = |heights: &Vec<f64>| -> Vec<Point> {
        let points = panel.x.iter().zip(heights).map(|(&x, &y)| axes.point(plot, x, y)).collect::<Vec<_>>();
        match points.as_slice() {
            // A single moment fills the panel.
            [(_, y)] => vec![(plot.left, *y), (plot.right(), *y)],
            _ => points,
        }
    };
    let edges: Vec<Vec<Point>> = panel.edges().iter().map(line).collect();
    for (index, (share, pair)) in panel.shares.iter().zip(edges.windows(2)).enumerate() {
        let outline = [simplified(&pair[1]), simplified(&pair[0]).into_iter().rev().collect()].concat();
        canvas.area("share", &share.name, &outline, panel.color(index), 1.0);
    }
    for edge in edges.iter().skip(1).take(panel.shares.len() - 1) {
        canvas.polyline("edge", "", &simplified(edge), Stroke { color: WHITE, width: 0.7, dash: "" });
    }
    for (index, (share, pair)) in panel.shares.iter().zip(edges.windows(2)).enumerate() {
        if let Some(at) = roomiest(&pair[0], &pair[1], font::width(&share.name, TICK, Weight::Regular)) {
            let text = Text::new("label", &share.name, at, TICK);
            let color = panel.color(index).contrast();
            canvas.text(Text { anchor: Anchor::Middle, color, ..text });
        }
    }
}

/// The middle of a box of this width between two edges, if a line of text fits there: where there is
/// the most air, up to three lines, and then nearest to the middle.
fn roomiest(low: &[Point], high: &[Point], width: f64) -> Option<Point> {
    let (left, right) = (low.first()?.0 + width / 2.0 + 6.0, low.last()?.0 - width / 2.0 - 6.0);
    let middles = (0..=40).map(|step| left + f64::from(step) / 40.0 * (right - left));
    let boxes = middles.filter(|_| right >= left).map(|x| {
        // Points just outside bound the edges between points inside.
        let first = low.partition_point(|point| point.0 < x - width / 2.0).saturating_sub(1);
        let last = (low.partition_point(|point| point.0 <= x + width / 2.0) + 1).min(low.len());
        let floor = low[first..last].iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
        let ceiling = high[first..last].iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
        ((floor - ceiling).min(3.0 * TICK * LINE), (x, f64::midpoint(floor, ceiling)))
    });
    let off_middle = |at: &Point| (at.0 - f64::midpoint(left, right)).abs();
    let best =
        boxes.max_by(|a, b| a.0.total_cmp(&b.0).then(off_middle(&b.1).total_cmp(&off_middle(&a.1))))?;
    (best.0 >= TICK * LINE + 4.0).then_some(best.1)
}

fn draw_key(canvas: &mut Canvas, plot: Rect, panel: &SharesPanel) {
    let row = panel.key_row(plot.height);
    let size = TICK.min(row / 1.1);
    let below = (plot.height - row * panel.shares.len() as f64) / 2.0;
    canvas.group("key", |canvas| {
        for (index, share) in panel.shares.iter().enumerate() {
            let (x, y) = (plot.right() + 14.0, plot.bottom() - below - (index as f64 + 0.5) * row);
            let swatch = Rect::around((x + KEY / 2.0, y), KEY, row - 2.0);
            canvas.rect("key", swatch, panel.color(index));
            canvas.text(Text::new("key-name", &share.name, (x + KEY + 6.0, y), size));
        }
    });
}
