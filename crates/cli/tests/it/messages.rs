//! One clear sentence for each bad input: the file, the line and the value; exit code 2.

use std::fs;
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;

use crate::support::{Problem, Scratch, text, truenorth};

fn says(test: &str, file: &str, from: &str, to: &str) -> String {
    let problem = Problem::copy(test);
    problem.replace(file, from, to);
    let (code, message) = problem.replay();
    assert_eq!(code, 2, "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

#[test]
fn help_shows_an_example() {
    let output = truenorth(&["replay", "--help"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("truenorth replay --problem crates/cli/tests/golden/suplinucb"));
}

#[test]
fn examples_of_every_help_are_whole_lines_to_copy() {
    let help = truenorth(&["--help"]);
    let commands = text(&help.stdout).split("Commands:\n").nth(1).unwrap().lines();
    let commands = commands.map_while(|line| line.strip_prefix("  "));
    // Long descriptions go on in lines of their own.
    let commands: Vec<&str> =
        commands.filter_map(|line| line.split(' ').next()).filter(|it| !it.is_empty()).collect();
    assert!(commands.contains(&"summarize"), "{commands:?}");
    for command in commands.iter().filter(|command| **command != "help") {
        let help = truenorth(&[command, "--help"]);
        let examples = text(&help.stdout).split("\nExample").nth(1).unwrap_or_else(|| panic!("{command}"));
        let examples: Vec<&str> =
            examples.lines().skip(1).map_while(|line| line.strip_prefix("  ")).collect();
        let whole = |line: &&str| line.starts_with("truenorth ") || line.starts_with("echo ");
        assert!(!examples.is_empty() && examples.iter().all(whole), "{command}: {examples:#?}");
    }
}

#[test]
fn help_says_where_formulas_are_explained_and_which_paper_is_meant() {
    for command in ["summarize", "decide", "serve", "evaluate", "monitor", "encode", "compare"] {
        assert!(text(&truenorth(&[command, "--help"]).stdout).contains("docs/models.md"), "{command}");
    }
    for command in ["reproduce", "bounds"] {
        let help = truenorth(&[command, "--help"]);
        assert!(text(&help.stdout).contains("The paper is \"Direction-Aware Offline-to-Online"), "{command}");
    }
}

#[test]
fn help_says_where_the_names_of_policies_are() {
    for command in ["decide", "evaluate"] {
        let help = truenorth(&[command, "--help"]);
        assert!(text(&help.stdout).contains("`truenorth help compare`"), "{command}");
    }
}

#[test]
fn a_file_that_is_not_what_it_is_named_for_is_told_so() {
    let scratch = Scratch::new();
    let rows: Vec<String> = (0..40).map(|row| format!("{row},{},{}\n", row % 4, row % 2)).collect();
    scratch.write("logs.csv", format!("round,x,reward\n{}", rows.concat()));
    scratch.write("empty.toml", " \n");
    scratch.write("comments.toml", "# runs = 3\n\n  # nothing else\n");
    scratch.prints("summarize logs.csv --features x --reward reward -o logs.tn");
    let folder = "logs.csv: this is a file; a folder is needed";
    let certificate = "this is no certificate; `truenorth audit --out` writes one";
    let columns = "--features x --reward reward --round round";
    for (call, sentence) in [
        ("simulate empty.toml".to_owned(), "empty.toml: the file is empty".to_owned()),
        ("simulate comments.toml".to_owned(), "comments.toml: there are comments, but no keys".to_owned()),
        (
            format!("compare --offline nope.tn --online logs.csv {columns}"),
            "nope.tn: No such file or directory (os error 2)".to_owned(),
        ),
        (
            "decide logs.tn --policy pooled-only --certificate logs.tn".to_owned(),
            format!("logs.tn: {certificate}"),
        ),
        ("bounds summary logs.tn --certificate logs.csv".to_owned(), format!("logs.csv: {certificate}")),
        ("decide logs.tn --state logs.csv".to_owned(), "logs.csv: this is no bandit's state".to_owned()),
        (format!("compare --online logs.csv {columns} --out logs.csv"), folder.to_owned()),
        ("audit logs.tn --out x.pdf".to_owned(), "x.pdf: the report is a page, an .html".to_owned()),
        ("demo --out logs.csv".to_owned(), folder.to_owned()),
        ("reproduce main --out logs.csv/deeper".to_owned(), folder.to_owned()),
    ] {
        let said = scratch.run(&call);
        let last = text(&said.stderr).lines().last().unwrap_or_default().to_owned();
        assert_eq!((said.status.code(), last), (Some(2), format!("truenorth: {sentence}")), "{call}");
    }
}

#[test]
fn a_folder_in_the_place_of_a_file_is_called_one() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("demo")).unwrap();
    for call in [
        "audit demo",
        "decide demo",
        "encode demo",
        "compare --offline demo/x.csv --online demo --reward r --round q",
    ] {
        let said = scratch.says(call);
        assert!(!said.contains("os error 21"), "{call}: {said}");
    }
    assert_snapshot!(scratch.says("audit demo"), @"truenorth: demo: this is a folder, but a file is wanted");
}

#[test]
fn examples_with_the_tour_s_files_run_as_they_stand() {
    let folder = Scratch::new();
    assert!(folder.run("demo").status.success());
    let binary = Path::new(env!("CARGO_BIN_EXE_truenorth")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut run = 0;
    for command in ["summarize", "audit", "decide", "evaluate", "monitor", "encode", "compare", "bounds"] {
        let help = truenorth(&[command, "--help"]);
        let lines = text(&help.stdout).lines().filter_map(|line| line.strip_prefix("  "));
        for line in lines.filter(|line| line.contains(" demo/")) {
            let mut shell = Command::new("bash");
            shell.args(["-euc", line]).env("PATH", &path).current_dir(folder.path("."));
            let ran = shell.output().unwrap();
            let printed = text(&ran.stdout);
            let fine = ran.status.success() && !printed.is_empty() && !printed.contains("\"error\"");
            assert!(fine, "{line}\n{printed}{}", text(&ran.stderr));
            run += 1;
        }
    }
    assert_eq!(run, 11);
}

#[test]
fn missing_arguments_are_a_wrong_call() {
    assert_eq!(truenorth(&[]).status.code(), Some(2));
    assert_eq!(truenorth(&["replay"]).status.code(), Some(2));
    assert_eq!(truenorth(&["reply"]).status.code(), Some(2));
}

#[test]
fn values_of_options_that_are_wrong_are_named_in_one_sentence() {
    let scratch = Scratch::new();
    scratch.write("logs.csv", "x,reward\n1,0\n2,1\n3,0\n4,1\n");
    scratch.prints("summarize logs.csv --features x --reward reward -o logs.tn");
    let decide = |more: &str| scratch.says(&format!("decide logs.tn {more}"));
    assert_snapshot!(decide("--delta -1"), @"truenorth: `--delta` must be strictly between 0 and 1, but is -1");
    assert_snapshot!(decide("--delta much"), @r#"truenorth: `--delta`: "much" is not a number"#);
    assert_snapshot!(decide("--seed -1"), @r#"truenorth: `--seed`: "-1" is not a whole number from 0 on"#);
    assert_snapshot!(decide("--horizon 2.5"), @r#"truenorth: `--horizon`: "2.5" is not a whole number from 0 on"#);
    assert_snapshot!(decide("--seed 99999999999999999999"), @"truenorth: `--seed`: 99999999999999999999 is too large");
    assert_snapshot!(decide("--state s.tn --every 0"), @"truenorth: `--every`: 0 is below 1");
    assert_snapshot!(decide("--drift -1 --policy pooled-only"), @"truenorth: `--drift` must be at least 0 and at most 1e50, but is -1");
    assert_snapshot!(decide("--policy pooled-only"), @r#"truenorth: policy "pooled-only" has to be told how far the logs may have drifted: give `--drift` or `--certificate`"#);
    assert_snapshot!(decide("--policy suplinucb"), @"truenorth: `--horizon` is needed by layered policies");
    assert_snapshot!(decide("--noise 0"), @"truenorth: `--noise` must be above 0, but is 0");
    assert_snapshot!(decide("--open 0"), @"truenorth: `--open` must be at least 1, but is 0");
    assert_snapshot!(scratch.says("decide --learn logs.csv logs.tn"), @"truenorth: logs.tn is a summary, and no rows to learn: put it before `--learn`");
    assert_snapshot!(scratch.says("decide --model x --policy offline-only"), @r#"truenorth: policy "offline-only" plays by logs: name a summary of them"#);
    assert_snapshot!(scratch.says("decide --state logs.tn"), @"truenorth: logs.tn: this is a summary of logs, not a bandit's state");
    assert_snapshot!(scratch.prints_and_says("decide --model x --drift 1").1, @"truenorth: `--drift` is not used: there are no logs");
    scratch.prints("decide logs.tn --state bandit.tn");
    assert_snapshot!(scratch.says("audit bandit.tn"), @"truenorth: bandit.tn: this is a bandit's state, not a summary of logs");
    scratch.write("others.csv", "x,reward\n1,0\n2,1\n");
    scratch.prints("summarize others.csv --features x --reward reward -o others.tn");
    assert_snapshot!(scratch.prints_and_says("decide others.tn --state bandit.tn").1, @"
    truenorth: others.tn is newer than bandit.tn, but is not read again; `--add others.tn` adds it to the logs of bandit.tn
    truenorth: goes on from bandit.tn: 0 decisions, 0 rewards, 0 open
    ");
    // The state was written again, and is the newer one now.
    assert_snapshot!(scratch.prints_and_says("decide others.tn --state bandit.tn").1, @"
    truenorth: others.tn is not read: bandit.tn goes on with the logs that it has
    truenorth: goes on from bandit.tn: 0 decisions, 0 rewards, 0 open
    ");
    assert_eq!(scratch.run("encode logs.tn --format csv").status.code(), Some(2));
    scratch.write("live.csv", "x,reward,round\n1,0,1\n2,1,1\n");
    assert_snapshot!(
        scratch.prints_and_says("compare --online live.csv --features x --reward reward --round round --policies oful --seeds 1 --drift 1").1.lines().next().unwrap(),
        @"truenorth: `--drift` is not used: none of the policies is told it"
    );
    scratch.write("events.jsonl", "{\"actions\":[{\"id\":\"a\",\"x\":1}],\"action\":\"a\",\"reward\":1}\n{\"actions\":[{\"id\":\"a\",\"x\":2}],\"action\":\"a\",\"reward\":0}\n");
    scratch.prints("summarize events.jsonl --model x --format events -o events.tn");
    assert_snapshot!(scratch.says("audit events.tn --pilot logs.csv"), @"truenorth: logs.csv: this is a table, but the logs were events: bring events, or a summary of tables");
    assert_snapshot!(scratch.says("demo --live --listen 0.0.0.0:8700"), @"truenorth: `--listen` 0.0.0.0:8700: the demo listens on this machine only, as at 127.0.0.1:8700");
    let lower = "bounds lower --horizon 100 --counts 5,5 --budgets -0.1,0.1";
    assert_snapshot!(scratch.says(lower), @"truenorth: `--budgets` must be at least 0 and at most 1e50, but is -0.1");
    assert_snapshot!(scratch.says("bounds lower --horizon 100 --counts -5,5 --budgets 1,1"), @r#"truenorth: `--counts`: "-5" is not a whole number from 0 on"#);
}

#[test]
fn where_there_is_a_choice_what_may_be_given_is_said() {
    let scratch = Scratch::new();
    scratch.write("live.csv", "x,reward\n1,0\n");
    assert_snapshot!(scratch.says("decide"), @"truenorth: `decide` needs one of these: a summary of logs, `--model FORMULA` to start without logs, or `--state FILE` to go on with a bandit");
    assert_snapshot!(scratch.says("monitor live.csv"), @"truenorth: `monitor` needs to know the features: `--summary SUMMARY` of the logs, or `--model FORMULA` of a bandit without logs");
    assert_snapshot!(scratch.says("decide --model x --policy pooled-only --drift 1"), @r#"truenorth: policy "pooled-only" plays by logs: name a summary of them"#);
    assert_snapshot!(scratch.says("evaluate live.csv --policy pooled-only"), @"truenorth: `--policy`: pooled-only has to be told how far the logs may have drifted, which cannot be done here; name another policy");
}

#[test]
fn missing_folder_is_named() {
    let output = truenorth(&["replay", "--problem", "no/such/folder"]);
    assert_eq!(output.status.code(), Some(2));
    assert_snapshot!(text(&output.stderr), @"truenorth: no/such/folder/problem.json: No such file or directory (os error 2)");
}

#[test]
fn switches_that_do_not_exist_are_named_with_their_place() {
    assert_snapshot!(says("layering", "problem.json", "\"layered\"", "\"leyered\""),
        @"truenorth: DIR/problem.json, line 8, column 22: unknown variant `leyered`, expected `layered` or `flat`");
    assert_snapshot!(says("missing", "problem.json", "\"noise\"", "\"nose\""),
        @"truenorth: DIR/problem.json, line 52, column 1: missing field `noise`");
    assert_snapshot!(says("comma", "problem.json", "\"noise\": 0.1,", "\"noise\": 0.1"),
        @r#"truenorth: DIR/problem.json, line 4, column 2: expected `,` or `}`"#);
    assert_snapshot!(says("kind", "problem.json", "\"fixed\"", "\"fixd\""),
        @"truenorth: DIR/problem.json, line 12, column 16: unknown variant `fixd`, expected one of `fixed`, `learned`, `adaptive`");
}

#[test]
fn parameters_out_of_range_are_named_with_their_value() {
    assert_snapshot!(says("delta", "problem.json", "\"delta\": 0.01", "\"delta\": 1.5"),
        @"truenorth: DIR/problem.json: `delta` must be strictly between 0 and 1, but is 1.5");
    assert_snapshot!(says("rho", "problem.json", "\"rho\": 1", "\"rho\": -1"),
        @"truenorth: DIR/problem.json: `rho` must be at least 0 and at most 1e50, but is -1.4142135623730951");
    assert_snapshot!(says("matrix", "problem.json", "520.9999999999982", "-520.5"),
        @"truenorth: DIR/problem.json: the certificate's matrix must be positive definite, but its smallest eigenvalue is -520.5");
}

#[test]
fn logs_that_are_not_numbers_are_named_with_their_line() {
    assert_snapshot!(says("word", "offline.csv", "0.183209", "high"),
        @r#"truenorth: DIR/offline.csv, line 2: column `x2` holds "high", not a number"#);
    assert_snapshot!(says("nan", "offline.csv", "0.183209", "nan"),
        @"truenorth: DIR/offline.csv, line 2: column `x2` holds nan, but numbers must be finite and at most 1e50 in size");
    assert_snapshot!(says("short", "offline.csv", "0.183209,", ""),
        @"truenorth: DIR/offline.csv, line 2: there are 5 fields, but the header has 6");
    assert_snapshot!(says("reward", "offline.csv", ",reward", ",paid"),
        @"truenorth: DIR/offline.csv: there is no column named `reward`; the columns are `x1`, `x2`, `x3`, `x4`, `x5`, `paid`");
}

#[test]
fn rounds_that_do_not_fit_are_named_with_their_line() {
    assert_snapshot!(says("features", "rounds.jsonl", "[0.060766, ", "["),
        @"truenorth: DIR/rounds.jsonl, line 1: action 0 has 4 features, but the logs have 5");
    assert_snapshot!(says("rewards", "rounds.jsonl", "\"rewards\": [", "\"rewards\": [0.5, "),
        @"truenorth: DIR/rounds.jsonl, line 1: there are 5 actions, but 6 rewards");
    assert_snapshot!(says("json", "rounds.jsonl", "\"rewards\"", "rewards"),
        @"truenorth: DIR/rounds.jsonl, line 1, column 286: key must be a string");
    assert_snapshot!(says("huge", "rounds.jsonl", "0.060766", "1e300"),
        @"truenorth: DIR/rounds.jsonl, line 1: feature 0 of action 0 must be finite and at most 1e50 in size, but is 1e300");
}

#[test]
fn what_was_played_before_a_bad_line_is_printed() {
    let problem = Problem::copy("partial");
    let path = problem.folder.join("rounds.jsonl");
    let lines: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    fs::write(&path, format!("{}\n{}\n{{}}\n", lines[0], lines[1])).unwrap();
    let output = truenorth(&["replay", "--problem", problem.folder.to_str().unwrap()]);
    assert_eq!((output.status.code(), text(&output.stdout).lines().count()), (Some(2), 2));
    assert!(text(&output.stderr).contains("rounds.jsonl, line 3"));
}

#[test]
fn a_reward_that_never_came_is_null() {
    let problem = Problem::copy("null");
    let round = r#"{"actions": [[0.1, 0.2, 0.3, 0.4, 0.5]], "rewards": [null]}"#;
    fs::write(problem.folder.join("rounds.jsonl"), format!("{round}\n")).unwrap();
    let output = truenorth(&["replay", "--problem", problem.folder.to_str().unwrap()]);
    assert!(output.status.success() && text(&output.stdout).contains("\"reward\":null"));
}
