//! `truenorth reproduce hardness`: the lower bounds, and the regret of real policies above them.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use truenorth_report::{AxisScale, Curves, CurvesFigure, CurvesPanel, Marks, Reference, Series};
use truenorth_sim::hardness::{
    Growth, ImpossibilitySettings, LowerBoundSettings, impossibility, lower_bound,
};

use crate::experiment::{STOP, catch_interrupts, progress_bar};
use crate::failure::Failure;
use crate::figures::{palette, write_figure};
use crate::output::{make_folder, write_whole};
use crate::reproduce::Work;
use crate::table::{number, text};

/// Name of the bound's line.
const BOUND: &str = "lower bound";

pub(crate) fn run(
    runs: Option<u64>,
    seed: u64,
    work: &Work,
    output: &mut impl io::Write,
) -> Result<(), Failure> {
    catch_interrupts();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(work.threads)).build();
    let pool = pool.map_err(Failure::threads)?;
    let bar = progress_bar(1, 0);
    let finished = AtomicUsize::new(0);
    let progress = |done: u64, total: u64| {
        finished.fetch_add(1, Ordering::Relaxed);
        bar.set_length(total);
        bar.set_position(done);
    };
    let studies = pool.install(|| {
        let mut settings = ImpossibilitySettings { seed, ..ImpossibilitySettings::default() };
        settings.runs = runs.unwrap_or(settings.runs);
        let impossible = impossibility(&settings, &STOP, progress)?;
        let mut growths = vec![impossible];
        for mut settings in LowerBoundSettings::studies() {
            (settings.seed, settings.runs) = (seed, runs.unwrap_or(settings.runs));
            growths.push(lower_bound(&settings, &STOP, progress)?);
        }
        Ok::<_, truenorth_sim::Error>(growths)
    });
    bar.finish_and_clear();
    let studies = studies?;
    if STOP.load(Ordering::Relaxed) {
        let (finished, total) = (finished.into_inner(), 0);
        return Err(Failure::Interrupted { finished, total, folder: None });
    }
    make_folder(&work.out)?;
    let title = "A bound on the drift's length alone does not say which logs can be used (Theorem 5)";
    let mut written =
        write_figure(&work.out, "impossibility", &svg("impossibility", title, &studies[..1])?)?.to_vec();
    let title = "What no policy can avoid with unit-vector actions (Theorem 3)";
    written.extend(write_figure(&work.out, "lower-bound", &svg("lower-bound", title, &studies[1..])?)?);
    let mut json = serde_json::to_string(&studies).map_err(|error| Failure::Output(error.into()))?;
    json.push('\n');
    let path = work.out.join("hardness.json");
    write_whole(&path, json.as_bytes())?;
    written.push(path);
    let printed = if work.json { json } else { studies.iter().map(table).collect::<Vec<_>>().join("\n") };
    output.write_all(printed.as_bytes()).map_err(Failure::Output)?;
    for path in written {
        eprintln!("wrote {}", path.display());
    }
    Ok(())
}

/// Measured regret and bound on logarithmic axes, with the predicted slope.
fn svg(name: &str, title: &str, studies: &[Growth]) -> Result<String, Failure> {
    let panels = studies.iter().filter(|growth| !growth.points.is_empty()).map(|growth| {
        // Zero has no logarithm: a sweep over budgets starts at its first positive one.
        let points: Vec<_> = growth.points.iter().filter(|point| point.x > 0.0).collect();
        let x: Vec<f64> = points.iter().map(|point| point.x).collect();
        let policies = points[0].measured.iter().enumerate().map(|(index, (policy, _))| {
            let band = |end: f64| {
                let value =
                    |(_, summary): &(String, truenorth_sim::Summary)| summary.mean + end * summary.stderr;
                points.iter().map(|point| value(&point.measured[index])).collect::<Vec<_>>()
            };
            Series::new(policy, x.clone(), band(0.0)).with_band(band(-2.0), band(2.0))
        });
        let bound: Vec<f64> = points.iter().map(|point| point.bound).collect();
        // The theorems predict a power law in rounds and arms, none in the budget.
        let through = (x[0], 2.0 * bound[0]);
        let power_law = Reference { name: "slope 1/2".to_owned(), slope: 0.5, through };
        let predicted = (!growth.x_label.starts_with("budget")).then_some(power_law);
        CurvesPanel {
            title: growth
                .name
                .strip_prefix("lower bound ")
                .unwrap_or("worst of two worlds with the same logs")
                .to_owned(),
            y_scale: AxisScale::Log,
            series: policies.chain([Series::new(BOUND, x.clone(), bound)]).collect(),
            references: predicted.into_iter().collect(),
        }
    });
    let curves = Curves {
        title: title.to_owned(),
        x_label: studies
            .first()
            .filter(|_| studies.len() == 1)
            .map_or("arms m, horizon T or budget v, as the panel says", |growth| &growth.x_label)
            .to_owned(),
        y_label: "regret, ± 2 standard errors".to_owned(),
        x_scale: AxisScale::Log,
        marks: Marks::Points,
        palette: palette(),
        panels: panels.collect(),
    };
    Ok(CurvesFigure::new(curves).map_err(Failure::drawing(name))?.svg())
}

fn table(growth: &Growth) -> String {
    let mut rows = Vec::new();
    for point in &growth.points {
        if rows.is_empty() {
            let names = point.measured.iter().map(|(name, _)| name.clone());
            let header = [format!("{}: {}", growth.name, growth.x_label), BOUND.to_owned()];
            rows.push(header.into_iter().chain(names).collect());
        }
        let x = if point.x < 1.0 { point.x.to_string() } else { format!("{:.0}", point.x) };
        let measured = point.measured.iter().map(|(_, regret)| number(regret.mean));
        rows.push([x, number(point.bound)].into_iter().chain(measured).collect());
    }
    let exponents = growth.points.first().into_iter().flat_map(|point| &point.measured);
    let exponents =
        exponents.map(|(name, _)| growth.exponent(name).map_or("-".to_owned(), |e| format!("{e:.2}")));
    let bound = growth.bound_exponent().map_or("-".to_owned(), |e| format!("{e:.2}"));
    rows.push(["grows with exponent".to_owned(), bound].into_iter().chain(exponents).collect());
    text(&rows)
}
