//! `truenorth compare`: policies against recorded rounds in which every action's reward is known.

mod pictures;

use std::path::PathBuf;

use clap::Args;
use truenorth::Preset;
use truenorth_app::compare::{Columns, Compared, Comparison, Contest, Drift, POLICIES, Told};
use truenorth_app::{Source, Work};

use crate::experiment::watched;
use crate::failure::Failure;
use crate::made;
use crate::output::{json, make_folder};
use crate::table;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The logs: one row an observation (.csv, .csv.gz, .parquet, .jsonl), or a summary of them, whose features are then
    /// those of the rounds; leave it out to play without logs
    #[arg(long, value_name = "FILE")]
    offline: Option<PathBuf>,
    /// The live rounds: one row an action, all rewards known
    #[arg(long, value_name = "FILE")]
    online: PathBuf,
    /// Feature columns: names and patterns, separated by commas
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    features: String,
    /// The features as a formula instead, such as 'price + segment:item'
    #[arg(long, value_name = "FORMULA")]
    model: Option<String>,
    /// Columns that belong to the action, separated by commas, its id first. Without --model and --features, a model is made from
    /// the data, and all other columns are crossed with these
    #[arg(long, value_name = "FIELDS", default_value = "", hide_default_value = true)]
    action: String,
    /// Column of the reward
    #[arg(long, value_name = "NAME")]
    reward: String,
    /// Column with the same value in all live rows of one round
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
    /// Standard deviation of the rewards' noise [default: estimated]
    #[arg(long, value_name = "SIGMA")]
    noise: Option<f64>,
    /// The coefficients are at most so long, as a vector, for features as they are in the files [default: estimated]
    #[arg(long, value_name = "S")]
    norm_bound: Option<f64>,
    /// How far coefficients may have moved since the logs, for features as they are in the files, for policies that must be told
    #[arg(long, value_name = "RHO")]
    drift: Option<f64>,
    /// What such policies are told instead: the file REPORT.certificate.toml of `truenorth audit --out REPORT.html`
    #[arg(long, value_name = "FILE", conflicts_with = "drift")]
    certificate: Option<PathBuf>,
    /// What a logged row is worth, in live rows, to every policy that uses logs
    #[arg(long, value_name = "SHARE", default_value = "1")]
    discount: f64,
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
        .iter()
        .filter(|preset| !POLICIES.contains(preset))
        .partition(|preset| preset.needs_certificate());
    let names =
        |presets: &[Preset]| presets.iter().map(|preset| preset.name()).collect::<Vec<_>>().join(", ");
    format!(
        "Policies:\n  played unless others are named: {} (without --offline, neither warm-* nor offline-only)\n  also: {}\n  also, where --drift or --certificate is told: {} (min-ucb for actions that \
         are unit vectors)\n\ndocs/method.md says in its section 9 which of them is for what.",
        names(&POLICIES),
        names(&left),
        names(&told),
    )
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let Arguments { features, action, reward, round, offline, online, out, .. } = arguments;
    let file = arguments.certificate.clone().map(Drift::File);
    let told = Told {
        policies: arguments.policies.clone(),
        seeds: arguments.seeds,
        scales: arguments.scales.clone(),
        noise: arguments.noise,
        norm_bound: arguments.norm_bound,
        drift: file.or(arguments.drift.map(Drift::Length)),
        discount: arguments.discount,
    };
    // Before files are read, which may take long.
    told.check()?;
    let played = told.policies.as_deref().unwrap_or(&POLICIES);
    if told.drift.is_some() && !played.iter().any(|policy| policy.needs_certificate()) {
        let flag = if arguments.drift.is_some() { "--drift" } else { "--certificate" };
        eprintln!("truenorth: `{flag}` is not used: none of the policies is told it");
    }
    let source = |path: &PathBuf| Source::Path(path.clone());
    let columns = Columns { features, model: arguments.model.as_deref(), action, reward, round };
    let contest = Contest::read(columns, offline.as_ref().map(source), source(online))?;
    if let Some(recipe) = &contest.made {
        for line in made::told(recipe, &contest.names) {
            eprintln!("truenorth: {line}");
        }
        made::doubt(recipe, Vec::new(), Vec::new());
    }
    match (contest.rounds_of_one(), contest.rounds()) {
        (0, _) => {}
        (ones, rounds) if ones == rounds => eprintln!(
            "truenorth: every round has one action, so that there is nothing to choose; does `--round` name the right column?"
        ),
        (ones, rounds) => {
            eprintln!(
                "truenorth: {ones} of {rounds} rounds have one action, so that there is nothing to choose in them"
            );
        }
    }
    let entries = contest.entries(&told)?;
    if let Some(folder) = out {
        make_folder(folder)?;
    }
    let play = |work: Work<'_>| contest.play(&entries, told.seeds, work);
    let comparison = watched(usize::from(arguments.threads), None, play)?;
    if let Some(folder) = out {
        pictures::draw(folder, &contest, &entries, &comparison)?;
    }
    if arguments.json { json(&comparison) } else { Ok(text(&contest, &comparison)) }
}

fn text(data: &Contest, comparison: &Comparison) -> String {
    let mut order: Vec<&Compared> = comparison.policies.iter().collect();
    order.sort_by(|a, b| b.mean_reward.total_cmp(&a.mean_reward));
    let rows = order.iter().map(|row| {
        vec![
            row.name.clone(),
            row.score.map_or_else(|| "-".to_owned(), |score| format!("{score:.3}")),
            match comparison.seeds {
                1 => format!("{:.5}", row.mean_reward),
                _ => format!("{:.5} ± {:.5}", row.mean_reward, row.stderr),
            },
            table::number(row.regret),
            table::number(row.seconds * 1e6 / comparison.rounds as f64),
        ]
    });
    let table = table::text(["policy", "score", "mean reward", "regret", "µs a round"], rows);
    let logs = match data.logs.count() {
        0 => "no logs".to_owned(),
        count => table::counted(count, "logged row"),
    };
    let (random, hindsight) = (comparison.random.mean_reward, comparison.hindsight.mean_reward);
    let scores = if hindsight > random {
        format!(
            "score 0 is a uniform choice ({random:.5}), score 1 least squares on all live rounds, in\nhindsight ({hindsight:.5}), which a policy may pass"
        )
    } else {
        format!(
            "no scores: least squares on all live rounds, in hindsight ({hindsight:.5}), is no better than a uniform\nchoice \
             ({random:.5})"
        )
    };
    format!(
        "{logs}, {} in {}, {}\n\n{table}\n{}{scores}\n",
        table::counted(comparison.rounds as u64, "live round"),
        table::counted(comparison.seeds, "order"),
        table::counted(data.names.len() as u64, "feature"),
        pairs(comparison, &order),
    )
}

/// How far truenorth, or whoever is the best without it, is ahead of the others, order by order.
fn pairs(comparison: &Comparison, order: &[&Compared]) -> String {
    let own = order.iter().find(|row| row.name == Preset::TrueNorth.name()).or(order.first());
    let Some(own) = own.filter(|_| comparison.seeds > 1 && order.len() > 1) else { return String::new() };
    let others = order.iter().filter(|row| row.name != own.name).map(|other| {
        let ahead = own.ahead_of(other);
        let word = if ahead.mean < 0.0 { "behind" } else { "ahead of" };
        format!("  {:.5} ± {:.5} {word} {}\n", ahead.mean.abs(), ahead.stderr, other.name)
    });
    format!("{}, order by order, in mean reward:\n{}\n", own.name, others.collect::<String>())
}
