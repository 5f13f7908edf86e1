//! What logs are worth: a summary of them, tested with a little live data in any form.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use truenorth::Certificate;
use truenorth_audit::{Audit, Options, Pilot as Sample, audit_as, certificate_toml, page, square_matrix};
use truenorth_logs::{Format, Rows, Summary};

use crate::error::{Error, Result};
use crate::source::Source;

/// Live data to test logs with.
pub enum Pilot<'a> {
    /// Rows with the columns of the logs, or a file that holds a summary of such rows.
    Source {
        /// Where they are.
        source: Source,
        /// Format of a file; found out unless given.
        format: Option<Format>,
        /// Column that says which rows are a round; `round`, if there is one, unless given.
        round: Option<&'a str>,
    },
    /// A summary of such rows.
    Summary(&'a Summary),
    /// Numbers, in the order of the logs' features but for the intercept.
    Rows {
        /// The features, row after row.
        features: &'a [f64],
        /// A reward for each row.
        rewards: &'a [f64],
        /// Which round a row belongs to; any numbers will do.
        rounds: Option<Vec<i64>>,
    },
}

/// An audit, with all that its page and its certificate need.
#[derive(Debug, Clone)]
pub struct Audited {
    /// The numbers.
    pub found: Audit,
    /// The same for people: buckets of a hash say little without what fell into them.
    pub shown: Audit,
    /// What of the pilot was left out.
    pub left_out: LeftOut,
    /// Whether the pilot is a table without a column of rounds.
    pub lone_rows: bool,
}

/// What of a pilot was left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Features of a summary that the logs never had.
    pub features: u64,
    /// Values of rows for features that the logs never had.
    pub values: u64,
    /// Names of such features, the first twenty.
    pub unseen: Vec<String>,
    /// Malformed rows.
    pub rows: u64,
}

/// Tests logs with a pilot, if there is one.
pub fn audit(summary: &Summary, pilot: Option<Pilot<'_>>, options: &Options) -> Result<Audited> {
    let logs = summary.statistic()?;
    let (sample, read) = pilot.map(|pilot| pilot.read(summary)).transpose()?.unzip();
    let (left_out, lone_rows) = read.unwrap_or_default();
    let (names, labels) = (summary.names(), summary.labels());
    let [found, shown] = audit_as([&*names, &*labels], &logs, summary.scale(), sample.as_ref(), options)?;
    Ok(Audited { found, shown, left_out, lone_rows })
}

impl Pilot<'_> {
    /// The data, with what was left out of it, and whether it is a table without rounds.
    fn read(self, summary: &Summary) -> Result<(Sample, (LeftOut, bool))> {
        match self {
            Self::Source { source: Source::Path(path), .. } if Summary::is_summary(&path) => {
                summed(summary, &Summary::read(&path)?, &path)
            }
            Self::Source { source, format, round } => {
                let name = source.name();
                let Rows { features, rewards, rounds, is_table, unknown, unseen, rejected } =
                    source.rows(summary, format, round)?;
                if round.is_some() && rounds.is_none() {
                    return Err(Error::input(name, "events have no column of rounds"));
                }
                let left_out = LeftOut { values: unknown, unseen, rows: rejected, ..LeftOut::default() };
                let lone = is_table && rounds.is_none();
                Ok((Sample::Rows { features, rewards, rounds }, (left_out, lone)))
            }
            Self::Summary(live) => summed(summary, live, Path::new("the pilot")),
            Self::Rows { features, rewards, rounds } => {
                let scale = summary.scale();
                let intercept = summary.recipe().model.intercept.then_some(scale);
                let rows = features.chunks_exact(summary.features().len().max(1));
                let features =
                    rows.flat_map(|row| intercept.into_iter().chain(row.iter().map(|x| x * scale))).collect();
                let rounds = rounds.map(numbered);
                Ok((Sample::Rows { features, rewards: rewards.to_vec(), rounds }, Default::default()))
            }
        }
    }
}

/// Rounds by numbers from 0 on, as they first appear.
fn numbered(rounds: Vec<i64>) -> Vec<usize> {
    let mut known = HashMap::new();
    let number = |round| {
        let next = known.len();
        *known.entry(round).or_insert(next)
    };
    rounds.into_iter().map(number).collect()
}

fn summed(summary: &Summary, live: &Summary, place: &Path) -> Result<(Sample, (LeftOut, bool))> {
    let wrong = |reason: String| Error::input(place.display(), reason);
    summary.check_live(live).map_err(wrong)?;
    let known: BTreeSet<&str> = summary.features().iter().map(|feature| feature.name.as_str()).collect();
    // What is there whatever the data is the same in both; what came up by itself may not be.
    let fixed = live.recipe().fixed_features().len();
    let unknown = live.features().iter().skip(fixed).filter(|feature| !known.contains(&*feature.name));
    let left_out = LeftOut { features: unknown.count() as u64, ..LeftOut::default() };
    let statistic = live.statistic_as(summary).map_err(|error| wrong(error.to_string()))?;
    Ok((Sample::Statistic(statistic), (left_out, false)))
}

impl Audited {
    /// The report, one page of HTML; `source` says whose audit it is, and `live` where the pilot was.
    pub fn page(&self, source: &str, live: Option<&str>) -> Result<String, truenorth_report::Error> {
        page(&self.shown, source, live)
    }

    /// The text of `certificate.toml`.
    pub fn certificate_toml(&self, source: &str) -> String {
        let names: Vec<String> = self.found.features.iter().map(|feature| feature.name.clone()).collect();
        certificate_toml(&self.found.certificate, &names, source)
    }

    /// The bound on the drift, in the units of the columns.
    pub fn certificate(&self) -> Result<Certificate> {
        let view = &self.found.certificate;
        let matrix = square_matrix(&view.matrix).map_err(|reason| Error::input("the audit", reason))?;
        Ok(Certificate::from_matrix(&matrix, view.rho)?)
    }
}
