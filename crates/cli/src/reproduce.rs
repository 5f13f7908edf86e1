//! `truenorth reproduce`: the paper's studies and ours, played and drawn.

use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use truenorth::Preset;
use truenorth_sim::{CertificateKind, Figure, NormBound, Reading, Study};

use crate::experiment::play_figures;
use crate::failure::Failure;
use crate::{figures, hardness};

/// Which figures: the paper's, or ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    Main,
    Bias,
    Ablation,
    Coverage,
    /// The paper's four figures
    All,
    /// Beyond the paper: fixed actions, and logs that are wrong about some of them
    Misleading,
    /// Beyond the paper: contexts that change over the run
    Shifting,
    /// Beyond the paper: 50 features, few of which have drifted
    Wide,
    /// The lower bounds: how regret must grow, and how it does
    Hardness,
}

/// What policies are told about the drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Told {
    /// How far each coordinate drifted
    Coordinate,
    /// How far the parameter drifted in all
    Isotropic,
}

/// How the work is done, for commands that play experiments.
#[derive(Debug, Args)]
pub(crate) struct Work {
    /// Folder for the figures and results.json
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// Threads; 0 takes all cores. The results are the same for any number
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024))]
    pub(crate) threads: u16,
    /// Print results.json instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Figure to reproduce
    #[arg(value_enum, default_value = "all")]
    figure: Which,
    /// Runs of each panel [default: 50; hardness: 64 and 32]
    #[arg(long)]
    runs: Option<u64>,
    /// Rounds of a run [default: 20000]
    #[arg(long)]
    horizon: Option<u64>,
    /// Base seed; with a run's number it determines everything that is drawn
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Policies to play instead of the study's own, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = preset)]
    policies: Option<Vec<Preset>>,
    /// Tell policies the printed norm bound S = 1, which the main study and the ablation break
    #[arg(long)]
    as_printed: bool,
    /// What policies that use the logs are told about the drift, those too that would learn it [default: how
    /// far each coordinate drifted, for policies with a fixed certificate]
    #[arg(long, value_enum)]
    certificate: Option<Told>,
    #[command(flatten)]
    work: Work,
}

pub(crate) fn preset(name: &str) -> Result<Preset, String> {
    name.trim().parse().map_err(|error: truenorth::Error| error.to_string())
}

pub(crate) fn run(arguments: &Arguments, output: &mut impl io::Write) -> Result<(), Failure> {
    let reading = Reading {
        horizon: arguments.horizon.unwrap_or(20_000),
        runs: arguments.runs.unwrap_or(50),
        seed: arguments.seed,
        norm_bound: if arguments.as_printed { NormBound::Given(1.0) } else { NormBound::Truth },
        certificate: arguments.certificate.map(|told| match told {
            Told::Coordinate => CertificateKind::Coordinate,
            Told::Isotropic => CertificateKind::Isotropic,
        }),
        policies: arguments.policies.clone(),
    };
    let studies: &[Study] = match arguments.figure {
        Which::Main => &[Study::Main],
        Which::Bias => &[Study::Bias],
        Which::Ablation => &[Study::Ablation],
        Which::Coverage => &[Study::Coverage],
        Which::All => &Study::PAPER,
        Which::Misleading => &[Study::Misleading],
        Which::Shifting => &[Study::Shifting],
        Which::Wide => &[Study::Wide],
        Which::Hardness => {
            let given = [
                ("--horizon", arguments.horizon.is_some()),
                ("--policies", arguments.policies.is_some()),
                ("--as-printed", arguments.as_printed),
                ("--certificate", arguments.certificate.is_some()),
            ];
            if let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) {
                return Err(Failure::Call(format!(
                    "{flag} does not go with hardness, whose instances are the proofs'"
                )));
            }
            return hardness::run(arguments.runs, arguments.seed, &arguments.work, output);
        }
    };
    let figures: Vec<Figure> = studies.iter().map(|study| study.figure(&reading)).collect();
    run_figures(&figures, &arguments.work, output)
}

/// Plays figures, writes their files, and prints what came out.
pub(crate) fn run_figures(
    figures: &[Figure],
    work: &Work,
    output: &mut impl io::Write,
) -> Result<(), Failure> {
    let played = play_figures(figures, Some(&work.out), usize::from(work.threads))?;
    let written = figures::write(figures, &played, &work.out)?;
    let text = if work.json {
        figures::results_json(&played.results)?
    } else {
        crate::table::final_regret(&played.results)
    };
    played.complete()?;
    output.write_all(text.as_bytes()).map_err(Failure::Output)?;
    for path in written {
        eprintln!("wrote {}", path.display());
    }
    Ok(())
}
