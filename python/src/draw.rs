//! Our own figures, for those who have no other way to draw.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use truenorth::Preset;
use truenorth_report::{
    AxisScale, Curves, CurvesFigure, CurvesPanel, Direction, Directions, DirectionsFigure, DirectionsPanel,
    Drift, Heading, Palette, Series,
};

use crate::error::Failure;

/// Pixels for each unit of an SVG.
const SCALE: f32 = 2.0;

/// The same colour for a policy in every figure.
fn palette() -> Palette {
    Palette::new(Preset::ALL.map(Preset::name))
}

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
) -> PyResult<String> {
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
    let curves = Curves { title, x_label, y_label, palette: palette(), panels, ..Curves::default() };
    Ok(CurvesFigure::new(curves).map_err(Failure::from)?.svg())
}

/// Name, coverage, drift with its interval, trust.
type Row = (String, f64, Option<(f64, f64, f64)>, f64);

/// A row for each feature: name, coverage, drift with its interval, trust.
#[pyfunction]
pub(crate) fn directions_svg(title: String, notes: [String; 3], rows: Vec<Row>) -> PyResult<String> {
    let direction = |(name, coverage, drift, trust): Row| {
        let drift = drift.map_or(Drift::Unknown, |(value, low, high)| Drift::Estimate { value, low, high });
        Direction { name, coverage, drift, trust }
    };
    let directions = rows.into_iter().map(direction).collect();
    let [coverage, drift, trust] = notes;
    let figure = Directions {
        title,
        names: Heading::new("Feature", ""),
        coverage: Heading::new("Coverage", coverage),
        drift: Heading::new("Drift", drift),
        trust: Heading::new("Trust", trust),
        panels: vec![DirectionsPanel { title: String::new(), directions }],
    };
    Ok(DirectionsFigure::new(figure).map_err(Failure::from)?.svg())
}

/// Pixels of an SVG of ours.
#[pyfunction]
pub(crate) fn svg_to_png<'py>(py: Python<'py>, svg: &str) -> PyResult<Bound<'py, PyBytes>> {
    let pixels = py.detach(|| truenorth_report::png(svg, SCALE).map_err(Failure::from))?;
    Ok(PyBytes::new(py, &pixels))
}

/// Colour and dash pattern of each name, as our figures have them.
#[pyfunction]
pub(crate) fn look(names: Vec<String>) -> Vec<(String, &'static str)> {
    let all = Palette::new(Preset::ALL.map(Preset::name).map(str::to_owned).into_iter().chain(names.clone()));
    names.iter().map(|name| all.look(name)).collect()
}
