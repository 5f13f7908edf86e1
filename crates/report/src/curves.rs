//! Lines with bands in panels: regret over rounds, error over sample size.

use crate::axes::{self, Axes, Grid};
use crate::check::not_empty;
use crate::labels::{self, Label};
use crate::layout::{self, Panels};
use crate::legend::{Key, Legend};
use crate::palette::{AXIS, Style};
use crate::scale::{PAD, Scale, extent};
use crate::series::{Curves, CurvesPanel, Reference, Series};
use crate::svg::{Canvas, Point, Stroke};
use crate::ticks::Labels;
use crate::trace::simplified;
use crate::{AxisScale, Error};

const LINE_WIDTH: f64 = 2.4;
/// A line over a linear x axis starts wherever the first rounds put it. Only this far below the
/// smallest final mean does a logarithmic y axis follow it.
const SHOWN_BELOW_ENDS: f64 = 10.0;

impl Curves {
    /// The figure as SVG, if its numbers are finite, of equal lengths, `x` increasing, `low` at most `high`.
    pub fn svg(mut self) -> Result<String, Error> {
        not_empty(&self.panels, "panel", "a figure of curves")?;
        self.panels.iter().try_for_each(CurvesPanel::check)?;
        self.palette = self.palette.with(self.panels.iter().flat_map(CurvesPanel::names));

        let Self { title, x_label, y_label, panels, .. } = &self;
        let columns = layout::columns(panels.len(), 3);
        let (width, height) = [(620.0, 400.0), (380.0, 290.0), (262.0, 240.0)][columns - 1];
        let (width, height) = axes::plot_size((width, height), x_label, y_label);
        let height = panels.iter().map(|panel| labels::end_height(panel.labels())).fold(height, f64::max);
        let plot = (width, height);
        let layout = Panels {
            labels: [title, x_label, y_label],
            legend: self.legend(),
            columns,
            plot,
            right: labels::end_room(panels.iter().flat_map(CurvesPanel::labels)) + 22.0,
            grid: Grid::Rows,
            frames: panels.iter().map(|panel| self.framed(panel, plot)).collect(),
        };
        Ok(layout.svg(|canvas, axes, index| self.draw_data(canvas, axes, &panels[index])))
    }

    /// Title and axes of a panel.
    fn framed<'a>(&self, panel: &'a CurvesPanel, (width, height): (f64, f64)) -> (&'a str, Scale, Scale) {
        let xs: Vec<f64> = panel.series.iter().flat_map(|series| &series.x).copied().collect();
        let x = axes::fitted(width, if width > 500.0 { 8 } else { 5 }, |count| match self.x_scale {
            AxisScale::Log => Scale::log(&xs, None, 0.0, count, Labels::Compact),
            _ => Scale::tight(&xs, count, Labels::Compact),
        });
        let heights = panel.heights();
        let ends: Vec<f64> = panel.series.iter().filter_map(|series| series.mean.last().copied()).collect();
        let count = if height > 350.0 { 7 } else { 5 };
        let y = match panel.y_scale.resolve(&heights, &ends) {
            AxisScale::Log => {
                let (smallest_end, _) = extent(ends.into_iter().filter(|&end| end > 0.0));
                // Lines that all end at zero say nothing of what matters.
                let tells = self.x_scale != AxisScale::Log && smallest_end.is_finite();
                let floor = tells.then_some(smallest_end / SHOWN_BELOW_ENDS);
                Scale::log(&heights, floor, PAD, 2 * count, Labels::Grouped)
            }
            _ => Scale::rounded(&heights, count, Labels::Grouped),
        };
        (&panel.title, x, y)
    }

    fn legend(&self) -> Legend {
        let drawn: Vec<&str> = self.panels.iter().flat_map(CurvesPanel::names).collect();
        // A line that is alone has its name at its end.
        if drawn.iter().all(|name| *name == drawn[0]) {
            return Legend::default();
        }
        let names = self.palette.names().iter().filter(|name| drawn.contains(&name.as_str()));
        let key = |name: &String| {
            let Style { color, dash, marker } = self.palette.style(name);
            let stroke = Stroke { color, width: LINE_WIDTH, dash };
            (name.clone(), Key::Line(stroke, self.markers.then_some(marker)))
        };
        Legend { items: names.map(key).collect() }
    }

    fn draw_data(&self, canvas: &mut Canvas, axes: &Axes, panel: &CurvesPanel) {
        for series in &panel.series {
            self.draw_band(canvas, axes, series);
        }
        let (mut ends, mut lines) = (Vec::new(), Vec::new());
        let mut label = |name, color, points: Vec<Point>| {
            // A power law may pass by the plot.
            ends.extend(points.last().map(|&at| Label { name, color, at, radius: 4.0 }));
            lines.push(points);
        };
        for reference in &panel.references {
            label(&reference.name, AXIS, draw_reference(canvas, axes, reference));
        }
        for series in &panel.series {
            let color = self.palette.style(&series.name).color;
            label(&series.name, color, self.draw_line(canvas, axes, series));
        }
        labels::draw_ends(canvas, axes.plot, ends, &lines);
    }

    fn draw_band(&self, canvas: &mut Canvas, axes: &Axes, series: &Series) {
        let Some(band) = &series.band else { return };
        let [low, mut outline] = band.each_ref().map(|edge| simplified(&axes.points(&series.x, edge)));
        let color = self.palette.style(&series.name).color;
        if let ([high], [low]) = (outline.as_slice(), low.as_slice()) {
            let stroke = Stroke { color, width: 1.5, dash: "" };
            return canvas.line("band", *high, *low, stroke);
        }
        outline.extend(low.into_iter().rev());
        canvas.area("band", &series.name, &outline, color, 0.18);
    }

    fn draw_line(&self, canvas: &mut Canvas, axes: &Axes, series: &Series) -> Vec<Point> {
        let Style { color, dash, marker } = self.palette.style(&series.name);
        let points = axes.points(&series.x, &series.mean);
        let line = simplified(&points);
        canvas.polyline("line", &series.name, &line, Stroke { color, width: LINE_WIDTH, dash });
        // A single point has no line to see.
        if self.markers || points.len() == 1 {
            for &at in &points {
                canvas.marker("marker", marker, at, 4.5, color);
            }
        }
        line
    }
}

/// Draws the part of a power law inside the plot.
fn draw_reference(canvas: &mut Canvas, axes: &Axes, reference: &Reference) -> Vec<Point> {
    const STEPS: u32 = 400;
    let Reference { name, slope, through } = reference;
    let inside = (0..=STEPS).filter_map(|step| {
        let across = f64::from(step) / f64::from(STEPS);
        let x = axes.x.value(across);
        let up = axes.y.place_unbounded(through.1 * (x / through.0).powf(*slope));
        (x > 0.0 && (0.0..=1.0).contains(&up)).then(|| axes.pixel(across, up))
    });
    let points = simplified(&inside.collect::<Vec<_>>());
    if !points.is_empty() {
        canvas.polyline("reference", name, &points, Stroke { color: AXIS, width: 1.6, dash: "6 4" });
    }
    points
}
