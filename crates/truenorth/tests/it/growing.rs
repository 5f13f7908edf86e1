//! More features, rows of others and more logs for a policy that is running.

use proptest::prelude::*;
use truenorth::{
    Actions, Certificate, Choice, Drift, ErrorKind, Intervals, Method, Observation, Policy, Pooling, Preset,
    Prior, RidgeStatistic, Settings,
};

use crate::contract::every_policy;
use crate::support::{World, dot, is_believed, play, rounds};

const BEFORE: usize = 4;
const AFTER: usize = 7;

/// Rows of more features, the last of which are 0.
fn padded(features: &[f64]) -> Vec<f64> {
    widened(features, BEFORE, AFTER)
}

fn widened(features: &[f64], before: usize, after: usize) -> Vec<f64> {
    let zeros = vec![0.0; after - before];
    features.chunks(before).flat_map(|row| [row, &zeros].concat()).collect()
}

/// A world of as many features as a policy has grown to, of the same kind.
fn wider(world: &World) -> World {
    if world.arms { World::with_arms(23, AFTER, 0.1) } else { World::new(23, AFTER, 0.1) }
}

/// How logs are pooled under a learned certificate, where there is one.
fn learned(policy: &Policy) -> Option<Pooling> {
    match *policy.method() {
        Method::Flat(Intervals::Pooled { drift: Drift::Learned(_), pooling, .. })
        | Method::Layered(Intervals::Pooled { drift: Drift::Learned(_), pooling, .. }) => Some(pooling),
        _ => None,
    }
}

/// Whether a policy was told a number.
fn is_told(policy: &Policy, name: &str) -> bool {
    !serde_json::to_value(policy.settings()).unwrap()[name].is_null()
}

/// Whether noise, scale or drift are found out by fits, which see features only when they come.
fn has_belief(policy: &Policy) -> bool {
    let untold = !is_told(policy, "noise") || !is_told(policy, "norm_bound");
    match policy.method() {
        Method::Posterior { prior: Prior::Adaptive, .. } => true,
        Method::Posterior { prior: Prior::Ridge, .. } => untold,
        _ => false,
    }
}

/// Means and ends of all actions at all layers.
fn intervals(policy: &Policy, features: &[f64]) -> Vec<[f64; 3]> {
    let actions = Actions::new(features, policy.dimension()).unwrap();
    let layer = |layer: u32| policy.intervals(layer, actions).unwrap();
    let all = (0..=policy.last_layer()).flat_map(layer);
    all.map(|interval| [interval.mean(), interval.ucb, interval.lcb]).collect()
}

fn near(name: &str, tolerance: f64, left: &[[f64; 3]], right: &[[f64; 3]]) {
    assert_eq!(left.len(), right.len());
    for (left, right) in left.iter().zip(right) {
        for (a, b) in left.iter().zip(right) {
            // Without an observation an arm has no end.
            let size = a.abs().max(b.abs()).max(1.0);
            assert!((a - b).abs() <= tolerance * size, "{name}: {left:?} {right:?}");
        }
    }
}

/// What people see of each feature.
fn seen(policy: &Policy) -> Vec<[f64; 3]> {
    let features = policy.features().unwrap();
    features.iter().map(|view| [view.estimate, view.drift.unwrap_or(0.0), view.trust]).collect()
}

#[test]
fn a_grown_policy_is_one_that_had_all_features_from_the_start() {
    every_policy(|name, mut policy, world| {
        let mut other = policy.clone();
        other.grow(AFTER).unwrap();
        let mut wide = other.settings().clone().build().unwrap();
        assert_eq!((wide.dimension(), wide.logs().dimension()), (AFTER, AFTER), "{name}");
        for (features, rewards) in rounds(world, 37, 5) {
            // What both learn is what the policy of fewer features plays.
            let (few, more) = (Actions::new(&features, BEFORE).unwrap(), padded(&features));
            let choice = policy.choose(few).unwrap();
            wide.choose(Actions::new(&more, AFTER).unwrap()).unwrap();
            policy.learn(choice.rewarded(few, rewards[choice.action])).unwrap();
            wide.learn(Observation {
                decision: choice.decision,
                features: (&more[choice.action * AFTER..][..AFTER]).into(),
                reward: rewards[choice.action],
            })
            .unwrap();
        }
        policy.grow(AFTER).unwrap();
        let mut world = wider(world);
        let fitted = has_belief(&policy);
        // The noise that a belief follows depends on the fits before, and these on d.
        let tolerance = if is_believed(&policy) && !is_told(&policy, "noise") { 0.02 } else { 1e-9 };
        if fitted {
            // The first action that has one of the features brings a fit.
            let actions = world.round(5);
            for policy in [&mut policy, &mut wide] {
                policy.choose(Actions::new(&actions, AFTER).unwrap()).unwrap();
            }
        }
        near(name, tolerance, &seen(&policy), &seen(&wide));
        let actions = world.round(9);
        near(name, tolerance, &intervals(&policy, &actions), &intervals(&wide, &actions));
        for (features, rewards) in rounds(&mut world, 30, 5) {
            let actions = Actions::new(&features, AFTER).unwrap();
            let choice = policy.choose(actions).unwrap();
            let expected = wide.choose(actions).unwrap();
            if !is_believed(&policy) {
                assert_eq!((choice.action, choice.decision), (expected.action, expected.decision), "{name}");
            }
            for policy in [&mut policy, &mut wide] {
                policy.learn(choice.rewarded(actions, rewards[choice.action])).unwrap();
            }
        }
        near(name, tolerance, &seen(&policy), &seen(&wide));
        let actions = world.round(9);
        near(name, tolerance, &intervals(&policy, &actions), &intervals(&wide, &actions));
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 16 } else { 200 }))]

    #[test]
    fn growth_is_exact_whatever_the_numbers_of_features(
        seed in 0u64..1000,
        kind in 0..Preset::ALL.len(),
        before in 1usize..20,
        more in 1usize..30,
        played in 0usize..40,
    ) {
        let (preset, after) = (Preset::ALL[kind], before + more);
        let world = |d| if preset == Preset::MinUcb { World::with_arms(seed, d, 0.1) } else { World::new(seed, d, 0.1) };
        let mut small_world = world(before);
        let settings = Policy::builder(before).preset(preset).logs(small_world.logs(30)).horizon(64);
        let mut settings = settings.noise(0.1).norm_bound(1.5).seed(seed);
        if preset.needs_certificate() {
            settings = settings.certificate(small_world.certificate());
        }
        let mut policy = settings.build().unwrap();
        let mut other = policy.clone();
        other.grow(after).unwrap();
        let mut wide = other.settings().clone().build().unwrap();
        for (features, rewards) in rounds(&mut small_world, played, 4) {
            let actions = Actions::new(&features, before).unwrap();
            let choice = policy.choose(actions).unwrap();
            let more = widened(&features, before, after);
            wide.choose(Actions::new(&more, after).unwrap()).unwrap();
            let (action, decision) = (choice.action, choice.decision);
            policy.learn(choice.rewarded(actions, rewards[action])).unwrap();
            let features = &more[action * after..][..after];
            wide.learn(Observation { decision, features: features.into(), reward: rewards[action] }).unwrap();
        }
        policy.grow(after).unwrap();
        for (number, (features, rewards)) in rounds(&mut world(after), 20, 4).into_iter().enumerate() {
            let actions = Actions::new(&features, after).unwrap();
            let (choice, expected) = (policy.choose(actions).unwrap(), wide.choose(actions).unwrap());
            if !is_believed(&policy) {
                prop_assert_eq!((choice.action, choice.decision), (expected.action, expected.decision));
            }
            // What a belief believes may differ by d until the fit that comes with the first of the new features.
            if number > 0 || !is_believed(&policy) {
                near(preset.name(), 1e-9, &intervals(&policy, &features), &intervals(&wide, &features));
                near(preset.name(), 1e-9, &seen(&policy), &seen(&wide));
            }
            for policy in [&mut policy, &mut wide] {
                policy.learn(choice.rewarded(actions, rewards[choice.action])).unwrap();
            }
        }
    }
}

#[test]
fn growing_changes_nothing_for_actions_without_the_new_features() {
    every_policy(|name, mut policy, world| {
        for (features, rewards) in rounds(world, 37, 5) {
            play(&mut policy, &features, &rewards);
        }
        let mut grown = policy.clone();
        grown.grow(AFTER).unwrap();
        let told = is_told(&policy, "norm_bound");
        let method = policy.method();
        let (offline, arms) = (*method == Method::Offline && told, *method == Method::Arms);
        let features = world.round(9);
        // Noise that is estimated from logs is as good as its last step.
        // Where ρ or the logarithm depends on d, so do widths; a discounted weight and a ridge that do change all.
        let (widths, means) =
            (arms || learned(&policy).is_some(), learned(&policy) == Some(Pooling::Discounted));
        if !widths {
            let tolerance = if offline {
                0.1
            } else if !is_told(&policy, "noise") {
                1e-9
            } else {
                1e-14
            };
            near(name, tolerance, &intervals(&policy, &features), &intervals(&grown, &padded(&features)));
        }
        let (before, after) = (seen(&policy), seen(&grown));
        near(name, if offline || means { 0.1 } else { 1e-9 }, &before, &after[..BEFORE]);
        assert!(after[BEFORE..].iter().all(|view| view[0] == 0.0), "{name}: {after:?}");
        if let Method::Flat(_) | Method::Layered(_) = policy.method()
            && !widths
        {
            for (features, rewards) in rounds(world, 30, 5) {
                let choice = play(&mut policy, &features, &rewards);
                let same = play(&mut grown, &padded(&features), &rewards);
                assert_eq!((choice.action, choice.decision), (same.action, same.decision), "{name}");
                assert!((choice.ucb - same.ucb).abs() < 1e-9, "{name}");
            }
        }
    });
}

#[test]
fn open_decisions_and_snapshots_survive_growth() {
    every_policy(|name, mut policy, world| {
        let history = rounds(world, 20, 5);
        for (features, rewards) in &history {
            play(&mut policy, features, rewards);
        }
        let features = world.round(5);
        let actions = Actions::new(&features, BEFORE).unwrap();
        let open = policy.choose(actions).unwrap();
        policy.grow(BEFORE + 1).unwrap();
        policy.grow(AFTER).unwrap();
        let before = policy.to_bytes();
        for wrong in [BEFORE - 1, BEFORE + 2, AFTER + 1] {
            let row = vec![0.5; wrong];
            let wrong = Observation { decision: open.decision, features: (&row).into(), reward: 0.1 };
            let said = policy.learn(wrong).unwrap_err().to_string();
            assert!(
                said.starts_with(&format!("the feature vector must hold {AFTER} numbers")),
                "{name}: {said}"
            );
        }
        let said = policy.grow(AFTER - 1).unwrap_err().to_string();
        assert!(said.starts_with("`dimension` must be"), "{name}: {said}");
        policy.grow(AFTER).unwrap();
        assert_eq!(policy.to_bytes(), before, "{name}");

        let (mut restored, mut whole) = (Policy::from_bytes(&before).unwrap(), policy.clone());
        for policy in [&mut policy, &mut restored] {
            policy.learn(open.rewarded(actions, 0.3)).unwrap();
        }
        let wide = padded(actions.row(open.action).values());
        whole.learn(Observation { decision: open.decision, features: (&wide).into(), reward: 0.3 }).unwrap();
        assert_eq!(policy.to_bytes(), whole.to_bytes(), "{name}");
        for (features, rewards) in rounds(&mut wider(world), 40, 5) {
            let choice = play(&mut policy, &features, &rewards);
            assert_eq!(choice, play(&mut restored, &features, &rewards), "{name}");
        }
        assert_eq!(policy.to_bytes(), restored.to_bytes(), "{name}");
    });
}

#[test]
fn a_feature_that_joins_and_pays_is_found() {
    for &preset in Preset::ALL {
        // Five arms whose features are marks; the fifth joins after 100 rounds and is the best.
        let certificate = Certificate::isotropic(4, 0.1).unwrap();
        let mut logs = RidgeStatistic::new(4).unwrap();
        let pays = [0.1, 0.4, 0.2, 0.3, 0.9];
        for row in 0..40 {
            let mut features = [0.0; 4];
            features[row % 4] = 1.0;
            logs.observe(&features, pays[row % 4] + 0.02 * (row % 3) as f64 - 0.02).unwrap();
        }
        let mut settings =
            Policy::builder(4).preset(preset).logs(logs).horizon(300).noise(0.1).norm_bound(1.1);
        if preset.needs_certificate() {
            settings = settings.certificate(certificate);
        }
        let mut policy = settings.build().unwrap();
        let mut world = World::new(5, 4, 0.1);
        let mut best = 0;
        for round in 0..300 {
            if round == 100 {
                policy.grow(5).unwrap();
            }
            let arms = if round < 100 { 4 } else { 5 };
            let features: Vec<f64> =
                (0..arms * arms).map(|at| f64::from(u8::from(at % arms == at / arms))).collect();
            let rewards: Vec<f64> = pays[..arms].iter().map(|mean| mean + world.draw_noise()).collect();
            let choice = play(&mut policy, &features, &rewards);
            best += u32::from(round >= 200 && choice.action == 4);
        }
        // What never explores or never learns cannot find it, and layers take their time.
        let blind = [Preset::OfflineOnly, Preset::Greedy, Preset::WarmGreedy].contains(&preset)
            || matches!(preset.method(), Method::Layered(_));
        assert!(best >= 60 || blind, "{}: {best}", preset.name());
    }
}

#[test]
fn seasons_and_fading_go_on_in_a_policy_that_grows() {
    let mut world = World::new(7, BEFORE, 0.1);
    let settings = Policy::builder(BEFORE).logs(world.logs(40)).season(25).half_life(30.0);
    let mut policy = settings.build().unwrap();
    for (features, rewards) in rounds(&mut world, 40, 5) {
        play(&mut policy, &features, &rewards);
    }
    policy.grow(AFTER).unwrap();
    let mut more = world.logs(30);
    more.grow(AFTER).unwrap();
    policy.add_logs(&more).unwrap();
    let mut restored = Policy::from_bytes(&policy.to_bytes()).unwrap();
    for (features, rewards) in rounds(&mut wider(&world), 60, 5) {
        let choice = play(&mut policy, &features, &rewards);
        assert_eq!(choice, play(&mut restored, &features, &rewards));
    }
    assert_eq!(policy.to_bytes(), restored.to_bytes());
    policy.renew().unwrap();
    assert_eq!(policy.logs().dimension(), AFTER);
}

#[test]
fn a_row_of_others_is_learned_as_a_reward_is() {
    every_policy(|name, mut policy, world| {
        for (features, rewards) in rounds(world, 20, 5) {
            play(&mut policy, &features, &rewards);
        }
        let rows = rounds(world, 15, 1);
        let mut twin = policy.clone();
        let before: Vec<_> = policy.layers().iter().map(|layer| layer.data.count()).collect();
        for (features, rewards) in &rows {
            policy.learn_row(features, rewards[0]).unwrap();
            let decision = truenorth::Decision { round: 1, layer: 0 };
            twin.learn(Observation { decision, features: features.into(), reward: rewards[0] }).unwrap();
        }
        assert_eq!(policy.to_bytes(), twin.to_bytes(), "{name}");
        assert_eq!((policy.counts().rounds, policy.counts().rewards), (20, 35), "{name}");
        let after: Vec<_> = policy.layers().iter().map(|layer| layer.data.count()).collect();
        assert_eq!((after[0] - before[0], &after[1..]), (15, &before[1..]), "{name}");
        for wrong in [vec![0.5; BEFORE + 1], vec![f64::NAN; BEFORE], vec![0.5; BEFORE]] {
            let reward = if wrong.len() == BEFORE { f64::INFINITY } else { 0.5 };
            assert!(policy.learn_row(&wrong, reward).is_err(), "{name}");
        }
        assert_eq!(policy.to_bytes(), twin.to_bytes(), "{name}");
        // It goes on, and its fits know of the rows.
        for (features, rewards) in rounds(world, 10, 5) {
            play(&mut policy, &features, &rewards);
        }
    });
    let settings = Policy::builder(2).preset(Preset::MinUcb);
    let mut arms = settings.certificate(Certificate::isotropic(2, 0.1).unwrap()).build().unwrap();
    let said = arms.learn_row(&[0.5, 0.0], 1.0).unwrap_err().to_string();
    assert!(said.starts_with("action 0 is not a unit vector"), "{said}");
}

#[test]
fn a_pilot_is_worth_its_rows() {
    let mut world = World::new(3, 4, 0.1);
    for preset in [Preset::TrueNorth, Preset::LinUcb, Preset::Oful, Preset::WarmLinUcb] {
        let mut policy = Policy::builder(4).preset(preset).build().unwrap();
        for (features, rewards) in rounds(&mut world, 400, 1) {
            policy.learn_row(&features, rewards[0]).unwrap();
        }
        let mut right = 0;
        for (features, rewards) in rounds(&mut world, 50, 5) {
            let means: Vec<f64> = features.chunks(4).map(|x| dot(x, &world.live)).collect();
            let largest = means.iter().copied().fold(f64::MIN, f64::max);
            right += u32::from(means[play(&mut policy, &features, &rewards).action] >= largest);
        }
        assert!(right >= 40, "{}: {right}", preset.name());
    }
}

fn with_logs(settings: &Settings, logs: &RidgeStatistic) -> Policy {
    settings.clone().logs(logs.clone()).build().unwrap()
}

#[test]
fn logs_may_come_in_parts() {
    every_policy(|name, policy, world| {
        let (first, second) = (world.logs(30), world.logs(40));
        let mut all = first.clone();
        all.merge(&second).unwrap();
        let nothing = RidgeStatistic::new(BEFORE).unwrap();
        let settings = policy.settings().clone();
        for first in [&first, &nothing] {
            let mut both = first.clone();
            both.merge(&second).unwrap();
            let (mut parts, mut whole) = (with_logs(&settings, first), with_logs(&settings, &both));
            parts.add_logs(&second).unwrap();
            let mut kept = parts.clone();
            // Before play nothing tells when they came.
            if is_believed(&parts) {
                whole.add_logs(&nothing).unwrap();
            }
            let actions = world.round(9);
            near(name, 1e-12, &intervals(&parts, &actions), &intervals(&whole, &actions));
            near(name, 1e-12, &seen(&parts), &seen(&whole));
            assert_eq!(*parts.logs(), both, "{name}");

            // In the middle of play they count as if they had always been there, where they may come at all.
            let (mut parts, mut whole) = (with_logs(&settings, first), with_logs(&settings, &both));
            for (features, rewards) in rounds(world, 37, 5) {
                let actions = Actions::new(&features, BEFORE).unwrap();
                let choice = parts.choose(actions).unwrap();
                whole.choose(actions).unwrap();
                for policy in [&mut parts, &mut whole] {
                    policy.learn(choice.rewarded(actions, rewards[choice.action])).unwrap();
                }
            }
            let before = parts.to_bytes();
            let said = parts.add_logs(&RidgeStatistic::new(9).unwrap()).unwrap_err().to_string();
            assert!(said.contains("must hold"), "{said}");
            let pooled = matches!(
                parts.method(),
                Method::Flat(Intervals::Pooled { .. }) | Method::Layered(Intervals::Pooled { .. })
            );
            if pooled {
                assert_eq!(
                    parts.add_logs(&second).unwrap_err().to_string(),
                    "adding logs after the first reward does not go with a pooled branch, whose weight on the \
                     logs is fixed before play",
                    "{name}"
                );
                assert_eq!(parts.to_bytes(), before, "{name}");
            } else {
                parts.add_logs(&second).unwrap();
                if is_believed(&parts) {
                    // A fit.
                    whole.add_logs(&nothing).unwrap();
                }
                let untold = is_believed(&parts) && !is_told(&parts, "noise");
                let tolerance = if untold { 0.02 } else { 1e-9 };
                near(name, tolerance, &intervals(&parts, &actions), &intervals(&whole, &actions));
                near(name, tolerance, &seen(&parts), &seen(&whole));
                kept = parts;
            }
            let mut restored = Policy::from_bytes(&kept.to_bytes()).unwrap();
            for (features, rewards) in rounds(world, 20, 5) {
                assert_eq!(
                    play(&mut kept, &features, &rewards),
                    play(&mut restored, &features, &rewards),
                    "{name}"
                );
            }
            assert_eq!(kept.to_bytes(), restored.to_bytes(), "{name}");
        }
    });
}

#[test]
fn methods_without_a_use_for_logs_go_on_as_if_none_had_come() {
    let mut world = World::new(3, 4, 0.1);
    let logs = world.logs(50);
    for preset in [Preset::SupLinUcb, Preset::Oful, Preset::LinUcb, Preset::LinTs, Preset::EpsilonGreedy] {
        let mut policy = Policy::builder(4).preset(preset).horizon(60).build().unwrap();
        let mut other = policy.clone();
        for (round, (features, rewards)) in rounds(&mut world, 60, 5).into_iter().enumerate() {
            if round == 30 {
                other.add_logs(&logs).unwrap();
            }
            let choice = play(&mut policy, &features, &rewards);
            assert_eq!(choice, play(&mut other, &features, &rewards), "{}", preset.name());
        }
        assert_eq!(other.logs().count(), 50);
    }
}

#[test]
fn a_restored_policy_learns_of_decisions_that_it_does_not_remember() {
    every_policy(|name, mut policy, world| {
        let history = rounds(world, 60, 5);
        for (features, rewards) in &history[..20] {
            play(&mut policy, features, rewards);
        }
        let mut restored = Policy::from_bytes(&policy.to_bytes()).unwrap();
        let lost: Vec<Choice> =
            history[20..40].iter().map(|(features, rewards)| play(&mut policy, features, rewards)).collect();
        let mut expected: Vec<_> = restored.layers().iter().map(|layer| layer.data.clone()).collect();
        for (choice, (features, rewards)) in lost.iter().zip(&history[20..40]) {
            let observation =
                choice.rewarded(Actions::new(features, BEFORE).unwrap(), rewards[choice.action]);
            restored.learn(observation).unwrap();
            expected[choice.decision.layer as usize]
                .observe(observation.features, observation.reward)
                .unwrap();
        }
        let found: Vec<_> = restored.layers().iter().map(|layer| layer.data.clone()).collect();
        assert_eq!(found, expected, "{name}");
        assert_eq!((restored.counts().rounds, restored.counts().rewards), (20, 40), "{name}");
        // Where nothing was learned by halves, both know the same.
        let actions = world.round(5);
        if !has_belief(&policy) && learned(&policy).is_none() && !world.arms {
            near(name, 1e-9, &intervals(&policy, &actions), &intervals(&restored, &actions));
        }
        for (number, (features, rewards)) in history[40..].iter().enumerate() {
            let choice = play(&mut restored, features, rewards);
            assert_eq!(choice.decision.round, 21 + number as u64, "{name}");
        }
        let unknown = Observation {
            decision: truenorth::Decision { round: 41, layer: 0 },
            features: (&actions[..BEFORE]).into(),
            reward: 0.5,
        };
        let error = policy.learn(unknown).unwrap_err();
        assert!(error.to_string().starts_with("decision (round 41,"), "{name}: {error}");
        let layer = restored.last_layer() + 1;
        for decision in [truenorth::Decision { round: 0, layer: 0 }, truenorth::Decision { round: 3, layer }]
        {
            let unknown = Observation { decision, ..unknown };
            assert_eq!(restored.learn(unknown).unwrap_err().kind(), ErrorKind::UnknownDecision, "{name}");
        }
    });
}

#[test]
fn growth_keeps_the_epochs_of_a_learned_certificate() {
    let mut world = World::new(3, 4, 0.1);
    let starts = Some(vec![1, 9, 30]);
    let drift = Drift::Learned(starts);
    let pooled = Intervals::Pooled { pooling: Pooling::Full, drift, fallback: true };
    let settings = Policy::builder(4).method(Method::Layered(pooled)).exploration_scale(1.0);
    let settings = settings.horizon(60).noise(0.1).norm_bound(1.1).logs(world.logs(40));
    let mut policy = settings.build().unwrap();
    for (features, rewards) in rounds(&mut world, 20, 5) {
        play(&mut policy, &features, &rewards);
    }
    let before = policy.certificate().unwrap().clone();
    policy.grow(6).unwrap();
    let after = policy.certificate().unwrap();
    // β_k of the second epoch, with K_ep = 3: by hand.
    let beta = |d: f64| 0.1 * (d * 10f64.ln() + 2.0 * (2.0 * 3.0 / 0.01f64).ln()).sqrt();
    assert!((after.rho() - before.rho() - beta(6.0) + beta(4.0)).abs() < 1e-12);
    // λ ∥ λ = λ/2 where nobody has seen anything.
    assert!((after.matrix()[35] - 0.5).abs() < 1e-15 && after.matrix()[34] == 0.0);
}
