//! Every recorded problem gives the recorded decisions: exactly, and bounds to 1e-8.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{golden_folder, text, truenorth};

fn check_problem(folder: &Path) {
    let name = folder.display();
    let output = truenorth(&["replay", "--problem", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{name}: {}", text(&output.stderr));
    let expected = fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    let (found, expected): (Vec<_>, Vec<_>) =
        (text(&output.stdout).lines().collect(), expected.lines().collect());
    assert_eq!(found.len(), expected.len(), "{name}");
    for (found, expected) in found.into_iter().zip(expected) {
        let parse = |line: &str| -> serde_json::Map<String, Value> { serde_json::from_str(line).unwrap() };
        let (found, expected) = (parse(found), parse(expected));
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{name}");
        for (key, value) in &expected {
            let place = format!("{name}, round {}: {key}", expected["round"]);
            if matches!(key.as_str(), "ucb" | "lcb") {
                let (found, expected) = (found[key].as_f64().unwrap(), value.as_f64().unwrap());
                assert!(
                    (found - expected).abs() <= 1e-8 * expected.abs(),
                    "{place}: {found}, not {expected}"
                );
            } else {
                assert_eq!(&found[key], value, "{place}");
            }
        }
    }
}

fn check_folder(folder: &Path) -> usize {
    let entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    for problem in &entries {
        check_problem(problem);
    }
    entries.len()
}

#[test]
fn recorded_problems_are_decided_as_recorded() {
    assert!(check_folder(&golden_folder()) >= 36);
}

#[test]
fn recorded_problems_beside_the_project_are_decided_as_recorded() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden");
    if shared.is_dir() {
        assert!(check_folder(&shared) > 0);
    } else {
        println!("skipped: there is no folder {}", shared.display());
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = golden_folder().join("flat-full");
    let command =
        format!("'{}' replay --problem '{}' | head -n 1", env!("CARGO_BIN_EXE_truenorth"), folder.display());
    let output =
        std::process::Command::new("bash").args(["-o", "pipefail", "-c", &command]).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    assert_eq!(text(&output.stdout).lines().count(), 1);
}
