//! Closed outlines in the plane, one square panel after another: confidence sets that shrink.

use crate::axes::{self, Axes, Grid};
use crate::check::{finite, not_empty, quoted};
use crate::labels::{self, Label};
use crate::layout::{self, Panels};
use crate::legend::{Key, Legend};
use crate::palette::{CIRCLE, Color, STAR};
use crate::scale::{Scale, extent};
use crate::svg::{Canvas, Point, Rect, Stroke};
use crate::ticks::Labels;
use crate::trace::simplified;
use crate::{Error, Palette};

const SIDE: f64 = 260.0;
/// A panel by itself has more room.
const ALONE: f64 = 440.0;
const STAR_RADIUS: f64 = 10.0;
const DOT: f64 = 4.5;
const STAR_COLOR: Color = Color(0xB0_12_2B);

/// A closed outline, usually around a centre.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// What it is called; picks the colour.
    pub name: String,
    /// Its points in order, at least one; the last one is joined to the first.
    pub points: Vec<(f64, f64)>,
    /// Drawn as a dot that carries the name; without one, the outline itself carries it.
    pub center: Option<(f64, f64)>,
    /// Drawn as a dashed line rather than as a line around a translucent area.
    pub dashed: bool,
}

/// One square plot of [`Ellipses`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EllipsesPanel {
    /// Stands above the plot.
    pub title: String,
    /// The outlines, drawn in this order.
    pub outlines: Vec<Outline>,
    /// Drawn as a star.
    pub truth: Option<(f64, f64)>,
}

/// Outlines, centres and a star in square panels of the same ranges, with one unit on both axes unless
/// they have their own.
///
/// ```
/// use truenorth_report::{Ellipses, EllipsesPanel, Outline};
///
/// let points = vec![(0.0, 0.0), (1.0, 0.0), (0.5, 1.0)];
/// let outlines = vec![Outline { name: "online".into(), points, center: Some((0.5, 0.3)), dashed: false }];
/// let panels = vec![EllipsesPanel { title: "round 10".into(), outlines, truth: Some((0.6, 0.4)) }];
/// let ellipses = Ellipses { truth_name: "truth".into(), panels, ..Ellipses::default() };
/// assert!(ellipses.svg()?.contains("truth"));
/// # Ok::<(), truenorth_report::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ellipses {
    /// Stands above the figure, unless empty.
    pub title: String,
    /// Label of the x axes.
    pub x_label: String,
    /// Label of the y axes.
    pub y_label: String,
    /// What the star is called.
    pub truth_name: String,
    /// Each axis has a unit and a range of its own: for coefficients of different columns.
    pub own_units: bool,
    /// The plots, at least one.
    pub panels: Vec<EllipsesPanel>,
}

impl Outline {
    fn check(&self) -> Result<(), Error> {
        not_empty(&self.points, "point", &quoted(&self.name))?;
        let coordinates = |points: &[(f64, f64)]| points.iter().flat_map(|p| [p.0, p.1]).collect::<Vec<_>>();
        finite(&self.name, "points", &coordinates(&self.points))?;
        finite(&self.name, "center", &coordinates(self.center.as_slice()))?;
        Ok(())
    }

    fn stroke(&self, color: Color) -> Stroke<'static> {
        Stroke { color, width: 2.0, dash: if self.dashed { "7 4" } else { "" } }
    }
}

impl Ellipses {
    /// The figure as SVG, if its numbers are finite and no outline is without points.
    pub fn svg(self) -> Result<String, Error> {
        not_empty(&self.panels, "panel", "a figure of ellipses")?;
        for panel in &self.panels {
            panel.outlines.iter().try_for_each(Outline::check)?;
            if let Some((x, y)) = panel.truth {
                finite(&self.truth_name, "truth", &[x, y])?;
            }
        }

        let Self { title, x_label, y_label, panels, .. } = &self;
        let side = self.side();
        let (x, y) = self.scales(side);
        let layout = Panels {
            labels: [title, x_label, y_label],
            legend: self.legend(),
            columns: layout::columns(panels.len(), 4),
            plot: (side, side),
            right: 22.0,
            grid: Grid::Squares,
            frames: panels.iter().map(|panel| (panel.title.as_str(), x.clone(), y.clone())).collect(),
        };
        Ok(layout.svg(|canvas, axes, index| self.draw_panel(canvas, axes, &panels[index])))
    }

    /// The names in the order of their first appearance.
    fn palette(&self) -> Palette {
        Palette::new(self.outlines().map(|outline| &outline.name))
    }

    fn outlines(&self) -> impl Iterator<Item = &Outline> {
        self.panels.iter().flat_map(|panel| &panel.outlines)
    }

    /// Side of a panel: room for its labels and those of its axes.
    fn side(&self) -> f64 {
        let Self { x_label, y_label, truth_name, panels, .. } = self;
        let least = if panels.len() == 1 { ALONE } else { SIDE };
        let (width, height) = axes::plot_size((least, least), x_label, y_label);
        let names = self.outlines().map(|outline| &outline.name);
        let widest = names.chain([truth_name]).map(|name| labels::size(name).0 + 40.0);
        widest.fold(width.max(height), f64::max)
    }

    /// Ranges that hold every point of every panel, of equal length on both axes if they share a unit.
    fn scales(&self, side: f64) -> (Scale, Scale) {
        let drawn = self.outlines().flat_map(|outline| outline.points.iter().chain(&outline.center));
        let points: Vec<_> =
            drawn.chain(self.panels.iter().flat_map(|panel| &panel.truth)).copied().collect();
        let range = |axis: fn(&(f64, f64)) -> f64| match extent(points.iter().map(axis)) {
            (low, high) if low <= high => (f64::midpoint(low, high), high - low),
            _ => (0.0, 0.0),
        };
        let ((x, width), (y, height)) = (range(|point| point.0), range(|point| point.1));
        let half = |span: f64, size: f64| match span.max(1e-6 * size) {
            span if span > 1e-200 => 0.54 * span,
            _ => 1.0,
        };
        let (half_x, half_y) = if self.own_units {
            (half(width, x.abs()), half(height, y.abs()))
        } else {
            let both = half(width.max(height), x.abs().max(y.abs()));
            (both, both)
        };
        let axis = |middle: f64, half: f64, count| {
            Scale::linear(middle - half, middle + half, count, Labels::Grouped)
        };
        (axes::fitted(side, 5, |count| axis(x, half_x, count)), axis(y, half_y, 5))
    }

    fn legend(&self) -> Legend {
        let palette = self.palette();
        let key = |name: &String| {
            let outline = self.outlines().find(|outline| outline.name == *name)?;
            let stroke = outline.stroke(palette.style(name).color);
            Some((name.clone(), Key::Line(stroke, outline.center.map(|_| CIRCLE))))
        };
        let star = self.panels.iter().find_map(|panel| panel.truth);
        let star = star.map(|_| (self.truth_name.clone(), Key::Star(STAR_COLOR)));
        Legend { items: palette.names().iter().filter_map(key).chain(star).collect() }
    }

    fn draw_panel(&self, canvas: &mut Canvas, axes: &Axes, panel: &EllipsesPanel) {
        let palette = self.palette();
        let place = |&(x, y): &(f64, f64)| axes.point(x, y);
        let closed =
            |outline: &Outline| outline.points.iter().chain(outline.points.first()).map(place).collect();
        let outlines: Vec<Vec<Point>> = panel.outlines.iter().map(closed).collect();
        for (outline, points) in panel.outlines.iter().zip(&outlines) {
            let color = palette.style(&outline.name).color;
            let shape = simplified(points);
            if !outline.dashed {
                canvas.area("fill", &outline.name, &shape, color, 0.13);
            }
            canvas.polyline("outline", &outline.name, &shape, outline.stroke(color));
        }
        let truth = panel.truth.as_ref().map(place);
        let star = |at| Label { name: &self.truth_name, color: STAR_COLOR, at, radius: STAR_RADIUS };
        let mut labels: Vec<Label> = truth.map(star).into_iter().collect();
        for (Outline { name, center, .. }, points) in panel.outlines.iter().zip(&outlines) {
            let color = palette.style(name).color;
            let top = points.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
            let (at, radius) = center.as_ref().map_or((top, 0.0), |center| (place(center), DOT));
            if center.is_some() {
                canvas.marker("center", CIRCLE, at, DOT, color);
            }
            labels.push(Label { name, color, at, radius });
        }
        if let Some(at) = truth {
            canvas.marker("truth", STAR, at, STAR_RADIUS, STAR_COLOR);
        }
        let marker = |label: &Label| Rect::around(label.at, 2.0 * label.radius, 2.0 * label.radius);
        labels::draw_near(canvas, axes.plot, &labels, labels.iter().map(marker).collect(), &outlines);
    }
}
