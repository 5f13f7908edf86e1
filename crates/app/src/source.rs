//! Where rows come from: a file of any format, or record batches in memory.

use std::path::PathBuf;

use truenorth_logs::{
    Alike, Error, Format, Memory, Problem, ROUND, Result, Rows, Selection, Summary, Table, column_names,
};

/// A format by its name; none for `auto`, which finds it out. Names that nothing has give all names there are.
pub fn format(name: &str) -> std::result::Result<Option<Format>, String> {
    match Format::ALL.into_iter().find(|format| format.name() == name) {
        None if name != "auto" => Err(format!("auto, {}", Format::ALL.map(Format::name).join(", "))),
        found => Ok(found),
    }
}

/// Rows that have not been read yet.
pub enum Source {
    /// A file.
    Path(PathBuf),
    /// Record batches, and what they are called in messages.
    Batches(Memory<'static>, &'static str),
}

impl Source {
    /// What it is called in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) => path.display().to_string(),
            Self::Batches(_, name) => (*name).to_owned(),
        }
    }

    /// A reader of tables with the features of these rows, and the rows.
    pub(crate) fn alike(self, selection: &Selection) -> Result<(Alike, Self)> {
        match self {
            Self::Path(path) => Ok((Alike::file(&path, selection)?, Self::Path(path))),
            Self::Batches(batches, name) => {
                let (alike, batches) = Alike::batches(batches, name, selection)?;
                Ok((alike, Self::Batches(batches, name)))
            }
        }
    }

    /// All rows, with the features of others.
    pub(crate) fn table(self, alike: &mut Alike, round: Option<&str>) -> Result<Table> {
        match self {
            Self::Path(path) => alike.read_file(&path, round),
            Self::Batches(batches, name) => alike.read_batches(batches, name, round),
        }
    }

    /// Rows with the features of a summary. Their rounds are in the column that is named, or else in `round`, if
    /// there is such a column and it is no feature.
    pub(crate) fn rows(self, summary: &Summary, format: Option<Format>, round: Option<&str>) -> Result<Rows> {
        let guess =
            Some(ROUND).filter(|_| round.is_none() && summary.names().iter().all(|name| name != ROUND));
        match self {
            Self::Path(path) => match summary.read_rows(&path, format, round.or(guess)) {
                Err(Error { problem: Problem::NoColumn { name, .. }, .. })
                    if guess == Some(name.as_str()) =>
                {
                    summary.read_rows(&path, format, None)
                }
                rows => rows,
            },
            Self::Batches(batches, name) => {
                let guess = guess.filter(|guess| column_names(&batches).iter().any(|name| name == guess));
                summary.rows_of_batches(batches, name, round.or(guess))
            }
        }
    }
}
