//! Horizontal bars: one number for each name.

use crate::axes::{self, Grid};
use crate::check::{finite, not_empty};
use crate::font::{self, Weight};
use crate::layout::{self, LABEL, MARGIN, TICK};
use crate::numbers::short;
use crate::scale::{PAD, Scale, extent};
use crate::svg::{Canvas, Rect, Text};
use crate::ticks::Labels;
use crate::{AxisScale, Error, Palette};

const BAR: f64 = 19.0;
const ROW: f64 = 27.0;
const PLOT: f64 = 520.0;

/// Horizontal bars with their values over one axis.
///
/// On a logarithmic axis, bars start at its left edge, which has no meaning of its own, and zeros have
/// no length.
///
/// ```
/// use truenorth_report::Bars;
///
/// let bars = vec![("LinUCB".to_owned(), 80.0), ("MinUCB".to_owned(), 12.0)];
/// let figure = Bars { value_label: "final regret".into(), bars, ..Bars::default() };
/// assert!(figure.svg()?.contains("MinUCB"));
/// # Ok::<(), truenorth_report::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bars {
    /// Stands above the figure, unless empty.
    pub title: String,
    /// Label of the axis.
    pub value_label: String,
    /// How the axis is spread; `Auto` takes each value as the end of a line.
    pub scale: AxisScale,
    /// Names, which pick the colours, and values from top to bottom, at least one.
    pub bars: Vec<(String, f64)>,
}

impl Bars {
    /// The figure as SVG, if its numbers are finite.
    pub fn svg(self) -> Result<String, Error> {
        let Self { title, value_label, bars, .. } = &self;
        not_empty(bars, "bar", "a figure of bars")?;
        for (name, value) in bars {
            finite(name, "value", &[*value])?;
        }

        let mut canvas = Canvas::default();
        let top = layout::draw_title(&mut canvas, title, 12.0);
        let scale = self.axis();
        let names = font::widest(bars.iter().map(|(name, _)| name), LABEL, Weight::Regular);
        let height = bars.len() as f64 * ROW + 6.0;
        let plot = Rect { left: MARGIN + names + 12.0, top, width: PLOT, height };
        let log = if scale.log && !value_label.is_empty() { " (log scale)" } else { "" };
        axes::draw_x(&mut canvas, plot, &scale, &format!("{value_label}{log}"), Grid::Columns);
        canvas.group("panel", |canvas| draw_bars(canvas, plot, &scale, bars));

        let values = font::widest(bars.iter().map(|(_, value)| short(*value)), TICK, Weight::Regular);
        let last_tick = scale.ticks.last().map_or(0.0, |tick| axes::tick_width(&tick.label) / 2.0);
        let right = plot.right() + (values + 18.0).max(last_tick);
        let right = right.max(MARGIN + layout::title_width(title));
        let height = plot.bottom() + axes::bottom_room(value_label) + MARGIN;
        Ok(canvas.finish(right + MARGIN, height, title, "Bars"))
    }

    fn axis(&self) -> Scale {
        let values: Vec<f64> = self.bars.iter().map(|(_, value)| *value).collect();
        if self.scale.resolve(&values, &values) == AxisScale::Log {
            // Half of the smallest value leaves its bar a visible length.
            let (smallest, _) = extent(values.iter().copied().filter(|&value| value > 0.0));
            let floor = if smallest.is_finite() { smallest / 2.0 } else { 1.0 };
            let values: Vec<f64> = values.iter().map(|&value| value.max(floor)).chain([floor]).collect();
            return axes::fitted(PLOT, 8, |count| Scale::log(&values, None, PAD, count, Labels::Grouped));
        }
        let with_zero: Vec<f64> = values.into_iter().chain([0.0]).collect();
        axes::fitted(PLOT, 8, |count| Scale::rounded(&with_zero, count, Labels::Grouped))
    }
}

fn draw_bars(canvas: &mut Canvas, plot: Rect, scale: &Scale, bars: &[(String, f64)]) {
    let palette = Palette::new(bars.iter().map(|(name, _)| name));
    let across = |value: f64| plot.left + scale.place(value) * plot.width;
    let start = if scale.log { plot.left } else { across(0.0) };
    for (index, (name, value)) in bars.iter().enumerate() {
        let y = plot.top + (index as f64 + 0.5) * ROW;
        canvas.text(Text { anchor: "end", ..Text::new("bar-name", name, (plot.left - 12.0, y), LABEL) });
        let end = across(*value);
        let (left, width) = (start.min(end), (end - start).abs());
        let body = Rect { left, top: y - BAR / 2.0, width, height: BAR };
        canvas.rect("bar", body, palette.style(name).color.soft());
        let text = short(*value);
        canvas.text(Text { halo: true, ..Text::new("value", &text, (end.max(start) + 8.0, y), TICK) });
    }
}
