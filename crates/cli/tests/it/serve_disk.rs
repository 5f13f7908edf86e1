//! The decision service and its disk: full, read-only, of another version; and a process that is asked to stop.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::serve::{asked, model};
use crate::served::{Client, Service, truenorth};
use crate::support::{Scratch, text};

fn refused(data: &Path) -> String {
    let said =
        truenorth(&["serve", "--listen", "127.0.0.1:0", "--log", "off", "--data", data.to_str().unwrap()]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{}", said.stderr);
    said.stderr
}

fn decide(client: &mut Client, round: u64) -> (u16, serde_json::Value) {
    client.call("POST", "/v1/bandits/news/decisions", &asked(round, Some(&format!("d{round}"))))
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_is_said_and_what_was_accepted_is_there_afterwards() {
    let folder = Scratch::new();
    let data = folder.path("data");
    // Files may have so many blocks of 1,024 bytes (512 in other shells), and no signal is sent beyond.
    let limited = format!(
        "trap '' XFSZ; ulimit -f 2000; exec {} serve --listen 127.0.0.1:0 --data {}",
        env!("CARGO_BIN_EXE_truenorth"),
        data.display()
    );
    let mut command = Command::new("sh");
    let service = Service::spawned(command.args(["-c", &limited]).stderr(Stdio::null()));
    let mut client = service.client();
    assert_eq!(client.call("PUT", "/v1/bandits/news", &model()).0, 201);
    let mut accepted = 0;
    let (status, answer) = loop {
        let answer = decide(&mut client, accepted);
        if answer.0 != 200 {
            break answer;
        }
        accepted += 1;
        assert!(accepted < 100_000);
    };
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(status == 503 && message.contains("what was accepted before is safe"), "{status} {message}");
    // Nothing more is served, and whoever asks whether it is ready is told.
    assert_eq!(decide(&mut client, 0).0, 503);
    assert_eq!(client.call("GET", "/readyz", &json!(null)).0, 503);
    service.kill();
    let service = Service::start(&data, &[]);
    let (_, shown) = service.client().call("GET", "/v1/bandits/news", &json!(null));
    assert_eq!(shown["decisions"], accepted);
    assert_eq!(decide(&mut service.client(), accepted).0, 200);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_said() {
    let stderr = refused(Path::new("/proc/truenorth"));
    assert!(stderr.contains("/proc/truenorth"), "{stderr}");
}

#[test]
fn a_folder_that_is_no_journal_is_said() {
    let folder = Scratch::new();
    let data = folder.path("data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("truenorth.db"), "not a database, but something else ".repeat(100)).unwrap();
    let stderr = refused(&data);
    assert!(stderr.contains("truenorth.db") && stderr.contains("not a database"), "{stderr}");
    std::fs::create_dir(folder.path("none")).unwrap();
    let said = truenorth(&["verify", folder.path("none").to_str().unwrap()]);
    assert!(said.code == 1 && said.stderr.contains("there is no truenorth.db"), "{}", said.stderr);
    std::fs::write(folder.path("none/truenorth.db"), "").unwrap();
    let said = truenorth(&["verify", folder.path("none").to_str().unwrap()]);
    let empty = "truenorth.db: there is no journal in this file";
    assert!(said.code == 1 && said.stderr.contains(empty), "{}", said.stderr);
}

#[test]
fn a_service_that_is_asked_to_stop_keeps_a_snapshot_and_says_what_it_does_without_secrets() {
    let folder = Scratch::new();
    let data = folder.path("data");
    let mut command = Command::new(env!("CARGO_BIN_EXE_truenorth"));
    command.args([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--log",
        "json",
        "--log-level",
        "debug",
        "--token",
        "very-secret",
        "--data",
    ]);
    let log = folder.path("log");
    command.arg(&data).stderr(std::fs::File::create(&log).unwrap());
    let service = Service::spawned(&mut command);
    let mut client = service.client();
    client.token = Some("very-secret".to_owned());
    assert_eq!(client.call("PUT", "/v1/bandits/news", &model()).0, 201);
    assert_eq!(decide(&mut client, 1).0, 200);
    let since = Instant::now();
    service.stop();
    assert!(since.elapsed() < Duration::from_secs(20));
    assert!(data.join("bandit-1.snapshot").exists());
    let log = std::fs::read(log).unwrap();
    let lines: Vec<serde_json::Value> = text(&log)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect();
    for message in ["folded", "made", "stopped"] {
        assert!(lines.iter().any(|line| line["message"] == message), "{}", text(&log));
    }
    assert!(!text(&log).contains("very-secret"));
}
