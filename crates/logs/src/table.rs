//! A whole file in memory.

use std::path::Path;

use crate::batch::Batches;
use crate::error::Result;
use crate::selection::Selection;
use crate::source::Memory;

/// All rows of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Names of the features.
    pub names: Vec<String>,
    /// The features, row after row.
    pub features: Vec<f64>,
    /// A reward for each row.
    pub rewards: Vec<f64>,
    /// A round for each row, if asked for: rounds are numbered from 0 as they first appear in the file.
    pub rounds: Option<Vec<usize>>,
}

impl Table {
    /// Reads a whole file.
    pub fn read(path: impl AsRef<Path>, selection: &Selection) -> Result<Self> {
        Self::collect(Batches::open(path, selection)?)
    }

    /// Reads rows that are in memory; `name` stands for the file.
    pub fn of_batches(batches: Memory<'static>, name: &str, selection: &Selection) -> Result<Self> {
        Self::collect(Batches::of(batches, name, selection)?)
    }

    fn collect(batches: Batches) -> Result<Self> {
        let names = batches.names().to_vec();
        let mut table = Self { names, features: Vec::new(), rewards: Vec::new(), rounds: None };
        for batch in batches {
            let batch = batch?;
            for row in 0..batch.len() {
                table.features.extend(batch.columns.iter().map(|column| column[row]));
            }
            table.rewards.extend(batch.rewards);
            if let Some(rounds) = batch.rounds {
                table.rounds.get_or_insert_default().extend(rounds);
            }
        }
        Ok(table)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rewards.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rewards.is_empty()
    }

    /// The features of a row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, row: usize) -> &[f64] {
        let width = self.names.len();
        &self.features[row * width..][..width]
    }

    /// The rows of each round in the order of the file, scattered or not, if rounds were asked for.
    pub fn rows_by_round(&self) -> Option<Vec<Vec<usize>>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (row, &round) in self.rounds.as_ref()?.iter().enumerate() {
            if round >= groups.len() {
                groups.resize_with(round + 1, Vec::new);
            }
            groups[round].push(row);
        }
        Some(groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_rows_of_a_round_come_together_in_the_order_of_the_file() {
        let rounds = Some(vec![0, 1, 0, 2, 1, 0]);
        let table =
            Table { names: vec!["x".to_owned()], features: vec![0.0; 6], rewards: vec![0.0; 6], rounds };
        assert_eq!(table.rows_by_round(), Some(vec![vec![0, 2, 5], vec![1, 4], vec![3]]));
        assert_eq!(Table { rounds: None, ..table }.rows_by_round(), None);
    }
}
