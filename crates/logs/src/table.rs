//! A whole file in memory.

use std::collections::BTreeMap;
use std::path::Path;

use truenorth_features::{Encoder, Feature, Joining, Recipe};

use crate::batch::Reading;
use crate::error::{Problem, Result};
use crate::format::{Format, unclear};
use crate::origin::{Asked, Origin, learning};
use crate::selection::Selection;
use crate::source::Memory;
use crate::summarize::Plan;
use crate::summary::{INTERCEPT, Summary};
use crate::tolerance::Tolerance;

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

/// Reads tables one after another with the same features, which become more as levels turn up.
pub struct Alike {
    origin: Origin,
    encoder: Encoder,
    /// By whose globs the columns were found.
    selection: Option<Selection>,
    /// What takes the place of missing numbers, by name.
    means: BTreeMap<String, f64>,
}

impl Alike {
    /// With the features that the rows of a file have.
    pub fn file(path: &Path, selection: &Selection) -> Result<Self> {
        let unclear = || match path.metadata() {
            Err(error) => Problem::Unreadable(error).in_file(path),
            Ok(about) if about.is_dir() => {
                Problem::Unreadable(std::io::ErrorKind::IsADirectory.into()).in_file(path)
            }
            Ok(_) => unclear().in_file(path),
        };
        let format = Format::of(path).ok_or_else(unclear)?;
        let plan = Plan { selection: Some(selection.clone()), format: Some(format), ..Plan::default() };
        let (origin, recipe) = plan.recipe(&[path.to_owned()])?;
        Ok(Self::of(origin, &recipe, selection))
    }

    /// With the features that rows in memory have, which are given back; `name` stands for the file.
    pub fn batches<'a>(batches: Memory<'a>, name: &str, selection: &Selection) -> Result<(Self, Memory<'a>)> {
        let plan = Plan { selection: Some(selection.clone()), ..Plan::default() };
        let made = plan.memory_recipe(batches, selection);
        let (origin, recipe, batches) = made.map_err(|error| error.in_file(Path::new(name)))?;
        Ok((Self::of(origin, &recipe, selection), batches))
    }

    fn of(origin: Origin, recipe: &Recipe, selection: &Selection) -> Self {
        let (encoder, selection) = (learning(recipe), Some(selection.clone()));
        Self { origin, encoder, selection, means: BTreeMap::new() }
    }

    /// With the features of a summary. Every row counts, also where the logs' rows told which action was taken.
    pub fn summary(summary: &Summary) -> Self {
        let encoder = summary.encoder(Joining::UpTo(truenorth_features::MOST_NAMES));
        let mut origin = summary.origin().clone();
        if let Origin::Table { chosen, .. } = &mut origin {
            *chosen = None;
        }
        Self { origin, encoder, selection: None, means: summary.means() }
    }

    /// The features so far, without the intercept.
    pub fn features(&self) -> &[Feature] {
        self.encoder.features()
    }

    /// How features are made.
    pub fn recipe(&self) -> &Recipe {
        self.encoder.recipe()
    }

    /// Reads a file; rows belong to rounds, if a column is named.
    pub fn read_file(&mut self, path: &Path, round: Option<&str>) -> Result<Table> {
        let asked = self.asked(round);
        let opened = self.origin.open(path, self.encoder.clone(), asked);
        opened.and_then(|reading| self.collect(reading)).map_err(|error| error.in_file(path))
    }

    /// Reads rows that are in memory; `name` stands for the file.
    pub fn read_batches(&mut self, batches: Memory<'_>, name: &str, round: Option<&str>) -> Result<Table> {
        let asked = self.asked(round);
        let opened = self.origin.open_memory(batches, self.encoder.clone(), asked);
        opened.and_then(|reading| self.collect(reading)).map_err(|error| error.in_file(Path::new(name)))
    }

    fn asked<'a>(&'a self, round: Option<&'a str>) -> Asked<'a> {
        let missing = self.encoder.recipe().missing;
        let tolerance = Tolerance { missing, ..Tolerance::default() };
        Asked { round, found_by: self.selection.as_ref(), tolerance, ..Asked::default() }
    }

    fn collect(&mut self, mut reading: Reading<'_>) -> Result<Table> {
        let mut batches = Vec::new();
        while let Some(batch) = reading.next(&mut |_, _| false)? {
            batches.push(batch);
        }
        if batches.is_empty() {
            return Err(Problem::NoRows.into());
        }
        self.encoder = reading.collector.encoder;
        let encoder = &self.encoder;
        let intercept = encoder.recipe().model.intercept.then(|| INTERCEPT.to_owned());
        let first = usize::from(intercept.is_some());
        let names = encoder.features().iter().map(|feature| feature.name.clone());
        let names: Vec<String> = intercept.into_iter().chain(names).collect();
        let rounds = reading.collector.columns.round.map(|_| Vec::new());
        let mut table = Table { names, features: Vec::new(), rewards: Vec::new(), rounds };
        for batch in batches {
            for row in 0..batch.len() {
                let start = table.features.len();
                table.features.resize(start + table.names.len(), 0.0);
                let (constant, features) = table.features[start..].split_at_mut(first);
                constant.fill(1.0);
                let mean = |feature: usize| self.means.get(&encoder.features()[feature].name);
                batch.add_to(row, 1.0, |feature| mean(feature).copied().unwrap_or(0.0), features);
            }
            table.rewards.extend(batch.rewards);
            if let (Some(rounds), Some(more)) = (&mut table.rounds, batch.rounds) {
                rounds.extend(more);
            }
        }
        Ok(table)
    }
}

impl Table {
    /// Reads a whole file.
    pub fn read(path: impl AsRef<Path>, selection: &Selection) -> Result<Self> {
        let path = path.as_ref();
        Alike::file(path, selection)?.read_file(path, selection.round.as_deref())
    }

    /// Adds features that are 0 in all rows, up to these names, of which those of the table are the first.
    pub fn widen(&mut self, names: &[String]) {
        let (width, rows) = (self.names.len(), self.len());
        let mut features = Vec::with_capacity(rows * names.len());
        for row in 0..rows {
            features.extend_from_slice(&self.features[row * width..][..width]);
            features.resize((row + 1) * names.len(), 0.0);
        }
        (self.features, self.names) = (features, names.to_vec());
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
