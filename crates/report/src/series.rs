//! What a panel of curves is made of, and what is asked of it.

use crate::check::{List, not_empty, quoted};
use crate::{AxisScale, Error, Palette};

/// A line with an optional band around it.
///
/// | field | purpose | range |
/// |---|---|---|
/// | `name` | picks colour, dash pattern and marker | |
/// | `x` | where the line has points | increasing, at least one |
/// | `mean` | the line | one number for each `x` |
/// | `band` | the translucent area around it | `low` at most `high` |
///
/// ```
/// use truenorth_report::Series;
///
/// let series = Series::new("LinUCB", [1.0, 2.0], [0.5, 0.9]).with_band([0.4, 0.7], [0.6, 1.1]);
/// assert_eq!(series.mean.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What the line is called.
    pub name: String,
    /// Where it has points.
    pub x: Vec<f64>,
    /// Its heights there.
    pub mean: Vec<f64>,
    /// The area around it.
    pub band: Option<Band>,
}

/// The lower and upper edge of an area, one number for each point of the line.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// The lower edge.
    pub low: Vec<f64>,
    /// The upper edge.
    pub high: Vec<f64>,
}

/// A dashed grey power law `y = y₀ (x / x₀)^slope`: a straight line where both axes are logarithmic.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// What the line is called, as in "slope 1/2".
    pub name: String,
    /// The exponent.
    pub slope: f64,
    /// The point (x₀, y₀) it passes through, both positive.
    pub through: (f64, f64),
}

/// One plot of a [`CurvesFigure`](crate::CurvesFigure).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CurvesPanel {
    /// Stands above the plot.
    pub title: String,
    /// How the y axis is spread.
    pub y_scale: AxisScale,
    /// The lines, at least one.
    pub series: Vec<Series>,
    /// Power laws to compare with; they do not widen the axes.
    pub references: Vec<Reference>,
}

/// Everything a [`CurvesFigure`](crate::CurvesFigure) shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Curves {
    /// Stands above the figure, unless empty.
    pub title: String,
    /// Label of the x axes.
    pub x_label: String,
    /// Label of the y axes.
    pub y_label: String,
    /// How the x axes are spread; `Auto` is linear.
    pub x_scale: AxisScale,
    /// Whether points are marked.
    pub marks: Marks,
    /// Which names come first, to keep their colours across figures.
    pub palette: Palette,
    /// The plots, at least one.
    pub panels: Vec<CurvesPanel>,
}

/// How the points of a line are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Marks {
    /// As corners of the line: for many points.
    #[default]
    Lines,
    /// With a marker on each: for few points.
    Points,
}

impl Series {
    /// A line without a band.
    pub fn new(name: impl Into<String>, x: impl Into<Vec<f64>>, mean: impl Into<Vec<f64>>) -> Self {
        Self { name: name.into(), x: x.into(), mean: mean.into(), band: None }
    }

    /// The same line with a band from `low` to `high`.
    #[must_use]
    pub fn with_band(self, low: impl Into<Vec<f64>>, high: impl Into<Vec<f64>>) -> Self {
        Self { band: Some(Band { low: low.into(), high: high.into() }), ..self }
    }

    pub(crate) fn last_mean(&self) -> Option<f64> {
        self.mean.last().copied()
    }

    fn check(&self) -> Result<(), Error> {
        let list = |field, values| List { of: &self.name, field, values };
        not_empty(&self.x, "point", &quoted(&self.name))?;
        list("x", &self.x).finite()?.increasing()?;
        list("mean", &self.mean).len(self.x.len())?.finite()?;
        if let Some(band) = &self.band {
            list("low", &band.low).len(self.x.len())?.finite()?;
            list("high", &band.high).len(self.x.len())?.finite()?.at_least(&band.low, "at least `low`")?;
        }
        Ok(())
    }
}

impl CurvesPanel {
    /// Every height that the axis should show: lines and bands.
    pub(crate) fn heights(&self) -> Vec<f64> {
        let bands = self.series.iter().filter_map(|series| series.band.as_ref());
        let edges = bands.flat_map(|band| band.low.iter().chain(&band.high));
        self.series.iter().flat_map(|series| &series.mean).chain(edges).copied().collect()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.series.iter().map(|series| series.name.as_str())
    }

    /// Names of lines and references: all that is labelled at the right.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &str> {
        self.names().chain(self.references.iter().map(|reference| reference.name.as_str()))
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        not_empty(&self.series, "series", &format!("panel `{}`", self.title))?;
        self.series.iter().try_for_each(Series::check)?;
        for Reference { name, slope, through } in &self.references {
            List { of: name, field: "slope", values: &[*slope] }.finite()?;
            List { of: name, field: "through", values: &[through.0, through.1] }.finite()?.positive()?;
        }
        Ok(())
    }
}
