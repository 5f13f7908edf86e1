//! Stacked areas: how a whole divides into parts over time.

use crate::axes::{self, Axes, Grid};
use crate::check::{beside, finite, not_empty, quoted};
use crate::font::{self, LINE, Weight};
use crate::layout::{self, Panels, TICK};
use crate::legend::Legend;
use crate::palette::{Color, WHITE};
use crate::scale::Scale;
use crate::svg::{Canvas, Point, Rect, Stroke, Text};
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

/// One plot of [`Shares`].
#[derive(Debug, Clone, PartialEq)]
pub struct SharesPanel {
    /// Stands above the plot.
    pub title: String,
    /// Where sizes are known; increasing, at least one.
    pub x: Vec<f64>,
    /// The parts from bottom to top, at least one.
    pub shares: Vec<Share>,
    /// Colours them by name, for kinds without an order. Without one, they go from dark violet to yellow in the order
    /// given: for layers, ages, sizes.
    pub palette: Option<Palette>,
}

/// Stacked areas that fill 0 to 100% at each `x`, with a key beside each panel in the same order.
///
/// Sizes are divided by their sum at each `x`; where that is zero, so are all parts.
///
/// ```
/// use truenorth_report::{Palette, Share, Shares, SharesPanel};
///
/// let share = |name: &str, size: [f64; 2]| Share { name: name.into(), size: size.into() };
/// let panel = SharesPanel {
///     title: "by branch".into(),
///     x: vec![1.0, 100.0],
///     shares: vec![share("online", [0.1, 0.7]), share("pooled", [0.9, 0.3])],
///     palette: Some(Palette::default()),
/// };
/// let shares = Shares { panels: vec![panel], ..Shares::default() };
/// assert!(shares.svg()?.contains("pooled"));
/// # Ok::<(), truenorth_report::Error>(())
/// ```
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

impl SharesPanel {
    fn check(&self) -> Result<(), Error> {
        not_empty(&self.shares, "share", &format!("panel `{}`", self.title))?;
        not_empty(&self.x, "point", &quoted(&self.title))?;
        finite(&self.title, "x", &self.x)?.increasing()?;
        for Share { name, size } in &self.shares {
            beside(&self.x, name, "size", size)?.all("at least 0", |_, size| size >= 0.0)?;
        }
        Ok(())
    }

    fn color(&self, index: usize) -> Color {
        let Some(palette) = &self.palette else { return Color::ramp(index, self.shares.len()) };
        let palette = palette.with(self.shares.iter().map(|share| &share.name));
        palette.style(&self.shares[index].name).color.mix(WHITE, 0.2)
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
}

impl Shares {
    /// The figure as SVG, if its numbers are finite, not negative, of equal lengths, `x` increasing.
    pub fn svg(self) -> Result<String, Error> {
        let Self { title, x_label, y_label, panels } = &self;
        not_empty(panels, "panel", "a figure of shares")?;
        panels.iter().try_for_each(SharesPanel::check)?;

        let columns = layout::columns(panels.len(), 3);
        let (width, height) = [(620.0, 360.0), (400.0, 290.0), (270.0, 260.0)][columns - 1];
        let most = panels.iter().map(|panel| panel.shares.len()).max().unwrap_or(1);
        let (width, height) = axes::plot_size((width, height), x_label, y_label);
        let names = panels.iter().flat_map(|panel| &panel.shares).map(|share| &share.name);
        let frames = panels.iter().map(|panel| {
            let x = axes::fitted(width, 5, |count| Scale::tight(&panel.x, count, Labels::Compact));
            (panel.title.as_str(), x, Scale::linear(0.0, 1.0, 5, Labels::Percent))
        });
        let layout = Panels {
            labels: [title, x_label, y_label],
            legend: Legend::default(),
            columns,
            plot: (width, height.max(12.0 * most as f64)),
            right: 14.0 + KEY + 6.0 + font::widest(names, TICK, Weight::Regular) + 26.0,
            grid: Grid::Rows,
            frames: frames.collect(),
        };
        Ok(layout.svg(|canvas, axes, index| {
            draw_areas(canvas, axes, &panels[index]);
            draw_key(canvas, axes.plot, &panels[index]);
        }))
    }
}

fn draw_areas(canvas: &mut Canvas, axes: &Axes, panel: &SharesPanel) {
    let line = |heights: &Vec<f64>| match axes.points(&panel.x, heights).as_slice() {
        // A single moment fills the panel.
        [(_, y)] => vec![(axes.plot.left, *y), (axes.plot.right(), *y)],
        points => points.to_vec(),
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
            canvas.text(Text { anchor: "middle", color: panel.color(index).contrast(), ..text });
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
    // Lines are closer where many have to fit.
    let row = (plot.height / panel.shares.len() as f64).clamp(12.0, TICK * LINE + 6.0);
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
