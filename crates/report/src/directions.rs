//! What is known about each direction: a row of coverage, drift and trust.

use crate::Error;
use crate::axes;
use crate::check::{List, not_empty, quoted};
use crate::font::{self, LINE, Weight};
use crate::layout::{LABEL, MARGIN, PANEL_TITLE, TICK, TITLE};
use crate::legend::{Key, Legend};
use crate::palette::{AXIS, BLUE, Color, GREEN, GRID, MUTED, Marker, STRIPE, VERMILION, WHITE};
use crate::scale::Scale;
use crate::svg::{Anchor, Canvas, Point, Rect, Stroke, Text};
use crate::ticks::{self, Labels};

const ROW: f64 = 26.0;
const BAR: f64 = 14.0;
const DOT: f64 = 4.5;
const NOTE: f64 = 15.0;
/// Longer names are cut.
const WIDEST_NAME: f64 = 250.0;
/// Widths of the columns, at least.
const COVERAGE: f64 = 180.0;
const DRIFT: f64 = 330.0;
const TRUST: f64 = 150.0;
/// Between two columns: room for halves of tick labels.
const GAP: f64 = 44.0;
const NUMBER_GAP: f64 = 8.0;
const PANEL_GAP: f64 = 26.0;
/// Coverage this many times below the largest has no length.
const DEEPEST: f64 = 1e6;
/// The axis of drift reaches this many times as far as the furthest estimate, or to three quarters of the
/// intervals' ends: one direction that nobody has measured well must not squeeze all others.
const REACH: f64 = 1.5;
/// The axis shows a band with some room around it, up to so many times the reach of the drifts.
const BAND: f64 = 1.1;
const WIDEST_BAND: f64 = 6.0;

const DRIFTED: Color = VERMILION;
const STEADY: Color = MUTED;
const ASSUMED: Color = AXIS;
const HARMLESS: Color = Color(0xCF, 0xEA, 0xDF);
const DASH: &str = "3 4";

/// What is known about the drift of one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Drift {
    /// Nothing at all.
    Unknown,
    /// Nothing has been measured, but it was thought to lie in this interval before.
    Prior {
        /// Lower end.
        low: f64,
        /// Upper end, at least `low`.
        high: f64,
    },
    /// Measured.
    Estimate {
        /// The estimate.
        value: f64,
        /// Lower end of its interval, at most `value`.
        low: f64,
        /// Upper end of its interval, at least `value`.
        high: f64,
    },
}

/// One row of a [`DirectionsFigure`].
#[derive(Debug, Clone, PartialEq)]
pub struct Direction {
    /// What the direction is called; cut where it is too long.
    pub name: String,
    /// How much the logs know about it, at least 0.
    pub coverage: f64,
    /// How far it has moved since.
    pub drift: Drift,
    /// The share of the logs' knowledge that is used, 0 to 1.
    pub trust: f64,
}

/// Rows under one title: one policy, one moment, one set of logs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DirectionsPanel {
    /// Stands above the rows, unless empty.
    pub title: String,
    /// The rows from top to bottom, at least one. Sixty are readable.
    pub directions: Vec<Direction>,
}

/// The heading of a column, and below it what its numbers are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heading {
    /// A word or two.
    pub title: String,
    /// The unit, in smaller letters.
    pub note: String,
}

/// Everything a [`DirectionsFigure`] shows.
///
/// The default has headings, but no rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Directions {
    /// Stands above the figure, unless empty.
    pub title: String,
    /// Heading of the names.
    pub names: Heading,
    /// Heading of the coverage; the figure adds that its scale is logarithmic.
    pub coverage: Heading,
    /// Heading of the drift.
    pub drift: Heading,
    /// Heading of the trust.
    pub trust: Heading,
    /// The panels from top to bottom, at least one, all with the same scales.
    pub panels: Vec<DirectionsPanel>,
}

/// A row for each direction: how much the logs know about it (a bar on a logarithmic scale), how far it has
/// moved since (a dot with its interval beside zero), how much the logs are trusted (a share).
///
/// Estimates whose interval excludes zero stand out by their colour. The axis of drift shows every
/// estimate; intervals that go further end in an arrow.
///
/// ```
/// use truenorth_report::{Direction, Directions, DirectionsFigure, DirectionsPanel, Drift};
///
/// let row = |name: &str, coverage, drift, trust| Direction { name: name.into(), coverage, drift, trust };
/// let directions = vec![
///     row("price", 820.0, Drift::Estimate { value: 0.4, low: 0.3, high: 0.5 }, 0.02),
///     row("season", 12.5, Drift::Prior { low: -1.0, high: 1.0 }, 0.6),
/// ];
/// let panels = vec![DirectionsPanel { title: String::new(), directions }];
/// let figure = DirectionsFigure::new(Directions { panels, ..Directions::default() })?;
/// assert!(figure.svg().contains("season"));
/// # Ok::<(), truenorth_report::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DirectionsFigure {
    directions: Directions,
    margin: f64,
}

impl Heading {
    /// A heading with its unit.
    pub fn new(title: impl Into<String>, note: impl Into<String>) -> Self {
        Self { title: title.into(), note: note.into() }
    }
}

impl Default for Directions {
    fn default() -> Self {
        Self {
            title: String::new(),
            names: Heading::new("Direction", ""),
            coverage: Heading::new("Coverage", "effective logged rows"),
            drift: Heading::new("Drift", "live − logged, with its interval"),
            trust: Heading::new("Trust", "share of the logs used"),
            panels: Vec::new(),
        }
    }
}

impl Drift {
    /// Ends of the interval, where there is one.
    fn ends(self) -> Option<(f64, f64)> {
        match self {
            Self::Unknown => None,
            Self::Prior { low, high } | Self::Estimate { low, high, .. } => Some((low, high)),
        }
    }

    fn excludes_zero(self) -> bool {
        self.ends().is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }
}

impl Direction {
    fn check(&self) -> Result<(), Error> {
        let Self { name, coverage, drift, trust } = self;
        let list = |field, value| List { of: name, field, values: std::slice::from_ref(value) };
        list("coverage", coverage).finite()?.not_negative()?;
        list("trust", trust).finite()?.not_negative()?;
        if *trust > 1.0 {
            let (list, of, range) = ("trust", quoted(name), "at most 1");
            return Err(Error::Range { list, of, index: 0, range, value: *trust });
        }
        match drift {
            Drift::Unknown => {}
            Drift::Prior { low, high } => {
                list("low", low).finite()?;
                list("high", high).finite()?.at_least(&[*low], "at least `low`")?;
            }
            Drift::Estimate { value, low, high } => {
                list("low", low).finite()?;
                list("value", value).finite()?.at_least(&[*low], "at least `low`")?;
                list("high", high).finite()?.at_least(&[*value], "at least `value`")?;
            }
        }
        Ok(())
    }
}

impl DirectionsFigure {
    /// Checks the numbers: finite, coverage at least 0, trust from 0 to 1, and each estimate between the
    /// ends of its interval.
    pub fn new(directions: Directions) -> Result<Self, Error> {
        not_empty(&directions.panels, "panel", "a figure of directions")?;
        for panel in &directions.panels {
            not_empty(&panel.directions, "direction", &format!("panel `{}`", panel.title))?;
            panel.directions.iter().try_for_each(Direction::check)?;
        }
        Ok(Self { directions, margin: 0.0 })
    }

    /// The same figure with a band of drifts around zero that do not matter; none unless `margin` is a
    /// positive number.
    #[must_use]
    pub fn with_margin(self, margin: f64) -> Self {
        let drawable = margin > 0.0 && margin.is_finite();
        Self { margin: if drawable { margin } else { 0.0 }, ..self }
    }

    /// The figure as SVG.
    pub fn svg(&self) -> String {
        let Directions { title, panels, .. } = &self.directions;
        let columns = Columns::new(&self.directions, self.margin);
        let legend = self.legend();
        let panel_titles = panels.iter().map(|panel| axes::title_width(&panel.title)).fold(0.0, f64::max);
        let title_width = font::width(title, TITLE, Weight::SemiBold);
        let width = columns.right.max(MARGIN + panel_titles.max(title_width).max(legend.widest()));
        let mut canvas = Canvas::default();
        let mut top = MARGIN;
        if !title.is_empty() {
            let at = (MARGIN, top + TITLE * LINE / 2.0);
            canvas.text(Text { weight: Weight::SemiBold, ..Text::new("title", title, at, TITLE) });
            top += TITLE * LINE + 8.0;
        }
        top += legend.row(&mut canvas, MARGIN, top, width - MARGIN) + 8.0;
        for (index, panel) in panels.iter().enumerate() {
            top += if index == 0 { 0.0 } else { PANEL_GAP };
            canvas.group("panel", |canvas| top = columns.draw(canvas, panel, top));
        }
        let label = if title.is_empty() { "What is known about each direction" } else { title };
        canvas.finish(width + MARGIN, top + MARGIN, label)
    }

    /// What the colours of drift mean, as far as they occur.
    fn legend(&self) -> Legend {
        let drifts =
            || self.directions.panels.iter().flat_map(|panel| &panel.directions).map(|row| row.drift);
        let estimates = || drifts().filter(|drift| matches!(drift, Drift::Estimate { .. }));
        let line = |color, width, dash, marker| Key::Line { color, width, dash, marker };
        let dot = Some(Marker::Circle);
        let items = [
            (
                "drifted: interval excludes 0",
                line(DRIFTED, 3.0, "", dot),
                estimates().any(Drift::excludes_zero),
            ),
            (
                "no drift seen: interval includes 0",
                line(STEADY, 3.0, "", dot),
                estimates().any(|drift| !drift.excludes_zero()),
            ),
            (
                "not measured yet: what was assumed",
                line(ASSUMED, 2.0, DASH, None),
                drifts().any(|drift| matches!(drift, Drift::Prior { .. })),
            ),
            ("too little to matter", line(HARMLESS, 14.0, "", None), self.margin > 0.0),
        ];
        let occurring = items.into_iter().filter(|(_, _, occurs)| *occurs);
        Legend { items: occurring.map(|(name, key, _)| (name.to_owned(), key)).collect() }
    }
}

/// One column of plots.
struct Column<'a> {
    title: &'a str,
    note: String,
    left: f64,
    width: f64,
    scale: Scale,
}

/// Where the columns are and what their axes show; the same in every panel.
struct Columns<'a> {
    names: &'a Heading,
    coverage: Column<'a>,
    drift: Column<'a>,
    trust: Column<'a>,
    /// Drifts up to here do not matter.
    margin: f64,
    /// Right edge of all that is drawn.
    right: f64,
}

impl<'a> Column<'a> {
    fn new(
        heading: &'a Heading,
        suffix: &str,
        left: f64,
        width: f64,
        scale: impl FnOnce(f64) -> Scale,
    ) -> Self {
        let note = match (heading.note.as_str(), suffix) {
            ("", suffix) => suffix.to_owned(),
            (note, "") => note.to_owned(),
            (note, suffix) => format!("{note}, {suffix}"),
        };
        let width = width.max(heading_width(&heading.title, &note));
        Self { title: &heading.title, note, left, width, scale: scale(width) }
    }

    fn right(&self) -> f64 {
        self.left + self.width
    }

    fn x(&self, value: f64) -> f64 {
        self.left + self.scale.place(value) * self.width
    }

    /// Everything but the data.
    fn draw_frame(&self, canvas: &mut Canvas, top: f64, bottom: f64) {
        for tick in &self.scale.ticks {
            let x = self.x(tick.value);
            canvas.line("grid", (x, top), (x, bottom + 5.0), Stroke::thin(GRID));
            let at = (x, bottom + 8.0 + TICK * LINE / 2.0);
            let text = Text::new("x-tick", &tick.label, at, TICK);
            canvas.text(Text { anchor: Anchor::Middle, color: MUTED, ..text });
        }
        for &value in &self.scale.minor {
            let x = self.x(value);
            canvas.line("minor", (x, bottom), (x, bottom + 3.0), Stroke::thin(AXIS));
        }
        canvas.line("axis", (self.left, bottom), (self.right(), bottom), Stroke::thin(AXIS));
    }
}

impl<'a> Columns<'a> {
    fn new(directions: &'a Directions, margin: f64) -> Self {
        let rows: Vec<&Direction> = directions.panels.iter().flat_map(|panel| &panel.directions).collect();
        let name = |row: &&Direction| font::width(&shown_name(&row.name), LABEL, Weight::Regular);
        let heading = heading_width(&directions.names.title, &directions.names.note);
        let names = rows.iter().map(name).fold(heading, f64::max);
        let coverage: Vec<f64> = rows.iter().map(|row| row.coverage).collect();
        let numbers =
            coverage.iter().map(|&value| axes::tick_width(&ticks::short(value))).fold(0.0, f64::max);
        let drifts: Vec<Drift> = rows.iter().map(|row| row.drift).collect();

        let left = MARGIN + names + 20.0;
        let coverage = Column::new(&directions.coverage, "log scale", left, COVERAGE, |width| {
            coverage_scale(&coverage, width)
        });
        let left = coverage.right() + NUMBER_GAP + numbers + GAP;
        let drift =
            Column::new(&directions.drift, "", left, DRIFT, |width| drift_scale(&drifts, margin, width));
        let trust = Column::new(&directions.trust, "", drift.right() + GAP, TRUST, |_| {
            Scale::linear(0.0, 1.0, 2, Labels::Percent)
        });
        let right = trust.right()
            + NUMBER_GAP
            + axes::tick_width(&percent(1.0)).max(axes::tick_width(&percent(0.995)));
        Self { names: &directions.names, coverage, drift, trust, margin, right }
    }

    /// Draws a panel and returns where it ends.
    fn draw(&self, canvas: &mut Canvas, panel: &DirectionsPanel, mut top: f64) -> f64 {
        if !panel.title.is_empty() {
            let at = (MARGIN, top + PANEL_TITLE * LINE / 2.0);
            let text = Text::new("panel-title", &panel.title, at, PANEL_TITLE);
            canvas.text(Text { weight: Weight::SemiBold, ..text });
            top += PANEL_TITLE * LINE + 6.0;
        }
        let columns = [&self.coverage, &self.drift, &self.trust];
        draw_heading(canvas, &self.names.title, &self.names.note, (MARGIN, top));
        for column in columns {
            draw_heading(canvas, column.title, &column.note, (column.left, top));
        }
        top += LABEL * LINE + NOTE * LINE + 8.0;

        let bottom = top + panel.directions.len() as f64 * ROW;
        for index in (0..panel.directions.len()).step_by(2) {
            let (left, width) = (MARGIN - 6.0, self.right - MARGIN + 12.0);
            let stripe = Rect { left, top: top + index as f64 * ROW, width, height: ROW };
            canvas.rect("stripe", stripe, STRIPE);
        }
        if self.margin > 0.0 {
            let (left, right) = (self.drift.x(-self.margin), self.drift.x(self.margin));
            canvas.rect("margin", Rect { left, top, width: right - left, height: bottom - top }, HARMLESS);
        }
        for column in columns {
            column.draw_frame(canvas, top, bottom);
        }
        let zero = self.drift.x(0.0);
        canvas.line("zero", (zero, top), (zero, bottom + 5.0), Stroke { width: 1.5, ..Stroke::thin(AXIS) });
        for (index, direction) in panel.directions.iter().enumerate() {
            self.draw_row(canvas, direction, top + (index as f64 + 0.5) * ROW);
        }
        bottom + axes::bottom_room("")
    }

    fn draw_row(&self, canvas: &mut Canvas, direction: &Direction, y: f64) {
        let Direction { name, coverage, drift, trust } = direction;
        canvas.text(Text::new("row-name", &shown_name(name), (MARGIN, y), LABEL));

        let bar = |left: f64, width: f64| Rect { left, top: y - BAR / 2.0, width, height: BAR };
        let end = self.coverage.x(*coverage);
        canvas.rect("coverage", bar(self.coverage.left, end - self.coverage.left), soft(BLUE));
        let number = ticks::short(*coverage);
        let text = Text::new("value", &number, (end + NUMBER_GAP, y), TICK);
        canvas.text(Text { halo: Some(WHITE), ..text });

        self.draw_drift(canvas, *drift, y);

        let Column { left, width, .. } = self.trust;
        canvas.rect("track", bar(left, width), GRID);
        canvas.rect("trust", bar(left, trust * width), soft(GREEN));
        let share = percent(*trust);
        let text = Text::new("share", &share, (self.right, y), TICK);
        canvas.text(Text { anchor: Anchor::End, ..text });
    }

    fn draw_drift(&self, canvas: &mut Canvas, drift: Drift, y: f64) {
        let zero = self.drift.x(0.0);
        let Some((low, high)) = drift.ends() else {
            let text = Text::new("unknown", "unknown", (zero, y), NOTE);
            canvas.text(Text { anchor: Anchor::Middle, color: MUTED, halo: Some(WHITE), ..text });
            return;
        };
        let (color, width, dash) = match drift {
            Drift::Estimate { .. } if drift.excludes_zero() => (DRIFTED, 3.0, ""),
            Drift::Estimate { .. } => (STEADY, 3.0, ""),
            Drift::Prior { .. } | Drift::Unknown => (ASSUMED, 2.0, DASH),
        };
        let (from, to) = ((self.drift.x(low), y), (self.drift.x(high), y));
        canvas.line("interval", from, to, Stroke { color, width, dash });
        let beyond = |value: f64| !(0.0..=1.0).contains(&self.drift.scale.place_unbounded(value));
        for (end, at, back) in [(low, from, 6.0), (high, to, -6.0)] {
            if beyond(end) {
                let head: [Point; 3] = [(at.0 + back, y - 5.0), at, (at.0 + back, y + 5.0)];
                canvas.polyline("cut", "", &head, Stroke { color, width: 2.0, dash: "" });
            }
        }
        if let Drift::Estimate { value, .. } = drift {
            canvas.marker("estimate", Marker::Circle, (self.drift.x(value), y), DOT, color);
        }
    }
}

fn heading_width(title: &str, note: &str) -> f64 {
    font::width(title, LABEL, Weight::SemiBold).max(font::width(note, NOTE, Weight::Regular))
}

fn draw_heading(canvas: &mut Canvas, title: &str, note: &str, (left, top): Point) {
    let text = Text::new("heading", title, (left, top + LABEL * LINE / 2.0), LABEL);
    canvas.text(Text { weight: Weight::SemiBold, ..text });
    let at = (left, top + LABEL * LINE + NOTE * LINE / 2.0);
    canvas.text(Text { color: MUTED, ..Text::new("note", note, at, NOTE) });
}

fn shown_name(name: &str) -> String {
    font::elided(name, LABEL, WIDEST_NAME)
}

fn soft(color: Color) -> Color {
    color.mix(WHITE, 0.25)
}

/// Whole percents, but neither nothing nor everything where that is not so.
fn percent(share: f64) -> String {
    match 100.0 * share {
        none if none <= 0.0 => "0%".to_owned(),
        few if few < 1.0 => "<1%".to_owned(),
        most if most > 99.0 && most < 100.0 => ">99%".to_owned(),
        whole => format!("{whole:.0}%"),
    }
}

/// From half of the smallest coverage, or of 1, so that a single row has a length.
fn coverage_scale(values: &[f64], width: f64) -> Scale {
    let largest = values.iter().copied().fold(0.0, f64::max);
    if largest <= 0.0 {
        return Scale::log(&[0.5, 10.0], None, 3, Labels::Compact);
    }
    let positive = values.iter().copied().filter(|&value| value > 0.0).fold(1.0, f64::min);
    let edge = positive.min(largest).max(largest / DEEPEST) / 2.0;
    axes::fitted(width, 5, |count| Scale::log(&[edge, largest], None, count, Labels::Compact))
}

fn drift_scale(drifts: &[Drift], margin: f64, width: f64) -> Scale {
    let estimates = drifts.iter().filter_map(|drift| match drift {
        Drift::Estimate { value, .. } => Some(*value),
        Drift::Prior { .. } | Drift::Unknown => None,
    });
    let estimates: Vec<f64> = estimates.collect();
    // Assumptions have a say only where nothing has been measured.
    let shown = drifts.iter().filter(|drift| estimates.is_empty() || matches!(drift, Drift::Estimate { .. }));
    let ends: Vec<f64> = shown.filter_map(|drift| drift.ends()).flat_map(|(low, high)| [low, high]).collect();
    let mut sizes: Vec<f64> = ends.iter().map(|end| end.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let most = sizes.get(sizes.len() * 3 / 4).copied().unwrap_or(1.0);
    let furthest = estimates.iter().map(|value| value.abs()).fold(0.0, f64::max);
    let reach = most.max(REACH * furthest);
    let ends = ends.iter().map(|end| end.clamp(-reach, reach));
    // The whole band, unless it would squeeze everything else.
    let band = (BAND * margin).min(WIDEST_BAND * reach);
    let values: Vec<f64> = ends.chain(estimates.iter().copied()).chain([0.0, band, -band]).collect();
    axes::fitted(width, 6, |count| Scale::rounded(&values, count, Labels::Grouped))
}
