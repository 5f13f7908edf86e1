//! Publication-quality figures from plain series, as SVG and PNG, and pages that hold them.
//!
//! Every figure is a struct of plain numbers and words; its `svg` checks them and draws, and the same input gives
//! the same bytes. [`png`] turns an SVG into pixels, [`Page`] collects figures, text and tables into one
//! HTML file, [`numbers`] writes numbers as people do. This crate knows nothing about where numbers come from.
//!
//! | figure | shows |
//! |---|---|
//! | [`Curves`] | lines with bands over time or on logarithmic axes, in panels |
//! | [`Shares`] | how a whole divides into parts over time |
//! | [`Ellipses`] | closed outlines and points in the plane, in a sequence of panels |
//! | [`Bars`] | one number for each name |
//! | [`RowsFigure`] | sizes, intervals and shares beside each name, in columns |
//!
//! ```
//! use truenorth_report::{Curves, CurvesPanel, Series, png};
//!
//! let round: Vec<f64> = (0..=100).map(f64::from).collect();
//! let regret: Vec<f64> = round.iter().map(|t| t.sqrt()).collect();
//! let series = vec![Series::new("LinUCB", round, regret)];
//! let panels = vec![CurvesPanel { title: "aligned".into(), series, ..CurvesPanel::default() }];
//! let curves = Curves { x_label: "round".into(), panels, ..Curves::default() };
//! let pixels = png(&curves.svg()?, 2.0)?;
//! # assert!(!pixels.is_empty());
//! # Ok::<(), truenorth_report::Error>(())
//! ```

mod axes;
mod bars;
mod check;
mod curves;
mod ellipses;
mod error;
mod font;
mod labels;
mod layout;
mod legend;
pub mod numbers;
mod page;
mod palette;
#[cfg_attr(not(feature = "png"), path = "left_out.rs")]
mod png;
mod rows;
mod scale;
mod series;
mod shares;
mod svg;
mod ticks;
mod trace;

pub use bars::Bars;
pub use ellipses::{Ellipses, EllipsesPanel, Outline};
pub use error::Error;
pub use page::{Block, Page, Section, Table, Tile, Tone};
pub use palette::Palette;
pub use png::png;
pub use rows::{Interval, Row, RowsFigure};
pub use scale::AxisScale;
pub use series::{Curves, CurvesPanel, Reference, Series};
pub use shares::{Share, Shares, SharesPanel};
