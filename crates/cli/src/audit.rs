//! `truenorth audit`: which directions of the logs can be trusted, how much they are worth, which certificate to
//! use.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use truenorth_audit::{Audit, Feature, Options, Pilot, audit, page};
use truenorth_logs::{Problem, Summary};

use crate::certificate_file;
use crate::failure::Failure;
use crate::output::write_whole;
use crate::summarize::{FormatChoice, format, thousands};
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
    #[arg(long, value_name = "NAME")]
    round: Option<String>,
    /// Format of the pilot
    #[arg(long, default_value = "auto", value_parser = format)]
    format: FormatChoice,
    /// The report, one page of HTML; beside it, certificate.toml
    #[arg(long, value_name = "REPORT.html")]
    out: Option<PathBuf>,
    /// Where to write the certificate instead
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Probability of a false alarm over all features together
    #[arg(long, default_value_t = Options::default().level)]
    level: f64,
    /// Drift that does not matter: how far it may move a typical reward, in standard deviations of the noise
    #[arg(long, default_value_t = Options::default().margin)]
    margin: f64,
    /// Length of the drift to assume where none is measured, in the units of the columns
    /// [default: 0.3 times the length of the logs' coefficients]
    #[arg(long, value_name = "RHO")]
    drift: Option<f64>,
    /// Rounds that will be played, for the paper's bounds
    #[arg(long, default_value_t = Options::default().horizon, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    horizon: u64,
    /// Actions a round, for the paper's bounds
    #[arg(long, default_value_t = Options::default().actions)]
    actions: usize,
    /// C_SL of the online fallback, which the paper leaves open
    #[arg(long, default_value_t = Options::default().constant)]
    constant: f64,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments, output: &mut impl io::Write) -> Result<(), Failure> {
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
        audit(&logs, &names, summary.scale(), pilot.as_ref(), &options).map_err(|error| match error {
            truenorth::Error::Parameter { .. } => Failure::Call(error.to_string()),
            error => wrong(error),
        })?;
    let source = arguments.summary.display().to_string();
    let beside = arguments.out.as_ref().map(|report| report.with_file_name("certificate.toml"));
    if let Some(path) = arguments.certificate.as_ref().or(beside.as_ref()) {
        let text = certificate_file::text(&found.certificate, &names, &source);
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

fn read_pilot(arguments: &Arguments, summary: &Summary, path: &Path) -> Result<Pilot, Failure> {
    if Summary::is_summary(path) {
        let live = Summary::read(path)?;
        let statistic = live.statistic_as(summary).map_err(|error| Failure::in_file(path, error))?;
        return Ok(Pilot::Statistic(statistic));
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
    if rows.unknown > 0 {
        eprintln!(
            "truenorth: {} values of {} belong to features that the logs never had, and are ignored",
            thousands(rows.unknown),
            path.display()
        );
    }
    if rows.rejected > 0 {
        eprintln!("truenorth: {} rows of {} are left out", thousands(rows.rejected), path.display());
    }
    Ok(Pilot::Rows { features: rows.features, rewards: rows.rewards, rounds: rows.rounds })
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
        header.splice(1..1, ["verdict", "drift", "+/-", "p"].map(str::to_owned));
        header.push("trust".to_owned());
    }
    let mut rows = vec![header];
    let mut order: Vec<usize> = (0..audit.features.len()).collect();
    if order.len() > PRINTED {
        let key = |&j: &usize| audit.features[j].p_value.unwrap_or(1.0);
        order.sort_by(|a, b| key(a).total_cmp(&key(b)));
        text += &format!("The {PRINTED} most telling of {} features:\n\n", order.len());
        order.truncate(PRINTED);
    }
    for j in order {
        let feature = &audit.features[j];
        let mut row = vec![labels[j].clone(), table::number(feature.coverage)];
        if tested {
            let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), significant);
            row.splice(
                1..1,
                [
                    standing(feature).to_owned(),
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
    text += &format!(
        "\n{} rows, {} features, effective dimension {:.1}, noise {}, length of the coefficients {}\n",
        thousands(audit.rows),
        audit.dimension,
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
        text += &wrapped(&format!("* {advice}"));
    }
    text
}

fn standing(feature: &Feature) -> &'static str {
    match (feature.drifted, feature.equivalent) {
        (Some(true), Some(true)) => "drifted a little",
        (Some(true), _) => "drifted",
        (Some(false), equivalent) if equivalent == Some(true) || feature.trust >= 0.5 => "holds",
        (Some(false), _) => "undecided",
        (None, _) => "not tested",
    }
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
