//! Publication-quality figures from plain series, as SVG and PNG, and pages that hold them.
//!
//! Every figure is checked once, by `new`, and drawn without failing by `svg`; the same input gives the
//! same bytes. [`png`] turns an SVG into pixels, [`Page`] collects figures, text and tables into one
//! HTML file. This crate knows nothing about where numbers come from.
//!
//! | figure | shows |
//! |---|---|
//! | [`CurvesFigure`] | lines with bands over time or on logarithmic axes, in panels |
//! | [`SharesFigure`] | how a whole divides into parts over time |
//! | [`EllipsesFigure`] | closed outlines and points in the plane, in a sequence of panels |
//! | [`BarsFigure`] | one number with its error for each name, in groups |
//! | [`DirectionsFigure`] | coverage, drift and trust of each direction, a row each |
//!
//! ```
//! use truenorth_report::{Curves, CurvesFigure, CurvesPanel, Series, png};
//!
//! let round: Vec<f64> = (0..=100).map(f64::from).collect();
//! let regret: Vec<f64> = round.iter().map(|t| t.sqrt()).collect();
//! let series = vec![Series::new("LinUCB", round, regret)];
//! let panels = vec![CurvesPanel { title: "aligned".into(), series, ..CurvesPanel::default() }];
//! let figure = CurvesFigure::new(Curves { x_label: "round".into(), panels, ..Curves::default() })?;
//! let pixels = png(&figure.svg(), 2.0)?;
//! # assert!(!pixels.is_empty());
//! # Ok::<(), truenorth_report::Error>(())
//! ```

mod axes;
mod bars;
mod check;
mod curves;
mod directions;
mod ellipses;
mod error;
mod font;
mod labels;
mod layout;
mod legend;

mod page;
mod palette;
mod png;
mod scale;
mod series;
mod shares;
mod svg;
mod ticks;
mod trace;

pub use bars::{Bar, BarGroup, Bars, BarsFigure};
pub use curves::CurvesFigure;
pub use directions::{Direction, Directions, DirectionsFigure, DirectionsPanel, Drift, Heading};
pub use ellipses::{Ellipses, EllipsesFigure, EllipsesPanel, Outline, OutlineStyle};
pub use error::Error;
pub use page::{Block, Callout, Page, Section, Table, Tile, Tone};
pub use palette::Palette;
pub use png::png;
pub use scale::AxisScale;
pub use series::{Band, Curves, CurvesPanel, Marks, Reference, Series};
pub use shares::{Share, ShareColors, Shares, SharesFigure, SharesPanel};
pub use ticks::thousands;
