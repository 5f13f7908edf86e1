//! `truenorth bounds`: the paper's theorems as numbers, next to what was measured.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::{Args, Subcommand};
use truenorth::{Policy, Preset};
use truenorth_app::audit::audit;
use truenorth_app::{Error, Progress, certificate, experiment};
use truenorth_audit::Options;
use truenorth_logs::Summary;
use truenorth_paper::theory::{DiagonalProblem, LowerBound, PROOF_CONSTANT, PROOF_SUBSET_SIZE};
use truenorth_paper::{Forecast, Measured, PanelBounds, Reading, Study, measure};
use truenorth_sim::Figure;

use crate::experiment::watched;
use crate::failure::Failure;
use crate::output::json;
use crate::problem::read_settings;
use crate::table::{number, text};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    source: Source,
    /// C_SL of the rate C_SL √(T d L³), which the paper leaves open: with 1 it is a rate and no bound
    #[arg(long, global = true, default_value_t = 1.0)]
    constant: f64,
    /// Print JSON instead of a table
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Source {
    /// One of the paper's studies: played, then bounded
    Study {
        /// main, bias, ablation or coverage
        #[arg(value_parser = study)]
        name: Study,
        /// Runs of each panel
        #[arg(long, default_value_t = 5)]
        runs: u64,
        /// Rounds of a run
        #[arg(long, default_value_t = 20_000)]
        horizon: u64,
    },
    /// An experiment file: played, then bounded
    Experiment {
        /// The file, as for `truenorth simulate`
        file: PathBuf,
    },
    /// A recorded problem's logs and certificate, before a single round is played
    Problem {
        /// Folder, as for `truenorth replay`
        folder: PathBuf,
        /// Number of actions in a round, for the rate alone: the bounds hold for any number
        #[arg(long, default_value_t = 5)]
        actions: usize,
    },
    /// A summary of logs and a certificate, as `truenorth audit` writes it, before a single round is played
    Summary {
        /// The logs, as `truenorth summarize` wrote them
        summary: PathBuf,
        /// How far they may have drifted
        #[arg(long, value_name = "FILE")]
        certificate: PathBuf,
        /// Rounds that will be played
        #[arg(long, default_value_t = 20_000)]
        horizon: u64,
        /// Number of actions in a round, for the rate alone: the bounds hold for any number
        #[arg(long, default_value_t = 5)]
        actions: usize,
        /// Probability that the bounds fail; that of the audit is its level
        #[arg(long, default_value_t = Options::default().level)]
        delta: f64,
        /// Standard deviation of the rewards' noise [default: from the logs' residuals]
        #[arg(long, value_name = "SIGMA")]
        noise: Option<f64>,
        /// The coefficients are at most so long, as a vector, in the units of the columns [default: twice as long as the logs' are]
        #[arg(long, value_name = "S")]
        norm_bound: Option<f64>,
    },
    /// The lower bound of Theorem 3 for unit-vector actions
    Lower {
        /// Rounds
        #[arg(long)]
        horizon: u64,
        /// Logged rows of each arm, separated by commas
        #[arg(long, value_delimiter = ',', required = true)]
        counts: Vec<u64>,
        /// Largest drift of each arm, separated by commas
        #[arg(long, value_delimiter = ',', required = true)]
        budgets: Vec<f64>,
        /// Standard deviation of the noise; budgets are in units of the reward
        #[arg(long, value_name = "SIGMA", default_value_t = 1.0)]
        noise: f64,
        /// m0: the smallest subset the theorem speaks of; 32 is what its proof gives
        #[arg(long, default_value_t = PROOF_SUBSET_SIZE)]
        smallest_subset: usize,
        /// c: the constant in front; the default is what the proof gives
        #[arg(long, default_value_t = PROOF_CONSTANT)]
        lower_constant: f64,
    },
}

fn study(name: &str) -> Result<Study, String> {
    let known = Study::PAPER.map(Study::name).join(", ");
    Study::PAPER.into_iter().find(|study| study.name() == name).ok_or(format!("the studies are {known}"))
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let (name, path, settings, actions, missing) = match &arguments.source {
        Source::Study { name, runs, horizon } => {
            let policies =
                Some(vec![Preset::SupLinUcb, Preset::EllipsoidalMinUcb, Preset::EllipsoidalMinUcb3d]);
            let reading = Reading { runs: *runs, horizon: *horizon, policies, ..Reading::default() };
            return played(&name.figure(&reading), arguments);
        }
        Source::Experiment { file } => return played(&experiment::read(file, None)?, arguments),
        Source::Lower { horizon, counts, budgets, noise, smallest_subset, lower_constant } => {
            truenorth::check::positive("noise", *noise)?;
            // The theorem has unit noise: budgets are divided by it, and the bound multiplied.
            let budgets: Vec<f64> = budgets.iter().map(|budget| budget / noise).collect();
            let bound = DiagonalProblem::new(*horizon, counts, &budgets)
                .and_then(|problem| problem.lower_bound(*smallest_subset, *lower_constant))?
                .map(|bound| LowerBound { regret: noise * bound.regret, ..bound });
            let text = || lower_text(bound.as_ref(), counts.len(), *smallest_subset);
            return if arguments.json { json(&bound) } else { Ok(text()) };
        }
        Source::Problem { folder, actions } => {
            let missing =
                "the bounds before play need a layered policy with full pooling and a fixed certificate";
            ("problem", folder.join("problem.json"), read_settings(folder)?, *actions, missing)
        }
        Source::Summary { summary: path, certificate: file, horizon, actions, delta, noise, norm_bound } => {
            let summary = Summary::read(path)?;
            let (scale, names) = (summary.scale(), summary.names());
            let told = certificate::read(file, Some(&names), scale)?;
            let logs = summary.statistic().map_err(|error| Failure::in_file(path, error))?;
            // What an audit finds of the logs, so that its bounds are these.
            let found = audit(&summary, None, &Options::default())?.found;
            let known = |value: f64| Some(value).filter(|value| *value > 0.0);
            let noise = noise.or(known(found.noise));
            let norm_bound = norm_bound.or(known(2.0 * found.norm));
            let mut settings = Policy::builder(names.len()).preset(Preset::EllipsoidalMinUcb);
            settings = settings.horizon(*horizon).certificate(told).logs(logs).noise(noise).delta(*delta);
            settings = settings.norm_bound(norm_bound.map(|bound| bound / scale));
            ("summary", path.clone(), settings, *actions, "there is no bound for these logs")
        }
    };
    let forecast = settings.build().and_then(|policy| Forecast::of(&policy, actions, arguments.constant));
    let forecast = forecast.map_err(|error| Failure::in_file(&path, error))?;
    let forecast = forecast.ok_or_else(|| Failure::in_file(&path, missing))?;
    if arguments.json { json(&forecast) } else { Ok(forecast_text([(name, &forecast)])) }
}

fn played(figure: &Figure, arguments: &Arguments) -> Result<String, Failure> {
    let runs: u64 = figure.panels.iter().map(|panel| panel.runs).sum();
    let total = usize::try_from(runs).unwrap_or(usize::MAX);
    let panels = watched(0, None, |work| {
        (work.progress)(Progress::Started { done: 0, total });
        let finished = AtomicUsize::new(0);
        let progress = || {
            finished.fetch_add(1, Ordering::Relaxed);
            (work.progress)(Progress::Finished);
        };
        let measured = measure(&figure.panels, arguments.constant, work.stop, progress)?;
        measured.ok_or(Error::Interrupted { finished: finished.into_inner(), total, folder: None })
    })?;
    if arguments.json {
        return json(&panels);
    }
    let header = [
        "panel",
        "policy",
        "mean regret",
        "largest",
        "bound",
        "coarse bound",
        "by penalty",
        "coarse",
        "runs above",
        "logs pay",
    ];
    let rows = panels.iter().flat_map(|panel| panel.policies.iter().map(move |policy| (panel, policy)));
    let row = |(panel, policy): (&PanelBounds, &Measured)| {
        vec![
            panel.name.clone(),
            policy.name.clone(),
            number(policy.mean_regret),
            number(policy.largest_regret),
            number(policy.layerwise_bound),
            number(policy.coarse_bound),
            policy.penalty_bound.map_or("-".to_owned(), number),
            policy.coarse_penalty_bound.map_or("-".to_owned(), number),
            policy.runs_above_bound.to_string(),
            policy.logs_pay.map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share)),
        ]
    };
    let forecasts = panels.iter().filter_map(|panel| Some((panel.name.as_str(), panel.forecast.as_ref()?)));
    Ok(format!("{}\n{}", text(header, rows.map(row)), forecast_text(forecasts)))
}

fn forecast_text<'a>(forecasts: impl IntoIterator<Item = (&'a str, &'a Forecast)>) -> String {
    let header = [
        "before play",
        "c_align",
        "rho sqrt(c)",
        "beta_off",
        "envelope",
        "Theorem 2",
        "online alone",
        "C_SL rate",
    ];
    let row = |(name, forecast): (&str, &Forecast)| {
        vec![
            name.to_owned(),
            number(forecast.alignment),
            number(forecast.bias_scale),
            number(forecast.offline_radius),
            number(forecast.spectral_envelope),
            number(forecast.spectral_bound),
            number(forecast.online_bound),
            number(forecast.online_fallback),
        ]
    };
    text(header, forecasts.into_iter().map(row))
}

fn lower_text(bound: Option<&LowerBound>, arms: usize, smallest_subset: usize) -> String {
    let Some(lower) = bound else {
        return format!(
            "no bound: the theorem speaks of at least {smallest_subset} arms, and there are {arms}\n"
        );
    };
    format!(
        "some problem of this family costs every policy a regret of at least {}\n(hardness {} by {} of {arms} arms; {})\n",
        number(lower.regret),
        number(lower.hardness),
        lower.subset.len(),
        if lower.exact { "no subset does better" } else { "a larger subset bound may exist" },
    )
}
