//! A browser that is told what to do through its pipe for developers.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use serde_json::{Value, json};

use crate::support::Scratch;

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const PATIENCE: Duration = Duration::from_mins(2);

/// A browser with one page.
pub(crate) struct Browser {
    process: Child,
    commands: File,
    answers: BufReader<File>,
    next: u64,
    session: Option<String>,
    /// What the page complained about.
    pub(crate) complaints: Vec<String>,
    done: Arc<AtomicBool>,
    _folder: Scratch,
}

fn browser() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = env::split_paths(&env::var_os("PATH")?).collect();
    let places = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.into_iter().find(|place| place.is_file())
}

impl Browser {
    /// Starts one; none where there is none, which is said.
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = browser() else {
            println!("skipped: none of {BROWSERS:?} is on PATH");
            return None;
        };
        let folder = Scratch::new();
        let (commands, answers) = (folder.path("commands"), folder.path("answers"));
        assert!(Command::new("mkfifo").args([&commands, &answers]).status().unwrap().success());
        // A shell gives the browser its pipe, which are the files 3 and 4.
        let process = Command::new("sh")
            .args(["-c", r#"in="$1" out="$2"; shift 2; exec "$@" 3<"$in" 4>"$out""#, "sh"])
            .args([&commands, &answers, &program])
            .args([
                "--headless",
                "--remote-debugging-pipe",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-quic",
            ])
            .arg(format!("--user-data-dir={}", folder.path("profile").display()))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let commands = OpenOptions::new().write(true).open(commands).unwrap();
        let answers = BufReader::new(File::open(answers).unwrap());
        let (done, id) = (Arc::new(AtomicBool::new(false)), process.id().to_string());
        // A browser that says nothing would be waited for for ever.
        thread::spawn({
            let done = Arc::clone(&done);
            move || {
                let begun = Instant::now();
                while begun.elapsed() < PATIENCE && !done.load(Ordering::Relaxed) {
                    thread::sleep(Duration::from_millis(100));
                }
                if !done.load(Ordering::Relaxed) {
                    let _ = Command::new("kill").arg(id).status();
                }
            }
        });
        let mut browser = Self {
            process,
            commands,
            answers,
            next: 0,
            session: None,
            complaints: Vec::new(),
            done,
            _folder: folder,
        };
        let target = browser.tell("Target.createTarget", &json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.tell("Target.attachToTarget", &json!({"targetId": target, "flatten": true}));
        browser.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "Accessibility"] {
            browser.tell(&format!("{domain}.enable"), &json!({}));
        }
        Some(browser)
    }

    /// Gives a command and waits for what comes of it.
    pub(crate) fn tell(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let mut command = json!({"id": self.next, "method": method, "params": params});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).unwrap();
        loop {
            let mut message = Vec::new();
            self.answers.read_until(0, &mut message).unwrap();
            assert!(message.pop().is_some(), "the browser has gone, at {method}");
            let message: Value = serde_json::from_slice(&message).unwrap();
            match message["method"].as_str() {
                Some("Runtime.exceptionThrown") => self.complaints.push(message["params"].to_string()),
                Some("Log.entryAdded") if message["params"]["entry"]["level"] == "error" => {
                    self.complaints.push(message["params"]["entry"].to_string());
                }
                Some("Runtime.consoleAPICalled") if message["params"]["type"] == "error" => {
                    self.complaints.push(message["params"].to_string());
                }
                _ => {}
            }
            if message["id"] == self.next {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
        }
    }

    /// Sets how wide the window is and whether it is dark.
    pub(crate) fn look(&mut self, width: u32, height: u32, dark: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
        self.tell("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.tell("Emulation.setEmulatedMedia", &media);
    }

    pub(crate) fn open(&mut self, address: &str) {
        self.tell("Page.navigate", &json!({"url": address}));
        self.wait("document.readyState === 'complete'");
    }

    /// The value of an expression.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let found = self.tell("Runtime.evaluate", &asked);
        assert!(found["exceptionDetails"].is_null(), "{expression}: {found}");
        found["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.value(expression) != true {
            let body = "document.body ? document.body.innerText : ''";
            assert!(begun.elapsed() < Duration::from_secs(30), "{expression}: {}", self.value(body));
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Presses a key, as people do who have no mouse.
    pub(crate) fn press(&mut self, key: &str, code: u32, text: &str) {
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let event =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.tell("Input.dispatchKeyEvent", &event);
        }
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.tell("Input.insertText", &json!({"text": text}));
    }

    /// A picture of the window, written where the documentation has its pictures, if somebody asks for that.
    pub(crate) fn picture(&mut self, name: &str) {
        let shot = self.tell("Page.captureScreenshot", &json!({"format": "png"}));
        let shot = decoded(shot["data"].as_str().unwrap());
        assert!(shot.starts_with(b"\x89PNG") && shot.len() < 200_000, "{name}: {} bytes", shot.len());
        if let Some(folder) = env::var_os("TRUENORTH_PICTURES") {
            fs::write(Path::new(&folder).join(format!("{name}.png")), shot).unwrap();
        }
    }
}

/// Bytes from base64, as the browser writes pictures.
fn decoded(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0, 0_u32);
    for letter in text.bytes().take_while(|letter| *letter != b'=') {
        let value = LETTERS.iter().position(|known| *known == letter).unwrap();
        held = (held << 6 | u32::try_from(value).unwrap()) & 0xFFFF;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xFF).unwrap());
        }
    }
    bytes
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
