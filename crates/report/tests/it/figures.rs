//! What each figure shows.

use truenorth_report::{
    AxisScale, Bars, Curves, CurvesPanel, Ellipses, EllipsesPanel, Interval, Outline, Palette, Reference,
    Row, RowsFigure, Series, Share, Shares, SharesPanel, png,
};

use crate::drawn::{Drawn, number};

const NAMES: [&str; 5] = ["Ellipsoidal MinUCB", "Online LinUCB", "Pooled LinUCB", "MinUCB", "Greedy"];

/// A line from nothing to `last` over 20,000 rounds, with a band.
fn regret(name: &str, last: f64) -> Series {
    let x: Vec<f64> = (0..=100).map(|step| 200.0 * f64::from(step)).collect();
    let mean: Vec<f64> = x.iter().map(|t| last * (t / 20_000.0).sqrt()).collect();
    let (low, high): (Vec<f64>, Vec<f64>) = mean.iter().map(|value| (0.8 * value, 1.2 * value)).unzip();
    Series::new(name, x, mean).with_band(low, high)
}

fn panel(title: &str, finals: &[f64]) -> CurvesPanel {
    let series = NAMES.iter().cycle().zip(finals).map(|(name, last)| regret(name, *last)).collect();
    CurvesPanel { title: title.into(), series, ..CurvesPanel::default() }
}

fn curves(panels: Vec<CurvesPanel>) -> String {
    let (x_label, y_label) = ("round".to_owned(), "cumulative regret".to_owned());
    Curves { x_label, y_label, panels, ..Curves::default() }.svg().expect("valid")
}

#[test]
fn five_panels_show_every_line_band_and_name() {
    let finals = [
        [0.3, 45.0, 80_000.0, 52.0, 9_000.0],
        [310.0, 420.0, 395.0, 330.0, 820.0],
        [100.0, 100.0, 100.0, 100.0, 100.0],
        [0.0, 0.0, 0.0, 0.0, 90.0],
        [1e-7, 2e-7, 3e-7, 3e-7, 4e-7],
    ];
    let svg = curves(finals.iter().map(|finals| panel("A problem", finals)).collect());
    let drawn = Drawn::new(&svg);
    drawn.assert_readable();
    let counts = ["panel", "line", "band", "legend-name", "panel-title"].map(|class| drawn.count(class));
    assert_eq!(counts, [5, 25, 25, 5, 5]);
    let labels = drawn.texts("label");
    assert_eq!(labels.iter().filter(|label| *label == "Greedy").count(), 5);
}

#[test]
fn a_wide_range_gets_a_logarithmic_axis_and_a_narrow_one_does_not() {
    let svg = curves(vec![panel("", &[0.3, 80_000.0]), panel("", &[10.0, 40.0])]);
    let drawn = Drawn::new(&svg);
    assert_eq!(drawn.texts("note"), ["log scale"]);
    let ticks = drawn.texts("y-tick");
    assert_eq!(ticks[..3], ["≤ 0.01", "0.1", "1"]);
    assert!(ticks.contains(&"100,000".to_owned()) && ticks.contains(&"40".to_owned()), "{ticks:?}");
    assert_eq!(drawn.texts("x-tick")[..5], ["0", "5k", "10k", "15k", "20k"]);
}

#[test]
fn the_scale_that_was_asked_for_is_drawn() {
    let ask = |y_scale, finals: &[f64]| {
        let svg = curves(vec![CurvesPanel { y_scale, ..panel("", finals) }]);
        Drawn::new(&svg).count("note") == 1
    };
    assert!(ask(AxisScale::Log, &[10.0, 11.0]));
    assert!(!ask(AxisScale::Linear, &[0.3, 80_000.0]));
}

#[test]
fn unusual_series_are_drawn_inside_their_panels() {
    let cases = [
        Series::new("one point", [5.0], [2.0]).with_band([1.0], [3.0]),
        Series::new("constant", [0.0, 1.0], [7.0, 7.0]),
        Series::new("zero", [0.0, 1.0], [0.0, 0.0]),
        Series::new("negative", [-2.0, -1.0], [-5.0, -9.0]),
        Series::new("huge", [0.0, 1e99], [0.0, 1e99]),
        Series::new("tiny", [0.0, 1e-99], [0.0, 1e-99]),
        Series::new("nearly constant", [0.0, 1.0], [1e6, 1e6 + 1e-3]),
        Series::new("far from zero", [2_000_000.0, 2_000_010.0], [1.0, 2.0]),
    ];
    for series in cases {
        for y_scale in [AxisScale::Auto, AxisScale::Linear, AxisScale::Log] {
            for x_scale in [AxisScale::Auto, AxisScale::Log] {
                let panels =
                    vec![CurvesPanel { y_scale, series: vec![series.clone()], ..CurvesPanel::default() }];
                let svg = Curves { x_scale, panels, ..Curves::default() }.svg().expect("valid");
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{}: {svg}", series.name);
                let drawn = Drawn::new(&svg);
                drawn.assert_readable();
                assert!(drawn.count("y-tick") >= 2, "{} {y_scale:?}: {svg}", series.name);
                assert_eq!(drawn.count("line"), 1);
            }
        }
    }
}

#[test]
fn thirty_lines_that_end_together_keep_their_labels_apart() {
    let series = (0..30).map(|index| regret(&format!("policy number {index}"), 50.0)).collect();
    let svg = curves(vec![CurvesPanel { series, ..CurvesPanel::default() }]);
    let drawn = Drawn::new(&svg);
    drawn.assert_readable();
    assert!(drawn.count("leader") > 20);
}

#[test]
fn a_name_keeps_its_colour_and_dashes_across_figures() {
    let palette = Palette::new(NAMES);
    let looks = |panel: CurvesPanel| {
        let curves = Curves { palette: palette.clone(), panels: vec![panel], ..Curves::default() };
        let svg = curves.svg().expect("valid");
        let drawn = Drawn::new(&svg);
        let line =
            drawn.of_class("line").into_iter().find(|line| line.attribute("data-name") == Some("Greedy"));
        let line = line.expect("drawn");
        ["stroke", "stroke-dasharray"].map(|name| line.attribute(name).unwrap_or_default().to_owned())
    };
    let alone = CurvesPanel { series: vec![regret("Greedy", 3.0)], ..CurvesPanel::default() };
    assert_eq!(looks(panel("", &[1.0, 2.0, 3.0, 4.0, 5.0])), looks(alone));
}

#[test]
fn markers_and_slopes_are_drawn_on_logarithmic_axes() {
    let x = [100.0, 1_000.0, 10_000.0];
    let reference = |name: &str, slope, through| Reference { name: name.into(), slope, through };
    let panel = CurvesPanel {
        y_scale: AxisScale::Log,
        series: vec![Series::new("measured", x, [10.0, 31.0, 100.0])],
        references: vec![
            reference("slope 1/2", 0.5, (100.0, 5.0)),
            reference("slope 3", 3.0, (100.0, 20.0)),
            reference("elsewhere", 0.0, (100.0, 1e9)),
        ],
        ..CurvesPanel::default()
    };
    let (x_scale, markers) = (AxisScale::Log, true);
    let curves = Curves { x_scale, markers, panels: vec![panel], ..Curves::default() };
    let svg = curves.svg().expect("valid");
    let drawn = Drawn::new(&svg);
    drawn.assert_readable();
    assert_eq!((drawn.count("marker"), drawn.count("reference")), (3, 2));
    let half = drawn.of_class("reference")[0].attribute("d").expect("a path").to_owned();
    assert_eq!(half.matches('L').count(), 1, "a power law is straight on logarithmic axes: {half}");
}

#[test]
fn shares_fill_the_panel_whatever_their_unit() {
    let share = |name: String, size: Vec<f64>| Share { name, size };
    let layers = (0..16).map(|layer| share(layer.to_string(), vec![1.0, f64::from(layer), 0.0])).collect();
    let branches =
        vec![share("online".into(), vec![0.0, 3.0, 9.0]), share("pooled".into(), vec![4.0, 3.0, 1.0])];
    let panel =
        |shares, palette| SharesPanel { title: "By kind".into(), x: vec![0.0, 10.0, 20.0], shares, palette };
    let panels = vec![panel(layers, None), panel(branches, Some(Palette::default()))];
    let shares = Shares { x_label: "round".into(), y_label: "share".into(), panels, ..Shares::default() };
    let svg = shares.svg().expect("valid");
    let drawn = Drawn::new(&svg);
    drawn.assert_readable();
    assert_eq!((drawn.count("panel"), drawn.count("share"), drawn.count("key-name")), (2, 18, 18));
    assert_eq!(drawn.texts("y-tick")[..6], ["0%", "20%", "40%", "60%", "80%", "100%"]);
    let fills: Vec<_> =
        drawn.of_class("share").iter().map(|area| area.attribute("fill").map(str::to_owned)).collect();
    assert!((1..16).all(|index| !fills[..index].contains(&fills[index])), "layers differ in colour");
}

#[test]
fn shrinking_outlines_keep_their_labels_apart_and_their_aspect() {
    let outline = |name: &str, radius: f64| Outline {
        name: name.into(),
        points: (0..60)
            .map(|k| f64::from(k) / 9.55)
            .map(|t| (1.0 + radius * t.cos(), radius * t.sin()))
            .collect(),
        center: Some((1.0, 0.0)),
        dashed: false,
    };
    let panel = |radius: f64| EllipsesPanel {
        title: "After a while".into(),
        outlines: vec![outline("online", radius), outline("pooled", radius / 2.0), outline("logs", 0.9)],
        truth: Some((1.0, 0.0)),
    };
    let panels = [1.0, 0.3, 0.1, 0.0].map(panel).to_vec();
    let ellipses = Ellipses { truth_name: "truth".into(), panels, ..Ellipses::default() };
    let svg = ellipses.svg().expect("valid");
    let drawn = Drawn::new(&svg);
    drawn.assert_readable();
    let counts = ["panel", "outline", "center", "truth", "label"].map(|class| drawn.count(class));
    assert_eq!(counts, [4, 12, 12, 4, 16]);
    let d = drawn.of_class("outline")[0].attribute("d").expect("a path").to_owned();
    let numbers: Vec<f64> = d.split(['M', 'L', ' ']).filter_map(|part| part.parse().ok()).collect();
    let span = |offset: usize| {
        let values = || numbers.iter().skip(offset).step_by(2).copied();
        values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
    };
    assert!((span(0) - span(1)).abs() < 1.0, "a circle stays round: {} by {}", span(0), span(1));
}

#[test]
fn outlines_with_units_of_their_own_fill_both_axes() {
    let points = vec![(0.0, 0.0), (1e-9, 0.0), (1e-9, 1e6), (0.0, 1e6)];
    let outline =
        |dashed| Outline { name: "logs".into(), points: points.clone(), center: Some((5e-10, 5e5)), dashed };
    let panels = vec![EllipsesPanel { outlines: vec![outline(true)], ..EllipsesPanel::default() }];
    let ellipses = Ellipses { own_units: true, panels, ..Ellipses::default() };
    let svg = ellipses.svg().expect("valid");
    let drawn = Drawn::new(&svg);
    drawn.assert_readable();
    let d = drawn.of_class("outline")[0].attribute("d").expect("a path").to_owned();
    let numbers: Vec<f64> = d.split(['M', 'L', ' ']).filter_map(|part| part.parse().ok()).collect();
    let span = |offset: usize| {
        let values = || numbers.iter().skip(offset).step_by(2).copied();
        values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
    };
    assert!((span(0) - span(1)).abs() < 1.0 && span(0) > 200.0, "{} by {}", span(0), span(1));
}

#[test]
fn bars_are_as_long_as_their_values() {
    let bars = [("LinUCB", 80.0), ("MinUCB", 40.0), ("none", 0.0)].map(|(name, value)| (name.into(), value));
    for scale in [AxisScale::Linear, AxisScale::Log] {
        let figure =
            Bars { scale, value_label: "final regret".into(), bars: bars.to_vec(), ..Bars::default() };
        let svg = figure.svg().expect("valid");
        let drawn = Drawn::new(&svg);
        drawn.assert_readable();
        let widths: Vec<f64> = drawn.of_class("bar").iter().map(|bar| number(*bar, "width")).collect();
        assert_eq!((widths.len(), drawn.texts("value").len()), (3, 3));
        assert!(widths[0] > widths[1] && widths[2].abs() < 1e-9, "{widths:?}");
        if scale == AxisScale::Linear {
            assert!((widths[0] - 2.0 * widths[1]).abs() < 0.1, "{widths:?}");
        }
    }
}

const LEGEND: [&str; 4] = ["drifted", "drifted, harmless", "no drift seen", "too little to matter"];

/// A name, a size, an interval and a share.
type Numbers<'a> = (&'a str, f64, Option<Interval>, f64);

fn around(value: f64, half: f64) -> Interval {
    Interval { value, low: value - half, high: value + half }
}

fn rows(rows: &[Numbers], band: f64) -> String {
    let row = |&(name, size, interval, share): &Numbers| Row {
        name: name.into(),
        size,
        interval,
        share,
        ..Row::default()
    };
    let (title, heading) = ("What has been learned".to_owned(), "Name".to_owned());
    let (notes, rows) = (["a unit"; 3].map(str::to_owned), rows.iter().map(row).collect());
    let (columns, legend) = (["Coverage", "Drift", "Trust"], LEGEND);
    RowsFigure { title, heading, columns, notes, legend, margin: band, rows }.svg().expect("valid")
}

#[test]
fn every_row_has_its_size_interval_and_share() {
    let svg = rows(
        &[
            ("moved", 1_000.0, Some(around(0.5, 0.1)), 0.004),
            ("steady", 100.0, Some(around(0.05, 0.1)), 0.996),
            ("moved down", 10.0, Some(around(-0.3, 0.2)), 0.5),
            ("not met", 0.0, Some(around(0.0, 0.4)), 0.0),
            ("no idea", 1.0, None, 1.0),
        ],
        0.0,
    );
    let drawn = Drawn::new(&svg);
    drawn.assert_readable();
    let counts = ["panel", "row-name", "coverage", "interval", "estimate", "unknown", "trust", "zero"];
    assert_eq!(counts.map(|class| drawn.count(class)), [1, 5, 5, 4, 4, 1, 5, 1]);
    assert_eq!(drawn.texts("value"), ["1,000", "100", "10", "0", "1"]);
    assert_eq!(drawn.texts("share"), ["<1%", ">99%", "50%", "0%", "100%"]);
    assert_eq!(drawn.texts("legend-name"), [LEGEND[0], LEGEND[2]]);

    let place = |class: &str, name: &str| -> Vec<f64> {
        drawn.of_class(class).iter().map(|node| number(*node, name)).collect()
    };
    let sizes = place("coverage", "width");
    assert!((sizes[0] - sizes[1] - (sizes[1] - sizes[2])).abs() < 0.1, "a log scale: {sizes:?}");
    assert!(sizes[4] > 0.0 && sizes[3].abs() < 1e-9, "one has a length, none has not: {sizes:?}");
    let shares = place("trust", "width");
    assert!((shares[4] - 2.0 * shares[2]).abs() < 0.1, "{shares:?}");

    let (zero, dots) = (place("zero", "x1")[0], place("estimate", "cx"));
    assert!(dots[0] > dots[1] && dots[1] > zero && zero > dots[2], "{dots:?} around {zero}");
    let colors: Vec<_> =
        drawn.of_class("estimate").iter().map(|dot| dot.attribute("fill").unwrap()).collect();
    assert!(colors[0] == colors[2] && colors[0] != colors[1], "what excludes zero stands out: {colors:?}");
}

#[test]
fn a_band_lies_around_zero() {
    let svg = |band: f64| rows(&[("price", 10.0, Some(around(0.4, 0.1)), 0.1)], band);
    let (banded, plain) = (svg(0.1), svg(0.0));
    let drawn = Drawn::new(&banded);
    drawn.assert_readable();
    let band = drawn.of_class("margin");
    let [x, width] = ["x", "width"].map(|name| number(band[0], name));
    let zero = number(drawn.of_class("zero")[0], "x1");
    assert!((x + width / 2.0 - zero).abs() < 0.1 && width > 10.0, "{x} {width} {zero}");
    assert!(banded.contains(LEGEND[3]) && !plain.contains(LEGEND[3]));
    assert_eq!(Drawn::new(&plain).count("margin"), 0);
}

#[test]
fn sixty_rows_with_long_names_are_readable() {
    let name = |index| format!("{index} minutes since the last visit to any page of the shop");
    let names: Vec<String> = (0..60).map(name).collect();
    let row = |index: u32| -> Numbers {
        (&names[index as usize], 1e7 * 0.6_f64.powf(f64::from(index)), Some(around(0.01, 0.5)), 0.5)
    };
    let svg = rows(&(0..60).map(row).collect::<Vec<_>>(), 0.0);
    let drawn = Drawn::new(&svg);
    drawn.assert_readable();
    let names = drawn.texts("row-name");
    assert!(names.len() == 60 && names.iter().all(|name| name.ends_with('…')), "{names:?}");
    let height = |svg: &str| number(Drawn::new(svg).of_class("stripe")[0], "height");
    assert!((height(&svg) - height(&rows(&[row(0)], 0.0))).abs() < 1e-9, "rows keep their height");
}

#[test]
fn one_vague_interval_does_not_squeeze_the_others() {
    let mut all = vec![("clear", 10.0, Some(around(0.1, 0.05)), 0.5); 9];
    all.push(("vague", 10.0, Some(around(0.1, 50.0)), 0.5));
    all.push(("vague below", 10.0, Some(Interval { value: 0.1, low: -9.0, high: 0.1 }), 0.5));
    let svg = rows(&all, 0.0);
    let drawn = Drawn::new(&svg);
    drawn.assert_readable();
    assert_eq!(drawn.count("cut"), 3, "two ends of the vague one, one of the other");
    let clear = drawn.of_class("interval")[0];
    assert!(number(clear, "x2") - number(clear, "x1") > 50.0);
}

#[test]
fn unusual_rows_are_drawn_inside_their_columns() {
    let every = [
        ("", 0.0, None, 0.0),
        ("", 1e-99, Some(around(0.0, 0.0)), 1.0),
        ("", 1e99, Some(around(1e99, 1e98)), 0.5),
        ("", 3.0, Some(around(-1e-99, 0.0)), 0.5),
        ("", 1.0, Some(around(5.5, 0.5)), 0.5),
    ];
    let together = every.to_vec();
    for cases in every.into_iter().map(|row| vec![row]).chain([together]) {
        let svg = rows(&cases, 0.0);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        let drawn = Drawn::new(&svg);
        drawn.assert_readable();
        assert!(drawn.of_class("coverage").iter().all(|bar| number(*bar, "width") >= 0.0));
    }
}

#[test]
fn any_text_is_escaped_and_fits() {
    let hostile = "<script>alert(\"&\")</script> '\u{1}' ".repeat(5);
    let series = vec![regret(&hostile, 3.0), regret("", 4.0)];
    let panels = vec![CurvesPanel { title: hostile.clone(), series, ..CurvesPanel::default() }];
    let (title, x_label, y_label) = (hostile.clone(), hostile.clone(), hostile.clone());
    let curves = Curves { title, x_label, y_label, panels, ..Curves::default() };
    let svg = curves.svg().expect("valid");
    Drawn::new(&svg).assert_readable();
    assert!(!svg.contains("<script"));
    let rows = vec![Row { name: hostile.clone(), size: 1.0, interval: None, share: 0.5, ..Row::default() }];
    let (title, heading) = (hostile.clone(), hostile.clone());
    let notes = [hostile.clone(), hostile.clone(), hostile];
    let svg = RowsFigure { title, heading, notes, rows, ..RowsFigure::default() }.svg().expect("valid");
    Drawn::new(&svg).assert_readable();
    assert!(!svg.contains("<script"));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let draw = || curves(vec![panel("Aligned logs", &[0.3, 45.0])]);
    assert_eq!(draw(), draw());
    assert_eq!(png(&draw(), 0.4).expect("pixels"), png(&draw(), 0.4).expect("pixels"));
}

#[test]
fn long_lines_lose_points_that_nobody_sees() {
    let x: Vec<f64> = (0..50_000).map(f64::from).collect();
    let mean: Vec<f64> = x.iter().map(|t| t.sqrt()).collect();
    let svg =
        curves(vec![CurvesPanel { series: vec![Series::new("long", x, mean)], ..CurvesPanel::default() }]);
    assert!(svg.len() < 10_000, "{} bytes", svg.len());
}

#[test]
fn a_log_axis_shows_all_that_is_positive_of_lines_that_end_at_zero() {
    let series = Series::new("rows", vec![1.0, 2.0, 3.0, 4.0], vec![11_785.0, 3_000.0, 215.0, 0.0]);
    let panel = CurvesPanel { y_scale: AxisScale::Log, series: vec![series], ..CurvesPanel::default() };
    let svg = Curves { panels: vec![panel], ..Curves::default() }.svg().unwrap();
    assert!(svg.contains("≤ 100") && svg.contains("1,000"), "{svg}");
}
