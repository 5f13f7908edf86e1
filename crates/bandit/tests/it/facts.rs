//! Decisions are facts: whoever takes note of them is in the same state, whoever made them.

use truenorth::Preset;
use truenorth_bandit::{Bandit, Event, Fact, Parts};

use crate::support::{News, below, dice};

fn bandits(preset: Preset, count: usize) -> Vec<Bandit> {
    let parts = || Parts::without_logs("item + item:user + item:time + price").unwrap();
    let made = || Bandit::new(parts(), |policy| policy.preset(preset).seed(5).fits_beside(true)).unwrap();
    (0..count).map(|_| made()).collect()
}

/// What copies are told, in one order.
enum Told {
    Decided(Box<Event>, Fact),
    Paid(String, f64),
    Fitted,
}

fn fold(bandit: &mut Bandit, number: u64, told: &Told) {
    match told {
        Told::Decided(event, fact) => drop(bandit.fold(event, fact, number).unwrap()),
        Told::Paid(id, reward) => bandit.learn(id, *reward).unwrap(),
        Told::Fitted => {
            if let Some(fit) = bandit.begin_fit() {
                bandit.finish_fit(fit.run()).unwrap();
            }
        }
    }
}

#[test]
fn copies_that_decide_from_states_of_their_own_and_fold_one_stream_are_equal_to_the_last_bit() {
    for preset in [Preset::TrueNorth, Preset::TrueNorthSampling, Preset::LinUcb] {
        let mut copies = bandits(preset, 3);
        let (mut folded, mut stream) = ([0; 3], Vec::new());
        let (news, mut dice) = (News { articles: 5, unit: 1.0 }, dice(3));
        for round in 0..400 {
            // One of them decides, which may be far behind the others.
            let at = below(&mut dice, 3);
            let context = below(&mut dice, 4);
            let mut event = news.event(context, &mut dice);
            event.decision_id = Some(format!("d{round}"));
            let before = copies[at].to_bytes();
            let fact = copies[at].decide(&event, None).unwrap();
            assert_eq!(copies[at].to_bytes(), before, "{preset:?}");
            let reward = news.reward(context, &event, fact.choice.action, &mut dice);
            stream.push(Told::Decided(Box::new(event), fact));
            if round % 7 > 0 {
                stream.push(Told::Paid(format!("d{round}"), reward));
            }
            if round % 20 == 0 {
                stream.push(Told::Fitted);
            }
            let follows = below(&mut dice, 3);
            while folded[follows] < stream.len() {
                fold(&mut copies[follows], folded[follows] as u64, &stream[folded[follows]]);
                folded[follows] += 1;
            }
        }
        for (copy, folded) in copies.iter_mut().zip(folded) {
            for (number, told) in stream.iter().enumerate().skip(folded) {
                fold(copy, number as u64, told);
            }
        }
        let [first, second, third] = [0, 1, 2].map(|copy: usize| copies[copy].to_bytes());
        assert!(first == second && second == third, "{preset:?}");
        assert_eq!(copies[0].counts().decisions, 400);
    }
}

#[test]
fn a_fold_of_facts_is_where_the_decisions_left_off() {
    let [mut live, mut folded] = <[Bandit; 2]>::try_from(bandits(Preset::TrueNorth, 2)).unwrap();
    let (news, mut dice) = (News { articles: 5, unit: 1.0 }, dice(9));
    for round in 0..300 {
        let context = below(&mut dice, 4);
        let event = news.event(context, &mut dice);
        // Every third time somebody else plays.
        let played = (round % 3 == 0).then(|| below(&mut dice, 5));
        let mut noted = None;
        let choice = live
            .choose_noted(&event, played, |fact| {
                noted = Some(fact.clone());
                round
            })
            .unwrap();
        let fact: Fact = serde_json::from_str(&serde_json::to_string(&noted.unwrap()).unwrap()).unwrap();
        assert_eq!(folded.fold(&event, &fact, round).unwrap(), choice);
        assert_eq!((live.number(&choice.decision_id), fact.played), (Some(round), played));
        let taken = played.unwrap_or(choice.index);
        assert_eq!(live.taken(&choice.decision_id), Some(event.id(taken)));
        let reward = news.reward(context, &event, taken, &mut dice);
        for bandit in [&mut live, &mut folded] {
            bandit.learn(&choice.decision_id, reward).unwrap();
        }
    }
    assert_eq!(live.to_bytes(), folded.to_bytes());
}

#[test]
fn what_is_played_instead_is_what_is_learned() {
    let [mut told, mut row] = <[Bandit; 2]>::try_from(bandits(Preset::LinUcb, 2)).unwrap();
    let mut event = News { articles: 5, unit: 1.0 }.event(2, &mut dice(1));
    let choice = told.choose_noted(&event, Some(3), |_| 7).unwrap();
    assert_eq!(choice.played.as_ref().map(|played| played.0), Some(3));
    told.learn(&choice.decision_id, 1.0).unwrap();
    let same = row.choose(&event).unwrap();
    event.decision_id = Some(same.decision_id);
    (event.chosen, event.reward) = (Some(3), Some(1.0));
    row.learn_event(&event).unwrap();
    assert_eq!(told.features().unwrap(), row.features().unwrap());
    // The same again is the same answer, whatever is said to be played now.
    assert_eq!(told.choose_noted(&event, Some(1), |_| 0).unwrap(), choice);
    event.decision_id = None;
    assert_eq!(told.choose_noted(&event, Some(9), |_| 0).unwrap_err().code(), "invalid");
}

#[test]
fn a_decision_that_was_let_go_takes_no_reward() {
    let mut bandit = bandits(Preset::LinUcb, 1).remove(0);
    let choice = bandit.choose(&News { articles: 3, unit: 1.0 }.event(0, &mut dice(1))).unwrap();
    bandit.expire(&choice.decision_id).unwrap();
    assert_eq!((bandit.counts().open, bandit.counts().expired), (0, 1));
    assert_eq!(bandit.learn(&choice.decision_id, 1.0).unwrap_err().code(), "expired");
    assert_eq!(bandit.expire(&choice.decision_id).unwrap_err().code(), "expired");
    assert_eq!(bandit.expire("x").unwrap_err().code(), "unknown_decision");
}
