use truenorth::{Certificate, RidgeStatistic};
use truenorth_audit::{Options, Pilot, Use, audit};

use crate::support::{Rows, audited, drifted, names};

/// Two indicators, each `n` times, with rewards mean ± 1.
fn indicators(n: usize, means: [f64; 2]) -> Rows {
    let mut rows = Rows::default();
    for (j, mean) in means.into_iter().enumerate() {
        for i in 0..n {
            let features = [1.0 - j as f64, j as f64];
            rows.push(&features, mean + if i % 2 == 0 { 1.0 } else { -1.0 });
        }
    }
    rows
}

#[test]
fn two_indicators_by_hand() {
    let logs = indicators(5000, [1.0, 2.0]).statistic(2);
    let pilot = indicators(200, [1.0, 3.0]).pilot();
    let audit = audited(&logs, Some(&pilot));
    let [a, b] = [&audit.features[0].finding, &audit.features[1].finding];
    assert!((audit.features[0].estimate - 1.0).abs() < 1e-12);
    assert!((audit.features[1].estimate - 2.0).abs() < 1e-12);
    assert!((audit.norm - 5f64.sqrt()).abs() < 1e-12);
    assert!((audit.noise - (10_000f64 / 9998.0).sqrt()).abs() < 1e-9);
    // A_jj = 5000 and h_j = ½: as 10,000 rows of a column whose mean square is ½.
    assert!((a.coverage - 10_000.0).abs() < 1e-6 && (audit.effective_dimension - 2.0).abs() < 1e-9);
    assert!((audit.directions[0].finding.coverage - 10_000.0).abs() < 1e-6);
    // HC3 of a mean: Σ e² / (1 - 1/n)² / n², and the logs' σ²/n times what HC3 is above equal errors.
    let live = 200.0 / (1.0 - 1.0 / 200f64).powi(2) / 200f64.powi(2);
    let even = 400.0 / 398.0 / 200.0;
    let logged = 10_000.0 / 9998.0 / 5000.0 * (live / even);
    assert!((b.stderr.unwrap() - (live + logged).sqrt()).abs() < 1e-12);
    assert!(a.drift.unwrap().abs() < 1e-12 && (b.drift.unwrap() - 1.0).abs() < 1e-12);
    assert_eq!((a.drifted, b.drifted), (Some(false), Some(true)));
    // The round is x0 against x1, which is 1 better in the logs and 2 live: choosing well earns ½ at least, and a
    // cost of 0.1 does not matter. Drifts of v each can turn a lead of 1 into one of -(2v - 1) = -0.1: v = 0.55.
    assert!((a.margin.unwrap() - 0.55).abs() < 1e-6 && (a.spread.unwrap() - 0.5).abs() < 1e-12);
    // |Δ| + t se = 1.65 · 0.072.
    assert_eq!((a.equivalent, b.equivalent), (Some(true), Some(false)));
    // z = 0, se = 0.0725: B = √(se²/(se² + τ²)) for τ = ½ σ / √½, and for the logs' standard deviation in a round of
    // ½, half of whose square is each feature's: τ = √⅛ / ½.
    let b_of = |square: f64| ((live + logged) / (live + logged + square)).sqrt();
    let odds = f64::midpoint(b_of(0.5 * audit.noise.powi(2)), b_of(0.5));
    assert!((a.trust - 1.0 / (1.0 + odds)).abs() < 1e-9 && b.trust < 1e-9);
    assert!((a.typical - 0.5f64.sqrt()).abs() < 1e-12);
    let cost = audit.cost.unwrap();
    assert!(cost.estimate < 1e-9 && (cost.advantage - 1.0).abs() < 1e-9 && !cost.clicks && !cost.given);
    assert!((cost.gain - 0.5).abs() < 1e-9 && (cost.margin - 0.1).abs() < 1e-9 && cost.rounds == 1);
    // Two means, each with the live error.
    assert!((cost.advantage_stderr / (0.5 * (2.0 * live).sqrt()) - 1.0).abs() < 0.15, "{cost:?}");
    let pair = audit.pair.as_ref().unwrap();
    assert_eq!(pair.names, ["x1", "x0"]);
    assert!(
        (pair.logs.estimate[0] - 2.0).abs() < 1e-12 && (pair.logs.covariance[0][0] - logged).abs() < 1e-12
    );
    let beside = pair.live.unwrap();
    assert!((beside.estimate[0] - 3.0).abs() < 1e-12 && (beside.covariance[0][0] - live).abs() < 1e-12);
    let [low, high] = b.interval.unwrap();
    assert!((pair.budgets[0] - audit.certificate.rho * high).abs() < 1e-12);
    assert!(audit.certificate.rho > 1.0 && audit.certificate.rho <= 2f64.sqrt());
    assert!(low > 0.8 && high < 1.2 && (low + high - 2.0).abs() < 1e-12);
    assert_eq!(audit.verdict.usable, Use::Some);
    assert_eq!(
        audit.verdict.sentence.split(';').next().unwrap(),
        "Use some of the logs: 1 of 2 features has drifted in 400 live rows (x1)"
    );
    // Budgets |Δ| + c se, and a drift that the certificate holds.
    let matrix = audit.certificate.matrix.concat();
    assert!((matrix[3] - high.powi(-2)).abs() < 1e-9);
    assert!(Certificate::from_matrix(&matrix, audit.certificate.rho).unwrap().admits(&[0.0, 1.0]).unwrap());
    assert!((audit.worth.unbiased - 10_000.0).abs() < 1e-3);
    assert!(audit.worth_rounds < 0.1 * audit.worth.unbiased && audit.worth_rounds > 10.0);
}

#[test]
fn units_of_the_columns_come_back() {
    let plain = audited(&indicators(500, [1.0, 2.0]).statistic(2), Some(&indicators(90, [1.0, 3.0]).pilot()));
    let scaled = |mut rows: Rows| {
        rows.features.iter_mut().for_each(|x| *x *= 0.125);
        rows
    };
    let logs = scaled(indicators(500, [1.0, 2.0])).statistic(2);
    let pilot = scaled(indicators(90, [1.0, 3.0])).pilot();
    let audit = audit(&logs, &names(2), 0.125, Some(&pilot), &Options::default()).unwrap();
    for (a, b) in plain.features.iter().zip(&audit.features) {
        assert!((a.estimate - b.estimate).abs() < 1e-12);
        let [a, b] = [a.finding, b.finding];
        assert!((a.coverage - b.coverage).abs() < 1e-9);
        assert!((a.stderr.unwrap() - b.stderr.unwrap()).abs() < 1e-12 && (a.trust - b.trust).abs() < 1e-12);
    }
    for (a, b) in plain.directions.iter().zip(&audit.directions) {
        let [a, b] = [a.finding, b.finding];
        assert!((a.drift.unwrap().abs() - b.drift.unwrap().abs()).abs() < 1e-12);
        assert!((a.trust - b.trust).abs() < 1e-12 && a.equivalent == b.equivalent);
    }
    assert!((plain.certificate.matrix[0][0] / audit.certificate.matrix[0][0] - 1.0).abs() < 1e-12);
    assert!((plain.worth.under_stated_drift / audit.worth.under_stated_drift - 1.0).abs() < 1e-9);
    assert!((plain.worth_rounds / audit.worth_rounds - 1.0).abs() < 1e-9);
}

#[test]
fn without_a_pilot_the_stated_drift_counts() {
    let logs = indicators(50, [3.0, 4.0]).statistic(2);
    let audit = audited(&logs, None);
    assert!((audit.worth.stated_drift - 1.5).abs() < 1e-12 && (audit.certificate.rho - 1.5).abs() < 1e-12);
    assert_eq!(audit.certificate.matrix, [[1.0, 0.0], [0.0, 1.0]]);
    // n = σ² / (h (σ²/50 + ρ²/2)) with h = ½ along both, so that this is the worth.
    let noise = audit.noise.powi(2);
    let expected = noise / (0.5 * (noise / 50.0 + 1.125));
    assert!((audit.worth.under_stated_drift - expected).abs() < 1e-9);
    assert!((audit.worth_rounds - expected).abs() < 1e-9 && audit.worth.after_pilot.is_none());
    assert_eq!(audit.verdict.usable, Use::Unclear);
    assert!(
        audit.verdict.sentence.starts_with("Unclear: nothing live has tested them. The logs' 100 rows cover")
    );
    assert!(audit.features.iter().all(|f| f.finding.drift.is_none()
        && f.finding.drifted.is_none()
        && (f.finding.trust - 0.5).abs() < 1e-15));
    assert!(audit.pilot.is_none() && audit.bounds.is_some());
    let pair = audit.pair.unwrap();
    assert!(pair.live.is_none() && pair.names[0].starts_with("direction 2 (mostly x"));
    // Along a direction of columns of size √½.
    assert!((pair.logs.covariance[0][0] - noise / 100.0).abs() < 1e-12);
    assert!((pair.budgets[0] - 1.5 * 0.5f64.sqrt()).abs() < 1e-12);
}

#[test]
fn logs_that_all_drifted_are_not_to_be_used() {
    let logs = indicators(5000, [1.0, 2.0]).statistic(2);
    let audit = audited(&logs, Some(&indicators(200, [5.0, -3.0]).pilot()));
    assert_eq!((audit.verdict.usable, drifted(&audit)), (Use::None, vec!["x0", "x1"]));
    assert!(audit.verdict.sentence.starts_with("Use none of the logs: all of 2 features have drifted"));
    assert!(audit.worth_rounds < 0.01 * audit.worth.unbiased);
    assert!(audit.pilot.unwrap().p_value.unwrap() < 1e-10);
}

#[test]
fn logs_that_hold_are_used_and_the_power_is_told() {
    let logs = indicators(5000, [1.0, 2.0]).statistic(2);
    let all = audited(&logs, Some(&indicators(400, [1.0, 2.0]).pilot()));
    assert_eq!(all.verdict.usable, Use::All);
    assert!(all.verdict.sentence.contains("none of the 2 features shows drift"), "{}", all.verdict.sentence);
    assert!(all.cost.unwrap().is_small() && all.verdict.sentence.contains(" counts as harmless"));
    let few = audited(&logs, Some(&indicators(6, [1.0, 2.0]).pilot()));
    assert_eq!(few.verdict.usable, Use::Unclear);
    assert!(few.verdict.sentence.contains("more live rows would settle it"), "{}", few.verdict.sentence);
    assert!(few.worth_rounds < all.worth_rounds);
}

#[test]
fn bounds_are_those_of_the_library() {
    use truenorth::{Policy, Preset};
    use truenorth_paper::path;
    use truenorth_paper::theory::{Spectrum, alignment, bias_scale, spectral_bound};

    let rows = indicators(300, [0.2, 0.4]);
    let logs = rows.statistic(2);
    let options = Options { drift: Some(0.01), ..Options::default() };
    let audit = audit(&logs, &names(2), 1.0, None, &options).unwrap();
    let certificate = Certificate::isotropic(2, 0.01).unwrap();
    let settings = Policy::builder(2).preset(Preset::EllipsoidalMinUcb).logs(logs);
    let settings = settings.certificate(certificate.clone()).noise(audit.noise).norm_bound(2.0 * audit.norm);
    let policy = settings.delta(options.level).horizon(options.horizon).build().unwrap();
    let precision = policy.offline().precision();
    let bias = bias_scale(0.01, alignment(precision, certificate.matrix()).unwrap()).unwrap();
    let path = path(&policy).unwrap();
    let spectrum = Spectrum::of(precision).unwrap();
    let expected = spectral_bound(&spectrum, path.radius(), bias, options.horizon).unwrap().regret;
    let found = audit.bounds.unwrap();
    assert!((found.with_logs / expected - 1.0).abs() < 1e-9, "{} against {expected}", found.with_logs);
    assert_eq!(found.logs_pay, found.with_logs <= found.without_logs);
}

#[test]
fn refuses_what_does_not_fit_in_a_sentence() {
    let logs = indicators(5, [1.0, 2.0]).statistic(2);
    let says = |names: &[String], scale, pilot: Option<&Pilot>, options: &Options| {
        audit(&logs, names, scale, pilot, options).unwrap_err().to_string()
    };
    let plain = Options::default();
    assert_eq!(says(&names(3), 1.0, None, &plain), "the list of names must hold 2 numbers, but holds 3");
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(says(&names(2), scale, None, &plain).starts_with("`scale` must be at least 1e-50"));
    }
    for level in [0.0, 1.0, f64::NAN] {
        assert!(says(&names(2), 1.0, None, &Options { level, ..plain }).starts_with("`level` must be"));
    }
    assert!(says(&names(2), 1.0, None, &Options { margin: -1.0, ..plain }).starts_with("`margin`"));
    assert!(says(&names(2), 1.0, None, &Options { drift: Some(f64::NAN), ..plain }).starts_with("`drift`"));
    let rows = |features, rewards, rounds| Pilot::Rows { features, rewards, rounds };
    let short = rows(vec![1.0; 3], vec![1.0; 2], None);
    assert_eq!(
        says(&names(2), 1.0, Some(&short), &plain),
        "the pilot's features must hold 4 numbers, but holds 3"
    );
    let short = rows(vec![1.0; 4], vec![1.0; 2], Some(vec![1]));
    assert!(says(&names(2), 1.0, Some(&short), &plain).starts_with("the pilot's rounds must hold 2"));
    let nan = rows(vec![f64::NAN; 4], vec![1.0; 2], None);
    assert!(says(&names(2), 1.0, Some(&nan), &plain).contains("must be finite"));
    let other = Pilot::Statistic(RidgeStatistic::new(3).unwrap());
    assert!(says(&names(2), 1.0, Some(&other), &plain).starts_with("the pilot's moment must hold 2"));
}
