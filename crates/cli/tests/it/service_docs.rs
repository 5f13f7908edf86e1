//! What the documentation of the service tells people to type, typed.

use std::process::Command;

use serde_json::Value;

use crate::served::Service;
use crate::support::{Scratch, text};

/// The blocks of a page that a shell is to run, those that are marked with a word behind `sh`.
fn blocks(page: &str, mark: &str) -> Vec<String> {
    let start = format!("```sh {mark}\n");
    page.split(&start).skip(1).map(|rest| rest.split("\n```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_curl_examples_work_as_they_are_written() {
    if Command::new("curl").arg("--version").output().is_err() {
        println!("skipped: there is no curl");
        return;
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/service.md");
    let blocks = blocks(&std::fs::read_to_string(page).unwrap(), "runs");
    assert!(blocks.len() >= 3, "{blocks:?}");
    let folder = Scratch::new();
    let service = Service::start(&folder.path("live"), &[]);
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_truenorth"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut printed = String::new();
    for block in &blocks {
        // Whatever is refused ends with an error.
        let block =
            block.replace("127.0.0.1:8700", &service.address).replace("curl ", "curl -sS --fail-with-body ");
        let output = Command::new("sh")
            .args(["-euc", &block])
            .current_dir(folder.path("."))
            .env("PATH", &path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{block}\n{}{}", text(&output.stdout), text(&output.stderr));
        printed += text(&output.stdout);
        printed.push('\n');
    }
    assert!(
        printed.contains("\"decision_id\":\"visit-1\"") && printed.contains("\"accepted\":true"),
        "{printed}"
    );
    // This season's decisions are the next season's logs, with what came of them.
    let (_, made) = service.client().call("GET", "/v1/bandits/next", &Value::Null);
    assert_eq!(
        (made["model"].as_str(), made["logged_rows"].as_u64()),
        (Some("item + item:hour"), Some(1)),
        "{made}"
    );
}
