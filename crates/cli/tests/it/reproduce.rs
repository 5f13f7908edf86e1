//! `truenorth reproduce`: same bytes at any thread count, resumable, and clear about bad calls.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{text, truenorth};

/// A folder of its own for each test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("truenorth-reproduce-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    fn text(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// The file that keeps finished runs.
    fn journal(&self) -> Option<PathBuf> {
        let mut paths = fs::read_dir(&self.0).ok()?.map(|entry| entry.unwrap().path());
        paths.find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("unfinished-"))
    }

    /// results.json without its times.
    fn results(&self) -> Value {
        let mut results: Value =
            serde_json::from_slice(&fs::read(self.0.join("results.json")).unwrap()).unwrap();
        remove_seconds(&mut results);
        results
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn remove_seconds(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("seconds");
            map.values_mut().for_each(remove_seconds);
        }
        Value::Array(list) => list.iter_mut().for_each(remove_seconds),
        _ => {}
    }
}

fn reproduce(folder: &Folder, arguments: &[&str]) -> std::process::Output {
    truenorth(&[&["reproduce"], arguments, &["--out", folder.text()]].concat())
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (one, two) = (Folder::new("one"), Folder::new("two"));
    for (folder, threads) in [(&one, "1"), (&two, "2")] {
        let output = reproduce(folder, &["main", "--runs", "5", "--horizon", "300", "--threads", threads]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    assert_eq!(one.results(), two.results());
    for name in ["main.svg", "main.png"] {
        assert_eq!(fs::read(one.0.join(name)).unwrap(), fs::read(two.0.join(name)).unwrap(), "{name}");
    }
}

#[test]
fn an_interrupted_experiment_goes_on_where_it_stopped() {
    let arguments = ["bias", "--runs", "12", "--horizon", "3000", "--threads", "1"];
    let (interrupted, whole) = (Folder::new("interrupted"), Folder::new("whole"));
    let child = Command::new(env!("CARGO_BIN_EXE_truenorth"))
        .args([&["reproduce"], &arguments[..], &["--out", interrupted.text()]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let grown =
        || interrupted.journal().is_some_and(|path| fs::metadata(path).is_ok_and(|file| file.len() > 60_000));
    while !grown() && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("interrupted after") && message.contains("the same command goes on"),
        "{message}"
    );
    assert!(!interrupted.0.join("results.json").exists());
    let journal = interrupted.journal().unwrap();

    // A crash may leave half a run behind: it is played again.
    let mut content = fs::read(&journal).unwrap();
    content.truncate(content.len() - 100);
    fs::write(&journal, content).unwrap();
    let output = reproduce(&interrupted, &arguments);
    assert!(output.status.success() && text(&output.stderr).contains("finished runs found"));
    assert!(!journal.exists());
    assert!(reproduce(&whole, &arguments).status.success());
    assert_eq!(interrupted.results(), whole.results());
}

#[test]
fn unfinished_runs_of_another_experiment_are_left_alone() {
    let folder = Folder::new("mixed");
    fs::create_dir_all(&folder.0).unwrap();
    let other = folder.0.join("unfinished-00000000.bin");
    fs::write(&other, b"something else").unwrap();
    assert!(reproduce(&folder, &["main", "--runs", "2", "--horizon", "50"]).status.success());
    assert_eq!(fs::read(other).unwrap(), b"something else");
}

#[test]
fn results_have_the_promised_shape() {
    let folder = Folder::new("shape");
    let output = reproduce(&folder, &["all", "--runs", "2", "--horizon", "40", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    remove_seconds(&mut printed);
    assert_eq!(printed, folder.results());
    let names = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&printed["figures"]), ["main", "bias", "ablation", "coverage"]);
    let panels: Vec<String> =
        printed["figures"].as_array().unwrap().iter().flat_map(|figure| names(&figure["panels"])).collect();
    assert_eq!(
        panels.join(" "),
        "s=1.1 s=2 s=10 c=0 c=0.2 c=0.4 c=0.6 c=0.8 theta1=0 theta1=1 theta1=2 theta1=3 theta1=4 w=1 w=0.5 w=0.1 w=0.05 w=0.01"
    );
    let policy = &printed["figures"][0]["panels"][0]["policies"][0];
    let keys: Vec<&str> = policy.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys.join(" "), "conflicts final_regret mean name p10 p90 pooled_share rounds");
    assert_eq!(policy["rounds"].as_array().unwrap().len(), 40);
}

#[test]
fn a_certificate_from_the_call_is_told_to_all_but_the_papers_learner() {
    let folder = Folder::new("told");
    let final_regret = |told: &[&str]| {
        let names =
            ["--policies", "truenorth-confidence,truenorth,ellipsoidal-minucb,ellipsoidal-minucb-3d,oful"];
        // The panel c=0.8 has drift, and so something to tell.
        let call = [&["bias", "--runs", "2", "--horizon", "300"][..], &names, told].concat();
        let output = reproduce(&folder, &call);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let policies = folder.results()["figures"][0]["panels"][4]["policies"].clone();
        policies.as_array().unwrap().iter().map(|policy| policy["final_regret"].clone()).collect::<Vec<_>>()
    };
    let (own, isotropic) = (final_regret(&[]), final_regret(&["--certificate", "isotropic"]));
    let coordinate = final_regret(&["--certificate", "coordinate"]);
    let changed = |a: &[Value], b: &[Value]| a.iter().zip(b).map(|(a, b)| a != b).collect::<Vec<_>>();
    // Ours learn unless they are told; Algorithm 1 is told each coordinate's drift unless it is told less.
    assert_eq!(changed(&own, &isotropic), [true, true, true, false, false]);
    assert_eq!(changed(&own, &coordinate), [true, true, false, false, false]);
    assert_eq!(changed(&isotropic, &coordinate), [true, true, true, false, false]);
}

#[test]
fn studies_beyond_the_paper_are_played_by_their_names() {
    let folder = Folder::new("beyond");
    let expected = [
        (
            "misleading",
            "aligned best-looks-bad bad-looks-best both \
             noisy-aligned noisy-best-looks-bad noisy-bad-looks-best noisy-both",
        ),
        ("shifting", "no-drift early-drift late-drift turning-no-drift turning-drift"),
        ("wide", "no-drift three-drifted all-drifted"),
    ];
    for (study, panels) in expected {
        let output = reproduce(&folder, &[study, "--runs", "2", "--horizon", "20"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let figure = &folder.results()["figures"][0];
        assert_eq!(figure["name"], study);
        let found = figure["panels"].as_array().unwrap().iter().map(|panel| panel["name"].as_str().unwrap());
        assert_eq!(found.collect::<Vec<_>>().join(" "), panels);
        assert!(["svg", "png"].iter().all(|ending| folder.0.join(format!("{study}.{ending}")).exists()));
    }
    let none = reproduce(&folder, &["shifting", "--horizon", "0"]);
    assert_eq!(text(&none.stderr), "truenorth: `--horizon` must be at least 1, but is 0\n");
}

#[test]
fn runs_of_an_experiment_file_can_be_changed_by_a_flag() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/thin-coverage.toml");
    let folder = Folder::new("runs");
    let simulate =
        |runs: &str| truenorth(&["simulate", file.to_str().unwrap(), "--runs", runs, "--out", folder.text()]);
    assert!(simulate("2").status.success());
    assert_eq!(folder.results()["figures"][0]["panels"][0]["runs"], 2);
    let none = simulate("0");
    assert_eq!(
        (none.status.code(), text(&none.stderr)),
        (Some(2), "truenorth: `--runs` must be at least 1, but is 0\n")
    );
}

#[test]
fn a_horizon_of_one_is_an_experiment_too() {
    let folder = Folder::new("one-round");
    let output = reproduce(&folder, &["main", "--runs", "1", "--horizon", "1"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn bad_calls_are_answered_with_a_sentence_and_leave_nothing_behind() {
    let folder = Folder::new("bad");
    let unknown = reproduce(&folder, &["mian"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("invalid value 'mian'"), "{}", text(&unknown.stderr));
    let policy = reproduce(&folder, &["main", "--policies", "suplinucb,linucb"]);
    assert_eq!(policy.status.code(), Some(2));
    assert!(text(&policy.stderr).contains("there is no policy named \"linucb\""), "{}", text(&policy.stderr));
    for (arguments, number) in [(["--runs", "0"], "runs"), (["--horizon", "0"], "horizon")] {
        let output = reproduce(&folder, &[&["main"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(text(&output.stderr), format!("truenorth: `--{number}` must be at least 1, but is 0\n"));
    }
    assert!(!folder.0.exists());
}

#[test]
fn folders_that_cannot_be_written_are_named_before_the_work_starts() {
    let output = truenorth(&["reproduce", "main", "--out", "/dev/null/results"]);
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(text(&output.stderr), @"truenorth: cannot write /dev/null/results: Not a directory (os error 20)");
}

#[test]
fn a_full_disk_leaves_no_partial_file() {
    if !Path::new("/dev/full").exists() {
        println!("skipped: there is no /dev/full");
        return;
    }
    let folder = Folder::new("full");
    fs::create_dir_all(&folder.0).unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.0.join("results.json.part")).unwrap();
    let output = reproduce(&folder, &["main", "--runs", "1", "--horizon", "20"]);
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr).replace(folder.text(), "DIR");
    assert_snapshot!(message.lines().last().unwrap(), @"truenorth: cannot write DIR/results.json: No space left on device (os error 28)");
    assert!(!folder.0.join("results.json").exists());
}
