//! A recorded problem: a folder with `problem.json`, `offline.csv` and `rounds.jsonl`.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use truenorth::{Certificate, Explore, Method, Policy, Pooling, RidgeStatistic, Schedule, Settings};
use truenorth_app::{Error, certificate};
use truenorth_audit::square_matrix;
use truenorth_logs::{Batches, Problem, Selection};
use truenorth_sim::switches::{Branches, Certification, Layering, Switches, Width};

use crate::failure::Failure;

/// `problem.json`, as written.
#[derive(Debug, Deserialize)]
struct Written {
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

/// Reads what the policy is made from, logs included.
pub(crate) fn read_settings(folder: &Path) -> Result<Settings, Failure> {
    let path = folder.join("problem.json");
    let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
    let problem: Written = serde_json::from_str(&text).map_err(|error| Failure::json(&path, 1, &error))?;
    let (names, logs) = read_logs(&folder.join("offline.csv"))?;
    let wrong = |error: truenorth::Error| Failure::in_file(&path, error);
    let (mut rule, mut told) = (Certification::Told, None);
    match problem.certificate {
        None => {}
        Some(CertificateEntry::File(file)) => {
            told = Some(certificate::read(&folder.join(file), Some(&names), 1.0)?);
        }
        Some(CertificateEntry::Switch(CertificateSwitch::Fixed { matrix, rho })) => {
            let matrix = square_matrix(&matrix).map_err(|reason| Failure::in_file(&path, reason))?;
            told = Some(Certificate::from_matrix(&matrix, rho).map_err(wrong)?);
        }
        Some(CertificateEntry::Switch(CertificateSwitch::Learned { epochs })) => {
            rule = Certification::Learned(epochs);
        }
        Some(CertificateEntry::Switch(CertificateSwitch::Adaptive)) => rule = Certification::Adaptive,
    }
    let method = Method::try_from(Switches {
        layering: problem.layering,
        branches: problem.branches,
        pooling: problem.pooling,
        certificate: rule,
        width: problem.width.unwrap_or(Width::Confidence),
        explore: problem.explore.unwrap_or(Explore::Ucb),
    });
    let settings = Policy::builder(logs.dimension()).method(method.map_err(wrong)?).logs(logs);
    Ok(settings
        .certificate(told)
        .horizon(problem.horizon)
        .noise(problem.noise)
        .norm_bound(problem.norm_bound)
        .ridge(problem.ridge)
        .delta(problem.delta)
        .schedule(problem.schedule)
        .exploration_scale(problem.exploration_scale.unwrap_or(1.0))
        .seed(problem.seed.unwrap_or(0)))
}

/// Reads the logs, which may have no rows: feature columns in their order, and one column named `reward`.
fn read_logs(path: &Path) -> Result<(Vec<String>, RidgeStatistic), Failure> {
    let wrong = |error: truenorth::Error| Failure::in_file(path, error);
    let batches = Batches::open(path, &Selection::new("*", "reward"))?;
    let names = batches.names().to_vec();
    let mut logs = RidgeStatistic::new(names.len()).map_err(wrong)?;
    for batch in batches {
        let batch = match batch {
            Err(error) if matches!(error.problem, Problem::NoRows) => break,
            batch => batch?,
        };
        for (row, &reward) in batch.rewards.iter().enumerate() {
            let features: Vec<f64> = batch.columns.iter().map(|column| column[row]).collect();
            logs.observe(&features, reward).map_err(wrong)?;
        }
    }
    Ok((names, logs))
}
