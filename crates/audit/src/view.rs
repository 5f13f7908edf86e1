//! What goes into an audit, and what comes out: plain numbers that serialise as they are printed.
//!
//! Everything that comes out is in the units of the user's columns: a drift of 0.1 changes the reward by
//! 0.1 for every unit of the column.

use serde::Serialize;
use truenorth::{RidgeStatistic, check};

/// The live data to test the logs with, features scaled as the logs' are.
#[derive(Debug, Clone)]
pub enum Pilot {
    /// Row by row, which shows how the errors are spread.
    Rows {
        /// The features, row after row.
        features: Vec<f64>,
        /// A reward for each row.
        rewards: Vec<f64>,
        /// Which round a row belongs to, numbered from 0: errors within a round may be correlated.
        rounds: Option<Vec<usize>>,
    },
    /// A summary: errors are taken to be independent and of the same size everywhere.
    Statistic(RidgeStatistic),
}

/// What an audit assumes and promises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Probability of a false alarm over all features together.
    pub level: f64,
    /// What playing what the logs recommend may cost without mattering, as a share of what choosing well earns over
    /// choosing at random.
    pub margin: f64,
    /// Length of the drift to assume where none is measured, in the units of the columns; by default 0.3 times
    /// the length of the logs' coefficients.
    pub drift: Option<f64>,
    /// Rounds that will be played, for the worth and the bounds.
    pub horizon: u64,
    /// Actions a round, for the cost where the pilot has no rounds. The bounds hold for any number.
    pub actions: usize,
}

impl Options {
    /// Whether every number is in its range.
    pub fn check(&self) -> truenorth::Result<()> {
        check::probability("level", self.level)?;
        check::at_least_zero("margin", self.margin)?;
        check::at_least_zero("drift", self.drift.unwrap_or(0.0)).map(drop)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { level: 0.05, margin: 0.2, drift: None, horizon: 20_000, actions: 5 }
    }
}

/// What the logs are worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Audit {
    /// The answer.
    pub verdict: Verdict,
    /// Rows of the logs.
    pub rows: u64,
    /// Number of features d.
    pub dimension: usize,
    /// Standard deviation of the reward's noise, from the logs' residuals.
    pub noise: f64,
    /// Length of the logs' coefficients.
    pub norm: f64,
    /// (Σ eigenvalues)² / Σ eigenvalues² of the logs' Gram matrix: how many directions share the rows.
    pub effective_dimension: f64,
    /// What the logs are worth in live rounds: after the pilot's findings, or under the stated drift.
    pub worth_rounds: f64,
    /// One entry for each column, in their order.
    pub features: Vec<Feature>,
    /// One entry for each eigen-direction of the logs, best covered first.
    pub directions: Vec<Direction>,
    /// A bound on the drift that holds with probability 1 - level after a pilot, the stated drift otherwise.
    pub certificate: CertificateView,
    /// Features are multiplied by this number before they enter a policy.
    pub scale: f64,
    /// False alarms over all features together.
    pub level: f64,
    /// The cost that does not matter, as a share of what choosing well earns over choosing at random.
    pub margin: f64,
    /// About the live data.
    pub pilot: Option<PilotView>,
    /// What playing what the logs recommend would cost; none where the pilot has no rows to choose between.
    pub cost: Option<Cost>,
    /// The worth under different assumptions.
    pub worth: Worth,
    /// The paper's bounds.
    pub bounds: Option<Bounds>,
    /// Two coefficients to draw: the two features with the largest |drift| / stderr, or without a pilot the two
    /// directions with the least coverage.
    pub pair: Option<Pair>,
    /// What to do about it, one sentence each.
    pub advice: Vec<String>,
}

/// Whether to use the logs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// All features, some of them, none, or unclear.
    #[serde(rename = "use")]
    pub usable: Use,
    /// The verdict in a sentence.
    pub sentence: String,
}

/// How much of the logs to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Use {
    /// The logs are shown to hold.
    All,
    /// Something has drifted, or only some features are shown to hold.
    Some,
    /// The logs mislead.
    None,
    /// Neither is shown.
    Unclear,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// The logs' coefficient.
    pub estimate: f64,
    /// What is known about it.
    #[serde(flatten)]
    pub finding: Finding,
}

/// One eigen-direction of the logs' Gram matrix.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Direction {
    /// Unit vector over the features, each in units of its root mean square. Drifts along it are what a typical step
    /// does to a reward.
    pub weights: Vec<f64>,
    /// What is known about it.
    #[serde(flatten)]
    pub finding: Finding,
}

/// What logs and pilot say about the coefficient of a feature, or along a direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Finding {
    /// Root mean square of the column, or of the rows along the direction, in the pilot if there is one: a drift
    /// times this is what it does to a typical reward.
    pub typical: f64,
    /// What the logs know. Of a feature: the number of rows of this feature alone, of its typical size in the logs, that
    /// would tell as much. Of a direction: the same for rows of evenly spread features; more than there are where the
    /// logs look most.
    pub coverage: f64,
    /// Live coefficient minus logged one; none without a pilot, or where the pilot cannot tell.
    pub drift: Option<f64>,
    /// Its standard error.
    pub stderr: Option<f64>,
    /// Interval of the drift at the stated level, simultaneous over all features, or over all directions.
    pub interval: Option<[f64; 2]>,
    /// Two-sided p-value of no drift, for this one alone.
    pub p_value: Option<f64>,
    /// The drift is real: false alarms over all features together, or all directions, have the stated level.
    pub drifted: Option<bool>,
    /// Spread of the column, or of the rows along the direction, among the actions of a round: a drift times this is
    /// what it does to their differences. None without rounds.
    pub spread: Option<f64>,
    /// Drift that does not matter, even if all others are as large: what it does to choices costs too little. None
    /// where that cannot be told, or where no drift of it can change a choice.
    pub margin: Option<f64>,
    /// The drift is shown to be smaller than that.
    pub equivalent: Option<bool>,
    /// Probability that the logged coefficient still holds, from even odds before the pilot.
    pub trust: f64,
    /// The squared drift that is to be expected after the pilot.
    pub mean_square: Option<f64>,
}

/// ‖drift‖ in the matrix is at most rho.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CertificateView {
    /// M, for features as they are in the files; diagonal.
    pub matrix: Vec<Vec<f64>>,
    /// ρ.
    pub rho: f64,
}

/// About the live data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PilotView {
    /// Its rows.
    pub rows: u64,
    /// Its rounds, or rows if it has no rounds: what is taken to be independent.
    pub independent: u64,
    /// Standard deviation of its noise.
    pub noise: f64,
    /// p-value of no drift at all, by the feature that shows it most or by all of them together. No feature is called
    /// drifted unless this is at most the level.
    pub p_value: Option<f64>,
    /// Rewards to learn from: those other than the most frequent one if that is more than half of them, else all; none
    /// of a summary.
    pub outcomes: Option<u64>,
    /// Live rows in all that would settle an unclear verdict in 8 of 10 audits, if the logs hold.
    pub settled_by: Option<f64>,
}

/// What playing what the logs recommend would cost, a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cost {
    /// In units of the reward.
    pub estimate: f64,
    /// Its standard error.
    pub stderr: f64,
    /// Its interval at the stated level.
    pub interval: [f64; 2],
    /// What choosing well earns over choosing at random.
    pub gain: f64,
    /// A cost that does not matter.
    pub margin: f64,
    /// What the logs' choice earns over choosing at random.
    pub advantage: f64,
    /// Its standard error.
    pub advantage_stderr: f64,
    /// Rounds that were looked at.
    pub rounds: u64,
    /// Actions in each, on average.
    pub actions: f64,
    /// Whether these are the pilot's rounds, and not made of its rows.
    pub given: bool,
    /// Whether rewards are 0 or 1.
    pub clicks: bool,
    /// The same by the rewards themselves; none where the pilot has no rounds.
    pub measured: Option<MeasuredCost>,
}

impl Cost {
    /// Whether the cost is shown not to matter, by a linear model, and by the rewards where they contradict it.
    pub fn is_small(&self) -> bool {
        let shown = |[_, high]: [f64; 2]| self.margin > 0.0 && high <= self.margin;
        shown(self.interval) && self.refutation().is_none_or(|measured| shown(measured.interval))
    }

    /// The measured cost, where it contradicts the linear model.
    pub fn refutation(&self) -> Option<&MeasuredCost> {
        self.measured.as_ref().filter(|measured| measured.contradicts)
    }
}

/// What the logs' choice costs by the pilot's own rewards: how much more a fit of other rounds earns with its choice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeasuredCost {
    /// In units of the reward; below 0 where the logs' choice earned more.
    pub estimate: f64,
    /// Its standard error over rounds.
    pub stderr: f64,
    /// Its interval at the stated level.
    pub interval: [f64; 2],
    /// What the logs' choice earned over choosing at random.
    pub advantage: f64,
    /// Its standard error.
    pub advantage_stderr: f64,
    /// Rounds of actions that differ, all of which were looked at.
    pub rounds: u64,
    /// Whether this and the linear model cannot both be right: rewards are not linear in the features.
    pub contradicts: bool,
}

/// What the logs are worth in live rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Worth {
    /// If nothing has drifted.
    pub unbiased: f64,
    /// Length of the drift that is assumed, in the units of the columns.
    pub stated_drift: f64,
    /// Under a drift of that length in an unknown direction.
    pub under_stated_drift: f64,
    /// With what the pilot found.
    pub after_pilot: Option<f64>,
    /// An interval of that: 90 % of what the pilot leaves open, wider by what the formula may be off.
    pub interval: Option<[f64; 2]>,
}

/// The paper's bounds on the regret.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounds {
    /// Rounds.
    pub horizon: u64,
    /// Actions a round.
    pub actions: usize,
    /// Theorem 2, with the logs and the certificate.
    pub with_logs: f64,
    /// The same for live data alone (Corollary 4).
    pub without_logs: f64,
    /// Whether the first is at most the second: Corollary 1 at its worst.
    pub logs_pay: bool,
}

impl Bounds {
    /// Whether both are above all that can be lost: no reward in [0, 1] is missed by more than 1.
    pub fn say_nothing(&self) -> bool {
        self.with_logs.min(self.without_logs) > self.horizon as f64
    }
}

/// Two coefficients with what logs and live data know about them, for a picture.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pair {
    /// What the coefficients belong to.
    pub names: [String; 2],
    /// From the logs alone.
    pub logs: PairEstimate,
    /// From the live data alone.
    pub live: Option<PairEstimate>,
    /// How far the certificate allows each of the two to have moved.
    pub budgets: [f64; 2],
}

/// An estimate of two coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairEstimate {
    /// The coefficients.
    pub estimate: [f64; 2],
    /// Their covariance.
    pub covariance: [[f64; 2]; 2],
}
