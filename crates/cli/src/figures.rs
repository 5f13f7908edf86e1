//! From what was played to files: results.json and the figures.

use std::path::{Path, PathBuf};

use truenorth::Preset;
use truenorth_report::{
    Curves, CurvesFigure, CurvesPanel, Palette, Series, Share, ShareColors, Shares, SharesFigure,
    SharesPanel, png,
};
use truenorth_sim::{Figure, FigureResult, PolicyResult, Results};

use crate::experiment::Played;
use crate::failure::Failure;
use crate::output::write_whole;

/// Pixels of a PNG for each unit of its SVG.
const SCALE: f32 = 2.0;
/// The policies whose layers and branches are drawn, the first that plays.
const TELLING: [&str; 2] = ["ellipsoidal-minucb", "ellipsoidal-minucb-3d"];

/// The same colour for a policy in every figure.
pub(crate) fn palette() -> Palette {
    Palette::new(Preset::ALL.map(Preset::name))
}

/// Writes results.json and every figure; returns the paths.
pub(crate) fn write(figures: &[Figure], played: &Played, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut written = Vec::new();
    for (index, (figure, result)) in figures.iter().zip(&played.results.figures).enumerate() {
        written.extend(write_figure(folder, &figure.name, &regret_svg(figure, result)?)?);
        if let Some(svg) = decisions_svg(figure, &played.shares[index])? {
            written.extend(write_figure(folder, &format!("{}-decisions", figure.name), &svg)?);
        }
    }
    let results = folder.join("results.json");
    write_whole(&results, results_json(&played.results)?.as_bytes())?;
    written.push(results);
    Ok(written)
}

/// `results.json`.
pub(crate) fn results_json(results: &Results) -> Result<String, Failure> {
    let mut text = serde_json::to_string(results).map_err(|error| Failure::Output(error.into()))?;
    text.push('\n');
    Ok(text)
}

/// Writes one figure as SVG and as PNG.
pub(crate) fn write_figure(folder: &Path, name: &str, svg: &str) -> Result<[PathBuf; 2], Failure> {
    let paths = ["svg", "png"].map(|ending| folder.join(format!("{name}.{ending}")));
    write_whole(&paths[0], svg.as_bytes())?;
    write_whole(&paths[1], &png(svg, SCALE).map_err(Failure::drawing(name))?)?;
    Ok(paths)
}

/// Cumulative regret of every policy: mean and 10-90 % band, a plot for each panel.
pub(crate) fn regret_svg(figure: &Figure, result: &FigureResult) -> Result<String, Failure> {
    let series = |policy: &PolicyResult| {
        let rounds: Vec<f64> = policy.rounds.iter().map(|&round| round as f64).collect();
        // The mean of a skewed sample may lie outside its 10-90 % band; the band is drawn as it is.
        Series::new(&policy.name, rounds, policy.mean.clone())
            .with_band(policy.p10.clone(), policy.p90.clone())
    };
    let panels = result.panels.iter().map(|panel| CurvesPanel {
        title: panel.name.clone(),
        series: panel.policies.iter().map(series).collect(),
        ..CurvesPanel::default()
    });
    let curves = Curves {
        title: figure.title.clone(),
        x_label: "round".to_owned(),
        y_label: "cumulative regret".to_owned(),
        palette: palette(),
        panels: panels.collect(),
        ..Curves::default()
    };
    Ok(CurvesFigure::new(curves).map_err(Failure::drawing(&figure.name))?.svg())
}

/// Which layer and which branch decided over time, for the most telling policy of each panel.
pub(crate) fn decisions_svg(
    figure: &Figure,
    shares: &[Vec<truenorth_sim::Shares>],
) -> Result<Option<String>, Failure> {
    // Layers first, branches after them. A layer has the same colour in every panel, so all panels show
    // the same layers.
    let plays = |layer: &usize| {
        let mut parts = shares.iter().flatten().flat_map(truenorth_sim::Shares::layers);
        parts.any(|part| part.get(*layer).is_some_and(|&count| count > 0))
    };
    let used: Vec<usize> = (0..64).filter(plays).collect();
    let span = used.first().copied().unwrap_or(0)..=used.last().copied().unwrap_or(0);
    let (mut panels, mut branches, mut telling) = (Vec::new(), Vec::new(), None);
    for (panel, shares) in figure.panels.iter().zip(shares) {
        let place = |name: &str| panel.policies.iter().position(|policy| policy.name == name);
        let Some(policy) = TELLING.into_iter().find_map(place) else { continue };
        let shares = &shares[policy];
        telling = Some(panel.policies[policy].name.clone());
        let parts = shares.informed().len();
        let x: Vec<f64> =
            (0..parts).map(|part| (part as f64 + 0.5) * panel.horizon as f64 / parts as f64).collect();
        let by_layer = |layer: usize| {
            shares
                .layers()
                .iter()
                .map(|part| part.get(layer).map_or(0.0, |&count| count as f64))
                .collect::<Vec<_>>()
        };
        let layers =
            span.clone().map(|layer| Share { name: format!("layer {layer}"), size: by_layer(layer) });
        panels.push(SharesPanel {
            title: format!("{}: by layer", panel.name),
            x: x.clone(),
            shares: layers.collect(),
            colors: ShareColors::Ramp,
        });
        let pooled: Vec<f64> = shares.informed().iter().map(|&count| count as f64).collect();
        let all = shares.layers().iter().map(|part| part.iter().sum::<u64>() as f64);
        let online = all.zip(&pooled).map(|(all, pooled)| all - pooled).collect();
        branches.push(SharesPanel {
            title: format!("{}: by branch", panel.name),
            x,
            shares: vec![
                Share { name: "pooled".to_owned(), size: pooled },
                Share { name: "online".to_owned(), size: online },
            ],
            colors: ShareColors::Names(Palette::new(["online", "pooled"])),
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
    Ok(Some(SharesFigure::new(shares).map_err(Failure::drawing(&figure.name))?.svg()))
}
