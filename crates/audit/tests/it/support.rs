use truenorth::RidgeStatistic;
use truenorth_audit::{Audit, Options, Pilot, audit};

/// Rows with rewards.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    pub(crate) features: Vec<f64>,
    pub(crate) rewards: Vec<f64>,
    pub(crate) rounds: Option<Vec<usize>>,
}

impl Rows {
    pub(crate) fn push(&mut self, features: &[f64], reward: f64) {
        self.features.extend_from_slice(features);
        self.rewards.push(reward);
    }

    pub(crate) fn statistic(&self, d: usize) -> RidgeStatistic {
        let mut statistic = RidgeStatistic::new(d).unwrap();
        for (features, &reward) in self.features.chunks(d).zip(&self.rewards) {
            statistic.observe(features, reward).unwrap();
        }
        statistic
    }

    pub(crate) fn pilot(self) -> Pilot {
        Pilot::Rows { features: self.features, rewards: self.rewards, rounds: self.rounds }
    }
}

pub(crate) fn names(d: usize) -> Vec<String> {
    (0..d).map(|j| format!("x{j}")).collect()
}

/// Audits with scale 1 and default options.
pub(crate) fn audited(logs: &RidgeStatistic, pilot: Option<&Pilot>) -> Audit {
    audit(logs, &names(logs.dimension()), 1.0, pilot, &Options::default()).unwrap()
}

pub(crate) fn drifted(audit: &Audit) -> Vec<&str> {
    audit.features.iter().filter(|f| f.finding.drifted == Some(true)).map(|f| f.name.as_str()).collect()
}

/// Whether the certificate allows this drift.
pub(crate) fn admits(audit: &Audit, drift: &[f64]) -> bool {
    let rows = audit.certificate.matrix.iter().zip(drift);
    let square: f64 =
        rows.map(|(row, di)| row.iter().zip(drift).map(|(m, dj)| di * m * dj).sum::<f64>()).sum();
    square.sqrt() <= audit.certificate.rho * (1.0 + 1e-12)
}
