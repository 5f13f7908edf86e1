//! `truenorth reproduce hardness`: the lower bounds, and the regret of real policies above them.

use std::sync::atomic::{AtomicUsize, Ordering};

use truenorth::Preset;
use truenorth_app::{Error, palette};
use truenorth_paper::hardness::{
    Growth, ImpossibilitySettings, LowerBoundSettings, Trials, impossibility, lower_bound,
};
use truenorth_report::{AxisScale, Curves, CurvesPanel, Palette, Reference, Series};

use crate::experiment::{STOP, catch_interrupts, progress_bar};
use crate::failure::Failure;
use crate::figures::write_figure;
use crate::output::{json, make_folder, write_and_tell};
use crate::reproduce::Work;
use crate::table::{number, text};

/// Name of the bound's line.
const BOUND: &str = "lower bound";

pub(crate) fn run(runs: Option<u64>, seed: u64, work: &Work) -> Result<String, Failure> {
    catch_interrupts();
    let pool = truenorth_app::pool(usize::from(work.threads))?;
    let bar = progress_bar();
    let finished = AtomicUsize::new(0);
    let progress = |done: u64, total: u64| {
        finished.fetch_add(1, Ordering::Relaxed);
        bar.set_length(total);
        bar.set_position(done);
    };
    let asked = |trials: &mut Trials| (trials.seed, trials.runs) = (seed, runs.unwrap_or(trials.runs));
    let studies = pool.install(|| {
        let mut settings = ImpossibilitySettings::default();
        asked(&mut settings.trials);
        let mut growths = vec![impossibility(&settings, &STOP, progress)?];
        for mut settings in LowerBoundSettings::studies() {
            asked(&mut settings.trials);
            growths.push(lower_bound(&settings, &STOP, progress)?);
        }
        Ok::<_, truenorth_sim::Error>(growths)
    });
    bar.finish_and_clear();
    let studies = studies?;
    if STOP.load(Ordering::Relaxed) {
        let (finished, total) = (finished.into_inner(), 0);
        return Err(Error::Interrupted { finished, total, folder: None }.into());
    }
    make_folder(&work.out)?;
    let write =
        |name, title, studies| write_figure(&work.out, name, &svg(name, title, studies)?, write_and_tell);
    let title = "A bound on the drift's length alone does not say which logs can be used (Theorem 5)";
    write("impossibility", title, &studies[..1])?;
    let title = "What no policy can avoid with unit-vector actions (Theorem 3)";
    write("lower-bound", title, &studies[1..])?;
    let json = json(&studies)?;
    write_and_tell(&work.out.join("hardness.json"), json.as_bytes())?;
    Ok(if work.json { json } else { studies.iter().map(table).collect::<Vec<_>>().join("\n") })
}

/// Measured regret and bound on logarithmic axes, with the predicted slope.
fn svg(name: &str, title: &str, studies: &[Growth]) -> Result<String, Failure> {
    let panels = studies.iter().map(|growth| {
        // Zero has no logarithm: a sweep over budgets starts at its first positive one.
        let points: Vec<_> = growth.points.iter().filter(|point| point.x > 0.0).collect();
        let x: Vec<f64> = points.iter().map(|point| point.x).collect();
        let policies = points[0].measured.iter().enumerate().map(|(index, (policy, _))| {
            let regrets = || points.iter().map(|point| &point.measured[index].1);
            let band =
                |end: f64| regrets().map(|regret| regret.mean + end * regret.stderr).collect::<Vec<_>>();
            Series::new(policy, x.clone(), band(0.0)).with_band(band(-2.0), band(2.0))
        });
        let bound: Vec<f64> = points.iter().map(|point| point.bound).collect();
        // The theorems predict a power law in rounds and arms, none in the budget.
        let through = (x[0], 2.0 * bound[0]);
        let power_law = Reference { name: "slope 1/2".to_owned(), slope: 0.5, through };
        let predicted = (!growth.x_label.starts_with("budget")).then_some(power_law);
        // Plots beside each other have one label of x for all: each names its own.
        let word = growth.x_label.split(' ').next().unwrap_or_default();
        let title = growth.name.strip_prefix("lower bound ").map(|by| by.replacen(word, &growth.x_label, 1));
        CurvesPanel {
            title: title.unwrap_or_else(|| "worst of two worlds with the same logs".to_owned()),
            y_scale: AxisScale::Log,
            series: policies.chain([Series::new(BOUND, x.clone(), bound)]).collect(),
            references: predicted.into_iter().collect(),
        }
    });
    let x_label = match studies {
        [growth] => &growth.x_label,
        _ => "",
    };
    // The bound has the looks of a policy that is not played here.
    let (policies, free) = (palette(), Preset::TrueNorthSampling.name());
    let names = policies.names().iter().map(|name| if name == free { BOUND } else { name });
    let curves = Curves {
        title: title.to_owned(),
        x_label: x_label.to_owned(),
        y_label: "regret, ± 2 standard errors".to_owned(),
        x_scale: AxisScale::Log,
        markers: true,
        palette: Palette::new(names),
        panels: panels.collect(),
    };
    curves.svg().map_err(Failure::drawing(name))
}

fn table(growth: &Growth) -> String {
    let row = |first: String, bound: String, rest: Vec<String>| [vec![first, bound], rest].concat();
    let names: Vec<String> = growth.points[0].measured.iter().map(|(name, _)| name.clone()).collect();
    let exponent = |value: Option<f64>| value.map_or("-".to_owned(), |e| format!("{e:.2}"));
    let exponents = names.iter().map(|name| exponent(growth.exponent(name))).collect();
    let points = growth.points.iter().map(|point| {
        let x = if point.x < 1.0 { point.x.to_string() } else { format!("{:.0}", point.x) };
        let measured = point.measured.iter().map(|(_, regret)| number(regret.mean)).collect();
        row(x, number(point.bound), measured)
    });
    let last = row("grows with exponent".to_owned(), exponent(growth.bound_exponent()), exponents);
    let header = row(format!("{}: {}", growth.name, growth.x_label), BOUND.to_owned(), names);
    text(header, points.chain([last]))
}
