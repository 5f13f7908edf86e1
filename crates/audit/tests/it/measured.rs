//! The cost by a linear model beside the cost by the rewards.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth_audit::{Audit, Pilot, Use, next_steps, page};

use crate::support::{Rows, audited};

fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    StandardNormal.sample(rng)
}

/// Rounds of four actions with two numbers, of which the second one is mostly the round's: a price, in dear and in cheap seasons.
/// What it does to rewards, it does by its distance from the round's level.
fn rounds(rng: &mut Xoshiro256PlusPlus, count: usize, slopes: [f64; 2]) -> Rows {
    let mut rows = Rows { rounds: Some(Vec::new()), ..Rows::default() };
    for round in 0..count {
        let level = 3.0 * normal(rng);
        for _ in 0..4 {
            let [a, b] = [normal(rng), normal(rng)];
            rows.push(&[1.0, a, level + b], slopes[0] * a + slopes[1] * b + 0.3 * normal(rng));
            rows.rounds.as_mut().unwrap().push(round);
        }
    }
    rows
}

/// The second number, which did nothing in the logs, brings 1 within a round: a tenth of that over all rows.
fn bent(slope: f64) -> Audit {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let logs = rounds(&mut rng, 5_000, [0.5, slope]).statistic(3);
    let live = rounds(&mut rng, 600, [0.5, 1.0]);
    audited(&logs, Some(&live.pilot()))
}

#[test]
fn a_cost_that_the_pilots_own_rewards_refute_is_not_told() {
    let audit = bent(0.0);
    let cost = audit.cost.unwrap();
    let measured = cost.measured.unwrap();
    assert!(cost.interval[1] < cost.margin && measured.interval[0] > cost.margin, "{cost:?}");
    assert!(measured.contradicts && !cost.is_small() && measured.rounds == 600);
    let sentence = &audit.verdict.sentence;
    assert!(
        sentence.contains("By the pilot's own rewards, playing what they recommend would cost 0."),
        "{sentence}"
    );
    assert!(
        sentence.contains("A linear model says that it costs 0.") && !sentence.contains("harmless"),
        "{sentence}"
    );
    assert!(sentence.contains("rewards are not linear in these features"));
    // The intercept cannot change a choice, whatever rewards are.
    let equivalent: Vec<_> = audit.features.iter().map(|feature| feature.finding.equivalent).collect();
    assert_eq!(equivalent, [Some(true), None, None]);
    assert!(audit.advice.iter().any(|advice| advice.starts_with("Look for better features")));
    // Nobody is sent to test what more rows cannot settle.
    let mut unclear = audit.clone();
    unclear.verdict.usable = Use::Unclear;
    let steps: Vec<String> = next_steps(&unclear, "logs.tn", None).into_iter().map(|step| step.why).collect();
    assert!(matches!(&steps[..], [start] if start.starts_with("Start from the logs:")), "{steps:?}");
    let html = page(&audit, "logs.tn", None).unwrap();
    assert!(
        html.contains("would not matter, but it is shown to be more.") && !html.contains("shown to be less")
    );
}

#[test]
fn rewards_that_are_not_linear_do_no_harm_where_logs_and_pilot_agree() {
    let audit = bent(1.0);
    let measured = audit.cost.unwrap().measured.unwrap();
    assert!(!measured.contradicts && audit.verdict.usable == Use::All, "{measured:?}");
}

/// Rounds of five actions with `d` features, whose rewards are linear in them.
fn linear(rng: &mut Xoshiro256PlusPlus, count: usize, theta: &[f64], clicks: bool) -> Rows {
    let mut rows = Rows { rounds: Some(Vec::new()), ..Rows::default() };
    for round in 0..count {
        let luck = 0.3 * normal(rng);
        for _ in 0..5 {
            let x: Vec<f64> = theta
                .iter()
                .enumerate()
                .map(|(j, _)| match j {
                    0 => 1.0,
                    1 => f64::from(u8::from(rng.random::<f64>() < 0.3)),
                    _ => rng.random_range(-1.0..1.0),
                })
                .collect();
            let mean: f64 = x.iter().zip(theta).map(|(x, theta)| x * theta).sum();
            let reward = if clicks {
                f64::from(u8::from(rng.random::<f64>() < mean))
            } else {
                mean + luck + normal(rng)
            };
            rows.push(&x, reward);
            rows.rounds.as_mut().unwrap().push(round);
        }
    }
    rows
}

/// Audits, of so many, in which rewards that are linear are said not to be.
fn refuted(audits: u64, count: usize, d: usize, moved: f64, clicks: bool) -> usize {
    let is_refuted = |seed: &u64| {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(*seed);
        let size = if clicks { 0.08 / (d as f64).sqrt() } else { 0.5 };
        let logged: Vec<f64> = (0..d)
            .map(|j| if j == 0 { if clicks { 0.2 } else { 1.0 } } else { size * rng.random_range(-1.0..1.0) })
            .collect();
        let live: Vec<f64> = logged
            .iter()
            .enumerate()
            .map(
                |(j, theta)| if j == 0 { *theta } else { theta + moved * size * rng.random_range(-1.0..1.0) },
            )
            .collect();
        let logs = linear(&mut rng, 1_000, &logged, clicks).statistic(d);
        let pilot: Pilot = linear(&mut rng, count, &live, clicks).pilot();
        let audit = audited(&logs, Some(&pilot));
        let refuted = audit.cost.is_some_and(|cost| cost.refutation().is_some());
        if !refuted {
            assert!(!audit.verdict.sentence.contains("By the pilot's own rewards"));
        }
        refuted
    };
    (0..audits).filter(is_refuted).count()
}

#[cfg(not(debug_assertions))]
#[test]
fn rewards_that_are_linear_are_hardly_ever_said_not_to_be() {
    let found: usize = [(60, 6, 0.0, false), (300, 6, 1.0, false), (300, 6, 1.0, true), (40, 12, 1.0, true)]
        .map(|(count, d, moved, clicks)| refuted(50, count, d, moved, clicks))
        .iter()
        .sum();
    assert!(found <= 2, "{found} of 200");
}

#[cfg(not(debug_assertions))]
#[test]
#[ignore = "takes minutes"]
fn the_grid_of_refutations() {
    for clicks in [false, true] {
        for d in [4, 12] {
            for count in [20, 60, 300, 1_500] {
                let [still, moved] = [0.0, 1.0].map(|moved| refuted(400, count, d, moved, clicks));
                println!("clicks {clicks} features {d} rounds {count}: {still} and {moved} of 400");
            }
        }
    }
}
