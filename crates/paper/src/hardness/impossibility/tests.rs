use std::sync::Mutex;
use std::sync::atomic::Ordering;

use super::*;
use crate::hardness::tests::{ratio, same_on_any_number_of_threads, with_threads};
use truenorth_sim::{Contexts, ParameterLaw, Summary};

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

/// Two horizons, the second four times the first.
fn small() -> ImpossibilitySettings {
    with_runs(16, ImpossibilitySettings { horizons: vec![100, 400], ..ImpossibilitySettings::default() })
}

fn with_runs(runs: u64, mut settings: ImpossibilitySettings) -> ImpossibilitySettings {
    settings.trials.runs = runs;
    settings
}

fn with_policies(policies: &[Preset], mut settings: ImpossibilitySettings) -> ImpossibilitySettings {
    settings.trials.policies = policies.to_vec();
    settings
}

fn played(settings: &ImpossibilitySettings) -> Growth {
    impossibility(settings, &AtomicBool::new(false), |_, _| {}).unwrap()
}

#[test]
fn worlds_have_the_norms_and_means_of_the_theorem() {
    for horizon in [1, 38, 39, 40, 100, 25_600] {
        let instances = instances(horizon).unwrap();
        let rho = (0.390_312_374_9 / (horizon as f64).sqrt()).min(0.0625);
        for (world, best) in worlds(&instances, [5, 0, 2]).iter().zip([1, 2, 0]) {
            world.check().unwrap();
            let (ParameterLaw::Given { live, logged }, Contexts::Fixed { features }) =
                (&world.parameters, &world.contexts)
            else {
                panic!("{world:?}")
            };
            // The drift's length is all that policies are told, and the same in all three.
            let drift: Vec<f64> = live.iter().zip(logged).map(|(live, logged)| live - logged).collect();
            assert!((dot(&drift, &drift).sqrt() - rho).abs() < 1e-10, "{horizon}");
            assert!(dot(live, live) <= 1.0 && dot(logged, logged) <= 1.0);
            let means: Vec<f64> = features.iter().map(|x| dot(x, live)).collect();
            for (action, mean) in means.iter().enumerate() {
                assert!(action == best || *mean < means[best], "{horizon} {world:?}");
                assert!((0.5..=13.0 / 16.0).contains(mean));
                // Action 0 leads under θ†, with ρ₀ = 4ρ: mean 1/2 + 4ρ.
                let logged = dot(&features[action], logged);
                assert!(action == 0 || logged < 0.5 + 4.0 * rho);
            }
            assert!((dot(&features[0], logged) - (0.5 + 4.0 * rho)).abs() < 1e-9);
        }
    }
}

#[test]
fn nobody_stays_below_the_bound_and_regret_doubles_with_four_times_the_rounds() {
    let growth = played(&with_runs(32, small()));
    for point in &growth.points {
        // c₁ c₀ √T / 4.
        assert!((point.bound - 0.001_345_505_7 * point.x.sqrt()).abs() < 1e-9);
        for (name, regret) in &point.measured {
            assert!(regret.mean - 4.0 * regret.stderr > point.bound, "{name} at {}", point.x);
        }
    }
    for policy in 0..4 {
        let (ratio, stderr) = ratio(&growth, policy);
        assert!((ratio - 2.0).abs() < 4.0 * stderr + 1e-9, "{ratio} ± {stderr}: {growth:?}");
        assert!(stderr < 0.15, "a ratio of {ratio} ± {stderr} tells nothing");
    }
}

#[test]
fn always_playing_action_0_is_free_when_easy_and_18_times_the_bound_when_hard() {
    for point in played(&small()).points {
        let of = |list: &[(String, Summary)]| list.iter().find(|(name, _)| name == "offline-only").unwrap().1;
        let (hard, easy) = (of(&point.measured), of(&point.easy));
        assert_eq!((easy.mean, easy.stderr), (0.0, 0.0));
        // T ρ (√16.5 - 4) in every run.
        let expected = 0.390_312_374_9 * point.x.sqrt() * (16.5f64.sqrt() - 4.0);
        assert!((hard.mean - expected).abs() < 1e-9 && hard.stderr < 1e-12);
        assert!((hard.mean / point.bound - 17.99).abs() < 0.01);
        // The policies that learn pay for looking at the sides even there.
        let learners = point.easy.iter().filter(|(name, _)| name != "offline-only");
        assert!(learners.map(|(_, regret)| regret.mean).fold(f64::INFINITY, f64::min) > point.bound);
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let settings = with_runs(5, small());
    same_on_any_number_of_threads(&settings.trials, |trials| {
        played(&ImpossibilitySettings { trials, ..settings.clone() })
    });
}

#[test]
fn the_worse_of_the_hard_pair_counts() {
    // Logs of one side make its action the favourite: no regret there, T ρ / √16.5 on the other side.
    for log_rows in [[0, 200, 0], [0, 0, 200]] {
        let settings = ImpossibilitySettings { log_rows, ..small() };
        let growth = played(&with_policies(&[Preset::OfflineOnly], settings));
        for point in growth.points {
            let expected = 0.390_312_374_9 * point.x.sqrt() / 16.5f64.sqrt();
            assert!((point.measured[0].1.mean - expected).abs() < 1e-9, "{point:?}");
        }
    }
}

#[test]
fn all_three_instances_have_the_same_logs() {
    let mut favourites = [0; 2];
    for seed in 0..20 {
        let trials = Trials { policies: vec![Preset::OfflineOnly], runs: 1, seed };
        let settings = ImpossibilitySettings { log_rows: [20; 3], horizons: vec![100], trials };
        let point = played(&settings).points.remove(0);
        // Action 0 is 18 times the bound in both of the hard pair and free in the easy instance; a
        // side is 71 times the bound in one of the pair, and not free.
        let center = point.easy[0].1.mean == 0.0;
        assert_eq!(center, point.measured[0].1.mean < 20.0 * point.bound, "{point:?}");
        favourites[usize::from(center)] += 1;
    }
    assert!(favourites.iter().all(|&count| count >= 2), "{favourites:?}");
}

#[test]
fn points_share_no_run() {
    let twice = played(&ImpossibilitySettings { horizons: vec![100, 100], ..small() });
    assert_ne!(twice.points[0], twice.points[1]);
}

#[test]
fn progress_counts_every_run_and_a_stop_leaves_whole_points() {
    let settings = with_runs(4, small());
    let heard = Mutex::new(Vec::new());
    let stop = AtomicBool::new(false);
    let whole =
        impossibility(&settings, &stop, |done, total| heard.lock().unwrap().push((done, total))).unwrap();
    let mut heard = heard.into_inner().unwrap();
    heard.sort_unstable();
    assert_eq!(heard, (1..=24).map(|done| (done, 24)).collect::<Vec<_>>());
    // Stopped in the second point, of which 13 to 24 are the runs.
    let part = with_threads(1, || {
        impossibility(&settings, &stop, |done, _| stop.store(done >= 14, Ordering::Relaxed)).unwrap()
    });
    assert_eq!(part.points, whole.points[..1]);
    assert!(impossibility(&settings, &stop, |_, _| {}).unwrap().points.is_empty());
}

#[test]
fn impossible_settings_are_refused() {
    let refused = |settings| impossibility(&settings, &AtomicBool::new(false), |_, _| {}).unwrap_err();
    let no_rounds = refused(ImpossibilitySettings { horizons: vec![0], ..small() });
    assert_eq!(no_rounds.to_string(), "`horizon` must be at least 1, but is 0");
    let no_runs = refused(with_runs(0, small()));
    assert_eq!(no_runs.to_string(), "`runs` must be at least 1, but is 0");
    refused(with_policies(&[], small()));
    refused(with_policies(&[Preset::Oful; 2], small()));
}
