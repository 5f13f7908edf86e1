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
fn the_example_of_a_report_can_be_asked_at_once_and_after_a_restart() {
    let folder = Scratch::new();
    assert!(folder.run("demo").status.success());
    let (data, logs) = (folder.path("data"), format!("shop={}", folder.path("demo/logs.tn").display()));
    let mut service = Service::start(&data, &["--bandit", &logs]);
    let mut client = service.client();
    for (name, made) in [
        ("model", model()),
        ("pattern", json!({"model": "topic:(1 + user.*)"})),
        ("hashed", json!({"model": "hash(item:hour, 16)"})),
        ("listed", json!({"dimension": 3})),
        ("named", json!({"features": ["age", "price"]})),
    ] {
        assert_eq!(client.call("PUT", &format!("/v1/bandits/{name}"), &made).0, 201, "{name}");
    }
    for start in ["first", "second"] {
        for name in ["shop", "model", "pattern", "hashed", "listed", "named"] {
            let path = |call: &str| format!("/v1/bandits/{name}/{call}");
            let (_, report) = client.call("GET", &path("report"), &Value::Null);
            let mut example = report["example"].clone();
            let (status, answer) = client.call("POST", &path("explain"), &example);
            assert_eq!(
                (status, answer["actions"].as_array().map(Vec::len)),
                (200, Some(2)),
                "{name}: {answer}"
            );
            example["decision_id"] = json!(start);
            assert_eq!(client.call("POST", &path("decisions"), &example).0, 200, "{name}: {example}");
        }
        service.stop();
        service = Service::start(&data, &[]);
        client = service.client();
    }
    // Levels that were met make two actions of it.
    client.call("POST", "/v1/bandits/model/decisions", &asked(1, None));
    let (_, report) = client.call("GET", "/v1/bandits/model/report", &Value::Null);
    let items = ["/example/actions/0/item", "/example/actions/1/item"].map(|place| report.pointer(place));
    assert!(items[0].is_some() && items[0] != items[1], "{}", report["example"]);
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
    // The same again, the second time as an event of `decide` has it.
    let mut event = asked(1, None);
    event["decision_id"] = json!("one");
    for again in [asked(1, Some("one")), event] {
        assert_eq!(client.call("POST", "/v1/bandits/news/decisions", &again), (200, first.clone()));
    }
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
        ("POST", "/v1/bandits/news/decisions", "application/json", "{", 400, "this is not JSON: EOF"),
        ("POST", "/v1/bandits/news/explain", "application/json", "{a:1}", 400, "this is not JSON: key must"),
        ("POST", "/v1/bandits/news/rewards", "application/json", " ", 400, "nothing was sent"),
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
            r#"{"actions":[{"id":"a"}],"id":"x","decision_id":"x"}"#,
            422,
            "`id` and `decision_id` are two names of the same: give one of them",
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
    assert!(open.code == 2 && open.stderr.contains("--token"), "{}", open.stderr);
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
fn actions_are_answered_and_exported_by_the_ids_that_they_have() {
    let folder = Scratch::new();
    assert!(folder.run("demo").status.success());
    let logs = format!("shop={}", folder.path("demo/logs.tn").display());
    let service = Service::start(&folder.path("data"), &["--bandit", &logs]);
    let mut client = service.client();
    for (name, made) in [("listed", json!({"dimension": 2})), ("named", json!({"features": ["age", "hour"]}))]
    {
        assert_eq!(client.call("PUT", &format!("/v1/bandits/{name}"), &made).0, 201, "{name}");
    }
    let mut ids = |name: &str, actions: &Value| -> Vec<Value> {
        let asked = json!({"actions": actions, "context": {}});
        let (status, answer) = client.call("POST", &format!("/v1/bandits/{name}/decisions"), &asked);
        assert_eq!(status, 200, "{answer}");
        let (exported, id) = (client.bytes(&format!("/v1/bandits/{name}/events")), &answer["decision_id"]);
        let exported = String::from_utf8(exported).unwrap();
        let events = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let event = events.into_iter().find(|event| event["decision_id"] == *id).unwrap();
        assert_eq!(event["action"].to_string().replace('"', ""), answer["action"].as_str().unwrap());
        event["actions"].as_array().unwrap().iter().map(|action| action["id"].clone()).collect()
    };
    // Numbers are ids, places count from 1, and letters stay.
    assert_eq!(ids("listed", &json!([{"id": 7, "features": [1, 2]}, {"id": 8, "features": [1, 3]}])), [7, 8]);
    assert_eq!(ids("named", &json!([{"features": [1, 2]}, {"features": [1, 3]}])), ["1", "2"]);
    assert_eq!(
        ids("named", &json!([{"features": {"age": 1, "hour": 2}}, {"age": 1, "hour": 3}])),
        ["1", "2"]
    );
    assert_eq!(
        ids("named", &json!([{"id": "1.0", "age": 1, "hour": 2}, {"id": "1", "age": 1, "hour": 3}])),
        ["1.0", "1"]
    );
    // The field that is the logs' id stands for one.
    let items = json!([{"item": "sunscreen", "price": 9}, {"item": "game", "price": 14}]);
    let asked = json!({"context": {"customer": "student"}, "actions": items, "id": "visit"});
    let (_, answer) = client.call("POST", "/v1/bandits/shop/decisions", &asked);
    assert!(["sunscreen", "game"].contains(&answer["action"].as_str().unwrap()), "{answer}");
    // What is named as a number is one.
    let text = json!({"actions": [{"id": "a", "age": 1, "hour": "two"}]});
    let (status, answer) = client.call("POST", "/v1/bandits/named/decisions", &text);
    assert_eq!(status, 422, "{answer}");
    // A ranking has every action once.
    let rank = json!({"actions": [{"id": "1.0", "features": []}, {"id": " x ", "features": []}]});
    assert_eq!(client.call("PUT", "/v1/bandits/ranked", &json!({"model": "id"})).0, 201);
    let (_, ranked) = client.call("POST", "/bandits/ranked/personalizer/v1.0/rank", &rank);
    let mut listed: Vec<&str> =
        ranked["ranking"].as_array().unwrap().iter().map(|action| action["id"].as_str().unwrap()).collect();
    listed.sort_unstable();
    assert_eq!(listed, [" x ", "1.0"]);
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

#[test]
fn fields_that_the_model_does_not_know_are_counted_shown_and_named_once_in_the_log() {
    let folder = Scratch::new();
    let log = folder.path("log");
    let start = || {
        let file = std::fs::File::options().create(true).append(true).open(&log).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_truenorth"));
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "text", "--data"])
            .arg(folder.path("data"));
        Service::spawned(command.stderr(file))
    };
    let service = start();
    let mut client = service.client();
    assert_eq!(client.call("PUT", "/v1/bandits/news", &json!({"model": "item + user.*:item"})).0, 201);
    let (_, shown) = client.call("GET", "/v1/bandits/news", &Value::Null);
    assert_eq!(shown["unknown_fields"], json!([]));
    let ask = |client: &mut crate::served::Client| {
        let actions = json!([{"id": "a", "item": "a", "prise": 1}, {"id": "b", "item": "b", "prise": 2}]);
        let asked = json!({"context": {"usr": {"age": 3}}, "actions": actions});
        assert_eq!(client.call("POST", "/v1/bandits/news/decisions", &asked).0, 200);
        assert_eq!(client.call("POST", "/v1/bandits/news/explain", &asked).0, 200);
    };
    (0..3).for_each(|_| ask(&mut client));
    let counted = json!([{"name": "usr.age", "count": 3}, {"name": "prise", "count": 6}]);
    for path in ["/v1/bandits/news", "/v1/bandits/news/report"] {
        let (_, shown) = client.call("GET", path, &Value::Null);
        assert_eq!(shown["unknown_fields"], counted, "{path}");
    }
    service.stop();
    let service = start();
    ask(&mut service.client());
    service.stop();
    let log = std::fs::read_to_string(&log).unwrap();
    for field in ["usr.age", "prise"] {
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(field)).collect();
        assert!(lines.len() == 1 && lines[0].contains("no use for a field"), "{log}");
        assert!(lines[0].contains("WARN") && lines[0].contains("news"), "{log}");
    }
}

#[test]
fn an_export_after_a_decision_that_is_not_there_is_refused() {
    let folder = Scratch::new();
    let service = Service::start(&folder.path("data"), &[]);
    let mut client = service.client();
    assert_eq!(client.call("PUT", "/v1/bandits/news", &model()).0, 201);
    let (status, answer) = client.call("GET", "/v1/bandits/news/events?after=nono", &Value::Null);
    let told =
        json!({"code": "unknown_decision", "message": "there is no decision \"nono\" in what is kept"});
    assert_eq!((status, &answer["error"]), (404, &told));
    assert!(client.bytes("/v1/bandits/news/events").is_empty());
    for id in ["one", "two"] {
        client.call("POST", "/v1/bandits/news/decisions", &asked(1, Some(id)));
    }
    assert_eq!(client.call("GET", "/v1/bandits/news/events?after=nono", &Value::Null).0, 404);
    let after = String::from_utf8(client.bytes("/v1/bandits/news/events?after=one")).unwrap();
    assert!(after.lines().count() == 1 && after.contains("\"two\""), "{after}");
    assert!(client.bytes("/v1/bandits/news/events?after=two").is_empty());
}

#[test]
fn a_whole_number_is_an_id_and_is_answered_as_text() {
    let folder = Scratch::new();
    let service = Service::start(&folder.path("data"), &[]);
    let mut client = service.client();
    assert_eq!(client.call("PUT", "/v1/bandits/news", &model()).0, 201);
    let mut ask = asked(1, None);
    for (name, id, text) in [
        ("id", json!(5), "5"),
        ("decision_id", json!(-7), "-7"),
        ("id", json!(i64::MAX), "9223372036854775807"),
    ] {
        ask[name] = id.clone();
        let (status, answer) = client.call("POST", "/v1/bandits/news/decisions", &ask);
        assert_eq!((status, &answer["decision_id"]), (200, &json!(text)), "{answer}");
        ask[name] = json!(text);
        assert_eq!(client.call("POST", "/v1/bandits/news/decisions", &ask), (200, answer));
        ask.as_object_mut().unwrap().remove(name);
        let paid = json!([{"decision_id": id, "reward": 1}, {"decision_id": text, "reward": 1}]);
        let (_, answer) = client.call("POST", "/v1/bandits/news/rewards", &paid);
        assert_eq!(answer["rewards"], json!([{"accepted": true}, {"accepted": true}]));
    }
    for wrong in [json!(1.5), json!(true), json!(u64::MAX), json!(["a"])] {
        ask["id"] = wrong.clone();
        let (status, answer) = client.call("POST", "/v1/bandits/news/decisions", &ask);
        let said = answer["error"]["message"].as_str().unwrap();
        assert!(status == 422 && said.contains("an id must be a text or a whole number"), "{wrong}: {said}");
    }
    let none = json!({"decision_id": null, "reward": 1});
    assert_eq!(client.call("POST", "/v1/bandits/news/rewards", &none).0, 422);
    let (_, shown) = client.call("GET", "/v1/bandits/news", &Value::Null);
    assert_eq!((&shown["decisions"], &shown["rewards"]), (&json!(3), &json!(3)));
}

#[test]
fn without_logs_a_term_that_changes_no_choice_is_named_after_the_first_event() {
    let folder = Scratch::new();
    let service = Service::start(&folder.path("data"), &[]);
    let mut client = service.client();
    assert_eq!(client.call("PUT", "/v1/bandits/news", &json!({"model": "segment + segment:id"})).0, 201);
    let ask = json!({"context": {"segment": "a"}, "actions": [{"id": "a"}, {"id": "b"}]});
    assert_eq!(client.call("POST", "/v1/bandits/news/decisions", &ask).0, 200);
    let (_, shown) = client.call("GET", "/v1/bandits/news/report", &Value::Null);
    let told = "`segment` is the same for every action of a round and cannot change a choice; cross it with the action: `segment:id`";
    assert_eq!(shown["warnings"], json!([told]));
}

#[test]
fn personalizers_clients_may_write_null_for_what_they_do_not_tell() {
    let folder = Scratch::new();
    let service = Service::start(&folder.path("data"), &[]);
    let mut client = service.client();
    let path = "/bandits/topics/personalizer/v1.0/rank";
    assert_eq!(client.call("PUT", "/v1/bandits/topics", &json!({"model": "id"})).0, 201);
    let body = json!({"contextFeatures": null, "actions": [{"id": "a", "features": null}, {"id": "b"}],
        "excludedActions": null, "eventId": null, "deferActivation": null});
    let (status, ranked) = client.call("POST", path, &body);
    assert_eq!((status, ranked["ranking"].as_array().map(Vec::len)), (201, Some(2)), "{ranked}");
    for wrong in ["contextFeatures", "excludedActions", "deferActivation"] {
        assert_eq!(client.call("POST", path, &json!({"actions": [{"id": "a"}], wrong: 3})).0, 422, "{wrong}");
    }
}
