//! A symmetric matrix whose columns fall into parts: columns of different parts have nothing in common.
//!
//! Rows that each touch a few columns leave a Gram matrix that is 0 wherever no row touches both columns. Columns that some
//! row touches together are in one part, and only parts are stored and visited, each as the rows of its lower triangle:
//! separate arms cost what separate arms should. The order of columns in a part is that in which they came together.

use crate::dense::Matrix;
use crate::round::Row;
use crate::triangle::Triangle;

/// Part of a column, and its place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Place {
    pub(crate) part: u32,
    pub(crate) at: u32,
}

/// Columns that belong together, and the lower triangle of what they have in common, row after row.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Part {
    pub(crate) columns: Vec<u32>,
    pub(crate) entries: Vec<f64>,
}

/// See the module's head.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Blocks {
    places: Vec<Place>,
    /// Empty where a part was joined to another.
    parts: Vec<Part>,
    /// Whether a part's columns are a first one and those that follow it.
    runs: Vec<bool>,
}

/// Where row `i` of a triangle starts.
pub(crate) fn start(i: usize) -> usize {
    i * (i + 1) / 2
}

/// A number of columns or parts as it is stored.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("a matrix of so many columns would not fit in memory")
}

impl Part {
    pub(crate) fn side(&self) -> usize {
        self.columns.len()
    }

    /// Row `i` up to the diagonal.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.entries[start(i)..=start(i) + i]
    }

    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        self.entries[start(i.max(j)) + i.min(j)]
    }

    /// Whether the columns are a first one and those that follow it.
    pub(crate) fn is_run(&self) -> bool {
        self.columns.is_sorted_by(|a, b| a + 1 == *b)
    }

    pub(crate) fn columns(&self) -> impl ExactSizeIterator<Item = usize> + Clone {
        self.columns.iter().map(|&column| column as usize)
    }

    pub(crate) fn to_matrix(&self) -> Matrix {
        Matrix::from_fn(self.side(), self.side(), |i, j| self.get(i, j))
    }

    /// Takes the lower half of a matrix of the same side.
    pub(crate) fn set(&mut self, matrix: &Matrix) {
        for i in 0..self.side() {
            for (j, entry) in self.entries[start(i)..=start(i) + i].iter_mut().enumerate() {
                *entry = matrix[(i, j)];
            }
        }
    }
}

impl Blocks {
    /// Every column a part of its own.
    pub(crate) fn diagonal(entries: impl IntoIterator<Item = f64>) -> Self {
        let mut blocks = Self::default();
        blocks.grow(entries);
        blocks
    }

    pub(crate) fn dimension(&self) -> usize {
        self.places.len()
    }

    /// Adds columns, each a part of its own.
    pub(crate) fn grow(&mut self, entries: impl IntoIterator<Item = f64>) {
        for entry in entries {
            self.places.push(Place { part: narrow(self.parts.len()), at: 0 });
            self.parts.push(Part { columns: vec![narrow(self.places.len() - 1)], entries: vec![entry] });
            self.runs.push(true);
        }
    }

    /// The parts of a matrix that is stored as a whole.
    pub(crate) fn of(triangle: &Triangle) -> Self {
        let dimension = triangle.dimension;
        let mut blocks = Self::diagonal((0..dimension).map(|i| triangle.get(i, i)));
        for i in 0..dimension {
            for j in (0..i).filter(|&j| triangle.get(i, j) != 0.0) {
                blocks.join([j, i]);
            }
        }
        for part in &mut blocks.parts {
            for i in 0..part.side() {
                for j in 0..i {
                    let (a, b) = (part.columns[i] as usize, part.columns[j] as usize);
                    part.entries[start(i) + j] = triangle.get(a.max(b), a.min(b));
                }
            }
        }
        blocks
    }

    pub(crate) fn place(&self, column: usize) -> (usize, usize) {
        let Place { part, at } = self.places[column];
        (part as usize, at as usize)
    }

    /// The part that has all these columns one after the other, and where the first one is.
    #[inline]
    pub(crate) fn run(&self, columns: &[usize]) -> Option<(&Part, usize)> {
        let (&first, &last) = (columns.first()?, columns.last()?);
        let (part, place) = self.place(first);
        let side = self.parts[part].side();
        let here = self.runs[part] && last - first + 1 == columns.len() && place + columns.len() <= side;
        here.then(|| (&self.parts[part], place))
    }

    pub(crate) fn part(&self, part: usize) -> &Part {
        &self.parts[part]
    }

    pub(crate) fn part_mut(&mut self, part: usize) -> &mut Part {
        &mut self.parts[part]
    }

    /// Those that have columns.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Part> + Clone {
        self.parts.iter().filter(|part| !part.columns.is_empty())
    }

    pub(crate) fn parts_mut(&mut self) -> impl Iterator<Item = &mut Part> {
        self.parts.iter_mut().filter(|part| !part.columns.is_empty())
    }

    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        let ((part, i), (other, j)) = (self.place(i), self.place(j));
        if part == other { self.parts[part].get(i, j) } else { 0.0 }
    }

    /// Makes one part of those of these columns, and tells which; the largest of them stays where it is, and the others come
    /// behind it.
    pub(crate) fn join(&mut self, columns: impl IntoIterator<Item = usize> + Clone) -> Option<usize> {
        let first = self.place(columns.clone().into_iter().next()?).0;
        let mut one = true;
        let mut largest = first;
        for column in columns.clone() {
            let part = self.place(column).0;
            one &= part == first;
            largest = if self.parts[part].side() > self.parts[largest].side() { part } else { largest };
        }
        if one {
            return Some(first);
        }
        for column in columns {
            let part = self.place(column).0;
            if part == largest {
                continue;
            }
            let joined = std::mem::take(&mut self.parts[part]);
            self.runs[part] = true;
            let target = &mut self.parts[largest];
            let before = target.side();
            // Large parts grow by an eighth: twice as much would be memory that nobody uses.
            let more = joined.entries.len() + before * joined.side();
            if target.entries.capacity() < target.entries.len() + more {
                target.entries.reserve_exact(more.max(target.entries.len() / 8));
            }
            for (i, &column) in joined.columns.iter().enumerate() {
                self.places[column as usize] = Place { part: narrow(largest), at: narrow(before + i) };
                target.entries.resize(target.entries.len() + before, 0.0);
                target.entries.extend_from_slice(joined.row(i));
            }
            target.columns.extend(joined.columns);
        }
        self.runs[largest] = self.parts[largest].is_run();
        Some(largest)
    }

    /// Adds `xxᵀ`.
    pub(crate) fn add_square(&mut self, x: Row<'_>) {
        let Some(part) = self.join(x.entries().map(|(column, _)| column)) else { return };
        let (places, Part { entries, .. }) = (&self.places, &mut self.parts[part]);
        for (n, (column, value)) in x.entries().enumerate() {
            let i = places[column].at as usize;
            for (other, product) in x.entries().take(n + 1) {
                let j = places[other].at as usize;
                entries[start(i.max(j)) + i.min(j)] += value * product;
            }
        }
    }

    /// Adds another matrix of the same dimension, or of a smaller one.
    pub(crate) fn add(&mut self, other: &Self) {
        for theirs in other.parts() {
            let Some(part) = self.join(theirs.columns()) else { continue };
            for i in 0..theirs.side() {
                for (j, entry) in theirs.row(i).iter().enumerate() {
                    let [a, b] = [i, j].map(|at| self.place(theirs.columns[at] as usize).1);
                    self.parts[part].entries[start(a.max(b)) + a.min(b)] += entry;
                }
            }
        }
    }

    /// The same with every entry times a factor.
    pub(crate) fn times(mut self, factor: f64) -> Self {
        self.parts.iter_mut().flat_map(|part| &mut part.entries).for_each(|entry| *entry *= factor);
        self
    }

    /// `xᵀMy`.
    pub(crate) fn product(&self, x: Row<'_>, y: Row<'_>) -> f64 {
        let with = |(i, value): (usize, f64)| -> f64 {
            y.entries().map(|(j, other)| value * other * self.get(i, j)).sum()
        };
        x.entries().map(with).sum()
    }

    /// Whether sizes and numbers can be a matrix's: deserialised data may be anything.
    pub(crate) fn is_consistent(&self, dimension: usize) -> bool {
        let held = |(part, Part { columns, entries }): (usize, &Part)| {
            let at = |(at, &column): (usize, &u32)| {
                self.places.get(column as usize) == Some(&Place { part: narrow(part), at: narrow(at) })
            };
            entries.len() == start(columns.len())
                && columns.iter().enumerate().all(at)
                && entries.iter().all(|entry| entry.is_finite())
        };
        self.places.len() == dimension
            && self.parts.iter().map(Part::side).sum::<usize>() == dimension
            && u32::try_from(self.parts.len()).is_ok()
            && self.runs.iter().copied().eq(self.parts.iter().map(Part::is_run))
            && self.parts.iter().enumerate().all(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{self, Room, Rows, Scores};
    use crate::parted::{NO_LIMIT, Parted};
    use crate::round::Actions;

    fn rows() -> [Vec<(usize, f64)>; 4] {
        [vec![(0, 1.0), (2, 2.0)], vec![(1, 0.5)], vec![(5, 1.5), (6, -1.0)], vec![(1, 3.0), (6, 0.25)]]
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-15
    }

    fn split(row: &[(usize, f64)]) -> (Vec<usize>, Vec<f64>) {
        row.iter().copied().unzip()
    }

    #[test]
    fn sums_of_squares_are_those_of_the_whole_matrix_and_parts_are_what_rows_touch_together() {
        let mut blocks = Blocks::diagonal([0.0; 7]);
        let mut whole = Triangle::zeros(7);
        for row in rows() {
            let (columns, values) = split(&row);
            blocks.add_square(Row::sparse(&columns, &values));
            for &(i, a) in &row {
                for &(j, b) in row.iter().filter(|(j, _)| *j <= i) {
                    *whole.entry_mut(i, j) += a * b;
                }
            }
        }
        for i in 0..7 {
            assert!((0..=i).all(|j| close(blocks.get(i, j), whole.get(i, j))));
        }
        let mut sides: Vec<usize> = blocks.parts().map(Part::side).collect();
        sides.sort_unstable();
        assert_eq!(sides, [1, 1, 2, 3]);
        assert!(blocks.is_consistent(7) && !blocks.is_consistent(8));
        let again = Blocks::of(&whole);
        assert!((0..7).all(|i| (0..7).all(|j| close(again.get(i, j), blocks.get(i, j)))));
        let mut twice = blocks.clone();
        twice.add(&again);
        assert!((0..7).all(|i| (0..7).all(|j| close(twice.get(i, j), 2.0 * blocks.get(i, j)))));
    }

    #[test]
    fn forms_are_those_of_the_whole_matrix_however_the_columns_lie() {
        let mut blocks = Blocks::diagonal((1..=40).map(f64::from));
        for first in 0..3 {
            let columns: Vec<usize> = (first * 12..first * 12 + 12).collect();
            let values: Vec<f64> = columns.iter().map(|&column| (column as f64 * 0.7).sin()).collect();
            blocks.add_square(Row::sparse(&columns, &values));
        }
        let mut known = Parted::of(blocks.clone());
        known.limit(|_| NO_LIMIT);
        let mut room = Room::default();
        for columns in [
            (12..24).collect::<Vec<_>>(),
            (0..12).collect(),
            vec![3, 5, 8],
            vec![2, 3, 4],
            vec![1, 13, 14, 30, 39],
            vec![],
            (0..40).collect(),
        ] {
            let values: Vec<f64> = columns.iter().map(|&column| (column as f64 * 0.3).cos()).collect();
            let mut expected = 0.0;
            for (&i, a) in columns.iter().zip(&values) {
                expected += columns.iter().zip(&values).map(|(&j, b)| a * b * blocks.get(i, j)).sum::<f64>();
            }
            let mut scores = Scores::default();
            let starts = [0, columns.len()];
            let actions = Actions::sparse(&starts, &columns, &values, 40).unwrap();
            kernel::run(&mut Rows {
                known: &known,
                actions,
                norm: 1.0,
                widest: None,
                scores: &mut scores,
                room: &mut room,
            });
            let found = scores.statistical[0].powi(2);
            assert!((found - expected).abs() < 1e-12 * (1.0 + expected), "{columns:?}");
        }
    }
}
