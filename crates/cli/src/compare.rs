//! `truenorth compare`: policies against recorded rounds in which every action's reward is known.

mod pictures;

use std::io;
use std::path::PathBuf;

use clap::Args;
use rayon::prelude::*;
use truenorth::{Certificate, Preset};
use truenorth_logs::{Selection, Table};
use truenorth_sim::{Compared, Comparison, Contest, Entrants, Entry, RecordedOutcome, RecordedRows};

use crate::certificate_file;
use crate::experiment::{STOP, catch_interrupts, progress_bar};
use crate::failure::Failure;
use crate::output::make_folder;
use crate::table;

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

/// What `--help` says about the names, below the options.
pub(crate) fn policies_help() -> String {
    let (told, left): (Vec<Preset>, Vec<Preset>) = Preset::ALL
        .into_iter()
        .filter(|preset| !Contest::POLICIES.contains(preset))
        .partition(|preset| preset.params(1).is_ok_and(|params| Contest::is_told(&params)));
    let names =
        |presets: &[Preset]| presets.iter().map(|preset| preset.name()).collect::<Vec<_>>().join(", ");
    format!(
        "Policies:\n  played unless others are named: {}\n  also: {}\n  with --drift or --certificate: {} (min-ucb for actions that \
         are unit vectors)",
        names(&Contest::POLICIES),
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
    let comparison = data.summarise(&entries, &outcomes, arguments.seeds)?;
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

fn read(arguments: &Arguments) -> Result<Contest, Failure> {
    let all = Selection::new(&arguments.features, &arguments.reward);
    let offline = arguments.offline.as_deref();
    let offline =
        offline.map(|path| Table::read(path, &all.clone().without(&arguments.round))).transpose()?;
    let selection = match &offline {
        Some(offline) => Selection::named(&offline.names, &arguments.reward),
        None => all,
    };
    let online = Table::read(&arguments.online, &selection.with_round(&arguments.round))?;
    let shown = |path: Option<&PathBuf>| path.map_or_else(String::new, |path| path.display().to_string());
    let (logged, live) = (shown(arguments.offline.as_ref()), shown(Some(&arguments.online)));
    let offline = offline.as_ref().map(|table| rows(&logged, table));
    let rounds = online.rows_by_round().unwrap_or_default();
    Ok(Contest::new(online.names.clone(), offline, rows(&live, &online), &rounds)?)
}

fn rows<'a>(name: &'a str, table: &'a Table) -> RecordedRows<'a> {
    RecordedRows { name, features: &table.features, rewards: &table.rewards }
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

fn entries(arguments: &Arguments, data: &Contest) -> Result<Vec<Entry>, Failure> {
    let entrants = Entrants {
        policies: arguments.policies.clone().unwrap_or_else(|| Contest::POLICIES.to_vec()),
        scales: arguments.scales.clone(),
        noise: arguments.noise,
        norm_bound: arguments.norm_bound,
    };
    data.entries(&entrants, |preset| match (&arguments.certificate, arguments.drift) {
        (Some(path), _) => certificate_file::read(path, Some(&data.names), data.unit.recip()),
        (None, Some(drift)) => Certificate::isotropic(data.recording.dimension, drift * data.unit)
            .map_err(|error| truenorth_sim::Error::InPolicy { name: preset.name().to_owned(), error }.into()),
        (None, None) => Err(Failure::Call(format!(
            "policy {:?} has to be told how far the logs may have drifted: give `--drift` or `--certificate`",
            preset.name()
        ))),
    })
}

/// What each policy earned, seed by seed.
fn play(
    arguments: &Arguments,
    data: &Contest,
    entries: &[Entry],
) -> Result<Vec<Vec<RecordedOutcome>>, Failure> {
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
                let outcome = data.recording.play(entries[entry].params.clone(), seed, &STOP)?;
                progress.inc(1);
                outcome.ok_or(Failure::Interrupted { finished: 0, total: 0, folder: None })
            })
            .collect()
    });
    progress.finish_and_clear();
    let mut played = played?.into_iter();
    let seeds = usize::try_from(arguments.seeds).unwrap_or(usize::MAX);
    Ok(entries.iter().map(|_| played.by_ref().take(seeds).collect()).collect())
}

fn text(data: &Contest, comparison: &Comparison) -> String {
    let mut rows: Vec<Vec<String>> =
        vec![["policy", "score", "mean reward", "regret", "µs a round"].map(str::to_owned).to_vec()];
    let mut order: Vec<&Compared> = comparison.policies.iter().collect();
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
