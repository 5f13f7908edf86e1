//! What figures refuse, and the sentence they say.

use truenorth_report::{
    Bar, BarGroup, Bars, BarsFigure, Curves, CurvesFigure, CurvesPanel, Direction, Directions,
    DirectionsFigure, DirectionsPanel, Drift, Ellipses, EllipsesFigure, EllipsesPanel, Error, Outline,
    OutlineStyle, Reference, Series, Share, ShareColors, Shares, SharesFigure, SharesPanel, png,
};

fn refusal(series: Vec<Series>, references: Vec<Reference>) -> String {
    let panels = vec![CurvesPanel { series, references, ..CurvesPanel::default() }];
    let figure = CurvesFigure::new(Curves { panels, ..Curves::default() });
    figure.expect_err("refused").to_string()
}

#[test]
fn curves_name_the_number_they_refuse() {
    let line = |x: &[f64], mean: &[f64]| refusal(vec![Series::new("a", x, mean)], vec![]);
    assert_eq!(line(&[1.0, 2.0], &[1.0]), "`mean` of `a` must hold 2 numbers, but holds 1");
    assert_eq!(line(&[], &[]), "`a` must hold at least one point");
    assert_eq!(
        line(&[1.0, 2.0], &[1.0, f64::NAN]),
        "`mean` 1 of `a` must be finite and at most 1e100 in size, but is NaN"
    );
    assert_eq!(
        line(&[1.0, f64::INFINITY], &[1.0, 1.0]),
        "`x` 1 of `a` must be finite and at most 1e100 in size, but is inf"
    );
    assert_eq!(line(&[2.0, 1.0], &[1.0, 1.0]), "`x` 1 of `a` must be above the one before, but is 1");
    assert_eq!(
        refusal(vec![Series::new("a", [1.0], [1.0]).with_band([2.0], [1.0])], vec![]),
        "`high` 0 of `a` must be at least `low`, but is 1"
    );
    assert_eq!(refusal(vec![], vec![]), "panel `` must hold at least one series");
    let reference = Reference { name: "r".into(), slope: 1.0, through: (1.0, 0.0) };
    assert_eq!(
        refusal(vec![Series::new("a", [1.0], [1.0])], vec![reference]),
        "`through` 1 of `r` must be above 0, but is 0"
    );
    let nothing = CurvesFigure::new(Curves::default()).expect_err("refused");
    assert!(matches!(nothing, Error::Empty { what: "panel", .. }), "{nothing}");
}

#[test]
fn shares_refuse_negative_parts_and_unequal_lengths() {
    let refusal = |x: &[f64], size: &[f64]| {
        let shares = vec![Share { name: "a".into(), size: size.into() }];
        let panel = SharesPanel { title: "p".into(), x: x.into(), shares, colors: ShareColors::Ramp };
        SharesFigure::new(Shares { panels: vec![panel], ..Shares::default() })
            .expect_err("refused")
            .to_string()
    };
    assert_eq!(refusal(&[1.0], &[-1.0]), "`size` 0 of `a` must be at least 0, but is -1");
    assert_eq!(refusal(&[1.0], &[1.0, 2.0]), "`size` of `a` must hold 1 numbers, but holds 2");
    assert_eq!(refusal(&[], &[]), "`p` must hold at least one point");
}

#[test]
fn outlines_refuse_to_be_empty_or_infinite() {
    let refusal = |points: Vec<(f64, f64)>| {
        let outlines = vec![Outline { name: "a".into(), points, center: None, style: OutlineStyle::Line }];
        let panels = vec![EllipsesPanel { outlines, ..EllipsesPanel::default() }];
        EllipsesFigure::new(Ellipses { panels, ..Ellipses::default() }).expect_err("refused")
    };
    assert!(matches!(refusal(vec![]), Error::Empty { what: "point", .. }));
    assert!(matches!(refusal(vec![(0.0, f64::NAN)]), Error::NotFinite { list: "points", index: 1, .. }));
}

#[test]
fn bars_refuse_values_outside_their_error_bars() {
    let refusal = |bar: Bar| {
        let groups = vec![BarGroup { title: String::new(), bars: vec![bar] }];
        BarsFigure::new(Bars { groups, ..Bars::default() }).expect_err("refused")
    };
    assert!(matches!(refusal(Bar::new("a", 1.0).with_error(2.0, 3.0)), Error::Range { list: "value", .. }));
    assert!(matches!(
        refusal(Bar::new("a", 1.0).with_error(f64::NAN, 3.0)),
        Error::NotFinite { list: "low", .. }
    ));
    assert!(matches!(refusal(Bar::new("a", f64::INFINITY)), Error::NotFinite { .. }));
}

#[test]
fn directions_name_the_number_they_refuse() {
    let refusal = |coverage, drift, trust| {
        let directions = vec![Direction { name: "a".into(), coverage, drift, trust }];
        let panels = vec![DirectionsPanel { title: String::new(), directions }];
        let figure = DirectionsFigure::new(Directions { panels, ..Directions::default() });
        figure.expect_err("refused").to_string()
    };
    let unknown = Drift::Unknown;
    assert_eq!(refusal(-1.0, unknown, 0.5), "`coverage` 0 of `a` must be at least 0, but is -1");
    assert_eq!(refusal(1.0, unknown, 1.5), "`trust` 0 of `a` must be at most 1, but is 1.5");
    assert_eq!(
        refusal(f64::INFINITY, unknown, 0.5),
        "`coverage` 0 of `a` must be finite and at most 1e100 in size, but is inf"
    );
    let outside = Drift::Estimate { value: 3.0, low: 1.0, high: 2.0 };
    assert_eq!(refusal(1.0, outside, 0.5), "`high` 0 of `a` must be at least `value`, but is 2");
    let turned = Drift::Prior { low: 1.0, high: -1.0 };
    assert_eq!(refusal(1.0, turned, 0.5), "`high` 0 of `a` must be at least `low`, but is -1");
    let none = DirectionsFigure::new(Directions::default()).expect_err("refused").to_string();
    assert_eq!(none, "a figure of directions must hold at least one panel");
    let panels = vec![DirectionsPanel::default()];
    let none = DirectionsFigure::new(Directions { panels, ..Directions::default() });
    assert_eq!(none.expect_err("refused").to_string(), "panel `` must hold at least one direction");
}

#[test]
fn png_refuses_what_is_no_figure_and_sizes_that_are_none() {
    assert!(matches!(png("not a figure", 1.0), Err(Error::Svg(_))));
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"10\"/>";
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e9] {
        assert!(matches!(png(svg, scale), Err(Error::Size { .. })), "{scale}");
    }
    assert!(png(svg, 1.0).is_ok());
}
