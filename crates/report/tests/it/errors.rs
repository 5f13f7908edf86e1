//! What figures refuse, and the sentence they say.

use truenorth_report::{
    Bars, Curves, CurvesPanel, Ellipses, EllipsesPanel, Error, Interval, Outline, Reference, Row, RowsFigure,
    Series, Share, Shares, SharesPanel, png,
};

const FINITE: &str = "finite and at most 1e100 in size";

fn refusal(series: Vec<Series>, references: Vec<Reference>) -> String {
    let panels = vec![CurvesPanel { series, references, ..CurvesPanel::default() }];
    Curves { panels, ..Curves::default() }.svg().expect_err("refused").to_string()
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
    let nothing = Curves::default().svg().expect_err("refused");
    assert!(matches!(nothing, Error::Empty { what: "panel", .. }), "{nothing}");
}

#[test]
fn shares_refuse_negative_parts_and_unequal_lengths() {
    let refusal = |x: &[f64], size: &[f64]| {
        let shares = vec![Share { name: "a".into(), size: size.into() }];
        let panel = SharesPanel { title: "p".into(), x: x.into(), shares, palette: None };
        Shares { panels: vec![panel], ..Shares::default() }.svg().expect_err("refused").to_string()
    };
    assert_eq!(refusal(&[1.0], &[-1.0]), "`size` 0 of `a` must be at least 0, but is -1");
    assert_eq!(refusal(&[1.0], &[1.0, 2.0]), "`size` of `a` must hold 1 numbers, but holds 2");
    assert_eq!(refusal(&[], &[]), "`p` must hold at least one point");
}

#[test]
fn outlines_refuse_to_be_empty_or_infinite() {
    let refusal = |points: Vec<(f64, f64)>| {
        let outlines = vec![Outline { name: "a".into(), points, center: None, dashed: true }];
        let panels = vec![EllipsesPanel { outlines, ..EllipsesPanel::default() }];
        Ellipses { panels, ..Ellipses::default() }.svg().expect_err("refused")
    };
    assert!(matches!(refusal(vec![]), Error::Empty { what: "point", .. }));
    let infinite = refusal(vec![(0.0, f64::NAN)]);
    assert!(matches!(infinite, Error::Range { list: "points", index: 1, range: FINITE, .. }), "{infinite}");
}

#[test]
fn bars_refuse_to_be_infinite() {
    let refusal = |bars| Bars { bars, ..Bars::default() }.svg().expect_err("refused");
    for value in [f64::INFINITY, f64::NAN] {
        let infinite = refusal(vec![("a".into(), value)]);
        assert!(matches!(infinite, Error::Range { list: "value", range: FINITE, .. }), "{infinite}");
    }
    assert!(matches!(refusal(vec![]), Error::Empty { what: "bar", .. }));
}

#[test]
fn rows_name_the_number_they_refuse() {
    let refused = |rows| RowsFigure { rows, ..RowsFigure::default() }.svg().expect_err("refused").to_string();
    let refusal = |size, interval, share| {
        refused(vec![Row { name: "a".into(), size, interval, share, ..Row::default() }])
    };
    let size = |size| refusal(size, None, 0.5);
    assert_eq!(size(-1.0), "`size` 0 of `a` must be at least 0, but is -1");
    assert_eq!(size(f64::INFINITY), "`size` 0 of `a` must be finite and at most 1e100 in size, but is inf");
    let share = |share| refusal(1.0, None, share);
    assert_eq!(share(1.5), "`share` 0 of `a` must be at most 1, but is 1.5");
    assert_eq!(share(-0.5), "`share` 0 of `a` must be at least 0, but is -0.5");
    let interval = |value, low, high| refusal(1.0, Some(Interval { value, low, high }), 0.5);
    assert_eq!(interval(3.0, 1.0, 2.0), "`high` 0 of `a` must be at least `value`, but is 2");
    assert_eq!(interval(-1.0, 1.0, 2.0), "`value` 0 of `a` must be at least `low`, but is -1");
    assert_eq!(refused(vec![]), "a figure of rows must hold at least one row");
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
