//! Worlds: what is drawn is what was described.

use truenorth::Preset;
use truenorth_sim::{
    Contexts, Coverage, Error, NormBound, Panel, ParameterLaw, PolicySpec, RewardModel, World, play_run,
    prepare_run,
};

fn panel(world: World) -> Panel {
    Panel {
        name: "test".to_owned(),
        world,
        policies: vec![PolicySpec::preset(Preset::Oful), PolicySpec::preset(Preset::OfflineOnly)],
        horizon: 500,
        runs: 1,
        seed: 1,
        norm_bound: NormBound::Truth,
        ridge: 1.0,
        delta: 0.01,
    }
}

fn two_arms() -> World {
    let arms = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
    World {
        dimension: 2,
        parameters: ParameterLaw::Given { live: vec![0.7, 0.3], logged: vec![0.3, 0.7] },
        coverage: Coverage::Counts { features: arms.clone(), counts: vec![300, 200] },
        log_rows: 0,
        contexts: Contexts::Fixed { features: arms },
        rewards: RewardModel::Bernoulli,
        noise: 0.5,
    }
}

#[test]
fn logs_hold_each_arm_as_often_as_counted_with_the_logged_mean() {
    let (live, policies) = prepare_run(&panel(two_arms()), 0).unwrap();
    assert_eq!(live, [0.7, 0.3]);
    let logs = policies[0].logs();
    assert_eq!((logs.count(), logs.gram()[0], logs.gram()[3]), (500, 300.0, 200.0));
    // Bernoulli means 0.3 and 0.7: four standard errors are 0.11 and 0.13.
    assert!((logs.moment()[0] / 300.0 - 0.3).abs() < 0.11 && (logs.moment()[1] / 200.0 - 0.7).abs() < 0.13);
    // A Bernoulli reward is its own square.
    assert!((logs.sum_squares() - logs.moment().iter().sum::<f64>()).abs() < 1e-9);
}

#[test]
fn trusting_misleading_logs_costs_the_gap_every_round() {
    let outcome = play_run(&panel(two_arms()), 0).unwrap();
    let offline = outcome.policies[1].regret.total;
    assert!((offline - 0.4 * 500.0).abs() < 1e-9, "{offline}");
    assert!(outcome.policies[0].regret.total < offline / 2.0);
}

#[test]
fn separate_arms_need_contexts_of_unit_vectors() {
    let policies = vec![PolicySpec::preset(Preset::MinUcb), PolicySpec::preset(Preset::OfflineOnly)];
    let arms = Panel { policies, ..panel(two_arms()) };
    let outcome = play_run(&arms, 0).unwrap();
    assert!(outcome.policies[0].regret.total < outcome.policies[1].regret.total / 2.0);
    let world =
        World { contexts: Contexts::Gaussian { actions: 3 }, rewards: RewardModel::Gaussian, ..two_arms() };
    let refused = play_run(&Panel { world, ..arms }, 0).unwrap_err().to_string();
    assert!(
        refused.ends_with("action 0 is not a unit vector, but this policy knows separate arms only"),
        "{refused}"
    );
}

#[test]
fn means_that_are_no_probabilities_are_refused() {
    let parameters = ParameterLaw::Given { live: vec![1.7, 0.3], logged: vec![0.3, 0.7] };
    let error = play_run(&panel(World { parameters, ..two_arms() }), 0).unwrap_err();
    assert_eq!(error, Error::NotAProbability { mean: 1.7 });
}

#[test]
fn boxes_and_directions_stay_within_the_unit_ball() {
    let world = World {
        coverage: Coverage::Box { low: vec![0.0, 0.0], high: vec![1.0, 0.01] },
        contexts: Contexts::Gaussian { actions: 4 },
        rewards: RewardModel::Gaussian,
        log_rows: 400,
        ..two_arms()
    };
    let (_, policies) = prepare_run(&panel(world), 0).unwrap();
    let gram = policies[0].logs().gram();
    // Uniform on [0, 1]: a third of 400 rows; four standard errors are 24. Uniform on [0, 0.01]: 0.0133.
    assert!((gram[0] - 400.0 / 3.0).abs() < 24.0 && gram[3] < 0.02, "{gram:?}");
    let diverse = World {
        coverage: Coverage::Gaussian { diversity: 0.0 },
        log_rows: 50,
        rewards: RewardModel::Gaussian,
        ..two_arms()
    };
    let (_, policies) = prepare_run(&panel(diverse), 0).unwrap();
    assert!((policies[0].logs().gram()[0] - 50.0).abs() < 1e-9);
}

#[test]
fn descriptions_that_do_not_fit_are_refused_by_name() {
    let says = |world: World| play_run(&panel(world), 0).unwrap_err().to_string();
    let parameters = ParameterLaw::Given { live: vec![0.7], logged: vec![0.3, 0.7] };
    assert_eq!(says(World { parameters, ..two_arms() }), "`live` must hold 2 numbers, but holds 1");
    assert_eq!(
        says(World { noise: -1.0, ..two_arms() }),
        "`noise` must be a number from 0 to 1e50, but is -1"
    );
    let contexts = Contexts::Gaussian { actions: 0 };
    assert_eq!(
        says(World { contexts, ..two_arms() }),
        "`actions` must be a whole number from 1 to 100000, but is 0"
    );
    let contexts = Contexts::Shifting { actions: 2, phases: 3, phase_rounds: 5, quiet: 0.1 };
    assert_eq!(
        says(World { contexts, ..two_arms() }),
        "`phases` must be at least 1 and at most the dimension, but is 3"
    );
    let contexts = Contexts::Turning { actions: 2, turn_rounds: 0, spread: 0.1 };
    assert_eq!(
        says(World { contexts, ..two_arms() }),
        "`turn_rounds` must be a whole number of at least 1, but is 0"
    );
    let drift = vec![0.0; 3];
    let parameters = ParameterLaw::ScaledWithOffset { low: 0.0, high: 1.0, scale: 1.0, offset: 0.0, drift };
    assert_eq!(says(World { parameters, ..two_arms() }), "`drift` must hold 2 numbers, but holds 3");
    let coverage = Coverage::Box { low: vec![0.0, 1.0], high: vec![1.0, 0.0] };
    assert_eq!(says(World { coverage, ..two_arms() }), "`high` must be at least `low`, but is 0");
}
