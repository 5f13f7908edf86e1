//! Horizontal bars in groups: one number for each policy, by problem.

use crate::axes;
use crate::check::{List, not_empty};
use crate::font::{self, LINE, Weight};
use crate::layout::{LABEL, MARGIN, PANEL_TITLE, TICK, TITLE};
use crate::palette::{AXIS, GRID, MUTED, TEXT};
use crate::scale::Scale;
use crate::svg::{Anchor, Canvas, Rect, Stroke, Text};
use crate::ticks::{self, Labels};
use crate::{AxisScale, Error, Palette};

const BAR: f64 = 19.0;
const ROW: f64 = 27.0;
const HEADING: f64 = PANEL_TITLE * LINE + 10.0;
const GROUP_GAP: f64 = 14.0;
const PLOT: f64 = 520.0;

/// A value with the ends of its error bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What is measured; picks the colour.
    pub name: String,
    /// The length of the bar.
    pub value: f64,
    /// Lower end of the error bar, at most `value`.
    pub low: f64,
    /// Upper end of the error bar, at least `value`.
    pub high: f64,
}

/// Bars under one heading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BarGroup {
    /// The heading.
    pub title: String,
    /// The bars from top to bottom, at least one.
    pub bars: Vec<Bar>,
}

/// Everything a [`BarsFigure`] shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bars {
    /// Stands above the figure, unless empty.
    pub title: String,
    /// Label of the axis.
    pub value_label: String,
    /// How the axis is spread; `Auto` takes each value as the end of a line.
    pub scale: AxisScale,
    /// Which names come first, to keep their colours across figures.
    pub palette: Palette,
    /// The groups from top to bottom, at least one.
    pub groups: Vec<BarGroup>,
}

/// Horizontal bars with error bars and their values, in groups over one axis.
///
/// On a logarithmic axis, bars start at its left edge, which has no meaning of its own, and zeros have
/// no length.
///
/// ```
/// use truenorth_report::{Bar, BarGroup, Bars, BarsFigure};
///
/// let bars = vec![Bar::new("LinUCB", 80.0).with_error(70.0, 95.0), Bar::new("MinUCB", 12.0)];
/// let groups = vec![BarGroup { title: "aligned".into(), bars }];
/// let figure = BarsFigure::new(Bars { value_label: "final regret".into(), groups, ..Bars::default() })?;
/// assert!(figure.svg().contains("MinUCB"));
/// # Ok::<(), truenorth_report::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BarsFigure {
    bars: Bars,
    palette: Palette,
}

impl Bar {
    /// A bar without an error bar.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        Self { name: name.into(), value, low: value, high: value }
    }

    /// The same bar with an error bar from `low` to `high`.
    #[must_use]
    pub fn with_error(self, low: f64, high: f64) -> Self {
        Self { low, high, ..self }
    }

    fn check(&self) -> Result<(), Error> {
        let Self { name, value, low, high } = self;
        let list = |field, value| List { of: name, field, values: std::slice::from_ref(value) };
        list("low", low).finite()?;
        list("value", value).finite()?.at_least(&[*low], "at least `low`")?;
        list("high", high).finite()?.at_least(&[*value], "at least `value`")?;
        Ok(())
    }
}

impl BarsFigure {
    /// Checks the numbers: finite, and each value between the ends of its error bar.
    pub fn new(bars: Bars) -> Result<Self, Error> {
        not_empty(&bars.groups, "group", "a figure of bars")?;
        for group in &bars.groups {
            not_empty(&group.bars, "bar", &format!("group `{}`", group.title))?;
            group.bars.iter().try_for_each(Bar::check)?;
        }
        let names = bars.groups.iter().flat_map(|group| &group.bars).map(|bar| bar.name.as_str());
        let palette = bars.palette.with(names);
        Ok(Self { bars, palette })
    }

    /// The figure as SVG.
    pub fn svg(&self) -> String {
        let Bars { title, value_label, groups, .. } = &self.bars;
        let scale = self.scale();
        let all = || groups.iter().flat_map(|group| &group.bars);
        let names = all().map(|bar| font::width(&bar.name, LABEL, Weight::Regular)).fold(0.0, f64::max);
        let values = all().map(|bar| axes::tick_width(&ticks::short(bar.value))).fold(0.0, f64::max);
        let headings = groups.iter().map(|group| axes::title_width(&group.title)).fold(0.0, f64::max);
        let mut canvas = Canvas::default();
        let mut top = MARGIN;
        if !title.is_empty() {
            let at = (MARGIN, top + TITLE * LINE / 2.0);
            canvas.text(Text { weight: Weight::SemiBold, ..Text::new("title", title, at, TITLE) });
            top += TITLE * LINE + 12.0;
        }
        let rows: f64 = groups.iter().map(group_height).sum::<f64>() - GROUP_GAP;
        let plot = Rect { left: MARGIN + names + 12.0, top, width: PLOT, height: rows + 6.0 };
        draw_axis(&mut canvas, plot, &scale, value_label);
        for group in groups {
            canvas.group("panel", |canvas| self.draw_group(canvas, Rect { top, ..plot }, &scale, group));
            top += group_height(group);
        }
        let title_width = font::width(title, TITLE, Weight::SemiBold);
        let last_tick = scale.ticks.last().map_or(0.0, |tick| axes::tick_width(&tick.label) / 2.0);
        let right = (plot.right() + values + 18.0).max(plot.right() + last_tick).max(MARGIN + title_width);
        let right = right.max(MARGIN + headings);
        let height = plot.bottom() + axes::bottom_room(value_label) + MARGIN;
        canvas.finish(right + MARGIN, height, if title.is_empty() { "Bars" } else { title })
    }

    fn scale(&self) -> Scale {
        let bars = || self.bars.groups.iter().flat_map(|group| &group.bars);
        let ends: Vec<f64> = bars().map(|bar| bar.value).collect();
        let all: Vec<f64> = bars().flat_map(|bar| [bar.value, bar.low, bar.high]).collect();
        if self.bars.scale.resolve(&all, &ends) == AxisScale::Log {
            // Half of the smallest value leaves its bar a visible length.
            let smallest = ends.iter().copied().filter(|&end| end > 0.0).fold(f64::INFINITY, f64::min);
            let floor = if smallest.is_finite() { smallest / 2.0 } else { 1.0 };
            let values: Vec<f64> = all.iter().map(|&value| value.max(floor)).chain([floor]).collect();
            return axes::fitted(PLOT, 8, |count| Scale::log(&values, None, count, Labels::Grouped));
        }
        let with_zero: Vec<f64> = all.into_iter().chain([0.0]).collect();
        axes::fitted(PLOT, 8, |count| Scale::rounded(&with_zero, count, Labels::Grouped))
    }

    fn draw_group(&self, canvas: &mut Canvas, plot: Rect, scale: &Scale, group: &BarGroup) {
        let across = |value: f64| plot.left + scale.place(value) * plot.width;
        let start = if scale.is_log() { plot.left } else { across(0.0) };
        let mut top = plot.top;
        if !group.title.is_empty() {
            let at = (MARGIN, top + PANEL_TITLE * LINE / 2.0 + 2.0);
            let text = Text::new("panel-title", &group.title, at, PANEL_TITLE);
            canvas.text(Text { weight: Weight::SemiBold, halo: Some(crate::palette::WHITE), ..text });
            top += HEADING;
        }
        for (index, bar) in group.bars.iter().enumerate() {
            let y = top + (index as f64 + 0.5) * ROW;
            let text = Text::new("bar-name", &bar.name, (plot.left - 12.0, y), LABEL);
            canvas.text(Text { anchor: Anchor::End, ..text });
            let (end, low, high) = (across(bar.value), across(bar.low), across(bar.high));
            let (left, width) = (start.min(end), (end - start).abs());
            let body = Rect { left, top: y - BAR / 2.0, width, height: BAR };
            canvas.rect("bar", body, self.palette.style(&bar.name).color.mix(crate::palette::WHITE, 0.25));
            if bar.high > bar.low {
                let stroke = Stroke { color: TEXT, width: 1.6, dash: "" };
                canvas.line("error", (low, y), (high, y), stroke);
                for end in [low, high] {
                    canvas.line("error-cap", (end, y - 4.5), (end, y + 4.5), stroke);
                }
            }
            let at = (end.max(high).max(start) + 8.0, y);
            let value = ticks::short(bar.value);
            canvas.text(Text { halo: Some(crate::palette::WHITE), ..Text::new("value", &value, at, TICK) });
        }
    }
}

fn group_height(group: &BarGroup) -> f64 {
    let heading = if group.title.is_empty() { 0.0 } else { HEADING };
    heading + group.bars.len() as f64 * ROW + GROUP_GAP
}

fn draw_axis(canvas: &mut Canvas, plot: Rect, scale: &Scale, label: &str) {
    let bottom = plot.bottom();
    for tick in &scale.ticks {
        let x = plot.left + scale.place(tick.value) * plot.width;
        canvas.line("grid", (x, plot.top), (x, bottom + 5.0), Stroke::thin(GRID));
        let at = (x, bottom + 8.0 + TICK * LINE / 2.0);
        let text = Text::new("x-tick", &tick.label, at, TICK);
        canvas.text(Text { anchor: Anchor::Middle, color: MUTED, ..text });
    }
    for &value in &scale.minor {
        let x = plot.left + scale.place(value) * plot.width;
        canvas.line("minor", (x, bottom), (x, bottom + 3.0), Stroke::thin(AXIS));
    }
    canvas.line("axis", (plot.left, bottom), (plot.right(), bottom), Stroke::thin(AXIS));
    let shown = if scale.is_log() { format!("{label} (log scale)") } else { label.to_owned() };
    if !label.is_empty() {
        let at = (plot.left + plot.width / 2.0, bottom + 14.0 + TICK * LINE + LABEL * LINE / 2.0);
        let text = Text::new("axis-label", &shown, at, LABEL);
        canvas.text(Text { anchor: Anchor::Middle, color: MUTED, ..text });
    }
}
