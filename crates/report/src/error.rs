//! The one error type of the crate: typed fields, one sentence each.

/// What a figure refuses to draw, and why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something that a figure cannot do without is absent.
    #[error("{of} must hold at least one {what}")]
    Empty {
        /// What is absent: "panel", "series", "point".
        what: &'static str,
        /// What should hold it.
        of: String,
    },
    /// Two lists that belong together have different lengths.
    #[error("`{list}` of {of} must hold {expected} numbers, but holds {found}")]
    Length {
        /// The list as named in the API.
        list: &'static str,
        /// The series the list belongs to.
        of: String,
        /// How many numbers there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A number is not finite, or not where it has to be.
    #[error("`{list}` {index} of {of} must be {range}, but is {value}")]
    Range {
        /// The list as named in the API.
        list: &'static str,
        /// The series the list belongs to.
        of: String,
        /// Position in the list, from 0.
        index: usize,
        /// The range the number must lie in, in words.
        range: &'static str,
        /// The number.
        value: f64,
    },
    /// The text given to [`png`](crate::png) is not an SVG.
    #[error("the figure is not a readable SVG")]
    Svg(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// This build draws no PNG.
    #[error("PNG is left out of this build, which was made without its feature `png`; write an SVG")]
    LeftOut,
    /// A PNG of this size cannot be made.
    #[error("a PNG of {width} by {height} pixels is empty or too large")]
    Size {
        /// Width in pixels.
        width: f32,
        /// Height in pixels.
        height: f32,
    },
    /// The pixels could not be encoded.
    #[error("the pixels could not be encoded as PNG")]
    Encoding(#[source] Box<dyn std::error::Error + Send + Sync>),
}
