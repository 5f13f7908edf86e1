//! `truenorth reproduce`: the paper's studies and ours, played and drawn.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use truenorth::Preset;
use truenorth_app::experiment;
use truenorth_paper::Reading;
use truenorth_sim::{CertificateKind, Figure, NormBound};

use crate::experiment::watched;
use crate::failure::Failure;
use crate::output::{json, write_and_tell};
use crate::{figures, hardness, idea, table};

/// Which figures: the paper's, or ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Two coefficients have changed places since the logs, and differ by a factor of 1.1, 2 or 10
    Main,
    /// The logs' coefficients are pulled towards random ones, more and more
    Bias,
    /// One logged coefficient is off, from far too small to far too large
    Ablation,
    /// The logs have not drifted, but cover most directions ever more thinly
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

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    if arguments.figure == Which::Hardness {
        let given = [
            ("--horizon", arguments.horizon.is_some()),
            ("--policies", arguments.policies.is_some()),
            ("--as-printed", arguments.as_printed),
            ("--certificate", arguments.certificate.is_some()),
        ];
        return match given.into_iter().find(|(_, given)| *given) {
            None => hardness::run(arguments.runs, arguments.seed, &arguments.work),
            Some((flag, _)) => Err(Failure::Call(format!(
                "{flag} does not go with hardness, whose instances are the proofs'"
            ))),
        };
    }
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
    // Names of figures are those of studies.
    let name =
        arguments.figure.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
    let figures: Vec<Figure> =
        experiment::studies(&name)?.into_iter().map(|study| study.figure(&reading)).collect();
    let printed = run_figures(&figures, &arguments.work)?;
    if matches!(arguments.figure, Which::Main | Which::All) {
        figures::write_figure(&arguments.work.out, "idea", &idea::svg()?, write_and_tell)?;
    }
    Ok(printed)
}

/// Plays figures and writes their files; finished runs are kept until then. What is printed of them.
pub(crate) fn run_figures(figures: &[Figure], work: &Work) -> Result<String, Failure> {
    let play = |how: truenorth_app::Work<'_>| experiment::play(figures, Some(&work.out), how);
    let played = watched(usize::from(work.threads), Some(&work.out), play)?;
    figures::write(figures, &played, &work.out)?;
    let printed = if work.json { json(&played.results)? } else { table::final_regret(&played.results) };
    played.complete()?;
    Ok(printed)
}
