//! `truenorth compare`: policies against recorded rounds in which every action's reward is known.

mod pictures;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use rayon::prelude::*;
use serde::Serialize;
use truenorth::{Branches, Certificate, CertificateRule, FeatureView, Params, Preset, RidgeStatistic};
use truenorth_logs::{Selection, Table};
use truenorth_sim::{RecordedOutcome, RecordedRound, Recording, Summary};

use crate::certificate_file;
use crate::experiment::{STOP, catch_interrupts, progress_bar};
use crate::failure::Failure;
use crate::output::make_folder;
use crate::table;

/// Policies that play unless others are named: all that need to be told nothing.
const POLICIES: [Preset; 11] = [
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
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The logs: one row an observation (.csv, .csv.gz, .parquet, .jsonl); leave it out to play without logs
    #[arg(long, value_name = "FILE")]
    offline: Option<PathBuf>,
    /// The live rounds: one row an action, all rewards known
    #[arg(long, value_name = "FILE")]
    online: PathBuf,
    /// Feature columns: names and patterns, separated by commas
    #[arg(long, value_name = "LIST")]
    features: String,
    /// Column of the reward
    #[arg(long, value_name = "NAME")]
    reward: String,
    /// Column that says which live rows are a round
    #[arg(long, value_name = "NAME")]
    round: String,
    /// Policies to play, separated by commas [default: see below]
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = crate::reproduce::preset)]
    policies: Option<Vec<Preset>>,
    /// Number of orders in which the rounds are played
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    seeds: u64,
    /// Factors on each policy's own exploration, separated by commas: one row of the table for each
    #[arg(long, value_delimiter = ',', value_name = "FACTORS", default_value = "1")]
    scales: Vec<f64>,
    /// Noise of the rewards [default: estimated]
    #[arg(long, value_name = "SIGMA")]
    noise: Option<f64>,
    /// Length of the coefficients at most, for features as they are in the files [default: estimated]
    #[arg(long, value_name = "S")]
    norm_bound: Option<f64>,
    /// Length of the drift, told to policies with a fixed certificate, for features as they are in the files
    #[arg(long, value_name = "RHO")]
    drift: Option<f64>,
    /// What such policies are told instead: certificate.toml of `truenorth audit`
    #[arg(long, value_name = "FILE", conflicts_with = "drift")]
    certificate: Option<PathBuf>,
    /// Folder for compare.svg, learned.svg and their .png
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads; 0 takes all cores. The results are the same for any number
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024))]
    threads: u16,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// What is printed with `--json`.
#[derive(Debug, Serialize)]
struct Comparison {
    rounds: usize,
    seeds: u64,
    random: MeanReward,
    hindsight: MeanReward,
    policies: Vec<Row>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct MeanReward {
    mean_reward: f64,
}

/// One policy.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    mean_reward: f64,
    stderr: f64,
    /// (policy - random) / (hindsight - random); none where hindsight is no better than chance.
    score: Option<f64>,
    /// What the hindsight policy earned more, over all rounds.
    regret: f64,
    seconds: f64,
    /// What was learned about each feature in the first order, in the files' units. For the picture.
    #[serde(skip)]
    features: Vec<Feature>,
}

#[derive(Debug, Clone)]
struct Feature {
    name: String,
    view: FeatureView,
}

/// One policy with its parameters, but for the seed.
struct Entry {
    name: String,
    params: Params,
}

/// The files, features divided by one number so that the longest vector has length 1.
struct Data {
    names: Vec<String>,
    logs: RidgeStatistic,
    recording: Recording,
    unit: f64,
    /// The first row, and its file, whose features are no multiple of a unit vector of that length.
    no_arm: Option<(PathBuf, usize)>,
}

/// What `--help` says about the names, below the options.
pub(crate) fn policies_help() -> String {
    let (told, left): (Vec<Preset>, Vec<Preset>) = Preset::ALL
        .into_iter()
        .filter(|preset| !POLICIES.contains(preset))
        .partition(|preset| preset.params(1).is_ok_and(|params| is_told(&params)));
    let names =
        |presets: &[Preset]| presets.iter().map(|preset| preset.name()).collect::<Vec<_>>().join(", ");
    format!(
        "Policies:\n  played unless others are named: {}\n  also: {}\n  with --drift or --certificate: {} (min-ucb for actions that \
         are unit vectors)",
        names(&POLICIES),
        names(&left),
        names(&told),
    )
}

pub(crate) fn run(arguments: &Arguments, output: &mut impl io::Write) -> Result<(), Failure> {
    check(arguments)?;
    let data = read(arguments)?;
    let entries = entries(arguments, &data)?;
    if let Some(folder) = &arguments.out {
        make_folder(folder)?;
    }
    let outcomes = play(arguments, &data, &entries)?;
    let comparison = summarise(arguments, &data, &entries, &outcomes)?;
    if let Some(folder) = &arguments.out {
        for path in pictures::draw(folder, &data, &entries, &outcomes, &comparison)? {
            eprintln!("wrote {}", path.display());
        }
    }
    if arguments.json {
        serde_json::to_writer(&mut *output, &comparison).map_err(|error| Failure::Output(error.into()))?;
        writeln!(output).map_err(Failure::Output)
    } else {
        write!(output, "{}", text(&data, &comparison)).map_err(Failure::Output)
    }
}

fn read(arguments: &Arguments) -> Result<Data, Failure> {
    let all = Selection::new(&arguments.features, &arguments.reward);
    let offline = arguments.offline.as_deref();
    let offline =
        offline.map(|path| Table::read(path, &all.clone().without(&arguments.round))).transpose()?;
    let selection = match &offline {
        Some(offline) => Selection::named(&offline.names, &arguments.reward),
        None => all,
    };
    let online = Table::read(&arguments.online, &selection.with_round(&arguments.round))?;
    let names = online.names.clone();
    let dimension = names.len();
    let lengths = |table: &Table| {
        (0..table.len())
            .map(|row| table.row(row).iter().map(|x| x * x).sum::<f64>().sqrt())
            .fold(0.0, f64::max)
    };
    let unit = offline.iter().map(lengths).fold(lengths(&online), f64::max);
    let unit = if unit > 0.0 { unit } else { 1.0 };
    let scaled = |row: &[f64]| row.iter().map(|x| x / unit).collect::<Vec<f64>>();
    let mut logs = RidgeStatistic::new(dimension).map_err(truenorth_sim::Error::from)?;
    if let Some(table) = &offline {
        for row in 0..table.len() {
            logs.observe(&scaled(table.row(row)), table.rewards[row]).map_err(truenorth_sim::Error::from)?;
        }
    }
    let round = |rows: &Vec<usize>| RecordedRound {
        features: rows.iter().flat_map(|&row| scaled(online.row(row))).collect(),
        rewards: rows.iter().map(|&row| online.rewards[row]).collect(),
    };
    let is_arm = |row: &[f64]| {
        let mut entries = row.iter().filter(|&&x| x != 0.0);
        entries.next() == Some(&unit) && entries.next().is_none()
    };
    let tables = arguments.offline.iter().zip(&offline).chain([(&arguments.online, &online)]);
    let no_arm = tables
        .flat_map(|(path, table)| (0..table.len()).map(move |row| (path, table, row)))
        .find(|(_, table, row)| !is_arm(table.row(*row)))
        .map(|(path, _, row)| (path.clone(), row));
    let rounds = online.rows_by_round().unwrap_or_default().iter().map(round).collect();
    Ok(Data { names, logs, recording: Recording { dimension, rounds }, unit, no_arm })
}

/// Whether a policy has to be told how far the logs may have drifted.
fn is_told(params: &Params) -> bool {
    matches!(params.branches, Branches::Both | Branches::Pooled | Branches::Arms)
        && params.certificate == CertificateRule::None
}

/// Numbers that do not fit in the units of the call; the library would name them in its own.
fn check(arguments: &Arguments) -> Result<(), Failure> {
    let numbers =
        [("--noise", arguments.noise), ("--norm-bound", arguments.norm_bound), ("--drift", arguments.drift)];
    for (name, value) in numbers {
        if let Some(value) = value.filter(|value| !(0.0..=1e50).contains(value)) {
            return Err(Failure::Call(format!(
                "`{name}` must be at least 0 and at most 1e50, but is {value}"
            )));
        }
    }
    if let Some(wrong) = arguments.scales.iter().find(|&&scale| !(scale > 0.0 && scale <= 1e9)) {
        return Err(Failure::Call(format!(
            "a factor of `--scales` must be positive and at most 1e9, but is {wrong}"
        )));
    }
    Ok(())
}

fn entries(arguments: &Arguments, data: &Data) -> Result<Vec<Entry>, Failure> {
    let refuse = |name: &str, error: truenorth::Error| Failure::Call(format!("policy {name:?}: {error}"));
    // The logs' own ridge, σ² over the mean square of a coefficient: the paper's 1 is too heavy for features
    // of which only the longest has length 1.
    let mut own = Preset::TrueNorth.params(data.recording.dimension).map_err(truenorth_sim::Error::from)?;
    own.offline = data.logs.clone();
    let ridge = truenorth::Policy::new(own).map_err(truenorth_sim::Error::from)?.offline().ridge();
    let mut entries: Vec<Entry> = Vec::new();
    for &preset in arguments.policies.as_deref().unwrap_or(&POLICIES) {
        let name = preset.name();
        let fail = |error| refuse(name, error);
        let mut params = preset.params(data.recording.dimension).map_err(fail)?;
        params.horizon = Some(data.recording.rounds.len() as u64);
        params.offline = data.logs.clone();
        params.ridge = ridge;
        params.noise = arguments.noise;
        params.norm_bound = arguments.norm_bound.map(|bound| bound * data.unit);
        if is_told(&params) {
            let certificate = match (&arguments.certificate, arguments.drift) {
                (Some(path), _) => certificate_file::read(path, Some(&data.names), data.unit.recip())?,
                (None, Some(drift)) => {
                    Certificate::isotropic(data.recording.dimension, drift * data.unit).map_err(fail)?
                }
                (None, None) => {
                    return Err(Failure::Call(format!(
                        "policy {name:?} has to be told how far the logs may have drifted: give `--drift` or \
                         `--certificate`"
                    )));
                }
            };
            params.certificate = CertificateRule::Fixed(certificate);
        }
        if params.branches == Branches::Arms
            && let Some((path, row)) = &data.no_arm
        {
            let place = format!("{}, row {}", path.display(), row + 1);
            let reason = format!("this is not a unit vector, but policy {name:?} knows separate arms only");
            return Err(Failure::Input { place, reason });
        }
        let own = params.exploration_scale;
        // Where widths do not count, all factors are alike.
        let alike = own == 0.0 || params.branches == Branches::Offline;
        for &scale in if alike { &[1.0][..] } else { &arguments.scales } {
            params.exploration_scale = own * scale;
            truenorth::Policy::new(params.clone()).map_err(fail)?;
            #[expect(clippy::float_cmp, reason = "1 as it was given, or by default")]
            let name = if scale == 1.0 { name.to_owned() } else { format!("{name} x{scale}") };
            if entries.iter().all(|entry| entry.name != name) {
                entries.push(Entry { name, params: params.clone() });
            }
        }
    }
    Ok(entries)
}

/// What each policy earned, seed by seed.
fn play(arguments: &Arguments, data: &Data, entries: &[Entry]) -> Result<Vec<Vec<RecordedOutcome>>, Failure> {
    let threads = usize::from(arguments.threads);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(Failure::threads)?;
    let jobs: Vec<(usize, u64)> =
        (0..entries.len()).flat_map(|entry| (0..arguments.seeds).map(move |seed| (entry, seed))).collect();
    catch_interrupts();
    let progress = progress_bar(jobs.len(), 0);
    let played: Result<Vec<RecordedOutcome>, Failure> = pool.install(|| {
        jobs.par_iter()
            .with_max_len(1)
            .map(|&(entry, seed)| {
                if STOP.load(Ordering::Relaxed) {
                    return Err(Failure::Interrupted { finished: 0, total: 0, folder: None });
                }
                let outcome = data.recording.play(entries[entry].params.clone(), seed);
                progress.inc(1);
                Ok(outcome?)
            })
            .collect()
    });
    progress.finish_and_clear();
    let mut played = played?.into_iter();
    let seeds = usize::try_from(arguments.seeds).unwrap_or(usize::MAX);
    Ok(entries.iter().map(|_| played.by_ref().take(seeds).collect()).collect())
}

fn summarise(
    arguments: &Arguments,
    data: &Data,
    entries: &[Entry],
    outcomes: &[Vec<RecordedOutcome>],
) -> Result<Comparison, Failure> {
    let recording = &data.recording;
    let coefficients = recording.hindsight()?;
    let seeds = arguments.seeds as f64;
    let hindsight =
        (0..arguments.seeds).map(|seed| recording.linear(&coefficients, seed)).sum::<f64>() / seeds;
    let random = recording.random();
    let rounds = recording.rounds.len();
    let row = |(entry, outcomes): (&Entry, &Vec<RecordedOutcome>)| {
        let reward = Summary::of(outcomes.iter().map(|outcome| outcome.mean_reward).collect());
        let features = data.names.iter().zip(&outcomes[0].features);
        Row {
            name: entry.name.clone(),
            mean_reward: reward.mean,
            stderr: reward.stderr,
            score: (hindsight > random).then(|| (reward.mean - random) / (hindsight - random)),
            regret: (hindsight - reward.mean) * rounds as f64,
            seconds: outcomes.iter().map(|outcome| outcome.seconds).sum::<f64>() / seeds,
            features: features
                .map(|(name, view)| Feature { name: name.clone(), view: in_file_units(view, data.unit) })
                .collect(),
        }
    };
    Ok(Comparison {
        rounds,
        seeds: arguments.seeds,
        random: MeanReward { mean_reward: random },
        hindsight: MeanReward { mean_reward: hindsight },
        policies: entries.iter().zip(outcomes).map(row).collect(),
    })
}

/// A coefficient of features that were divided by `unit` is `unit` times as large.
fn in_file_units(view: &FeatureView, unit: f64) -> FeatureView {
    FeatureView {
        estimate: view.estimate / unit,
        coverage: view.coverage * unit * unit,
        drift: view.drift.map(|drift| drift / unit),
        stderr: view.stderr.map(|stderr| stderr / unit),
        trust: view.trust,
    }
}

fn text(data: &Data, comparison: &Comparison) -> String {
    let mut rows: Vec<Vec<String>> =
        vec![["policy", "score", "mean reward", "regret", "µs a round"].map(str::to_owned).to_vec()];
    let mut order: Vec<&Row> = comparison.policies.iter().collect();
    order.sort_by(|a, b| b.mean_reward.total_cmp(&a.mean_reward));
    for row in order {
        rows.push(vec![
            row.name.clone(),
            row.score.map_or_else(|| "-".to_owned(), |score| format!("{score:.3}")),
            match comparison.seeds {
                1 => format!("{:.5}", row.mean_reward),
                _ => format!("{:.5} ± {:.5}", row.mean_reward, row.stderr),
            },
            table::number(row.regret),
            table::number(row.seconds * 1e6 / comparison.rounds as f64),
        ]);
    }
    let logs = match data.logs.count() {
        0 => "no logs".to_owned(),
        count => table::counted(count, "logged row"),
    };
    let (random, hindsight) = (comparison.random.mean_reward, comparison.hindsight.mean_reward);
    let scores = if hindsight > random {
        format!(
            "score 0 is a uniform choice ({random:.5}), score 1 the best linear policy in hindsight ({hindsight:.5})"
        )
    } else {
        format!(
            "no scores: the best linear policy in hindsight ({hindsight:.5}) is no better than a uniform choice \
             ({random:.5})"
        )
    };
    format!(
        "{logs}, {} in {}, {}\n\n{}\n{scores}\n",
        table::counted(comparison.rounds as u64, "live round"),
        table::counted(comparison.seeds, "order"),
        table::counted(data.names.len() as u64, "feature"),
        table::text(&rows),
    )
}
