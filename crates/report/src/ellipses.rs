//! Closed outlines in the plane, one square panel after another: confidence sets that shrink.

use crate::axes::{self, Axes, Grid};
use crate::check::{List, not_empty, quoted};
use crate::font::LINE;
use crate::labels;
use crate::layout::{Inset, LABEL, Layout};
use crate::legend::{Key, Legend};
use crate::palette::{Color, Marker};
use crate::scale::{Scale, extent};
use crate::svg::{Canvas, Point, Rect, Stroke};
use crate::ticks::Labels;
use crate::trace::simplified;
use crate::{Error, Palette};

const SIDE: f64 = 260.0;
/// A panel by itself has more room.
const ALONE: f64 = 440.0;
const STAR: f64 = 10.0;
const DOT: f64 = 4.5;
const STAR_COLOR: Color = Color(0xB0, 0x12, 0x2B);

/// How an outline is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OutlineStyle {
    /// A line around a translucent area.
    #[default]
    Filled,
    /// A line.
    Line,
    /// A dashed line.
    Dashed,
}

/// A closed outline, usually around a centre.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// What it is called; picks the colour.
    pub name: String,
    /// Its points in order, at least one; the last one is joined to the first.
    pub points: Vec<(f64, f64)>,
    /// Drawn as a dot that carries the name; without one, the outline itself carries it.
    pub center: Option<(f64, f64)>,
    /// How it is drawn.
    pub style: OutlineStyle,
}

/// One square plot of an [`EllipsesFigure`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EllipsesPanel {
    /// Stands above the plot.
    pub title: String,
    /// The outlines, drawn in this order.
    pub outlines: Vec<Outline>,
    /// Drawn as a star.
    pub truth: Option<(f64, f64)>,
}

/// Everything an [`EllipsesFigure`] shows.
#[derive(Debug, Clone, PartialEq)]
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
    /// Which names come first, to keep their colours across figures.
    pub palette: Palette,
    /// The plots, at least one.
    pub panels: Vec<EllipsesPanel>,
}

impl Default for Ellipses {
    fn default() -> Self {
        let (title, x_label, y_label) = (String::new(), String::new(), String::new());
        Self {
            title,
            x_label,
            y_label,
            truth_name: "truth".into(),
            own_units: false,
            palette: Palette::default(),
            panels: vec![],
        }
    }
}

/// Outlines, centres and a star in square panels of the same ranges, with one unit on both axes unless
/// they have their own.
///
/// ```
/// use truenorth_report::{Ellipses, EllipsesFigure, EllipsesPanel, Outline, OutlineStyle};
///
/// let points = vec![(0.0, 0.0), (1.0, 0.0), (0.5, 1.0)];
/// let style = OutlineStyle::Filled;
/// let outlines = vec![Outline { name: "online".into(), points, center: Some((0.5, 0.3)), style }];
/// let panel = EllipsesPanel { title: "round 10".into(), outlines, truth: Some((0.6, 0.4)) };
/// let figure = EllipsesFigure::new(Ellipses { panels: vec![panel], ..Ellipses::default() })?;
/// assert!(figure.svg().contains("truth"));
/// # Ok::<(), truenorth_report::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EllipsesFigure {
    ellipses: Ellipses,
    palette: Palette,
}

impl Outline {
    fn check(&self) -> Result<(), Error> {
        not_empty(&self.points, "point", &quoted(&self.name))?;
        let coordinates = |points: &[(f64, f64)]| points.iter().flat_map(|p| [p.0, p.1]).collect::<Vec<_>>();
        List { of: &self.name, field: "points", values: &coordinates(&self.points) }.finite()?;
        List { of: &self.name, field: "center", values: &coordinates(self.center.as_slice()) }.finite()?;
        Ok(())
    }
}

impl EllipsesPanel {
    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let outlines = self.outlines.iter().flat_map(|outline| outline.points.iter().chain(&outline.center));
        outlines.chain(&self.truth).copied()
    }
}

impl EllipsesFigure {
    /// Checks the numbers: finite, and no outline without points.
    pub fn new(ellipses: Ellipses) -> Result<Self, Error> {
        not_empty(&ellipses.panels, "panel", "a figure of ellipses")?;
        for panel in &ellipses.panels {
            panel.outlines.iter().try_for_each(Outline::check)?;
            if let Some((x, y)) = panel.truth {
                List { of: &ellipses.truth_name, field: "truth", values: &[x, y] }.finite()?;
            }
        }
        let outlines = ellipses.panels.iter().flat_map(|panel| &panel.outlines);
        let palette = ellipses.palette.with(outlines.map(|outline| outline.name.as_str()));
        Ok(Self { ellipses, palette })
    }

    /// The figure as SVG.
    pub fn svg(&self) -> String {
        let Ellipses { title, x_label, y_label, panels, .. } = &self.ellipses;
        let side = self.side();
        let (x, y) = self.scales(side);
        let ticks = axes::tick_room([&y].into_iter());
        let titles = panels.iter().map(|panel| axes::title_width(&panel.title)).fold(0.0, f64::max);
        let layout = Layout {
            count: panels.len(),
            columns: Layout::columns(panels.len(), 4),
            plot: (side, side),
            inset: Inset {
                left: ticks,
                right: (titles - side + 20.0).max(22.0),
                top: axes::top_room(panels.iter().any(|panel| !panel.title.is_empty())),
                bottom: axes::bottom_room(x_label) + 4.0,
            },
            y_label: if y_label.is_empty() { 0.0 } else { LABEL * LINE + 6.0 },
        };
        layout.draw(title, &self.legend(), |canvas, index, rect| {
            let axes = Axes {
                title: &panels[index].title,
                x_label: if layout.is_bottom(index) { x_label } else { "" },
                y_label: if layout.is_left(index) { y_label } else { "" },
                y_label_gap: ticks + 6.0 + LABEL * 0.6,
                x: &x,
                y: &y,
                grid: Grid::Squares,
            };
            axes.draw(canvas, rect);
            self.draw_panel(canvas, rect, &axes, &panels[index]);
        })
    }

    /// Side of a panel: room for its labels and those of its axes.
    fn side(&self) -> f64 {
        let Ellipses { x_label, y_label, truth_name, panels, .. } = &self.ellipses;
        let least = if panels.len() == 1 { ALONE } else { SIDE };
        let (width, height) = axes::plot_size((least, least), x_label, y_label);
        let names = panels.iter().flat_map(|panel| &panel.outlines).map(|outline| &outline.name);
        let widest = names.chain([truth_name]).map(|name| labels::size(name).0 + 40.0);
        widest.fold(width.max(height), f64::max)
    }

    /// Ranges that hold every point of every panel, of equal length on both axes if they share a unit.
    fn scales(&self, side: f64) -> (Scale, Scale) {
        let points: Vec<(f64, f64)> = self.ellipses.panels.iter().flat_map(EllipsesPanel::points).collect();
        let range = |values: Vec<f64>| match extent(values.into_iter()) {
            (low, high) if low <= high => (f64::midpoint(low, high), high - low),
            _ => (0.0, 0.0),
        };
        let (x, width) = range(points.iter().map(|point| point.0).collect());
        let (y, height) = range(points.iter().map(|point| point.1).collect());
        let half = |span: f64, size: f64| match span.max(1e-6 * size) {
            span if span > 1e-200 => 0.54 * span,
            _ => 1.0,
        };
        let (half_x, half_y) = if self.ellipses.own_units {
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
        let outlines = || self.ellipses.panels.iter().flat_map(|panel| &panel.outlines);
        let key = |name: &String| {
            let outline = outlines().find(|outline| outline.name == *name)?;
            let (color, dash) = (self.palette.style(name).color, outline.style.dash());
            let marker = outline.center.map(|_| Marker::Circle);
            Some((name.clone(), Key::Line { color, width: 2.0, dash, marker }))
        };
        let star = self.ellipses.panels.iter().find_map(|panel| panel.truth);
        let star = star.map(|_| (self.ellipses.truth_name.clone(), Key::Marker(Marker::Star, STAR_COLOR)));
        Legend { items: self.palette.names().iter().filter_map(key).chain(star).collect() }
    }

    fn draw_panel(&self, canvas: &mut Canvas, plot: Rect, axes: &Axes, panel: &EllipsesPanel) {
        let place = |&(x, y): &(f64, f64)| axes.point(plot, x, y);
        let outlines: Vec<Vec<Point>> =
            panel.outlines.iter().map(|outline| closed(&outline.points).map(place).collect()).collect();
        for (outline, points) in panel.outlines.iter().zip(&outlines) {
            let color = self.palette.style(&outline.name).color;
            let shape = simplified(points);
            if outline.style == OutlineStyle::Filled {
                canvas.area("fill", &outline.name, &shape, color, 0.13);
            }
            let stroke = Stroke { color, width: 2.0, dash: outline.style.dash() };
            canvas.polyline("outline", &outline.name, &shape, stroke);
        }
        // Name, colour, where it belongs, radius of the marker there.
        let mut marks: Vec<(&str, Color, Point, f64)> = Vec::new();
        if let Some(truth) = &panel.truth {
            marks.push((&self.ellipses.truth_name, STAR_COLOR, place(truth), STAR));
        }
        for (outline, points) in panel.outlines.iter().zip(&outlines) {
            let color = self.palette.style(&outline.name).color;
            let top = points.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
            let center = outline.center.as_ref().map(place);
            if let Some(center) = center {
                canvas.marker("center", Marker::Circle, center, DOT, color);
            }
            marks.push((
                &outline.name,
                color,
                center.unwrap_or(top),
                if center.is_some() { DOT } else { 0.0 },
            ));
        }
        if let Some(truth) = &panel.truth {
            canvas.marker("truth", Marker::Star, place(truth), STAR, STAR_COLOR);
        }
        let busy: Vec<Point> = outlines.iter().flat_map(|points| labels::dense(points)).collect();
        let mut taken: Vec<Rect> =
            marks.iter().map(|mark| Rect::around(mark.2, 2.0 * mark.3, 2.0 * mark.3)).collect();
        for (name, color, at, radius) in marks {
            let rect = labels::near(at, radius, labels::size(name), plot, &taken, &busy);
            labels::draw_near(canvas, name, color.ink(), at, radius, rect);
            taken.push(rect);
        }
    }
}

fn closed(points: &[(f64, f64)]) -> impl Iterator<Item = &(f64, f64)> {
    points.iter().chain(points.first())
}

impl OutlineStyle {
    fn dash(self) -> &'static str {
        if self == Self::Dashed { "7 4" } else { "" }
    }
}
