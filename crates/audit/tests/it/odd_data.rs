//! Nothing that can be observed makes a number that is none, or a panic.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth::RidgeStatistic;
use truenorth_audit::{Audit, Options, Pilot, Use, audit, page};

use crate::support::{Rows, audited, names};

/// Every number is finite: JSON has no others, and serde writes them as null.
fn finite(audit: &Audit) {
    let mut numbers = vec![
        audit.noise,
        audit.norm,
        audit.effective_dimension,
        audit.worth_rounds,
        audit.certificate.rho,
        audit.worth.unbiased,
        audit.worth.stated_drift,
        audit.worth.under_stated_drift,
        audit.worth.after_pilot.unwrap_or(0.0),
    ];
    numbers.extend(audit.certificate.matrix.iter().flatten());
    for f in &audit.features {
        numbers.extend([f.estimate, f.finding.coverage, f.finding.trust, f.finding.typical]);
        numbers.extend([f.finding.drift, f.finding.stderr, f.finding.p_value].into_iter().flatten());
        numbers.extend(f.finding.interval.into_iter().flatten());
    }
    for f in &audit.directions {
        numbers.extend([f.finding.coverage, f.finding.trust, f.finding.typical]);
        numbers.extend(f.finding.interval.into_iter().flatten());
        numbers.extend([f.finding.drift, f.finding.stderr, f.finding.p_value].into_iter().flatten());
        numbers.extend(&f.weights);
    }
    numbers.extend(audit.pilot.iter().flat_map(|p| [p.noise, p.p_value.unwrap_or(0.0)]));
    numbers.extend(audit.bounds.iter().flat_map(|b| [b.with_logs, b.without_logs]));
    if let Some(pair) = &audit.pair {
        let parts = [Some(pair.logs), pair.live].into_iter().flatten();
        numbers
            .extend(parts.flat_map(|part| [part.estimate, part.covariance[0], part.covariance[1]]).flatten());
        numbers.extend(pair.budgets);
    }
    assert!(numbers.iter().all(|number| number.is_finite()), "{audit:#?}");
    for (j, row) in audit.certificate.matrix.iter().enumerate() {
        assert!(row[j] > 0.0);
    }
    let probabilities =
        audit.features.iter().flat_map(|f| [Some(f.finding.trust), f.finding.p_value]).flatten();
    assert!(probabilities.into_iter().all(|p| (0.0..=1.0).contains(&p)));
    assert!(audit.verdict.sentence.ends_with('.') && !audit.verdict.sentence.contains("NaN"));
    assert!(audit.advice.iter().all(|sentence| sentence.ends_with('.') && !sentence.contains("NaN")));
    assert!(audit.worth.unbiased <= audit.rows as f64 && audit.worth_rounds >= 0.0);
}

fn checked(logs: &RidgeStatistic, pilot: Option<&Pilot>) -> Audit {
    let audit = audited(logs, pilot);
    finite(&audit);
    audit
}

fn rows(n: usize, row: impl Fn(usize) -> (Vec<f64>, f64)) -> Rows {
    let mut rows = Rows::default();
    for i in 0..n {
        let (features, reward) = row(i);
        rows.push(&features, reward);
    }
    rows
}

fn wave(i: usize, k: usize) -> f64 {
    ((i * (2 * k + 3) + k) as f64 * 0.7).sin()
}

fn usual(n: usize, d: usize) -> Rows {
    rows(n, |i| ((0..d).map(|k| if k == 0 { 1.0 } else { wave(i, k) }).collect(), 0.5 + wave(i, 40)))
}

#[test]
fn empty_logs_and_empty_pilots() {
    let empty = RidgeStatistic::new(3).unwrap();
    let audit = checked(&empty, None);
    assert_eq!(audit.verdict.usable, Use::None);
    assert_eq!(checked(&empty, Some(&usual(100, 3).pilot())).verdict.usable, Use::None);
    for pilot in [Rows::default().pilot(), Pilot::Statistic(empty.clone())] {
        checked(&empty, Some(&pilot));
        let audit = checked(&usual(100, 3).statistic(3), Some(&pilot));
        assert!(
            audit.features.iter().all(|f| f.finding.drift.is_none()) && audit.verdict.usable == Use::Unclear
        );
        assert!(audit.verdict.sentence.contains("the pilot's 0 rows are too few to tell"));
        assert_eq!(audit.pilot.unwrap().independent, 0);
    }
}

#[test]
fn few_rows_and_one_feature() {
    for (logs, live) in [(1, 1), (2, 5), (4, 4), (5, 5), (6, 6), (200, 3), (200, 5), (200, 6), (3, 200)] {
        for rounds in [None, Some(2), Some(1)] {
            let mut pilot = usual(live, 5);
            pilot.rounds = rounds.map(|size| (0..live).map(|i| i / size).collect());
            checked(&usual(logs, 5).statistic(5), Some(&pilot.pilot()));
        }
        checked(&usual(logs, 5).statistic(5), Some(&Pilot::Statistic(usual(live, 5).statistic(5))));
        checked(&usual(logs, 1).statistic(1), Some(&usual(live, 1).pilot()));
    }
}

#[test]
fn levels_with_an_intercept_and_columns_of_zeros() {
    let levels = |n: usize, shift: f64| {
        rows(n, |i| {
            let level = i % 3;
            let mut x: Vec<f64> = vec![1.0, 0.0, 0.0, 0.0, wave(i, 1), 0.0];
            x[1 + level] = 1.0;
            let reward = level as f64 + shift * x[4] + wave(i, 9);
            (x, reward)
        })
    };
    let audit = checked(&levels(900, 0.0).statistic(6), Some(&levels(300, 2.0).pilot()));
    let known: Vec<bool> = audit.features.iter().map(|f| f.finding.drift.is_some()).collect();
    assert_eq!(known, [true, true, true, true, true, false]);
    assert_eq!(audit.features[4].finding.drifted, Some(true));
    assert!(
        audit.features[..4].iter().all(|f| f.finding.coverage > 100.0 && f.finding.drifted == Some(false))
    );
    assert!(
        audit.advice.iter().any(|s| s.starts_with("Do not read single coefficients of x0, x1, x2, x3:")),
        "{:?}",
        audit.advice
    );
    assert!(audit.advice.iter().any(|s| s.starts_with("Drop x5")));
    // Groups that have nothing to do with each other are told in one go, the first of them by name.
    let groups = |count: usize| {
        let pairs = rows(400, |i| {
            let x: Vec<f64> = (0..count).flat_map(|pair| [wave(i, pair), 2.0 * wave(i, pair)]).collect();
            let reward = x[0] + wave(i, 50);
            (x, reward)
        });
        let told = audited(&pairs.statistic(2 * count), None).advice;
        told.into_iter().filter(|s| s.contains("follows from the others")).collect::<Vec<_>>()
    };
    let start = "Do not read single coefficients of x0, x1; of x2, x3";
    for (count, more) in
        [(2, ": each feature of a group follows"), (5, "; of x4, x5; of 2 more groups: each")]
    {
        let told = groups(count);
        assert!(told.len() == 1 && told[0].starts_with(&format!("{start}{more}")), "{told:?}");
    }
    // Four directions are identified, of which only one has drifted.
    assert_eq!(audit.directions.iter().filter(|d| d.finding.drift.is_some()).count(), 4);
    let held = checked(&levels(900, 0.0).statistic(6), Some(&levels(300, 0.0).pilot()));
    assert!(held.features.iter().all(|f| f.finding.drifted != Some(true)));
    // A column that only live rows have, and one that only the logs have.
    let one = |n, j: usize| {
        let mut rows = usual(n, 4);
        rows.features.chunks_mut(4).for_each(|x| x[j] = 0.0);
        rows
    };
    let audit = checked(&one(500, 3).statistic(4), Some(&one(300, 2).pilot()));
    assert!(audit.features[2].finding.drift.is_none() && audit.features[3].finding.drift.is_none());
    assert!(audit.features[0].finding.drift.is_some());
}

#[test]
fn identical_rows_and_rewards_without_noise() {
    let same = |n| rows(n, |i| (vec![0.5, 0.5], wave(i, 3)));
    let audit = checked(&same(100).statistic(2), Some(&same(50).pilot()));
    // What can be known of either is their sum.
    assert!(
        (audit.features[0].finding.drift.unwrap() - audit.features[1].finding.drift.unwrap()).abs() < 1e-12
    );
    let four = |n| rows(n, |i| (vec![0.5; 5], wave(i, 3)));
    let audit = checked(&four(100).statistic(5), Some(&four(50).pilot()));
    assert!(audit.features.iter().all(|f| f.finding.drift.is_none()));
    assert!(audit.directions[0].finding.drift.is_some());
    for (logs, live) in [(0.0, 0.0), (2.0, 2.0), (0.0, 2.0), (2.0, 2.5)] {
        let exact = |n, slope: f64| rows(n, |i| (vec![1.0, wave(i, 1)], slope * wave(i, 1) + slope));
        for pilot in [exact(100, live).pilot(), Pilot::Statistic(exact(100, live).statistic(2))] {
            let audit = checked(&exact(400, logs).statistic(2), Some(&pilot));
            // Logs without a reward tell nothing.
            let expected = logs > 0.0 && live - logs > 0.1;
            assert!(
                audit.features.iter().all(|f| f.finding.drifted == Some(expected)),
                "{logs} {live}: {audit:#?}"
            );
            assert!(
                audit.features.iter().all(|f| (f.finding.trust < 0.1) == expected),
                "{:?}",
                audit.features
            );
        }
    }
}

#[test]
fn sizes_from_1e_30_to_1e50() {
    for (feature, reward) in
        [(1.0, 1e50), (1e-30, 1.0), (1e-30, 1e50), (1.0, 1e-50), (1e-100, 1e-40), (1e50, 1e-50)]
    {
        let sized = |n: usize, slope: f64| {
            rows(n, |i| {
                let x = wave(i, 1);
                (vec![1.0, x * feature, wave(i, 2)], (0.5 + slope * x + 0.1 * wave(i, 30)) * reward * 0.5)
            })
        };
        for live in [0.2, 0.9] {
            let audit = checked(&sized(500, 0.2).statistic(3), Some(&sized(200, live).pilot()));
            if feature > 1e-50 {
                assert_eq!(
                    audit.features[1].finding.drifted,
                    Some(live > 0.5),
                    "{feature} {reward}: {audit:#?}"
                );
            }
            checked(&sized(500, 0.2).statistic(3), None);
        }
    }
    let scales = [1e-50, 1e-10, 1e10, 1e50];
    for scale in scales {
        let logs = usual(100, 3).statistic(3);
        let pilot = usual(60, 3).pilot();
        finite(&audit(&logs, &names(3), scale, Some(&pilot), &Options::default()).unwrap());
    }
}

#[test]
fn sums_that_no_rows_have() {
    let indefinite = [1.0, 5.0, 5.0, -1.0];
    for (count, squares) in [(0, 1.0), (10, 0.0), (10, 1e50), (u64::MAX, 3.0)] {
        let odd = RidgeStatistic::from_sums(count, &indefinite, &[1e50, -3.0], squares).unwrap();
        checked(&odd, None);
        checked(&odd, Some(&Pilot::Statistic(odd.clone())));
        checked(&usual(50, 2).statistic(2), Some(&Pilot::Statistic(odd.clone())));
        checked(&odd, Some(&usual(50, 2).pilot()));
    }
}

#[test]
fn random_mixtures_of_all_of_it() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    for _ in 0..400 {
        let d = rng.random_range(1..7);
        let kinds: Vec<u32> = (0..d).map(|_| rng.random_range(0..7)).collect();
        let sizes: Vec<f64> = (0..d).map(|_| 10f64.powi(rng.random_range(-35..10))).collect();
        let reward = 10f64.powi(rng.random_range(-40..50));
        let noise = if rng.random::<f64>() < 0.2 { 0.0 } else { 1.0 };
        let mut draw = |most: usize| {
            let n = rng.random_range(0..most);
            let mut rows = Rows::default();
            for _ in 0..n {
                let mut x = vec![0.0; d];
                for j in 0..d {
                    x[j] = match kinds[j] {
                        0 => 0.0,
                        1 => 1.0,
                        2 if j > 0 => 2.0 * x[j - 1] / sizes[j - 1],
                        3 => f64::from(u8::from(rng.random::<f64>() < 0.05)),
                        4 => (rng.random::<f64>() * 3.0).round(),
                        _ => rng.random::<f64>() - 0.5,
                    } * sizes[j];
                }
                let y =
                    x.iter().zip(&sizes).map(|(x, size)| x / size).sum::<f64>() + noise * rng.random::<f64>();
                rows.push(&x, y * reward / 100.0);
            }
            if rng.random::<f64>() < 0.5 {
                rows.rounds = Some((0..n).map(|_| rng.random_range(0..n / 2 + 1)).collect());
            }
            rows
        };
        let (logs, live) = (draw(200), draw(80));
        checked(&logs.statistic(d), Some(&live.pilot()));
    }
}

#[test]
fn logs_whose_rewards_are_all_the_same_are_worth_nothing() {
    // Sums of tenths are rounded.
    for (reward, rows, told) in [
        (0.0, 120, "120"),
        (1.0, 120, "120"),
        (-0.25, 120, "120"),
        (0.1, 3000, "3,000"),
        (0.7, 20_000, "20,000"),
    ] {
        let (mut logs, mut live) = (Rows::default(), Rows::default());
        for i in 0..rows {
            let x = [1.0, f64::from(i % 7), f64::from(i % 5)];
            logs.push(&x, reward);
            live.push(&x, f64::from(i % 3));
        }
        let (logs, pilot) = (logs.statistic(3), live.pilot());
        for pilot in [None, Some(&pilot)] {
            let audit = audited(&logs, pilot);
            assert_eq!(
                audit.verdict.sentence,
                format!(
                    "Use none of the logs: all {told} rewards are {reward}, so these logs cannot tell one action from another."
                )
            );
            assert_eq!(audit.verdict.usable, Use::None);
            assert!(
                audit.worth_rounds.abs() < 1e-300
                    && audit.worth.unbiased.abs() < 1e-300
                    && audit.bounds.is_none()
            );
            assert_eq!(audit.advice, ["Bring logs whose rewards differ, or start from live data alone."]);
            let html = page(&audit, "logs.tn", None).unwrap();
            assert!(html.contains("They are worth nothing.") && !html.contains("NaN"));
        }
    }
}
