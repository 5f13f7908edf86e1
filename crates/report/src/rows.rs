//! A table with a plot in each column: a size, an interval and a share beside each name.

use crate::Error;
use crate::axes::{self, Grid};
use crate::check::{finite, not_empty};
use crate::font::{self, LINE, Weight};
use crate::layout::{self, LABEL, MARGIN, TICK};
use crate::legend::{Key, Legend};
use crate::numbers::{percent, short};
use crate::page::Tone;
use crate::palette::{AXIS, BLUE, CIRCLE, Color, DIAMOND, GREEN, GRID, MUTED, VERMILION};
use crate::scale::{PAD, Scale, extent};
use crate::svg::{Canvas, Point, Rect, Stroke, Text};
use crate::ticks::Labels;

const ROW: f64 = 26.0;
const BAR: f64 = 14.0;
const NOTE: f64 = 15.0;
const NUMBER_GAP: f64 = 8.0;
/// Longer names are cut.
const WIDEST_NAME: f64 = 320.0;
const BAND_COLOR: Color = Color(0xCF_EA_DF);
/// Not like vermilion in the dark either, where hues are turned.
const OLIVE: Color = Color(0x7A_7A_1F);

/// A row for each name: a size (a bar on a logarithmic scale), a value with its interval beside zero (a dot), a share
/// (a part of a whole). What they mean, the caller says.
///
/// Shares come first, beside the names, where a narrow screen shows them; then intervals, then sizes. Intervals stand
/// out by their tone, or by excluding zero. Their axis shows every value; intervals that go further end in an arrow.
///
/// ```
/// use truenorth_report::{Interval, Row, RowsFigure};
///
/// let interval = Some(Interval { value: 0.4, low: 0.3, high: 0.5 });
/// let row = Row { name: "price".into(), size: 820.0, interval, share: 0.02, ..Row::default() };
/// let figure = RowsFigure { heading: "Feature".into(), rows: vec![row], ..RowsFigure::default() };
/// assert!(figure.svg()?.contains("price"));
/// # Ok::<(), truenorth_report::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowsFigure {
    /// Stands above the figure, unless empty.
    pub title: String,
    /// Heading of the names.
    pub heading: String,
    /// Headings of sizes, intervals and shares.
    pub columns: [&'static str; 3],
    /// What they are counted in.
    pub notes: [String; 3],
    /// What is said of intervals that stand out, of those that do a little, of all others, and of the band.
    pub legend: [&'static str; 4],
    /// A band of values around zero that do not matter; none unless it is a positive number.
    pub margin: f64,
    /// The rows from top to bottom, at least one. Sixty are readable.
    pub rows: Vec<Row>,
}

/// One row of a [`RowsFigure`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// What it is called; cut where it is too long.
    pub name: String,
    /// At least 0.
    pub size: f64,
    /// Unknown if there is none.
    pub interval: Option<Interval>,
    /// From 0 to 1.
    pub share: f64,
    /// How its interval is drawn: `Bad` stands out, `Mixed` a little, `Good` not; `Plain` does if it excludes zero.
    pub tone: Tone,
}

impl Row {
    /// As it is drawn: never plain.
    fn shown(&self) -> Tone {
        let excludes_zero = self.interval.is_some_and(|interval| interval.low > 0.0 || interval.high < 0.0);
        match self.tone {
            Tone::Plain if excludes_zero => Tone::Bad,
            Tone::Plain => Tone::Good,
            tone => tone,
        }
    }
}

/// A value between two others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The value.
    pub value: f64,
    /// Lower end, at most `value`.
    pub low: f64,
    /// Upper end, at least `value`.
    pub high: f64,
}

impl RowsFigure {
    /// Whether a name is shown as it is, and not cut at its end.
    pub fn shows(name: &str) -> bool {
        font::width(name, LABEL, Weight::Regular) <= WIDEST_NAME
    }

    /// The figure as SVG, if its numbers are finite, sizes at least 0, shares from 0 to 1, and values between the
    /// ends of their intervals.
    pub fn svg(self) -> Result<String, Error> {
        /// Behind every second row.
        const STRIPE: Color = Color(0xF6_F7_F8);
        self.check()?;

        let Self { title, heading, rows, .. } = &self;
        let names: Vec<String> = rows.iter().map(|row| font::elided(&row.name, LABEL, WIDEST_NAME)).collect();
        let widest = font::widest(&names, LABEL, Weight::Regular).max(heading_width(heading, ""));
        let columns = self.columns(MARGIN + widest + 20.0);
        let [sizes, intervals, shares] = &columns;
        let legend = self.legend();
        let right = sizes.end.max(MARGIN + layout::title_width(title).max(legend.widest()));

        let mut canvas = Canvas::default();
        let mut top = layout::draw_title(&mut canvas, title, 8.0);
        top += legend.row(&mut canvas, MARGIN, top, right - MARGIN) + 8.0;
        let headings = top;
        top += LABEL * LINE + NOTE * LINE + 8.0;
        let bottom = top + rows.len() as f64 * ROW;
        canvas.group("panel", |canvas| {
            draw_heading(canvas, heading, "", (MARGIN, headings));
            for column in columns.iter().rev() {
                draw_heading(canvas, column.title, &column.note, (column.left, headings));
            }
            for index in (0..rows.len()).step_by(2) {
                let (left, width) = (MARGIN - 6.0, sizes.end - MARGIN + 12.0);
                let stripe = Rect { left, top: top + index as f64 * ROW, width, height: ROW };
                canvas.rect("stripe", stripe, STRIPE);
            }
            if self.band() > 0.0 {
                let (left, right) = (intervals.x(-self.band()), intervals.x(self.band()));
                let band = Rect { left, top, width: right - left, height: bottom - top };
                canvas.rect("margin", band, BAND_COLOR);
            }
            for Column { left, width, scale, .. } in columns.iter().rev() {
                let plot = Rect { left: *left, top, width: *width, height: bottom - top };
                axes::draw_x(canvas, plot, scale, "", Grid::Columns);
            }
            let (zero, stroke) = (intervals.x(0.0), Stroke { color: AXIS, width: 1.5, dash: "" });
            canvas.line("zero", (zero, top), (zero, bottom + 5.0), stroke);
            for (index, (name, row)) in names.iter().zip(rows).enumerate() {
                let y = top + (index as f64 + 0.5) * ROW;
                canvas.text(Text::new("row-name", name, (MARGIN, y), LABEL));
                draw_size(canvas, sizes, row.size, y);
                draw_interval(canvas, intervals, row, y);
                draw_share(canvas, shares, row.share, y);
            }
        });
        Ok(canvas.finish(right + MARGIN, bottom + axes::bottom_room("") + MARGIN, title, "Rows"))
    }

    fn check(&self) -> Result<(), Error> {
        not_empty(&self.rows, "row", "a figure of rows")?;
        for Row { name, size, .. } in &self.rows {
            finite(name, "size", &[*size])?.all("at least 0", |_, size| size >= 0.0)?;
        }
        for Row { name, interval, .. } in &self.rows {
            if let Some(Interval { value, low, high }) = *interval {
                finite(name, "low", &[low])?;
                finite(name, "value", &[value])?.all("at least `low`", |_, value| value >= low)?;
                finite(name, "high", &[high])?.all("at least `value`", |_, high| high >= value)?;
            }
        }
        for Row { name, share, .. } in &self.rows {
            let share = [*share];
            let share = finite(name, "share", &share)?.all("at least 0", |_, share| share >= 0.0)?;
            share.all("at most 1", |_, share| share <= 1.0)?;
        }
        Ok(())
    }

    /// How far around zero values do not matter, 0 if all of them do.
    fn band(&self) -> f64 {
        if self.margin.is_finite() { self.margin.max(0.0) } else { 0.0 }
    }

    /// The columns from this place on.
    fn columns(&self, left: f64) -> [Column; 3] {
        /// Between two columns: room for halves of tick labels.
        const GAP: f64 = 44.0;
        let [size_note, interval_note, share_note] = &self.notes;
        let comma = if size_note.is_empty() { "" } else { ", " };
        let size_note = format!("{size_note}{comma}log scale");
        let sizes: Vec<f64> = self.rows.iter().map(|row| row.size).collect();
        let intervals: Vec<Interval> = self.rows.iter().filter_map(|row| row.interval).collect();
        let numbers = NUMBER_GAP + font::widest(sizes.iter().map(|&v| short(v)), TICK, Weight::Regular);
        let percents = NUMBER_GAP + font::widest(["100%", ">99%"], TICK, Weight::Regular);
        // At least so wide, with so much room beside it for numbers.
        let column = |title, note: &str, left, (least, beside), scale: &dyn Fn(f64) -> Scale| {
            let width = heading_width(title, note).max(least);
            Column {
                title,
                note: note.to_owned(),
                left,
                width,
                scale: scale(width),
                end: left + width + beside,
            }
        };
        let share_scale = |_| Scale::linear(0.0, 1.0, 2, Labels::Percent);
        let size_scale = |width| size_scale(&sizes, width);
        let interval_scale = |width| interval_scale(&intervals, self.band(), width);

        let [size_name, interval_name, share_name] = self.columns;
        let shares = column(share_name, share_note, left, (150.0, percents), &share_scale);
        let intervals = column(interval_name, interval_note, shares.end + GAP, (330.0, 0.0), &interval_scale);
        let sizes = column(size_name, &size_note, intervals.end + GAP, (180.0, numbers), &size_scale);
        [sizes, intervals, shares]
    }

    /// What colours mean, as far as they occur.
    fn legend(&self) -> Legend {
        let key = |color, width, marker| Key::Line(Stroke { color, width, dash: "" }, marker);
        let occurs = |tone: Tone| self.rows.iter().any(|row| row.interval.is_some() && row.shown() == tone);
        let [strong, weak, others, band] = self.legend;
        let items = [
            (strong, key(VERMILION, 3.0, Some(CIRCLE)), occurs(Tone::Bad)),
            (weak, key(OLIVE, 3.0, Some(DIAMOND)), occurs(Tone::Mixed)),
            (others, key(MUTED, 3.0, Some(CIRCLE)), occurs(Tone::Good)),
            (band, key(BAND_COLOR, 14.0, None), self.band() > 0.0),
        ];
        let occurring = items.into_iter().filter(|(_, _, occurs)| *occurs);
        Legend { items: occurring.map(|(name, key, _)| (name.to_owned(), key)).collect() }
    }
}

/// A plot beside the names.
struct Column {
    title: &'static str,
    note: String,
    left: f64,
    width: f64,
    scale: Scale,
    /// Where its numbers end.
    end: f64,
}

impl Column {
    fn x(&self, value: f64) -> f64 {
        self.left + self.scale.place(value) * self.width
    }

    fn bar(&self, y: f64, width: f64) -> Rect {
        Rect { left: self.left, top: y - BAR / 2.0, width, height: BAR }
    }
}

fn heading_width(title: &str, note: &str) -> f64 {
    font::width(title, LABEL, Weight::SemiBold).max(font::width(note, NOTE, Weight::Regular))
}

fn draw_heading(canvas: &mut Canvas, title: &str, note: &str, (left, top): Point) {
    let text = Text::new("heading", title, (left, top + LABEL * LINE / 2.0), LABEL);
    canvas.text(Text { weight: Weight::SemiBold, ..text });
    let text = Text::new("note", note, (left, top + LABEL * LINE + NOTE * LINE / 2.0), NOTE);
    canvas.text(Text { color: MUTED, ..text });
}

fn draw_size(canvas: &mut Canvas, column: &Column, size: f64, y: f64) {
    let end = column.x(size);
    canvas.rect(&column.title.to_lowercase(), column.bar(y, end - column.left), BLUE.soft());
    let number = short(size);
    canvas.text(Text { halo: true, ..Text::new("value", &number, (end + NUMBER_GAP, y), TICK) });
}

fn draw_share(canvas: &mut Canvas, column: &Column, share: f64, y: f64) {
    canvas.rect("track", column.bar(y, column.width), GRID);
    canvas.rect(&column.title.to_lowercase(), column.bar(y, share * column.width), GREEN.soft());
    canvas.text(Text { anchor: "end", ..Text::new("share", &percent(share, ""), (column.end, y), TICK) });
}

fn draw_interval(canvas: &mut Canvas, column: &Column, row: &Row, y: f64) {
    let Some(interval) = row.interval else {
        let text = Text::new("unknown", "unknown", (column.x(0.0), y), NOTE);
        return canvas.text(Text { anchor: "middle", color: MUTED, halo: true, ..text });
    };
    let (color, marker) = match row.shown() {
        Tone::Bad => (VERMILION, CIRCLE),
        Tone::Mixed => (OLIVE, DIAMOND),
        Tone::Plain | Tone::Good => (MUTED, CIRCLE),
    };
    let Interval { value, low, high } = interval;
    let (from, to) = ((column.x(low), y), (column.x(high), y));
    canvas.line("interval", from, to, Stroke { color, width: 3.0, dash: "" });
    for (end, (x, y), back) in [(low, from, 6.0), (high, to, -6.0)] {
        if !(0.0..=1.0).contains(&column.scale.place_unbounded(end)) {
            let head = [(x + back, y - 5.0), (x, y), (x + back, y + 5.0)];
            canvas.polyline("cut", "", &head, Stroke { color, width: 2.0, dash: "" });
        }
    }
    canvas.marker("estimate", marker, (column.x(value), y), 4.5, color);
}

/// From half of the smallest size, or of 1, so that a single one has a length.
fn size_scale(values: &[f64], width: f64) -> Scale {
    /// Sizes this many times below the largest have no length.
    const DEEPEST: f64 = 1e6;
    let (smallest, largest) = extent(values.iter().copied().filter(|&value| value > 0.0));
    if smallest > largest {
        return Scale::log(&[0.5, 10.0], None, PAD, 3, Labels::Compact);
    }
    let edge = smallest.min(1.0).max(largest / DEEPEST) / 2.0;
    axes::fitted(width, 5, |count| Scale::log(&[edge, largest], None, PAD, count, Labels::Compact))
}

/// As far as three quarters of the intervals' ends, or half as far again as the furthest value: one interval that
/// nobody has measured well must not squeeze all others.
fn interval_scale(intervals: &[Interval], band: f64, width: f64) -> Scale {
    let mut sizes: Vec<f64> = intervals.iter().flat_map(|i| [i.low.abs(), i.high.abs()]).collect();
    sizes.sort_by(f64::total_cmp);
    let most = sizes.get(sizes.len() * 3 / 4).copied().unwrap_or(1.0);
    let furthest = intervals.iter().map(|interval| interval.value.abs()).fold(0.0, f64::max);
    let reach = most.max(1.5 * furthest);
    let shown =
        intervals.iter().flat_map(|i| [i.value, i.low.clamp(-reach, reach), i.high.clamp(-reach, reach)]);
    // The whole band with some room around it, unless it would squeeze everything else.
    let band = (1.1 * band).min(6.0 * reach);
    let values: Vec<f64> = shown.chain([0.0, band, -band]).collect();
    axes::fitted(width, 6, |count| Scale::rounded(&values, count, Labels::Grouped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(size: f64, share: f64, margin: f64) -> Result<String, Error> {
        let interval = Some(Interval { value: 0.4, low: 0.3, high: 0.5 });
        let rows = vec![Row { name: "a".into(), size, interval, share, ..Row::default() }];
        RowsFigure { margin, rows, ..RowsFigure::default() }.svg()
    }

    #[test]
    fn only_a_positive_margin_is_a_band() {
        let bands = |margin| figure(10.0, 0.1, margin).expect("valid").matches("class=\"margin\"").count();
        assert_eq!([0.1, 0.0, f64::NAN, f64::INFINITY, -1.0].map(bands), [1, 0, 0, 0, 0]);
    }

    #[test]
    fn names_that_fit_are_shown_whole_and_others_are_cut() {
        for (name, fits) in
            [("0.7 f_windspeed + …", true), ("0.7 f_windspeed + 0.4 f_hcos2 + 0.3 f_hsin1 + …", false)]
        {
            let rows = vec![Row { name: name.into(), ..Row::default() }];
            let svg = RowsFigure { rows, ..RowsFigure::default() }.svg().expect("valid");
            assert_eq!((RowsFigure::shows(name), svg.contains(&format!(">{name}<"))), (fits, fits), "{svg}");
        }
    }

    #[test]
    fn a_direction_names_the_number_it_refuses() {
        let refusal = |size, share| figure(size, share, 0.0).expect_err("refused").to_string();
        assert_eq!(refusal(-1.0, 0.5), "`size` 0 of `a` must be at least 0, but is -1");
        assert_eq!(refusal(1.0, 1.5), "`share` 0 of `a` must be at most 1, but is 1.5");
    }
}
