//! A recorded problem: a folder with `problem.json`, `offline.csv` and `rounds.jsonl`.

use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use truenorth::{
    Branches, Certificate, CertificateRule, Epochs, Explore, Layering, Params, Pooling, RidgeStatistic,
    Schedule, Width,
};
use truenorth_audit::square_matrix;
use truenorth_logs::{Batches, Problem, Selection};

use crate::certificate_file;
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
    certificate: Option<CertificateEntry>,
    width: Option<Width>,
    explore: Option<Explore>,
    seed: Option<u64>,
    exploration_scale: Option<f64>,
}

/// A certificate, or the name of a file in the folder that holds one.
#[derive(Debug)]
enum CertificateEntry {
    File(PathBuf),
    Switch(CertificateSwitch),
}

/// By hand: serde's untagged enums do not tell what is wrong.
impl<'de> Deserialize<'de> for CertificateEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entry;

        impl<'de> Visitor<'de> for Entry {
            type Value = CertificateEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a certificate or the name of a file that holds one")
            }

            fn visit_str<E>(self, file: &str) -> Result<CertificateEntry, E> {
                Ok(CertificateEntry::File(PathBuf::from(file)))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CertificateEntry, A::Error> {
                CertificateSwitch::deserialize(MapAccessDeserializer::new(map)).map(CertificateEntry::Switch)
            }
        }

        deserializer.deserialize_any(Entry)
    }
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
    let (names, offline) = read_logs(&folder.join("offline.csv"))?;
    let dimension = offline.dimension();
    let certificate = match switches.certificate {
        None => CertificateRule::None,
        Some(CertificateEntry::File(file)) => {
            CertificateRule::Fixed(certificate_file::read(&folder.join(file), Some(&names), 1.0)?)
        }
        Some(CertificateEntry::Switch(CertificateSwitch::Fixed { matrix, rho })) => CertificateRule::Fixed(
            certificate(&matrix, rho).map_err(|reason| Failure::in_file(&path, reason))?,
        ),
        Some(CertificateEntry::Switch(CertificateSwitch::Learned { epochs })) => {
            CertificateRule::Learned(epochs.map_or(Epochs::Doubling, Epochs::Given))
        }
        Some(CertificateEntry::Switch(CertificateSwitch::Adaptive)) => CertificateRule::Adaptive,
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
    Certificate::new(square_matrix(rows)?, rho).map_err(|error| error.to_string())
}

/// Reads the logs, which may have no rows: feature columns in their order, and one column named `reward`.
fn read_logs(path: &Path) -> Result<(Vec<String>, RidgeStatistic), Failure> {
    let batches = Batches::open(path, &Selection::new("*", "reward"))?;
    let names = batches.names().to_vec();
    let mut logs = RidgeStatistic::new(names.len()).map_err(|error| Failure::in_file(path, error))?;
    let mut features = vec![0.0; names.len()];
    for batch in batches {
        let batch = match batch {
            Err(error) if matches!(error.problem, Problem::NoRows) => break,
            batch => batch?,
        };
        for (row, &reward) in batch.rewards.iter().enumerate() {
            for (feature, column) in features.iter_mut().zip(&batch.columns) {
                *feature = column[row];
            }
            logs.observe(&features, reward).map_err(|error| Failure::in_file(path, error))?;
        }
    }
    Ok((names, logs))
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
