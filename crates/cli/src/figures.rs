//! From what was played to files: results.json and the figures.

use std::path::Path;

use truenorth_app::experiment::Played;
use truenorth_app::palette;
use truenorth_report::{Curves, CurvesPanel, Palette, Series, Share, Shares, SharesPanel, png};
use truenorth_sim::{Figure, FigureResult, PolicyResult, Shares as Decided};

use crate::failure::Failure;
use crate::output::{json, write_and_tell};

/// Pixels of a PNG for each unit of its SVG.
const SCALE: f32 = 2.0;
/// With more policies than this, bands hide each other.
const BANDS: usize = 6;
/// The policies whose layers and branches are drawn, the first that plays.
const TELLING: [&str; 2] = ["ellipsoidal-minucb", "ellipsoidal-minucb-3d"];

/// How a file is written: with a word about it, or without.
pub(crate) type Write = fn(&Path, &[u8]) -> Result<(), Failure>;

/// Writes results.json and every figure.
pub(crate) fn write(figures: &[Figure], played: &Played, folder: &Path) -> Result<(), Failure> {
    for ((figure, result), shares) in figures.iter().zip(&played.results.figures).zip(&played.shares) {
        write_figure(folder, &figure.name, &regret_svg(figure, result)?, write_and_tell)?;
        if let Some(svg) = decisions_svg(figure, shares)? {
            write_figure(folder, &format!("{}-decisions", figure.name), &svg, write_and_tell)?;
        }
    }
    write_and_tell(&folder.join("results.json"), json(&played.results)?.as_bytes())
}

/// Writes one figure as SVG and, in a build that can, as PNG.
pub(crate) fn write_figure(folder: &Path, name: &str, svg: &str, write: Write) -> Result<(), Failure> {
    write(&folder.join(format!("{name}.svg")), svg.as_bytes())?;
    match png(svg, SCALE) {
        Err(truenorth_report::Error::LeftOut) => Ok(()),
        drawn => write(&folder.join(format!("{name}.png")), &drawn.map_err(Failure::drawing(name))?),
    }
}

/// The name of a panel as texts have it: in files it has no letters but plain ones.
fn drawn(panel: &str) -> String {
    panel.replacen("theta1=", "θ†₁=", 1)
}

/// Cumulative regret of every policy, a plot for each panel: the mean, and a band from 10 % to 90 % of the runs where bands do
/// not hide each other.
pub(crate) fn regret_svg(figure: &Figure, result: &FigureResult) -> Result<String, Failure> {
    let banded = result.panels.iter().all(|panel| panel.policies.len() <= BANDS);
    let series = |policy: &PolicyResult| {
        let rounds: Vec<f64> = policy.rounds.iter().map(|&round| round as f64).collect();
        let series = Series::new(&policy.name, rounds, policy.mean.clone());
        // The mean of a skewed sample may lie outside its 10-90 % band; the band is drawn as it is.
        if banded { series.with_band(policy.p10.clone(), policy.p90.clone()) } else { series }
    };
    let panels = result.panels.iter().map(|panel| CurvesPanel {
        title: drawn(&panel.name),
        series: panel.policies.iter().map(series).collect(),
        ..CurvesPanel::default()
    });
    let curves = Curves {
        title: figure.title.clone(),
        x_label: "round".to_owned(),
        y_label: if banded { "cumulative regret, band 10–90 %" } else { "mean cumulative regret" }.to_owned(),
        palette: palette(),
        panels: panels.collect(),
        ..Curves::default()
    };
    curves.svg().map_err(Failure::drawing(&figure.name))
}

/// Which layer and which branch decided over time, for the most telling policy of each panel.
pub(crate) fn decisions_svg(figure: &Figure, shares: &[Vec<Decided>]) -> Result<Option<String>, Failure> {
    // Layers first, branches after them. A layer has the same colour in every panel, so all panels show
    // the same layers.
    let plays = |layer: &usize| {
        let mut parts = shares.iter().flatten().flat_map(|shares: &Decided| &shares.layers);
        parts.any(|part| part.get(*layer).is_some_and(|&count| count > 0))
    };
    let first = (0..64).find(plays).unwrap_or(0);
    let last = (0..64).rfind(plays).unwrap_or(0);
    let (mut panels, mut branches, mut telling) = (Vec::new(), Vec::new(), None);
    for (panel, shares) in figure.panels.iter().zip(shares) {
        let place = |name: &str| panel.policies.iter().position(|policy| policy.name == name);
        let Some(policy) = TELLING.into_iter().find_map(place) else { continue };
        let shares = &shares[policy];
        telling = Some(&panel.policies[policy].name);
        let parts = shares.informed.len();
        let x: Vec<f64> =
            (0..parts).map(|part| (part as f64 + 0.5) * panel.horizon as f64 / parts as f64).collect();
        let layer = |layer: usize| {
            let size = |part: &Vec<u64>| part.get(layer).map_or(0.0, |&count| count as f64);
            Share { name: format!("layer {layer}"), size: shares.layers.iter().map(size).collect() }
        };
        panels.push(SharesPanel {
            title: format!("{}: by layer", drawn(&panel.name)),
            x: x.clone(),
            shares: (first..=last).map(layer).collect(),
            palette: None,
        });
        let pooled: Vec<f64> = shares.informed.iter().map(|&count| count as f64).collect();
        let all = shares.layers.iter().map(|part| part.iter().sum::<u64>() as f64);
        let online = all.zip(&pooled).map(|(all, pooled)| all - pooled).collect();
        let shares = [("pooled", pooled), ("online", online)];
        branches.push(SharesPanel {
            title: format!("{}: by branch", drawn(&panel.name)),
            x,
            shares: shares.map(|(name, size)| Share { name: name.to_owned(), size }).to_vec(),
            palette: Some(Palette::new(["online", "pooled"])),
        });
    }
    let Some(name) = telling else { return Ok(None) };
    panels.append(&mut branches);
    let shares = Shares {
        title: format!("Which layer and which branch of {name} decided"),
        x_label: "round".to_owned(),
        y_label: "share of decisions".to_owned(),
        panels,
    };
    shares.svg().map(Some).map_err(Failure::drawing(&figure.name))
}
