//! Clicks, thin pilots and rankings: what an audit may say of little, by simulation. Measured rates are printed.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth_audit::{Audit, Standing, Use};

use crate::support::{Rows, audited};

type Rng = Xoshiro256PlusPlus;

fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

/// The outcomes of `of` for each seed, in two threads.
fn each<T: Send>(seeds: u64, of: impl Fn(&mut Rng) -> T + Sync) -> Vec<T> {
    let part = |first: u64| -> Vec<T> {
        (first..seeds).step_by(2).map(|seed| of(&mut Rng::seed_from_u64(seed))).collect()
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| part(1));
        let mut all = part(0);
        all.extend(other.join().unwrap());
        all
    })
}

fn share<T>(found: &[T], which: impl Fn(&T) -> bool) -> f64 {
    found.iter().filter(|one| which(one)).count() as f64 / found.len().max(1) as f64
}

/// Clicks that no feature has anything to do with: an intercept, an indicator and six numbers.
fn placebo(rng: &mut Rng, n: usize, rate: f64) -> Rows {
    let mut rows = Rows::default();
    for _ in 0..n {
        let mut x = [0.0; 8].map(|_: f64| normal(rng));
        (x[0], x[1]) = (1.0, f64::from(u8::from(rng.random::<f64>() < 0.3)));
        rows.push(&x, f64::from(u8::from(rng.random::<f64>() < rate)));
    }
    rows
}

fn any_alarm(audit: &Audit) -> bool {
    let drifted = |found: &truenorth_audit::Finding| found.drifted == Some(true);
    audit.features.iter().any(|f| drifted(&f.finding))
        || audit.pilot.unwrap().p_value.is_some_and(|p| p <= audit.level)
}

/// Shares of false alarms with at least 10 clicks, and of answers with fewer.
fn placebos(audits: u64, n: usize, rate: f64) -> (f64, f64) {
    let found = each(audits, |rng| {
        let (logs, live) = (placebo(rng, 20_000, rate).statistic(8), placebo(rng, n, rate));
        audited(&logs, Some(&live.pilot()))
    });
    let (enough, few): (Vec<_>, Vec<_>) =
        found.iter().partition(|audit| audit.pilot.unwrap().outcomes.unwrap() >= 10);
    let standing = |audit: &&Audit| audit.features.iter().any(|f| f.finding.standing() != Standing::Unclear);
    let answers =
        share(&few, |audit| audit.verdict.usable != Use::Unclear || any_alarm(audit) || standing(audit));
    let alarms = share(&enough, |audit| any_alarm(audit));
    let features = share(&enough, |audit| audit.features.iter().any(|f| f.finding.drifted == Some(true)));
    println!(
        "placebo {:.0} % of {n}: {:.1} % alarms ({:.1} % of features), {} with 10 clicks, {:.1} % answers of {}; use {:?}",
        100.0 * rate,
        100.0 * alarms,
        100.0 * features,
        enough.len(),
        100.0 * answers,
        few.len(),
        [Use::All, Use::Some, Use::None, Use::Unclear]
            .map(|which| share(&found, |audit| audit.verdict.usable == which))
    );
    (alarms, answers)
}

#[test]
#[cfg_attr(debug_assertions, ignore = "many audits take a release build")]
fn clicks_without_drift_raise_no_alarm_and_few_clicks_no_answer() {
    // 200 audits: at most 7 %, where a true rate of 13 % would fail with probability 99 %.
    for (n, rate) in [(300, 0.02), (300, 0.05)] {
        let (alarms, answers) = placebos(200, n, rate);
        assert!(alarms <= 0.07 && answers == 0.0, "{n} {rate}: {alarms} {answers}");
    }
}

#[test]
#[ignore = "12,000 audits: the grid of docs/audit.md"]
fn the_grid_of_clicks() {
    let mut missed = Vec::new();
    for (rate, n) in [0.1, 0.05, 0.02].into_iter().flat_map(|rate| [1000usize, 300, 100].map(|n| (rate, n))) {
        // Where 10 clicks are rare, more audits show how those fare that have them.
        let audits = if rate * (n as f64) < 8.0 { 3000 } else { 500 };
        let (alarms, answers) = placebos(audits, n, rate);
        if alarms > 0.07 || answers > 0.0 {
            missed.push(format!("{n} {rate}: {alarms} {answers}"));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Two actions by their click rates, played evenly.
fn two_actions(rng: &mut Rng, n: usize, rates: [f64; 2]) -> Rows {
    let mut rows = Rows::default();
    for i in 0..n {
        let clicked = rng.random::<f64>() < rates[i % 2];
        rows.push(&[f64::from(u8::from(i % 2 == 0)), (i % 2) as f64], f64::from(u8::from(clicked)));
    }
    rows
}

/// Audits of logs in which A has 5 % and B 3 %, and of live rows with other rates.
fn flips(audits: u64, n: usize, live: [f64; 2]) -> Vec<Audit> {
    let found = each(audits, |rng| {
        let logs = two_actions(rng, 20_000, [0.05, 0.03]).statistic(2);
        audited(&logs, Some(&two_actions(rng, n, live).pilot()))
    });
    let [all, some, none, unclear] = [Use::All, Use::Some, Use::None, Use::Unclear]
        .map(|which| 100.0 * share(&found, |audit| audit.verdict.usable == which));
    let truth = (live[1] - live[0]).max(0.0);
    let covered = share(&found, |audit| {
        audit.cost.is_some_and(|cost| cost.interval[0] <= truth && truth <= cost.interval[1])
    });
    println!(
        "A {}, B {} of {n}: all {all} %, some {some} %, none {none} %, unclear {unclear} %; cost covered in {:.1} %\n{}",
        live[0],
        live[1],
        100.0 * covered,
        found[0].verdict.sentence
    );
    found
}

#[test]
#[cfg_attr(debug_assertions, ignore = "many audits take a release build")]
fn a_flip_of_two_actions_is_never_taken_for_logs_that_hold() {
    let few = flips(200, 500, [0.03, 0.05]);
    // At most 5 %: 200 audits with a true rate of 10 % would fail with probability 99 %.
    assert!(share(&few, |audit| audit.verdict.usable == Use::All) <= 0.05);
    let many = flips(30, 40_000, [0.03, 0.05]);
    assert!(many.iter().all(|audit| audit.verdict.usable == Use::None));
    let covers =
        |audit: &Audit| audit.cost.is_some_and(|cost| cost.interval[0] <= 0.02 && 0.02 <= cost.interval[1]);
    assert!(share(&many, covers) >= 0.85);
    assert!(many[0].verdict.sentence.contains("rewards in 100 rounds"), "{}", many[0].verdict.sentence);
}

#[test]
#[ignore = "2,000 audits: the table of docs/audit.md"]
fn the_grid_of_flips() {
    for n in [500, 2000, 10_000, 40_000] {
        flips(500, n, [0.03, 0.05]);
        flips(500, n, [0.05, 0.03]);
    }
}

/// 20 features, every coefficient moved by one standard deviation of the noise or by none.
fn thin(audits: u64, n: usize, moved: f64) -> Vec<Audit> {
    let found = each(audits, |rng| {
        let theta: Vec<f64> = (0..20).map(|_| normal(rng)).collect();
        let signs: Vec<f64> = (0..20).map(|_| if rng.random::<bool>() { moved } else { -moved }).collect();
        let mut draw = |n: usize, drift: f64| {
            let mut rows = Rows::default();
            for _ in 0..n {
                let x: Vec<f64> = (0..20).map(|_| normal(rng)).collect();
                let mean: f64 = x.iter().zip(&theta).zip(&signs).map(|((x, t), s)| x * (t + drift * s)).sum();
                rows.push(&x, mean + normal(rng));
            }
            rows
        };
        let logs = draw(5000, 0.0).statistic(20);
        audited(&logs, Some(&draw(n, 1.0).pilot()))
    });
    let [all, some, none, unclear] = [Use::All, Use::Some, Use::None, Use::Unclear]
        .map(|which| 100.0 * share(&found, |audit| audit.verdict.usable == which));
    println!(
        "20 features moved by {moved}, {n} rows: all {all} %, some {some} %, none {none} %, unclear {unclear} %\n{}",
        found[0].verdict.sentence
    );
    found
}

#[test]
#[cfg_attr(debug_assertions, ignore = "many audits take a release build")]
fn a_pilot_that_shows_nothing_is_unclear() {
    let found = thin(200, 26, 1.0);
    assert!(share(&found, |audit| audit.verdict.usable == Use::All) <= 0.05);
}

#[test]
#[ignore = "a few thousand audits: the table of docs/audit.md"]
fn the_grid_of_thin_pilots() {
    for moved in [0.0, 0.3, 1.0] {
        for n in [26, 40, 75, 150, 400] {
            thin(500, n, moved);
        }
    }
}

#[test]
fn without_a_click_nothing_is_decided() {
    let mut rng = Rng::seed_from_u64(1);
    let logs = two_actions(&mut rng, 2000, [0.05, 0.03]).statistic(2);
    let silent = two_actions(&mut rng, 2000, [0.0, 0.0]);
    let live = two_actions(&mut rng, 2000, [0.05, 0.03]);
    let cases = [
        (logs.clone(), silent.clone(), Use::Unclear, "2,000 live rows have not a single reward of 1"),
        (
            silent.statistic(2),
            live,
            Use::None,
            "rewards are 0, so these logs cannot tell one action from another",
        ),
        (
            silent.statistic(2),
            silent,
            Use::None,
            "rewards are 0, so these logs cannot tell one action from another",
        ),
    ];
    for (logs, live, usable, words) in cases {
        let audit = audited(&logs, Some(&live.pilot()));
        assert_eq!(audit.verdict.usable, usable);
        assert!(audit.verdict.sentence.contains(words), "{}", audit.verdict.sentence);
        assert!(audit.features.iter().all(|f| f.finding.drifted != Some(true)));
    }
    let few = two_actions(&mut rng, 200, [0.02, 0.02]);
    let audit = audited(&logs, Some(&few.pilot()));
    assert_eq!(audit.verdict.usable, Use::Unclear);
    assert!(audit.verdict.sentence.contains("more live rows like these"), "{}", audit.verdict.sentence);
}

/// Audits with as many rows as an unclear one asked for, in a world without drift.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of rows")]
fn settled(audits: u64, first: usize, draw: impl Fn(&mut Rng, usize) -> Rows + Sync, d: usize) -> (f64, f64) {
    let found = each(audits, |rng| {
        let logs = draw(rng, 20_000).statistic(d);
        let little = audited(&logs, Some(&draw(rng, first).pilot()));
        if little.verdict.usable != Use::Unclear {
            return None;
        }
        let asked = little.pilot.unwrap().settled_by?;
        let more = audited(&logs, Some(&draw(rng, asked.round() as usize).pilot()));
        Some((asked, more.verdict.usable == Use::All))
    });
    let unclear: Vec<_> = found.into_iter().flatten().collect();
    let (mut asked, all): (Vec<f64>, Vec<bool>) = unclear.into_iter().unzip();
    asked.sort_by(f64::total_cmp);
    let shown = share(&all, |all| *all);
    println!(
        "{} of {audits} unclear with {first} rows; asked for {:.0} to {:.0} rows in all, by which {:.1} % are shown to hold",
        all.len(),
        asked.first().unwrap(),
        asked.last().unwrap(),
        100.0 * shown
    );
    (shown, all.len() as f64 / audits as f64)
}

/// Numbers that matter, in rounds of three actions.
fn numbers(rng: &mut Rng, n: usize) -> Rows {
    let mut rows = Rows { rounds: Some(Vec::new()), ..Rows::default() };
    for i in 0..n {
        let x = [1.0, normal(rng), normal(rng), normal(rng)];
        rows.push(&x, 0.5 + 0.2 * x[1] - 0.1 * x[2] + normal(rng));
        rows.rounds.as_mut().unwrap().push(i / 3);
    }
    rows
}

#[test]
#[cfg_attr(debug_assertions, ignore = "many audits take a release build")]
fn the_rows_that_are_asked_for_settle_it() {
    // 8 of 10, and chance: 60 audits of a true 65 % would fail with probability 95 %.
    for (shown, _) in
        [settled(60, 60, numbers, 4), settled(60, 500, |rng, n| two_actions(rng, n, [0.05, 0.03]), 2)]
    {
        assert!((0.7..=0.99).contains(&shown), "{shown}");
    }
}
