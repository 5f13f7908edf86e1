//! Lines with bands in panels: regret over rounds, error over sample size.

use crate::axes::{self, Axes, Grid};
use crate::check::not_empty;
use crate::labels::{self, EndLabel};
use crate::layout::{Inset, LABEL, Layout};
use crate::legend::{Key, Legend};
use crate::palette::{AXIS, Style};
use crate::scale::{Scale, extent};
use crate::series::{Curves, CurvesPanel, Marks, Reference, Series};
use crate::svg::{Canvas, Point, Rect, Stroke};
use crate::ticks::Labels;
use crate::trace::simplified;
use crate::{AxisScale, Error, Palette};

const LINE_WIDTH: f64 = 2.4;
/// A line over a linear x axis starts wherever the first rounds put it. Only this far below the
/// smallest final mean does a logarithmic y axis follow it.
const SHOWN_BELOW_ENDS: f64 = 10.0;

/// A figure of lines with bands, in rows of at most three panels.
///
/// Each line has its name at its end and in a shared legend. A panel whose range demands it gets a
/// logarithmic y axis, see [`AxisScale`]; over a linear x axis that one reaches down to a tenth of the
/// smallest positive final mean, and what lies below is drawn on its lower edge.
///
/// ```
/// use truenorth_report::{Curves, CurvesFigure, CurvesPanel, Series};
///
/// let series = Series::new("LinUCB", [0.0, 1.0, 2.0], [0.0, 0.8, 1.1]);
/// let panel = CurvesPanel { title: "aligned".into(), series: vec![series], ..CurvesPanel::default() };
/// let curves = Curves { x_label: "round".into(), panels: vec![panel], ..Curves::default() };
/// assert!(CurvesFigure::new(curves)?.svg().starts_with("<svg"));
/// # Ok::<(), truenorth_report::Error>(())
/// ```
///
/// With markers, logarithmic axes and a slope to compare with:
///
/// ```
/// use truenorth_report::{AxisScale, Curves, CurvesFigure, CurvesPanel, Marks, Reference, Series};
///
/// let series = vec![Series::new("measured", [10.0, 100.0, 1000.0], [3.0, 9.0, 33.0])];
/// let references = vec![Reference { name: "slope 1/2".into(), slope: 0.5, through: (10.0, 2.0) }];
/// let panel = CurvesPanel { y_scale: AxisScale::Log, series, references, ..CurvesPanel::default() };
/// let (x_scale, marks) = (AxisScale::Log, Marks::Points);
/// let figure = CurvesFigure::new(Curves { x_scale, marks, panels: vec![panel], ..Curves::default() })?;
/// assert!(figure.svg().contains("slope 1/2"));
/// # Ok::<(), truenorth_report::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CurvesFigure {
    curves: Curves,
    palette: Palette,
}

impl CurvesFigure {
    /// Checks the numbers: finite, of equal lengths, `x` increasing, `low` at most `high`.
    pub fn new(curves: Curves) -> Result<Self, Error> {
        not_empty(&curves.panels, "panel", "a figure of curves")?;
        curves.panels.iter().try_for_each(CurvesPanel::check)?;
        let palette = curves.palette.with(curves.panels.iter().flat_map(CurvesPanel::names));
        Ok(Self { curves, palette })
    }

    /// The figure as SVG.
    pub fn svg(&self) -> String {
        let Curves { title, x_label, y_label, panels, .. } = &self.curves;
        let columns = Layout::columns(panels.len(), 3);
        let (width, height) = [(620.0, 400.0), (380.0, 290.0), (262.0, 240.0)][columns - 1];
        let (width, height) = axes::plot_size((width, height), x_label, y_label);
        let tallest = panels.iter().map(|panel| labels::end_height(panel.labels())).fold(height, f64::max);
        let widest = panels.iter().map(|panel| axes::title_width(&panel.title)).fold(width, f64::max);
        let plot = (width, tallest);
        let scales: Vec<(Scale, Scale)> = panels.iter().map(|panel| self.scales(panel, plot)).collect();
        let ticks = axes::tick_room(scales.iter().map(|(_, y)| y));
        let ends = labels::end_room(panels.iter().flat_map(CurvesPanel::labels));
        let layout = Layout {
            count: panels.len(),
            columns,
            plot,
            inset: Inset {
                left: ticks,
                right: (ends + 22.0).max(widest - width + 20.0),
                top: axes::top_room(panels.iter().any(|panel| !panel.title.is_empty())),
                bottom: axes::bottom_room(x_label) + 4.0,
            },
            y_label: if y_label.is_empty() { 0.0 } else { LABEL * 1.2 + 6.0 },
        };
        layout.draw(title, &self.legend(), |canvas, index, rect| {
            let axes = Axes {
                title: &panels[index].title,
                x_label: if layout.is_bottom(index) { x_label } else { "" },
                y_label: if layout.is_left(index) { y_label } else { "" },
                y_label_gap: ticks + 6.0 + LABEL * 0.6,
                x: &scales[index].0,
                y: &scales[index].1,
                grid: Grid::Rows,
            };
            axes.draw(canvas, rect);
            self.draw_data(canvas, rect, &axes, &panels[index]);
        })
    }

    fn scales(&self, panel: &CurvesPanel, (width, height): (f64, f64)) -> (Scale, Scale) {
        let xs: Vec<f64> = panel.series.iter().flat_map(|series| &series.x).copied().collect();
        let log_x = self.curves.x_scale == AxisScale::Log;
        let x = axes::fitted(width, if width > 500.0 { 8 } else { 5 }, |count| {
            let scale = if log_x { Scale::tight_log } else { Scale::tight };
            scale(&xs, count, Labels::Compact)
        });
        let heights = panel.heights();
        let ends: Vec<f64> = panel.series.iter().filter_map(Series::last_mean).collect();
        let count = if height > 350.0 { 7 } else { 5 };
        let y = match panel.y_scale.resolve(&heights, &ends) {
            AxisScale::Log => {
                let (smallest_end, _) = extent(ends.into_iter().filter(|&end| end > 0.0));
                let floor = (!log_x).then_some(smallest_end / SHOWN_BELOW_ENDS);
                Scale::log(&heights, floor, 2 * count, Labels::Grouped)
            }
            _ => Scale::rounded(&heights, count, Labels::Grouped),
        };
        (x, y)
    }

    fn legend(&self) -> Legend {
        let drawn: Vec<&str> = self.curves.panels.iter().flat_map(CurvesPanel::names).collect();
        let names = self.palette.names().iter().filter(|name| drawn.contains(&name.as_str()));
        let key = |name: &String| {
            let Style { color, dash, marker } = self.palette.style(name);
            let marker = (self.curves.marks == Marks::Points).then_some(marker);
            (name.clone(), Key::Line { color, width: LINE_WIDTH, dash, marker })
        };
        Legend { items: names.map(key).collect() }
    }

    fn draw_data(&self, canvas: &mut Canvas, plot: Rect, axes: &Axes, panel: &CurvesPanel) {
        let mut ends = Vec::new();
        for series in &panel.series {
            self.draw_band(canvas, plot, axes, series);
        }
        let mut lines = Vec::new();
        for reference in &panel.references {
            let points = draw_reference(canvas, plot, axes, reference);
            // A power law may pass by the plot.
            if let Some(&end) = points.last() {
                ends.push(EndLabel { name: reference.name.clone(), color: AXIS, end });
            }
            lines.push(points);
        }
        for series in &panel.series {
            let points = self.draw_line(canvas, plot, axes, series);
            let (name, color) = (series.name.clone(), self.palette.style(&series.name).color);
            ends.extend(points.last().map(|&end| EndLabel { name, color, end }));
            lines.push(points);
        }
        labels::draw_ends(canvas, plot, ends, &lines);
    }

    fn draw_band(&self, canvas: &mut Canvas, plot: Rect, axes: &Axes, series: &Series) {
        let Some(band) = &series.band else { return };
        let edge = |heights: &[f64]| {
            let points = series.x.iter().zip(heights).map(|(&x, &y)| axes.point(plot, x, y));
            simplified(&points.collect::<Vec<_>>())
        };
        let (mut outline, low) = (edge(&band.high), edge(&band.low));
        let color = self.palette.style(&series.name).color;
        if let ([high], [low]) = (outline.as_slice(), low.as_slice()) {
            let stroke = Stroke { color, width: 1.5, dash: "" };
            return canvas.line("band", *high, *low, stroke);
        }
        outline.extend(low.into_iter().rev());
        canvas.area("band", &series.name, &outline, color, 0.18);
    }

    fn draw_line(&self, canvas: &mut Canvas, plot: Rect, axes: &Axes, series: &Series) -> Vec<Point> {
        let Style { color, dash, marker } = self.palette.style(&series.name);
        let points: Vec<Point> =
            series.x.iter().zip(&series.mean).map(|(&x, &y)| axes.point(plot, x, y)).collect();
        let stroke = Stroke { color, width: LINE_WIDTH, dash };
        let line = simplified(&points);
        canvas.polyline("line", &series.name, &line, stroke);
        // A single point has no line to see.
        if self.curves.marks == Marks::Points || points.len() == 1 {
            for &at in &points {
                canvas.marker("marker", marker, at, 4.5, color);
            }
        }
        line
    }
}

/// Draws the part of a power law inside the plot.
fn draw_reference(canvas: &mut Canvas, plot: Rect, axes: &Axes, reference: &Reference) -> Vec<Point> {
    const STEPS: u32 = 400;
    let Reference { name, slope, through } = reference;
    let inside = (0..=STEPS).filter_map(|step| {
        let across = f64::from(step) / f64::from(STEPS);
        let x = axes.x.value(across);
        let up = axes.y.place_unbounded(through.1 * (x / through.0).powf(*slope));
        (x > 0.0 && (0.0..=1.0).contains(&up)).then(|| axes::point(plot, across, up))
    });
    let points = simplified(&inside.collect::<Vec<_>>());
    if !points.is_empty() {
        canvas.polyline("reference", name, &points, Stroke { color: AXIS, width: 1.6, dash: "6 4" });
    }
    points
}
