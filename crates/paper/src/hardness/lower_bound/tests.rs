use std::sync::atomic::Ordering;

use super::*;
use crate::hardness::tests::{ratio, same_on_any_number_of_threads, with_threads};
use truenorth_sim::ParameterLaw;

/// What varies from point to point.
enum Sweep {
    Arms(Vec<usize>),
    Horizons(Vec<u64>),
    Budgets(Vec<f64>),
}

fn small(sweep: Sweep, logs_per_round: u64) -> LowerBoundSettings {
    let base = Problem { horizon: 200, arms: 8, logs_per_round, budget: 1.0 };
    let problems = match sweep {
        Sweep::Arms(arms) => arms.into_iter().map(|arms| (arms as f64, Problem { arms, ..base })).collect(),
        Sweep::Horizons(horizons) => {
            horizons.into_iter().map(|horizon| (horizon as f64, Problem { horizon, ..base })).collect()
        }
        Sweep::Budgets(budgets) => {
            budgets.into_iter().map(|budget| (budget, Problem { budget, ..base })).collect()
        }
    };
    let [settings, ..] = LowerBoundSettings::studies();
    with_runs(16, LowerBoundSettings { problems, ..settings })
}

fn with_runs(runs: u64, mut settings: LowerBoundSettings) -> LowerBoundSettings {
    settings.trials.runs = runs;
    settings
}

fn played(settings: &LowerBoundSettings) -> Growth {
    lower_bound(settings, &AtomicBool::new(false), |_, _| {}).unwrap()
}

/// The proof's slack: how far arm j's share of rounds can be from 1/m, averaged over j.
fn slack(logs_per_round: u64) -> f64 {
    if logs_per_round == 0 { 1.0 / 16.0 } else { (5.0 / 16_384.0_f64).sqrt() }
}

#[test]
fn gaps_and_drifts_by_hand() {
    let free = Problem { horizon: 100, arms: 4, logs_per_round: 0, budget: 1.0 };
    let (gap, drift) = free.gap_and_drift();
    assert!((gap - 0.025).abs() < 1e-15 && drift == 0.0);
    assert!((free.hardness().unwrap() - 20.0).abs() < 1e-12);
    // N = 300: v̄ = √(4 · 400 / 30000) / 32, μ = 3/4 v̄ + 1/640; Ψ = 10 + min{75, √300}.
    let logged = Problem { logs_per_round: 3, ..free };
    let (gap, drift) = logged.gap_and_drift();
    assert!((drift - 0.007_216_878_4).abs() < 1e-10 && (gap - 0.006_975_158_8).abs() < 1e-10);
    assert!((logged.hardness().unwrap() - (10.0 + 300f64.sqrt())).abs() < 1e-12);
    // A budget below that is the drift itself: μ = 3/4 · 0.002 + 1/640.
    let (gap, drift) = Problem { budget: 0.002, ..logged }.gap_and_drift();
    assert!((drift - 0.002).abs() < 1e-15 && (gap - 0.003_062_5).abs() < 1e-15);
}

#[test]
fn instances_are_the_proofs_and_too_alike_to_tell_apart() {
    for logs_per_round in [0, 1, 8, 100] {
        for (arms, horizon, budget) in [(4, 50, 1.0), (7, 1000, 1e-3), (64, 500, 0.0)] {
            let problem = Problem { horizon, arms, logs_per_round, budget };
            let (gap, drift) = problem.gap_and_drift();
            let (rows, rounds) = (problem.rows_per_arm() as f64, horizon as f64);
            // With T/m rounds and n_j rows of arm j; √(KL/2) is the slack.
            let divergence = 0.5 * (rows * (gap - drift).powi(2) + rounds / arms as f64 * gap * gap);
            assert!((divergence / 2.0).sqrt() <= slack(logs_per_round) + 1e-12, "{problem:?}");
            assert!(gap * rounds >= problem.hardness().unwrap() / 64.0 - 1e-12 && drift <= budget);
            for arm in [0, arms - 1] {
                let world = problem.world(arm);
                world.check().unwrap();
                let ParameterLaw::Given { live, logged } = world.parameters else { panic!("{problem:?}") };
                assert_eq!((live[arm], logged[arm], world.noise), (gap, gap - drift, 1.0));
                assert_eq!(live.iter().chain(&logged).filter(|mean| **mean == 0.0).count(), 2 * arms - 2);
            }
        }
    }
}

#[test]
fn regret_is_above_the_bound_and_within_what_pinsker_leaves() {
    for logs_per_round in [0, 8] {
        let settings = small(Sweep::Arms(vec![4, 16]), logs_per_round);
        for (point, (_, problem)) in played(&settings).points.iter().zip(&settings.problems) {
            let whole = problem.gap_and_drift().0 * problem.horizon as f64;
            let expected = whole * (1.0 - 1.0 / problem.arms as f64);
            for (name, regret) in &point.measured {
                assert!(regret.mean - 4.0 * regret.stderr > point.bound, "{name}: {point:?}");
                let margin = slack(logs_per_round) * whole + 4.0 * regret.stderr;
                assert!((regret.mean - expected).abs() < margin, "{name}, {expected}: {point:?}");
                assert!(regret.stderr < 0.15 * expected, "{name} tells nothing: {point:?}");
            }
        }
    }
}

#[test]
fn regret_doubles_with_four_times_the_rounds_and_nearly_with_four_times_the_arms() {
    // μT doubles; the share of rounds that cost it, 1 - 1/m, may move by the slack at either end.
    let doubles = |sweep, from: f64, to: f64| {
        let growth = played(&small(sweep, 0));
        for policy in 0..3 {
            let (ratio, stderr) = ratio(&growth, policy);
            let least = 2.0 * (to - slack(0)) / (from + slack(0)) - 4.0 * stderr;
            let most = 2.0 * (to + slack(0)) / (from - slack(0)) + 4.0 * stderr;
            assert!(least < ratio && ratio < most, "{least} < {ratio} < {most}: {growth:?}");
            assert!(least > 1.4 && most < 3.5, "{least} to {most} tells nothing");
        }
        // Without logs the bound is exactly c √(m T).
        assert!((growth.points[1].bound / growth.points[0].bound - 2.0).abs() < 1e-12);
    };
    doubles(Sweep::Horizons(vec![100, 400]), 7.0 / 8.0, 7.0 / 8.0);
    doubles(Sweep::Arms(vec![4, 16]), 3.0 / 4.0, 15.0 / 16.0);
}

#[test]
fn a_drift_that_the_logs_cannot_show_multiplies_regret() {
    // N = 8T: μ is √(m/(9T))/64 without drift, and 3.2 and 6.7 times that with v = 0.005 and 1.
    let growth = played(&small(Sweep::Budgets(vec![0.0, 0.005, 1.0]), 8));
    let gaps: Vec<f64> = [0.0, 0.005, 1.0]
        .map(|budget| Problem { horizon: 200, arms: 8, logs_per_round: 8, budget }.gap_and_drift().0)
        .to_vec();
    assert!((gaps[2] / gaps[0] - (1.0 + 2.0 * 8f64.sqrt())).abs() < 1e-9 && gaps[1] / gaps[0] > 2.0);
    for policy in 0..3 {
        let (ratio, stderr) = ratio(&growth, policy);
        let slack = 2.0 * slack(8) / (7.0 / 8.0);
        let expected = gaps[2] / gaps[0];
        assert!((ratio - expected).abs() < expected * slack + 4.0 * stderr, "{ratio} ± {stderr}");
        let regrets: Vec<f64> = growth.points.iter().map(|point| point.measured[policy].1.mean).collect();
        assert!(regrets[0] < regrets[1] && regrets[1] < regrets[2]);
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let settings = with_runs(5, small(Sweep::Arms(vec![4, 8]), 2));
    same_on_any_number_of_threads(&settings.trials, |trials| {
        played(&LowerBoundSettings { trials, ..settings.clone() })
    });
}

#[test]
fn a_stop_leaves_whole_points() {
    let settings = with_runs(3, small(Sweep::Arms(vec![4, 5, 6]), 0));
    let stop = AtomicBool::new(false);
    let part = with_threads(1, || {
        lower_bound(&settings, &stop, |done, total| stop.store((done, total) >= (7, 9), Ordering::Relaxed))
    });
    assert_eq!(part.unwrap().points, played(&settings).points[..2]);
}

#[test]
fn every_arm_takes_its_turn_as_the_hard_one() {
    let mut plays = [0; 4];
    (0..400).for_each(|run| plays[hard_arm(42, run, 4)] += 1);
    // 100 ± 4 standard deviations of a binomial, √(400 · 3/16) = 8.7.
    assert!(plays.iter().all(|plays| (66..=134).contains(plays)), "{plays:?}");
}

#[test]
fn impossible_settings_are_refused() {
    let refused = |settings| lower_bound(&settings, &AtomicBool::new(false), |_, _| {}).unwrap_err();
    let few = refused(small(Sweep::Arms(vec![8, 3]), 0));
    assert_eq!(few.to_string(), "`arms` must be at least 4, but is 3");
    refused(small(Sweep::Horizons(vec![0]), 0));
    refused(small(Sweep::Budgets(vec![-1.0]), 0));
    refused(with_runs(0, small(Sweep::Arms(vec![4]), 0)));
}
