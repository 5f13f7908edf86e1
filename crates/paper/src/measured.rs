//! What policies did in an experiment, beside what the theorems allow them.

use std::sync::atomic::AtomicBool;

use serde::Serialize;
use truenorth_sim::{Job, Panel, Result, RunOutcome, Summary, play, prepare_run};

use crate::forecast::{Forecast, is_bounded};
use crate::played::{PathObserver, PlayedRun};
use crate::theory::{FallbackParams, OnlineFallback, better_regime, guarantee};

/// What one policy did in a panel, and what it was allowed to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// Name of the policy.
    pub name: String,
    /// Over all runs.
    pub mean_regret: f64,
    /// Of any run.
    pub largest_regret: f64,
    /// Theorem 1, layer by layer, averaged over the runs; the fallback is not part of it.
    pub layerwise_bound: f64,
    /// The same with one prefactor for all layers.
    pub coarse_bound: f64,
    /// Runs whose regret is above their own bound.
    pub runs_above_bound: usize,
    /// Share of runs in which Corollary 1 says that the logs pay; none for policies without logs.
    pub logs_pay: Option<f64>,
    /// S_ep of a certificate that was learned, averaged over the runs (Corollary 2): what learning it cost.
    pub penalty: Option<f64>,
    /// Theorem 7 with that penalty, layer by layer, averaged over the runs.
    pub penalty_bound: Option<f64>,
    /// Corollary 2: the same with one prefactor for all layers.
    pub coarse_penalty_bound: Option<f64>,
}

/// What the bounded policies of a panel did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PanelBounds {
    /// Name of the panel.
    pub name: String,
    /// Rounds of a run.
    pub horizon: u64,
    /// Runs.
    pub runs: u64,
    /// For the first run's logs and certificate; none where no policy has them.
    pub forecast: Option<Forecast>,
    /// The policies whose regret the paper bounds.
    pub policies: Vec<Measured>,
}

/// Plays all runs of the panels on all threads of the current rayon pool, and bounds them; `constant` is C_SL.
///
/// What cannot be bounded is refused before the work is done. `progress` hears, from any thread, of each run that is
/// finished. None if `stop` was set before the end.
pub fn measure(
    panels: &[Panel],
    constant: f64,
    stop: &AtomicBool,
    progress: impl Fn() + Sync,
) -> Result<Option<Vec<PanelBounds>>> {
    let fallbacks = panels.iter().map(|panel| fallback(panel, constant)).collect::<Result<Vec<_>>>()?;
    panels.iter().try_for_each(Panel::check)?;
    let jobs = Job::all(panels);
    let observer = |policy: &_| is_bounded(policy).then(PathObserver::default);
    let outcomes = play(panels, &jobs, stop, observer, progress)?;
    if outcomes.len() < jobs.len() {
        return Ok(None);
    }
    let bounds = panels.iter().zip(&fallbacks).enumerate().map(|(index, (panel, fallback))| {
        let runs = outcomes.iter().filter(|(job, _)| job.panel == index).map(|(_, run)| run);
        panel_bounds(panel, &runs.collect::<Vec<_>>(), fallback, constant)
    });
    bounds.collect::<Result<_>>().map(Some)
}

fn panel_bounds(
    panel: &Panel,
    runs: &[&RunOutcome<Option<PlayedRun>>],
    fallback: &OnlineFallback,
    constant: f64,
) -> Result<PanelBounds> {
    let (_, policies) = prepare_run(panel, 0)?;
    let mut bounds = PanelBounds {
        name: panel.name.clone(),
        horizon: panel.horizon,
        runs: panel.runs,
        forecast: None,
        policies: Vec::new(),
    };
    for (index, policy) in policies.iter().enumerate() {
        let runs = runs.iter().map(|run| &run.policies[index]);
        let runs: Vec<_> = runs.filter_map(|run| Some((run.regret.total, run.observed.as_ref()?))).collect();
        if !runs.is_empty() {
            bounds.policies.push(measured(&panel.policies[index].name, &runs, fallback)?);
            bounds.forecast = bounds.forecast.or(Forecast::of(policy, panel.world.actions(), constant)?);
        }
    }
    Ok(bounds)
}

fn measured(name: &str, runs: &[(f64, &PlayedRun)], fallback: &OnlineFallback) -> Result<Measured> {
    let (mut layerwise, mut coarse, mut verdicts) = (Vec::new(), Vec::new(), Vec::new());
    let [mut penalties, mut by_penalty, mut coarse_by_penalty] = [const { Vec::new() }; 3];
    for (_, run) in runs {
        let bound = guarantee(&run.path, fallback, run.routed_bias)?;
        layerwise.push(bound.layerwise);
        coarse.push(bound.coarse);
        // Each run with its own logs and drift.
        if let Some(scale) = run.bias_scale {
            let regime = better_regime(&run.path, scale, fallback)?;
            verdicts.push(f64::from(u8::from(regime.logs_pay())));
        }
        if !run.epochs.is_empty() {
            let bound = run.epochs.penalty_guarantee(&run.path, fallback)?;
            penalties.push(run.epochs.penalty());
            by_penalty.push(bound.layerwise);
            coarse_by_penalty.push(bound.coarse);
        }
    }
    let mean = |values: Vec<f64>| Summary::of(values).mean;
    let known = |values: Vec<f64>| (!values.is_empty()).then(|| mean(values));
    let regrets = || runs.iter().map(|(regret, _)| *regret);
    Ok(Measured {
        name: name.to_owned(),
        mean_regret: mean(regrets().collect()),
        largest_regret: regrets().fold(0.0, f64::max),
        runs_above_bound: regrets().zip(&layerwise).filter(|(regret, bound)| regret > bound).count(),
        layerwise_bound: mean(layerwise),
        coarse_bound: mean(coarse),
        logs_pay: known(verdicts),
        penalty: known(penalties),
        penalty_bound: known(by_penalty),
        coarse_penalty_bound: known(coarse_by_penalty),
    })
}

fn fallback(panel: &Panel, constant: f64) -> Result<OnlineFallback> {
    let (actions, dimension) = (panel.world.actions(), panel.world.dimension);
    let (horizon, delta_online) = (panel.horizon, panel.delta / 3.0);
    Ok(OnlineFallback::new(FallbackParams { horizon, actions, dimension, delta_online, constant })?)
}
