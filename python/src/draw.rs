//! Our own figures, for those who have no other way to draw.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use truenorth_app::palette;
use truenorth_audit::directions_figure;
use truenorth_report::{AxisScale, Curves, CurvesPanel, Interval, Palette, Series};

use crate::error::Result;

/// Pixels for each unit of an SVG.
const SCALE: f32 = 2.0;

/// Name, x, mean, low, high; no band where the last two are empty.
type Line = (String, Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>);

/// Lines with bands, a plot for each panel.
#[pyfunction]
pub(crate) fn curves_svg(
    title: String,
    x_label: String,
    y_label: String,
    panels: Vec<(String, Vec<Line>)>,
    linear: bool,
) -> Result<String> {
    let line = |(name, x, mean, low, high): Line| {
        let series = Series::new(name, x, mean);
        if low.is_empty() { series } else { series.with_band(low, high) }
    };
    let y_scale = if linear { AxisScale::Linear } else { AxisScale::Auto };
    let panel = |(title, lines): (String, Vec<Line>)| CurvesPanel {
        title,
        y_scale,
        series: lines.into_iter().map(line).collect(),
        ..CurvesPanel::default()
    };
    let panels = panels.into_iter().map(panel).collect();
    let palette = palette();
    Ok(Curves { title, x_label, y_label, palette, panels, ..Curves::default() }.svg()?)
}

/// Name, coverage, drift with its interval, trust.
type Row = (String, f64, Option<(f64, f64, f64)>, f64);

/// A row for each feature: name, coverage, drift with its interval, trust.
#[pyfunction]
pub(crate) fn directions_svg(title: String, notes: [String; 3], rows: Vec<Row>) -> Result<String> {
    let direction = |(name, coverage, drift, trust): Row| {
        let drift = drift.map(|(value, low, high)| Interval { value, low, high });
        truenorth_report::Row { name, size: coverage, interval: drift, share: trust, ..Default::default() }
    };
    let rows = rows.into_iter().map(direction).collect();
    Ok(directions_figure(title, "Feature", notes, 0.0, rows).svg()?)
}

/// Pixels of an SVG of ours.
#[pyfunction]
pub(crate) fn svg_to_png<'py>(py: Python<'py>, svg: &str) -> Result<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &py.detach(|| truenorth_report::png(svg, SCALE))?))
}

/// Colour and dash pattern of each name, as our figures have them.
#[pyfunction]
pub(crate) fn look(names: Vec<String>) -> Vec<(String, &'static str)> {
    let all = Palette::new(palette().names().iter().cloned().chain(names.clone()));
    names.iter().map(|name| all.look(name)).collect()
}
