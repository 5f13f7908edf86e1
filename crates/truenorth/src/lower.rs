//! Lower triangle of a square matrix, packed row by row.
//!
//! Half of a symmetric matrix would be dead weight: row `i` holds its `i + 1` entries, and rows follow each other
//! without gaps. (What the decisions touch is a [`Triangle`](crate::triangle::Triangle).)

use serde::{Deserialize, Serialize};

/// Lower triangle of a `dimension x dimension` matrix; what the upper half holds (zeros, or the
/// mirror image) is the owner's business.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Lower {
    dimension: usize,
    entries: Vec<f64>,
}

impl Lower {
    pub(crate) fn scaled_identity(dimension: usize, scale: f64) -> Self {
        let mut lower = Self { dimension, entries: vec![0.0; dimension * (dimension + 1) / 2] };
        for i in 0..dimension {
            lower.row_mut(i)[i] = scale;
        }
        lower
    }

    pub(crate) fn zeros(dimension: usize) -> Self {
        Self::scaled_identity(dimension, 0.0)
    }

    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Adds rows of zeros below.
    pub(crate) fn grow(&mut self, dimension: usize) {
        self.dimension = self.dimension.max(dimension);
        self.entries.resize(self.dimension * (self.dimension + 1) / 2, 0.0);
    }

    pub(crate) fn entries(&self) -> &[f64] {
        &self.entries
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.entries[i * (i + 1) / 2..][..=i]
    }

    pub(crate) fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.entries[i * (i + 1) / 2..][..=i]
    }

    /// Whether the packed length fits the dimension: deserialised data may disagree with itself.
    pub(crate) fn is_consistent(&self, dimension: usize) -> bool {
        self.dimension == dimension && self.entries.len() == dimension * (dimension + 1) / 2
    }
}
