//! The Gram matrix of a statistic: whole, in parts, or of nothing yet.

use std::borrow::Cow;

use crate::blocks::Blocks;
use crate::kernel::{self, AddSquare, AddSquares};
use crate::round::Row;
use crate::triangle::{Line, SIDE, Triangle};

/// Vectors that may be pending.
pub(crate) const PENDING: usize = 16;

/// A.
#[derive(Debug, Clone)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "Stored", from = "Stored")
)]
pub(crate) enum Gram {
    /// Of no rows, with so many columns.
    Nothing(usize),
    Whole {
        /// Without the products of the vectors that are pending.
        triangle: Triangle,
        /// Room for the latest vectors: a few of them are multiplied at once, in one pass over memory.
        latest: Vec<Line>,
        /// Lines of them that are pending.
        pending: usize,
    },
    /// Of rows that touch a few columns each.
    Parts(Blocks),
}

/// A as it is written.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Stored {
    Nothing(usize),
    Whole(Triangle),
    Parts(Blocks),
}

impl From<Gram> for Stored {
    fn from(gram: Gram) -> Self {
        match gram {
            Gram::Nothing(dimension) => Self::Nothing(dimension),
            Gram::Whole { .. } => Self::Whole(gram.settled().into_owned()),
            Gram::Parts(blocks) => Self::Parts(blocks),
        }
    }
}

impl From<Stored> for Gram {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Nothing(dimension) => Self::Nothing(dimension),
            Stored::Whole(triangle) => Self::whole(triangle),
            Stored::Parts(blocks) => Self::Parts(blocks),
        }
    }
}

impl Gram {
    pub(crate) fn whole(triangle: Triangle) -> Self {
        let latest = vec![Line::default(); PENDING * triangle.dimension.div_ceil(SIDE)];
        Self::Whole { triangle, latest, pending: 0 }
    }

    #[inline]
    pub(crate) fn add(&mut self, features: Row<'_>) {
        let (triangle, latest, pending) = match self {
            Self::Whole { triangle, latest, pending } => (triangle, latest, pending),
            Self::Parts(blocks) => return blocks.add_square(features),
            Self::Nothing(dimension) => {
                *self = Self::whole(Triangle::zeros(*dimension));
                return self.add(features);
            }
        };
        for (line, numbers) in latest[*pending..].iter_mut().zip(Line::lines(features.values())) {
            *line = numbers;
        }
        *pending += features.values().len().div_ceil(SIDE);
        if *pending == latest.len() {
            kernel::run(&mut AddSquares { gram: triangle, vectors: latest });
            *pending = 0;
        }
    }

    /// As a whole, with all that is pending.
    pub(crate) fn settled(&self) -> Cow<'_, Triangle> {
        match self {
            Self::Nothing(dimension) => Cow::Owned(Triangle::zeros(*dimension)),
            Self::Whole { triangle, pending: 0, .. } => Cow::Borrowed(triangle),
            Self::Whole { triangle, latest, pending } => {
                let mut triangle = triangle.clone();
                kernel::run(&mut AddSquares { gram: &mut triangle, vectors: &latest[..*pending] });
                Cow::Owned(triangle)
            }
            Self::Parts(blocks) => Cow::Owned(Triangle::from_fn(blocks.dimension(), |i, j| blocks.get(i, j))),
        }
    }

    /// In parts.
    pub(crate) fn parted(&self) -> Cow<'_, Blocks> {
        match self {
            Self::Nothing(dimension) => Cow::Owned(Blocks::diagonal(vec![0.0; *dimension])),
            Self::Whole { .. } => Cow::Owned(Blocks::of(&self.settled())),
            Self::Parts(blocks) => Cow::Borrowed(blocks),
        }
    }

    /// A diagonal entry, to the last bit what it is with all that is pending: whoever saved in between has that.
    pub(crate) fn square(&self, i: usize) -> f64 {
        match self {
            Self::Nothing(_) => 0.0,
            Self::Whole { triangle, latest, pending } => {
                let (latest, start) = (&latest[..*pending], triangle.get(i, i));
                kernel::run(&mut AddSquare {
                    start,
                    dimension: triangle.dimension,
                    column: i,
                    vectors: latest,
                })
            }
            Self::Parts(blocks) => blocks.get(i, i),
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        *self = match self {
            Self::Nothing(_) => other.clone(),
            Self::Whole { .. } => {
                let mut triangle = self.settled().into_owned();
                triangle.add(&other.settled());
                Self::whole(triangle)
            }
            Self::Parts(blocks) => {
                blocks.add(&other.parted());
                return;
            }
        };
    }

    pub(crate) fn grown(&self, dimension: usize) -> Self {
        match self {
            Self::Nothing(_) => Self::Nothing(dimension),
            Self::Whole { .. } => {
                let mut triangle = self.settled().into_owned();
                triangle.grow(dimension);
                Self::whole(triangle)
            }
            Self::Parts(blocks) => {
                let mut blocks = blocks.clone();
                blocks.grow((blocks.dimension()..dimension).map(|_| 0.0));
                Self::Parts(blocks)
            }
        }
    }

    pub(crate) fn times(&self, factor: f64) -> Self {
        match self {
            Self::Nothing(dimension) => Self::Nothing(*dimension),
            Self::Whole { .. } => {
                let triangle = self.settled();
                Self::whole(Triangle::from_fn(triangle.dimension, |i, j| triangle.get(i, j) * factor))
            }
            Self::Parts(blocks) => Self::Parts(blocks.clone().times(factor)),
        }
    }

    /// Whether its numbers are those of a matrix of this side: deserialised data may be anything.
    pub(crate) fn is_consistent(&self, dimension: usize) -> bool {
        match self {
            Self::Nothing(side) => *side == dimension,
            Self::Whole { triangle, .. } => {
                triangle.dimension == dimension && triangle.entries().all(f64::is_finite)
            }
            Self::Parts(blocks) => blocks.is_consistent(dimension),
        }
    }
}
