//! Fits that run beside decisions, and rewards that are learned together.

use truenorth::{Actions, Observation, Policy, Preset, Room};

use crate::support::{World, dot, play, rounds};

fn policy(world: &mut World, beside: bool, sparse: bool) -> Policy {
    Policy::builder(4).logs(world.logs(60)).fits_beside(beside).sparse(sparse).build().unwrap()
}

fn reward(world: &mut World, features: &[f64], action: usize) -> f64 {
    dot(&features[action * world.dimension..][..world.dimension], &world.live) + world.draw_noise()
}

#[test]
fn a_fit_that_comes_back_at_once_is_the_fit_within_the_decision() {
    for sparse in [false, true] {
        let mut world = World::new(7, 4, 0.3);
        let mut within = policy(&mut world, false, sparse);
        let mut beside = within.settings().clone().fits_beside(true).build().unwrap();
        let mut fits = 0;
        for _ in 0..200 {
            let features = world.round(5);
            let actions = Actions::new(&features, 4).unwrap();
            // What is due is known once a round has been decided; the decision itself rests on what was believed before.
            let mut ahead = beside.clone();
            ahead.choose(actions).unwrap();
            if let Some(fit) = ahead.begin_fit() {
                fits += 1;
                beside.choose(actions).unwrap();
                beside.finish_fit(fit.run()).unwrap();
                within.choose(actions).unwrap();
                let [a, b] = [&within, &beside].map(|policy| policy.intervals(0, actions).unwrap());
                assert_eq!(a, b, "{sparse}");
                continue;
            }
            let [a, b] = [within.choose(actions).unwrap(), beside.choose(actions).unwrap()];
            assert_eq!((a.action, a.ucb, a.mean), (b.action, b.ucb, b.mean));
            let reward = reward(&mut world, &features, a.action);
            within.learn(a.rewarded(actions, reward)).unwrap();
            beside.learn(b.rewarded(actions, reward)).unwrap();
        }
        assert!(fits > 5, "{fits}");
    }
}

#[test]
fn what_was_learned_meanwhile_is_not_lost_and_the_same_calls_give_the_same_bytes() {
    for sparse in [false, true] {
        let run = |restarts: bool| {
            let mut world = World::new(3, 4, 0.3);
            let mut policy = policy(&mut world, true, sparse);
            let mut due = 0u64;
            for round in 0..300u64 {
                let features = world.round(5);
                let actions = Actions::new(&features, 4).unwrap();
                let choice = policy.choose(actions).unwrap();
                let reward = reward(&mut world, &features, choice.action);
                policy.learn(choice.rewarded(actions, reward)).unwrap();
                if restarts && round % 17 == 0 {
                    policy = Policy::from_bytes(&policy.to_bytes()).unwrap();
                }
                due = if policy.begin_fit().is_some() { due + 1 } else { 0 };
                // Seven rewards later, on another thread.
                if due == 7 {
                    let fit = policy.begin_fit().unwrap();
                    policy.finish_fit(std::thread::spawn(move || fit.run()).join().unwrap()).unwrap();
                }
            }
            assert_eq!(policy.counts().rewards, 300);
            (policy.to_bytes(), world)
        };
        let ((bytes, mut world), (again, _)) = (run(false), run(true));
        assert_eq!(bytes, again);
        // Once more what it knows is fitted to all that it has learned: nothing was lost.
        let mut policy = Policy::from_bytes(&bytes).unwrap();
        if policy.begin_fit().is_none() {
            let features = world.round(5);
            let actions = Actions::new(&features, 4).unwrap();
            let data = policy.layers()[0].data.count();
            assert_eq!(data, 300);
            policy.choose(actions).unwrap();
        }
    }
    let mut world = World::new(3, 4, 0.3);
    let mut policy = policy(&mut world, true, false);
    let error = policy.finish_fit(Err(Actions::new(&[], 4).unwrap_err())).unwrap_err();
    assert_eq!(error.to_string(), "`finish_fit` does not go with a policy without a fit that is due");
}

#[test]
fn rewards_that_are_learned_together_are_learned_one_after_the_other_to_the_last_bit() {
    for dimension in [1, 4, 8, 9, 33] {
        for preset in [Preset::TrueNorth, Preset::LinUcb, Preset::Oful, Preset::OfflineOnly] {
            let mut world = World::new(13, dimension, 0.3);
            let settings = Policy::builder(dimension).preset(preset).logs(world.logs(40)).horizon(1000);
            let [mut one, mut many] = [0, 1].map(|_| settings.clone().build().unwrap());
            for _ in 0..3 {
                let rounds: Vec<Vec<f64>> = (0..37).map(|_| world.round(5)).collect();
                let mut observations = Vec::new();
                for features in &rounds {
                    let actions = Actions::new(features, dimension).unwrap();
                    let choice = one.choose(actions).unwrap();
                    assert_eq!(many.choose(actions).unwrap(), choice);
                    observations.push(choice.rewarded(actions, reward(&mut world, features, choice.action)));
                }
                for &observation in &observations {
                    one.learn(observation).unwrap();
                }
                many.learn_many(&observations).unwrap();
                assert_eq!(one.to_bytes(), many.to_bytes(), "{dimension} {preset:?}");
                let wrong = Observation { reward: f64::NAN, ..observations[3] };
                assert!(many.learn_many(&[observations[0], wrong]).is_err());
                assert_eq!(one.to_bytes(), many.to_bytes());
            }
        }
    }
}

#[test]
fn rewards_that_live_data_alone_learns_later_change_no_bit() {
    let mut world = World::new(5, 130, 0.3);
    let settings = Policy::builder(130).logs(world.logs(200));
    let [mut later, mut at_once] = [0, 1].map(|_| settings.clone().build().unwrap());
    let mut room = Room::default();
    for round in 0..120 {
        let features = world.round(4);
        let actions = Actions::new(&features, 130).unwrap();
        let decided = later.decide(actions, &mut room).unwrap();
        let choice = later.choose(actions).unwrap();
        assert_eq!(decided, choice);
        assert_eq!(at_once.choose(actions).unwrap(), choice);
        // Every tenth reward does not come: what waits may be asked for without a reward in between.
        if round % 10 != 0 {
            let reward = reward(&mut world, &features, choice.action);
            later.learn(choice.rewarded(actions, reward)).unwrap();
            at_once.learn_many(&[choice.rewarded(actions, reward)]).unwrap();
        }
        assert_eq!(later.to_bytes(), at_once.to_bytes(), "{round}");
    }
}

#[test]
fn a_fit_of_the_season_before_is_refused() {
    let mut world = World::new(3, 4, 0.3);
    let mut policy = policy(&mut world, true, false);
    let mut due = |policy: &mut Policy| loop {
        let (features, rewards) = rounds(&mut world, 1, 5).remove(0);
        play(policy, &features, &rewards);
        if let Some(fit) = policy.begin_fit() {
            break fit;
        }
    };
    for _ in 0..12 {
        let fit = due(&mut policy);
        policy.finish_fit(fit.run()).unwrap();
    }
    let before = due(&mut policy);
    policy.renew().unwrap();
    let now = due(&mut policy);
    let error = policy.finish_fit(before.run()).unwrap_err();
    assert_eq!(error.to_string(), "what this fit has found does not go with the fit that is due");
    policy.finish_fit(now.run()).unwrap();
}
