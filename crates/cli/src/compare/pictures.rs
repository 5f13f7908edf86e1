//! What was earned, and what was learned about the logs, drawn.

use std::path::{Path, PathBuf};

use truenorth::{CertificateRule, Width};
use truenorth_report::{
    AxisScale, Curves, CurvesFigure, CurvesPanel, Direction, Directions, DirectionsFigure, DirectionsPanel,
    Drift, Heading, Series,
};
use truenorth_sim::{
    Compared, ComparedFeature, Comparison, Contest, Entry, RecordedOutcome, Recording, Summary,
};

use crate::failure::Failure;
use crate::{figures, table};

/// Rows of the picture of what was learned.
const ROWS: usize = 60;
/// Lines of the picture of rewards, and bands: more of them hide each other.
const LINES: usize = 12;
const BANDS: usize = 3;
/// 90 % of a Gaussian lie within so many standard deviations.
const NINETY: f64 = 1.645;

/// Draws the figures; returns the paths.
pub(super) fn draw(
    folder: &Path,
    data: &Contest,
    entries: &[Entry],
    outcomes: &[Vec<RecordedOutcome>],
    comparison: &Comparison,
) -> Result<Vec<PathBuf>, Failure> {
    let rewards = reward_figure(&data.recording, comparison, outcomes)?;
    let mut written = figures::write_figure(folder, "compare", &rewards)?.to_vec();
    // The policy that learns most about the logs, or else the first.
    let telling = entries.iter().position(|entry| entry.params.certificate == CertificateRule::Adaptive);
    if data.logs.count() > 0 {
        let telling = telling.unwrap_or(0);
        let row = &comparison.policies[telling];
        let learned = learned_figure(row, entries[telling].params.width, comparison.rounds)?;
        written.extend(figures::write_figure(folder, "learned", &learned)?);
    }
    Ok(written)
}

/// Lines of the best policies, bands around the very best.
fn reward_figure(
    recording: &Recording,
    comparison: &Comparison,
    outcomes: &[Vec<RecordedOutcome>],
) -> Result<String, Failure> {
    let points: Vec<f64> = recording.points().iter().map(|&round| round as f64).collect();
    let mut order: Vec<usize> = (0..outcomes.len()).collect();
    let reward = |&place: &usize| comparison.policies[place].mean_reward;
    order.sort_by(|a, b| reward(b).total_cmp(&reward(a)));
    let (all, one) = (order.len(), comparison.seeds == 1);
    order.truncate(LINES);
    // What is drawn last lies on top: the best.
    let series = order.iter().enumerate().rev().map(|(rank, &place)| {
        let at =
            |point: usize| Summary::of(outcomes[place].iter().map(|outcome| outcome.gained[point]).collect());
        let curve: Vec<Summary> = (0..points.len()).map(at).collect();
        let line = |value: fn(&Summary) -> f64| curve.iter().map(value).collect::<Vec<f64>>();
        let series = Series::new(&comparison.policies[place].name, points.clone(), line(|point| point.mean));
        if one || rank >= BANDS {
            return series;
        }
        series.with_band(line(|point| point.p10), line(|point| point.p90))
    });
    let series = series.collect();
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
    let panel =
        CurvesPanel { title: notes.join("; "), y_scale: AxisScale::Linear, series, ..CurvesPanel::default() };
    let curves = Curves {
        title: "Reward earned above a uniform choice".to_owned(),
        x_label: "round".to_owned(),
        y_label: "cumulative reward above chance".to_owned(),
        palette: figures::palette(),
        panels: vec![panel],
        ..Curves::default()
    };
    Ok(CurvesFigure::new(curves).map_err(Failure::drawing("compare"))?.svg())
}

fn learned_figure(row: &Compared, width: Width, rounds: usize) -> Result<String, Failure> {
    // The largest drifts, in the files' order.
    let mut order: Vec<usize> = (0..row.features.len()).collect();
    let signal = |feature: &ComparedFeature| match (feature.view.drift, feature.view.stderr) {
        (Some(drift), Some(stderr)) if stderr > 0.0 => (drift / stderr).abs(),
        _ => 0.0,
    };
    order.sort_by(|&a, &b| signal(&row.features[b]).total_cmp(&signal(&row.features[a])));
    order.truncate(ROWS);
    order.sort_unstable();
    let directions = order.into_iter().map(|place| {
        let ComparedFeature { name, view } = &row.features[place];
        let drift = match (view.drift, view.stderr) {
            (Some(value), Some(stderr)) => {
                Drift::Estimate { value, low: value - NINETY * stderr, high: value + NINETY * stderr }
            }
            _ => Drift::Unknown,
        };
        Direction { name: name.clone(), coverage: view.coverage, drift, trust: view.trust }
    });
    let figure = Directions {
        title: format!(
            "What {} learned about the logs in {}",
            row.name,
            table::counted(rounds as u64, "round")
        ),
        names: Heading::new("Feature", ""),
        coverage: Heading::new("Coverage", "rows of it alone that tell as much"),
        // Where a linear model is an approximation, other actions may tell another story.
        drift: Heading::new("Drift", "live − logged, from what was played; 90 % interval"),
        trust: Heading::new(
            "Trust",
            match width {
                Width::Posterior => "chance that the logs are right",
                Width::Confidence => "share of the logs used",
            },
        ),
        panels: vec![DirectionsPanel { title: String::new(), directions: directions.collect() }],
    };
    Ok(DirectionsFigure::new(figure).map_err(Failure::drawing("learned"))?.svg())
}
