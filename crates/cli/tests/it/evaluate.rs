//! `truenorth evaluate`: what another policy would have earned.

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::{Dice, Scratch, shared_data};

/// A log that takes `news` three times in four. Students click it in 60 of 100 visits, workers `sport` in 50, and else 20.
struct Visit {
    segment: &'static str,
    action: &'static str,
    probability: f64,
    click: u8,
}

fn visits(count: usize) -> Vec<Visit> {
    let mut dice = Dice(11);
    let visit = |_| {
        let segment = ["student", "worker"][dice.below(2)];
        let news = dice.below(4) < 3;
        let rate = match (segment, news) {
            ("student", true) => 60,
            ("worker", false) => 50,
            _ => 20,
        };
        let click = u8::from(dice.below(100) < rate);
        let (action, probability) = if news { ("news", 0.75) } else { ("sport", 0.25) };
        Visit { segment, action, probability, click }
    };
    (0..count).map(visit).collect()
}

fn events(count: usize) -> String {
    visits(count).iter().fold(String::new(), |mut text, visit| {
        let Visit { segment, action, probability, click } = visit;
        writeln!(
            text,
            r#"{{"context":{{"segment":"{segment}"}},"actions":[{{"id":"news","wish":0.1}},{{"id":"sport","wish":0.9}}],"action":"{action}","reward":{click},"probability":{probability}}}"#
        )
        .unwrap();
        text
    })
}

fn value(found: &Value, estimate: &str) -> f64 {
    found[estimate]["value"].as_f64().unwrap()
}

fn near(found: f64, expected: f64, by: f64) {
    assert!((found - expected).abs() <= by, "{found} is not {expected}");
}

#[test]
fn estimates_are_near_what_a_policy_really_earns() {
    let scratch = Scratch::new();
    scratch.write("log.jsonl", events(4000));
    // The truth: uniform (60 + 20 + 20 + 50) / 4, given shares, and the best action in each segment.
    for (policy, truth) in [("uniform", 0.375), ("field:wish", 0.365), ("greedy", 0.55)] {
        let found = scratch.json(&format!("evaluate log.jsonl --model segment:id --policy {policy}"));
        assert_eq!(found["trusted"], true, "{found}");
        for estimate in ["dr", "snips", "ips"] {
            near(value(&found, estimate), truth, 0.04);
        }
        let dr = &found["dr"];
        assert!(dr["lower"].as_f64() < Some(truth) && Some(truth - 0.02) < dr["upper"].as_f64(), "{found}");
    }
    scratch.prints("summarize log.jsonl --model segment:id -o logs.tn");
    let found = scratch.json("evaluate log.jsonl --summary logs.tn --policy offline-only");
    near(value(&found, "dr"), 0.55, 0.03);
    let frozen = scratch.json("evaluate log.jsonl --summary logs.tn --policy warm-greedy --frozen");
    assert_eq!(frozen["policy"], "warm-greedy (frozen)");
    near(value(&frozen, "dr"), value(&found, "dr"), 0.02);
}

#[test]
fn a_table_says_the_same_as_events() {
    let scratch = Scratch::new();
    scratch.write("log.jsonl", events(1000));
    let csv = visits(1000).iter().fold("segment,item,click,p\n".to_owned(), |mut text, visit| {
        let Visit { segment, action, probability, click } = visit;
        writeln!(text, "{segment},{action},{click},{probability}").unwrap();
        text
    });
    scratch.write("log.csv", csv);
    let table = scratch.json(
        "evaluate log.csv --action item --reward click --probability p --model segment:item --policy uniform",
    );
    let events = scratch.json("evaluate log.jsonl --model segment:id --policy uniform");
    for estimate in ["ips", "snips", "dr", "replay"] {
        near(value(&table, estimate), value(&events, estimate), 1e-9);
    }
}

#[test]
fn a_policy_that_ties_agrees_with_a_table_by_chance_alone() {
    let scratch = Scratch::new();
    let (mut csv, mut jsonl) = ("item,reward,p\n".to_owned(), String::new());
    let actions: Vec<String> = (0..10).map(|item| format!(r#"{{"id":"{item}"}}"#)).collect();
    let mut dice = Dice(5);
    for _ in 0..1000 {
        let item = dice.below(10);
        writeln!(csv, "{item},0,0.1").unwrap();
        writeln!(
            jsonl,
            r#"{{"actions":[{}],"action":"{item}","reward":0,"probability":0.1}}"#,
            actions.join(",")
        )
        .unwrap();
    }
    scratch.write("log.csv", csv);
    scratch.write("log.jsonl", jsonl);
    let weight =
        |call: &str| value(&scratch.json(&format!("evaluate {call} --policy greedy")), "mean_weight");
    let table = weight("log.csv --model C(item) --action item --reward reward --probability p");
    // Rewards are all 0, so every choice is a tie.
    near(table, 1.0, 0.4);
    near(table, weight("log.jsonl --model id"), 1e-9);
}

#[test]
fn people_read_a_table_and_why_it_is_not_to_be_relied_on() {
    let scratch = Scratch::new();
    scratch.write("log.jsonl", events(30));
    let text = scratch.prints("evaluate log.jsonl --model segment:id --policy uniform");
    for part in [
        "uniform would have earned, a decision:",
        "95 % interval",
        "dr ",
        "Not to be relied on:",
        "in effect, of 30",
    ] {
        assert!(text.contains(part), "{text}");
    }
    // A log that never had a choice.
    let certain = events(200).replace("0.75", "1").replace("0.25", "1");
    scratch.write("certain.jsonl", certain);
    let text = scratch.prints("evaluate certain.jsonl --model segment:id --policy uniform");
    assert!(text.contains("in 100 % of the decisions the log took its action with probability 1"), "{text}");
    // An interval would be around the wrong number, and the log is worth nothing to the policy.
    assert!(!text.contains("they are worth"), "{text}");
    let found = scratch.json("evaluate certain.jsonl --model segment:id --policy uniform");
    for estimate in ["dr", "ips", "snips", "replay"] {
        assert!(found[estimate]["value"].is_number() && found[estimate]["upper"].is_null(), "{found}");
    }
    assert!(found["logged"]["upper"].is_number(), "{found}");
}

#[test]
fn rewards_that_are_all_alike_leave_no_interval() {
    let scratch = Scratch::new();
    for (reward, bound) in [("0", "at most 3/200"), ("1", "at least 1 - 3/200"), ("2.5", "")] {
        let alike =
            events(200).replace("\"reward\":0", "\"reward\":R").replace("\"reward\":1", "\"reward\":R");
        scratch.write("alike.jsonl", alike.replace(":R", &format!(":{reward}")));
        let found = scratch.json("evaluate alike.jsonl --model segment:id --policy uniform");
        let warning = found["warnings"][0].as_str().unwrap();
        assert!(warning.starts_with(&format!("all 200 rewards are {reward}, so")), "{warning}");
        assert!(warning.ends_with(if bound.is_empty() { "can be told" } else { bound }), "{warning}");
        assert_eq!(found["trusted"], false);
        for estimate in ["logged", "dr", "ips", "snips", "replay"] {
            assert!(found[estimate]["stderr"].is_null() && found[estimate]["upper"].is_null(), "{found}");
        }
    }
}

#[test]
fn malformed_events_are_left_out_and_counted_if_that_is_asked() {
    let scratch = Scratch::new();
    scratch.write("good.jsonl", events(100));
    let mut lines: Vec<String> = events(100).lines().map(str::to_owned).collect();
    lines.insert(7, "[1]".to_owned());
    lines.insert(9, lines[0].replace("\"probability\":", "\"chance\":"));
    scratch.write("bad.jsonl", lines.join("\n"));
    let call = "evaluate bad.jsonl --model segment:id --policy uniform";
    assert!(scratch.says(call).starts_with("truenorth: bad.jsonl, line 8: "));
    let printed = scratch.prints(&format!("{call} --skip-malformed"));
    assert!(printed.contains("Left out 2 malformed events (the first: bad.jsonl, line 8: "), "{printed}");
    let found = scratch.json(&format!("{call} --skip-malformed"));
    let good = scratch.json("evaluate good.jsonl --model segment:id --policy uniform");
    assert_eq!((&found["dr"], &found["malformed"]), (&good["dr"], &2.into()));
    // Where nothing is left, the first says why.
    scratch.write("none.jsonl", events(20).replace("\"probability\":", "\"chance\":"));
    let said = scratch.says("evaluate none.jsonl --model segment:id --policy uniform --skip-malformed");
    assert!(said.starts_with("truenorth: none.jsonl, line 1: the event has no `probability`"), "{said}");
}

#[test]
fn a_policy_that_needs_a_horizon_is_told_one() {
    let scratch = Scratch::new();
    scratch.write("log.jsonl", events(100));
    let call = "evaluate log.jsonl --model segment:id --policy suplinucb";
    assert!(scratch.says(call).contains("`--horizon` is needed"));
    assert_eq!(scratch.json(&format!("{call} --horizon 100"))["decisions"], 100);
}

#[test]
fn a_policy_that_has_seen_the_rewards_it_is_judged_by_is_not_trusted() {
    let scratch = Scratch::new();
    scratch.write("log.jsonl", events(1000));
    scratch.write("other.jsonl", events(1000));
    for file in ["log", "other"] {
        scratch.prints(&format!("summarize {file}.jsonl --model segment:id -o {file}.tn"));
    }
    for (call, trusted) in [
        ("--summary log.tn --policy truenorth", false),
        ("--summary other.tn --policy truenorth", true),
        ("--summary log.tn --policy uniform", true),
    ] {
        let found = scratch.json(&format!("evaluate log.jsonl {call}"));
        assert_eq!(found["trusted"], trusted, "{call}: {}", found["warnings"]);
        let said = found["warnings"].to_string().contains("log.jsonl is one of the files of the summary");
        assert_eq!(said, !trusted, "{call}");
    }
}

#[test]
fn a_policy_that_cannot_tell_actions_apart_and_estimates_that_are_not_there_are_explained() {
    let scratch = Scratch::new();
    scratch.write("log.jsonl", events(400));
    let (printed, _) = scratch.prints_and_says("evaluate log.jsonl --model segment --policy truenorth");
    assert!(printed.contains("- all actions of an event have the same features"), "{printed}");
    for call in ["--model segment:id --policy truenorth", "--model segment --policy uniform"] {
        let (printed, _) = scratch.prints_and_says(&format!("evaluate log.jsonl {call}"));
        assert!(!printed.contains("the same features"), "{call}: {printed}");
    }
    scratch.write("few.jsonl", events(6));
    let printed = scratch.prints("evaluate few.jsonl --model segment:id --policy uniform");
    assert!(
        printed.contains("No dr and direct: 6 decisions are too few for a model of rewards."),
        "{printed}"
    );
    // Every visitor is one of a kind.
    let mut wide = String::new();
    for (visit, line) in events(2000).lines().enumerate() {
        writeln!(
            wide,
            "{}",
            line.replace("worker", &format!("w{visit}")).replace("student", &format!("s{visit}"))
        )
        .unwrap();
    }
    scratch.write("wide.jsonl", wide);
    let printed = scratch.prints("evaluate wide.jsonl --policy uniform --model hash(segment:id,4096)");
    assert!(
        printed.contains("No dr and direct: a model of rewards has at most 1000 features, but"),
        "{printed}"
    );
}

#[test]
fn what_is_missing_is_said_in_one_sentence_with_its_place() {
    let scratch = Scratch::new();
    scratch.write("log.jsonl", events(3).replacen(",\"probability\":0.75", "", 1));
    scratch.write("wish.jsonl", events(3).replacen(",\"wish\":0.9", "", 1));
    scratch.write("log.csv", "item,click\na,1\nb,0\n");
    scratch.write("odd.csv", "item,click,p\na,1,0.5\nb,0,1.5\n");
    for (call, sentence) in [
        (
            "log.jsonl --policy uniform",
            "the event has no `probability` of its action, without which nothing can be said about another policy",
        ),
        (
            "wish.jsonl --policy field:wish",
            "wish.jsonl, line 1: action `sport` has no number in the field `wish`",
        ),
        (
            "log.csv --policy uniform --action item --reward click",
            "log.csv: this is a table: name its column of `probability` (`--probability`)",
        ),
        (
            "odd.csv --policy uniform --action item --reward click --probability p",
            "odd.csv, line 3: `p` is \"1.5\", but must be above 0 and at most 1",
        ),
        (
            "log.jsonl --policy offline-only",
            "policy \"offline-only\" is made from logs alone: name their `--summary`",
        ),
        ("log.jsonl --policy best", "also uniform, and field:NAME"),
    ] {
        let said = scratch.run(&format!("evaluate {call}"));
        let text = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(2), "{call}: {text}");
        assert!(text.contains(sentence), "{call}: {text}");
    }
}

#[test]
fn open_bandit_rows_give_the_numbers_of_open_bandit_pipeline() {
    let Some(data) = shared_data() else { return };
    let log = data.join("log-samples/obd-bts-women-200.csv");
    let found = Scratch::new().json(&format!("evaluate {} --policy uniform", log.display()));
    // `obp` 0.4.1 on the same rows; docs/evaluate.md tells how.
    near(value(&found, "ips"), 0.000_373_005_446_625_531_57, 1e-12);
    near(value(&found, "snips"), 0.000_461_358_518_001_660_4, 1e-12);
    assert_eq!(found["trusted"], false);
}
