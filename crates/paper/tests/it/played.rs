//! What is observed of a run adds up, whatever the policy.

use truenorth::{Actions, Choice, Drift, Intervals, Method, Policy, Pooling, Preset};
use truenorth_paper::theory::LearnedEpochs;
use truenorth_paper::{PathObserver, is_bounded, path};
use truenorth_sim::{Observer as _, Step};

use crate::support::{World, rounds};

const ROUNDS: usize = 70;

fn every_policy(test: impl Fn(&str, Policy, &mut World)) {
    for world in [World::new, World::with_arms] {
        for (name, settings) in world(7, 4, 0.1).policies(ROUNDS as u64) {
            test(&name, settings.build().unwrap(), &mut world(11, 4, 0.1));
        }
    }
}

/// Chooses under the eyes of an observer.
fn choose(policy: &mut Policy, actions: Actions<'_>, observer: &mut PathObserver) -> Choice {
    let choice = policy.choose(actions).unwrap();
    let step = Step { round: choice.decision.round, choice: &choice, regret: 0.0, policy };
    observer.record(&step).unwrap();
    choice
}

#[test]
fn the_path_of_a_run_adds_up() {
    every_policy(|name, mut policy, world| {
        let (mut bias, mut informed) = (0.0, 0);
        let mut observer = PathObserver::default();
        for (features, rewards) in rounds(world, ROUNDS, 6) {
            let actions = Actions::new(&features, 4).unwrap();
            let (chosen, story) = policy.clone().choose_explained(actions).unwrap();
            let last = story.layers.last().unwrap();
            let played = last.actions.iter().find(|interval| interval.action == chosen.action).unwrap();
            bias += played.informed.map_or(0.0, |branch| branch.bias);
            informed += u64::from(played.branch != truenorth::Branch::Online);
            let choice = choose(&mut policy, actions, &mut observer);
            policy.learn(choice.rewarded(actions, rewards[choice.action])).unwrap();
        }
        assert!((observer.routed_bias - bias).abs() <= 1e-9 * bias.max(1.0), "{name}");
        assert_eq!(policy.counts().informed, informed, "{name}");
        if !observer.epochs.is_empty() {
            let epochs = LearnedEpochs::new(&observer.epochs).unwrap();
            assert!((epochs.routed_bias() - bias).abs() <= 1e-9 * bias.max(1.0), "{name}");
            assert_eq!(
                observer.epochs.iter().map(|epoch| epoch.rounds).sum::<u64>(),
                ROUNDS as u64,
                "{name}"
            );
        }
        assert_eq!(path(&policy).is_ok(), is_bounded(&policy), "{name}");
        if is_bounded(&policy) {
            let run = observer.clone().finish(&policy).unwrap();
            assert_eq!((run.path.rounds(), run.routed_bias), (ROUNDS as u64, observer.routed_bias), "{name}");
        }
    });
}

#[test]
fn online_play_is_bounded_by_its_own_slack() {
    let settings = Policy::builder(2).preset(Preset::SupLinUcb).horizon(8).ridge(4.0).norm_bound(1.5);
    // √λ S = 2 · 1.5 stands where the pooled bound has β_off.
    let path = path(&settings.build().unwrap()).unwrap();
    assert!((path.radius().offline_radius - 3.0).abs() < 1e-15);
}

#[test]
fn given_epochs_start_with_their_rounds() {
    let drift = Drift::Learned(Some(vec![1, 5]));
    let pooled = Intervals::Pooled { pooling: Pooling::Full, drift, fallback: true };
    let mut policy = Policy::builder(2).method(Method::Layered(pooled)).horizon(20).build().unwrap();
    let mut observer = PathObserver::default();
    let epochs: Vec<usize> = (1..=6)
        .map(|_| {
            choose(&mut policy, Actions::new(&[0.6, 0.8], 2).unwrap(), &mut observer);
            observer.epochs.len()
        })
        .collect();
    assert_eq!(epochs, [1, 1, 1, 1, 2, 2]);
}
