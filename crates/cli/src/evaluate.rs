//! `truenorth evaluate`: what another policy would have earned.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use truenorth_app::Error;
use truenorth_app::bandit::Told;
use truenorth_app::evaluate::{Evaluated, Request, Target, evaluate};
use truenorth_app::summarize::Asked;
use truenorth_evaluate::{Estimate, MOST_FEATURES};
use truenorth_logs::{Plan, Summary, expand};
use truenorth_report::numbers::{many, significant, with_error};

use crate::demo::wrapped;
use crate::experiment::waiting;
use crate::failure::Failure;
use crate::made;
use crate::output::json;
use crate::summarize::{FormatChoice, format};
use crate::table;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Logs with the probabilities of their actions, in the order of their decisions; quoted patterns are expanded
    #[arg(required = true, value_name = "LOGS")]
    logs: Vec<PathBuf>,
    /// Who is evaluated: uniform, field:NAME (its probabilities are in this field of every action), or a policy, such as
    /// truenorth, which decides every event before it learns what the log earned there (`truenorth help compare` lists their names)
    #[arg(long, value_name = "NAME", value_parser = target)]
    policy: Target,
    /// Earlier logs, as `truenorth summarize` wrote them: which features there are, and the head start of the policy
    #[arg(long, value_name = "SUMMARY")]
    summary: Option<PathBuf>,
    /// The policy never learns: it stays as the summary makes it
    #[arg(long, requires = "summary")]
    frozen: bool,
    /// Which features the model of rewards has, as a formula [default: made from the logs]
    #[arg(long, value_name = "FORMULA", conflicts_with = "summary")]
    model: Option<String>,
    /// Format of the logs: auto (by ending and content), csv, parquet, jsonl, arrow, vw, dsjson, obd or events
    #[arg(long, default_value = "auto", value_parser = format)]
    format: FormatChoice,
    /// Column of the reward, of a table
    #[arg(long, value_name = "NAME")]
    reward: Option<String>,
    /// Columns of a table that belong to the action, its id first; its actions are those that were taken anywhere in the logs
    #[arg(long, value_name = "FIELDS", default_value = "", hide_default_value = true)]
    action: String,
    /// Column of a table with the probability with which its action was taken
    #[arg(long, value_name = "NAME")]
    probability: Option<String>,
    /// Table of items that Open Bandit's rows refer to
    #[arg(long, value_name = "FILE")]
    items: Option<PathBuf>,
    /// Seed of policies that draw at random
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Rounds to come, for policies that need to know
    #[arg(long)]
    horizon: Option<u64>,
    /// Leave malformed events out and count them, instead of stopping at the first
    #[arg(long)]
    skip_malformed: bool,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

fn target(name: &str) -> Result<Target, String> {
    if name == "uniform" {
        return Ok(Target::Uniform);
    }
    if let Some(field) = name.strip_prefix("field:") {
        return Ok(Target::Field(field.to_owned()));
    }
    let policy =
        crate::reproduce::preset(name).map_err(|error| format!("{error}; also uniform, and field:NAME"))?;
    if policy.needs_certificate() {
        return Err(format!(
            "{name} has to be told how far the logs may have drifted, which cannot be done here; name another policy"
        ));
    }
    let told = Box::new(Told { policy: Some(policy), ..Told::default() });
    Ok(Target::Policy { told, frozen: false })
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let logs = expand(&arguments.logs)?;
    if let Some(folder) = logs.iter().find(|path| path.is_dir()) {
        return Err(Failure::folder(folder));
    }
    let probability = arguments.probability.as_deref();
    let asked = Asked {
        model: arguments.model.as_deref(),
        reward: arguments.reward.as_deref(),
        action: &arguments.action,
        ..Asked::default()
    };
    let mut plan = Plan { format: arguments.format.0, items: arguments.items.clone(), ..Plan::default() };
    plan.tolerance.skip_malformed = arguments.skip_malformed;
    asked.tell(&mut plan)?;
    // The probability is no feature.
    plan.selection = plan.selection.map(|selection| match probability {
        Some(column) => selection.without(column),
        None => selection,
    });
    let mut target = arguments.policy.clone();
    if let Target::Policy { told, frozen } = &mut target {
        (told.seed, told.horizon) = (Some(arguments.seed), arguments.horizon);
        *frozen = arguments.frozen;
    }
    let summary = arguments.summary.as_ref().map(Summary::read).transpose()?;
    let request = Request { logs: &logs, plan: &plan, summary: summary.as_ref(), probability, target };
    let bar = waiting("reading", &logs);
    let found = evaluate(&request);
    bar.finish_and_clear();
    let found = found.map_err(|error| match error {
        error @ Error::Logs(_) => Failure::Logs(error),
        error => error.into(),
    })?;
    if let Some(summed) = found.summed.as_ref().filter(|_| arguments.model.is_none()) {
        made::doubt(summed.recipe(), summed.fields_like_the_reward(), Vec::new());
    }
    if arguments.json { json(&found) } else { Ok(text(&found)) }
}

fn text(found: &Evaluated) -> String {
    let estimates = &found.estimates;
    let row = |name: &str, estimate: Option<Estimate>, what: &str| {
        let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), significant);
        let (value, lower, upper) =
            estimate.map_or((None, None, None), |e| (Some(e.value), e.lower, e.upper));
        let interval = lower.zip(upper).map_or_else(
            || "-".to_owned(),
            |(lower, upper)| format!("{} to {}", significant(lower), significant(upper)),
        );
        vec![name.to_owned(), number(value), interval, what.to_owned()]
    };
    let bare = |value| Estimate { value, stderr: None, lower: None, upper: None };
    let rows = [
        row("dr", found.dr, "doubly robust: weights and a model of rewards"),
        row("snips", Some(estimates.snips), "weights that sum to 1"),
        row("ips", Some(estimates.ips), "weights"),
        row("replay", estimates.replay, "where both agree; right only if the log chose uniformly"),
        row("direct", found.direct.map(bare), "the model alone, as good as it is"),
    ];
    let logged = estimates.logged;
    let earned =
        logged.stderr.map_or_else(|| significant(logged.value), |stderr| with_error(logged.value, stderr));
    let (largest, decisions) = (significant(estimates.largest_weight), estimates.decisions as u64);
    let worth = if estimates.intervals {
        let effective = many(rounded(estimates.effective), "decision");
        format!(
            "For {}, they are worth {effective} of its own; the largest weight is {largest}.",
            found.policy
        )
    } else {
        format!("The largest weight is {largest}.")
    };
    let mut text = format!(
        "{} would have earned, a decision:\n\n{}\nThe log earned {earned} in {}. {worth}\n",
        found.policy,
        table::text(["estimate", "value", "95 % interval", "by"], rows),
        many(decisions, "decision"),
    );
    if found.dr.is_none() {
        let few = format!("{} are too few for a model of rewards", many(decisions, "decision"));
        let large = format!(
            "a model of rewards has at most {MOST_FEATURES} features, but this one has {}; name a smaller one by --model",
            found.dimension
        );
        let why = if found.dimension > MOST_FEATURES { large } else { few };
        text += &wrapped(&format!("No dr and direct: {why}."));
    }
    if estimates.replay.is_none() {
        text += "No replay: the policy never takes the action that the log took.\n";
    }
    for (count, what) in
        [(found.without_reward, "without an action or a reward"), (found.left_out, "for want of a value")]
    {
        if count > 0 {
            let _ = writeln!(text, "Left out {}, {what}.", many(count, "event"));
        }
    }
    if let Some(first) = &found.first_malformed {
        let which = if found.malformed == 1 { "" } else { "the first: " };
        text += &wrapped(&format!("Left out {} ({which}{first}).", many(found.malformed, "malformed event")));
    }
    if !found.trusted {
        text += "\nNot to be relied on:\n";
        for warning in &estimates.warnings {
            text += &wrapped(&format!("- {warning}"));
        }
    }
    text
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of decisions")]
fn rounded(number: f64) -> u64 {
    number.round() as u64
}
