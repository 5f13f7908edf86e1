//! A recorded problem: a folder with `problem.json`, `offline.csv` and `rounds.jsonl`.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use truenorth::{
    Branches, Certificate, CertificateRule, Epochs, Explore, Layering, Matrix, Params, Pooling,
    RidgeStatistic, Schedule, Width,
};

use crate::failure::Failure;

/// `problem.json`, as written.
#[derive(Debug, Deserialize)]
struct Switches {
    horizon: u64,
    noise: f64,
    norm_bound: f64,
    ridge: f64,
    delta: f64,
    schedule: Option<Schedule>,
    layering: Layering,
    branches: Branches,
    pooling: Pooling,
    certificate: Option<CertificateSwitch>,
    width: Option<Width>,
    explore: Option<Explore>,
    seed: Option<u64>,
    exploration_scale: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum CertificateSwitch {
    Fixed { matrix: Vec<Vec<f64>>, rho: f64 },
    Learned { epochs: Option<Vec<u64>> },
    Adaptive,
}

/// One line of `rounds.jsonl`.
#[derive(Debug, Deserialize)]
pub(crate) struct Round {
    /// A feature vector for each action.
    pub(crate) actions: Vec<Vec<f64>>,
    /// What each action would have paid; none where the reward never came.
    pub(crate) rewards: Vec<Option<f64>>,
}

/// Reads the policy's parameters, logs included.
pub(crate) fn read_params(folder: &Path) -> Result<Params, Failure> {
    let path = folder.join("problem.json");
    let text = fs::read_to_string(&path).map_err(Failure::file(&path))?;
    let switches: Switches = serde_json::from_str(&text).map_err(|error| Failure::json(&path, 1, &error))?;
    let offline = read_logs(&folder.join("offline.csv"))?;
    let dimension = offline.dimension();
    let certificate = match switches.certificate {
        None => CertificateRule::None,
        Some(CertificateSwitch::Fixed { matrix, rho }) => CertificateRule::Fixed(
            certificate(&matrix, rho).map_err(|reason| Failure::in_file(&path, reason))?,
        ),
        Some(CertificateSwitch::Learned { epochs }) => {
            CertificateRule::Learned(epochs.map_or(Epochs::Doubling, Epochs::Given))
        }
        Some(CertificateSwitch::Adaptive) => CertificateRule::Adaptive,
    };
    Ok(Params {
        dimension,
        horizon: Some(switches.horizon),
        noise: Some(switches.noise),
        norm_bound: Some(switches.norm_bound),
        ridge: switches.ridge,
        delta: switches.delta,
        schedule: switches.schedule,
        layering: switches.layering,
        branches: switches.branches,
        pooling: switches.pooling,
        certificate,
        width: switches.width.unwrap_or(Width::Confidence),
        explore: switches.explore.unwrap_or(Explore::Ucb),
        seed: switches.seed.unwrap_or(0),
        exploration_scale: switches.exploration_scale.unwrap_or(1.0),
        offline,
    })
}

fn certificate(rows: &[Vec<f64>], rho: f64) -> Result<Certificate, String> {
    let side = rows.len();
    if let Some((index, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != side) {
        let found = row.len();
        return Err(format!(
            "the certificate's matrix has {side} rows, but row {index} holds {found} numbers"
        ));
    }
    let matrix = Matrix::from_row_iterator(side, side, rows.iter().flatten().copied());
    Certificate::new(matrix, rho).map_err(|error| error.to_string())
}

/// Reads the logs: feature columns in their order, and one column named `reward`.
fn read_logs(path: &Path) -> Result<RidgeStatistic, Failure> {
    let file = File::open(path).map_err(Failure::file(path))?;
    let mut reader = csv::Reader::from_reader(file);
    let damaged = |error: csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => Failure::in_line(
                path,
                line,
                format!("there are {len} fields, but the header has {expected_len}"),
            ),
            _ => Failure::in_line(path, line, &error),
        }
    };
    let headers = reader.headers().map_err(damaged)?.clone();
    let Some(reward_column) = headers.iter().position(|name| name.trim() == "reward") else {
        return Err(Failure::in_line(path, 1, "there is no column named `reward`"));
    };
    let mut logs = RidgeStatistic::new(headers.len() - 1)
        .map_err(|_| Failure::in_line(path, 1, "there is no feature column beside `reward`"))?;
    let mut features = Vec::with_capacity(logs.dimension());
    for record in reader.records() {
        let record = record.map_err(damaged)?;
        let line = record.position().map_or(0, csv::Position::line);
        features.clear();
        let mut reward = 0.0;
        for (column, field) in record.iter().enumerate() {
            let value: f64 = field.trim().parse().map_err(|_| {
                Failure::in_line(
                    path,
                    line,
                    format!("column {} holds {field:?}, not a number", &headers[column]),
                )
            })?;
            if column == reward_column { reward = value } else { features.push(value) }
        }
        logs.observe(&features, reward).map_err(|error| Failure::in_line(path, line, error))?;
    }
    Ok(logs)
}

/// The rounds of a problem, read one at a time.
pub(crate) struct Rounds {
    pub(crate) path: PathBuf,
    reader: BufReader<File>,
    text: String,
    pub(crate) line: u64,
}

impl Rounds {
    pub(crate) fn open(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join("rounds.jsonl");
        let file = File::open(&path).map_err(Failure::file(&path))?;
        Ok(Self { reader: BufReader::new(file), path, text: String::new(), line: 0 })
    }

    /// The next round, or `None` at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<Round>, Failure> {
        loop {
            self.text.clear();
            if self.reader.read_line(&mut self.text).map_err(Failure::file(&self.path))? == 0 {
                return Ok(None);
            }
            self.line += 1;
            if !self.text.trim().is_empty() {
                let round: Round = serde_json::from_str(&self.text)
                    .map_err(|error| Failure::json(&self.path, self.line, &error))?;
                return Ok(Some(round));
            }
        }
    }

    /// Something is wrong with the round that was read last.
    pub(crate) fn failure(&self, reason: impl std::fmt::Display) -> Failure {
        Failure::in_line(&self.path, self.line, reason)
    }
}
