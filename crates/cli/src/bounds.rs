//! `truenorth bounds`: the paper's theorems as numbers, next to what was measured.

use std::io;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;
use truenorth::theory::{
    AlignedBias, DiagonalProblem, FallbackParams, OnlineFallback, PROOF_CONSTANT, PROOF_SUBSET_SIZE,
    PooledRadius, Spectrum, better_regime, spectral_bound,
};
use truenorth::{CertificateRule, Params, Policy, Preset};
use truenorth_logs::Summary;
use truenorth_sim::{Figure, Panel, Reading, Study, prepare_run};

use crate::certificate_file;
use crate::experiment::{RunBound, play_figures};
use crate::failure::Failure;
use crate::problem::read_params;
use crate::table::{number, text};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    source: Source,
    /// C_SL of the online fallback, which the paper leaves open
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
        /// Actions a round
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
        /// Actions a round
        #[arg(long, default_value_t = 5)]
        actions: usize,
        /// Noise of the rewards [default: from the logs' residuals]
        #[arg(long, value_name = "SIGMA")]
        noise: Option<f64>,
        /// Length of the coefficients at most, in the units of the columns [default: twice that of the logs']
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

/// What the theorems say about one policy before it plays.
#[derive(Debug, Serialize)]
struct Forecast {
    /// c_align of logs and certificate.
    alignment: f64,
    /// ρ √c_align.
    bias_scale: f64,
    /// β_off.
    offline_radius: f64,
    /// L_max Φ(T / L_max): the most that any run can learn beyond the logs.
    spectral_envelope: f64,
    /// Theorem 2.
    spectral_bound: f64,
    /// C_SL √(T d L_T³).
    online_fallback: f64,
}

/// What one policy did in a panel, and what it was allowed to.
#[derive(Debug, Serialize)]
struct Measured {
    name: String,
    mean_regret: f64,
    largest_regret: f64,
    /// Theorem 1, layer by layer, averaged over the runs; the fallback is not part of it.
    layerwise_bound: f64,
    coarse_bound: f64,
    /// Runs whose regret is above their own bound.
    runs_above_bound: usize,
    /// Share of runs in which Corollary 1 says that the logs pay; none for policies without logs.
    logs_pay: Option<f64>,
}

#[derive(Debug, Serialize)]
struct PanelBounds {
    name: String,
    horizon: u64,
    runs: u64,
    /// For the first run's logs and certificate; none where no policy has them.
    forecast: Option<Forecast>,
    policies: Vec<Measured>,
}

pub(crate) fn run(arguments: &Arguments, output: &mut impl io::Write) -> Result<(), Failure> {
    let text = match &arguments.source {
        Source::Study { name, runs, horizon } => {
            let policies =
                Some(vec![Preset::SupLinUcb, Preset::EllipsoidalMinUcb, Preset::EllipsoidalMinUcb3d]);
            let reading = Reading { runs: *runs, horizon: *horizon, policies, ..Reading::default() };
            figure_text(&name.figure(&reading), arguments)?
        }
        Source::Experiment { file } => figure_text(&crate::experiment_file::read(file)?, arguments)?,
        Source::Problem { folder, actions } => {
            let path = folder.join("problem.json");
            let wrong = |error: truenorth::Error| Failure::in_file(&path, error);
            let policy = Policy::new(read_params(folder)?).map_err(wrong)?;
            let horizon = policy.params().horizon.unwrap_or(1);
            let forecast = forecast(&policy, *actions, horizon, arguments.constant).map_err(wrong)?;
            let forecast = forecast.ok_or_else(|| {
                Failure::in_file(
                    &path,
                    "the bounds before play need a layered policy with full pooling and a fixed certificate",
                )
            })?;
            one_forecast("problem", &forecast, arguments.json)?
        }
        Source::Summary { summary: path, certificate, horizon, actions, noise, norm_bound } => {
            let summary = Summary::read(path)?;
            let wrong = |error: truenorth::Error| Failure::in_file(path, error);
            let scale = summary.scale();
            let names = summary.names();
            let params = Params {
                offline: summary.statistic().map_err(wrong)?,
                certificate: CertificateRule::Fixed(certificate_file::read(
                    certificate,
                    Some(&names),
                    scale,
                )?),
                horizon: Some(*horizon),
                noise: *noise,
                norm_bound: norm_bound.map(|bound| bound / scale),
                ..Preset::EllipsoidalMinUcb.params(names.len()).map_err(wrong)?
            };
            let policy = Policy::new(params).map_err(wrong)?;
            let forecast = forecast(&policy, *actions, *horizon, arguments.constant).map_err(wrong)?;
            let forecast =
                forecast.ok_or_else(|| Failure::in_file(path, "there is no bound for these logs"))?;
            one_forecast("summary", &forecast, arguments.json)?
        }
        Source::Lower { horizon, counts, budgets, smallest_subset, lower_constant } => {
            let problem =
                DiagonalProblem::new(*horizon, counts, budgets).map_err(truenorth_sim::Error::from)?;
            let bound =
                problem.lower_bound(*smallest_subset, *lower_constant).map_err(truenorth_sim::Error::from)?;
            lower_text(bound.as_ref(), counts.len(), *smallest_subset, arguments.json)?
        }
    };
    output.write_all(text.as_bytes()).map_err(Failure::Output)
}

fn one_forecast(name: &str, forecast: &Forecast, as_json: bool) -> Result<String, Failure> {
    if as_json { json(forecast) } else { Ok(forecast_text(&[(name.to_owned(), forecast)])) }
}

fn figure_text(figure: &Figure, arguments: &Arguments) -> Result<String, Failure> {
    // What cannot be bounded is refused before the work is done.
    for panel in &figure.panels {
        let (dimension, actions) = (panel.world.dimension, panel.world.actions());
        fallback(dimension, panel.delta, actions, panel.horizon, arguments.constant)
            .map_err(truenorth_sim::Error::from)?;
    }
    let played = play_figures(std::slice::from_ref(figure), None, 0)?;
    let bounds = figure.panels.iter().zip(&played.bounds[0]);
    let panels: Vec<PanelBounds> = bounds
        .map(|(panel, runs)| panel_bounds(panel, runs, arguments.constant))
        .collect::<Result<_, _>>()?;
    if arguments.json {
        return json(&panels);
    }
    let mut rows = vec![
        ["panel", "policy", "mean regret", "largest", "bound", "coarse bound", "runs above", "logs pay"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for panel in &panels {
        for policy in &panel.policies {
            rows.push(vec![
                panel.name.clone(),
                policy.name.clone(),
                number(policy.mean_regret),
                number(policy.largest_regret),
                number(policy.layerwise_bound),
                number(policy.coarse_bound),
                policy.runs_above_bound.to_string(),
                policy.logs_pay.map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share)),
            ]);
        }
    }
    let forecasts: Vec<(String, &Forecast)> =
        panels.iter().filter_map(|panel| Some((panel.name.clone(), panel.forecast.as_ref()?))).collect();
    Ok(format!("{}\n{}", text(&rows), forecast_text(&forecasts)))
}

fn panel_bounds(panel: &Panel, runs: &[Vec<RunBound>], constant: f64) -> Result<PanelBounds, Failure> {
    let (_, policies) = prepare_run(panel, 0)?;
    let actions = panel.world.actions();
    let fallback = fallback(panel.world.dimension, panel.delta, actions, panel.horizon, constant)
        .map_err(truenorth_sim::Error::from)?;
    let mut bounds = PanelBounds {
        name: panel.name.clone(),
        horizon: panel.horizon,
        runs: panel.runs,
        forecast: None,
        policies: Vec::new(),
    };
    for ((spec, policy), runs) in panel.policies.iter().zip(&policies).zip(runs) {
        let forecast =
            forecast(policy, actions, panel.horizon, constant).map_err(truenorth_sim::Error::from)?;
        let checks: Vec<_> = runs.iter().filter_map(|run| Some((run.regret, run.bound.as_ref()?))).collect();
        if checks.is_empty() {
            continue;
        }
        let count = checks.len() as f64;
        let mut paying = None;
        for (_, check) in &checks {
            if let (Some(scale), true) = (check.bias_scale, forecast.is_some()) {
                // Each run with its own logs and drift: ρ √c is the scale of a bias with alignment 1.
                let bias = AlignedBias::new(scale, 1.0).map_err(truenorth_sim::Error::from)?;
                let regime =
                    better_regime(&check.path()?, &bias, &fallback).map_err(truenorth_sim::Error::from)?;
                *paying.get_or_insert(0.0) += f64::from(u8::from(regime.logs_pay()));
            }
        }
        bounds.policies.push(Measured {
            name: spec.name.clone(),
            mean_regret: checks.iter().map(|(regret, _)| regret).sum::<f64>() / count,
            largest_regret: checks.iter().map(|(regret, _)| *regret).fold(0.0, f64::max),
            layerwise_bound: checks.iter().map(|(_, check)| check.layerwise).sum::<f64>() / count,
            coarse_bound: checks.iter().map(|(_, check)| check.coarse).sum::<f64>() / count,
            runs_above_bound: checks.iter().filter(|(regret, check)| *regret > check.layerwise).count(),
            logs_pay: paying.map(|paying| paying / count),
        });
        bounds.forecast = bounds.forecast.or(forecast);
    }
    Ok(bounds)
}

fn fallback(
    dimension: usize,
    delta: f64,
    actions: usize,
    horizon: u64,
    constant: f64,
) -> truenorth::Result<OnlineFallback> {
    OnlineFallback::new(FallbackParams { horizon, actions, dimension, delta_online: delta / 3.0, constant })
}

/// For policies that are told a certificate; a learned one is not known before play.
fn forecast(
    policy: &Policy,
    actions: usize,
    horizon: u64,
    constant: f64,
) -> truenorth::Result<Option<Forecast>> {
    let pooled = policy.has_regret_bound() && policy.params().branches != truenorth::Branches::Online;
    let (Some(certificate), true, true) = (policy.certificate(), pooled, policy.epochs().is_empty()) else {
        return Ok(None);
    };
    let precision = policy.offline().precision();
    let bias = AlignedBias::of(precision, certificate.matrix(), certificate.radius())?;
    let radius = PooledRadius::new(*policy.path()?.radius())?;
    let spectral = spectral_bound(&Spectrum::of(precision)?, &radius, &bias, horizon)?;
    Ok(Some(Forecast {
        alignment: truenorth::theory::alignment(precision, certificate.matrix())?,
        bias_scale: bias.scale(),
        offline_radius: policy.offline_radius(),
        spectral_envelope: spectral.envelope,
        spectral_bound: spectral.regret,
        online_fallback: {
            let params = policy.params();
            fallback(params.dimension, params.delta, actions, horizon, constant)?.bound()
        },
    }))
}

fn forecast_text(forecasts: &[(String, &Forecast)]) -> String {
    let header =
        ["before play", "c_align", "rho sqrt(c)", "beta_off", "envelope", "Theorem 2", "online fallback"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for (name, forecast) in forecasts {
        let numbers = [
            forecast.alignment,
            forecast.bias_scale,
            forecast.offline_radius,
            forecast.spectral_envelope,
            forecast.spectral_bound,
            forecast.online_fallback,
        ];
        rows.push([name.clone()].into_iter().chain(numbers.map(number)).collect());
    }
    text(&rows)
}

fn lower_text(
    bound: Option<&truenorth::theory::LowerBound>,
    arms: usize,
    smallest_subset: usize,
    as_json: bool,
) -> Result<String, Failure> {
    #[derive(Serialize)]
    struct Lower<'a> {
        regret: f64,
        hardness: f64,
        subset: &'a [usize],
        exact: bool,
    }
    let lower = bound.map(|bound| Lower {
        regret: bound.regret,
        hardness: bound.hardness,
        subset: &bound.subset,
        exact: bound.exact,
    });
    if as_json {
        return json(&lower);
    }
    Ok(lower.map_or_else(
        || format!("no bound: the theorem speaks of at least {smallest_subset} arms, and there are {arms}\n"),
        |lower| {
            format!(
                "some problem of this family costs every policy a regret of at least {}\n(hardness {} by {} of {arms} arms; {})\n",
                number(lower.regret),
                number(lower.hardness),
                lower.subset.len(),
                if lower.exact { "no subset does better" } else { "a larger subset bound may exist" },
            )
        },
    ))
}

fn json(value: &impl Serialize) -> Result<String, Failure> {
    let mut text = serde_json::to_string(value).map_err(|error| Failure::Output(error.into()))?;
    text.push('\n');
    Ok(text)
}
