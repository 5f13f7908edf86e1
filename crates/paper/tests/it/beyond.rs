//! The studies beyond the paper: what is wrong with their logs shows where and when it should.

use truenorth::Preset;
use truenorth_paper::{Reading, Study};
use truenorth_sim::{Panel, play_run, prepare_run};

/// A study's panels, played by the policy that believes its logs.
fn believed(study: Study, horizon: u64) -> Vec<Panel> {
    let reading = Reading { policies: Some(vec![Preset::OfflineOnly]), horizon, ..Reading::default() };
    study.figure(&reading).panels
}

#[test]
fn every_panel_is_a_sound_experiment() {
    for study in Study::PAPER.into_iter().chain(Study::BEYOND) {
        let figure = study.figure(&Reading::default());
        assert_eq!(figure.name, study.name());
        for panel in &figure.panels {
            panel.check().unwrap();
            assert!(panel.policies.iter().all(|policy| policy.check(panel).is_ok()), "{}", panel.name);
            // Names become those of files and arguments.
            assert!(!panel.name.contains(char::is_whitespace), "{}", panel.name);
        }
    }
}

#[test]
fn believing_misleading_logs_costs_the_gap_of_their_favourite() {
    let gaps = [0.0, 0.2, 0.8, 0.8];
    for (panel, gap) in believed(Study::Misleading, 100).iter().zip(gaps) {
        let regret = play_run(panel, 0).unwrap().policies[0].regret.total;
        assert!((regret - 100.0 * gap).abs() < 1e-9, "{}: {regret}", panel.name);
    }
    // With much noise, logs without drift mislead by chance at most; logs with drift in every run.
    for (panel, gap) in believed(Study::Misleading, 100)[5..].iter().zip([0.05, 0.2, 0.2]) {
        for run in 0..5 {
            let regret = play_run(panel, run).unwrap().policies[0].regret.total;
            assert!(regret >= 100.0 * gap - 1e-9, "{}: {regret}", panel.name);
        }
    }
}

/// Regret of each third of the horizon, summed over some runs.
fn thirds(panel: &Panel) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for run in 0..5 {
        let curve = play_run(panel, run).unwrap().policies.remove(0).regret;
        let at = |third: usize| curve.values[third * curve.values.len() / 3 - 1];
        sums[0] += at(1);
        sums[1] += at(2) - at(1);
        sums[2] += at(3) - at(2);
    }
    sums
}

#[test]
fn drift_costs_while_its_feature_is_alive() {
    let panels = believed(Study::Shifting, 300);
    assert_eq!([0, 1, 2].map(|place| &*panels[place].name), ["no-drift", "early-drift", "late-drift"]);
    let [none, early, late] = [0, 1, 2].map(|place| thirds(&panels[place]));
    assert!(none.iter().all(|&third| third < early[0] / 20.0), "{none:?} {early:?}");
    assert!(early[0] > 10.0 * (early[1] + early[2]), "{early:?}");
    assert!(late[2] > 10.0 * (late[0] + late[1]), "{late:?}");
}

#[test]
fn wide_logs_are_off_by_the_drift_and_no_more() {
    for (panel, drifted) in believed(Study::Wide, 10).iter().zip([0, 3, 50]) {
        let (live, policies) = prepare_run(panel, 0).unwrap();
        let offline = policies[0].logs().estimate(1.0).unwrap();
        let errors = live.iter().zip(offline.iter()).map(|(live, offline)| (live - offline).abs());
        // About 100 rows a coordinate: the noise of an estimate is 0.01, ridge shrinks it by a hundredth.
        assert_eq!(errors.filter(|&error| error > 0.1).count(), drifted, "{}", panel.name);
    }
}
