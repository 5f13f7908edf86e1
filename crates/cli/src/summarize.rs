//! `truenorth summarize`: logs of any size to the offline statistic, a small file; also merges summaries.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use truenorth_app::Error;
use truenorth_app::summarize::{Asked, Summed, summarize};
use truenorth_audit::quoted;
use truenorth_features::Recipe;
use truenorth_logs::{BUCKETS, Format, Missing, Names, Origin, Plan, Rejected, Summary, Tolerance, expand};
use truenorth_report::numbers::{brief, many, significant};

use crate::failure::Failure;
use crate::made;
use crate::output::{check_apart, check_file, json};

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Arguments {
    /// Logs, or summaries to merge; quoted patterns such as 'logs/*.parquet' are expanded
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Which features there are: a formula over fields, such as 'price + segment:item'. Without it and without
    /// --features, --one-hot and --hash, one is made from the data and printed
    #[arg(long, value_name = "FORMULA")]
    model: Option<String>,
    /// Columns of a table that belong to the action, separated by commas, its id first. A name with a comma stands between
    /// backticks: '`price, net`,item'. So it does in --features, --one-hot and --hash
    #[arg(long, value_name = "FIELDS", default_value = "", hide_default_value = true)]
    action: String,
    /// Column of a table that says whether the action of a row was taken, where each row is an action
    #[arg(long, value_name = "NAME")]
    chosen: Option<String>,
    /// Columns of numbers: names and patterns such as 'f_*', separated by commas
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    features: String,
    /// Column of the reward
    #[arg(long, value_name = "NAME")]
    reward: Option<String>,
    /// The summary to write; it may be one that is read, but not a log
    #[arg(short, long, value_name = "SUMMARY")]
    output: PathBuf,
    /// Format of the files: auto (by ending and content), csv, parquet, jsonl, arrow, vw, dsjson, obd or
    /// events
    #[arg(long, default_value = "auto", value_parser = format)]
    format: FormatChoice,
    /// Columns of categories: each level becomes a feature `column=level`
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    one_hot: String,
    /// Columns of categories with too many levels: each `column=level` is hashed into a bucket
    #[arg(long, value_name = "LIST", default_value = "", hide_default_value = true)]
    hash: String,
    /// Number of buckets of --hash [default: 256]. With events, which have no columns: hash every name into so many, without a model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    buckets: Option<u32>,
    /// With events: every name is a feature as it stands, without a model
    #[arg(long, conflicts_with = "model")]
    keep_names: bool,
    /// Add a feature that is always 1; a model has it unless it says `0 +`
    #[arg(long)]
    intercept: bool,
    /// Values that are missing: stop at the first, leave the row out, take the column's mean, or 0
    #[arg(long, default_value = "refuse", value_parser = ["refuse", "drop", "mean", "zero"])]
    missing: String,
    /// Leave malformed rows out and count them, instead of stopping at the first
    #[arg(long)]
    skip_malformed: bool,
    /// Rewards outside of this range are malformed
    #[arg(long, value_name = "LOW,HIGH", value_delimiter = ',', num_args = 1)]
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
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormatChoice(pub(crate) Option<Format>);

pub(crate) fn format(name: &str) -> Result<FormatChoice, String> {
    truenorth_app::format(name)
        .map(FormatChoice)
        .map_err(|known| format!("there is no format {name:?}; the formats are {known}"))
}

/// What is printed with `--json`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    model: String,
    made: bool,
    left_out: &'a [String],
    warnings: Vec<String>,
    rows: u64,
    dimension: usize,
    features: Vec<String>,
    mean_reward: f64,
    scale: f64,
    files: &'a std::collections::BTreeMap<String, u64>,
    rejected: &'a [Rejected],
    bytes: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
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
    if logs.is_empty() && (plan.selection.is_some() || plan.model.is_some()) {
        let given = columns(arguments).join(", ");
        return Err(Failure::Call(format!(
            "only summaries are named, whose columns are settled: leave out {given}"
        )));
    }
    let is_made = !logs.is_empty()
        && summaries.is_empty()
        && plan.names == Names::Model
        && plan.model.is_none()
        && arguments.model.is_none()
        && [&*arguments.features, &arguments.one_hot, &arguments.hash].concat().is_empty();
    let progress = progress(&logs);
    let summed = summarize(&plan, &summaries, &logs, &|bytes| progress.inc(bytes));
    progress.finish_and_clear();
    let Summed { whole, twice } = summed.map_err(Failure::Logs)?;
    check_used(arguments, &whole)?;
    warn(whole.recipe());
    if is_made {
        made::doubt(whole.recipe(), whole.fields_like_the_reward(), whole.constant_fields());
        made::doubt_size(whole.recipe(), whole.features().len(), whole.clicks());
    }
    if whole.rows() > 1 && whole.is_constant() {
        eprintln!(
            "truenorth: all {} have the reward {}: they cannot tell one action from another",
            many(whole.rows(), "row"),
            brief(whole.mean_reward())
        );
    }
    for file in twice {
        eprintln!("truenorth: {file} is counted twice");
    }
    whole.write(&arguments.output).map_err(Error::write(&arguments.output))?;
    let bytes = arguments.output.metadata().map_or(0, |about| about.len());
    if !arguments.json {
        return Ok(text(&whole, &arguments.output, bytes, is_made));
    }
    json(&Report {
        model: whole.recipe().model.to_string(),
        made: is_made,
        left_out: &whole.recipe().left_out,
        warnings: whole.recipe().warnings(),
        rows: whole.rows(),
        dimension: whole.dimension(),
        features: whole.names(),
        mean_reward: whole.mean_reward(),
        scale: whole.scale(),
        files: whole.files(),
        rejected: whole.rejected(),
        bytes,
    })
}

fn plan(arguments: &Arguments) -> Result<Plan, Failure> {
    let asked = Asked {
        model: arguments.model.as_deref(),
        features: &arguments.features,
        one_hot: &arguments.one_hot,
        hash: &arguments.hash,
        reward: arguments.reward.as_deref(),
        action: &arguments.action,
        chosen: arguments.chosen.as_deref(),
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
        "zero" => Missing::Zero,
        _ => Missing::Refuse,
    };
    let names = match (arguments.keep_names, arguments.buckets) {
        (true, _) => Names::Kept,
        (false, Some(_)) => Names::Hashed,
        (false, None) => Names::Model,
    };
    let mut plan = Plan {
        format: arguments.format.0,
        selection: None,
        model: None,
        buckets: arguments.buckets.unwrap_or(BUCKETS),
        names,
        intercept: arguments.intercept,
        tolerance: Tolerance { missing, skip_malformed: arguments.skip_malformed, range },
        items: arguments.items.clone(),
        threads: usize::from(arguments.threads),
    };
    asked.tell(&mut plan)?;
    Ok(plan)
}

/// The options that say something of columns, as they are typed.
fn columns(arguments: &Arguments) -> Vec<&'static str> {
    let Arguments { model, reward, chosen, action, features, one_hot, hash, .. } = arguments;
    let given = [
        ("`--model`", model.is_some()),
        ("`--reward`", reward.is_some()),
        ("`--action`", !action.is_empty()),
        ("`--chosen`", chosen.is_some()),
        ("`--features`", !features.is_empty()),
        ("`--one-hot`", !one_hot.is_empty()),
        ("`--hash`", !hash.is_empty()),
    ];
    given.into_iter().filter(|(_, given)| *given).map(|(option, _)| option).collect()
}

/// The size of a file.
fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => many(bytes, "byte"),
        1000..1_000_000 => format!("{} kB", significant(bytes as f64 / 1e3)),
        _ => format!("{} MB", significant(bytes as f64 / 1e6)),
    }
}

/// Says which terms cannot change a choice.
pub(crate) fn warn(recipe: &Recipe) {
    warn_of(&recipe.warnings());
}

/// Says warnings; of many, the first.
pub(crate) fn warn_of(warnings: &[String]) {
    const SHOWN: usize = 3;
    for warning in warnings.iter().take(SHOWN) {
        eprintln!("truenorth: {warning}");
    }
    if warnings.len() > SHOWN {
        let others = warnings.len() - SHOWN;
        let verb = if others == 1 { "is" } else { "are" };
        eprintln!("truenorth: so {verb} {}", many(others as u64, "other term"));
    }
}

/// What was asked for must not be lost silently, because a summary or a format knows nothing of it.
fn check_used(arguments: &Arguments, summary: &Summary) -> Result<(), Failure> {
    if arguments.intercept && !summary.recipe().model.intercept {
        let reason = if arguments.model.is_some() { "the model has none" } else { "the summaries have none" };
        return Err(Failure::Call(format!("`--intercept` comes too late: {reason}")));
    }
    if arguments.items.is_some() && !matches!(summary.origin(), Origin::Events { items: Some(_), .. }) {
        return Err(Failure::Call("`--items` goes with logs of Open Bandit only".to_owned()));
    }
    Ok(())
}

fn progress(paths: &[PathBuf]) -> ProgressBar {
    let bytes = paths.iter().filter_map(|path| path.metadata().ok()).map(|about| about.len()).sum();
    let style =
        ProgressStyle::with_template("{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left");
    ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn text(summary: &Summary, path: &Path, bytes: u64, is_made: bool) -> String {
    let mut text = format!(
        "{} of {}, {}, mean reward {}\n",
        many(summary.rows(), "row"),
        many(summary.files().len() as u64, "file"),
        many(summary.dimension() as u64, "feature"),
        significant(summary.mean_reward()),
    );
    for Rejected { reason, rows, first } in summary.rejected() {
        let which = if *rows == 1 { "" } else { "the first: " };
        let _ = writeln!(text, "left out: {} ({reason}; {which}{first})", many(*rows, "row"));
    }
    if is_made {
        for line in made::told(summary.recipe(), &summary.names()) {
            text += &line;
            text.push('\n');
        }
    }
    let (path, size) = (path.display().to_string(), size(bytes));
    let named = quoted(&path);
    text + &format!(
        "wrote {path} ({size})\nnext: truenorth audit {named} --pilot LIVE_ROWS\n      truenorth decide {named} --state bandit.tn\n"
    )
}
