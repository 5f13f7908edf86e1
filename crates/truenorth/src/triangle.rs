//! Lower triangle of a square matrix in blocks of eight rows and columns, as the inner loops want it.
//!
//! ```text
//! block 0
//! blocks 1 2          block t(t + 1)/2 + c holds rows 8t .. 8t + 8 of columns 8c .. 8c + 8
//! blocks 3 4 5
//! ```
//!
//! Every row of a block is a cache line and a vector: no loop has a rest. What is above the diagonal or beyond the
//! dimension is the owner's business.

use nalgebra::DMatrix;

use crate::dense::mirror;
use crate::spare;

/// Rows and columns of a block.
pub(crate) const SIDE: usize = 8;

/// Eight rows of eight numbers.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(crate) struct Block(pub(crate) [[f64; SIDE]; SIDE]);

/// Eight numbers: a cache line and a vector.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(crate) struct Line(pub(crate) [f64; SIDE]);

impl Line {
    /// A vector in whole lines, with zeros behind it.
    #[inline]
    pub(crate) fn lines(numbers: &[f64]) -> impl Iterator<Item = Self> {
        let (whole, rest) = numbers.as_chunks::<SIDE>();
        let last =
            (!rest.is_empty()).then(|| Self(std::array::from_fn(|i| rest.get(i).copied().unwrap_or(0.0))));
        whole.iter().map(|&numbers| Self(numbers)).chain(last)
    }
}

/// Lower triangle of a `dimension x dimension` matrix.
#[derive(Debug, Clone)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "Packed", try_from = "Packed")
)]
pub(crate) struct Triangle {
    pub(crate) dimension: usize,
    pub(crate) blocks: Vec<Block>,
}

/// What is written: the rows, one after the other without gaps.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Packed {
    dimension: usize,
    entries: Vec<f64>,
}

impl From<Triangle> for Packed {
    fn from(triangle: Triangle) -> Self {
        Self { dimension: triangle.dimension, entries: triangle.entries().collect() }
    }
}

impl TryFrom<Packed> for Triangle {
    type Error = &'static str;

    fn try_from(Packed { dimension, entries }: Packed) -> Result<Self, Self::Error> {
        // A triangle of n numbers has about √(2n) rows, so that nothing overflows below.
        if dimension > entries.len() || dimension * (dimension + 1) / 2 != entries.len() {
            return Err("a triangle's length does not fit its dimension");
        }
        let mut entries = entries.into_iter();
        Ok(Self::from_fn(dimension, |_, _| entries.next().unwrap_or_default()))
    }
}

impl PartialEq for Triangle {
    fn eq(&self, other: &Self) -> bool {
        self.dimension == other.dimension && self.entries().eq(other.entries())
    }
}

impl Triangle {
    pub(crate) fn zeros(dimension: usize) -> Self {
        let side = dimension.div_ceil(SIDE);
        Self { dimension, blocks: vec![Block::default(); side * (side + 1) / 2] }
    }

    /// Asks for row after row, up to the diagonal.
    pub(crate) fn from_fn(dimension: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Self {
        let mut triangle = Self::zeros(dimension);
        for i in 0..dimension {
            for j in 0..=i {
                *triangle.entry_mut(i, j) = entry(i, j);
            }
        }
        triangle
    }

    /// Takes the lower half of `matrix`.
    pub(crate) fn from_matrix(matrix: &DMatrix<f64>) -> Self {
        Self::from_fn(matrix.nrows(), |i, j| matrix[(i, j)])
    }

    /// The entry of row `i` and column `j`, which is at most `i`.
    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        self.blocks[Self::place(i, j)].0[i % SIDE][j % SIDE]
    }

    pub(crate) fn entry_mut(&mut self, i: usize, j: usize) -> &mut f64 {
        &mut self.blocks[Self::place(i, j)].0[i % SIDE][j % SIDE]
    }

    fn place(i: usize, j: usize) -> usize {
        let row = i / SIDE;
        row * (row + 1) / 2 + j / SIDE
    }

    /// Row after row, without what is above the diagonal.
    pub(crate) fn entries(&self) -> impl Iterator<Item = f64> {
        (0..self.dimension).flat_map(move |i| (0..=i).map(move |j| self.get(i, j)))
    }

    /// Adds rows below, which are 0 if nothing was written beyond the dimension.
    pub(crate) fn grow(&mut self, dimension: usize) {
        self.dimension = self.dimension.max(dimension);
        let side = self.dimension.div_ceil(SIDE);
        self.blocks.resize(side * (side + 1) / 2, Block::default());
    }

    /// Adds another triangle of the same dimension, or of a smaller one: it is the first rows that are added to.
    pub(crate) fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.blocks.iter_mut().zip(&other.blocks) {
            for (mine, theirs) in mine.0.as_flattened_mut().iter_mut().zip(theirs.0.as_flattened()) {
                *mine += theirs;
            }
        }
    }

    /// The square matrix with zeros above the diagonal.
    pub(crate) fn to_triangular(&self) -> DMatrix<f64> {
        DMatrix::from_fn(self.dimension, self.dimension, |i, j| if j <= i { self.get(i, j) } else { 0.0 })
    }

    /// The square matrix with the mirror image above the diagonal.
    pub(crate) fn to_symmetric(&self) -> DMatrix<f64> {
        let mut matrix = self.to_upper();
        mirror(&mut matrix);
        matrix
    }

    /// The mirror image, with zeros below the diagonal.
    pub(crate) fn to_upper(&self) -> DMatrix<f64> {
        let mut matrix = spare::zeros(self.dimension, self.dimension);
        // A row is the column above the diagonal.
        for i in 0..self.dimension {
            let blocks = &self.blocks[Self::place(i, 0)..];
            let mut column = matrix.column_mut(i);
            for (to, Block(rows)) in column.as_mut_slice()[..=i].chunks_mut(SIDE).zip(blocks) {
                to.copy_from_slice(&rows[i % SIDE][..to.len()]);
            }
        }
        matrix
    }

    /// The mirror image of a lower triangle that is turned by 180°.
    pub(crate) fn from_turned(lower: &DMatrix<f64>) -> Self {
        let mut triangle = Self::zeros(lower.nrows());
        for i in 0..triangle.dimension {
            let (blocks, turned) = (&mut triangle.blocks[Self::place(i, 0)..], triangle.dimension - 1 - i);
            for (from, Block(rows)) in lower.column(turned).as_slice()[turned..].rchunks(SIDE).zip(blocks) {
                rows[i % SIDE].iter_mut().zip(from.iter().rev()).for_each(|(to, from)| *to = *from);
            }
        }
        triangle
    }

    /// The mirror image of an upper triangle, times a factor.
    pub(crate) fn from_upper(upper: &DMatrix<f64>, factor: f64) -> Self {
        let mut triangle = Self::zeros(upper.nrows());
        for i in 0..triangle.dimension {
            let blocks = &mut triangle.blocks[Self::place(i, 0)..];
            for (from, Block(rows)) in upper.column(i).as_slice()[..=i].chunks(SIDE).zip(blocks) {
                rows[i % SIDE].iter_mut().zip(from).for_each(|(to, from)| *to = from * factor);
            }
        }
        triangle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_whatever_the_dimension() {
        for dimension in [0, 1, 7, 8, 9, 17, 40] {
            let matrix = DMatrix::from_fn(dimension, dimension, |i, j| (i * 100 + j) as f64);
            let triangle = Triangle::from_matrix(&matrix);
            let packed = Packed::from(triangle.clone());
            assert_eq!(packed.entries.len(), dimension * (dimension + 1) / 2);
            let read = Triangle::try_from(packed).unwrap();
            assert_eq!(read, triangle);
            assert_eq!(read.to_triangular(), matrix.lower_triangle());
        }
        for (dimension, length) in [(2, 2), (usize::MAX, 3), (1 << 40, 0), (0, 1)] {
            assert!(Triangle::try_from(Packed { dimension, entries: vec![0.0; length] }).is_err());
        }
    }
}
