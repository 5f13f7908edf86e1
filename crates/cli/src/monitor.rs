//! `truenorth monitor`: whether the live world has moved on since its events began.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use truenorth_app::monitor::{Feature, Request, Watched, monitor};
use truenorth_logs::{Origin, Summary, expand};
use truenorth_report::numbers::{count, many, significant, with_error};
use truenorth_report::{AxisScale, Curves, CurvesPanel, Series, png};

use crate::experiment::waiting;
use crate::failure::Failure;
use crate::output::{check_apart, check_file, json, write_and_tell};
use crate::summarize::{FormatChoice, format};
use crate::table;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Live events with their actions and rewards, in the order of their decisions: what the service exports
    #[arg(required = true, value_name = "EVENTS")]
    events: Vec<PathBuf>,
    /// The logs that the bandit was made from, as `truenorth summarize` wrote them: which features there are
    #[arg(long, value_name = "SUMMARY")]
    summary: Option<PathBuf>,
    /// The model of a bandit without logs, as a formula
    #[arg(long, value_name = "FORMULA", conflicts_with = "summary")]
    model: Option<String>,
    /// Format of the events: auto (by ending and content), csv, parquet, jsonl, arrow, vw, dsjson, obd or events
    #[arg(long, default_value = "auto", value_parser = format)]
    format: FormatChoice,
    /// Probability of a false alarm, of any kind, however long and often one looks
    #[arg(long, default_value_t = 0.05)]
    level: f64,
    /// A picture of the evidence over time, .svg or .png
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// Features that are shown at most, beside those that moved.
const SHOWN: usize = 10;

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    if arguments.summary.is_none() && arguments.model.is_none() {
        return Err(Failure::Call(
            "`monitor` needs to know the features: `--summary SUMMARY` of the logs, or `--model FORMULA` of a bandit \
             without logs"
                .to_owned(),
        ));
    }
    let events = expand(&arguments.events)?;
    if let Some(folder) = events.iter().find(|path| path.is_dir()) {
        return Err(Failure::folder(folder));
    }
    if let Some(path) = &arguments.out {
        events.iter().chain(&arguments.summary).try_for_each(|input| check_apart(path, input))?;
        check_file(path)?;
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        if !matches!(ending.as_deref(), Some("svg" | "png")) {
            return Err(Failure::Call(format!("{}: the picture is an .svg or a .png", path.display())));
        }
    }
    let summary = match (&arguments.summary, &arguments.model) {
        (Some(path), _) => Summary::read(path)?,
        (None, model) => {
            let model = model.as_deref().unwrap_or_default().parse().map_err(truenorth_app::Error::Model)?;
            let recipe =
                truenorth_features::Recipe::without_data(model).map_err(truenorth_app::Error::Model)?;
            Summary::empty(Origin::events(), recipe)
        }
    };
    let request =
        Request { events: &events, format: arguments.format.0, summary: &summary, level: arguments.level };
    let bar = waiting("reading", &events);
    let watched = monitor(&request);
    bar.finish_and_clear();
    let watched = watched?;
    if watched.rounds == 0 && watched.without_reward > 0 && arguments.summary.is_none() {
        let (file, rows) = (events[0].display(), many(watched.without_reward, "event"));
        return Err(Failure::Call(format!(
            "{file}: none of {rows} has an action and a reward; columns of a table are known by --summary"
        )));
    }
    if let Some(path) = &arguments.out {
        draw(&watched, path)?;
    }
    if arguments.json { json(&watched) } else { Ok(text(&watched)) }
}

fn text(watched: &Watched) -> String {
    let mut text = format!("{}\n", verdict(watched));
    let mut order: Vec<&Feature> = watched.features.iter().collect();
    // Those that moved come first, and those on which nothing is bet yet last.
    order.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
    order.sort_by_key(|feature| (feature.moved.evidence.alarm.is_none(), feature.moved.since.is_none()));
    let moved = order.iter().filter(|feature| feature.moved.evidence.alarm.is_some()).count();
    let more = order.len().saturating_sub(moved.max(SHOWN));
    order.truncate(moved.max(SHOWN));
    let rows = order.iter().map(|feature| {
        let moved = &feature.moved;
        // Without an alarm, they are those of some chance.
        let since = moved.since.filter(|_| moved.evidence.alarm.is_some());
        vec![
            feature.name.clone(),
            significant(moved.evidence.evidence),
            significant(moved.evidence.needed),
            moved.evidence.alarm.map_or_else(|| "-".to_owned(), count),
            since.map_or_else(|| "-".to_owned(), count),
            since.map_or_else(|| "-".to_owned(), |_| with_error(moved.shift, moved.stderr)),
        ]
    });
    if watched.watching {
        text.push('\n');
        text += &table::text(["feature", "evidence", "needed", "alarm", "since", "shift"], rows);
        if more > 0 {
            let _ = writeln!(text, "... and {more} more; --json has all");
        }
        text += "\nevidence: what bets against \"nothing has moved\" made of 1; alarm, since: rounds; shift: of the coefficient, from since \
                 to alarm\n";
    }
    for (number, what) in
        [(watched.without_reward, "without an action or a reward"), (watched.left_out, "for want of a value")]
    {
        if number > 0 {
            let _ = writeln!(text, "left out {}, {what}", many(number, "event"));
        }
    }
    text
}

fn strength(feature: &Feature) -> f64 {
    feature.moved.evidence.evidence / feature.moved.evidence.needed
}

fn verdict(watched: &Watched) -> String {
    let rounds = many(watched.rounds, "round");
    let features = watched.features.len() as u64;
    if !watched.watching && watched.rounds < 2 * features {
        return format!(
            "{rounds} are too few to watch anything yet: they tell little of {}.",
            many(features, "feature")
        );
    }
    if !watched.watching {
        return format!("{rounds}: too few rewards that differ to watch anything yet.");
    }
    let evidence = watched.evidence;
    let Some(alarm) = evidence.alarm else {
        return format!(
            "Nothing is known to have moved in {rounds}: evidence {}, an alarm needs {}.",
            significant(evidence.evidence),
            significant(evidence.needed)
        );
    };
    let time = watched.time.as_ref().map(|time| format!(", {time}")).unwrap_or_default();
    let moved = watched.features.iter().filter(|feature| feature.moved.evidence.alarm.is_some());
    // What is named later may follow from what was named first.
    let first = moved.clone().min_by_key(|feature| feature.moved.evidence.alarm);
    let in_round = |feature: &Feature| {
        let alarm = feature.moved.evidence.alarm;
        alarm.map(|alarm| format!(", in round {}", count(alarm))).unwrap_or_default()
    };
    let which = match (first, moved.count()) {
        (None, _) => "no feature alone explains it so far".to_owned(),
        (Some(feature), 1) => format!("by itself, `{}` gave one{}", feature.name, in_round(feature)),
        (Some(feature), names) => {
            format!(
                "by themselves, {names} features gave one, `{}` the first{}",
                feature.name,
                in_round(feature)
            )
        }
    };
    format!(
        "The live world has moved on: all features together gave an alarm in round {} of {}{time}; {which}.",
        count(alarm),
        count(watched.rounds)
    )
}

fn draw(watched: &Watched, path: &Path) -> Result<(), Failure> {
    let x: Vec<f64> = watched.curve.iter().map(|(round, _)| *round as f64).collect();
    // Where there is so much of it, nobody needs to know how much.
    let most = 1e6;
    let evidence: Vec<f64> = watched.curve.iter().map(|(_, evidence)| evidence.clamp(1e-3, most)).collect();
    let y_label = if evidence.contains(&most) { "evidence, shown up to 1,000,000" } else { "evidence" };
    let needed = vec![watched.evidence.needed; x.len()];
    let series = vec![
        Series::new("evidence", x.clone(), evidence),
        Series::new(format!("needed: {}", significant(watched.evidence.needed)), x, needed),
    ];
    let panel = CurvesPanel { y_scale: AxisScale::Log, series, ..CurvesPanel::default() };
    let curves = Curves {
        title: "Evidence that the live world has moved on".to_owned(),
        x_label: "round".to_owned(),
        y_label: y_label.to_owned(),
        panels: vec![panel],
        ..Curves::default()
    };
    let svg = curves.svg().map_err(Failure::drawing("the picture"))?;
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png")) {
        let pixels = png(&svg, 2.0).map_err(Failure::drawing("the picture"))?;
        return write_and_tell(path, &pixels);
    }
    write_and_tell(path, svg.as_bytes())
}
