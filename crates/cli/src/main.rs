//! The command line of truenorth: the only crate that prints or exits.
//!
//! Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 the work
//! failed, 2 the call or its input is wrong.

mod audit;
mod bounds;
mod compare;
mod decide;
mod demo;
mod encode;
mod evaluate;
mod experiment;
mod failure;
mod figures;
mod hardness;
mod idea;
#[cfg(not(feature = "serve"))]
mod left_out;
#[cfg(feature = "serve")]
mod live;
mod made;
mod monitor;
mod output;
mod problem;
mod replay;
mod reproduce;
#[cfg(feature = "serve")]
mod serve;
mod shop;
mod summarize;
mod table;

use std::error::Error as _;
use std::io::{self, BufWriter, IsTerminal as _, Write as _};
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::failure::Failure;
#[cfg(not(feature = "serve"))]
use crate::left_out::{live, serve};

/// Reading events and answering them makes and drops many small things on many threads.
#[cfg(feature = "serve")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(feature = "serve")]
const AFTER_HELP: &str =
    "A newcomer starts with `truenorth demo`. Every command's help has examples to copy.";
#[cfg(not(feature = "serve"))]
const AFTER_HELP: &str = "A newcomer starts with `truenorth demo`. Every command's help has examples to copy. This build has no service; \
     `cargo install --path crates/cli` makes one that has.";

#[cfg(feature = "serve")]
const DEMO_EXAMPLES: &str = "Examples:\n  truenorth demo --out tour\n  truenorth demo --live\n  truenorth demo --live --visitors 1000 --rate 100 --listen 127.0.0.1:8800";
#[cfg(not(feature = "serve"))]
const DEMO_EXAMPLES: &str = "Example:\n  truenorth demo --out tour";

/// Turns old, biased logs into a head start for a live decision system.
#[derive(Debug, Parser)]
#[command(
    name = "truenorth",
    version,
    max_term_width = 100,
    after_help = AFTER_HELP
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// A tour: a shop's old log and this winter's visitors, from the files to a live decision, command by command
    #[cfg_attr(feature = "serve", doc = "")]
    #[cfg_attr(
        feature = "serve",
        doc = " With `--live`: the service with a simulated shop that calls it, and a page to watch."
    )]
    #[command(after_help = DEMO_EXAMPLES)]
    Demo {
        /// Folder for the shop's files, the page and the pictures
        #[arg(long, value_name = "DIR", default_value = "demo")]
        out: PathBuf,
        #[command(flatten)]
        live: live::Arguments,
    },
    /// Turn logs of any size into a small summary; also merges summaries
    ///
    /// Reads CSV, JSON Lines (both also as .gz), Parquet, Arrow, Vowpal Wabbit text, JSON and dsjson, Open
    /// Bandit CSV, and events as JSON lines. Features keep their units; the summary remembers one scale that makes them at
    /// most 1 long.
    #[command(
        after_help = "Examples:\n  truenorth summarize demo/logs.csv --action item,price --reward bought -o logs.tn\n  truenorth summarize 'logs/*.parquet' --features 'f_*' --reward reward -o logs.tn\n  truenorth summarize clicks.csv.gz --features price --one-hot country --reward click -o c.tn\n  truenorth summarize l.csv --model 'price + user:item' --action item,price --reward click -o l.tn\n  truenorth summarize events.dsjson -o events.tn\n  truenorth summarize monday.tn tuesday.tn -o week.tn\n\ndemo/ is the folder that `truenorth demo` makes. docs/models.md says how formulas are written."
    )]
    Summarize(summarize::Arguments),
    /// Tell which features of the logs still hold, and how much the logs are worth
    ///
    /// Without live data it tells what the logs cover; with `--pilot`, also what has drifted since, and what playing by
    /// the logs would cost.
    #[command(
        after_help = "Examples:\n  truenorth audit demo/logs.tn\n  truenorth audit demo/logs.tn --pilot demo/live.csv --out report.html\n  truenorth audit logs.tn --pilot live.parquet --json | jq .verdict\n\ndemo/ is the folder that `truenorth demo` makes. docs/audit.md says what the numbers mean."
    )]
    Audit(audit::Arguments),
    /// Decide live: a bandit on standard input and output, a JSON line in, a JSON line out
    ///
    /// An event such as `{"context":{"customer":"family"},"actions":[{"id":"game","price":14},{"id":"novel","price":11}]}`
    /// is decided, and answered by `{"decision_id":"..","action":"game","probability":1,"mean":..}`. Its reward,
    /// `{"decision_id":"..","reward":1}`, is learned, once. An event with `action` and `reward` that this bandit did not
    /// decide is learned as a row of others. A line that is wrong is answered by `{"error":{"code":..,"message":..}}`.
    ///
    /// `mean`, `lcb` and `ucb` compare the actions of an event: estimates without what all rewards have in common, so that they may
    /// be negative. `branch` is what set `ucb`: online (live data), pooled or warm (logs as well), offline (logs alone).
    #[command(
        after_help = "Examples:\n  truenorth decide demo/logs.tn < demo/visit.jsonl\n  truenorth decide --model 'price + user:id' --policy truenorth-sampling\n  truenorth decide logs.tn --state bandit.tn --learn yesterday.csv < events.jsonl > answers.jsonl\n  truenorth decide --state bandit.tn --renew < /dev/null\n\ndemo/ is the folder that `truenorth demo` makes. docs/models.md says how formulas are written."
    )]
    Decide(decide::Arguments),
    /// Serve decisions over HTTP, with a page: durable, in one folder of data
    ///
    /// Everything is kept in one folder, and an answered call survives a crash at any moment: start it again with the same folder,
    /// and it goes on. Ctrl-C ends it. A bandit is made by --bandit here, or by a call.
    #[command(
        after_help = "Examples:\n  truenorth serve --data live --bandit shop=demo/logs.tn\n  truenorth serve --data live --bandit news=logs.tn --bandit 'ads=item:(1 + hour)'\n  truenorth serve --data live --listen 0.0.0.0:8700 --token SECRET\n\nA decision of the first:\n  curl http://127.0.0.1:8700/v1/bandits/shop/decisions -H 'content-type: application/json' \\\n    -d '{\"context\":{\"customer\":\"student\"},\"actions\":[\n      {\"id\":\"game\",\"features\":{\"price\":14}},{\"id\":\"novel\",\"features\":{\"price\":9}}]}'\n\ndemo/ is the folder that `truenorth demo` makes. The page is at http://127.0.0.1:8700, a bandit at http://127.0.0.1:8700/v1/bandits/shop.\nAll calls are in docs/service.md, and at /openapi.json of the service. docs/models.md says how formulas are written."
    )]
    #[cfg_attr(not(feature = "serve"), command(hide = true))]
    Serve(serve::Arguments),
    /// Check that the data folder of a service is whole: read its journal again and compare
    ///
    /// The service may run meanwhile. Exit code 0 if the folder is whole, 1 and what is wrong if it is not.
    #[command(
        after_help = "Examples:\n  truenorth verify live\n  truenorth verify restored && truenorth serve --data restored"
    )]
    #[cfg_attr(not(feature = "serve"), command(hide = true))]
    Verify {
        /// The service's folder: what `serve --data` was given
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Estimate what another policy would have earned, from logs with the probabilities of their actions
    ///
    /// Replay, inverse propensity scores, the same self-normalised, and doubly robust, each with a 95 % interval and a warning
    /// where it cannot be relied on; beside them the model of rewards alone.
    #[command(
        after_help = "Examples:\n  truenorth evaluate demo/events.jsonl --policy uniform\n  truenorth evaluate demo/events.jsonl --policy truenorth\n  truenorth evaluate events.jsonl --policy offline-only --summary logs.tn\n  truenorth evaluate events.jsonl --policy field:new_probability --json\n  truenorth evaluate clicks.csv --policy uniform --action item --reward click --probability p\n\ndemo/ is the folder that `truenorth demo` makes; its events.jsonl is last summer's log as events. docs/evaluate.md says what the numbers mean, docs/models.md how formulas are written."
    )]
    Evaluate(evaluate::Arguments),
    /// Watch live events: has the world moved on since they began, and which feature?
    ///
    /// Look as often as you like: the probability that it ever raises a false alarm is at most the level.
    #[command(
        after_help = "Examples:\n  truenorth monitor demo/live.csv --summary demo/logs.tn\n  truenorth monitor live.jsonl --model 'price + segment:id' --out evidence.svg\n  truenorth monitor live.jsonl --summary logs.tn --json | jq .moved\n\ndemo/ is the folder that `truenorth demo` makes. docs/monitoring.md says how, and what it cannot see; docs/models.md says how formulas are written."
    )]
    Monitor(monitor::Arguments),
    /// Show the rows that a policy would see: raw events in, named features out, as JSON lines
    ///
    /// Events are JSON lines with `context` and `actions`, or anything else that `summarize` reads. A line of the output is
    /// an event: `actions`, each with its `id` and the `features` that are not 0. Of a table, each row is an event of one action.
    #[command(
        after_help = "Examples:\n  truenorth encode demo/logs.tn demo/live.csv | head -3\n  truenorth encode demo/logs.tn < demo/visit.jsonl\n\ndemo/ is the folder that `truenorth demo` makes. docs/models.md says how formulas and events are written."
    )]
    Encode(encode::Arguments),
    /// Play policies against recorded rounds in which every action's reward is known
    ///
    /// The rows of a live round share a value of the round column. Each seed puts the rounds, and the actions
    /// of each, in another order. Features are divided by one number so that the longest vector has length 1.
    #[command(
        after_help = format!("{}\n\nExample:\n  truenorth compare --offline demo/logs.tn --online demo/live.csv --reward bought --round round\n\ndemo/ is the folder that `truenorth demo` makes. docs/models.md says how formulas are written.", compare::policies_help())
    )]
    Compare(compare::Arguments),
    /// Play the paper's studies, draw its figures and print the final regret of every policy
    ///
    /// The paper is "Direction-Aware Offline-to-Online Learning in Linear Contextual Bandits". `all` plays its four studies;
    /// misleading, shifting and wide go beyond it.
    ///
    /// Writes <figure>.svg, <figure>.png and results.json. Ctrl-C keeps the runs that are finished; the
    /// same command goes on from them (not for hardness, which takes seconds).
    #[command(
        after_help = "Examples:\n  truenorth reproduce main --runs 10\n  truenorth reproduce all --out paper\n  truenorth reproduce ablation --policies suplinucb,oful --as-printed"
    )]
    Reproduce(reproduce::Arguments),
    /// Play any experiment that a TOML file describes
    ///
    /// Writes <name>.svg, <name>.png and results.json. Ctrl-C keeps the runs that are finished; the same
    /// command goes on from them.
    #[command(
        after_help = "Example, in the clone:\n  truenorth simulate experiments/seasonal-drift.toml --out seasonal\n\nThe file is described in docs/experiments.md."
    )]
    Simulate {
        /// The file that describes the experiment
        #[arg(value_name = "EXPERIMENT.toml")]
        file: PathBuf,
        /// Runs of each panel, instead of the file's
        #[arg(long)]
        runs: Option<u64>,
        #[command(flatten)]
        work: reproduce::Work,
    },
    /// Print the paper's bounds as numbers, next to what was measured
    ///
    /// The paper is "Direction-Aware Offline-to-Online Learning in Linear Contextual Bandits".
    #[command(
        after_help = "Examples:\n  truenorth bounds study main\n  truenorth bounds summary demo/logs.tn --certificate demo/audit.certificate.toml\n  truenorth bounds problem crates/cli/tests/golden/ellipsoidal-fixed-diagonal\n  truenorth bounds lower --horizon 10000 --smallest-subset 2 --counts 90,90,0 --budgets 0.1,0.1,0.5\n\ndemo/ is the folder that `truenorth demo` makes. crates/ is a folder of the clone. docs/experiments.md says what the columns mean."
    )]
    Bounds(bounds::Arguments),
    /// Play one recorded problem and print one JSON line a round
    ///
    /// The folder holds problem.json (the policy's switches), offline.csv (the logs: features, then a
    /// column `reward`) and rounds.jsonl (one round a line: `actions`, a list of feature vectors, and
    /// `rewards`, what each action would have paid; null for a reward that never came).
    #[command(
        after_help = "Example, in the clone:\n  truenorth replay --problem crates/cli/tests/golden/suplinucb"
    )]
    Replay {
        /// Folder of the problem
        #[arg(long, value_name = "DIR")]
        problem: PathBuf,
    },
}

fn main() -> ExitCode {
    let cli = match with_negative_numbers(Cli::command()).try_get_matches() {
        Ok(matches) => Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()),
        Err(error) => {
            let Some(sentence) = wrong_value(&error) else { error.exit() };
            eprintln!("truenorth: {sentence}");
            return ExitCode::from(2);
        }
    };
    let mut output = BufWriter::new(io::stdout().lock());
    let (input, typed) = (io::stdin().lock(), io::stdin().is_terminal());
    match run(&cli, input, typed, &mut output).and_then(|()| output.flush().map_err(Failure::Output)) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has seen enough, as in `truenorth replay ... | head`.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            // What was printed before the failure is good data, and must not be lost with it.
            let _ = output.flush();
            eprintln!("truenorth: {failure}");
            ExitCode::from(failure.code())
        }
    }
}

/// A negative number behind an option is its value, and no option of its own.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let negative = |argument: clap::Arg| {
        if argument.is_positional() || !argument.get_action().takes_values() {
            argument
        } else if argument.get_value_delimiter().is_some() {
            argument.allow_hyphen_values(true)
        } else {
            argument.allow_negative_numbers(true)
        }
    };
    command.mut_args(negative).mut_subcommands(with_negative_numbers)
}

/// What is wrong with the value of an option, in a sentence that names both; none of what is wrong otherwise.
fn wrong_value(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::ValueValidation {
        return None;
    }
    let [option, value] = [ContextKind::InvalidArg, ContextKind::InvalidValue]
        .map(|kind| error.get(kind).map(ToString::to_string));
    let (option, value) = (option?, value?);
    let option = option.split(' ').next()?;
    let source = error.source()?;
    let whole = source.downcast_ref::<ParseIntError>().map(ParseIntError::kind);
    let said = source.to_string();
    let reason = match (whole, said.split_once(" is not in ").map(|(_, range)| range)) {
        (Some(IntErrorKind::PosOverflow), _) => format!("{value} is too large"),
        (Some(_), _) => format!("{value:?} is not a whole number from 0 on"),
        (None, Some(range)) => match range.split_once("..=") {
            Some((low, high)) => format!("{value} is not from {low} to {high}"),
            None => format!("{value} is below {}", range.split("..").next().unwrap_or_default()),
        },
        _ if source.is::<ParseFloatError>() => format!("{value:?} is not a number"),
        _ if said.contains(&value) => said,
        _ => return Some(format!("`{option}` {value:?}: {said}")),
    };
    Some(format!("`{option}`: {reason}"))
}

/// What a command prints, for the demo, which runs the commands that it shows.
fn printed(words: &[&str], input: &str) -> Result<String, Failure> {
    let cli = Cli::try_parse_from(["truenorth"].iter().chain(words))
        .map_err(|error| Failure::Call(error.to_string()))?;
    let mut output = Vec::new();
    run(&cli, input.as_bytes(), false, &mut output)?;
    Ok(String::from_utf8_lossy(&output).into_owned())
}

/// Runs a command; whether its input is typed at a terminal, a bandit has to know.
fn run(cli: &Cli, input: impl io::BufRead, typed: bool, output: &mut impl io::Write) -> Result<(), Failure> {
    let printed = match &cli.command {
        Command::Demo { out, live, .. } if live.live => return live::run(live, out, output),
        Command::Demo { out, .. } => demo::run(out)?,
        // Round by round: there may be many.
        Command::Replay { problem } => return replay::run(problem, output),
        Command::Encode(arguments) => return encode::run(arguments, input, output),
        Command::Decide(arguments) => return decide::run(arguments, input, typed, output),
        Command::Serve(arguments) => return serve::run(arguments, output),
        Command::Verify { folder } => serve::verify(folder)?,
        Command::Reproduce(arguments) => reproduce::run(arguments)?,
        Command::Simulate { file, runs, work } => {
            reproduce::run_figures(&[truenorth_app::experiment::read(file, *runs)?], work)?
        }
        Command::Compare(arguments) => compare::run(arguments)?,
        Command::Audit(arguments) => audit::run(arguments)?,
        Command::Evaluate(arguments) => evaluate::run(arguments)?,
        Command::Monitor(arguments) => monitor::run(arguments)?,
        Command::Summarize(arguments) => summarize::run(arguments)?,
        Command::Bounds(arguments) => bounds::run(arguments)?,
    };
    output.write_all(printed.as_bytes()).map_err(Failure::Output)
}
