//! What the engine promises, without HTTP.

mod durability;
mod memory;
mod rewards;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::{Asked, Decided, Paid, Refused};
use crate::engine::{Answer, Call, Engine};
use crate::spec::Spec;

/// A folder of its own, gone with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("truenorth-service-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Calls of an engine, each to its end.
struct Served {
    runtime: tokio::runtime::Runtime,
    engine: Option<Engine>,
}

impl Served {
    fn start(folder: &Path) -> Self {
        Self::on(Engine::start(folder, None).unwrap())
    }

    fn on(engine: Engine) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        Self { runtime, engine: Some(engine) }
    }

    fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    fn call(&self, name: &str, call: Call) -> Result<Answer, Refused> {
        self.runtime.block_on(self.engine().call(name, call))
    }

    fn make(&self, name: &str, spec: Value) {
        let spec: Spec = serde_json::from_value(spec).unwrap();
        assert!(matches!(self.call(name, Call::Create(Box::new(spec))), Ok(Answer::Created(true, _))));
    }

    fn decide(&self, name: &str, asked: &Value) -> Result<Decided, Refused> {
        let asked: Asked = serde_json::from_str(&asked.to_string()).unwrap();
        match self.call(name, Call::Decide(vec![asked]))? {
            Answer::Decided(mut decided) => decided.remove(0),
            _ => unreachable!(),
        }
    }

    fn pay(&self, name: &str, paid: Value) -> Result<(), Refused> {
        let paid: Paid = serde_json::from_value(paid).unwrap();
        match self.call(name, Call::Pay(vec![paid]))? {
            Answer::Paid(mut paid) => paid.remove(0),
            _ => unreachable!(),
        }
    }

    /// The state once no fit is due, which comes back by itself, at any time.
    fn state(&self, name: &str) -> Vec<u8> {
        until(|| match self.call(name, Call::View) {
            Ok(Answer::View(view)) => !view.policy.is_fit_due(),
            _ => unreachable!(),
        });
        match self.call(name, Call::Snapshot) {
            Ok(Answer::Snapshot(bytes)) => bytes,
            _ => unreachable!(),
        }
    }

    fn counts(&self, name: &str) -> truenorth_bandit::Counts {
        match self.call(name, Call::Counts) {
            Ok(Answer::Counts(counts)) => counts,
            _ => unreachable!(),
        }
    }
}

fn until(done: impl Fn() -> bool) {
    let since = Instant::now();
    while !done() {
        assert!(since.elapsed() < Duration::from_secs(30), "it takes too long");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn spec() -> Value {
    json!({"model": "item:(1 + hour)", "seed": 7})
}

fn with(more: &Value) -> Value {
    let mut all = spec();
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

fn asked(round: u32, id: Option<&str>) -> Value {
    let hour = f64::from(round % 24) / 24.0;
    let mut asked = json!({"context": {"hour": hour}, "actions": [{"id": "a", "features": {"item": "a"}}, {"id": "b", "features": {"item": "b"}}, {"id": "c", "features": {"item": format!("c{}", round / 50)}}]});
    if let Some(id) = id {
        asked["id"] = json!(id);
    }
    asked
}

/// Decides and pays for so many rounds; some rewards never come, some are of what was played instead.
fn play(served: &Served, name: &str, rounds: std::ops::Range<u32>) {
    for round in rounds {
        let id = format!("d{round}");
        let decided = served.decide(name, &asked(round, Some(&id))).unwrap();
        let reward = if decided.action == "b" { 1.0 } else { 0.25 };
        let mut paid = json!({"decision_id": id, "reward": reward});
        if round % 11 == 0 {
            paid["played"] = json!("a");
        }
        if round % 7 > 0 {
            served.pay(name, paid).unwrap();
        }
    }
}
