//! A bandit as bytes.

use truenorth::Preset;
use truenorth_bandit::{Bandit, Event, Limits, Parts};

use crate::support::{Dice, bandit, below, dice, event, uniform};

/// An event of a small world in which levels keep turning up.
fn any_event(dice: &mut Dice) -> Event {
    let mut action = |id: usize| {
        let (price, tag) = (below(dice, 4), below(dice, 12));
        format!(r#"{{"id":"{id}","price":{price},"tag":"t{tag}"}}"#)
    };
    let actions = [0, 1, 2].map(&mut action).join(",");
    let (segment, other) = (below(dice, 6), below(dice, 3));
    event(&format!(r#"{{"context":{{"segment":"s{segment}","other{other}":1}},"actions":[{actions}]}}"#))
}

/// One call at random; what it answered, in words.
fn step(bandit: &mut Bandit, ids: &[String], dice: &mut Dice) -> String {
    let reward = (uniform(dice) * 8.0).floor() / 8.0;
    match below(dice, 10) {
        0..=4 => format!("{:?}", bandit.choose(&any_event(dice))),
        5..=7 if !ids.is_empty() => format!("{:?}", bandit.learn(&ids[below(dice, ids.len())], reward)),
        8 => {
            let mut event = any_event(dice);
            (event.chosen, event.reward) = (Some(below(dice, 3)), Some(reward));
            if !ids.is_empty() && below(dice, 2) == 0 {
                event.decision_id = Some(ids[below(dice, ids.len())].clone());
            }
            format!("{:?}", bandit.learn_event(&event))
        }
        _ => format!("{:?}", bandit.renew()),
    }
}

#[test]
fn after_a_restart_at_any_point_the_same_calls_give_the_same_bytes() {
    let models = ["price + segment:id + tag", "hash(segment:tag, 32) + id:(1 + price)"];
    let presets = [Preset::TrueNorth, Preset::TrueNorthSampling, Preset::LinUcb];
    for (run, (model, preset)) in
        models.iter().flat_map(|model| presets.map(|preset| (model, preset))).enumerate()
    {
        let limits = Limits { joining: 30, open: 12, age: 40 };
        let parts = Parts { limits, ..Parts::without_logs(model).unwrap() };
        let mut played = Bandit::new(parts, |policy| policy.preset(preset).seed(5)).unwrap();
        let mut dice = dice(run as u64);
        let mut ids: Vec<String> = Vec::new();
        for _ in 0..120 {
            let mut restored = Bandit::from_bytes(&played.to_bytes()).unwrap();
            // The next calls, in both.
            for _ in 0..2 {
                let mut same = dice.clone();
                let answers = [step(&mut restored, &ids, &mut same), step(&mut played, &ids, &mut dice)];
                assert_eq!(answers[0], answers[1], "{model} {preset:?}");
                assert!(played.to_bytes() == restored.to_bytes(), "{model} {preset:?}: {}", answers[0]);
                if let Some((_, rest)) = answers[0].split_once("decision_id: \"") {
                    ids.push(rest.split('"').next().unwrap_or_default().to_owned());
                }
            }
        }
        let counts = played.counts();
        println!("{model} {preset:?}: {counts:?}");
        assert!(counts.decisions > 50 && counts.rewards > 5 && counts.rows > 5 && counts.expired > 5);
        assert!((30..=34).contains(&counts.joined));
    }
}

#[test]
fn bytes_of_something_else_are_refused_by_what_is_wrong() {
    let bytes = bandit("id").to_bytes();
    let told = |bytes: &[u8]| {
        let error = Bandit::from_bytes(bytes).unwrap_err();
        (error.code(), error.to_string())
    };
    assert_eq!(told(b"truenorth").0, "damaged");
    assert_eq!(told(&bytes[..9]), ("damaged", "the bandit is damaged: it is too short".to_owned()));
    let mut newer = bytes.clone();
    newer[9] += 1;
    let sentence = "the bandit has version 4, but this build reads version 3".to_owned();
    assert_eq!(told(&newer), ("other_version", sentence));
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(told(&changed).1, "the bandit is damaged: its checksum does not match its content");
}
