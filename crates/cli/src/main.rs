//! The command line of truenorth: the only crate that prints or exits.
//!
//! Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 the work
//! failed, 2 the call or its input is wrong.

mod failure;
mod problem;
mod replay;

use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::failure::Failure;

/// Turns old, biased logs into a head start for a live decision system.
#[derive(Debug, Parser)]
#[command(name = "truenorth", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play one recorded problem and print one JSON line a round
    ///
    /// The folder holds problem.json (the policy's switches), offline.csv (the logs: features, then a
    /// column `reward`) and rounds.jsonl (one round a line: `actions`, a list of feature vectors, and
    /// `rewards`, what each action would have paid; null for a reward that never came).
    #[command(after_help = "Example:\n  truenorth replay --problem crates/cli/tests/golden/suplinucb")]
    Replay {
        /// Folder of the problem
        #[arg(long, value_name = "DIR")]
        problem: PathBuf,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut output = BufWriter::new(io::stdout().lock());
    match run(&cli, &mut output).and_then(|()| output.flush().map_err(Failure::Output)) {
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

fn run(cli: &Cli, output: &mut impl io::Write) -> Result<(), Failure> {
    match &cli.command {
        Command::Replay { problem } => replay::run(problem, output),
    }
}
