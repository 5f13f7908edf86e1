//! Instructions of a round, which do not depend on the machine's load: no change makes them more without saying so.
//!
//! The example `rounds` runs under callgrind, twice: what the second run has more is what its further rounds took.
//! Valgrind knows vectors up to AVX2. After a change that is meant to cost or to spare something, write the counts
//! that the failure shows into `instructions.csv`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// How much more than last time is still the same: the C library differs from machine to machine.
const TOLERANCE: f64 = 0.03;

/// The example as it would be shipped: with link-time optimisation, which the tests are built without.
fn example() -> Option<PathBuf> {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--profile", "dist", "--package", "truenorth", "--example", "rounds"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    let test = std::env::current_exe().ok()?;
    let rounds = test.parent()?.parent()?.parent()?.join("dist/examples/rounds");
    built.is_ok_and(|status| status.success()).then_some(rounds).filter(|rounds| rounds.exists())
}

fn instructions(example: &Path, preset: &str, rounds: u64, dimension: &str, actions: &str) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(example)
        .args([preset, &rounds.to_string(), dimension, actions])
        .output()
        .expect("valgrind runs");
    let report = String::from_utf8_lossy(&output.stderr);
    let collected = report.lines().find_map(|line| line.split_once("Collected : ")).expect("a report");
    collected.1.trim().parse().expect("a number")
}

#[test]
fn a_round_takes_no_more_instructions_than_it_did() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("skipped: there is no valgrind");
        return;
    }
    let Some(example) = example() else {
        eprintln!("skipped: the example `rounds` cannot be built");
        return;
    };
    let (mut found, mut more) = (Vec::new(), false);
    for line in include_str!("instructions.csv").lines() {
        let [preset, dimension, actions, expected] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("four columns: {line}")
        };
        let Ok(expected) = expected.parse::<f64>() else { continue };
        // From round 100 to 300, with the certificate's fits that fall in between.
        let [first, both] =
            [100, 300].map(|rounds| instructions(&example, preset, rounds, dimension, actions));
        let each = (both - first) as f64 / 200.0;
        found.push(format!("{preset},{dimension},{actions},{each:.0}"));
        more |= each > expected * (1.0 + TOLERANCE);
    }
    assert!(!more, "a round takes more instructions than before; now they are\n{}", found.join("\n"));
}
