//! `truenorth encode` and `truenorth decide`: from a CSV with categories to decisions that differ by context.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Dice, Scratch};

const USERS: [&str; 2] = ["Tom", "Anna"];
const TIMES: [&str; 2] = ["morning", "afternoon"];
const ARTICLES: [&str; 4] = ["politics", "sports", "music", "food"];

/// The article that a user clicks at a time of day: each of the four contexts has its own.
fn best(user: usize, time: usize) -> usize {
    2 * user + time
}

/// Three thousand logged rows in which users and times of day decide what is clicked.
fn logs(unit: f64) -> String {
    let mut dice = Dice(7);
    let mut csv = "user,time,item,price,click\n".to_owned();
    for _ in 0..3000 {
        let (user, time, item) = (dice.below(2), dice.below(2), dice.below(4));
        let price = dice.below(50) as f64 / 10.0;
        let chance = if best(user, time) == item { 80.0 } else { 10.0 } - 2.0 * price;
        let click = u8::from((dice.below(1000) as f64) < 10.0 * chance);
        let (user, time, item) = (USERS[user], TIMES[time], ARTICLES[item]);
        writeln!(csv, "{user},{time},{item},{},{click}", price * unit).unwrap();
    }
    csv
}

fn event(user: usize, time: usize, unit: f64) -> Value {
    let action = |item: &&str| json!({ "id": item, "features": { "price": 1.5 * unit } });
    let actions: Vec<Value> = ARTICLES.iter().map(action).collect();
    json!({ "context": { "time": TIMES[time], "user": USERS[user] }, "actions": actions })
}

fn summarized(unit: f64) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("logs.csv", logs(unit));
    let call =
        "summarize logs.csv --model price+user:time:item --action item,price --reward click -o logs.tn";
    scratch.prints(call);
    scratch
}

/// A bandit that waits for lines.
struct Live {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Live {
    fn start(scratch: &Scratch, call: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_truenorth"))
            .current_dir(scratch.path(""))
            .args(call.split_whitespace())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output) }
    }

    /// The answer to a line, which comes at once.
    fn ask(&mut self, line: impl AsRef<[u8]>) -> Value {
        self.input.write_all(line.as_ref()).unwrap();
        self.input.write_all(b"\n").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{answer:?}"))
    }

    fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
#[cfg(unix)]
fn what_was_answered_is_in_the_state_however_politely_the_program_is_ended() {
    let scratch = summarized(1.0);
    for signal in ["-INT", "-TERM"] {
        let mut live = Live::start(&scratch, "decide logs.tn --state kept.tn");
        let answer = live.ask(event(0, 0, 1.0).to_string());
        live.ask(json!({ "decision_id": answer["decision_id"], "reward": 1 }).to_string());
        let id = live.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        assert!(!live.child.wait().unwrap().success());
    }
    // Nobody hears the second answer.
    let mut live = Live::start(&scratch, "decide --state kept.tn");
    live.ask(event(0, 0, 1.0).to_string());
    drop(live.output);
    writeln!(live.input, "{}", event(1, 0, 1.0)).unwrap();
    assert!(live.child.wait().unwrap().success());
    let (_, said) = scratch.prints_and_says("decide --state kept.tn");
    assert_eq!(said, "truenorth: goes on from kept.tn: 4 decisions, 2 rewards, 2 open\n");
}

#[test]
fn a_field_beside_the_context_is_found_there() {
    let scratch = summarized(1.0);
    let mut live = Live::start(&scratch, "decide logs.tn");
    let mut event = event(0, 0, 1.0);
    event["user"] = event["context"].as_object_mut().unwrap().remove("user").unwrap();
    let beside = live.ask(event.to_string());
    assert_eq!(
        beside["error"]["message"],
        "line 1: action \"politics\": field `user` has no value; `user` stands beside `context`, and not in it"
    );
    live.end();
}

#[test]
fn every_context_gets_its_article_whatever_the_unit_of_prices() {
    for unit in [1.0, 1000.0] {
        let scratch = summarized(unit);
        let mut live = Live::start(&scratch, "decide logs.tn");
        for context in 0..40 {
            let (user, time) = (context % 2, context / 2 % 2);
            let answer = live.ask(event(user, time, unit).to_string());
            assert_eq!(answer["action"], ARTICLES[best(user, time)], "{answer}");
            for key in ["mean", "lcb", "ucb", "probability"] {
                assert!(answer[key].is_number(), "{key}: {answer}");
            }
            let learned = live.ask(json!({ "decision_id": answer["decision_id"], "reward": 1 }).to_string());
            assert_eq!(learned, json!({ "decision_id": answer["decision_id"], "learned": true }));
        }
        live.end();
    }
}

#[test]
fn encode_shows_the_rows_by_name_for_tables_and_events_alike() {
    let scratch = summarized(1.0);
    scratch.write("live.csv", "price,item,user,time\n2.5,food,Anna,morning\n");
    scratch.write(
        "live.jsonl",
        r#"{"context":{"user":"Anna","time":"morning"},"actions":[{"id":"food","price":2.5}]}"#,
    );
    let row = json!({ "intercept": 1.0, "price": 2.5, "user=Anna:time=morning:item=food": 1.0 });
    let expected = json!({ "actions": [{ "id": "food", "features": row }] });
    for file in ["live.csv", "live.jsonl"] {
        let printed = scratch.prints(&format!("encode logs.tn {file}"));
        assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), expected, "{file}");
    }
    scratch.write(
        "new.jsonl",
        r#"{"context":{"user":"Eve","time":"morning","mood":1},"actions":[{"id":"food","price":1}]}"#,
    );
    let (printed, said) = scratch.prints_and_says("encode logs.tn new.jsonl");
    assert!(printed.contains("user=Eve:time=morning:item=food"), "{printed}");
    assert_eq!(
        said,
        "truenorth: 1 feature was never logged: user=Eve:time=morning:item=food\n\
         truenorth: the model has no use for field `mood`, which came 1 time\n"
    );
    scratch.write("bad.jsonl", r#"{"context":{"user":"Anna"},"actions":[{"id":"food","price":1}]}"#);
    assert_eq!(
        scratch.says("encode logs.tn bad.jsonl"),
        "truenorth: bad.jsonl, line 1: action \"food\": field `time` has no value\n"
    );
}

#[test]
fn a_bandit_that_is_killed_goes_on_from_its_last_state() {
    let scratch = summarized(1.0);
    // As it would have gone without an end.
    let mut whole = Live::start(&scratch, "decide logs.tn");
    let mut expected = Vec::new();
    for round in 0..30 {
        let answer = whole.ask(event(round % 2, round / 2 % 2, 1.0).to_string());
        whole.ask(json!({ "decision_id": answer["decision_id"], "reward": round % 3 }).to_string());
        expected.push(answer);
    }
    whole.end();
    for killed in [1, 7, 12] {
        let call = "decide logs.tn --state bandit.tn --every 4";
        let mut live = Live::start(&scratch, call);
        let mut ids = Vec::new();
        for (round, expected) in expected.iter().enumerate().take(killed) {
            let answer = live.ask(event(round % 2, round / 2 % 2, 1.0).to_string());
            assert_eq!(answer, *expected);
            live.ask(json!({ "decision_id": answer["decision_id"], "reward": round % 3 }).to_string());
            ids.push(answer["decision_id"].clone());
        }
        live.kill();
        let mut live = Live::start(&scratch, call);
        // Two lines a round, saved after every fourth; a file is written before the next line is read, but perhaps not before
        // the kill.
        let kept = ids
            .iter()
            .take_while(|id| {
                let again = live.ask(json!({ "decision_id": id, "reward": 1 }).to_string());
                assert!(
                    again["error"]["code"] == "already_learned"
                        || again["error"]["code"] == "unknown_decision",
                    "{again}"
                );
                again["error"]["code"] == "already_learned"
            })
            .count();
        assert!(kept % 2 == 0 && kept <= killed && kept + 4 > killed, "{kept} of {killed}");
        for (round, expected) in expected.iter().enumerate().skip(kept) {
            let answer = live.ask(event(round % 2, round / 2 % 2, 1.0).to_string());
            assert_eq!(answer, *expected, "round {round} after {killed}");
            live.ask(json!({ "decision_id": answer["decision_id"], "reward": round % 3 }).to_string());
        }
        live.end();
        std::fs::remove_file(scratch.path("bandit.tn")).unwrap();
    }
}

#[test]
fn rows_of_others_later_logs_and_new_seasons_reach_a_running_bandit() {
    let scratch = summarized(1.0);
    let (_, said) =
        scratch.prints_and_says("decide logs.tn --state b.tn --learn logs.csv --policy truenorth-sampling");
    assert_eq!(said, "truenorth: learned 3,000 rows that others decided\n");
    let (_, said) = scratch.prints_and_says("decide --state b.tn --add logs.tn --renew");
    assert_eq!(
        said,
        "truenorth: goes on from b.tn: 0 decisions, 0 rewards, 3,000 rows of others, 0 open\n\
         truenorth: added the logs of logs.tn, 3,000 rows\ntruenorth: a new season begins\n"
    );
    scratch.prints("summarize logs.csv --model item --action item --reward click -o other.tn");
    assert_eq!(
        scratch.says("decide other.tn --state b.tn"),
        "truenorth: b.tn: the bandit has the model `price + user:time:item`, but `item` is asked for\n"
    );
    assert_eq!(
        scratch.says("decide --state absent.tn"),
        "truenorth: absent.tn: it is not there yet, so a summary or `--model` is needed\n"
    );
    assert_eq!(
        scratch.says("decide --model price+"),
        "truenorth: the model is wrong at its end: a field must stand here; odd names go between backticks\n"
    );
    assert!(scratch.says("decide logs.csv").starts_with("truenorth: logs.csv: this is no summary"));
}

#[test]
fn lines_that_are_refused_are_named_by_their_number_and_lack_all_that_they_lack() {
    let scratch = summarized(1.0);
    let lines = [
        "user,time,item,price".to_owned(),
        String::new(),
        r#"{"context":{"usr":"Tom"},"actions":[{"id":"food"}]}"#.to_owned(),
        event(0, 0, 1.0).to_string(),
    ];
    let mut child = Command::new(env!("CARGO_BIN_EXE_truenorth"))
        .current_dir(scratch.path(""))
        .args(["decide", "logs.tn"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let answers: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let message = |answer: &Value| answer["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!(
        message(&answers[0]),
        "line 1: an event is an object in JSON, `{..}`; tables of what others decided are read by `--learn FILE`"
    );
    assert_eq!(
        message(&answers[1]),
        "line 3: action \"food\": fields `price`, `user`, `time` have no value; is `usr` meant to be `user`?"
    );
    assert_eq!(answers[2]["action"], ARTICLES[best(0, 0)]);
    // Each line has its answer, so that the work is done.
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "truenorth: refused 2 lines, the first is line 1; the answers say why\n"
    );
}

#[test]
fn ten_thousand_damaged_lines_are_answered_each() {
    let scratch = summarized(1.0);
    let mut live = Live::start(&scratch, "decide logs.tn --joining 20");
    let (mut dice, mut decided, mut refused) = (Dice(3), 0, 0);
    let whole = [
        event(0, 1, 1.0).to_string(),
        r#"{"decision_id":"x","reward":1}"#.to_owned(),
        r#"{"context":{"user":"Tom","time":"morning"},"actions":[{"id":"food","price":1}],"action":"food","reward":0.5}"#.to_owned(),
    ];
    let pieces = [
        "1e400", "-1e49", "NaN", "null", "{", "]", "\"", "\u{e9}", "\\u0000", "true", ",", ":", "[[[[",
        "1e60",
    ];
    for _ in 0..10_000 {
        let mut line = whole[dice.below(whole.len())].clone().into_bytes();
        for _ in 0..=dice.below(3) {
            let at = dice.below(line.len() + 1);
            match dice.below(4) {
                0 if at < line.len() => line[at] ^= 1 << dice.below(8),
                1 => drop(line.drain(at..(at + dice.below(12)).min(line.len()))),
                2 => drop(line.splice(at..at, pieces[dice.below(pieces.len())].bytes())),
                _ => {}
            }
        }
        line.retain(|byte| *byte != b'\n');
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = live.ask(&line);
        if let Some(error) = answer.get("error") {
            refused += 1;
            assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{answer}");
        } else if answer.get("learned").is_none() {
            decided += 1;
            // What is no number would be null in JSON.
            assert!(
                ["mean", "lcb", "ucb", "probability"].iter().all(|key| answer[key].is_number()),
                "{answer}"
            );
        }
    }
    live.end();
    assert!(decided > 500 && refused > 500, "{decided} decided, {refused} refused");
}

#[test]
fn a_reader_that_has_seen_enough_ends_encode_in_peace() {
    let scratch = summarized(1.0);
    let mut child = Command::new(env!("CARGO_BIN_EXE_truenorth"))
        .current_dir(scratch.path(""))
        .args(["encode", "logs.tn", "logs.csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn rows_that_lack_a_value_are_left_out_where_those_of_the_logs_were() {
    let scratch = Scratch::new();
    scratch.write("logs.csv", "x,item,r\n1,a,1\n,b,0\n2,b,0\n");
    scratch.prints("summarize logs.csv --model x+item --action item,x --reward r --missing drop -o logs.tn");
    let (printed, said) = scratch.prints_and_says("encode logs.tn logs.csv");
    assert_eq!(printed.lines().count(), 2);
    assert_eq!(said, "truenorth: left out 1 event, for want of a value\n");
    let (_, said) = scratch.prints_and_says("decide logs.tn --learn logs.csv");
    assert_eq!(
        said,
        "truenorth: learned 2 rows that others decided\ntruenorth: left out 1 row, for want of a value\n"
    );
    // A gap stops where the logs had none.
    scratch.write("whole.csv", "x,item,r\n1,a,1\n2,b,0\n");
    scratch.prints("summarize whole.csv --model x+item --action item,x --reward r -o whole.tn");
    assert_eq!(
        scratch.says("decide whole.tn --learn logs.csv"),
        "truenorth: logs.csv, line 3: action \"b\": field `x` has no value\n"
    );
    // What stands where a number should be and means none is a gap too; other texts are not.
    scratch.write("na.csv", "x,item,r\n1,a,1\nNA,b,0\n,b,0\n2,b,0\n");
    assert_eq!(
        scratch.prints_and_says("decide logs.tn --learn na.csv").1,
        "truenorth: learned 2 rows that others decided\ntruenorth: left out 2 rows, for want of a value\n"
    );
    scratch.write("dear.csv", "x,item,r\n1,a,1\ndear,b,0\n");
    assert!(scratch.says("decide logs.tn --learn dear.csv").starts_with("truenorth: dear.csv, line 3: "));
}

#[test]
fn a_summary_beside_a_state_is_spoken_of_when_it_is_newer() {
    let scratch = summarized(1.0);
    scratch.prints("decide logs.tn --state b.tn");
    let goes_on = "truenorth: goes on from b.tn: 0 decisions, 0 rewards, 0 open\n";
    assert_eq!(scratch.prints_and_says("decide logs.tn --state b.tn").1, goes_on);
    let later = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
    let touch = || {
        let file = std::fs::File::options().write(true).open(scratch.path("logs.tn")).unwrap();
        file.set_modified(later).unwrap();
    };
    touch();
    assert_eq!(
        scratch.prints_and_says("decide logs.tn --state b.tn").1,
        format!(
            "truenorth: logs.tn is newer than b.tn, but is not read again; `--add logs.tn` adds it to the logs of b.tn\n{goes_on}"
        )
    );
    touch();
    let added = format!("{goes_on}truenorth: added the logs of logs.tn, 3,000 rows\n");
    assert_eq!(scratch.prints_and_says("decide logs.tn --state b.tn --add logs.tn").1, added);
}

#[test]
fn models_in_sentences_are_between_backticks_once() {
    let scratch = Scratch::new();
    scratch.write("logs.csv", "odd name,item,r\n1,a,1\n2,b,0\n3,a,0\n");
    let summarize = |model: &str, name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_truenorth"));
        let call = ["summarize", "logs.csv", "--action", "item,odd name", "--reward", "r", "--model", model];
        assert!(
            command.current_dir(scratch.path("")).args(call).args(["-o", name]).status().unwrap().success()
        );
    };
    summarize("`odd name`", "odd.tn");
    summarize("item", "item.tn");
    scratch.prints("decide odd.tn --state b.tn");
    assert_eq!(
        scratch.says("decide item.tn --state b.tn"),
        "truenorth: b.tn: the bandit has the model `odd name`, but `item` is asked for\n"
    );
    let output = scratch.run("decide --state b.tn --add item.tn");
    assert_eq!(
        String::from_utf8(output.stderr).unwrap().lines().last(),
        Some("truenorth: the bandit has the model `odd name`, but the logs have `item`")
    );
}

#[test]
fn what_is_told_beside_a_state_and_tables_without_a_summary_are_answered() {
    let scratch = summarized(1.0);
    scratch.prints("decide logs.tn --state b.tn");
    let (_, said) = scratch.prints_and_says("decide logs.tn --state b.tn --open 5 --age 6 --joining 7");
    assert_eq!(
        said,
        "truenorth: `--open` is not used: b.tn has its own settings\n\
         truenorth: `--age` is not used: b.tn has its own settings\n\
         truenorth: `--joining` is not used: b.tn has its own settings\n\
         truenorth: goes on from b.tn: 0 decisions, 0 rewards, 0 open\n"
    );
    let output = scratch.run("decide --state b.tn --learn logs.csv");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        said.lines().last(),
        Some(
            "truenorth: logs.csv: this is a table, and only a summary of tables tells its columns: name the summary"
        )
    );
    scratch.write("bad.csv", "user,time,item,price,click\nTom,morning,food,dear,1\n");
    let output = scratch.run("decide logs.tn --learn bad.csv");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.starts_with("truenorth: bad.csv, line 2: ") && said.contains("\"dear\""), "{said}");
}

#[test]
fn compare_beside_a_summary_takes_its_features_and_its_reward() {
    let scratch = Scratch::new();
    scratch.write("logs.csv", "x,item,shown,r\n1,a,1,1\n2,b,0,0\n2,b,1,0\n1,b,1,0.5\n3,a,1,1\n");
    scratch.write("live.csv", "round,x,item,shown,r\n1,1,a,1,1\n1,2,b,0,0\n2,1,a,0,1\n2,2,b,1,0\n");
    let model = "--model x+item --action item,x --reward r";
    scratch.prints(&format!("summarize logs.csv {model} --chosen shown -o logs.tn"));
    let live = "--online live.csv --round round --policies greedy --seeds 1";
    let call = format!("compare --offline logs.tn {live} --reward r");
    assert_eq!(scratch.json(&call)["rounds"], 2);
    assert_eq!(
        scratch.says(&format!("{call} --model x")),
        "truenorth: the summary says which features there are, so `--model`, `--features` and `--action` cannot\n"
    );
    assert_eq!(
        scratch.says(&format!("compare --offline logs.tn {live} --reward x")),
        "truenorth: logs.tn: its reward is `r`, but `x` is asked for\n"
    );
    let (_, said) = scratch.prints_and_says(&format!("compare {live} --reward r"));
    assert!(said.starts_with("truenorth: model made from the data: --model '"), "{said}");
}
