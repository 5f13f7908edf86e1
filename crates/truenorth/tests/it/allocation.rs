//! After the largest action set has been seen, a round allocates nothing.

use truenorth::{Actions, CertificateRule, Observation, Policy};

use crate::support::{World, rounds};

#[test]
fn choose_and_learn_do_not_allocate_after_warm_up() {
    let mut world = World::new(5, 6, 0.1);
    for (name, params) in world.policies(1000) {
        let learned = matches!(params.certificate, CertificateRule::Learned(_));
        let mut policy = Policy::new(params).unwrap();
        let history = rounds(&mut world, 200, 12);
        let mut play = |range: std::ops::Range<usize>| {
            for (features, rewards) in &history[range] {
                let actions = Actions::new(features, 6).unwrap();
                let choice = policy.choose(actions).unwrap();
                policy
                    .learn(Observation {
                        decision: choice.decision,
                        features: actions.features(choice.action),
                        reward: rewards[choice.action],
                    })
                    .unwrap();
            }
        };
        // Round 128 starts an epoch, which is allowed to allocate; the next one is round 256.
        play(0..130);
        let counted = allocation_counter::measure(|| play(130..200)).count_total;
        assert_eq!(counted, 0, "{name} allocated (learned certificate: {learned})");
    }
}
