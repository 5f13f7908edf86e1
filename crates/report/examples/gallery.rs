//! Draws one figure of each kind from made-up numbers, to look at: `cargo run --example gallery -- DIRECTORY`.

use std::f64::consts::TAU;
use std::path::{Path, PathBuf};
use std::{env, error, fs};

use truenorth_report::{
    AxisScale, Bars, Block, Curves, CurvesPanel, Ellipses, EllipsesPanel, Error, Interval, Outline, Page,
    Palette, Reference, Row, RowsFigure, Section, Series, Share, Shares, SharesPanel, Table, png,
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
        ("rows", rows()?),
        ("rows-many", many_rows()?),
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
    curves.svg()
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
    Curves { panels, x_label: "round".into(), ..Curves::default() }.svg()
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
            palette: None,
        },
        SharesPanel { title: "By branch".into(), x, shares: branches, palette: Some(Palette::default()) },
    ];
    let shares = Shares {
        title: String::new(),
        x_label: "round".into(),
        y_label: "share of decisions".into(),
        panels,
    };
    shares.svg()
}

fn ellipse(name: &str, (x, y): (f64, f64), (a, b): (f64, f64), turn: f64, dashed: bool) -> Outline {
    let point = |step: u32| {
        let angle = f64::from(step) / 90.0 * TAU;
        let (u, v) = (a * angle.cos(), b * angle.sin());
        (x + u * turn.cos() - v * turn.sin(), y + u * turn.sin() + v * turn.cos())
    };
    Outline { name: name.into(), points: (0..90).map(point).collect(), center: Some((x, y)), dashed }
}

fn ellipses() -> Result<String, Error> {
    let panel = |rounds: f64| {
        let size = 1.0 / (1.0 + rounds / 4.0).sqrt();
        let online = (0.6 + 0.5 * size, 0.35 - 0.3 * size);
        EllipsesPanel {
            title: format!("After {rounds} rounds"),
            outlines: vec![
                ellipse("online", online, (1.1 * size, 0.9 * size), 0.4, false),
                ellipse("pooled", (0.5, 0.55), (0.75 * size.max(0.2), 0.12), 0.3, false),
                ellipse("logs", (0.3, 0.75), (0.5, 0.1), 0.3, true),
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
    ellipses.svg()
}

fn bars() -> Result<String, Error> {
    let finals = [0.3, 45.0, 80_000.0, 52.0, 0.0];
    let bars = Bars {
        title: "Regret after 20,000 rounds".into(),
        value_label: "final regret".into(),
        bars: POLICIES.iter().zip(finals).map(|(name, last)| ((*name).into(), last)).collect(),
        ..Bars::default()
    };
    bars.svg()
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
        markers: true,
        palette: Palette::new(POLICIES),
        panels: vec![panel("Two directions", 1.0), panel("Ten directions", 4.0)],
        ..Curves::default()
    };
    curves.svg()
}

fn table(title: &str, rows: Vec<Row>, margin: f64) -> Result<String, Error> {
    let notes = ["effective logged rows", "live − logged, with its interval", "share of the logs used"];
    let (title, heading, notes) = (title.to_owned(), "Direction".to_owned(), notes.map(str::to_owned));
    let columns = ["Coverage", "Drift", "Trust"];
    let legend = ["interval excludes 0", "a little", "interval includes 0", "too little to matter"];
    RowsFigure { title, heading, columns, notes, legend, margin, rows }.svg()
}

fn row(name: &str, size: f64, interval: Option<Interval>, share: f64) -> Row {
    Row { name: name.to_owned(), size, interval, share, ..Row::default() }
}

fn around(value: f64, half: f64) -> Interval {
    Interval { value, low: value - half, high: value + half }
}

fn rows() -> Result<String, Error> {
    let rows = vec![
        row("price", 1_840.0, Some(around(0.52, 0.05)), 0.004),
        row("discount", 410.0, Some(around(0.01, 0.06)), 1.0),
        row("weekend", 96.0, Some(around(-0.06, 0.11)), 0.78),
        row("returning customer", 12.4, Some(around(-0.31, 0.2)), 0.34),
        row("screen width", 0.8, Some(around(0.1, 2.2)), 0.02),
        row("minutes since the last visit to any page of the shop", 0.0, None, 0.0),
    ];
    table("What has been learned about each direction", rows, 0.04)
}

fn many_rows() -> Result<String, Error> {
    let numbered = |index: u32| {
        let wave = (f64::from(index) * 2.4).sin();
        let value = if index % 17 == 3 { 0.8 * wave } else { 0.04 * wave };
        let half = 0.02 + 0.2 * f64::from(index) / 60.0;
        let coverage = 30_000.0 * (-0.2 * f64::from(index)).exp();
        let trust = if index < 55 { 1.0 / (1.0 + (value / half).powi(2)) } else { 0.1 };
        row(&format!("feature {index}"), coverage, (index < 55).then(|| around(value, half)), trust)
    };
    table("", (0..60).map(numbered).collect(), 0.0)
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
