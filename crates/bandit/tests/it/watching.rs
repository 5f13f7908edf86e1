//! The world of a bandit that is watched.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use truenorth_bandit::{Bandit, Event, Parts};

const EVENT: &str = r#"{"actions":[{"id":"a"},{"id":"b"}]}"#;

fn bandit() -> Bandit {
    let parts = Parts::without_logs("0 + id").unwrap();
    let mut bandit = Bandit::new(parts, |policy| policy.noise(0.5).norm_bound(1.0)).unwrap();
    bandit.watch(0.05).unwrap();
    bandit
}

/// Plays rounds in which a click comes at once and its absence `late` rounds later; the rate falls in round `moves`.
fn play(bandit: &mut Bandit, rounds: usize, late: usize, moves: usize, seed: u64) {
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut event = Event::default();
    event.read_json(EVENT).unwrap();
    let mut absent: Vec<Option<String>> = Vec::new();
    for round in 0..rounds {
        let id = bandit.choose(&event).unwrap().decision_id;
        let rate = if round < moves { 0.5 } else { 0.1 };
        if dice.random::<f64>() < rate {
            bandit.learn(&id, 1.0).unwrap();
            absent.push(None);
        } else {
            absent.push(Some(id));
        }
        if let Some(id) = round.checked_sub(late).and_then(|before| absent[before].take()) {
            bandit.learn(&id, 0.0).unwrap();
        }
    }
}

#[test]
fn rewards_that_are_late_by_what_they_are_give_no_false_alarm() {
    let alarmed = |seed: u64| {
        let mut bandit = bandit();
        play(&mut bandit, 3000, 700, usize::MAX, seed);
        let watched = bandit.watched().unwrap();
        assert!(watched.watching && watched.rounds > 2200, "{watched:?}");
        watched.moved
    };
    assert!((0..20).filter(|seed| alarmed(*seed)).count() <= 3);
}

#[test]
fn a_world_that_moves_is_noticed_and_the_watch_goes_on_from_bytes() {
    let mut whole = bandit();
    play(&mut whole, 1500, 20, 1000, 1);
    let restored = Bandit::from_bytes(&whole.to_bytes()).unwrap();
    assert_eq!(restored.watched(), whole.watched());
    let mut restored = restored;
    play(&mut whole, 500, 20, 0, 2);
    play(&mut restored, 500, 20, 0, 2);
    assert_eq!(whole.to_bytes(), restored.to_bytes());
    let watched = whole.watched().unwrap();
    let alarm = watched.evidence.alarm.unwrap();
    assert!(watched.moved && (1000..1200).contains(&alarm), "{watched:?}");
}

#[test]
fn a_bandit_that_nobody_watches_has_nothing_to_say_of_the_world() {
    let parts = Parts::without_logs("0 + id").unwrap();
    assert_eq!(Bandit::new(parts, |policy| policy).unwrap().watched(), None);
}
