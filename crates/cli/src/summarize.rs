//! `truenorth summarize`: logs of any size to the offline statistic, a small file; also merges summaries.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use truenorth_logs::{
    BUCKETS, Format, Layout, Missing, Plan, Recipe, Rejected, Selection, Summary, Tolerance, expand,
};

use crate::failure::Failure;
use crate::output::{check_apart, check_file};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Arguments {
    /// Logs, or summaries to merge; quoted patterns such as 'logs/*.parquet' are expanded
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Columns of numbers: names and patterns such as 'f_*', separated by commas
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    features: String,
    /// Column of the reward
    #[arg(long, value_name = "NAME")]
    reward: Option<String>,
    /// The summary to write; it may be one that is read, but not a log
    #[arg(short, long, value_name = "SUMMARY")]
    output: PathBuf,
    /// Format of the files: auto (by ending and content), csv, parquet, jsonl, arrow, vw, dsjson or obd
    #[arg(long, default_value = "auto", value_parser = format)]
    format: FormatChoice,
    /// Columns of categories: each level becomes a feature `column=level`
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    one_hot: String,
    /// Columns of categories with too many levels: each `column=level` is hashed into a bucket
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    hash: String,
    /// Buckets of the hash, for --hash and for events of Vowpal Wabbit
    #[arg(long, value_name = "N", default_value_t = BUCKETS, value_parser = clap::value_parser!(u32).range(1..=4096))]
    buckets: u32,
    /// Keep the names of Vowpal Wabbit's features instead of hashing them
    #[arg(long)]
    keep_names: bool,
    /// Add a feature that is always 1
    #[arg(long)]
    intercept: bool,
    /// Values that are missing: stop at the first, leave the row out, or take the column's mean
    #[arg(long, default_value = "refuse", value_parser = ["refuse", "drop", "mean"])]
    missing: String,
    /// Leave malformed rows out and count them, instead of stopping at the first
    #[arg(long)]
    skip_malformed: bool,
    /// Rewards outside of this range are malformed
    #[arg(long, value_name = "LOW,HIGH", value_delimiter = ',', num_args = 1, allow_hyphen_values = true)]
    reward_range: Vec<f64>,
    /// Table of items that Open Bandit's rows refer to
    #[arg(long, value_name = "FILE")]
    items: Option<PathBuf>,
    /// Threads; 0 takes all cores. The summary is the same for any number
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024))]
    threads: u16,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// The format that is asked for; none if it is to be found out.
pub(crate) type FormatChoice = Choice<Format>;

/// A value, or none for `auto`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice<T>(pub(crate) Option<T>);

pub(crate) fn format(name: &str) -> Result<FormatChoice, String> {
    if name == "auto" {
        return Ok(Choice(None));
    }
    let known = || Format::ALL.map(Format::name).join(", ");
    let found = Format::ALL.into_iter().find(|format| format.name() == name);
    found.map(|format| Choice(Some(format))).ok_or_else(|| format!("the formats are auto, {}", known()))
}

/// What is printed with `--json`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    rows: u64,
    dimension: usize,
    features: Vec<String>,
    mean_reward: f64,
    scale: f64,
    files: &'a std::collections::BTreeMap<String, u64>,
    rejected: &'a [Rejected],
    bytes: u64,
}

pub(crate) fn run(arguments: &Arguments, output: &mut impl io::Write) -> Result<(), Failure> {
    let plan = plan(arguments)?;
    let paths = expand(&arguments.files)?;
    if let Some(folder) = paths.iter().find(|path| path.is_dir()) {
        return Err(Failure::folder(folder));
    }
    let (summaries, logs): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.into_iter().partition(|path| Summary::is_summary(path));
    for input in logs.iter().chain(&arguments.items) {
        check_apart(&arguments.output, input)?;
    }
    check_file(&arguments.output)?;
    if logs.is_empty() && plan.selection.is_some() {
        return Err(Failure::Call("only summaries are named, whose columns are settled".to_owned()));
    }
    let mut twice: BTreeSet<String> = BTreeSet::new();
    let mut whole: Option<Summary> = None;
    let mut merge = |part: Summary, path: &Path| match &mut whole {
        None => {
            whole = Some(part);
            Ok(())
        }
        Some(whole) => {
            twice.extend(shared_files(whole, &part));
            whole.merge(&part).map_err(|problem| Failure::in_file(path, problem))
        }
    };
    let mut recipe = None;
    for path in &summaries {
        let summary = Summary::read(path)?;
        recipe = recipe.or_else(|| Some(summary.recipe().clone()));
        merge(summary, path)?;
    }
    if let Some(first) = logs.first() {
        let progress = progress(&logs);
        let advance = |bytes| progress.inc(bytes);
        let read = match recipe.filter(|_| plan.selection.is_none()) {
            Some(recipe) => plan.summarize_alike(&recipe, &logs, &advance),
            None => plan.summarize(&logs, &advance),
        };
        progress.finish_and_clear();
        merge(read?, first)?;
    }
    let whole = whole.ok_or_else(|| Failure::Call("no files are named".to_owned()))?;
    check_used(arguments, whole.recipe())?;
    for file in twice {
        eprintln!("truenorth: {file} is counted twice");
    }
    whole.write(&arguments.output).map_err(Failure::write(&arguments.output))?;
    print(arguments, &whole, output).map_err(Failure::Output)
}

fn plan(arguments: &Arguments) -> Result<Plan, Failure> {
    let columns = [&arguments.features, &arguments.one_hot, &arguments.hash];
    let selection = match &arguments.reward {
        Some(reward) => Some(
            // Rounds are no feature, whatever a pattern says.
            Selection::new(&arguments.features, reward)
                .with_categories(&arguments.one_hot, &arguments.hash)
                .without("round"),
        ),
        None if columns.iter().any(|list| !list.is_empty()) => {
            return Err(Failure::Call("`--reward` is needed beside the columns".to_owned()));
        }
        None => None,
    };
    let range = match arguments.reward_range[..] {
        [] => None,
        [low, high] if low <= high => Some((low, high)),
        _ => {
            let given = arguments.reward_range.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
            return Err(Failure::Call(format!(
                "`--reward-range` takes two numbers, the smaller first, but is {given}"
            )));
        }
    };
    let missing = match arguments.missing.as_str() {
        "drop" => Missing::Drop,
        "mean" => Missing::Mean,
        _ => Missing::Refuse,
    };
    Ok(Plan {
        format: arguments.format.0,
        selection,
        buckets: arguments.buckets,
        keep_names: arguments.keep_names,
        intercept: arguments.intercept,
        tolerance: Tolerance { missing, skip_malformed: arguments.skip_malformed, range },
        items: arguments.items.clone(),
        threads: usize::from(arguments.threads),
    })
}

/// What was asked for must not be lost silently, because a summary or a format knows nothing of it.
fn check_used(arguments: &Arguments, recipe: &Recipe) -> Result<(), Failure> {
    if arguments.intercept && !recipe.intercept {
        return Err(Failure::Call("`--intercept` comes too late: the summaries have none".to_owned()));
    }
    if arguments.items.is_some() && !matches!(recipe.layout, Layout::Events { items: Some(_), .. }) {
        return Err(Failure::Call("`--items` goes with logs of Open Bandit only".to_owned()));
    }
    Ok(())
}

/// Files that both summaries hold.
fn shared_files(one: &Summary, other: &Summary) -> Vec<String> {
    one.files().keys().filter(|file| other.files().contains_key(*file)).cloned().collect()
}

fn progress(paths: &[PathBuf]) -> ProgressBar {
    let bytes = paths.iter().filter_map(|path| path.metadata().ok()).map(|about| about.len()).sum();
    let style =
        ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left");
    ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn print(arguments: &Arguments, summary: &Summary, output: &mut impl io::Write) -> io::Result<()> {
    let bytes = arguments.output.metadata().map_or(0, |about| about.len());
    if arguments.json {
        let report = Report {
            rows: summary.rows(),
            dimension: summary.dimension(),
            features: summary.names(),
            mean_reward: summary.mean_reward(),
            scale: summary.scale(),
            files: summary.files(),
            rejected: summary.rejected(),
            bytes,
        };
        serde_json::to_writer(&mut *output, &report)?;
        return writeln!(output);
    }
    writeln!(
        output,
        "{} of {}, {}, mean reward {}",
        many(summary.rows(), "row"),
        many(summary.files().len() as u64, "file"),
        many(summary.dimension() as u64, "feature"),
        crate::table::number(summary.mean_reward()),
    )?;
    for Rejected { reason, rows, first } in summary.rejected() {
        let first = if *rows == 1 { first.clone() } else { format!("the first: {first}") };
        writeln!(output, "left out: {} ({reason}; {first})", many(*rows, "row"))?;
    }
    writeln!(output, "wrote {} ({} kB)", arguments.output.display(), bytes.div_ceil(1000))?;
    writeln!(output, "next: truenorth audit {} --pilot LIVE_ROWS", arguments.output.display())
}

/// One or several: `1 row`, `1,200 rows`.
pub(crate) fn many(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// A count with its thousands apart.
pub(crate) fn thousands(count: u64) -> String {
    truenorth_report::thousands(&count.to_string())
}
