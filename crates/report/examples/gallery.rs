//! Draws one figure of each kind from made-up numbers, to look at: `cargo run --example gallery -- DIRECTORY`.

use std::f64::consts::TAU;
use std::path::{Path, PathBuf};
use std::{env, error, fs};

use truenorth_report::{
    AxisScale, Bar, BarGroup, Bars, BarsFigure, Block, Curves, CurvesFigure, CurvesPanel, Direction,
    Directions, DirectionsFigure, DirectionsPanel, Drift, Ellipses, EllipsesFigure, EllipsesPanel, Error,
    Marks, Outline, OutlineStyle, Page, Palette, Reference, Section, Series, Share, ShareColors, Shares,
    SharesFigure, SharesPanel, Table, png,
};

const POLICIES: [&str; 5] = ["Ellipsoidal MinUCB", "Online LinUCB", "Pooled LinUCB", "MinUCB", "Greedy"];
const PROBLEMS: [&str; 5] =
    ["Aligned logs", "One direction drifted", "All directions drifted", "Few logs", "No bias at all"];

fn main() -> Result<(), Box<dyn error::Error>> {
    let directory = PathBuf::from(env::args().nth(1).ok_or("the first argument must name a directory")?);
    fs::create_dir_all(&directory)?;
    let figures = [
        ("curves-5", curves(5)?),
        ("curves-3", curves(3)?),
        ("curves-1", curves(1)?),
        ("edge-cases", edge_cases()?),
        ("shares", shares()?),
        ("ellipses", ellipses()?),
        ("bars", bars()?),
        ("slopes", slopes()?),
        ("directions", directions()?),
        ("directions-many", many_directions()?),
    ];
    for (name, svg) in &figures {
        save(&directory, name, svg)?;
    }
    fs::write(directory.join("page.html"), page(&figures).html())?;
    Ok(())
}

fn save(directory: &Path, name: &str, svg: &str) -> Result<(), Box<dyn error::Error>> {
    fs::write(directory.join(format!("{name}.svg")), svg)?;
    fs::write(directory.join(format!("{name}.png")), png(svg, 2.0)?)?;
    fs::write(directory.join(format!("{name}-half.png")), png(svg, 0.5)?)?;
    Ok(())
}

fn regret(policy: &str, last: f64, power: f64) -> Series {
    let round: Vec<f64> = (0..=400).map(|step| 50.0 * f64::from(step)).collect();
    let wave = |t: f64| 1.0 + 0.02 * (t / 700.0).sin();
    let mean: Vec<f64> = round.iter().map(|t| last * (t / 20_000.0).powf(power) * wave(*t)).collect();
    let scaled = |factor: f64| mean.iter().map(|value| value * factor).collect::<Vec<_>>();
    let (low, high) = (scaled(0.82), scaled(1.2));
    Series::new(policy, round, mean).with_band(low, high)
}

fn curves(count: usize) -> Result<String, Error> {
    let finals = [
        [0.3, 45.0, 80_000.0, 52.0, 9_000.0],
        [310.0, 420.0, 395.0, 330.0, 820.0],
        [45.0, 48.0, 1_900.0, 47.0, 2_400.0],
        [100.0, 101.0, 99.0, 100.5, 102.0],
        [0.0, 12.0, 14.0, 0.0, 90.0],
    ];
    let powers = [0.3, 0.5, 1.0, 0.45, 0.9];
    let panel = |index: usize| CurvesPanel {
        title: PROBLEMS[index].into(),
        series: (0..5)
            .map(|policy| regret(POLICIES[policy], finals[index][policy], powers[policy]))
            .collect(),
        ..CurvesPanel::default()
    };
    let curves = Curves {
        title: "Regret of five policies, mean and 95% band over 30 runs".into(),
        x_label: "round".into(),
        y_label: "cumulative regret".into(),
        palette: Palette::new(POLICIES),
        panels: (0..count).map(panel).collect(),
        ..Curves::default()
    };
    Ok(CurvesFigure::new(curves)?.svg())
}

fn edge_cases() -> Result<String, Error> {
    let panel = |title: &str, y_scale, series: Vec<Series>| CurvesPanel {
        title: title.into(),
        y_scale,
        series,
        ..CurvesPanel::default()
    };
    let panels = vec![
        panel("One point", AxisScale::Auto, vec![Series::new("a", [5.0], [2.0]).with_band([1.5], [2.6])]),
        panel(
            "Constants",
            AxisScale::Auto,
            vec![Series::new("a", [0.0, 9.0], [7.0, 7.0]), Series::new("b", [0.0, 9.0], [7.0, 7.0])],
        ),
        panel("All zero", AxisScale::Auto, vec![Series::new("a", [0.0, 9.0], [0.0, 0.0])]),
        panel("All zero", AxisScale::Log, vec![Series::new("a", [0.0, 9.0], [0.0, 0.0])]),
        panel(
            "Negative and short",
            AxisScale::Auto,
            vec![Series::new("a", [0.0, 9.0], [-3.0, 4.0]), Series::new("b", [0.0, 4.0], [1.0, -2.0])],
        ),
        panel("Tiny", AxisScale::Auto, vec![Series::new("a", [0.0, 3e6], [2e-7, 9e-7])]),
    ];
    Ok(CurvesFigure::new(Curves { panels, x_label: "round".into(), ..Curves::default() })?.svg())
}

fn shares() -> Result<String, Error> {
    let x: Vec<f64> = (0..=200).map(|step| 50.0 * f64::from(step)).collect();
    let layer = |layer: u32| Share {
        name: format!("{layer}"),
        size: x
            .iter()
            .map(|t| (-(f64::from(layer) - 1.6 * (1.0 + t / 60.0).ln()).powi(2) / 5.0).exp())
            .collect(),
    };
    let online: Vec<f64> = x.iter().map(|t| 0.9 * (1.0 - (-t / 2500.0).exp())).collect();
    let pooled = online.iter().map(|share| 1.0 - share).collect();
    let branches =
        vec![Share { name: "online".into(), size: online }, Share { name: "pooled".into(), size: pooled }];
    let panels = vec![
        SharesPanel {
            title: "By layer".into(),
            x: x.clone(),
            shares: (0..16).map(layer).collect(),
            colors: ShareColors::Ramp,
        },
        SharesPanel {
            title: "By branch".into(),
            x,
            shares: branches,
            colors: ShareColors::Names(Palette::default()),
        },
    ];
    let shares = Shares {
        title: String::new(),
        x_label: "round".into(),
        y_label: "share of decisions".into(),
        panels,
    };
    Ok(SharesFigure::new(shares)?.svg())
}

fn ellipse(name: &str, (x, y): (f64, f64), (a, b): (f64, f64), turn: f64, style: OutlineStyle) -> Outline {
    let point = |step: u32| {
        let angle = f64::from(step) / 90.0 * TAU;
        let (u, v) = (a * angle.cos(), b * angle.sin());
        (x + u * turn.cos() - v * turn.sin(), y + u * turn.sin() + v * turn.cos())
    };
    Outline { name: name.into(), points: (0..90).map(point).collect(), center: Some((x, y)), style }
}

fn ellipses() -> Result<String, Error> {
    let panel = |rounds: f64| {
        let size = 1.0 / (1.0 + rounds / 4.0).sqrt();
        let online = (0.6 + 0.5 * size, 0.35 - 0.3 * size);
        EllipsesPanel {
            title: format!("After {rounds} rounds"),
            outlines: vec![
                ellipse("online", online, (1.1 * size, 0.9 * size), 0.4, OutlineStyle::Filled),
                ellipse("pooled", (0.5, 0.55), (0.75 * size.max(0.2), 0.12), 0.3, OutlineStyle::Line),
                ellipse("logs", (0.3, 0.75), (0.5, 0.1), 0.3, OutlineStyle::Dashed),
            ],
            truth: Some((0.6, 0.35)),
        }
    };
    let ellipses = Ellipses {
        x_label: "θ₁".into(),
        y_label: "θ₂".into(),
        truth_name: "truth θ*".into(),
        panels: [0.0, 10.0, 100.0, 1000.0].map(panel).to_vec(),
        ..Ellipses::default()
    };
    Ok(EllipsesFigure::new(ellipses)?.svg())
}

fn bars() -> Result<String, Error> {
    let finals = [
        [0.3, 45.0, 80_000.0, 52.0, 9_000.0],
        [310.0, 420.0, 395.0, 330.0, 820.0],
        [0.0, 48.0, 1_900.0, 47.0, 2_400.0],
    ];
    let group = |(title, finals): (&&str, [f64; 5])| BarGroup {
        title: (*title).into(),
        bars: POLICIES
            .iter()
            .zip(finals)
            .map(|(name, last)| Bar::new(*name, last).with_error(0.8 * last, 1.3 * last))
            .collect(),
    };
    let bars = Bars {
        title: "Regret after 20,000 rounds".into(),
        value_label: "final regret".into(),
        palette: Palette::new(POLICIES),
        groups: PROBLEMS.iter().zip(finals).map(group).collect(),
        ..Bars::default()
    };
    Ok(BarsFigure::new(bars)?.svg())
}

fn slopes() -> Result<String, Error> {
    let horizon: Vec<f64> = (0..8).map(|step| 100.0 * 3f64.powi(step)).collect();
    let series = |name: &str, factor: f64, power: f64| {
        let mean: Vec<f64> = horizon.iter().map(|t| factor * t.powf(power)).collect();
        let (low, high): (Vec<f64>, Vec<f64>) = mean.iter().map(|value| (0.85 * value, 1.2 * value)).unzip();
        Series::new(name, horizon.clone(), mean).with_band(low, high)
    };
    let reference = |name: &str, slope, through| Reference { name: name.into(), slope, through };
    let panel = |title: &str, shift: f64| CurvesPanel {
        title: title.into(),
        y_scale: AxisScale::Log,
        series: vec![
            series(POLICIES[0], 0.5 * shift, 0.33),
            series(POLICIES[1], 1.1, 0.52),
            series(POLICIES[2], 0.02, 1.0),
        ],
        references: vec![
            reference("slope 1/2", 0.5, (100.0, 25.0)),
            reference("slope 1", 1.0, (100.0, 50.0)),
        ],
    };
    let curves = Curves {
        x_label: "horizon".into(),
        y_label: "regret at the horizon".into(),
        x_scale: AxisScale::Log,
        marks: Marks::Points,
        palette: Palette::new(POLICIES),
        panels: vec![panel("Two directions", 1.0), panel("Ten directions", 4.0)],
        ..Curves::default()
    };
    Ok(CurvesFigure::new(curves)?.svg())
}

fn directions() -> Result<String, Error> {
    let row = |name: &str, coverage, drift, trust| Direction { name: name.into(), coverage, drift, trust };
    let estimate = |value: f64, half: f64| Drift::Estimate { value, low: value - half, high: value + half };
    let prior = Drift::Prior { low: -1.0, high: 1.0 };
    let names = [
        "price",
        "discount",
        "weekend",
        "returning customer",
        "screen width",
        "minutes since the last visit to any page of the shop",
    ];
    let coverage = [1_840.0, 410.0, 96.0, 12.4, 0.8, 0.0];
    let panel = |title: &str, drifts: [Drift; 6], trust: [f64; 6]| DirectionsPanel {
        title: title.into(),
        directions: (0..6)
            .map(|index| row(names[index], coverage[index], drifts[index], trust[index]))
            .collect(),
    };
    let panels = vec![
        panel("Before the first round", [prior; 6], [0.21, 0.2, 0.18, 0.12, 0.02, 0.0]),
        panel(
            "After 500 rounds",
            [
                estimate(0.52, 0.05),
                estimate(0.01, 0.06),
                estimate(-0.06, 0.11),
                estimate(-0.31, 0.2),
                estimate(0.1, 2.2),
                Drift::Unknown,
            ],
            [0.004, 1.0, 0.78, 0.34, 0.02, 0.0],
        ),
    ];
    let title = "What has been learned about each direction".into();
    Ok(DirectionsFigure::new(Directions { title, panels, ..Directions::default() })?.svg())
}

fn many_directions() -> Result<String, Error> {
    let direction = |index: u32| {
        let wave = (f64::from(index) * 2.4).sin();
        let value = if index % 17 == 3 { 0.8 * wave } else { 0.04 * wave };
        let half = 0.02 + 0.2 * f64::from(index) / 60.0;
        Direction {
            name: format!("feature {index}"),
            coverage: 30_000.0 * (-0.2 * f64::from(index)).exp(),
            drift: match index {
                55.. => Drift::Prior { low: -1.0, high: 1.0 },
                _ => Drift::Estimate { value, low: value - half, high: value + half },
            },
            trust: if index < 55 { 1.0 / (1.0 + (value / half).powi(2)) } else { 0.1 },
        }
    };
    let directions = (0..60).map(direction).collect();
    let panels = vec![DirectionsPanel { title: String::new(), directions }];
    Ok(DirectionsFigure::new(Directions { panels, ..Directions::default() })?.svg())
}

fn page(figures: &[(&str, String)]) -> Page {
    let figure = |(name, svg): &(&str, String)| Section {
        heading: (*name).into(),
        blocks: vec![
            Block::Paragraph("Less regret is better; bands hold 95% of the runs, 1 < 2 & 3.".into()),
            Block::Figure {
                svg: svg.clone(),
                caption: format!("The figure `{name}`, from made-up numbers."),
            },
        ],
    };
    let rows =
        POLICIES.iter().zip(["0.31 ± 0.02", "45.2 ± 3.1", "80,123 ± 900", "52.0 ± 4.4", "9,010 ± 120"]);
    let table = Table {
        caption: "Final regret, mean and standard error".into(),
        header: vec!["policy".into(), "final regret".into(), "note".into()],
        rows: rows.map(|(name, value)| vec![(*name).into(), value.into(), "30 runs".into()]).collect(),
    };
    let first = Section { heading: "In numbers".into(), blocks: vec![Block::Table(table)] };
    Page {
        title: "A gallery of figures".into(),
        sections: figures.iter().map(figure).chain([first]).collect(),
    }
}
