//! Whatever comes in, out comes a decision or a sentence.

use serde_json::Value;
use truenorth_bandit::{Answer, Bandit, Event, Parts};
use truenorth_features::Missing;

use crate::support::{Dice, bandit, below, dice, event};

const SEEDS: [&str; 5] = [
    r#"{"context":{"segment":"student","user":{"age":30,"vip":true}},"actions":[{"id":"news","features":{"price":1.5}},{"id":"sport","price":0}]}"#,
    r#"{"actions":[{"id":1,"price":2e3},{"id":2,"price":-0.5}],"context":{"segment":null,"tags":["a","b"]},"decision_id":"d1"}"#,
    r#"{"decision_id":"d1","reward":1}"#,
    r#"{"decision_id":"d1","action":"news","reward":0.25}"#,
    r#"{"context":{"segment":"x"},"actions":[{"id":"news","price":1},{"id":"b","price":3}],"action":"b","reward":1,"probability":0.5}"#,
];

/// The same text with some bytes changed, moved, repeated or taken out.
fn mutated(text: &[u8], dice: &mut Dice) -> Vec<u8> {
    const TOKENS: [&str; 14] = [
        "1e999",
        "-1e50",
        "NaN",
        "null",
        "{",
        "}",
        "[]",
        "\"\"",
        "1e49",
        "true",
        "\\u0000",
        ":",
        ",",
        "99999999999999999999",
    ];
    let mut text = text.to_vec();
    for _ in 0..=below(dice, 2) {
        let at = below(dice, text.len() + 1);
        let end = (at + below(dice, 12)).min(text.len());
        match below(dice, 5) {
            0 => drop(text.drain(at..end)),
            1 => drop(text.splice(at..end, TOKENS[below(dice, TOKENS.len())].bytes())),
            2 => {
                let piece = text[at..end].to_vec();
                let to = below(dice, text.len() + 1);
                drop(text.splice(to..to, piece));
            }
            3 if at < text.len() => text[at] = b"0123456789eE.-+\"{}[]:,abc"[below(dice, 25)],
            _ if at < text.len() => text[at] ^= 1 << below(dice, 7),
            _ => {}
        }
    }
    text
}

/// The same event with some of its values exchanged for others.
fn exchanged(value: &mut Value, dice: &mut Dice) {
    const VALUES: [&str; 12] = [
        "null",
        "true",
        "0",
        "-0.0",
        "1e50",
        "-1e30",
        "\"\"",
        "\"a=b:c\"",
        "\"d2\"",
        "[1,[2]]",
        "{}",
        "{\"id\":{\"x\":3}}",
    ];
    if below(dice, 12) == 0 {
        *value = serde_json::from_str(VALUES[below(dice, VALUES.len())]).unwrap();
    }
    match value {
        Value::Array(list) => list.iter_mut().for_each(|value| exchanged(value, dice)),
        Value::Object(fields) => fields.values_mut().for_each(|value| exchanged(value, dice)),
        _ => {}
    }
}

#[test]
fn a_mutated_line_is_decided_learned_or_refused_and_nothing_is_nan() {
    let model = "price + segment:id + user.* + tags:id + hash(segment:user.*, 8)";
    let mut parts = Parts::without_logs(model).unwrap();
    parts.recipe.missing = Missing::Zero;
    let mut bandit = Bandit::new(parts, |policy| policy).unwrap();
    let mut dice = dice(1);
    let (mut decided, mut learned, mut refused) = (0, 0, 0);
    for number in 0..10_000 {
        let seed = SEEDS[below(&mut dice, SEEDS.len())];
        let mut value: Value = serde_json::from_str(seed).unwrap();
        let line = if number % 2 == 0 {
            exchanged(&mut value, &mut dice);
            value.to_string()
        } else {
            String::from_utf8_lossy(&mutated(seed.as_bytes(), &mut dice)).into_owned()
        };
        let mut event = Event::default();
        let answer = event
            .read_json(&line)
            .map_err(truenorth_bandit::Error::from)
            .and_then(|()| bandit.answer(&event));
        match answer {
            Ok(Answer::Decided(choice)) => {
                decided += 1;
                let numbers = [choice.probability, choice.mean, choice.lcb, choice.ucb];
                assert!(numbers.iter().all(|number| number.is_finite()), "{line}: {choice:?}");
                assert!(choice.index < event.len());
                if number % 2 == 0 {
                    bandit
                        .learn(&choice.decision_id, 1.0)
                        .unwrap_or_else(|error| assert_eq!(error.code(), "already_learned"));
                }
            }
            Ok(Answer::Learned { .. }) => learned += 1,
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
        if number % 1000 == 0 {
            let bytes = bandit.to_bytes();
            assert!(Bandit::from_bytes(&bytes).unwrap().to_bytes() == bytes);
        }
    }
    println!("decided {decided}, learned {learned}, refused {refused}, {:?}", bandit.counts());
    assert!(decided > 500 && learned > 300 && refused > 2000);
    // Numbers of 1e50 beside those of 1 may be too much for a matrix, which is then said.
    for feature in bandit.features().unwrap_or_default() {
        assert!(feature.view.estimate.is_finite());
    }
}

#[test]
fn mutated_bytes_are_a_bandit_or_a_sentence() {
    let mut bandit = bandit("price + segment:id + cyclic(hour, 24)");
    for number in 0..12 {
        let asked = event(&format!(
            r#"{{"context":{{"segment":"s{}","hour":{number},"u":1}},"actions":[{{"id":"a","price":1}},{{"id":"b","price":2}}]}}"#,
            number % 3
        ));
        let choice = bandit.choose(&asked).unwrap();
        if number % 2 == 0 {
            bandit.learn(&choice.decision_id, 1.0).unwrap();
        }
    }
    let bytes = bandit.to_bytes();
    let asked = event(
        r#"{"context":{"segment":"s1","hour":3},"actions":[{"id":"a","price":1},{"id":"c","price":2}]}"#,
    );
    let mut dice = dice(3);
    let mut accepted = 0;
    for number in 0..6000 {
        let mut mutant = bytes.clone();
        for _ in 0..=below(&mut dice, 2) {
            let at = 17 + below(&mut dice, mutant.len() - 17);
            mutant[at] ^= 1 << below(&mut dice, 8);
        }
        if number % 10 == 0 {
            mutant.truncate(below(&mut dice, mutant.len()));
        }
        // With a checksum that fits, so that what is behind it is looked at.
        if mutant.len() >= 17 {
            let checksum = crc32fast::hash(&mutant[17..]);
            mutant[13..17].copy_from_slice(&checksum.to_le_bytes());
        }
        if let Ok(mut bandit) = Bandit::from_bytes(&mutant) {
            accepted += 1;
            // What was accepted can be played.
            let open: Vec<String> =
                (0..20).filter_map(|_| bandit.choose(&asked).ok()).map(|choice| choice.decision_id).collect();
            for id in open {
                let _ = bandit.learn(&id, 1.0);
            }
            let _ = bandit.features();
            let _ = bandit.to_bytes();
        }
    }
    println!("{accepted} of 6000 were bandits");
    assert!(accepted > 0);
}
