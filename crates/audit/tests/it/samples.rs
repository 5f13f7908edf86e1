//! Audits made by hand: what pages have to cope with.

use truenorth_audit::{
    Audit, Bounds, CertificateView, Cost, Direction, Feature, Finding, MeasuredCost, Pair, PairEstimate,
    PilotView, Use, Verdict, Worth,
};

const BIKES: [&str; 15] = [
    "f_one",
    "f_temp",
    "f_temp2",
    "f_hum",
    "f_wind",
    "f_hsin1",
    "f_hcos1",
    "f_hsin2",
    "f_hcos2",
    "f_ysin",
    "f_ycos",
    "f_weekend",
    "f_holiday",
    "f_rain",
    "f_trend",
];

/// Name and audit of every sample.
pub(crate) fn all() -> Vec<(&'static str, Audit)> {
    vec![
        ("typical", typical()),
        ("no-pilot", no_pilot()),
        ("all-fine", all_fine()),
        ("all-drifted", all_drifted()),
        ("large", large(200)),
        ("nasty", nasty()),
        ("extreme", extreme()),
        ("nothing", nothing()),
        ("one", large(1)),
    ]
}

/// Fifteen features of shared bikes, six of which drifted.
pub(crate) fn typical() -> Audit {
    let drifts =
        [0.21, 0.34, -0.12, 0.01, -0.02, 0.085, -0.11, 0.004, 0.052, 0.01, -0.02, 0.03, 0.001, -0.04, 0.16];
    let drifted =
        [true, true, false, false, false, true, true, false, true, false, false, false, false, false, true];
    let errors =
        [0.031, 0.05, 0.09, 0.012, 0.011, 0.011, 0.012, 0.008, 0.009, 0.06, 0.07, 0.02, 0.011, 0.05, 0.022];
    let features = (0..15).map(|i| feature(BIKES[i], i, Some((drifts[i], errors[i], drifted[i])))).collect();
    audit(features, true)
}

/// The same logs before anything live was seen.
pub(crate) fn no_pilot() -> Audit {
    let features = (0..15).map(|i| feature(BIKES[i], i, None)).collect();
    let sentence = "The logs cover most directions, but nothing live has tested them: use them with a policy that \
                    checks them while it plays.";
    Audit {
        verdict: Verdict { usable: Use::Unclear, sentence: sentence.to_owned() },
        ..audit(features, false)
    }
}

/// Nothing drifted.
pub(crate) fn all_fine() -> Audit {
    let features = (0..15).map(|i| feature(BIKES[i], i, Some((0.003 * wave(i), 0.009, false)))).collect();
    let sentence = "No feature has moved: every direction of the logs still counts.".to_owned();
    let fine = audit(features, true);
    Audit {
        verdict: Verdict { usable: Use::All, sentence },
        advice: vec!["Start from all of the logs.".to_owned()],
        pilot: fine.pilot.map(|pilot| PilotView { p_value: Some(0.62), ..pilot }),
        worth_rounds: 1480.0,
        worth: Worth { after_pilot: Some(1480.0), ..fine.worth },
        ..fine
    }
}

/// Everything did.
pub(crate) fn all_drifted() -> Audit {
    let features =
        (0..15).map(|i| feature(BIKES[i], i, Some((0.4 * wave(i).signum() + 0.1 * wave(i), 0.02, true))));
    let sentence = "Every feature has moved: the logs say nothing about live rewards.".to_owned();
    let bad = audit(features.collect(), true);
    Audit {
        verdict: Verdict { usable: Use::None, sentence },
        worth_rounds: 0.03,
        worth: Worth { after_pilot: Some(0.03), ..bad.worth },
        bounds: bad.bounds.map(|bounds| Bounds { logs_pay: false, with_logs: 9_120.0, ..bounds }),
        ..bad
    }
}

/// Many features, a tenth of which drifted.
pub(crate) fn large(dimension: usize) -> Audit {
    let features = (0..dimension).map(|i| {
        let drifted = i % 10 == 3;
        let drift = if drifted { 0.3 * wave(i).signum() } else { 0.01 * wave(i) };
        feature(
            &format!("user_segment_{i:03}_x_hour"),
            i,
            Some((drift, 0.01 + 0.02 * wave(i).abs(), drifted)),
        )
    });
    audit(features.collect(), true)
}

/// Names that nobody should use, but somebody will.
pub(crate) fn nasty() -> Audit {
    let names = [
        "<script>alert(1)</script>",
        "a & b < c > d",
        "\"double\" and 'single' quotes",
        "größe_überall_äöüß",
        "温度と湿度の相互作用",
        "حرارة الجو",
        "🚲🌧️ bikes",
        "",
        "   ",
        "a_name_that_never_ends_because_somebody_joined_seven_tables_and_kept_every_prefix_of_each_of_them_and_then_some",
        "line\nbreak\tand\u{7}bell",
        "</style></td></svg>",
        "x",
        "&amp;",
        "-1",
    ];
    let features = names.iter().enumerate().map(|(i, name)| {
        let drift = if i < 10 { 0.2 * wave(i).signum() } else { 0.01 };
        feature(name, i, Some((drift, 0.02, i < 10)))
    });
    let audit = audit(features.collect(), true);
    let advice = vec!["Drop <b>a & b</b>, \"then\" measure again.".to_owned(), names[9].to_owned()];
    let sentence = "Some of <these> & \"those\" moved.".to_owned();
    Audit { advice, verdict: Verdict { usable: Use::Some, sentence }, ..audit }
}

/// Units from 10⁻³⁰ to 10³⁰, and numbers that are none.
pub(crate) fn extreme() -> Audit {
    let sizes = [1e-30, 1e30, 1.0, 1e-17, 1e17, 1e-300, 1e300, 0.0];
    let features = sizes.iter().enumerate().map(|(i, &size)| {
        let mut feature = feature(&format!("size {size:e}"), i, Some((size, 0.1 * size, i % 2 == 0)));
        feature.estimate = size;
        (feature.finding.coverage, feature.finding.typical) = (size, 1.0 / size);
        feature
    });
    let mut features: Vec<Feature> = features.collect();
    for (i, value) in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY].into_iter().enumerate() {
        let mut feature = feature("no number", i, Some((value, value, false)));
        feature.estimate = value;
        let interval = Some([value, value]);
        feature.finding =
            Finding { coverage: value, typical: value, trust: value, interval, ..feature.finding };
        features.push(feature);
    }
    let mut audit = audit(features, true);
    (audit.noise, audit.norm, audit.worth_rounds, audit.effective_dimension) = (1e-30, 1e30, 1e30, f64::NAN);
    audit.worth = Worth {
        unbiased: 1e30,
        stated_drift: 1e-30,
        under_stated_drift: f64::NAN,
        after_pilot: Some(1e-30),
        interval: Some([0.0, 1e-30]),
    };
    audit.rows = u64::MAX;
    if let Some(pair) = &mut audit.pair {
        pair.logs.covariance = [[1e-60, 0.0], [0.0, 1e60]];
        pair.logs.estimate = [1e-30, 1e30];
        pair.live = Some(PairEstimate { estimate: [2e-30, 3e30], covariance: [[1e-60, 0.0], [0.0, 1e60]] });
        pair.budgets = [1e-29, 1e31];
    }
    audit
}

/// As little as an audit can hold.
pub(crate) fn nothing() -> Audit {
    Audit {
        verdict: Verdict { usable: Use::None, sentence: String::new() },
        rows: 0,
        dimension: 0,
        noise: 0.0,
        norm: 0.0,
        effective_dimension: 0.0,
        worth_rounds: 0.0,
        features: Vec::new(),
        directions: Vec::new(),
        certificate: CertificateView { matrix: Vec::new(), rho: 0.0 },
        scale: 1.0,
        level: 0.05,
        margin: 0.2,
        pilot: None,
        cost: None,
        worth: Worth {
            unbiased: 0.0,
            stated_drift: 0.0,
            under_stated_drift: 0.0,
            after_pilot: None,
            interval: None,
        },
        bounds: None,
        pair: None,
        advice: Vec::new(),
    }
}

/// A number between -1 and 1 that looks like chance.
fn wave(i: usize) -> f64 {
    (7.3 * i as f64 + 1.0).sin()
}

fn feature(name: &str, i: usize, drift: Option<(f64, f64, bool)>) -> Feature {
    let coverage = 9000.0 * (-0.35 * (i % 15) as f64).exp() * (1.0 + 0.3 * wave(i));
    let typical = 0.4 + 0.3 * wave(i).abs();
    let mut finding = Finding {
        typical,
        coverage,
        drift: None,
        stderr: None,
        interval: None,
        p_value: None,
        drifted: None,
        spread: drift.map(|_| typical),
        margin: drift.map(|_| 0.06 / typical),
        equivalent: None,
        trust: 0.5,
        mean_square: None,
    };
    if let Some((drift, stderr, drifted)) = drift {
        let ends = [drift - 3.0 * stderr, drift + 3.0 * stderr];
        let equivalent = typical * ends[0].abs().max(ends[1].abs()) < 0.2 * 0.31;
        finding = Finding {
            drift: Some(drift),
            stderr: Some(stderr),
            interval: Some(ends),
            p_value: Some(if drifted { 1e-9 } else { 0.4 }),
            drifted: Some(drifted),
            equivalent: Some(equivalent),
            trust: if drifted { 0.002 } else { 0.5 + 0.4999 * f64::from(u8::from(equivalent)) },
            ..finding
        };
    }
    Feature { name: name.to_owned(), estimate: wave(i), finding }
}

fn audit(features: Vec<Feature>, tested: bool) -> Audit {
    let dimension = features.len();
    let direction = |place: usize| {
        let mut weights = vec![0.02 / (dimension as f64).sqrt(); dimension];
        weights[place] = 0.83;
        weights[(place + 3) % dimension] += -0.5;
        let coverage = 12_000.0 * (-9.0 * place as f64 / dimension as f64).exp();
        Direction { weights, finding: Finding { typical: 0.5, coverage, ..features[place].finding } }
    };
    let matrix = (0..dimension).map(|i| {
        let budget = features[i].finding.drift.map_or(0.3, |drift| drift.abs() + 0.03);
        (0..dimension).map(|j| if i == j { 1.0 / (budget * budget) } else { 0.0 }).collect()
    });
    let near = |estimate: [f64; 2], x: f64, y: f64, tilt: f64| PairEstimate {
        estimate,
        covariance: [[x * x, tilt * x * y], [tilt * x * y, y * y]],
    };
    let names = |i: usize| features.get(i).map_or("rest".to_owned(), |feature| feature.name.clone());
    let pair = Pair {
        names: if tested {
            [names(1), names(0)]
        } else {
            ["0.8 f_ycos − 0.5 f_one".to_owned(), "f_rain".to_owned()]
        },
        logs: near([0.42, -0.2], 0.008, 0.006, -0.3),
        live: tested.then(|| near([0.76, 0.01], 0.05, 0.031, 0.4)),
        budgets: [0.37, 0.24],
    };
    Audit {
        verdict: Verdict {
            usable: Use::Some,
            sentence:
                "The logs still hold for most features, but six have moved: use the logs for the rest, and \
                       let live data decide about f_one, f_temp, f_hsin1, f_hcos1, f_hcos2 and f_trend."
                    .to_owned(),
        },
        rows: 12_165,
        dimension,
        noise: 0.31,
        norm: 1.4,
        effective_dimension: 0.42 * dimension as f64,
        worth_rounds: if tested { 431.0 } else { 212.0 },
        directions: (0..dimension).map(direction).collect(),
        certificate: CertificateView { matrix: matrix.collect(), rho: (dimension as f64).sqrt() },
        scale: 0.25,
        level: 0.05,
        margin: 0.2,
        pilot: tested.then_some(PilotView {
            rows: 2_000,
            independent: 400,
            noise: 0.334,
            p_value: Some(3e-17),
            outcomes: Some(2_000),
            settled_by: None,
        }),
        cost: tested.then_some(Cost {
            estimate: 0.031,
            stderr: 0.008,
            interval: [0.016, 0.047],
            gain: 0.3,
            margin: 0.06,
            advantage: 0.21,
            advantage_stderr: 0.02,
            rounds: 400,
            actions: 5.0,
            given: true,
            clicks: false,
            measured: tested.then_some(MeasuredCost {
                estimate: 0.024,
                stderr: 0.011,
                interval: [0.002, 0.046],
                advantage: 0.2,
                advantage_stderr: 0.014,
                rounds: 2_000,
                contradicts: false,
            }),
        }),
        worth: Worth {
            unbiased: 1_480.0,
            stated_drift: 0.42,
            under_stated_drift: 212.0,
            after_pilot: tested.then_some(431.0),
            interval: tested.then_some([260.0, 710.0]),
        },
        bounds: Some(Bounds {
            horizon: 20_000,
            actions: 5,
            with_logs: 3_214.5,
            without_logs: 5_930.0,
            logs_pay: true,
        }),
        pair: Some(pair),
        advice: vec![
            "Start the policy truenorth from these logs: it keeps what holds and relearns the rest."
                .to_owned(),
            "Collect 600 more live rows that vary f_ycos and f_ysin: their drift is undecided.".to_owned(),
            "Do not use offline-only: six features would mislead it for ever.".to_owned(),
        ],
        features,
    }
}
