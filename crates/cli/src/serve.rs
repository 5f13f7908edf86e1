//! `truenorth serve` and `truenorth verify`: the decision service, and whether its folder is whole.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use truenorth_service::{Options, StoreError, serve};

use crate::failure::Failure;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Address and port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8700")]
    listen: SocketAddr,
    /// Folder of the journal; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "truenorth-data")]
    data: PathBuf,
    /// Token that calls must bring (`Authorization: Bearer ..`, or `Ocp-Apim-Subscription-Key`)
    #[arg(long, env = "TRUENORTH_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Token that is enough to look
    #[arg(long, env = "TRUENORTH_READ_TOKEN", hide_env_values = true, requires = "token")]
    read_token: Option<String>,
    /// A bandit that is made unless it is there: NAME=logs.tn starts it from a summary, NAME=FORMULA from a model alone
    #[arg(long, value_name = "NAME=SUMMARY", value_parser = bandit)]
    bandit: Vec<(String, String)>,
    /// Listen beyond this machine without a token: everybody may do everything
    #[arg(long)]
    open: bool,
}

fn bandit(told: &str) -> Result<(String, String), String> {
    let (name, made) = told.split_once('=').ok_or("say NAME=logs.tn, or NAME=FORMULA")?;
    Ok((name.to_owned(), made.to_owned()))
}

pub(crate) fn run(arguments: &Arguments, output: &mut impl Write) -> Result<(), Failure> {
    let Arguments { listen, data, token, read_token, bandit, open } = arguments;
    let options = Options {
        listen: *listen,
        data: data.clone(),
        token: token.clone(),
        read_token: read_token.clone(),
        open: *open,
        bandits: bandit.clone(),
    };
    let failed = |error: &dyn std::fmt::Display| Failure::Service(error.to_string());
    let runtime = tokio::runtime::Runtime::new().map_err(|error| failed(&error))?;
    runtime.block_on(async {
        let listening = serve(options).await.map_err(|error: StoreError| failed(&error))?;
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

/// Folds the journal of a folder anew.
pub(crate) fn verify(folder: &std::path::Path) -> Result<String, Failure> {
    let found = truenorth_service::verify(folder).map_err(|error| Failure::Service(error.to_string()))?;
    if found.problems.is_empty() {
        return Ok(format!(
            "{} is whole: {} bandits, {} records\n",
            folder.display(),
            found.bandits,
            found.records
        ));
    }
    Err(Failure::Service(format!("{}: {}", folder.display(), found.problems.join("; "))))
}
