//! `truenorth serve` and `truenorth verify`: the decision service, and whether its folder is whole.

use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use truenorth_report::numbers::many;
use truenorth_service::{NotServed, Options, serve};

use crate::failure::Failure;

/// An address with its port; the machine may have a name.
pub(crate) fn address(text: &str) -> Result<SocketAddr, String> {
    let wrong = || match text.rsplit_once(':') {
        Some((_, port)) if port.parse::<u16>().is_err() => format!("{port:?} is no port; 0 to 65535 are"),
        Some((machine, _)) if text.matches(':').count() == 1 => format!("no machine is known as {machine:?}"),
        _ => "an address has a port, as in 127.0.0.1:8700 or localhost:8700".to_owned(),
    };
    text.to_socket_addrs().map_err(|_| wrong())?.next().ok_or_else(wrong)
}

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Address and port to listen at; beyond this machine only with --token or --open
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8700", value_parser = address)]
    listen: SocketAddr,
    /// Folder that keeps all bandits, decisions and rewards; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "truenorth-data")]
    data: PathBuf,
    /// Secret that every call must bring, as `Authorization: Bearer SECRET` or `Ocp-Apim-Subscription-Key: SECRET`
    #[arg(long, env = "TRUENORTH_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Another secret, for calls that only look
    #[arg(long, env = "TRUENORTH_READ_TOKEN", hide_env_values = true, requires = "token")]
    read_token: Option<String>,
    /// Make a bandit, unless the folder has it already: NAME=logs.tn starts from a summary of logs, NAME=FORMULA from a model
    /// without logs. May be given several times
    #[arg(long, value_name = "NAME=SUMMARY", value_parser = bandit)]
    bandit: Vec<(String, String)>,
    /// Open to everybody: listen beyond this machine without a token, so that whoever reaches it may do everything. A switch, not
    /// the number that `decide --open` takes
    #[arg(long)]
    open: bool,
    /// Forget decisions and rewards after so many days, above 0; what was learned from them stays
    #[arg(long, value_name = "DAYS")]
    keep_days: Option<f64>,
    /// Be one of several replicas, whose journal is a stream of NATS JetStream: nats://HOST:PORT[,HOST:PORT..]
    #[arg(long, value_name = "SERVERS")]
    journal: Option<String>,
    /// How messages are written, to standard error
    #[arg(long, value_enum, default_value = "text", env = "TRUENORTH_LOG")]
    log: Log,
    /// Which messages are written: these, and graver ones
    #[arg(long, value_name = "LEVEL", default_value = "info", env = "TRUENORTH_LOG_LEVEL", value_parser = ["error", "warn", "info", "debug"])]
    log_level: String,
}

/// How events of the service are written.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Log {
    /// Lines for people
    Text,
    /// JSON, a line each
    Json,
    /// Nothing
    Off,
}

/// Writes what happens to standard error. No call's body, token or query is ever part of it.
fn start_log(log: Log, level: &str) {
    let level = level.parse().unwrap_or(tracing_subscriber::filter::LevelFilter::INFO);
    let events =
        tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_target(false);
    // A second one in the same process, in tests, goes without.
    let _ = match log {
        Log::Text => events.with_ansi(false).try_init(),
        Log::Json => events.json().flatten_event(true).try_init(),
        Log::Off => return,
    };
}

fn bandit(told: &str) -> Result<(String, String), String> {
    let (name, made) = told.split_once('=').ok_or("say NAME=logs.tn, or NAME=FORMULA")?;
    Ok((name.to_owned(), made.to_owned()))
}

pub(crate) fn run(arguments: &Arguments, output: &mut impl Write) -> Result<(), Failure> {
    let Arguments { listen, data, token, read_token, bandit, open, keep_days, journal, log, log_level } =
        arguments;
    start_log(*log, log_level);
    let options = Options {
        listen: *listen,
        data: data.clone(),
        token: token.clone(),
        read_token: read_token.clone(),
        open: *open,
        bandits: bandit.clone(),
        keep_days: *keep_days,
        journal: journal.clone(),
    };
    let failed = |error: &dyn std::fmt::Display| Failure::Service(error.to_string());
    let runtime = tokio::runtime::Runtime::new().map_err(|error| failed(&error))?;
    runtime.block_on(async {
        let listening = serve(options).await.map_err(not_served)?;
        writeln!(output, "truenorth serves {} at http://{}", data.display(), listening.address)
            .and_then(|()| output.flush())
            .map_err(Failure::Output)?;
        listening.run(stopped()).await.map_err(|error| failed(&error))
    })
}

/// Done when somebody asks to stop.
pub(crate) async fn stopped() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! { _ = interrupt => {}, _ = terminate.recv() => {} }
            return;
        }
    }
    let _ = interrupt.await;
}

pub(crate) fn not_served(error: NotServed) -> Failure {
    match error {
        NotServed::Told(sentence) => Failure::Call(sentence),
        NotServed::Failed(error) => Failure::Service(error.to_string()),
    }
}

/// Folds the journal of a folder anew.
pub(crate) fn verify(folder: &std::path::Path) -> Result<String, Failure> {
    if !folder.is_dir() {
        let reason =
            if folder.exists() { "this is a file; a folder is needed" } else { "there is no such folder" };
        return Err(Failure::in_file(folder, reason));
    }
    let found = truenorth_service::verify(folder).map_err(|error| Failure::Service(error.to_string()))?;
    if found.problems.is_empty() {
        return Ok(format!(
            "{} is whole: {}, {}\n",
            folder.display(),
            many(found.bandits as u64, "bandit"),
            many(found.records.unsigned_abs(), "record")
        ));
    }
    Err(Failure::Service(format!("{}: {}", folder.display(), found.problems.join("; "))))
}
