//! What a panel of curves is made of, and what is asked of it.

use crate::check::{beside, finite, not_empty, quoted};
use crate::{AxisScale, Error, Palette};

/// A line with an optional band around it.
///
/// | field | purpose | range |
/// |---|---|---|
/// | `name` | picks colour, dash pattern and marker | |
/// | `x` | where the line has points | increasing, at least one |
/// | `mean` | the line | one number for each `x` |
/// | `band` | the lower and upper edge of the translucent area around it | `low` at most `high` |
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
    /// The lower and upper edge of the area around it, one number for each point.
    pub band: Option<[Vec<f64>; 2]>,
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

/// One plot of [`Curves`].
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

/// A figure of lines with bands, in rows of at most three panels.
///
/// Each line has its name at its end and in a shared legend. A panel whose range demands it gets a
/// logarithmic y axis, see [`AxisScale`]; over a linear x axis that one reaches down to a tenth of the
/// smallest positive final mean, and what lies below is drawn on its lower edge.
///
/// ```
/// use truenorth_report::{Curves, CurvesPanel, Series};
///
/// let series = Series::new("LinUCB", [0.0, 1.0, 2.0], [0.0, 0.8, 1.1]);
/// let panel = CurvesPanel { title: "aligned".into(), series: vec![series], ..CurvesPanel::default() };
/// let curves = Curves { x_label: "round".into(), panels: vec![panel], ..Curves::default() };
/// assert!(curves.svg()?.starts_with("<svg"));
/// # Ok::<(), truenorth_report::Error>(())
/// ```
///
/// With markers, logarithmic axes and a slope to compare with:
///
/// ```
/// use truenorth_report::{AxisScale, Curves, CurvesPanel, Reference, Series};
///
/// let series = vec![Series::new("measured", [10.0, 100.0, 1000.0], [3.0, 9.0, 33.0])];
/// let references = vec![Reference { name: "slope 1/2".into(), slope: 0.5, through: (10.0, 2.0) }];
/// let panel = CurvesPanel { y_scale: AxisScale::Log, series, references, ..CurvesPanel::default() };
/// let curves = Curves { x_scale: AxisScale::Log, markers: true, panels: vec![panel], ..Curves::default() };
/// assert!(curves.svg()?.contains("slope 1/2"));
/// # Ok::<(), truenorth_report::Error>(())
/// ```
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
    /// Whether each point has a marker: for few points. Many are only corners of the line.
    pub markers: bool,
    /// Which names come first, to keep their colours across figures.
    pub palette: Palette,
    /// The plots, at least one.
    pub panels: Vec<CurvesPanel>,
}

impl Series {
    /// A line without a band.
    pub fn new(name: impl Into<String>, x: impl Into<Vec<f64>>, mean: impl Into<Vec<f64>>) -> Self {
        Self { name: name.into(), x: x.into(), mean: mean.into(), band: None }
    }

    /// The same line with a band from `low` to `high`.
    #[must_use]
    pub fn with_band(self, low: impl Into<Vec<f64>>, high: impl Into<Vec<f64>>) -> Self {
        Self { band: Some([low.into(), high.into()]), ..self }
    }

    fn check(&self) -> Result<(), Error> {
        not_empty(&self.x, "point", &quoted(&self.name))?;
        finite(&self.name, "x", &self.x)?.increasing()?;
        beside(&self.x, &self.name, "mean", &self.mean)?;
        if let Some([low, high]) = &self.band {
            beside(&self.x, &self.name, "low", low)?;
            let high = beside(&self.x, &self.name, "high", high)?;
            high.all("at least `low`", |index, high| high >= low[index])?;
        }
        Ok(())
    }
}

impl CurvesPanel {
    /// Every height that the axis should show: lines and bands.
    pub(crate) fn heights(&self) -> Vec<f64> {
        let edges = self.series.iter().flat_map(|series| series.band.iter().flatten().flatten());
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
            finite(name, "slope", &[*slope])?;
            finite(name, "through", &[through.0, through.1])?.all("above 0", |_, value| value > 0.0)?;
        }
        Ok(())
    }
}
