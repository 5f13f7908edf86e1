//! The runner: common random numbers, runs that differ, and bounds that hold.

use std::sync::atomic::AtomicBool;

use truenorth::{Preset, Settings};
use truenorth_sim::{
    Error, Job, Panel, ParameterLaw, PolicySpec, RunOutcome, World, play, play_run, prepare_run,
};

fn panel(policies: &[Preset], horizon: u64) -> Panel {
    let parameters = ParameterLaw::cube(0.6, 0.4, vec![0.0; 5]);
    let world = World { parameters, ..World::default() };
    let policies = policies.iter().map(|&preset| PolicySpec::preset(preset)).collect();
    Panel { world, policies, horizon, runs: 6, ..Panel::default() }
}

/// All that a policy did, its time aside.
fn without_time(mut outcome: RunOutcome) -> RunOutcome {
    outcome.policies.iter_mut().for_each(|policy| policy.seconds = 0.0);
    outcome
}

#[test]
fn a_policy_does_not_notice_who_else_plays() {
    let alone = play_run(&panel(&[Preset::Oful], 300), 3).unwrap();
    let together =
        play_run(&panel(&[Preset::SupLinUcb, Preset::WarmSupLinUcb, Preset::Oful], 300), 3).unwrap();
    assert_eq!(alone.policies[0].regret, together.policies[2].regret);
    // Dice are a policy's own: those of others do not move them.
    let alone = play_run(&panel(&[Preset::LinTs], 300), 3).unwrap();
    let together = play_run(&panel(&[Preset::TrueNorthSampling, Preset::LinTs], 300), 3).unwrap();
    assert_eq!(alone.policies[0].regret, together.policies[1].regret);
}

#[test]
fn every_policy_without_arms_plays_and_dice_differ_from_run_to_run() {
    let all: Vec<Preset> = Preset::ALL.iter().copied().filter(|&preset| preset != Preset::MinUcb).collect();
    let outcomes = [0, 0, 1].map(|run| without_time(play_run(&panel(&all, 60), run).unwrap()));
    assert_eq!(outcomes[0], outcomes[1]);
    for (place, preset) in all.iter().enumerate() {
        let total = |run: usize| outcomes[run].policies[place].regret.total;
        assert!(total(0).is_finite() && total(0) >= 0.0, "{}", preset.name());
        // Only a policy that is never wrong may agree.
        assert!((total(0) - total(2)).abs() > 0.0 || total(0) == 0.0, "{}", preset.name());
    }
    let seeds = [0, 1].map(|run| {
        let (_, policies) = prepare_run(&panel(&[Preset::LinTs], 60), run).unwrap();
        format!("{:?}", policies[0].settings()).split_once("seed: ").unwrap().1.to_owned()
    });
    assert_ne!(seeds[0], seeds[1]);
}

#[test]
fn our_own_policies_are_told_nothing_unless_asked() {
    let mut panel = panel(&[Preset::TrueNorth, Preset::TrueNorthSampling, Preset::TrueNorthConfidence], 10);
    let told = |panel: &Panel| -> Vec<(bool, bool)> {
        let (_, policies) = prepare_run(panel, 0).unwrap();
        let settings = policies.iter().map(truenorth::Policy::settings);
        let changed = |told: &Settings, untold: Settings| *told != untold;
        settings
            .map(|s| (changed(s, s.clone().noise(None)), changed(s, s.clone().norm_bound(None))))
            .collect()
    };
    assert_eq!(told(&panel), [(false, false), (false, false), (true, true)]);
    panel.policies[0].told = true;
    panel.policies[2].told = false;
    assert_eq!(told(&panel), [(true, true), (false, false), (false, false)]);
}

#[test]
fn runs_and_seeds_differ_and_repeat() {
    let panel = panel(&[Preset::Oful], 200);
    let regret = |panel: &Panel, run| play_run(panel, run).unwrap().policies[0].regret.total;
    assert_eq!(regret(&panel, 1).to_bits(), regret(&panel, 1).to_bits());
    assert_ne!(regret(&panel, 1).to_bits(), regret(&panel, 2).to_bits());
    let other = Panel { seed: 43, ..panel.clone() };
    assert_ne!(regret(&panel, 1).to_bits(), regret(&other, 1).to_bits());
}

#[test]
fn threads_change_nothing_but_the_time() {
    let panels = [panel(
        &[Preset::SupLinUcb, Preset::EllipsoidalMinUcb3d, Preset::TrueNorthSampling, Preset::LinUcb],
        400,
    )];
    let jobs: Vec<Job> = (0..6).map(|run| Job { panel: 0, run }).collect();
    let outcomes = [1, 2, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let played = pool.install(|| play(&panels, &jobs, &AtomicBool::new(false), |_| (), || ()));
        played.unwrap().into_iter().map(|(job, outcome)| (job, without_time(outcome))).collect::<Vec<_>>()
    });
    assert_eq!(outcomes[0].iter().map(|(job, _)| job.run).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(outcomes[0], outcomes[1]);
    assert_eq!(outcomes[0], outcomes[2]);
}

#[test]
fn nothing_starts_after_a_stop_and_failures_end_the_play() {
    let panels = [panel(&[Preset::Oful], 50)];
    let jobs = [Job { panel: 0, run: 0 }];
    let stopped = play(&panels, &jobs, &AtomicBool::new(true), |_| (), || ()).unwrap();
    assert!(stopped.is_empty());
    let twice = [panel(&[Preset::Oful, Preset::Oful], 50)];
    let failed = play(&twice, &jobs, &AtomicBool::new(false), |_| (), || panic!("it is not finished"));
    assert_eq!(failed, Err(Error::SameName { name: "oful".to_owned() }));
}

#[test]
fn shares_count_every_round_once() {
    let outcome = play_run(&panel(&[Preset::EllipsoidalMinUcb], 777), 0).unwrap();
    let shares = &outcome.policies[0].shares;
    assert_eq!(shares.layers.iter().flatten().sum::<u64>(), 777);
    let informed = shares.informed.iter().sum::<u64>() as f64 / 777.0;
    assert!((informed - outcome.policies[0].pooled_share).abs() < 1e-12 && informed > 0.0);
}

#[test]
fn panels_that_make_no_sense_are_refused() {
    let good = panel(&[Preset::Oful], 10);
    let says = |panel: &Panel| play_run(panel, 0).unwrap_err().to_string();
    assert_eq!(says(&Panel { runs: 0, ..good.clone() }), "`runs` must be at least 1, but is 0");
    assert_eq!(says(&Panel { horizon: 0, ..good.clone() }), "`horizon` must be at least 1, but is 0");
    assert_eq!(
        says(&Panel { delta: 2.0, ..good.clone() }),
        "policy \"oful\": `delta` must be strictly between 0 and 1, but is 2"
    );
    let twice = vec![PolicySpec::preset(Preset::Oful), PolicySpec::preset(Preset::Oful)];
    assert_eq!(says(&Panel { policies: twice, ..good.clone() }), "two policies are named \"oful\"");
    assert_eq!(says(&Panel { policies: vec![], ..good }), "`policies` must be at least one, but is 0");
}
