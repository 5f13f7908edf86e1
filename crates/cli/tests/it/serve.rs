//! The decision service: calls, what is refused, crashes, Personalizer's calls, the export.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::served::{Service, truenorth};
use crate::support::Scratch;

pub(crate) fn model() -> Value {
    json!({"model": "item:(1 + hour)", "seed": 7})
}

pub(crate) fn asked(round: u64, id: Option<&str>) -> Value {
    let hour = f64::from(u32::try_from(round % 24).unwrap()) / 24.0;
    let mut asked = json!({"context": {"hour": hour}, "actions": [{"id": "a", "features": {"item": "a"}}, {"id": "b", "features": {"item": "b"}}, {"id": "c", "features": {"item": "c"}}]});
    if let Some(id) = id {
        asked["id"] = json!(id);
    }
    asked
}

fn reward(answer: &Value) -> f64 {
    if answer["action"] == "b" { 1.0 } else { 0.25 }
}

#[test]
fn the_decision_that_help_shows_is_answered() {
    let folder = Scratch::new();
    assert!(folder.run("demo").status.success());
    let logs = format!("shop={}", folder.path("demo/logs.tn").display());
    let service = Service::start(&folder.path("data"), &["--bandit", &logs]);
    let help = folder.prints("serve --help");
    let path = help.split("curl http://127.0.0.1:8700").nth(1).unwrap().split(' ').next().unwrap();
    let body = help.split("-d '").nth(1).unwrap().split('\'').next().unwrap();
    let (status, answer) = service.client().call("POST", path, &serde_json::from_str(body).unwrap());
    assert_eq!(status, 200, "{answer}");
    assert!(answer["action"].is_string(), "{answer}");
}

#[test]
fn decisions_and_rewards_are_accepted_once_and_what_is_wrong_is_said() {
    let folder = Scratch::new();
    let service = Service::start(&folder.path("data"), &[]);
    let mut client = service.client();
    assert_eq!(client.call("PUT", "/v1/bandits/news", &model()).0, 201);
    assert_eq!(client.call("PUT", "/v1/bandits/news", &model()).0, 200);
    assert_eq!(client.call("PUT", "/v1/bandits/news", &json!({"model": "item"})).0, 409);
    let (status, first) = client.call("POST", "/v1/bandits/news/decisions", &asked(1, Some("one")));
    assert_eq!((status, &first["decision_id"]), (200, &json!("one")));
    for field in ["action", "action_index", "ucb", "lcb", "mean", "branch", "propensity"] {
        assert!(!first[field].is_null(), "{field}: {first}");
    }
    assert_eq!(client.call("POST", "/v1/bandits/news/decisions", &asked(1, Some("one"))), (200, first));
    let paid = |reward: f64| json!({"decision_id": "one", "reward": reward});
    for (body, expected) in [
        (paid(0.5), 200),
        (paid(0.5), 200),
        (paid(0.75), 409),
        (json!({"decision_id": "no", "reward": 1}), 404),
    ] {
        assert_eq!(client.call("POST", "/v1/bandits/news/rewards", &body).0, expected, "{body}");
    }
    let batch = json!({"decisions": [asked(2, Some("two")), asked(3, None), {"actions": []}]});
    let (status, answers) = client.call("POST", "/v1/bandits/news/decisions:batch", &batch);
    assert_eq!((status, &answers["decisions"][0]["decision_id"]), (200, &json!("two")));
    assert_eq!(answers["decisions"][2]["error"]["code"], "invalid");
    let list =
        json!([{"decision_id": "two", "reward": 1, "played": "c"}, {"decision_id": "three", "reward": 1}]);
    let (status, answers) = client.call("POST", "/v1/bandits/news/rewards", &list);
    assert_eq!(
        (status, &answers["rewards"][0]["accepted"], &answers["rewards"][1]["error"]["code"]),
        (200, &json!(true), &json!("unknown_decision"))
    );
    let (_, shown) = client.call("GET", "/v1/bandits/news", &Value::Null);
    assert_eq!((&shown["decisions"], &shown["rewards"], &shown["open"]), (&json!(3), &json!(2), &json!(1)));
    // Others.
    assert_eq!(client.bytes("/healthz"), b"ok\n");
    let metrics = String::from_utf8(client.bytes("/metrics")).unwrap();
    assert!(metrics.contains("truenorth_decisions_total{bandit=\"news\"} 3"), "{metrics}");
    assert!(metrics.contains("truenorth_world_moved{bandit=\"news\"} 0"), "{metrics}");
    assert!(metrics.contains("truenorth_world_evidence{bandit=\"news\"} "), "{metrics}");
    assert!(String::from_utf8(client.bytes("/")).unwrap().contains("<title>truenorth</title>"));
    let (_, explained) = client.call("POST", "/v1/bandits/news/explain", &asked(4, None));
    assert_eq!(explained["actions"].as_array().unwrap().len(), 3);
    assert_eq!(client.call("PATCH", "/v1/bandits/news", &json!({"mode": "shadow"})).0, 200);
    let mut shadowed = asked(5, Some("five"));
    shadowed["played"] = json!("c");
    let (_, answer) = client.call("POST", "/v1/bandits/news/decisions", &shadowed);
    assert_eq!((&answer["action"], answer["ours"].is_string()), (&json!("c"), true));
    assert_eq!(
        client.call("POST", "/v1/bandits/news/rewards", &json!({"decision_id": "five", "reward": 1})).0,
        200
    );
    assert_eq!(client.call("PUT", "/v1/bandits/gone", &json!({"dimension": 2})).0, 201);
    assert_eq!(client.call("DELETE", "/v1/bandits/gone", &Value::Null), (200, json!({"dropped": true})));
    assert_eq!(client.call("DELETE", "/v1/bandits/gone", &Value::Null).0, 404);
    // Two processes on one folder.
    let second =
        truenorth(&["serve", "--listen", "127.0.0.1:0", "--data", folder.path("data").to_str().unwrap()]);
    assert_eq!(second.code, 1);
    assert!(second.stderr.contains("another process serves this folder"), "{}", second.stderr);
    // What was decided is the next season's log.
    let export = folder.path("events.jsonl");
    std::fs::write(&export, client.bytes("/v1/bandits/news/events")).unwrap();
    service.stop();
    let summary = folder.path("season.tn");
    let summed = truenorth(&[
        "summarize",
        export.to_str().unwrap(),
        "--format",
        "events",
        "--model",
        "item:(1 + hour)",
        "-o",
        summary.to_str().unwrap(),
    ]);
    assert_eq!(summed.code, 0, "{}", summed.stderr);
    let whole = truenorth(&["verify", folder.path("data").to_str().unwrap()]);
    assert!(
        whole.code == 0 && whole.stdout.contains("is whole: 1 bandit"),
        "{} {}",
        whole.stdout,
        whole.stderr
    );
}

#[test]
fn what_is_refused_changes_nothing_and_is_said_in_one_sentence() {
    let folder = Scratch::new();
    let service = Service::start(&folder.path("data"), &[]);
    let mut client = service.client();
    assert_eq!(client.call("PUT", "/v1/bandits/news", &model()).0, 201);
    client.call("POST", "/v1/bandits/news/decisions", &asked(1, Some("one")));
    // A fit that is due comes back by itself.
    std::thread::sleep(Duration::from_millis(500));
    let before = client.bytes("/v1/bandits/news/snapshot");
    for (method, path, kind, body, expected, sentence) in [
        ("POST", "/v1/bandits/news/decisions", "application/json", "{", 400, "EOF"),
        ("POST", "/v1/bandits/news/decisions", "text/plain", "{}", 400, "content-type"),
        ("POST", "/v1/bandits/news/decisions", "application/json", "{}", 422, "missing field `actions`"),
        (
            "POST",
            "/v1/bandits/news/decisions",
            "application/json",
            r#"{"actions":[{"id":"a"}],"x":1}"#,
            422,
            "unknown field `x`",
        ),
        (
            "POST",
            "/v1/bandits/news/decisions",
            "application/json",
            r#"{"actions":[{"id":"a","features":{"item":"a"}}],"context":{"hour":1e300}}"#,
            422,
            "hour",
        ),
        ("POST", "/v1/bandits/other/decisions", "application/json", r#"{"actions":[]}"#, 404, "no bandit"),
        (
            "POST",
            "/v1/bandits/news/rewards",
            "application/json",
            r#"{"decision_id":"x","reward":"1"}"#,
            422,
            "`reward` is \"1\", but must be a number",
        ),
        ("PUT", "/v1/bandits/..%2F..%2Fx", "application/json", r#"{"model":"a"}"#, 422, "name"),
        ("PUT", "/v1/bandits/x", "application/json", r#"{"model":"a","dimension":2}"#, 422, "one of"),
        ("PUT", "/v1/bandits/x", "application/json", r#"{"dimension":2,"policy":"magic"}"#, 422, "magic"),
        ("PUT", "/v1/bandits/x", "application/json", r#"{"summary":"!"}"#, 422, "base64"),
        ("DELETE", "/v1/bandits/other", "application/json", "", 404, "there is no bandit"),
        ("DELETE", "/v1/bandits", "application/json", "", 404, "no such call"),
        ("GET", "/nothing", "", "", 404, "no such call; all calls are at /openapi.json"),
    ] {
        let (status, answer) = client.raw(method, path, kind, body.as_bytes()).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_else(|_| panic!("{path} {body}"));
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(
            status == expected && message.contains(sentence),
            "{method} {path} {body}: {status} {answer}"
        );
    }
    let mut large = service.client();
    let (status, _) = large
        .raw("POST", "/v1/bandits/news/decisions", "application/json", &vec![b' '; 5 << 20])
        .unwrap_or((413, Vec::new()));
    assert_eq!(status, 413);
    assert_eq!(client.bytes("/v1/bandits/news/snapshot"), before);
}

#[test]
fn calls_need_the_token_that_allows_them() {
    let folder = Scratch::new();
    let service = Service::start(&folder.path("data"), &["--token", "write", "--read-token", "look"]);
    let mut client = service.client();
    for (token, creates, looks) in
        [(None, 401, 401), (Some("wrong"), 401, 401), (Some("look"), 401, 200), (Some("write"), 201, 200)]
    {
        client.token = token.map(str::to_owned);
        assert_eq!(client.call("PUT", "/v1/bandits/x", &model()).0, creates, "{token:?}");
        assert_eq!(client.call("GET", "/v1/bandits", &Value::Null).0, looks, "{token:?}");
    }
    let open =
        truenorth(&["serve", "--listen", "0.0.0.0:0", "--data", folder.path("other").to_str().unwrap()]);
    assert!(open.code == 1 && open.stderr.contains("--token"), "{}", open.stderr);
}

/// Decisions that a bandit certainly remembers.
const REMEMBERED: usize = 90_000;

/// What was acknowledged, by decision.
type Acknowledged = Mutex<Vec<(String, Value, Option<f64>)>>;

/// Decides and pays from several threads until the service is gone.
fn load(service: &Service, acknowledged: &Acknowledged, next: &AtomicU64) {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let mut client = service.client();
            scope.spawn(move || {
                loop {
                    let round = next.fetch_add(1, Ordering::Relaxed);
                    let id = format!("d{round}");
                    let asked = asked(round, Some(&id)).to_string();
                    let path = "/v1/bandits/news/decisions";
                    let Some((200, body)) = client.raw("POST", path, "application/json", asked.as_bytes())
                    else {
                        return;
                    };
                    let answer: Value = serde_json::from_slice(&body).unwrap();
                    let paid = reward(&answer);
                    acknowledged.lock().unwrap().push((id.clone(), answer, None));
                    let body = json!({"decision_id": id, "reward": paid}).to_string();
                    let Some((200, _)) =
                        client.raw("POST", "/v1/bandits/news/rewards", "application/json", body.as_bytes())
                    else {
                        return;
                    };
                    acknowledged.lock().unwrap().iter_mut().rev().find(|known| known.0 == id).unwrap().2 =
                        Some(paid);
                }
            });
        }
    });
}

#[test]
fn nothing_that_was_acknowledged_is_lost_or_counted_twice_however_it_is_killed() {
    let kills = std::env::var("TRUENORTH_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(8);
    let folder = Scratch::new();
    let data = folder.path("data");
    let mut service = Service::start(&data, &[]);
    assert_eq!(service.client().call("PUT", "/v1/bandits/news", &model()).0, 201);
    let (acknowledged, next) = (Acknowledged::default(), AtomicU64::new(0));
    for kill in 0..kills {
        std::thread::scope(|scope| {
            let (service, acknowledged, next) = (&service, &acknowledged, &next);
            scope.spawn(move || load(service, acknowledged, next));
            std::thread::sleep(Duration::from_millis(40 + (kill * 37) % 211));
            let id = service.process.id().to_string();
            assert!(Command::new("kill").args(["-9", &id]).status().unwrap().success());
        });
        service.kill();
        service = Service::start(&data, &[]);
        let mut client = service.client();
        let all = acknowledged.lock().unwrap();
        // All of the last ones and some of the others that are remembered: the same answer again, the same reward again.
        let remembered = &all[all.len().saturating_sub(REMEMBERED)..];
        for (id, answer, paid) in remembered.iter().rev().take(200).chain(remembered.iter().step_by(97)) {
            let round: u64 = id[1..].parse().unwrap();
            let (status, again) = client.call("POST", "/v1/bandits/news/decisions", &asked(round, Some(id)));
            assert_eq!((status, &again), (200, answer), "{id}");
            if let Some(paid) = paid {
                let body = json!({"decision_id": id, "reward": paid});
                assert_eq!(client.call("POST", "/v1/bandits/news/rewards", &body).0, 200, "{id}");
                let body = json!({"decision_id": id, "reward": paid + 1.0});
                assert_eq!(client.call("POST", "/v1/bandits/news/rewards", &body).0, 409, "{id}");
            }
        }
        let (_, shown) = client.call("GET", "/v1/bandits/news", &Value::Null);
        let rewards = all.iter().filter(|known| known.2.is_some()).count() as u64;
        assert!(shown["decisions"].as_u64().unwrap() >= all.len() as u64);
        assert!(shown["rewards"].as_u64().unwrap() >= rewards);
    }
    // The state is what the journal gives from its first record on, and so is the next decision.
    let state = service.client().bytes("/v1/bandits/news/snapshot");
    service.stop();
    let copy = folder.path("copy");
    std::fs::create_dir(&copy).unwrap();
    std::fs::copy(data.join("truenorth.db"), copy.join("truenorth.db")).unwrap();
    let [service, folded] = [Service::start(&data, &[]), Service::start(&copy, &[])];
    assert_eq!(folded.client().bytes("/v1/bandits/news/snapshot"), state);
    let [one, other] = [&service, &folded]
        .map(|service| service.client().call("POST", "/v1/bandits/news/decisions", &asked(5, None)));
    assert_eq!(one, other);
    drop((service, folded));
    let whole = truenorth(&["verify", data.to_str().unwrap()]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    eprintln!("{kills} kills, {} decisions", acknowledged.lock().unwrap().len());
}

#[test]
fn personalizers_calls_learn_what_device_and_age_decide() {
    let folder = Scratch::new();
    let service = Service::start(&folder.path("data"), &[]);
    let mut client = service.client();
    assert_eq!(client.call("PUT", "/v1/bandits/topics", &json!({"model": "topic:(1 + user.*)"})).0, 201);
    let topics = ["news", "sport", "music", "food"];
    let (mut right, path) = (0, "/bandits/topics/personalizer/v1.0");
    for call in 0..800u32 {
        let (mobile, young) = (call * 7 % 5 < 2, call * 11 % 7 < 3);
        let best = topics[usize::from(mobile) * 2 + usize::from(young)];
        let actions: Vec<Value> =
            topics.iter().map(|topic| json!({"id": topic, "features": [{"topic": topic}]})).collect();
        let context = json!([{"user": {"device": if mobile { "mobile" } else { "desktop" }}}, {"user": {"age": if young { "young" } else { "old" }}}]);
        let (status, ranked) = client.call(
            "POST",
            &format!("{path}/rank"),
            &json!({"contextFeatures": context, "actions": actions, "eventId": format!("e{call}")}),
        );
        assert_eq!((status, ranked["ranking"].as_array().unwrap().len()), (201, 4), "{ranked}");
        let hit = ranked["rewardActionId"] == best;
        right += u32::from(hit && call >= 500);
        let (status, _) = client.call(
            "POST",
            &format!("{path}/events/e{call}/reward"),
            &json!({"value": f64::from(u8::from(hit))}),
        );
        assert_eq!(status, 204);
    }
    assert!(right >= 240, "{right} of 300");
    // A bandit whose fields are named as in the service's logs.
    assert_eq!(
        client.call("PUT", "/v1/bandits/logged", &json!({"model": "j.topic:(1 + FromUrl.user.*)"})).0,
        201
    );
    let body = json!({"contextFeatures": [{"user": {"age": 3}}], "actions": [{"id": "x", "features": [{"topic": "news"}]}]});
    assert_eq!(client.call("POST", "/bandits/logged/personalizer/v1.0/rank", &body).0, 201);
    let user = json!([{"user": {"device": "mobile", "age": "old"}}]);
    let [x, y] = ["x", "y"].map(|id| json!({"id": id, "features": [{"topic": "news"}]}));
    let excluded = json!({"contextFeatures": user, "actions": [x, y], "excludedActions": ["x"], "deferActivation": true});
    let (status, ranked) = client.call("POST", &format!("{path}/rank"), &excluded);
    assert_eq!((status, &ranked["ranking"][0]), (201, &json!({"id": "x", "probability": 0.0})));
    let event = ranked["eventId"].as_str().unwrap();
    assert_eq!(client.call("POST", &format!("{path}/events/{event}/activate"), &Value::Null).0, 204);
    assert_eq!(client.call("GET", &format!("{path}/status"), &Value::Null).0, 200);
}

#[test]
fn a_record_that_has_changed_is_found() {
    let folder = Scratch::new();
    let data = folder.path("data");
    let service = Service::start(&data, &[]);
    let mut client = service.client();
    client.call("PUT", "/v1/bandits/news", &model());
    for round in 0..50 {
        client.call("POST", "/v1/bandits/news/decisions", &asked(round, Some(&format!("marked-{round}"))));
    }
    service.stop();
    let path: PathBuf = data.join("truenorth.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(9).rposition(|window| window == b"marked-31").unwrap();
    bytes[at + 8] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let verified = truenorth(&["verify", data.to_str().unwrap()]);
    assert!(verified.code == 1, "{}", verified.stdout);
    // A snapshot stands for what it covers; without it, all is folded.
    std::fs::remove_file(data.join("bandit-1.snapshot")).unwrap();
    let served = truenorth(&["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()]);
    assert!(
        served.code == 1 && served.stderr.contains("has changed since it was written"),
        "{}",
        served.stderr
    );
}
