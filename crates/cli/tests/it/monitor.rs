//! `truenorth monitor`: whether the live world has moved on.

use std::fmt::Write as _;

use crate::support::{Dice, Scratch, linear_table};

/// Visits of which half are shown either article; from a visit on, students click `news` in 10 instead of 60 of 100.
fn events(count: usize, moves: usize) -> String {
    let mut dice = Dice(5);
    (0..count).fold(String::new(), |mut text, visit| {
        let segment = ["student", "worker"][dice.below(2)];
        let action = ["news", "sport"][dice.below(2)];
        let rate = match (segment, action) {
            ("student", "news") => if visit < moves { 60 } else { 10 },
            _ => 30,
        };
        let click = u8::from(dice.below(100) < rate);
        writeln!(
            text,
            r#"{{"context":{{"segment":"{segment}"}},"actions":[{{"id":"news"}},{{"id":"sport"}}],"action":"{action}","reward":{click},"time":"visit {visit}","decision_id":"{visit}"}}"#
        )
        .unwrap();
        text
    })
}

#[test]
fn the_feature_that_moved_is_named_soon_after_it_did() {
    let scratch = Scratch::new();
    scratch.write("live.jsonl", events(3000, 2000));
    let found = scratch.json("monitor live.jsonl --model 0+segment:id");
    let alarm = found["alarm"].as_u64().unwrap();
    assert!(found["moved"] == true && (2000..2400).contains(&alarm), "{found}");
    assert_eq!(found["time"], format!("visit {}", alarm - 1));
    let moved: Vec<&serde_json::Value> =
        found["features"].as_array().unwrap().iter().filter(|feature| !feature["alarm"].is_null()).collect();
    assert_eq!(moved.len(), 1, "{found}");
    assert_eq!(moved[0]["name"], "segment=student:id=news");
    assert!(moved[0]["since"].as_u64().unwrap().abs_diff(2000) < 100, "{}", moved[0]);
    assert!((moved[0]["shift"].as_f64().unwrap() + 0.45).abs() < 0.1, "{}", moved[0]);
    let (text, said) = scratch.prints_and_says("monitor live.jsonl --model 0+segment:id --out evidence.svg");
    assert_eq!(said, "wrote evidence.svg\n");
    assert!(
        text.starts_with("The live world has moved on: all features together gave an alarm in round 2,"),
        "{text}"
    );
    assert!(text.contains("by itself, `segment=student:id=news` gave one, in round 2,"), "{text}");
    // Only what moved has since and shift; a chance of a few rounds is none.
    for line in text.lines().filter(|line| line.starts_with("segment=")) {
        assert_eq!(line.ends_with('-'), !line.starts_with("segment=student:id=news "), "{text}");
    }
    assert!(scratch.read("evidence.svg").contains("Evidence that the live world has moved on"));
}

#[test]
fn a_world_that_stays_is_quiet_with_a_summary_too() {
    let scratch = Scratch::new();
    scratch.write("live.jsonl", events(3000, usize::MAX));
    scratch.prints("summarize live.jsonl --model segment:id -o logs.tn");
    let text = scratch.prints("monitor live.jsonl --summary logs.tn");
    assert!(text.starts_with("Nothing is known to have moved in 3,000 rounds: evidence "), "{text}");
    scratch.write("few.jsonl", events(10, usize::MAX));
    let text = scratch.prints("monitor few.jsonl --summary logs.tn");
    assert_eq!(text, "10 rounds: too few rewards that differ to watch anything yet.\n");
}

#[test]
fn rows_of_a_table_with_one_round_are_a_round_as_in_an_audit() {
    let scratch = Scratch::new();
    scratch.write("logs.csv", linear_table(&["x", "y"], &[1.0, 0.5], 400, 1));
    scratch.write("live.csv", linear_table(&["x", "y"], &[1.0, 0.5], 200, 2));
    scratch.prints("summarize logs.csv --features x,y --reward reward -o logs.tn");
    let audit = scratch.json("audit logs.tn --pilot live.csv");
    let watched = scratch.json("monitor live.csv --summary logs.tn");
    assert_eq!((&watched["rounds"], &audit["pilot"]["independent"]), (&50.into(), &50.into()));
}

#[test]
fn a_wrong_call_or_line_is_said_in_one_sentence() {
    let scratch = Scratch::new();
    scratch.write("live.jsonl", events(2, 0) + "{\"actions\":3}\n");
    for (call, sentence) in [
        ("live.jsonl --model segment:id", "live.jsonl, line 3: "),
        ("live.jsonl --model segment:id --level 2", "`--level` must be between 0 and 1, but is 2"),
        ("absent.jsonl --model segment:id", "absent.jsonl: "),
    ] {
        let said = scratch.run(&format!("monitor {call}"));
        let text = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(2), "{call}: {text}");
        assert!(text.contains(sentence), "{call}: {text}");
    }
}
