//! `truenorth audit`: which directions of the logs can be trusted, how much they are worth, which certificate to
//! use.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use truenorth_app::audit::{Audited, LeftOut, Pilot, audit};
use truenorth_app::{Error, Source};
use truenorth_audit::{Audit, Options, PAPER, Step, next_steps};
use truenorth_logs::{Origin, Summary};
use truenorth_paper::theory::{FallbackParams, OnlineFallback};
use truenorth_report::numbers::{about, count, many, p_value, percent, significant};

use crate::demo::wrapped;
use crate::experiment::working;
use crate::failure::Failure;
use crate::output::{check_apart, check_file, json, write_and_tell};
use crate::summarize::{FormatChoice, format};
use crate::table;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The logs, as `truenorth summarize` wrote them
    #[arg(value_name = "SUMMARY")]
    summary: PathBuf,
    /// A little live data to test the logs with: rows with the same columns, a summary of them, or the events that the service exports
    #[arg(long, value_name = "FILE")]
    pilot: Option<PathBuf>,
    /// Column with the same value in all rows of one round of the pilot, whose errors may be correlated
    /// [default: the column `round`, if there is one]
    #[arg(long, value_name = "NAME", requires = "pilot")]
    round: Option<String>,
    /// Format of the pilot: auto (by ending and content), csv, parquet, jsonl, arrow, events, vw, dsjson or obd
    #[arg(long, default_value = "auto", value_parser = format, requires = "pilot")]
    format: FormatChoice,
    /// The report, one page of HTML; beside it the certificate, REPORT.certificate.toml
    #[arg(long, value_name = "REPORT.html")]
    out: Option<PathBuf>,
    /// Where to write the certificate, instead of beside the report
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    /// Probability of a false alarm over all features together
    #[arg(long, default_value_t = Options::default().level)]
    level: f64,
    /// What following the logs may cost and still count as harmless, as a share of what choosing well earns over
    /// choosing at random
    #[arg(long, default_value_t = Options::default().margin)]
    margin: f64,
    /// Length of the drift to assume where none is measured, in the units of the columns
    /// [default: 0.3 times the length of the logs' coefficients]
    #[arg(long, value_name = "RHO")]
    drift: Option<f64>,
    /// Rounds that will be played, for the worth and the bounds
    #[arg(long, default_value_t = Options::default().horizon, value_parser = clap::value_parser!(u64).range(2..=1_000_000_000_000))]
    horizon: u64,
    /// Number of actions in a round, for what following the logs would cost; not needed where the pilot has rounds
    #[arg(long, default_value_t = Options::default().actions)]
    actions: usize,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let beside = arguments.out.as_ref().map(|report| report.with_extension("certificate.toml"));
    let certificate = arguments.certificate.as_ref().or(beside.as_ref());
    check_files(arguments, certificate)?;
    let summary = Summary::read(&arguments.summary)?;
    crate::summarize::warn(summary.recipe());
    let audited = audited(arguments, &summary)?;
    let source = arguments.summary.display().to_string();
    let live = arguments.pilot.as_ref().map(|path| path.display().to_string());
    if let Some(path) = certificate {
        write_and_tell(path, audited.certificate_toml(&source).as_bytes())?;
    }
    if let Some(path) = &arguments.out {
        let html = audited.page(&source, live.as_deref()).map_err(Failure::drawing("the report"))?;
        write_and_tell(path, html.as_bytes())?;
    }
    if arguments.json {
        return json(&audited.found);
    }
    let mut printed = text(&audited.shown);
    printed.push_str("\nNext:\n");
    for Step { why, command } in next_steps(&audited.found, &source, live.as_deref()) {
        let _ = writeln!(printed, "{}  {command}", wrapped(&why));
    }
    Ok(printed)
}

/// Both files can be written, and none over another.
fn check_files(arguments: &Arguments, certificate: Option<&PathBuf>) -> Result<(), Failure> {
    for path in arguments.out.iter().chain(certificate) {
        for input in [&arguments.summary].into_iter().chain(&arguments.pilot) {
            check_apart(path, input)?;
        }
        check_file(path)?;
    }
    let kind = |path: &PathBuf| path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    if let Some(path) = &arguments.out
        && matches!(kind(path).as_deref(), Some("pdf" | "png" | "svg"))
    {
        return Err(Failure::Call(format!("{}: the report is a page, an .html", path.display())));
    }
    match certificate.filter(|_| arguments.out.as_ref() == certificate) {
        None => Ok(()),
        Some(path) => {
            let same = path.display();
            Err(Failure::Call(format!("{same} cannot be both the report and the certificate")))
        }
    }
}

fn audited(arguments: &Arguments, summary: &Summary) -> Result<Audited, Failure> {
    let &Arguments { level, margin, drift, horizon, actions, format, .. } = arguments;
    let options = Options { level, margin, drift, horizon, actions };
    let pilot = arguments.pilot.as_deref();
    if let Some(path) = pilot {
        check_pilot(path, arguments.round.is_some(), summary)?;
        if let Some(file) = own_file(path, summary)? {
            eprintln!(
                "truenorth: {file} is one of the files of these logs: this compares them with themselves"
            );
        }
    }
    let source = |path: &Path| {
        let source = Source::Path(path.to_owned());
        Pilot::Source { source, format: format.0, round: arguments.round.as_deref() }
    };
    // The theory would leave its bounds out without a word.
    let bounded = FallbackParams { horizon, actions, dimension: 1, delta_online: 0.5, constant: 1.0 };
    OnlineFallback::new(bounded)?;
    options.check()?;
    let bar = working(format!("auditing {}", many(summary.names().len() as u64, "feature")));
    let audited = audit(summary, pilot.map(source), &options).map_err(|error| match error {
        Error::Core(error) => Failure::in_file(&arguments.summary, error),
        error => error.into(),
    });
    bar.finish_and_clear();
    let audited = audited?;
    if let Some(path) = pilot {
        warn(path, &audited.left_out);
        if audited.lone_rows {
            eprintln!("truenorth: {}: {}", path.display(), lone_rows(&audited.found));
        }
    }
    Ok(audited)
}

/// What a pilot cannot be, and what it cannot have rounds of.
fn check_pilot(path: &Path, rounds: bool, summary: &Summary) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::folder(path));
    }
    if rounds && Summary::is_summary(path) {
        return Err(Failure::in_file(path, "`--round` needs rows, but this is a summary of them"));
    }
    if rounds && matches!(summary.origin(), Origin::Events { .. }) {
        return Err(Failure::in_file(path, "`--round` needs a table, but the logs are events"));
    }
    Ok(())
}

/// The file of the logs that a pilot is, or that it sums up.
fn own_file(pilot: &Path, summary: &Summary) -> Result<Option<String>, Failure> {
    if !Summary::is_summary(pilot) {
        return Ok(summary.has_file(pilot).then(|| pilot.display().to_string()));
    }
    // By name and number of rows: where they were may be gone.
    let live = Summary::read(pilot)?;
    Ok(live
        .files()
        .iter()
        .find(|(file, rows)| summary.files().get(*file) == Some(*rows))
        .map(|(file, _)| file.clone()))
}

/// Names in a sentence; of many, the first.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { shown + " and others" } else { shown }
}

/// What follows where a table has no rounds.
fn lone_rows(audit: &Audit) -> String {
    let among = audit.cost.map_or(String::new(), |cost| {
        let which = if cost.rounds == 1 { "different rows" } else { "rows at random" };
        format!(", and the cost is that of choosing among {:.0} {which}", cost.actions)
    });
    format!("no column of rounds (`--round NAME`): rows count as independent{among}")
}

fn warn(path: &Path, left_out: &LeftOut) {
    for (count, what, done, which) in [
        (left_out.features, "feature", "ignored", " that the logs never had".to_owned()),
        (
            left_out.values,
            "value",
            "ignored",
            format!(" of features that the logs never had: {}", listed(&left_out.unseen)),
        ),
        (left_out.rows, "row", "left out", String::new()),
    ] {
        if count > 0 {
            eprintln!("truenorth: {}: {done} {}{which}", path.display(), many(count, what));
        }
    }
}

/// Features that are printed, the most telling first; all are in the JSON and on the page.
const PRINTED: usize = 40;

fn text(audit: &Audit) -> String {
    let mut text = wrapped(&audit.verdict.sentence) + "\n";
    let tested = audit.pilot.is_some();
    let mut order: Vec<usize> = (0..audit.features.len()).collect();
    if order.len() > PRINTED {
        let key = |&j: &usize| match &audit.features[j].finding {
            finding if tested => finding.p_value.unwrap_or(1.0),
            finding => finding.coverage,
        };
        order.sort_by(|a, b| key(a).total_cmp(&key(b)));
        let which = if tested { "that changed most clearly" } else { "that the logs know least" };
        let _ = writeln!(text, "The {PRINTED} of {} {which}:\n", many(order.len() as u64, "feature"));
        order.truncate(PRINTED);
    }
    let rows = order.into_iter().map(|j| {
        let finding = &audit.features[j].finding;
        let (name, coverage) = (shortened(&audit.features[j].name), table::number(finding.coverage));
        if !tested {
            return vec![name, coverage];
        }
        let or_none = |shown: Option<String>| shown.unwrap_or_else(|| "-".to_owned());
        vec![
            name,
            finding.standing().word().to_owned(),
            or_none(finding.drift.map(significant)),
            or_none(finding.stderr.map(significant)),
            or_none(finding.p_value.map(|p| p_value(p, 4))),
            coverage,
            percent(finding.shown_trust(), " "),
        ]
    });
    let all = ["feature", "verdict", "drift", "std err", "p", "coverage", "trust"];
    text += &if tested { table::text(all, rows) } else { table::text([all[0], all[5]], rows) };
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
    let after = worth.after_pilot.zip(worth.interval).map(|(after, [low, high])| {
        let [after, low, high] = [after, low, high].map(about);
        format!(", {after} ({low} to {high}) with what the pilot found")
    });
    let worths = wrapped(&format!(
        "Worth in live rounds, to a policy that is told so: {} if nothing has drifted, {} if coefficients have moved by \
         {} in an unknown direction{}.",
        about(worth.unbiased),
        about(worth.under_stated_drift),
        significant(worth.stated_drift),
        after.unwrap_or_default()
    ));
    // Of nothing there is nothing to tell.
    text += if worth.unbiased > 0.0 { &worths } else { "" };
    if !audit.advice.is_empty() {
        text.push('\n');
    }
    for advice in &audit.advice {
        text += &(wrapped(&format!("* {advice}")).trim_end().replace('\n', "\n  ") + "\n");
    }
    if let Some(bounds) = &audit.bounds {
        text.push('\n');
        text += &wrapped(&format!("Bounds in the worst case, from the paper \"{PAPER}\":"));
        let rounds = count(bounds.horizon);
        text += &wrapped(&if bounds.say_nothing() {
            format!(
                "They say nothing here: they are for rewards in [0, 1], of which {rounds} rounds cannot lose more than {rounds}, \
                 and with the logs as without, the bound is above that."
            )
        } else {
            let [with, without] = [bounds.with_logs, bounds.without_logs].map(table::number);
            let pay = if bounds.logs_pay { "pay" } else { "do not pay" };
            format!(
                "{rounds} rounds of any number of actions lose at most {with} with the logs and {without} without, if rewards \
                 are in [0, 1]: by this yardstick the logs {pay}."
            )
        });
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
