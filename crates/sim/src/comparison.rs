//! Policies against recorded rounds: scaled alike, told alike, and what each of them earned.

use serde::Serialize;
use truenorth::{
    Branches, Certificate, CertificateRule, FeatureView, Params, Policy, Preset, RidgeStatistic,
};

use crate::error::{Error, Result};
use crate::recorded::{RecordedOutcome, RecordedRound, Recording};
use crate::results::Summary;

/// Rows of a table, features as they are in it.
#[derive(Debug, Clone, Copy)]
pub struct RecordedRows<'a> {
    /// What the table is called in messages.
    pub name: &'a str,
    /// The features, row after row.
    pub features: &'a [f64],
    /// A reward for each row.
    pub rewards: &'a [f64],
}

/// What is compared on: features divided by one number so that the longest vector has length 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Contest {
    /// Names of the features.
    pub names: Vec<String>,
    /// The logs, which may have no rows.
    pub logs: RidgeStatistic,
    /// The live rounds.
    pub recording: Recording,
    /// What features were divided by.
    pub unit: f64,
    /// The first row whose features are no multiple of a unit vector of that length: its table and its number.
    no_arm: Option<(String, usize)>,
}

/// Who plays, and what they are told.
#[derive(Debug, Clone, PartialEq)]
pub struct Entrants {
    /// Policies by name.
    pub policies: Vec<Preset>,
    /// Factors on each policy's own exploration; one entry for each.
    pub scales: Vec<f64>,
    /// Noise of the rewards; estimated if not told.
    pub noise: Option<f64>,
    /// Length of the coefficients, in the units of the tables; estimated if not told.
    pub norm_bound: Option<f64>,
}

/// One policy with its parameters, but for the seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Params,
}

/// What `compare --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Number of live rounds.
    pub rounds: usize,
    /// Number of orders in which they were played.
    pub seeds: u64,
    /// A uniform choice.
    pub random: MeanReward,
    /// The best fixed linear policy, fitted to all live rounds.
    pub hindsight: MeanReward,
    /// The policies that played.
    pub policies: Vec<Compared>,
}

/// What a baseline earned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanReward {
    /// Mean reward of a round.
    pub mean_reward: f64,
}

/// One policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Its name.
    pub name: String,
    /// Mean reward of a round.
    pub mean_reward: f64,
    /// Standard error over the orders.
    pub stderr: f64,
    /// (policy - random) / (hindsight - random); none where hindsight is no better than chance.
    pub score: Option<f64>,
    /// What the hindsight policy earned more, over all rounds.
    pub regret: f64,
    /// Seconds of one order, on average.
    pub seconds: f64,
    /// What was learned about each feature in the first order, in the tables' units. For the picture.
    #[serde(skip)]
    pub features: Vec<ComparedFeature>,
}

/// What one policy learned about one feature.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedFeature {
    /// Name of the feature.
    pub name: String,
    /// In the units of the tables.
    pub view: FeatureView,
}

impl Contest {
    /// Policies that play unless others are named: all that need to be told nothing.
    pub const POLICIES: [Preset; 11] = [
        Preset::TrueNorth,
        Preset::TrueNorthConfidence,
        Preset::TrueNorthSampling,
        Preset::LinUcb,
        Preset::LinTs,
        Preset::Greedy,
        Preset::EpsilonGreedy,
        Preset::Oful,
        Preset::SupLinUcb,
        Preset::WarmSupLinUcb,
        Preset::OfflineOnly,
    ];

    /// From logged rows, if there are any, and live ones; `rounds` lists the live rows of each round.
    pub fn new(
        names: Vec<String>,
        offline: Option<RecordedRows<'_>>,
        online: RecordedRows<'_>,
        rounds: &[Vec<usize>],
    ) -> Result<Self> {
        let dimension = names.len();
        let row =
            |table: &RecordedRows<'_>, row: usize| table.features[row * dimension..][..dimension].to_vec();
        let lengths = |table: &RecordedRows<'_>| {
            (0..table.rewards.len())
                .map(|place| row(table, place).iter().map(|x| x * x).sum::<f64>().sqrt())
                .fold(0.0, f64::max)
        };
        let unit = offline.iter().map(lengths).fold(lengths(&online), f64::max);
        let unit = if unit > 0.0 { unit } else { 1.0 };
        let scaled = |table: &RecordedRows<'_>, place: usize| {
            row(table, place).iter().map(|x| x / unit).collect::<Vec<f64>>()
        };
        let mut logs = RidgeStatistic::new(dimension)?;
        if let Some(table) = &offline {
            for (place, &reward) in table.rewards.iter().enumerate() {
                logs.observe(&scaled(table, place), reward)?;
            }
        }
        let round = |rows: &Vec<usize>| RecordedRound {
            features: rows.iter().flat_map(|&place| scaled(&online, place)).collect(),
            rewards: rows.iter().map(|&place| online.rewards[place]).collect(),
        };
        let is_arm = |row: &[f64]| {
            let mut entries = row.iter().filter(|&&x| x != 0.0);
            entries.next() == Some(&unit) && entries.next().is_none()
        };
        let no_arm = offline
            .iter()
            .chain([&online])
            .flat_map(|table| (0..table.rewards.len()).map(move |place| (table, place)))
            .find(|(table, place)| !is_arm(&row(table, *place)))
            .map(|(table, place)| (table.name.to_owned(), place));
        let rounds = rounds.iter().map(round).collect();
        Ok(Self { names, logs, recording: Recording { dimension, rounds }, unit, no_arm })
    }

    /// The policies, each with all that it is told; `certificate` is asked for those that have to be told how far
    /// the logs may have drifted, for features that are divided by the unit.
    pub fn entries<E: From<Error>>(
        &self,
        entrants: &Entrants,
        certificate: impl Fn(Preset) -> Result<Certificate, E>,
    ) -> Result<Vec<Entry>, E> {
        // The logs' own ridge, σ² over the mean square of a coefficient: the paper's 1 is too heavy for features
        // of which only the longest has length 1.
        let mut own = Preset::TrueNorth.params(self.recording.dimension).map_err(Error::from)?;
        own.offline = self.logs.clone();
        let ridge = Policy::new(own).map_err(Error::from)?.offline().ridge();
        let mut entries: Vec<Entry> = Vec::new();
        for &preset in &entrants.policies {
            let name = preset.name();
            let fail = |error| Error::InPolicy { name: name.to_owned(), error };
            let mut params = preset.params(self.recording.dimension).map_err(fail)?;
            params.horizon = Some(self.recording.rounds.len() as u64);
            params.offline = self.logs.clone();
            params.ridge = ridge;
            params.noise = entrants.noise;
            params.norm_bound = entrants.norm_bound.map(|bound| bound * self.unit);
            if Self::is_told(&params) {
                params.certificate = CertificateRule::Fixed(certificate(preset)?);
            }
            if params.branches == Branches::Arms
                && let Some((table, row)) = &self.no_arm
            {
                let place = format!("{table}, row {}", row + 1);
                return Err(Error::NotAnArm { place, policy: name.to_owned() }.into());
            }
            let own = params.exploration_scale;
            // Where widths do not count, all factors are alike.
            let alike = own == 0.0 || params.branches == Branches::Offline;
            for &scale in if alike { &[1.0][..] } else { &entrants.scales } {
                params.exploration_scale = own * scale;
                Policy::new(params.clone()).map_err(fail)?;
                #[expect(clippy::float_cmp, reason = "1 as it was given, or by default")]
                let name = if scale == 1.0 { name.to_owned() } else { format!("{name} x{scale}") };
                if entries.iter().all(|entry| entry.name != name) {
                    entries.push(Entry { name, params: params.clone() });
                }
            }
        }
        Ok(entries)
    }

    /// Whether a policy has to be told how far the logs may have drifted.
    pub fn is_told(params: &Params) -> bool {
        matches!(params.branches, Branches::Both | Branches::Pooled | Branches::Arms)
            && params.certificate == CertificateRule::None
    }

    /// What all policies earned in all orders, given entry by entry.
    pub fn summarise(
        &self,
        entries: &[Entry],
        outcomes: &[Vec<RecordedOutcome>],
        seeds: u64,
    ) -> Result<Comparison> {
        let recording = &self.recording;
        let coefficients = recording.hindsight()?;
        let orders = seeds as f64;
        let hindsight = (0..seeds).map(|seed| recording.linear(&coefficients, seed)).sum::<f64>() / orders;
        let random = recording.random();
        let rounds = recording.rounds.len();
        let row = |(entry, outcomes): (&Entry, &Vec<RecordedOutcome>)| {
            let reward = Summary::of(outcomes.iter().map(|outcome| outcome.mean_reward).collect());
            let features = self.names.iter().zip(&outcomes[0].features);
            Compared {
                name: entry.name.clone(),
                mean_reward: reward.mean,
                stderr: reward.stderr,
                score: (hindsight > random).then(|| (reward.mean - random) / (hindsight - random)),
                regret: (hindsight - reward.mean) * rounds as f64,
                seconds: outcomes.iter().map(|outcome| outcome.seconds).sum::<f64>() / orders,
                features: features
                    .map(|(name, view)| ComparedFeature { name: name.clone(), view: self.in_units(view) })
                    .collect(),
            }
        };
        Ok(Comparison {
            rounds,
            seeds,
            random: MeanReward { mean_reward: random },
            hindsight: MeanReward { mean_reward: hindsight },
            policies: entries.iter().zip(outcomes).map(row).collect(),
        })
    }

    /// A coefficient of features that were divided by the unit is that many times as large.
    fn in_units(&self, view: &FeatureView) -> FeatureView {
        let unit = self.unit;
        FeatureView {
            estimate: view.estimate / unit,
            coverage: view.coverage * unit * unit,
            drift: view.drift.map(|drift| drift / unit),
            stderr: view.stderr.map(|stderr| stderr / unit),
            trust: view.trust,
        }
    }
}
