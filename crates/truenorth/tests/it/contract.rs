//! What every policy promises, whatever its switches.

use truenorth::{
    Actions, Decision, Drift, Error, ErrorKind, Explore, Intervals, Method, Observation, Policy, Pooling,
    Preset, RidgeStatistic, Room, Settings,
};

use crate::support::{World, below, dot, explore, is_believed, play, rounds};

const ROUNDS: usize = 70;

pub(crate) fn every_policy(test: impl Fn(&str, Policy, &mut World)) {
    let mut world = World::new(7, 4, 0.1);
    for (name, settings) in world.policies(ROUNDS as u64) {
        test(&name, settings.build().unwrap(), &mut World::new(11, 4, 0.1));
    }
    let mut world = World::with_arms(7, 4, 0.1);
    for (name, settings) in world.policies(ROUNDS as u64) {
        test(&name, settings.build().unwrap(), &mut World::with_arms(11, 4, 0.1));
    }
}

#[test]
fn same_history_gives_the_same_decisions_and_the_same_bytes() {
    every_policy(|name, mut first, world| {
        let mut second = first.settings().clone().build().unwrap();
        for (features, rewards) in rounds(world, ROUNDS, 6) {
            assert_eq!(
                play(&mut first, &features, &rewards),
                play(&mut second, &features, &rewards),
                "{name}"
            );
        }
        assert_eq!(first.to_bytes(), second.to_bytes(), "{name}");
    });
}

#[test]
fn a_restored_policy_goes_on_bit_for_bit() {
    every_policy(|name, mut policy, world| {
        let history = rounds(world, ROUNDS, 5);
        // A reward that is still open when the snapshot is taken must find its layer afterwards.
        let (features, rewards) = &history[0];
        let actions = Actions::new(features, 4).unwrap();
        let open = policy.choose(actions).unwrap();
        for (features, rewards) in &history[1..33] {
            play(&mut policy, features, rewards);
        }
        let mut restored = Policy::from_bytes(&policy.to_bytes()).unwrap();
        for policy in [&mut policy, &mut restored] {
            policy.learn(open.rewarded(actions, rewards[open.action])).unwrap();
        }
        for (features, rewards) in &history[33..] {
            assert_eq!(
                play(&mut policy, features, rewards),
                play(&mut restored, features, rewards),
                "{name}"
            );
        }
        assert_eq!(policy.to_bytes(), restored.to_bytes(), "{name}");
        assert_eq!(policy.counts(), restored.counts(), "{name}");
    });
}

#[test]
fn a_decision_changes_nothing_and_whoever_takes_note_of_it_is_where_its_maker_would_be() {
    every_policy(|name, mut policy, world| {
        let (mut other, mut room) = (policy.clone(), Room::default());
        for (round, (features, rewards)) in rounds(world, ROUNDS, 6).into_iter().enumerate() {
            let actions = Actions::new(&features, 4).unwrap();
            let before = policy.to_bytes();
            let decided = policy.decide(actions, &mut room).unwrap();
            assert_eq!(policy.to_bytes(), before, "{name}");
            assert_eq!(other.record(actions, &decided).unwrap(), decided.decision, "{name}");
            assert_eq!(policy.choose(actions).unwrap(), decided, "{name}");
            // Some rewards never come.
            if round % 5 > 0 {
                let observation = decided.rewarded(actions, rewards[decided.action]);
                policy.learn(observation).unwrap();
                other.learn(observation).unwrap();
            }
            assert_eq!(policy.to_bytes(), other.to_bytes(), "{name}, round {round}");
        }
    });
}

#[test]
fn bad_input_is_an_error_that_leaves_the_state_as_it_was() {
    every_policy(|name, mut policy, world| {
        for (features, rewards) in rounds(world, 20, 5) {
            play(&mut policy, &features, &rewards);
        }
        let before = policy.to_bytes();
        let good = [0.1, 0.2, 0.3, 0.4];
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e101] {
            let features = [0.1, 0.2, bad, 0.4];
            let refused = Actions::new(&features, 4).unwrap_err();
            let place = "feature 2 of action 0 must be finite and at most 1e50 in size, but is ";
            assert!(refused.to_string().starts_with(place), "{refused}");
            assert_eq!(refused.kind(), ErrorKind::Invalid);
            let decision = Decision { round: 3, layer: 0 };
            assert!(
                policy.learn(Observation { decision, features: (&features).into(), reward: 0.1 }).is_err(),
                "{name}"
            );
            assert!(
                policy.learn(Observation { decision, features: (&good).into(), reward: bad }).is_err(),
                "{name}"
            );
        }
        let says = |error: Error| error.to_string();
        let none = Actions::new(&[], 4).unwrap_err();
        assert_eq!(says(none), "a round needs at least one action, but has none");
        let short = Actions::new(&good[..3], 4).unwrap_err();
        assert_eq!(says(short), "the list of features must hold 4 numbers, but holds 3");
        let narrow = Actions::new(&good, 2).unwrap();
        let refused = policy.choose(narrow).unwrap_err();
        assert_eq!(says(refused), "a feature vector must hold 4 numbers, but holds 2", "{name}");
        assert!(policy.choose_explained(narrow).is_err() && policy.intervals(0, narrow).is_err(), "{name}");
        assert!(policy.intervals(99, Actions::new(&good, 4).unwrap()).is_err(), "{name}");
        for decision in [
            Decision { round: 0, layer: 0 },
            Decision { round: 21, layer: 0 },
            Decision { round: 20, layer: 99 },
        ] {
            let unknown =
                policy.learn(Observation { decision, features: (&good).into(), reward: 0.1 }).unwrap_err();
            assert_eq!(unknown.kind(), ErrorKind::UnknownDecision, "{name}");
            assert!(
                unknown.to_string().contains(" is unknown: 20 rounds were decided, in "),
                "{name}: {unknown}"
            );
        }
        let short = Observation {
            decision: Decision { round: 3, layer: 0 },
            features: (&good[..3]).into(),
            reward: 0.1,
        };
        assert!(policy.learn(short).is_err(), "{name}");
        assert_eq!(policy.to_bytes(), before, "{name}");
    });
}

#[test]
fn permuting_the_actions_permutes_the_answer() {
    every_policy(|name, mut policy, world| {
        // Before the first rewards the means of a greedy policy tie.
        for (features, rewards) in rounds(world, 5, 11) {
            play(&mut policy, &features, &rewards);
        }
        let mut others = 0;
        for (features, rewards) in rounds(world, ROUNDS, 11) {
            let mut order: Vec<usize> = (0..11).collect();
            for i in (1..order.len()).rev() {
                order.swap(i, below(&mut world.rng, i + 1));
            }
            let shuffled: Vec<f64> = order.iter().flat_map(|&a| features[a * 4..][..4].to_vec()).collect();
            let mut twin = policy.clone();
            let choice = play(&mut policy, &features, &rewards);
            let permuted = twin.choose(Actions::new(&shuffled, 4).unwrap()).unwrap();
            // Any action, all alike, is an index of the dice: the order changes which one it is.
            if matches!(explore(&policy), Explore::Epsilon(_))
                && permuted.propensity.min(choice.propensity) < 0.5
            {
                assert_eq!(permuted.action, choice.action, "{name}");
                continue;
            }
            // Equal actions may stand for each other.
            let same = |action: usize| &features[action * 4..][..4];
            let floored = is_believed(&policy) && explore(&policy) == Explore::Sampling;
            if floored && same(order[permuted.action]) != same(choice.action) {
                others += 1;
                assert!(10 * others < ROUNDS, "{name}: its floor is a twentieth of the rounds");
                continue;
            }
            assert_eq!(same(order[permuted.action]), same(choice.action), "{name}");
            let mut back = permuted;
            back.action = choice.action;
            assert_eq!(back, choice, "{name}");
        }
    });
}

#[test]
fn the_first_of_equal_actions_is_played() {
    every_policy(|name, mut policy, world| {
        let x = world.round(1);
        for count in [1, 2, 9, 17] {
            let features = x.repeat(count);
            let choice = policy.choose(Actions::new(&features, 4).unwrap()).unwrap();
            match explore(&policy) {
                // One round in so many goes to any action.
                Explore::Epsilon(epsilon) => {
                    let any = epsilon / count as f64;
                    let chance = if choice.action == 0 { 1.0 - epsilon + any } else { any };
                    assert!((choice.propensity - chance).abs() < 1e-15, "{name}: {choice:?}");
                }
                Explore::Sampling if is_believed(&policy) => {
                    let any = 0.05 / count as f64;
                    let chance = if choice.action == 0 { 0.95 + any } else { any };
                    assert!((choice.propensity - chance).abs() < 1e-15, "{name}: {choice:?}");
                }
                _ => assert_eq!((choice.action, choice.propensity), (0, 1.0), "{name}"),
            }
        }
    });
}

#[test]
fn rewards_may_come_late_and_in_any_order() {
    every_policy(|name, mut in_order, world| {
        let mut shuffled = in_order.clone();
        let mut observations = Vec::new();
        for (features, rewards) in rounds(world, 40, 5) {
            let actions = Actions::new(&features, 4).unwrap();
            let choice = in_order.choose(actions).unwrap();
            assert_eq!(shuffled.choose(actions).unwrap(), choice);
            observations.push((
                choice.decision,
                actions.row(choice.action).values().to_vec(),
                rewards[choice.action],
            ));
        }
        let learn = |policy: &mut Policy, (decision, features, reward): &(Decision, Vec<f64>, f64)| {
            policy
                .learn(Observation { decision: *decision, features: features.into(), reward: *reward })
                .unwrap();
        };
        for (first, last) in observations.iter().zip(observations.iter().rev()) {
            learn(&mut in_order, first);
            learn(&mut shuffled, last);
        }
        assert_eq!(in_order.counts(), shuffled.counts());
        let test_actions = world.round(8);
        let actions = Actions::new(&test_actions, 4).unwrap();
        for layer in 0..=in_order.last_layer() {
            let expected = in_order.intervals(layer, actions).unwrap();
            for (a, b) in expected.iter().zip(shuffled.intervals(layer, actions).unwrap()) {
                assert!((a.ucb - b.ucb).abs() < 1e-11 && (a.lcb - b.lcb).abs() < 1e-11, "{name}");
            }
        }
    });
}

#[test]
fn a_round_without_a_reward_teaches_nothing() {
    every_policy(|name, mut policy, world| {
        let before: Vec<_> = policy.layers().into_iter().map(|layer| layer.data.clone()).collect();
        for (features, _) in rounds(world, 10, 5) {
            policy.choose(Actions::new(&features, 4).unwrap()).unwrap();
        }
        let after: Vec<_> = policy.layers().into_iter().map(|layer| layer.data.clone()).collect();
        assert_eq!(before, after, "{name}");
        assert_eq!((policy.counts().rounds, policy.counts().rewards), (10, 0), "{name}");
    });
}

#[test]
fn action_sets_may_change_their_size_from_round_to_round() {
    every_policy(|name, mut policy, world| {
        for count in [1, 30, 2, 8, 9, 100, 3] {
            let (features, rewards) = &rounds(world, 1, count)[0];
            let choice = play(&mut policy, features, rewards);
            assert!(choice.action < count && choice.candidates <= count, "{name}");
        }
    });
}

#[test]
fn an_explained_decision_is_the_same_decision() {
    every_policy(|name, mut policy, world| {
        for (features, rewards) in rounds(world, ROUNDS, 6) {
            let actions = Actions::new(&features, 4).unwrap();
            let (choice, story) = policy.clone().choose_explained(actions).unwrap();
            assert_eq!(choice, play(&mut policy, &features, &rewards), "{name}");

            let last = story.layers.last().unwrap();
            assert_eq!((last.layer, last.actions.len()), (choice.decision.layer, choice.candidates));
            let played = last.actions.iter().find(|interval| interval.action == choice.action).unwrap();
            assert_eq!((played.ucb, played.lcb, played.branch), (choice.ucb, choice.lcb, choice.branch));
            let conflicts = story
                .layers
                .iter()
                .flat_map(|layer| &layer.actions)
                .filter(|interval| interval.conflict)
                .count();
            assert_eq!(conflicts, choice.conflicts);
            for pair in story.layers.windows(2) {
                let survivors: Vec<usize> = pair[1].actions.iter().map(|interval| interval.action).collect();
                for interval in &pair[0].actions {
                    let gone = pair[0].eliminated.contains(&interval.action);
                    assert_eq!(gone, !survivors.contains(&interval.action), "{name}");
                }
            }
            let text = story.to_string();
            assert!(
                text.starts_with(&format!(
                    "round {}: played action {}",
                    choice.decision.round, choice.action
                )),
                "{text}"
            );
        }
    });
}

#[test]
fn the_parts_of_an_interval_add_up() {
    every_policy(|name, mut policy, world| {
        for (features, rewards) in rounds(world, 30, 6) {
            play(&mut policy, &features, &rewards);
        }
        let features = world.round(6);
        let greedy = policy.exploration_scale() == 0.0;
        for interval in policy.intervals(0, Actions::new(&features, 4).unwrap()).unwrap() {
            let (mut ucb, mut lcb) = (f64::INFINITY, f64::NEG_INFINITY);
            let informed = interval.informed.filter(|_| !interval.conflict);
            for branch in [interval.online, informed].into_iter().flatten() {
                assert_eq!(branch.statistical > 0.0, !greedy, "{name}");
                assert!(branch.bias >= 0.0, "{name}");
                let radius = branch.statistical + branch.bias;
                (ucb, lcb) = (ucb.min(branch.mean + radius), lcb.max(branch.mean - radius));
            }
            assert_eq!((interval.ucb, interval.lcb), (ucb, lcb), "{name}");
        }
    });
}

#[test]
fn offline_only_plays_the_logs_favourite_for_ever() {
    let mut world = World::new(3, 4, 0.1);
    let settings = Policy::builder(4).preset(Preset::OfflineOnly).logs(world.logs(50));
    let mut policy = settings.build().unwrap();
    let estimate = policy.offline().estimate().to_vec();
    for (features, rewards) in rounds(&mut world, 50, 7) {
        let best = features.chunks(4).map(|x| dot(x, &estimate)).fold(f64::MIN, f64::max);
        let choice = play(&mut policy, &features, &rewards);
        assert!((choice.mean - best).abs() < 1e-12);
    }
}

#[test]
fn parameters_out_of_range_are_named_with_their_value() {
    let says = |change: &dyn Fn(Settings) -> Settings| {
        let settings = Policy::builder(2).preset(Preset::SupLinUcb).horizon(10);
        change(settings).build().unwrap_err().to_string()
    };
    assert_eq!(says(&|p| p.ridge(-1.0)), "`ridge` must be at least 1e-50 and at most 1e50, but is -1");
    assert_eq!(says(&|p| p.delta(1.0)), "`delta` must be strictly between 0 and 1, but is 1");
    assert_eq!(says(&|p| p.noise(f64::NAN)), "`noise` must be at least 0 and at most 1e50, but is NaN");
    assert_eq!(says(&|p| p.horizon(0)), "`horizon` must be at least 1, but is 0");
    assert_eq!(says(&|p| p.horizon(None)), "`horizon` is needed by layered policies");
    assert_eq!(
        says(&|p| p.method(Preset::EllipsoidalMinUcb.method())),
        "`certificate` is needed by the pooled branch"
    );
    assert_eq!(
        says(&|p| p.logs(truenorth::RidgeStatistic::new(3).unwrap())),
        "the moment of the logs must hold 2 numbers, but holds 3"
    );
    assert_eq!(
        Policy::builder(0).build().unwrap_err().to_string(),
        "`dimension` must be at least 1, but is 0"
    );
}

#[test]
fn a_policy_restored_before_its_first_round_measures_columns_by_the_same_bits() {
    let wave = |at: usize| f64::sin((1 + 7 * at) as f64);
    let mut logs = RidgeStatistic::new(130).unwrap();
    for row in 0..203 {
        let features: Vec<f64> = (0..130).map(|j| wave(row * 130 + j)).collect();
        logs.observe(&features, wave(row)).unwrap();
    }
    let mut policy = Policy::builder(130).logs(logs).build().unwrap();
    let mut restored = Policy::from_bytes(&policy.to_bytes()).unwrap();
    for policy in [&mut policy, &mut restored] {
        for round in 0..20 {
            let features: Vec<f64> = (0..260).map(|at| wave(round * 391 + at)).collect();
            let actions = Actions::new(&features, 130).unwrap();
            let choice = policy.choose(actions).unwrap();
            policy.learn(choice.rewarded(actions, wave(round))).unwrap();
        }
    }
    assert!(policy.to_bytes() == restored.to_bytes());
}

#[test]
fn damaged_snapshots_are_refused_with_the_reason() {
    let policy = Policy::builder(2).preset(Preset::Oful).build().unwrap();
    let good = policy.to_bytes();
    let says = |bytes: &[u8]| Policy::from_bytes(bytes).unwrap_err().to_string();
    assert_eq!(says(&[]), "this is not a truenorth snapshot: it is too short");
    assert_eq!(says(&[b'x'; 40]), "this is not a truenorth snapshot: it does not start with \"truenorth\"");
    let mut newer = good.clone();
    newer[9] = 9;
    assert_eq!(says(&newer), "the snapshot has version 9, but this build reads version 8");
    assert_eq!(Policy::from_bytes(&newer).unwrap_err().kind(), ErrorKind::OtherVersion);
    for at in 13..good.len() {
        let mut damaged = good.clone();
        damaged[at] ^= 0x10;
        assert_eq!(says(&damaged), "the snapshot is damaged: its checksum does not match its content");
    }
    for length in 17..good.len() {
        assert_eq!(Policy::from_bytes(&good[..length]).unwrap_err().kind(), ErrorKind::Damaged);
    }
}

#[test]
fn serde_leads_back_to_the_same_policy() {
    every_policy(|name, mut policy, world| {
        for (features, rewards) in rounds(world, 20, 5) {
            play(&mut policy, &features, &rewards);
        }
        let text = serde_json::to_string(&policy).unwrap();
        let mut read: Policy = serde_json::from_str(&text).unwrap();
        for (features, rewards) in rounds(world, 20, 5) {
            assert_eq!(
                play(&mut policy, &features, &rewards),
                play(&mut read, &features, &rewards),
                "{name}"
            );
        }
        assert_eq!(policy.to_bytes(), read.to_bytes(), "{name}");
        // What is read is checked: a policy that was tampered with is refused, not played.
        let broken = text.replacen("\"rounds\":", "\"rounds\":-", 1);
        assert!(serde_json::from_str::<Policy>(&broken).is_err(), "{name}");
        let shorter = text.replacen("\"dimension\":4", "\"dimension\":3", 1);
        assert!(serde_json::from_str::<Policy>(&shorter).is_err(), "{name}");
    });
}

#[test]
fn exploration_scale_multiplies_every_part_of_a_radius() {
    every_policy(|name, policy, world| {
        let bold = policy.settings().clone().exploration_scale(2.0 * policy.exploration_scale());
        let bold = bold.build().unwrap();
        let features = world.round(6);
        let actions = Actions::new(&features, 4).unwrap();
        let plain = policy.intervals(0, actions).unwrap();
        for (plain, bold) in plain.iter().zip(bold.intervals(0, actions).unwrap()) {
            for (plain, bold) in [(plain.online, bold.online), (plain.informed, bold.informed)] {
                let parts = |branch: Option<truenorth::BranchInterval>| {
                    branch.map(|b| (b.mean, b.statistical, b.bias))
                };
                let doubled =
                    parts(plain).map(|(mean, statistical, bias)| (mean, 2.0 * statistical, 2.0 * bias));
                match (doubled, parts(bold)) {
                    (Some(expected), Some(found)) => {
                        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(1e-12);
                        assert!(close(expected.0, found.0) && close(expected.1, found.1), "{name}");
                        assert!(close(expected.2, found.2), "{name}");
                    }
                    (expected, found) => assert_eq!(expected, found, "{name}"),
                }
            }
        }
    });
}

#[test]
fn what_bounds_need_of_a_run_adds_up() {
    every_policy(|name, mut policy, world| {
        let mut informed = 0;
        for (features, rewards) in rounds(world, ROUNDS, 6) {
            let (_, story) = policy.clone().choose_explained(Actions::new(&features, 4).unwrap()).unwrap();
            let choice = play(&mut policy, &features, &rewards);
            let last = story.layers.last().unwrap();
            let played = last.actions.iter().find(|interval| interval.action == choice.action).unwrap();
            informed += u64::from(played.branch != truenorth::Branch::Online);
            let bias = played.informed.map_or(0.0, |branch| branch.bias);
            assert_eq!(choice.bias.to_bits(), bias.to_bits(), "{name}");
        }
        assert_eq!(policy.counts().informed, informed, "{name}");
        let layers = policy.layers();
        assert_eq!(layers.iter().map(|layer| layer.plays).sum::<u64>(), ROUNDS as u64, "{name}");
        assert_eq!(layers.iter().map(|layer| layer.data.count()).sum::<u64>(), ROUNDS as u64, "{name}");
    });
}

#[test]
fn given_epochs_start_with_their_rounds() {
    let drift = Drift::Learned(Some(vec![1, 5]));
    let pooled = Intervals::Pooled { pooling: Pooling::Full, drift, fallback: true };
    let settings = Policy::builder(2).method(Method::Layered(pooled)).horizon(20);
    let mut policy = settings.build().unwrap();
    let mut radius = policy.certificate().unwrap().rho();
    let starts: Vec<u64> = (1..=6)
        .filter(|_| {
            let actions = Actions::new(&[0.6, 0.8], 2).unwrap();
            let choice = policy.choose(actions).unwrap();
            policy.learn(choice.rewarded(actions, 0.5)).unwrap();
            let before = std::mem::replace(&mut radius, policy.certificate().unwrap().rho());
            before.to_bits() != radius.to_bits()
        })
        .collect();
    assert_eq!(starts, [5]);
}

#[test]
fn a_width_of_exactly_the_threshold_does_not_play() {
    // Without noise the width is 2 √λ S ‖x‖/√λ = 1 at every empty layer: not strictly above 2^0.
    let settings = Policy::builder(2).preset(Preset::SupLinUcb).horizon(4).noise(0.0).norm_bound(0.5);
    let mut policy = settings.build().unwrap();
    let actions = [1.0, 0.0, 0.0, 1.0];
    let choice = policy.choose(Actions::new(&actions, 2).unwrap()).unwrap();
    assert_eq!((choice.decision.layer, choice.candidates), (1, 2));
}

#[test]
fn an_upper_bound_at_the_best_lower_bound_survives() {
    let settings = Policy::builder(1).preset(Preset::SupLinUcb).horizon(8).noise(0.0).norm_bound(0.0);
    let mut policy = settings.build().unwrap();
    // Without noise and with a known length of 0 every interval is [0, 0]: nobody is below anybody.
    let (choice, story) = policy.choose_explained(Actions::new(&[1.0, 0.5, -1.0], 1).unwrap()).unwrap();
    assert_eq!((choice.decision.layer, choice.candidates, choice.action), (3, 3, 0));
    assert!(story.layers.iter().all(|layer| layer.eliminated.is_empty()));
}

#[test]
fn the_largest_numbers_that_are_taken_do_no_harm() {
    let largest = 1e50;
    every_policy(|name, policy, world| {
        let mut policy = policy.settings().clone().ridge(1e-50).build().unwrap();
        for sign in [1.0, -1.0, 1.0] {
            let mut features =
                [largest, -largest, 0.5 * largest, 0.0, sign, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
            if world.arms {
                features = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
            }
            let actions = Actions::new(&features, 4).unwrap();
            let choice = policy.choose(actions).unwrap();
            policy.learn(choice.rewarded(actions, sign * largest)).unwrap();
            assert!(!choice.ucb.is_nan() && !choice.lcb.is_nan(), "{name}");
        }
    });
}

#[test]
fn a_share_of_delta_that_vanishes_is_refused() {
    let settings = Policy::builder(2).preset(Preset::Oful).delta(5e-324);
    assert!(settings.build().unwrap_err().to_string().starts_with("`delta` must be large enough"));
}

#[test]
fn offline_only_explains_itself_by_its_means() {
    let mut policy = Policy::builder(2).preset(Preset::OfflineOnly).build().unwrap();
    let (_, story) = policy.choose_explained(Actions::new(&[0.6, 0.8], 2).unwrap()).unwrap();
    assert!(story.to_string().contains("layer 0 (plays the largest mean)"), "{story}");
}
