//! `truenorth audit`: which directions of the logs can be trusted, how much they are worth, which certificate to
//! use.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use truenorth::theory::{FallbackParams, OnlineFallback};
use truenorth_audit::{Audit, Options, Pilot, audit, certificate_toml, page};
use truenorth_logs::{Layout, Problem, Recipe, Summary};

use crate::failure::Failure;
use crate::output::{check_apart, check_file, write_whole};
use crate::summarize::{FormatChoice, format, many, thousands};
use crate::table;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The logs, as `truenorth summarize` wrote them
    #[arg(value_name = "SUMMARY")]
    summary: PathBuf,
    /// A little live data to test the logs with: rows with the same columns, or a summary of them
    #[arg(long, value_name = "FILE")]
    pilot: Option<PathBuf>,
    /// Column that says which rows of the pilot are a round, whose errors may be correlated
    /// [default: the column `round`, if there is one]
    #[arg(long, value_name = "NAME", requires = "pilot")]
    round: Option<String>,
    /// Format of the pilot: auto (by ending and content), csv, parquet, jsonl, arrow, vw, dsjson or obd
    #[arg(long, default_value = "auto", value_parser = format)]
    format: FormatChoice,
    /// The report, one page of HTML; beside it, certificate.toml
    #[arg(long, value_name = "REPORT.html")]
    out: Option<PathBuf>,
    /// Where to write the certificate, instead of beside the report
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Probability of a false alarm over all features together
    #[arg(long, default_value_t = Options::default().level, allow_negative_numbers = true)]
    level: f64,
    /// Drift that does not matter: how far it may move a typical reward, in standard deviations of the noise
    #[arg(long, default_value_t = Options::default().margin, allow_negative_numbers = true)]
    margin: f64,
    /// Length of the drift to assume where none is measured, in the units of the columns
    /// [default: 0.3 times the length of the logs' coefficients]
    #[arg(long, value_name = "RHO", allow_negative_numbers = true)]
    drift: Option<f64>,
    /// Rounds that will be played, for the paper's bounds
    #[arg(long, default_value_t = Options::default().horizon, value_parser = clap::value_parser!(u64).range(2..=1_000_000_000_000))]
    horizon: u64,
    /// Actions a round, for the paper's bounds
    #[arg(long, default_value_t = Options::default().actions)]
    actions: usize,
    /// C_SL of the online fallback, which the paper leaves open
    #[arg(long, default_value_t = Options::default().constant, allow_negative_numbers = true)]
    constant: f64,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, output: &mut impl io::Write) -> Result<(), Failure> {
    let beside = arguments.out.as_ref().map(|report| report.with_file_name("certificate.toml"));
    let certificate = arguments.certificate.as_ref().or(beside.as_ref());
    check_files(arguments, certificate)?;
    let summary = Summary::read(&arguments.summary)?;
    let wrong = |error: truenorth::Error| Failure::in_file(&arguments.summary, error);
    let logs = summary.statistic().map_err(wrong)?;
    let pilot = arguments.pilot.as_deref().map(|path| read_pilot(arguments, &summary, path)).transpose()?;
    let options = Options {
        level: arguments.level,
        margin: arguments.margin,
        drift: arguments.drift,
        horizon: arguments.horizon,
        actions: arguments.actions,
        constant: arguments.constant,
    };
    let names = summary.names();
    let found =
        bounded(&options).and_then(|()| audit(&logs, &names, summary.scale(), pilot.as_ref(), &options));
    let found = found.map_err(|error| match error {
        truenorth::Error::Parameter { .. } => Failure::Call(error.to_string()),
        error => wrong(error),
    })?;
    let source = arguments.summary.display().to_string();
    if let Some(path) = certificate {
        let text = certificate_toml(&found.certificate, &names, &source);
        write_whole(path, text.as_bytes())?;
        eprintln!("wrote {}", path.display());
    }
    if let Some(path) = &arguments.out {
        // Buckets of a hash say little without what fell into them.
        let mut labelled = found.clone();
        for (feature, label) in labelled.features.iter_mut().zip(summary.labels()) {
            feature.name = label;
        }
        let html = page(&labelled, &source).map_err(Failure::drawing("the report"))?;
        write_whole(path, html.as_bytes())?;
        eprintln!("wrote {}", path.display());
    }
    if arguments.json {
        serde_json::to_writer(&mut *output, &found).map_err(|error| Failure::Output(error.into()))?;
        writeln!(output).map_err(Failure::Output)
    } else {
        write!(output, "{}", text(&found, &summary)).map_err(Failure::Output)
    }
}

/// Both files can be written, and none over another.
fn check_files(arguments: &Arguments, certificate: Option<&PathBuf>) -> Result<(), Failure> {
    for path in arguments.out.iter().chain(certificate) {
        for input in [&arguments.summary].into_iter().chain(&arguments.pilot) {
            check_apart(path, input)?;
        }
        check_file(path)?;
    }
    match (&arguments.out, certificate) {
        (Some(report), Some(path)) if report == path => {
            let same = path.display();
            Err(Failure::Call(format!("{same} cannot be both the report and the certificate")))
        }
        _ => Ok(()),
    }
}

/// The theory would leave its bounds out without a word.
fn bounded(options: &Options) -> truenorth::Result<()> {
    let &Options { horizon, actions, constant, .. } = options;
    OnlineFallback::new(FallbackParams { horizon, actions, dimension: 1, delta_online: 0.5, constant })?;
    Ok(())
}

fn read_pilot(arguments: &Arguments, summary: &Summary, path: &Path) -> Result<Pilot, Failure> {
    if path.is_dir() {
        return Err(Failure::folder(path));
    }
    if Summary::is_summary(path) {
        if arguments.round.is_some() {
            return Err(Failure::in_file(path, "`--round` needs rows, but this is a summary of them"));
        }
        let live = Summary::read(path)?;
        summary.recipe().check_live(live.recipe()).map_err(|reason| Failure::in_file(path, reason))?;
        let known: BTreeSet<&str> = summary.features().iter().map(|feature| feature.name.as_str()).collect();
        let numbers = numbers(live.recipe()).len();
        let unknown = live.features().iter().skip(numbers).filter(|f| !known.contains(f.name.as_str()));
        warn_unknown(&many(unknown.count() as u64, "feature"), path);
        let statistic = live.statistic_as(summary).map_err(|error| Failure::in_file(path, error))?;
        return Ok(Pilot::Statistic(statistic));
    }
    if arguments.round.is_some() && matches!(summary.recipe().layout, Layout::Events { .. }) {
        return Err(Failure::in_file(path, "`--round` needs a table, but the logs are events"));
    }
    let read = |round: Option<&str>| summary.read_rows(path, arguments.format.0, round);
    let rows = match &arguments.round {
        Some(round) => read(Some(round)),
        None if summary.names().iter().any(|name| name == ROUND) => read(None),
        None => match read(Some(ROUND)) {
            Err(error) if matches!(&error.problem, Problem::NoColumn { name, .. } if name == ROUND) => {
                read(None)
            }
            rows => rows,
        },
    }?;
    warn_unknown(&(many(rows.unknown, "value") + " of features"), path);
    if rows.rejected > 0 {
        eprintln!("truenorth: {}: left out {}", path.display(), many(rows.rejected, "row"));
    }
    Ok(Pilot::Rows { features: rows.features, rewards: rows.rewards, rounds: rows.rounds })
}

/// `what` begins with its number.
fn warn_unknown(what: &str, path: &Path) {
    if !what.starts_with("0 ") {
        eprintln!("truenorth: {}: ignored {what} that the logs never had", path.display());
    }
}

/// Columns of numbers.
fn numbers(recipe: &Recipe) -> &[String] {
    match &recipe.layout {
        Layout::Table { numbers, .. } => numbers,
        Layout::Events { .. } => &[],
    }
}

/// Column that is taken for the rounds where none is named.
const ROUND: &str = "round";

/// Features that are printed, the most telling first; all are in the JSON and on the page.
const PRINTED: usize = 40;

fn text(audit: &Audit, summary: &Summary) -> String {
    let mut text = wrapped(&audit.verdict.sentence) + "\n";
    let labels = summary.labels();
    let tested = audit.pilot.is_some();
    let mut header = vec!["feature".to_owned(), "rows' worth".to_owned()];
    if tested {
        header.splice(1..1, ["verdict", "drift", "std err", "p"].map(str::to_owned));
        header.push("trust".to_owned());
    }
    let mut rows = vec![header];
    let mut order: Vec<usize> = (0..audit.features.len()).collect();
    if order.len() > PRINTED {
        let key = |&j: &usize| match &audit.features[j] {
            feature if tested => feature.p_value.unwrap_or(1.0),
            feature => feature.coverage,
        };
        order.sort_by(|a, b| key(a).total_cmp(&key(b)));
        let which = if tested { "that changed most clearly" } else { "that the logs know least" };
        let count = order.len();
        let _ = writeln!(text, "The {PRINTED} of {count} features {which}:\n");
        order.truncate(PRINTED);
    }
    for j in order {
        let feature = &audit.features[j];
        let mut row = vec![shortened(&labels[j]), table::number(feature.coverage)];
        if tested {
            let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), significant);
            row.splice(
                1..1,
                [
                    feature.standing().word().to_owned(),
                    number(feature.drift),
                    number(feature.stderr),
                    feature.p_value.map_or_else(|| "-".to_owned(), probability),
                ],
            );
            row.push(format!("{:.0} %", 100.0 * feature.trust));
        }
        rows.push(row);
    }
    text += &table::text(&rows);
    let _ = writeln!(
        text,
        "\n{}, {}, effective dimension {:.1}, noise {}, length of the coefficients {}",
        many(audit.rows, "row"),
        many(audit.dimension as u64, "feature"),
        audit.effective_dimension,
        significant(audit.noise),
        significant(audit.norm)
    );
    let worth = &audit.worth;
    let after = worth
        .after_pilot
        .map_or_else(String::new, |after| format!(", {} after the pilot", table::number(after)));
    text += &wrapped(&format!(
        "Worth in live rounds: {} if nothing has drifted, {} if coefficients have moved by {} in an unknown \
         direction{after}.",
        table::number(worth.unbiased),
        table::number(worth.under_stated_drift),
        significant(worth.stated_drift)
    ));
    if let Some(bounds) = &audit.bounds {
        text += &wrapped(&format!(
            "The paper's bounds for {} rounds of {} actions: {} with the logs, {} without; its condition for logs \
             that pay {}.",
            thousands(bounds.horizon),
            bounds.actions,
            table::number(bounds.with_logs),
            table::number(bounds.without_logs),
            if bounds.logs_pay { "holds" } else { "does not hold" }
        ));
    }
    if !audit.advice.is_empty() {
        text.push('\n');
    }
    for advice in &audit.advice {
        let lines = wrapped(&format!("* {advice}"));
        text += &(lines.trim_end().replace('\n', "\n  ") + "\n");
    }
    text
}

/// A name in a table: of a long one, the beginning and the end, which tell it from others.
fn shortened(name: &str) -> String {
    const MOST: usize = 48;
    let name: Vec<char> = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if name.len() <= MOST {
        return name.into_iter().collect();
    }
    let (start, end) = (&name[..MOST / 2], &name[name.len() - MOST / 2 + 1..]);
    start.iter().chain(&['…']).chain(end).collect()
}

/// Three digits that count, without a power of ten where that is readable.
fn significant(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-5..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 7")]
    let decimals = (2.0 - size.log10().floor()).clamp(0.0, 7.0) as usize;
    format!("{value:.decimals$}")
}

fn probability(p: f64) -> String {
    if p < 0.0001 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}

fn wrapped(text: &str) -> String {
    crate::demo::wrapped(text)
}
