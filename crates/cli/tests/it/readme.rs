//! The README as a newcomer walks it: its blocks one after another, and what it says that they print. Those in Python are run by
//! `python/tests/test_readme.py`.

use std::path::Path;
use std::process::Command;

use crate::support::{Scratch, text};

/// The Rust of the README, which is the same text.
mod rust {
    include!("readme/block.rs");

    #[test]
    fn runs() {
        main().unwrap();
    }
}

/// Commands that only install what this test has been built with.
const INSTALLS: [&str; 2] = ["cargo install ", "pip install "];

fn readme() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap()
}

/// The blocks of a page: language and text.
fn blocks(page: &str) -> Vec<(&str, &str)> {
    let fenced = page.split("\n```").skip(1).step_by(2);
    fenced.map(|block| block.split_once('\n').unwrap()).collect()
}

/// Whether this is what the page shows of it, in which `...` stands for what is left out.
fn shows(printed: &str, shown: &str) -> bool {
    let mut rest = printed;
    shown.split("...").all(|piece| match rest.split_once(piece) {
        Some((_, behind)) => {
            rest = behind;
            true
        }
        None => false,
    })
}

#[test]
fn every_block_of_the_readme_runs_and_prints_what_it_says() {
    let (page, folder) = (readme(), Scratch::new());
    let binary = Path::new(env!("CARGO_BIN_EXE_truenorth")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let blocks = blocks(&page);
    let mut ran = 0;
    for (place, (language, block)) in blocks.iter().enumerate() {
        let output = match *language {
            "sh" => {
                let (left_out, lines): (Vec<&str>, Vec<&str>) =
                    block.lines().partition(|line| INSTALLS.iter().any(|install| line.starts_with(install)));
                for line in left_out {
                    println!("not run: {line}");
                }
                let mut shell = Command::new("sh");
                shell.args(["-euc", &lines.join("\n")]).current_dir(folder.path(".")).env("PATH", &path);
                shell.output().unwrap()
            }
            "rust" => {
                assert_eq!(format!("{block}\n"), include_str!("readme/block.rs"));
                let mut rust = Command::new(std::env::current_exe().unwrap());
                rust.args(["--exact", "readme::rust::runs", "--nocapture"]).output().unwrap()
            }
            "python" => {
                println!("run by python/tests/test_readme.py:\n{block}");
                continue;
            }
            "text" => continue,
            other => panic!("nothing runs a block of `{other}`"),
        };
        let printed = text(&output.stdout);
        assert!(output.status.success(), "{block}\n{printed}{}", text(&output.stderr));
        if let Some(("text", shown)) = blocks.get(place + 1) {
            assert!(shows(printed, shown), "{block}\n\nprints\n{printed}\nand not\n{shown}");
        }
        ran += 1;
    }
    // The tour, logs, a decision, Rust, the installation of Python.
    assert!(ran >= 5, "{blocks:?}");
    for file in ["logs.csv", "live.csv", "index.html", "audit.html", "bandit.tn"] {
        assert!(folder.path("demo").join(file).exists(), "{file}");
    }
}

#[test]
fn what_is_shown_is_compared_but_for_what_is_left_out() {
    assert!(shows("a b\nc\nd\n", "a ...\nd"));
    assert!(!shows("a b\nc\nd\n", "a ...\ne") && !shows("a\nb", "b\n...\na"));
    assert_eq!(blocks("x\n```sh\ny\n```\nz\n```text\n1\n2\n```\n"), [("sh", "y"), ("text", "1\n2")]);
}
