//! What was earned, and what was learned about the logs, drawn.

use std::path::Path;

use truenorth::{FeatureView, Method, Prior};
use truenorth_app::compare::{Compared, Comparison, Contest, Entry};
use truenorth_app::palette;
use truenorth_audit::directions_figure;
use truenorth_report::{AxisScale, Curves, CurvesPanel, Interval, Row, RowsFigure, Series};
use truenorth_sim::Summary;

use crate::failure::Failure;
use crate::output::write_and_tell;
use crate::{figures, table};

/// Rows of the picture of what was learned.
const ROWS: usize = 60;
/// Lines of the picture of rewards, and bands: more of them hide each other.
const LINES: usize = 12;
const BANDS: usize = 3;
/// 90 % of a Gaussian lie within so many standard deviations.
const NINETY: f64 = 1.645;

/// Draws the figures.
pub(super) fn draw(
    folder: &Path,
    data: &Contest,
    entries: &[Entry],
    comparison: &Comparison,
) -> Result<(), Failure> {
    let write = |name, svg: &str| figures::write_figure(folder, name, svg, write_and_tell);
    write("compare", &reward_figure(comparison)?)?;
    if data.logs.count() == 0 {
        return Ok(());
    }
    // The policy that learns most about the logs, or else the first.
    let adaptive = |entry: &Entry| matches!(entry.method, Method::Posterior { prior: Prior::Adaptive, .. });
    let telling = entries.iter().position(adaptive).unwrap_or(0);
    let (row, method) = (&comparison.policies[telling], &entries[telling].method);
    let learned = learned_figure(row, &data.names, method, comparison.rounds);
    write("learned", &learned.svg().map_err(Failure::drawing("learned"))?)
}

/// Lines of the best policies, bands around the very best.
fn reward_figure(comparison: &Comparison) -> Result<String, Failure> {
    let points: Vec<f64> = comparison.points.iter().map(|&round| round as f64).collect();
    let mut order: Vec<&Compared> = comparison.policies.iter().collect();
    order.sort_by(|a, b| b.mean_reward.total_cmp(&a.mean_reward));
    let (all, one) = (order.len(), comparison.seeds == 1);
    order.truncate(LINES);
    // What is drawn last lies on top: the best.
    let series = order.iter().enumerate().rev().map(|(rank, policy)| {
        let line = |value: fn(&Summary) -> f64| policy.curve.iter().map(value).collect::<Vec<f64>>();
        let series = Series::new(&policy.name, points.clone(), line(|point| point.mean));
        if one || rank >= BANDS {
            return series;
        }
        series.with_band(line(|point| point.p10), line(|point| point.p90))
    });
    let mut notes = Vec::new();
    if all > LINES {
        notes.push(format!("the best {LINES} of {all}"));
    }
    if !one {
        notes.push(format!("mean of {} orders", comparison.seeds));
        notes.push(match all {
            ..=BANDS => "bands from 10 % to 90 %".to_owned(),
            _ => format!("bands of the best {BANDS} from 10 % to 90 %"),
        });
    }
    let (title, series) = (notes.join("; "), series.collect());
    let panel = CurvesPanel { title, y_scale: AxisScale::Linear, series, ..CurvesPanel::default() };
    let curves = Curves {
        title: "Reward earned above a uniform choice".to_owned(),
        x_label: "round".to_owned(),
        y_label: "cumulative reward above chance".to_owned(),
        palette: palette(),
        panels: vec![panel],
        ..Curves::default()
    };
    curves.svg().map_err(Failure::drawing("compare"))
}

fn learned_figure(row: &Compared, names: &[String], method: &Method, rounds: usize) -> RowsFigure {
    // The largest drifts, in the files' order.
    let mut order: Vec<usize> = (0..row.features.len()).collect();
    let signal = |view: &FeatureView| match (view.drift, view.stderr) {
        (Some(drift), Some(stderr)) if stderr > 0.0 => (drift / stderr).abs(),
        _ => 0.0,
    };
    order.sort_by(|&a, &b| signal(&row.features[b]).total_cmp(&signal(&row.features[a])));
    order.truncate(ROWS);
    order.sort_unstable();
    let rows = order.into_iter().map(|place| {
        let view = &row.features[place];
        let drift = view.drift.zip(view.stderr).map(|(value, stderr)| {
            let half = NINETY * stderr;
            Interval { value, low: value - half, high: value + half }
        });
        Row {
            name: names[place].clone(),
            size: view.coverage,
            interval: drift,
            share: view.trust,
            ..Row::default()
        }
    });
    let reliance = match method {
        Method::Posterior { .. } => "how much the logs count",
        _ => "share of the logs used",
    };
    // Where a linear model is an approximation, other actions may tell another story: "drifted" is for an audit to say,
    // of rows that nobody chose and of all features together.
    let drift = "live − logged, from what was played; 90 % interval";
    let rounds = table::counted(rounds as u64, "round");
    let title = format!("What {} learned about the logs in {rounds}", row.name);
    // Not an audit's coverage, which leaves open how features that follow from each other share what they do.
    let notes = ["logged rows that tell it from others", drift, reliance].map(str::to_owned);
    let figure = directions_figure(title, "Feature", notes, 0.0, rows.collect());
    let columns = ["Told apart", "Drift", "Reliance"];
    RowsFigure { columns, legend: ["differs from the logs", "", "in line with them", ""], ..figure }
}
