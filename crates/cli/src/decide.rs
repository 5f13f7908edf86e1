//! `truenorth decide`: a bandit on standard input and output.

use std::io::{self, BufRead, Read as _, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};
use truenorth::{Certificate, Preset};
use truenorth_app::Error;
use truenorth_app::bandit::{self, Told};
use truenorth_bandit::{Bandit, Limits, Parts};
use truenorth_features::{Event, ID, Kind, Recipe, quoted};
use truenorth_logs::{Origin, Summary, expand};
use truenorth_report::numbers::many;

use crate::failure::Failure;
use crate::output::{check_apart, check_file};
use crate::summarize::warn;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The logs, as `truenorth summarize` wrote them; not needed with a state, or with --model
    #[arg(value_name = "SUMMARY")]
    summary: Option<PathBuf>,
    /// Start without logs, with the features of this formula; levels join as they come
    #[arg(long, value_name = "FORMULA", conflicts_with = "summary")]
    model: Option<String>,
    /// File of the bandit: read at the start if it is there, written at the end and now and then, whole or not at all
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Write the state after so many lines
    #[arg(long, value_name = "LINES", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..), requires = "state")]
    every: u64,
    /// First learn the rewards of these files, which others decided; any format that `summarize` reads
    #[arg(long, value_name = "FILES", num_args = 1..)]
    learn: Vec<PathBuf>,
    /// First add the logs of another summary
    #[arg(long, value_name = "SUMMARY")]
    add: Option<PathBuf>,
    /// First begin a new season: all that is known becomes the logs, of which some may hold no longer
    #[arg(long)]
    renew: bool,
    /// Policy [default: truenorth]
    #[arg(long, value_name = "NAME", value_parser = crate::reproduce::preset)]
    policy: Option<Preset>,
    /// Seed of policies that draw at random [default: 0]
    #[arg(long)]
    seed: Option<u64>,
    /// Standard deviation of the rewards' noise [default: estimated]
    #[arg(long, value_name = "SIGMA")]
    noise: Option<f64>,
    /// The coefficients are at most so long, as a vector, in the units of the fields [default: estimated]
    #[arg(long, value_name = "S")]
    norm_bound: Option<f64>,
    /// Probability that any interval ever fails, twice that with a learned certificate [default: 0.01]
    #[arg(long)]
    delta: Option<f64>,
    /// Rounds to come, for policies that need to know
    #[arg(long)]
    horizon: Option<u64>,
    /// Factor on every radius [default: the policy's own]
    #[arg(long, value_name = "FACTOR")]
    exploration_scale: Option<f64>,
    /// What a logged row is worth, in live rows [default: 1]
    #[arg(long, value_name = "SHARE")]
    discount: Option<f64>,
    /// Rounds after which a new season begins by itself
    #[arg(long, value_name = "ROUNDS")]
    season: Option<u64>,
    /// Rounds after which a reward counts half, for a world that moves slowly
    #[arg(long, value_name = "ROUNDS")]
    half_life: Option<f64>,
    /// How far coefficients may have moved since the logs, in the units of the fields, for policies that must be told
    /// (ellipsoidal-minucb, pooled-only)
    #[arg(long, value_name = "RHO")]
    drift: Option<f64>,
    /// What such policies are told instead: the file REPORT.certificate.toml of `truenorth audit --out REPORT.html`
    #[arg(long, value_name = "FILE", conflicts_with = "drift")]
    certificate: Option<PathBuf>,
    #[arg(long, value_name = "DECISIONS", help = format!("Decisions that may wait for their rewards; the oldest expires [default: {}]", Limits::default().open))]
    open: Option<usize>,
    #[arg(long, value_name = "ROUNDS", help = format!("Rounds that a decision may wait [default: {}]", Limits::default().age))]
    age: Option<u64>,
    #[arg(long, value_name = "FEATURES", help = format!("Features that may join beside those of the logs; those beyond share one for each term [default: {}]", Limits::default().joining))]
    joining: Option<usize>,
}

pub(crate) fn run(
    arguments: &Arguments,
    input: impl BufRead,
    typed: bool,
    output: &mut impl Write,
) -> Result<(), Failure> {
    if arguments.summary.is_none() && arguments.model.is_none() && arguments.state.is_none() {
        return Err(Failure::Call(
            "`decide` needs one of these: a summary of logs, `--model FORMULA` to start without logs, or `--state FILE` \
             to go on with a bandit"
                .to_owned(),
        ));
    }
    let summary = arguments.summary.as_ref().map(Summary::read).transpose()?;
    let mut bandit = begin(arguments, summary.as_ref())?;
    warn(bandit.recipe());
    prepare(arguments, summary.as_ref(), &mut bandit)?;
    if typed {
        eprintln!(
            "truenorth: type events, a line of JSON each, such as {}; Ctrl-D ends it",
            example(bandit.recipe(), bandit.names())
        );
    }
    let mut lines = Lines::new(input);
    let mut event = Event::default();
    let (mut since, mut unknown) = (0, bandit.unknown_fields().len());
    let (mut refused, mut first) = (0, 0);
    while let Some(line) = lines.next().map_err(Failure::Output)? {
        let answered = match line {
            Ok(line) if !line.starts_with('{') => {
                let sentence = "an event is an object in JSON, `{..}`; tables of what others decided are read by `--learn FILE`";
                Err(("invalid", sentence.to_owned()))
            }
            Ok(line) => bandit::answer(&mut bandit, line, &mut event),
            Err(reason) => Err(("invalid", reason)),
        };
        let answer = answered.unwrap_or_else(|(code, message)| {
            refused += 1;
            first = if refused == 1 { lines.number } else { first };
            bandit::refused(code, &format!("line {}: {message}", lines.number))
        });
        writeln!(output, "{answer}").and_then(|()| output.flush()).map_err(Failure::Output)?;
        for (name, _) in &bandit.unknown_fields()[unknown.min(bandit.unknown_fields().len())..] {
            eprintln!("truenorth: the model has no use for field `{name}`");
        }
        unknown = bandit.unknown_fields().len();
        since += 1;
        if let Some(path) = arguments.state.as_ref().filter(|_| since >= arguments.every) {
            bandit::write(&bandit, path)?;
            since = 0;
        }
    }
    if let Some(path) = &arguments.state {
        bandit::write(&bandit, path)?;
    }
    // Each has its answer, so the work is done; a file of answers may be looked at much later.
    if refused > 0 {
        eprintln!(
            "truenorth: refused {}, the first is line {first}; the answers say why",
            many(refused, "line")
        );
    }
    Ok(())
}

/// An event with every field of the recipe, such as a bandit with features of these names decides.
fn example<'a>(recipe: &Recipe, names: impl Iterator<Item = &'a str>) -> Value {
    let parts: Vec<&str> = names.flat_map(|name| name.split(':')).collect();
    let level = |field: &str, skipped: usize| {
        let mut levels: Vec<&str> =
            parts.iter().filter_map(|part| part.strip_prefix(field)?.strip_prefix('=')).collect();
        levels.sort_unstable();
        levels.dedup();
        levels.get(skipped).copied()
    };
    let id = recipe.id.as_deref().unwrap_or(ID);
    let [mut context, mut own] = [Map::new(), Map::new()];
    for field in recipe.model.fields().into_iter().filter(|field| *field != ID && *field != id) {
        let value = match recipe.kinds.get(field) {
            Some(Kind::Category) => json!(level(field, 0).unwrap_or("a")),
            _ => json!(1),
        };
        let belongs = recipe.action.as_ref().is_none_or(|action| action.contains(field));
        let place = if belongs { &mut own } else { &mut context };
        place.insert(field.to_owned(), value);
    }
    let action = |place: usize| {
        let name = level(id, place).unwrap_or(["a", "b"][place]);
        let mut action = own.clone();
        action.insert(ID.to_owned(), json!(name));
        Value::Object(action)
    };
    json!({"context": context, "actions": [action(0), action(1)]})
}

/// The bandit of the state, or a new one.
fn begin(arguments: &Arguments, summary: Option<&Summary>) -> Result<Bandit, Failure> {
    if let Some(path) = &arguments.state {
        for input in arguments.summary.iter().chain(&arguments.learn).chain(&arguments.add) {
            check_apart(path, input)?;
        }
        if path.exists() {
            let bandit = bandit::read(path)?;
            check_state(arguments, path, &bandit, summary)?;
            return Ok(bandit);
        }
        check_file(path)?;
    }
    let usual = Limits::default();
    let limits = Limits {
        open: arguments.open.unwrap_or(usual.open),
        age: arguments.age.unwrap_or(usual.age),
        joining: arguments.joining.unwrap_or(usual.joining),
    };
    let mut parts = match (summary, &arguments.model) {
        (Some(summary), _) => bandit::parts(summary)?,
        (None, Some(model)) => Parts::without_logs(model).map_err(Error::from)?,
        (None, None) => {
            let state = arguments.state.as_deref().unwrap_or(Path::new("the state"));
            return Err(Failure::in_file(state, "it is not there yet, so a summary or `--model` is needed"));
        }
    };
    parts.limits = limits;
    let certificate = certificate(arguments, summary)?;
    if let Some(policy) =
        arguments.policy.filter(|policy| policy.needs_certificate() && certificate.is_none())
    {
        let policy = policy.name();
        return Err(match summary {
            Some(_) => Error::NotTold { policy }.into(),
            None => Failure::Call(format!("policy {policy:?} plays by logs: name a summary of them")),
        });
    }
    let told = Told {
        policy: arguments.policy,
        noise: arguments.noise,
        norm_bound: arguments.norm_bound,
        delta: arguments.delta,
        horizon: arguments.horizon,
        exploration_scale: arguments.exploration_scale,
        discount: arguments.discount,
        season: arguments.season,
        half_life: arguments.half_life,
        seed: arguments.seed,
        certificate,
        fits_beside: None,
    };
    Ok(bandit::new(parts, told)?)
}

/// What is told beside a state that is there would be lost without a word.
fn check_state(
    arguments: &Arguments,
    path: &Path,
    bandit: &Bandit,
    summary: Option<&Summary>,
) -> Result<(), Failure> {
    let model = &bandit.recipe().model;
    let other = match (summary, &arguments.model) {
        (Some(summary), _) => Some(summary.recipe().model.clone()),
        (None, Some(text)) => {
            Some(Recipe::without_data(text.parse().map_err(Error::Model)?).map_err(Error::Model)?.model)
        }
        (None, None) => None,
    };
    if let Some(other) = other.filter(|other| !other.is_same(model)) {
        let reason =
            format!("the bandit has the model {}, but {} is asked for", quoted(model), quoted(other));
        return Err(Failure::in_file(path, reason));
    }
    let told = [
        ("policy", arguments.policy.is_some()),
        ("seed", arguments.seed.is_some()),
        ("noise", arguments.noise.is_some()),
        ("norm-bound", arguments.norm_bound.is_some()),
        ("delta", arguments.delta.is_some()),
        ("horizon", arguments.horizon.is_some()),
        ("exploration-scale", arguments.exploration_scale.is_some()),
        ("discount", arguments.discount.is_some()),
        ("season", arguments.season.is_some()),
        ("half-life", arguments.half_life.is_some()),
        ("drift", arguments.drift.is_some()),
        ("certificate", arguments.certificate.is_some()),
        ("open", arguments.open.is_some()),
        ("age", arguments.age.is_some()),
        ("joining", arguments.joining.is_some()),
    ];
    for (flag, _) in told.into_iter().filter(|(_, told)| *told) {
        eprintln!("truenorth: `--{flag}` is not used: {} has its own settings", path.display());
    }
    let added = arguments.add.as_ref();
    if let Some(logs) = arguments.summary.as_ref().filter(|logs| added != Some(logs) && is_newer(logs, path))
    {
        let (logs, state) = (logs.display(), path.display());
        eprintln!(
            "truenorth: {logs} is newer than {state}, but is not read again; `--add {logs}` adds it to the logs of {state}"
        );
    }
    let counts = bandit.counts();
    eprintln!(
        "truenorth: goes on from {}: {}, {}, {} open",
        path.display(),
        many(counts.decisions, "decision"),
        many(counts.rewards, "reward"),
        counts.open
    );
    Ok(())
}

/// Whether a file was written after another: what a state was made from was not.
fn is_newer(path: &Path, other: &Path) -> bool {
    let written = |path: &Path| path.metadata().and_then(|about| about.modified());
    matches!((written(path), written(other)), (Ok(path), Ok(other)) if path > other)
}

fn certificate(arguments: &Arguments, summary: Option<&Summary>) -> Result<Option<Certificate>, Failure> {
    let Some(summary) = summary else { return Ok(None) };
    if let Some(path) = &arguments.certificate {
        return Ok(Some(truenorth_app::certificate::read(path, Some(&summary.names()), 1.0)?));
    }
    let Some(rho) = arguments.drift else { return Ok(None) };
    truenorth::check::at_least_zero("drift", rho)?;
    Ok(Some(Certificate::isotropic(summary.dimension(), rho)?))
}

/// What is asked for before the first line.
fn prepare(arguments: &Arguments, summary: Option<&Summary>, bandit: &mut Bandit) -> Result<(), Failure> {
    if let Some(path) = &arguments.add {
        bandit::add_summary(bandit, &Summary::read(path)?)?;
    }
    if arguments.renew {
        bandit.renew().map_err(Error::from)?;
        eprintln!("truenorth: a new season begins");
    }
    if !arguments.learn.is_empty() {
        let files = expand(&arguments.learn)?;
        let like =
            summary.cloned().unwrap_or_else(|| Summary::empty(Origin::events(), bandit.recipe().clone()));
        let taught = bandit::learn_files(bandit, &files, &like)?;
        eprintln!("truenorth: learned {} that others decided", many(taught.learned, "row"));
        if taught.left_out > 0 {
            eprintln!("truenorth: left out {}, for want of a value", many(taught.left_out, "row"));
        }
    }
    Ok(())
}

/// Lines of a stream, which need not be text.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Number of the line that was read last, from 1.
    pub(crate) number: u64,
}

/// How long a line may be, in bytes.
const LONGEST: u64 = 64_000_000;

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), number: 0 }
    }

    /// The next line that is not blank, or why it cannot be read; none at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Result<&str, String>>> {
        loop {
            self.buffer.clear();
            self.number += 1;
            if self.reader.by_ref().take(LONGEST).read_until(b'\n', &mut self.buffer)? == 0 {
                return Ok(None);
            }
            if self.buffer.len() as u64 == LONGEST && self.buffer.last() != Some(&b'\n') {
                self.reader.skip_until(b'\n')?;
                return Ok(Some(Err(format!("the line is longer than {} MB", LONGEST / 1_000_000))));
            }
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
        }
        let text = std::str::from_utf8(self.buffer.trim_ascii());
        Ok(Some(text.map_err(|error| {
            format!("byte 0x{:02X} is not UTF-8 text", self.buffer.trim_ascii()[error.valid_up_to()])
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_is_shown_can_be_typed() {
        let folder = std::env::temp_dir().join(format!("truenorth-typed-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = |name: &str| folder.join(name).display().to_string();
        let (file, logs) = (path("logs.csv"), path("logs.tn"));
        std::fs::write(&file, crate::shop::logs()).unwrap();
        crate::printed(
            &["summarize", &file, "--action", "item,price", "--reward", "bought", "-o", &logs],
            "",
        )
        .unwrap();
        let summary = Summary::read(Path::new(&logs)).unwrap();
        let with_logs = bandit::parts(&summary).unwrap();
        let without = Parts::without_logs("log(price) + user.kind:id").unwrap();
        for (parts, shown) in [
            (
                with_logs,
                r#"{"actions":[{"id":"game","price":1},{"id":"novel","price":1}],"context":{"customer":"family"}}"#,
            ),
            (
                without,
                r#"{"actions":[{"id":"a","price":1,"user.kind":1},{"id":"b","price":1,"user.kind":1}],"context":{}}"#,
            ),
        ] {
            let mut bandit = bandit::new(parts, Told::default()).unwrap();
            let event = example(bandit.recipe(), bandit.names()).to_string();
            assert_eq!(event, shown);
            let answer = bandit::answer(&mut bandit, &event, &mut Event::default()).unwrap();
            assert!(answer.contains("\"action\":"), "{answer}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
