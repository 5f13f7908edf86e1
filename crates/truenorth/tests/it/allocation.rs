//! After the largest action set has been seen, a round allocates nothing, but where a certificate is learned.

use std::cell::Cell;

use truenorth::{Actions, Method, Policy, Preset, Prior};

use crate::support::{UNTOLD, World, rounds};

#[test]
fn choose_and_learn_do_not_allocate_after_warm_up() {
    for mut world in [World::new(5, 6, 0.1), World::with_arms(5, 6, 0.1)] {
        for (name, settings) in world.policies(1000) {
            // A belief is fitted anew whenever live data has grown by a quarter: no more than three times from 130 to
            // 200 rewards.
            let mut policy = settings.build().unwrap();
            let fits = match policy.method() {
                Method::Posterior { prior: Prior::Adaptive, .. } => 3,
                Method::Posterior { prior: Prior::Ridge, .. } if name.contains(UNTOLD) => 3,
                _ => 0,
            };
            let history = rounds(&mut world, 200, 12);
            let learned = Cell::new(0);
            let mut play = |(features, rewards): &(Vec<f64>, Vec<f64>)| {
                let actions = Actions::new(features, 6).unwrap();
                let choice = policy.choose(actions).unwrap();
                let mut learn = || policy.learn(choice.rewarded(actions, rewards[choice.action]));
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
        let settings =
            Policy::builder(dimension).preset(preset).noise(0.1).norm_bound(1.0).logs(logs.clone());
        let mut policy = None;
        let made = allocation_counter::measure(|| policy = Some(settings.clone().build().unwrap()));
        // Its settings hold the logs' statistic, which was made before.
        let statistic = allocation_counter::measure(|| std::mem::forget(logs.clone())).bytes_current;
        let megabytes = (made.bytes_current + statistic) as f64 / 1e6;
        assert!(megabytes < 10.0, "{preset:?} takes {megabytes} MB");
        let mut policy = policy.unwrap();
        let history = rounds(&mut world, 40, 5);
        let mut play = |round: &(Vec<f64>, Vec<f64>)| {
            let actions = Actions::new(&round.0, dimension).unwrap();
            let choice = policy.choose(actions).unwrap();
            policy.learn(choice.rewarded(actions, round.1[choice.action])).unwrap();
        };
        history[..10].iter().for_each(&mut play);
        let grown = allocation_counter::measure(|| history[10..].iter().for_each(&mut play)).bytes_current;
        assert_eq!(grown, 0, "{preset:?}");
    }
}
