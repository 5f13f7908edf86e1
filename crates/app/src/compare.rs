//! Policies against recorded rounds in which every action's reward is known: rows in, told alike, and what each of
//! them earned.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::Serialize;
use truenorth::{Certificate, FeatureView, Method, Policy, Preset, RidgeStatistic, Settings};
use truenorth_features::{Feature, Recipe};
use truenorth_logs::{self as logs, Alike, Plan, Table};
use truenorth_sim::{RecordedOutcome, Recording, Summary};

use crate::certificate;
use crate::error::{Error, Result};
use crate::source::Source;
use crate::summarize::Asked;
use crate::work::{Progress, Work, pool};

/// Policies that play unless others are named: all that need to be told nothing.
pub const POLICIES: [Preset; 13] = [
    Preset::TrueNorth,
    Preset::TrueNorthConfidence,
    Preset::TrueNorthSampling,
    Preset::LinUcb,
    Preset::LinTs,
    Preset::Greedy,
    Preset::EpsilonGreedy,
    Preset::Oful,
    Preset::SupLinUcb,
    Preset::WarmLinUcb,
    Preset::WarmGreedy,
    Preset::WarmSupLinUcb,
    Preset::OfflineOnly,
];

/// Columns of the tables that are read.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    /// The features: names and patterns, separated by commas; none where a model says which there are, or a summary of
    /// the logs.
    pub features: &'a str,
    /// A formula.
    pub model: Option<&'a str>,
    /// Columns that belong to the action, for a model that is made from the data.
    pub action: &'a str,
    /// The reward.
    pub reward: &'a str,
    /// Which live rows are a round.
    pub round: &'a str,
}

/// Rows in memory, and what they are called in messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// What they are called.
    pub name: String,
    /// The rows.
    pub table: Table,
}

/// Who plays, and what they are told.
#[derive(Debug, Clone, PartialEq)]
pub struct Told {
    /// The policies; [`POLICIES`] unless given, but for those that play by logs where there are none.
    pub policies: Option<Vec<Preset>>,
    /// Number of orders in which the rounds are played.
    pub seeds: u64,
    /// Factors on each policy's own exploration; one entry for each.
    pub scales: Vec<f64>,
    /// Noise of the rewards; estimated if not told.
    pub noise: Option<f64>,
    /// Length of the coefficients, in the units of the tables; estimated if not told.
    pub norm_bound: Option<f64>,
    /// For policies with a fixed certificate.
    pub drift: Option<Drift>,
    /// What a logged row is worth, in live rows.
    pub discount: f64,
}

/// How far the logs may have drifted, in the units of the tables.
#[derive(Debug, Clone, PartialEq)]
pub enum Drift {
    /// So far in an unknown direction.
    Length(f64),
    /// As a certificate says.
    Certificate(Certificate),
    /// As `certificate.toml` says.
    File(PathBuf),
}

/// What is compared on: features divided by one number so that the longest vector has length 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Contest {
    /// Names of the features.
    pub names: Vec<String>,
    /// The logs, which may have no rows.
    pub logs: RidgeStatistic,
    /// How features are made, if the model was made from the data.
    pub made: Option<Recipe>,
    recording: Recording,
    /// What features were divided by.
    unit: f64,
    /// The first row whose features are no multiple of a unit vector of that length: its table and its number.
    no_arm: Option<String>,
}

/// One policy with its settings, but for the seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// How it decides.
    pub method: Method,
    /// What it is made from.
    pub settings: Settings,
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
    /// The fixed linear policy of least squares, fitted to all live rounds: a good one, and not the best there is.
    pub hindsight: MeanReward,
    /// The policies that played.
    pub policies: Vec<Compared>,
    /// Rounds at which curves are given. For the picture.
    #[serde(skip)]
    pub points: Vec<u64>,
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
    /// Mean reward of a round in each order. Orders are the same for all policies, so that these can be compared in pairs.
    pub rewards: Vec<f64>,
    /// Sum of rewards above chance over the orders, at each point. For the picture.
    #[serde(skip)]
    pub curve: Vec<Summary>,
    /// What was learned about each feature in the first order, in the tables' units. For the picture.
    #[serde(skip)]
    pub features: Vec<FeatureView>,
}

impl Compared {
    /// How far this policy is ahead of another, in mean reward of a round, and the standard error of that: orders are
    /// compared one by one.
    pub fn ahead_of(&self, other: &Self) -> Summary {
        Summary::of(self.rewards.iter().zip(&other.rewards).map(|(own, other)| own - other).collect())
    }
}

impl Rows {
    /// Rows of arrays, of which `actions` at a time are a round. Files are checked as they are read.
    pub fn of_arrays(name: &str, features: &[f64], rewards: &[f64], actions: usize) -> Result<Self> {
        let dimension = features.len() / rewards.len().max(1);
        let wrong = |value: &f64| value.is_nan() || value.abs() > 1e50;
        let found = features.iter().position(wrong).map(|place| (place / dimension, features[place]));
        let found = found.or_else(|| rewards.iter().position(wrong).map(|place| (place, rewards[place])));
        if let Some((row, value)) = found {
            return Err(Error::input(
                format_args!("{name}, row {}", row + 1),
                format_args!("numbers must be finite and at most 1e50 in size, but one is {value:?}"),
            ));
        }
        let table = Table {
            names: (1..=dimension).map(|place| format!("x{place}")).collect(),
            features: features.to_vec(),
            rewards: rewards.to_vec(),
            rounds: Some((0..rewards.len()).map(|row| row / actions).collect()),
        };
        Ok(Self { name: name.to_owned(), table })
    }

    fn each(&self) -> impl Iterator<Item = (&Self, usize, &[f64])> {
        (0..self.table.len()).map(move |place| (self, place, self.table.row(place)))
    }
}

impl Told {
    /// Numbers that do not fit are named in the units of the request; the library would name them in its own.
    pub fn check(&self) -> Result<()> {
        let drift = match self.drift {
            Some(Drift::Length(length)) => Some(length),
            _ => None,
        };
        for (name, value) in [("noise", self.noise), ("norm_bound", self.norm_bound), ("drift", drift)] {
            if let Some(value) = value.filter(|value| !(0.0..=1e50).contains(value)) {
                return Err(Error::Number { name, range: "at least 0 and at most 1e50", value });
            }
        }
        if !(self.discount > 0.0 && self.discount <= 1.0) {
            return Err(Error::Number {
                name: "discount",
                range: "above 0 and at most 1",
                value: self.discount,
            });
        }
        if let Some(&value) = self.scales.iter().find(|&&scale| !(scale > 0.0 && scale <= 1e9)) {
            return Err(Error::Scale { value });
        }
        match self.seeds {
            1..=10_000 => Ok(()),
            seeds => Err(Error::Number { name: "seeds", range: "from 1 to 10000", value: seeds as f64 }),
        }
    }
}

/// Length of a vector.
fn length(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}

impl Contest {
    /// Reads logged rows, if there are any, and live ones, which have the same features. The logs may be a summary.
    pub fn read(columns: Columns<'_>, offline: Option<Source>, online: Source) -> Result<Self> {
        let Columns { features, model, action, reward, round } = columns;
        if let Some(Source::Path(path)) = &offline
            && logs::Summary::is_summary(path)
        {
            let summary = logs::Summary::read(path)?;
            if model.is_some() || ![features, action].concat().is_empty() {
                return Err(Error::SummaryAndColumns);
            }
            if let logs::Origin::Table { reward: own, .. } = summary.origin()
                && own != reward
            {
                let reason = format_args!("its reward is `{own}`, but `{reward}` is asked for");
                return Err(Error::input(path.display(), reason));
            }
            let mut alike = Alike::summary(&summary);
            let online = Rows { name: online.name(), table: online.table(&mut alike, Some(round))? };
            return Self::with_summary(&summary, alike.features(), &online);
        }
        let asked = Asked { model, features, action, reward: Some(reward), ..Asked::default() };
        let mut plan = Plan::default();
        asked.tell(&mut plan)?;
        let selection = plan.selection.unwrap_or_default().without(round);
        let (first, rest) = match offline {
            Some(offline) => (offline, Some(online)),
            None => (online, None),
        };
        let (mut alike, first) = first.alike(&selection)?;
        let made = asked.is_nothing().then(|| alike.recipe().clone());
        let mut rows = |source: Source, round| -> Result<Rows> {
            Ok(Rows { name: source.name(), table: source.table(&mut alike, round)? })
        };
        let Some(online) = rest else {
            return Ok(Self { made, ..Self::new(None, &rows(first, Some(round))?)? });
        };
        let mut offline = rows(first, None)?;
        let online = rows(online, Some(round))?;
        offline.table.widen(&online.table.names);
        Ok(Self { made, ..Self::new(Some(&offline), &online)? })
    }

    /// From logged rows, if there are any, and live ones with their rounds.
    pub fn new(offline: Option<&Rows>, online: &Rows) -> Result<Self> {
        let all = || offline.into_iter().chain([online]).flat_map(Rows::each);
        let unit = all().map(|(.., row)| length(row)).fold(0.0, f64::max);
        let unit = if unit > 0.0 { unit } else { 1.0 };
        let mut logs = RidgeStatistic::new(online.table.names.len())?;
        for (rows, place, row) in offline.into_iter().flat_map(Rows::each) {
            let row: Vec<f64> = row.iter().map(|x| x / unit).collect();
            logs.observe(&row, rows.table.rewards[place])?;
        }
        Ok(Self::of(logs, unit, offline.into_iter().chain([online]), online))
    }

    /// From a summary of the logs and live rows with these features.
    fn with_summary(summary: &logs::Summary, features: &[Feature], online: &Rows) -> Result<Self> {
        let longest = online.each().map(|(.., row)| length(row)).fold(summary.scale().recip(), f64::max);
        let logs = summary.statistic_of(features, summary.recipe().model.intercept, longest.recip())?;
        Ok(Self::of(logs, longest, [online], online))
    }

    fn of<'a>(
        logs: RidgeStatistic,
        unit: f64,
        all: impl IntoIterator<Item = &'a Rows>,
        online: &Rows,
    ) -> Self {
        let is_arm = |row: &[f64]| {
            let mut entries = row.iter().filter(|&&x| x != 0.0);
            entries.next() == Some(&unit) && entries.next().is_none()
        };
        let other = all.into_iter().flat_map(Rows::each).find(|(.., row)| !is_arm(row));
        let no_arm = other.map(|(rows, place, _)| format!("{}, row {}", rows.name, place + 1));
        let names = online.table.names.clone();
        let recording = Recording {
            dimension: names.len(),
            features: online.table.features.iter().map(|x| x / unit).collect(),
            rewards: online.table.rewards.clone(),
            rounds: online.table.rows_by_round().unwrap_or_default(),
        };
        Self { names, logs, made: None, recording, unit, no_arm }
    }

    /// Rounds in which there is nothing to choose, because they have one action.
    pub fn rounds_of_one(&self) -> usize {
        self.recording.rounds.iter().filter(|rows| rows.len() == 1).count()
    }

    /// Number of rounds.
    pub fn rounds(&self) -> usize {
        self.recording.rounds.len()
    }

    /// The policies, each with all that it is told.
    pub fn entries(&self, told: &Told) -> Result<Vec<Entry>> {
        told.check()?;
        let mut entries: Vec<Entry> = Vec::new();
        // Without logs, those that play by them would be others, or guess.
        let by_logs = [Preset::WarmLinUcb, Preset::WarmGreedy, Preset::WarmSupLinUcb, Preset::OfflineOnly];
        let usual = POLICIES.into_iter().filter(|preset| self.logs.count() > 0 || !by_logs.contains(preset));
        for preset in told.policies.clone().unwrap_or_else(|| usual.collect()) {
            let policy = preset.name();
            let fail = |error| truenorth_sim::Error::InPolicy { name: policy.to_owned(), error };
            let mut settings = Policy::builder(self.names.len()).preset(preset).logs(self.logs.clone());
            settings = settings.horizon(self.recording.rounds.len() as u64);
            settings = settings.discount(told.discount).noise(told.noise);
            settings = settings.norm_bound(told.norm_bound.map(|bound| bound * self.unit));
            if preset.needs_certificate() {
                let drift = told.drift.as_ref().ok_or(Error::NotTold { policy })?;
                settings = settings.certificate(self.certificate(drift)?);
            }
            if preset == Preset::MinUcb
                && let Some(place) = self.no_arm.clone()
            {
                return Err(Error::NotAnArm { place, policy });
            }
            let own = preset.exploration_scale();
            // Where widths do not count, all factors are alike.
            let alike = own == 0.0 || preset == Preset::OfflineOnly;
            for &scale in if alike { &[1.0][..] } else { &told.scales } {
                settings = settings.exploration_scale(own * scale);
                let method = settings.clone().build().map_err(fail)?.method().clone();
                #[expect(clippy::float_cmp, reason = "1 as it was given, or by default")]
                let name = if scale == 1.0 { policy.to_owned() } else { format!("{policy} x{scale}") };
                if entries.iter().all(|entry| entry.name != name) {
                    entries.push(Entry { name, method, settings: settings.clone() });
                }
            }
        }
        Ok(entries)
    }

    /// Coefficients of divided features are larger by the unit, and so is their drift.
    fn certificate(&self, drift: &Drift) -> Result<Certificate> {
        match drift {
            Drift::Length(length) => Ok(Certificate::isotropic(self.names.len(), length * self.unit)?),
            Drift::Certificate(given) => {
                let matrix: Vec<f64> = given.matrix().iter().map(|m| m * self.unit.powi(-2)).collect();
                Ok(Certificate::from_matrix(&matrix, given.rho())?)
            }
            Drift::File(path) => certificate::read(path, Some(&self.names), self.unit.recip()),
        }
    }

    /// Plays every policy in every order.
    pub fn play(&self, entries: &[Entry], seeds: u64, work: Work<'_>) -> Result<Comparison> {
        let jobs: Vec<(&Entry, u64)> =
            entries.iter().flat_map(|entry| (0..seeds).map(move |seed| (entry, seed))).collect();
        let (finished, total) = (AtomicUsize::new(0), jobs.len());
        (work.progress)(Progress::Started { done: 0, total });
        let play = |&(entry, seed): &(&Entry, u64)| {
            let outcome = self.recording.play(entry.settings.clone(), seed, work.stop)?;
            (work.progress)(Progress::Finished);
            Ok(outcome.inspect(|_| _ = finished.fetch_add(1, Ordering::Relaxed)))
        };
        let played: Option<Vec<RecordedOutcome>> = pool(work.threads)?
            .install(|| jobs.par_iter().with_max_len(1).map(play).collect::<Result<_>>())?;
        let finished = finished.into_inner();
        let played = played.ok_or(Error::Interrupted { finished, total, folder: None })?;
        let recording = &self.recording;
        let coefficients = recording.hindsight()?;
        let orders = seeds as f64;
        let hindsight = (0..seeds).map(|seed| recording.linear(&coefficients, seed)).sum::<f64>() / orders;
        let random = recording.random();
        let (rounds, points) = (recording.rounds.len(), recording.points());
        let row = |(entry, outcomes): (&Entry, &[RecordedOutcome])| {
            let over =
                |value: &dyn Fn(&RecordedOutcome) -> f64| Summary::of(outcomes.iter().map(value).collect());
            let reward = over(&|outcome| outcome.mean_reward);
            Compared {
                name: entry.name.clone(),
                mean_reward: reward.mean,
                stderr: reward.stderr,
                score: (hindsight > random).then(|| (reward.mean - random) / (hindsight - random)),
                regret: (hindsight - reward.mean) * rounds as f64,
                seconds: outcomes.iter().map(|outcome| outcome.seconds).sum::<f64>() / orders,
                rewards: outcomes.iter().map(|outcome| outcome.mean_reward).collect(),
                curve: (0..points.len()).map(|point| over(&|outcome| outcome.gained[point])).collect(),
                features: outcomes[0].features.iter().map(|&view| in_units(view, self.unit)).collect(),
            }
        };
        let played = played.chunks(usize::try_from(seeds).unwrap_or(usize::MAX));
        Ok(Comparison {
            rounds,
            seeds,
            random: MeanReward { mean_reward: random },
            hindsight: MeanReward { mean_reward: hindsight },
            policies: entries.iter().zip(played).map(row).collect(),
            points,
        })
    }
}

/// What was learned about a feature whose values are multiplied by `unit`: its coefficient is divided by it.
fn in_units(mut view: FeatureView, unit: f64) -> FeatureView {
    view.estimate /= unit;
    view.drift = view.drift.map(|drift| drift / unit);
    view.stderr = view.stderr.map(|stderr| stderr / unit);
    view
}
