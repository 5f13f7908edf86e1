//! `truenorth decide`: a bandit on standard input and output.

use std::io::{self, BufRead, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Args;
use truenorth::{Certificate, Preset};
use truenorth_app::Error;
use truenorth_app::bandit::{self, Told};
use truenorth_bandit::{Bandit, Limits, Parts};
use truenorth_features::{Event, Recipe, quoted};
use truenorth_logs::{Origin, Summary, expand};
use truenorth_report::numbers::many;

use crate::experiment::waiting;
use crate::failure::Failure;
use crate::output::{check_apart, check_file};
use crate::summarize::warn_of;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The logs, as `truenorth summarize` wrote them; not needed with a state, or with --model
    #[arg(value_name = "SUMMARY")]
    summary: Option<PathBuf>,
    /// Start without logs, with the features of this formula; levels join as they come
    #[arg(long, value_name = "FORMULA", conflicts_with = "summary")]
    model: Option<String>,
    /// File of the bandit: read at the start if it is there; written at the end, on Ctrl-C and now and then, whole or not at all
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
    /// Policy, one of those that `truenorth help compare` lists [default: truenorth]
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
    /// How far coefficients may have moved since the logs, in the units of the fields: for policies that must be told
    /// (ellipsoidal-minucb, pooled-only, min-ucb); any other believes it instead of finding out
    #[arg(long, value_name = "RHO")]
    drift: Option<f64>,
    /// The same feature by feature: the file REPORT.certificate.toml of `truenorth audit --out REPORT.html`
    #[arg(long, value_name = "FILE", conflicts_with = "drift")]
    certificate: Option<PathBuf>,
    #[arg(long, value_name = "DECISIONS", help = format!("Open decisions: so many may wait for their rewards, and the oldest expires [default: {}]", Limits::default().open))]
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
        if let Some(summary) = arguments.learn.iter().find(|path| Summary::is_summary(path)) {
            let file = summary.display();
            return Err(Failure::Call(format!(
                "{file} is a summary, and no rows to learn: put it before `--learn`"
            )));
        }
        return Err(Failure::Call(
            "`decide` needs one of these: a summary of logs, `--model FORMULA` to start without logs, or `--state FILE` \
             to go on with a bandit"
                .to_owned(),
        ));
    }
    let summary = arguments.summary.as_ref().map(Summary::read).transpose()?;
    let mut bandit = begin(arguments, summary.as_ref())?;
    let warned = !bandit.warnings().is_empty();
    warn_of(&bandit.warnings());
    prepare(arguments, summary.as_ref(), &mut bandit)?;
    if typed {
        eprintln!(
            "truenorth: type events, a line of JSON each, such as {}; Ctrl-D ends it",
            bandit::example(bandit.recipe(), bandit.names())
        );
    }
    let bandit = Arc::new(Mutex::new(bandit));
    if let Some(path) = &arguments.state {
        keep_when_stopped(&bandit, path);
    }
    let talked = talk(arguments, &bandit, Lines::new(input), output, warned);
    // What was answered is kept, also where nobody hears the next answer.
    if let Some(path) = &arguments.state {
        bandit::write(&held(&bandit), path)?;
    }
    talked
}

/// Answers line by line.
fn talk(
    arguments: &Arguments,
    bandit: &Mutex<Bandit>,
    mut lines: Lines<impl BufRead>,
    output: &mut impl Write,
    mut warned: bool,
) -> Result<(), Failure> {
    let mut event = Event::default();
    let (mut since, mut unknown) = (0, held(bandit).unknown_fields().len());
    let (mut refused, mut first) = (0, 0);
    let before = held(bandit).counts().decisions;
    while let Some(line) = lines.next().map_err(Failure::Output)? {
        let answered = match line {
            Ok(line) if !line.starts_with('{') => {
                let sentence = "an event is an object in JSON, `{..}`; tables of what others decided are read by `--learn FILE`";
                Err(("invalid", sentence.to_owned()))
            }
            Ok(line) => bandit::answer(&mut held(bandit), line, &mut event),
            Err(reason) => Err(("invalid", reason)),
        };
        let answer = answered.unwrap_or_else(|(code, message)| {
            refused += 1;
            first = if refused == 1 { lines.number } else { first };
            bandit::refused(code, &format!("line {}: {message}", lines.number))
        });
        // Whoever does not read keeps nobody from ending the program.
        writeln!(output, "{answer}").and_then(|()| output.flush()).map_err(Failure::Output)?;
        let bandit = held(bandit);
        for (name, _) in &bandit.unknown_fields()[unknown.min(bandit.unknown_fields().len())..] {
            eprintln!("truenorth: the model has no use for field `{name}`");
        }
        unknown = bandit.unknown_fields().len();
        // Without logs, the first event shows which terms cannot change a choice.
        if !warned && bandit.counts().decisions > before {
            warned = true;
            warn_of(&bandit.warnings());
        }
        since += 1;
        if let Some(path) = arguments.state.as_ref().filter(|_| since >= arguments.every) {
            bandit::write(&bandit, path)?;
            since = 0;
        }
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

fn held(bandit: &Mutex<Bandit>) -> MutexGuard<'_, Bandit> {
    bandit.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From here on whoever ends the program, by Ctrl-C or as systems do, has the state written first: what was answered is in it.
fn keep_when_stopped(bandit: &Arc<Mutex<Bandit>>, path: &Path) {
    let (bandit, path) = (Arc::clone(bandit), path.to_owned());
    let keep = move |code: i32| {
        // Held to the end, so that no more lines are answered.
        let bandit = held(&bandit);
        match bandit::write(&bandit, &path) {
            Ok(()) => eprintln!("truenorth: wrote {}: {}", path.display(), so_far(&bandit)),
            Err(error) => eprintln!("truenorth: {error}"),
        }
        std::process::exit(code)
    };
    #[cfg(unix)]
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([signal_hook::consts::SIGTERM]) {
        let keep = keep.clone();
        std::thread::spawn(move || signals.forever().for_each(|signal| keep(128 + signal)));
    }
    // A second handler cannot be set, and none is.
    let _ = ctrlc::set_handler(move || keep(130));
}

/// What a bandit has done.
fn so_far(bandit: &Bandit) -> String {
    let counts = bandit.counts();
    let rows = match counts.rows {
        0 => String::new(),
        rows => format!(", {} of others", many(rows, "row")),
    };
    let joined = match counts.joined {
        0 => String::new(),
        joined => format!(", {} joined", many(joined as u64, "feature")),
    };
    format!(
        "{}, {}{rows}, {} open{joined}",
        many(counts.decisions, "decision"),
        many(counts.rewards, "reward"),
        counts.open
    )
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
    let told = certificate.is_some();
    match (arguments.policy, summary) {
        (Some(policy), None) if policy.needs_certificate() || policy == Preset::OfflineOnly => {
            let policy = policy.name();
            return Err(Failure::Call(format!("policy {policy:?} plays by logs: name a summary of them")));
        }
        (Some(policy), _) if policy.needs_certificate() && !told => {
            return Err(Error::NotTold { policy: policy.name() }.into());
        }
        _ => {}
    }
    let unused = [("drift", arguments.drift.is_some()), ("certificate", arguments.certificate.is_some())];
    for (flag, _) in unused.into_iter().filter(|(_, told)| *told && summary.is_none()) {
        eprintln!("truenorth: `--{flag}` is not used: there are no logs");
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
        fits_beside_from: None,
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
    } else if let (Some(logs), Some(file)) = (summary, &arguments.summary)
        && added != Some(file)
        && are_others(logs, bandit)
    {
        eprintln!(
            "truenorth: {} is not read: {} goes on with the logs that it has",
            file.display(),
            path.display()
        );
    }
    eprintln!("truenorth: goes on from {}: {}", path.display(), so_far(bandit));
    Ok(())
}

/// Whether a file was written after another: what a state was made from was not.
fn is_newer(path: &Path, other: &Path) -> bool {
    let written = |path: &Path| path.metadata().and_then(|about| about.modified());
    matches!((written(path), written(other)), (Ok(path), Ok(other)) if path > other)
}

/// Whether a summary has other logs than a bandit.
fn are_others(summary: &Summary, bandit: &Bandit) -> bool {
    let those = bandit.policy().logs();
    summary.unscaled_statistic().is_ok_and(|these| {
        these.count() != those.count() || these.sum_squares().to_bits() != those.sum_squares().to_bits()
    })
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
        let added = Summary::read(path)?;
        bandit::add_summary(bandit, &added)?;
        eprintln!("truenorth: added the logs of {}, {}", path.display(), many(added.rows(), "row"));
    }
    if arguments.renew {
        bandit.renew().map_err(Error::from)?;
        eprintln!("truenorth: a new season begins");
    }
    if !arguments.learn.is_empty() {
        let files = expand(&arguments.learn)?;
        let like =
            summary.cloned().unwrap_or_else(|| Summary::empty(Origin::events(), bandit.recipe().clone()));
        let bar = waiting("learning", &files);
        let taught = bandit::learn_files(bandit, &files, &like);
        bar.finish_and_clear();
        let taught = taught?;
        eprintln!("truenorth: learned {} that others decided", many(taught.learned, "row"));
        for (rows, why) in
            [(taught.without_reward, "without a reward"), (taught.left_out, "for want of a value")]
        {
            if rows > 0 {
                eprintln!("truenorth: left out {}, {why}", many(rows, "row"));
            }
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
            let event = bandit::example(bandit.recipe(), bandit.names()).to_string();
            assert_eq!(event, shown);
            let answer = bandit::answer(&mut bandit, &event, &mut Event::default()).unwrap();
            assert!(answer.contains("\"action\":"), "{answer}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
