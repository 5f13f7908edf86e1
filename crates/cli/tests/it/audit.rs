//! `truenorth audit`: the promised JSON, pilots of all kinds, files, real data, and what it says to bad input.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Scratch, keys, linear_table, shared_data};

const NAMES: [&str; 3] = ["x", "y", "z"];

/// Logs in `logs.csv` and `logs.tn`; in `live.csv` the coefficient of z has turned.
fn filled() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("logs.csv", linear_table(&NAMES, &[1.0, 0.5, 0.5], 400, 1));
    scratch.write("live.csv", linear_table(&NAMES, &[1.0, 0.5, -0.5], 200, 2));
    scratch.prints("summarize logs.csv --features x,y,z --reward reward -o logs.tn");
    scratch
}

/// Features of which a field is true, by name.
fn which(audit: &Value, field: &str) -> String {
    let features = audit["features"].as_array().unwrap().iter().filter(|feature| feature[field] == true);
    features.map(|feature| feature["name"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

fn assert_has(value: &Value, fields: &str) {
    let found = keys(value);
    for field in fields.split(' ') {
        assert!(found.contains(&field), "no field {field} in {found:?}");
    }
}

#[test]
fn json_has_the_promised_fields() {
    let scratch = filled();
    for pilot in ["", "--pilot live.csv"] {
        let audit = scratch.json(&format!("audit logs.tn {pilot}"));
        assert_has(
            &audit,
            "verdict rows dimension noise norm effective_dimension worth_rounds features directions certificate",
        );
        assert_eq!(keys(&audit["verdict"]), ["sentence", "use"]);
        assert_eq!(keys(&audit["certificate"]), ["matrix", "rho"]);
        assert_eq!((audit["rows"].as_u64(), audit["dimension"].as_u64()), (Some(400), Some(3)));
        for number in ["noise", "norm", "effective_dimension", "worth_rounds"] {
            assert!(audit[number].as_f64().unwrap() > 0.0, "{number}");
        }
        let matrix = audit["certificate"]["matrix"].as_array().unwrap();
        assert!(matrix.len() == 3 && matrix.iter().all(|row| row.as_array().unwrap().len() == 3));
        assert!(audit["certificate"]["rho"].as_f64().unwrap() > 0.0);
        for (list, fields) in [
            ("features", "name coverage drift stderr p_value drifted equivalent trust"),
            ("directions", "weights coverage drift stderr drifted trust"),
        ] {
            let list = audit[list].as_array().unwrap();
            assert_eq!(list.len(), 3);
            for entry in list {
                assert_has(entry, fields);
                for field in ["drift", "stderr", "p_value", "drifted", "equivalent"] {
                    assert_eq!(entry[field].is_null(), pilot.is_empty(), "{field}");
                }
                assert!((0.0..=1.0).contains(&entry["trust"].as_f64().unwrap()));
            }
        }
        let names: Vec<&Value> =
            audit["features"].as_array().unwrap().iter().map(|feature| &feature["name"]).collect();
        assert_eq!(names, NAMES);
        assert_eq!(which(&audit, "drifted"), if pilot.is_empty() { "" } else { "z" });
        assert_eq!(audit["verdict"]["use"], if pilot.is_empty() { "unclear" } else { "some" });
    }
}

#[test]
fn what_a_service_exports_tests_logs_that_were_a_table() {
    let scratch = filled();
    let live = fs::read_to_string(scratch.path("live.csv")).unwrap();
    let mut rows = live.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    let events: Vec<String> = rows
        .map(|row| {
            let value = |name: &str| row[names.iter().position(|other| *other == name).unwrap()];
            let action = NAMES.map(|name| format!("\"{name}\":{}", value(name))).join(",");
            let reward = value("reward");
            format!("{{\"actions\":[{{\"id\":\"a\",{action}}}],\"action\":\"a\",\"reward\":{reward}}}\n")
        })
        .collect();
    // The last one waits for its reward.
    scratch.write(
        "live.jsonl",
        events.concat() + "{\"actions\":[{\"id\":\"a\",\"x\":1,\"y\":1,\"z\":1}],\"action\":\"a\"}\n",
    );
    let [audit, told] = ["", "--format events"].map(|format| {
        let call = format!("audit logs.tn --pilot live.jsonl {format} --json");
        let (printed, said) = scratch.prints_and_says(&call);
        assert_eq!(said, "truenorth: live.jsonl: left out 1 row\n");
        serde_json::from_str::<Value>(&printed).unwrap()
    });
    let table = scratch.json("audit logs.tn --pilot live.csv");
    assert_eq!(audit, told);
    assert_eq!(which(&audit, "drifted"), "z");
    for (feature, same) in
        audit["features"].as_array().unwrap().iter().zip(table["features"].as_array().unwrap())
    {
        let [drift, same] = [feature, same].map(|feature| feature["drift"].as_f64().unwrap());
        assert!((drift - same).abs() < 1e-12, "{feature}");
    }
}

#[test]
fn text_tells_verdict_table_and_advice() {
    let scratch = filled();
    assert_snapshot!(scratch.prints("audit logs.tn --pilot live.csv"), @r#"
    Use some of the logs: 1 of 3 features has drifted in 200 live rows of 50 rounds (z); 2 still
    hold. Playing what they recommend would cost 0.293 ± 0.057 of reward a round. The logs are worth
    about 44 live rounds (19 to 84) to a policy that is told how far each feature has moved, and
    less to the default, which finds out as it plays.

    feature  verdict    drift  std err        p  coverage  trust
    x        holds    -0.0128   0.0144   0.3756       399   87 %
    y        holds    0.00824   0.0110   0.4562       397   90 %
    z        drifted    -1.03   0.0120  <0.0001       397  < 1 %

    400 rows, 3 features, effective dimension 3.0, noise 0.0826, length of the coefficients 1.23
    Worth in live rounds, to a policy that is told so: 400 if nothing has drifted, 0.5 if
    coefficients have moved by 0.369 in an unknown direction, 44 (19 to 84) with what the pilot
    found.

    * Let z be learned anew: the default policy does so by itself, feature by feature, and needs no
      option.

    Bounds in the worst case, from the paper "Direction-Aware Offline-to-Online Learning in Linear
    Contextual Bandits":
    They say nothing here: they are for rewards in [0, 1], of which 20,000 rounds cannot lose more
    than 20,000, and with the logs as without, the bound is above that.

    Next:
    Start from the logs: the default policy counts each feature as far as live rewards bear it out.
      truenorth decide logs.tn --state bandit.tn
    "#);
    assert_snapshot!(scratch.prints("audit logs.tn"), @r#"
    Unclear: nothing live has tested them. The logs' 400 rows cover 3 features (least of all y, as
    397 rows of it alone would). They are worth about 400 live rounds to a policy that knows that
    nothing has drifted, but 0.5 to one that has to expect a drift of 0.369.

    feature  coverage
    x             399
    y             397
    z             397

    400 rows, 3 features, effective dimension 3.0, noise 0.0826, length of the coefficients 1.23
    Worth in live rounds, to a policy that is told so: 400 if nothing has drifted, 0.5 if
    coefficients have moved by 0.369 in an unknown direction.

    * Bring a pilot, a little live data: what has drifted cannot be seen in the logs.

    Bounds in the worst case, from the paper "Direction-Aware Offline-to-Online Learning in Linear
    Contextual Bandits":
    They say nothing here: they are for rewards in [0, 1], of which 20,000 rounds cannot lose more
    than 20,000, and with the logs as without, the bound is above that.

    Next:
    Test the logs: bring live rows with the same columns, chosen with some randomness.
      truenorth audit logs.tn --pilot LIVE_ROWS
    Or start from the logs now: the default policy counts each feature as far as live rewards bear
    it out.
      truenorth decide logs.tn --state bandit.tn
    "#);
}

#[test]
fn pilots_may_be_rows_or_a_summary_in_any_order() {
    let scratch = filled();
    let rows = scratch.json("audit logs.tn --pilot live.csv");
    assert_eq!(
        (rows["pilot"]["rows"].as_u64(), rows["pilot"]["independent"].as_u64()),
        (Some(200), Some(50))
    );
    let turned: String = scratch.read("live.csv").lines().fold(String::new(), |text, line| {
        let cells: Vec<&str> = line.split(',').collect();
        text + &[cells[3], cells[4], cells[1], cells[2]].join(",") + "\n"
    });
    scratch.write("turned.csv", turned);
    let (alone, _) = scratch.prints_and_says("audit logs.tn --pilot turned.csv --json");
    let alone: Value = serde_json::from_str(&alone).unwrap();
    assert_eq!(alone["pilot"]["independent"], 200, "no column of rounds");
    scratch.prints("summarize turned.csv --features z,x,y --reward reward -o turned.tn");
    let summed = scratch.json("audit logs.tn --pilot turned.tn");
    for feature in 0..3 {
        let drift = |audit: &Value| audit["features"][feature]["drift"].as_f64().unwrap();
        assert!((drift(&rows) - drift(&alone)).abs() < 1e-12);
        assert!((drift(&rows) - drift(&summed)).abs() < 1e-9);
    }
    let renamed = scratch.read("live.csv").replacen("round", "day", 1);
    scratch.write("renamed.csv", renamed);
    assert_eq!(scratch.json("audit logs.tn --pilot renamed.csv --round day"), rows);
}

#[test]
fn logs_that_are_compared_with_themselves_are_told_so() {
    let scratch = filled();
    scratch.prints("summarize live.csv --features x,y,z --reward reward -o live.tn");
    for (pilot, same) in [("logs.csv", true), ("logs.tn", true), ("live.csv", false), ("live.tn", false)] {
        let (_, said) = scratch.prints_and_says(&format!("audit logs.tn --pilot {pilot}"));
        let expected =
            "truenorth: logs.csv is one of the files of these logs: this compares them with themselves\n";
        assert_eq!(said, if same { expected } else { "" }, "{pilot}");
    }
}

#[test]
fn levels_that_the_logs_never_had_are_ignored_with_a_warning() {
    let scratch = Scratch::new();
    let coloured = |colours: &[&str], seed: u64| {
        let table = linear_table(&["x"], &[1.0], 90, seed);
        let lines = table.lines().enumerate().map(|(place, line)| match place {
            0 => format!("{line},colour\n"),
            place => format!("{line},{}\n", colours[place % colours.len()]),
        });
        lines.collect::<String>()
    };
    scratch.write("logs.csv", coloured(&["red", "blue"], 1));
    scratch.write("live.csv", coloured(&["red", "blue", "mauve"], 2));
    for encoding in ["logs.csv", "live.csv"] {
        let summary = encoding.replace("csv", "tn");
        scratch.prints(&format!(
            "summarize {encoding} --features x --one-hot colour --reward reward -o {summary}"
        ));
    }
    let (printed, said) = scratch.prints_and_says("audit logs.tn --pilot live.csv");
    assert_eq!(
        said,
        "truenorth: live.csv: ignored 30 values of features that the logs never had: `colour=mauve`\n"
    );
    assert!(printed.contains("\ncolour=red ") && !printed.contains("mauve"), "{printed}");
    let (_, said) = scratch.prints_and_says("audit logs.tn --pilot live.tn");
    assert_eq!(said, "truenorth: live.tn: ignored 1 feature that the logs never had\n");
}

#[test]
fn pilots_that_do_not_fit_are_named() {
    let scratch = filled();
    let says = |pilot: &str| scratch.says(&format!("audit logs.tn --pilot {pilot}"));
    scratch.write("empty.csv", "");
    scratch.write("bare.csv", "round,x,y,z,reward\n");
    scratch.write("narrow.csv", "round,x,y,reward\n1,1,1,1\n");
    scratch.write("bad.csv", "round,x,y,z,reward\n1,1,high,1,1\n");
    scratch.write("odd.csv", "x,y,z,reward,paid\n1,1,1,1,1\n");
    fs::create_dir(scratch.path("folder")).unwrap();
    scratch.prints("summarize narrow.csv --features x,y --reward reward -o narrow.tn");
    scratch.prints("summarize odd.csv --features x,y,z --reward paid -o paid.tn");
    scratch.write("events.vw", "0:-1:0.5 | a\n | b\n");
    scratch.prints("summarize events.vw -o events.tn");
    assert_snapshot!(says("no.csv"), @"truenorth: no.csv: No such file or directory (os error 2)");
    assert_snapshot!(says("empty.csv"), @"truenorth: empty.csv: the file is empty");
    assert_snapshot!(says("bare.csv"), @"truenorth: bare.csv: there are columns, but no rows");
    assert_snapshot!(says("narrow.csv"), @"truenorth: narrow.csv: there is no column named `z`; the columns are `round`, `x`, `y`, `reward`");
    assert_snapshot!(says("bad.csv"), @r#"truenorth: bad.csv, line 2: column `y` holds "high", not a number"#);
    assert_snapshot!(says("folder"), @"truenorth: folder: this is a folder; name its files, such as 'folder/*.csv'");
    assert_snapshot!(says("live.csv --round day"), @"truenorth: live.csv: there is no column named `day`; the columns are `round`, `x`, `y`, `z`, `reward`");
    assert_snapshot!(says("narrow.tn"), @"truenorth: narrow.tn: its model has no term `N(z)`, but that of the logs has");
    assert_snapshot!(says("paid.tn"), @"truenorth: paid.tn: its reward is `paid`, but that of the logs is `reward`");
    assert_snapshot!(says("events.tn"), @"truenorth: events.tn: it was made from events, but the logs are a table: give the events themselves");
    scratch.write("live.jsonl", "{\"context\":{},\"actions\":[{\"id\":\"a\",\"x\":1,\"y\":1,\"z\":1}],\"action\":\"a\",\"reward\":1}\n");
    assert_snapshot!(says("live.jsonl --round day"), @"truenorth: live.jsonl: events have no column of rounds");
    assert_snapshot!(says("logs.tn --round round"), @"truenorth: logs.tn: `--round` needs rows, but this is a summary of them");
}

#[test]
fn columns_that_give_the_reward_away_are_spoken_of() {
    let scratch = Scratch::new();
    let rows = linear_table(&["x"], &[1.0], 90, 1);
    let outcome = rows.lines().map(|line| {
        let paid = line.rsplit(',').next().unwrap();
        if paid == "reward" { format!("{line},clicks\n") } else { format!("{line},{paid}\n") }
    });
    scratch.write("logs.csv", outcome.collect::<String>());
    for (features, spoken_of) in [("x,clicks", true), ("x", false)] {
        scratch.prints(&format!("summarize logs.csv --features {features} --reward reward -o logs.tn"));
        let said = scratch.prints("audit logs.tn").contains("they tell the reward without any error");
        assert_eq!(said, spoken_of, "{features}");
    }
}

#[test]
fn wrong_calls_are_answered() {
    let scratch = filled();
    let says = |more: &str| scratch.says(&format!("audit logs.tn {more}"));
    assert_snapshot!(says("--level 0"), @"truenorth: `--level` must be strictly between 0 and 1, but is 0");
    assert_snapshot!(says("--level 1.5"), @"truenorth: `--level` must be strictly between 0 and 1, but is 1.5");
    assert_snapshot!(says("--margin -1"), @"truenorth: `--margin` must be at least 0 and at most 1e50, but is -1");
    assert_snapshot!(says("--drift -0.5"), @"truenorth: `--drift` must be at least 0 and at most 1e50, but is -0.5");
    assert_snapshot!(says("--drift nan"), @"truenorth: `--drift` must be at least 0 and at most 1e50, but is NaN");
    assert_snapshot!(says("--actions 0"), @"truenorth: `--actions` must be at least 1, but is 0");
    assert_snapshot!(says("--horizon 1"), @"truenorth: `--horizon`: 1 is not from 2 to 1000000000000");
    assert_snapshot!(says("--level much"), @r#"truenorth: `--level`: "much" is not a number"#);
    assert_snapshot!(scratch.refuses("audit logs.tn --round x"), @"error: the following required arguments were not provided:");
    assert_snapshot!(scratch.says("audit logs.csv"), @"truenorth: logs.csv: this is no summary; `truenorth summarize` makes one from logs");
    assert_snapshot!(scratch.says("audit no.tn"), @"truenorth: no.tn: No such file or directory (os error 2)");
    let bytes = fs::read(scratch.path("logs.tn")).unwrap();
    scratch.write("cut.tn", &bytes[..bytes.len() / 2]);
    assert_snapshot!(scratch.says("audit cut.tn"), @"truenorth: cut.tn: the summary is damaged: its checksum does not match its content");
}

#[test]
fn nothing_is_written_over_or_left_half() {
    let scratch = filled();
    fs::create_dir(scratch.path("folder")).unwrap();
    assert_snapshot!(scratch.says("audit logs.tn --out ./logs.tn"), @"truenorth: ./logs.tn is read, and would be written over: name another file");
    assert_snapshot!(scratch.says("audit logs.tn --pilot live.csv --certificate live.csv"), @"truenorth: live.csv is read, and would be written over: name another file");
    assert_snapshot!(scratch.says("audit logs.tn --out report.html --certificate report.html"), @"truenorth: report.html cannot be both the report and the certificate");
    assert_snapshot!(scratch.gives_up("audit logs.tn --out no/such/report.html"), @"truenorth: cannot write no/such/report.html: No such file or directory (os error 2)");
    assert_snapshot!(scratch.gives_up("audit logs.tn --out folder"), @"truenorth: cannot write folder: is a directory");
    // The certificate cannot be written, so there is no report either.
    assert_snapshot!(scratch.gives_up("audit logs.tn --out report.html --certificate folder"), @"truenorth: cannot write folder: is a directory");
}

#[test]
fn two_audits_in_one_folder_keep_their_certificates() {
    let scratch = filled();
    scratch.prints_and_says("audit logs.tn --pilot live.csv --out tested.html");
    scratch.prints_and_says("audit logs.tn --out untested.html");
    let [tested, untested] =
        ["tested", "untested"].map(|name| scratch.read(&format!("{name}.certificate.toml")));
    assert_ne!(tested, untested);
}

#[test]
fn what_to_do_next_runs_as_it_is_printed() {
    let scratch = filled();
    scratch.write("lost.csv", linear_table(&NAMES, &[-1.0, -0.5, -0.5], 200, 3));
    for pilot in ["", "--pilot live.csv", "--pilot lost.csv"] {
        let printed = scratch.prints(&format!("audit logs.tn {pilot}"));
        let (_, next) = printed.split_once("\nNext:\n").unwrap();
        let commands: Vec<&str> =
            next.lines().filter_map(|line| line.trim().strip_prefix("truenorth ")).collect();
        assert!(!commands.is_empty(), "{printed}");
        for command in commands {
            scratch.prints_and_says(&command.replace("LIVE_ROWS", "live.csv"));
            let _ = fs::remove_file(scratch.path("bandit.tn"));
        }
    }
}

#[test]
fn a_terminal_is_told_that_the_audit_is_at_work_and_a_pipe_is_not() {
    let scratch = filled();
    let command = format!("{} audit {}", env!("CARGO_BIN_EXE_truenorth"), scratch.path("logs.tn").display());
    // `script` makes a terminal; where there is none of it, nothing is tested.
    let arguments = ["-q", "-e", "-c", &command, "/dev/null"];
    let Ok(shown) = Command::new("script").args(arguments).stdin(Stdio::null()).output() else { return };
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("auditing 3 features, 0s") && shown.contains("Unclear: "), "{shown}");
    let (_, said) = scratch.prints_and_says("audit logs.tn");
    assert!(!said.contains("auditing"), "{said}");
}

#[test]
fn two_hundred_features_make_a_small_page_soon() {
    let scratch = Scratch::new();
    let long = "_a_name_that_is_much_longer_than_any_terminal_is_wide_or_any_reader_patient_";
    let names: Vec<String> = (0..200).map(|place| format!("f{long}{place}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    scratch.write("logs.csv", linear_table(&names, &[0.5; 200], 600, 1));
    scratch.write("live.csv", linear_table(&names, &[0.5; 200], 400, 2));
    scratch.prints("summarize logs.csv --features f_* --reward reward -o logs.tn");
    let started = Instant::now();
    let (printed, said) = scratch.prints_and_says("audit logs.tn --pilot live.csv --out report.html");
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(said, "wrote report.certificate.toml\nwrote report.html\n");
    let page = scratch.read("report.html");
    assert!(page.len() < 1_000_000 && page.contains("Audit of logs.tn"), "{} bytes", page.len());
    assert!(scratch.read("report.certificate.toml").contains("by `truenorth audit` of logs.tn"));
    assert!(printed.contains("The 40 of 200 features that changed most clearly:\n"), "{printed}");
    let (_, table) = printed.split_once("\nfeature ").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    assert_eq!(table.lines().count(), 41);
    assert!(table.lines().all(|line| line.chars().count() <= 110), "{table}");
    let without = scratch.prints("audit logs.tn");
    assert!(without.contains("The 40 of 200 features that the logs know least:\n"), "{without}");
}

#[test]
fn buckets_are_shown_with_what_fell_into_them() {
    let scratch = Scratch::new();
    scratch
        .write("e.vw", "shared | tall\n0:-1:0.5 | red\n | blue\n\nshared | short\n | red\n0:0:0.5 | blue\n");
    scratch.prints("summarize e.vw --buckets 256 -o e.tn");
    let printed = scratch.prints("audit e.tn");
    assert!(printed.contains("\n#005 (red) "), "{printed}");
    assert_snapshot!(scratch.says("audit e.tn --pilot e.vw --round x"), @"truenorth: e.vw: `--round` needs a table, but the logs are events");
}

#[test]
fn help_shows_an_example() {
    let help = Scratch::new().prints("audit --help");
    assert!(
        help.contains("truenorth audit demo/logs.tn --pilot demo/live.csv --out report.html\n"),
        "{help}"
    );
}

/// The audit of one of the shared sets.
fn real(set: &str, reward: &str) -> Option<Value> {
    let (data, scratch) = (shared_data()?.join(set), Scratch::new());
    let [logs, live] = ["offline.csv.gz", "online.csv.gz"].map(|file| data.join(file).display().to_string());
    scratch.prints(&format!("summarize {logs} --features f_* --reward {reward} -o logs.tn"));
    Some(scratch.json(&format!("audit logs.tn --pilot {live}")))
}

fn sentence(audit: &Value) -> &str {
    audit["verdict"]["sentence"].as_str().unwrap()
}

#[test]
fn of_the_bikes_the_hours_have_drifted() {
    let Some(audit) = real("bike-weekday", "reward") else { return };
    assert_eq!(audit["verdict"]["use"], "some");
    let drifted = "f_hsin1 f_hcos1 f_hsin2 f_hcos2 f_hsin3 f_hcos3";
    assert_eq!(which(&audit, "drifted"), drifted);
    let sentence = sentence(&audit);
    // Three of the six, those that matter most.
    assert!(sentence.contains("(f_hcos2, f_hsin2, f_hcos3 and 3 more); 9 still hold"), "{sentence}");
}

#[test]
fn of_the_wine_three_features_have_drifted() {
    let Some(audit) = real("wine-quality", "reward") else { return };
    assert_eq!(audit["verdict"]["use"], "some");
    assert_eq!(which(&audit, "drifted"), "f_volatile_acidity f_free_so2 f_sulphates");
    assert!(sentence(&audit).contains("(f_volatile_acidity, f_free_so2, f_sulphates)"));
}

#[test]
fn of_the_headlines_the_level_has_drifted_and_the_comparison_has_not() {
    let Some(audit) = real("upworthy", "reward_rel") else { return };
    assert_eq!((&audit["verdict"]["use"], which(&audit, "drifted").as_str()), (&Value::from("unclear"), ""));
    let Some(audit) = real("upworthy", "reward") else { return };
    assert_eq!(audit["verdict"]["use"], "some");
    assert!(sentence(&audit).contains("(f_bias"), "{}", sentence(&audit));
}

#[test]
fn a_table_whose_rounds_are_not_found_is_spoken_of() {
    let scratch = filled();
    let live = fs::read_to_string(scratch.path("live.csv")).unwrap();
    let (header, rows) = live.split_once('\n').unwrap();
    scratch.write("rnd.csv", format!("{}\n{rows}", header.replace("round", "rnd")));
    let said = |call: &str| scratch.prints_and_says(call).1;
    assert_eq!(
        said("audit logs.tn --pilot rnd.csv"),
        "truenorth: rnd.csv: no column of rounds (`--round NAME`): rows count as independent, and the cost is that of choosing \
         among 5 rows at random\n"
    );
    assert!(said("audit logs.tn --pilot rnd.csv --actions 3").contains("among 3 rows at random"));
    assert_eq!(said("audit logs.tn --pilot rnd.csv --round rnd"), "");
    assert_eq!(said("audit logs.tn --pilot live.csv"), "");
}

#[test]
fn a_cost_is_measured_where_there_are_rounds() {
    let scratch = filled();
    let cost = &scratch.json("audit logs.tn --pilot live.csv")["cost"];
    let measured = &cost["measured"];
    assert_has(measured, "estimate stderr interval advantage advantage_stderr rounds contradicts");
    assert!(measured["contradicts"] == false && measured["rounds"] == 50, "{measured}");
    let apart = measured["estimate"].as_f64().unwrap() - cost["estimate"].as_f64().unwrap();
    assert!(apart.abs() < 0.1, "{cost}");
    scratch.prints("summarize live.csv --features x,y,z --reward reward -o live.tn");
    assert!(scratch.json("audit logs.tn --pilot live.tn")["cost"].is_null());
}

#[test]
fn logs_of_one_reward_are_answered_in_a_sentence() {
    let scratch = Scratch::new();
    let rows: String = ["1,2,0\n", "3,1,0\n", "2,5,0\n"].concat().repeat(20);
    scratch.write("logs.csv", format!("x,y,reward\n{rows}"));
    let (_, said) = scratch.prints_and_says("summarize logs.csv --features x,y --reward reward -o logs.tn");
    assert_eq!(said, "truenorth: all 60 rows have the reward 0: they cannot tell one action from another\n");
    let printed = scratch.prints("audit logs.tn");
    assert!(
        printed.starts_with(
            "Use none of the logs: all 60 rewards are 0, so these logs cannot tell one action from another.\n"
        ),
        "{printed}"
    );
    assert!(
        !printed.contains("orth in live rounds") && !printed.contains("live rounds to a policy"),
        "{printed}"
    );
}
