//! After the largest action set has been seen, a round allocates nothing, but where a certificate is learned.

use std::cell::Cell;

use truenorth::{Actions, CertificateRule, Observation, Policy};

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
