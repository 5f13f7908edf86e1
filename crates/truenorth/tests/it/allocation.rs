//! After the largest action set has been seen, a round allocates nothing, but where a certificate is learned.

use std::cell::Cell;

use truenorth::{Actions, CertificateRule, Observation, Policy, Preset};

use crate::support::{World, rounds};

#[test]
fn choose_and_learn_do_not_allocate_after_warm_up() {
    for mut world in [World::new(5, 6, 0.1), World::with_arms(5, 6, 0.1)] {
        for (name, params) in world.policies(1000) {
            // An adaptive certificate, and a posterior that follows the noise, are fitted anew whenever live
            // data has grown by a quarter: no more than three times from 130 to 200 rewards.
            let followed = params.noise.is_none() && params.offline.count() == 0;
            let fits = if params.certificate == CertificateRule::Adaptive || followed { 3 } else { 0 };
            let mut policy = Policy::new(params).unwrap();
            let history = rounds(&mut world, 200, 12);
            let learned = Cell::new(0);
            let mut play = |(features, rewards): &(Vec<f64>, Vec<f64>)| {
                let actions = Actions::new(features, 6).unwrap();
                let choice = policy.choose(actions).unwrap();
                let reward = rewards[choice.action];
                let features = actions.features(choice.action);
                let mut learn = || policy.learn(Observation { decision: choice.decision, features, reward });
                learned.set(learned.get() + allocation_counter::measure(|| learn().unwrap()).count_total);
            };
            // Round 128 starts an epoch, which is allowed to allocate; the next one is round 256.
            history[..130].iter().for_each(&mut play);
            learned.set(0);
            let allocating = history[130..]
                .iter()
                .filter(|round| allocation_counter::measure(|| play(round)).count_total > 0)
                .count();
            assert!(allocating <= fits, "{name} allocated in {allocating} rounds");
            assert_eq!(learned.get(), 0, "{name} allocated when it learned");
        }
    }
}

#[test]
fn a_wide_flat_bandit_takes_few_megabytes_and_never_more() {
    let (dimension, mut world) = (500, World::new(3, 500, 0.1));
    let logs = world.logs(1000);
    for preset in [Preset::LinUcb, Preset::Oful, Preset::Greedy, Preset::TrueNorth, Preset::TrueNorthSampling]
    {
        let mut params = preset.params(dimension).unwrap();
        (params.noise, params.norm_bound, params.offline) = (Some(0.1), Some(1.0), logs.clone());
        let mut policy = None;
        let made = allocation_counter::measure(|| policy = Some(Policy::new(params.clone()).unwrap()));
        // Its parameters hold the logs' statistic, which was made before.
        let statistic = allocation_counter::measure(|| std::mem::forget(logs.clone())).bytes_current;
        let megabytes = (made.bytes_current + statistic) as f64 / 1e6;
        assert!(megabytes < 10.0, "{preset:?} takes {megabytes} MB");
        let mut policy = policy.unwrap();
        let history = rounds(&mut world, 40, 5);
        let mut play = |round: &(Vec<f64>, Vec<f64>)| {
            let actions = Actions::new(&round.0, dimension).unwrap();
            let choice = policy.choose(actions).unwrap();
            let (features, reward) = (actions.features(choice.action), round.1[choice.action]);
            policy.learn(Observation { decision: choice.decision, features, reward }).unwrap();
        };
        history[..10].iter().for_each(&mut play);
        let grown = allocation_counter::measure(|| history[10..].iter().for_each(&mut play)).bytes_current;
        assert_eq!(grown, 0, "{preset:?}");
    }
}
