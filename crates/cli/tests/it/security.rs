//! What others may try: each is refused, and the service goes on.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::served::{Client, Service, truenorth};
use crate::support::Scratch;

const JSON: &str = "application/json";

/// Everything below a folder, but for the service's own files.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A bandit whose state nothing but calls changes.
fn steady() -> Value {
    json!({"model": "item:(1 + hour)", "policy": "oful"})
}

fn asked(id: &str) -> Value {
    json!({"context": {"hour": 0.5}, "id": id,
        "actions": [{"id": "a", "features": {"item": "a"}}, {"id": "b", "features": {"item": "b"}}]})
}

#[test]
fn names_cannot_leave_the_folder() {
    let folder = Scratch::new();
    let service = Service::start(&folder.path("data"), &[]);
    let mut client = service.client();
    let (outside, inside) = (files(&folder.path(".")), files(&folder.path("data")));
    let long = "x".repeat(101);
    for name in [
        "..",
        ".",
        "%2e%2e",
        "..%2F..%2Fetc",
        "..%5C..%5Cx",
        "%2Fetc%2Fpasswd",
        "a%2Fb",
        ".hidden",
        "%00",
        "a%00b",
        "a%0ab",
        "a%20b",
        "%3Cscript%3E",
        "%C3%A4",
        "%FF",
        "bandit-1.snapshot%2F..",
        "C:",
        &long,
    ] {
        for path in [format!("/v1/bandits/{name}"), format!("/v1/bandits/{name}/snapshot")] {
            let body =
                if path.ends_with("snapshot") { b"{}".to_vec() } else { steady().to_string().into_bytes() };
            let (status, _) = client.raw("PUT", &path, JSON, &body).expect("an answer");
            assert!(matches!(status, 400 | 404 | 422), "{path}: {status}");
        }
        for path in ["decisions", "rewards", "events", "report", "history"] {
            let method = if matches!(path, "decisions" | "rewards") { "POST" } else { "GET" };
            let path = format!("/v1/bandits/{name}/{path}");
            let (status, _) = client.raw(method, &path, JSON, b"{\"actions\":[{}]}").expect("an answer");
            assert!(matches!(status, 400 | 404 | 422), "{path}: {status}");
        }
    }
    assert_eq!(client.call("GET", "/v1/bandits", &Value::Null), (200, json!({"bandits": []})));
    assert_eq!((files(&folder.path(".")), files(&folder.path("data"))), (outside, inside));
}

/// Sends bytes as they are, and gives back the status line, if any comes.
fn send(service: &Service, bytes: &[u8], patience: Duration) -> Option<String> {
    let mut stream = TcpStream::connect(&service.address).unwrap();
    stream.set_read_timeout(Some(patience)).unwrap();
    // The service may hang up before all is sent.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let mut part = [0; 4096];
    while !answer.contains(&b'\n') {
        match stream.read(&mut part) {
            Ok(count) if count > 0 => answer.extend(&part[..count]),
            _ => break,
        }
    }
    Some(String::from_utf8_lossy(&answer).lines().next()?.to_owned())
}

#[test]
fn bodies_and_heads_that_are_too_large_or_too_slow_are_refused_and_others_do_not_wait() {
    let folder = Scratch::new();
    let service = Service::start(&folder.path("data"), &[]);
    let mut client = service.client();
    assert_eq!(client.call("PUT", "/v1/bandits/news", &steady()).0, 201);
    let head = |more: &str| {
        format!(
            "POST /v1/bandits/news/decisions HTTP/1.1\r\nhost: localhost\r\ncontent-type: {JSON}\r\n{more}\r\n"
        )
    };
    let moment = Duration::from_secs(30);
    // Heads that never end, and a body that never comes, stay open meanwhile.
    let half: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut stream = TcpStream::connect(&service.address).unwrap();
            stream
                .write_all(b"POST /v1/bandits/news/decisions HTTP/1.1\r\nhost: localhost\r\nx-a: ")
                .unwrap();
            stream
        })
        .collect();
    let begun = Instant::now();
    let slow = std::thread::spawn({
        let (address, body) = (service.address.clone(), head("content-length: 100\r\n"));
        move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(moment)).unwrap();
            stream.write_all(body.as_bytes()).unwrap();
            let mut answer = [0; 64];
            let count = stream.read(&mut answer).unwrap();
            String::from_utf8_lossy(&answer[..count]).into_owned()
        }
    });
    // More than may come, by its own words and in chunks without any.
    let large = vec![b' '; 5 << 20];
    let length = head(&format!("content-length: {}\r\n", large.len()));
    let chunked = head("transfer-encoding: chunked\r\n") + "500000\r\n";
    for head in [length, chunked] {
        let status = send(&service, &[head.as_bytes(), &large].concat(), moment);
        assert!(status.is_none_or(|line| line.contains(" 413 ")));
    }
    // Too many headers, too long a header, a head of nothing but lines.
    let many = "x-y: z\r\n".repeat(500);
    let long = format!("x-long: {}\r\n", "y".repeat(1 << 20));
    for flood in [many, long, "x\r\n".repeat(100_000)] {
        let status = send(&service, head(&flood).as_bytes(), moment);
        assert!(
            status.as_ref().is_none_or(|line| line.contains(" 431 ") || line.contains(" 400 ")),
            "{status:?}"
        );
    }
    for broken in [
        "\0\0\0\0\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET http://[::/ HTTP/1.1\r\n\r\n",
    ] {
        let status = send(&service, broken.as_bytes(), moment);
        assert!(
            status.as_ref().is_none_or(|line| line.contains(" 4") || line.contains(" 505 ")),
            "{broken:?} {status:?}"
        );
    }
    // Others were answered all the time, and quickly.
    let asking = Instant::now();
    assert_eq!(client.call("POST", "/v1/bandits/news/decisions", &asked("x")).0, 200);
    assert!(asking.elapsed() < Duration::from_secs(2));
    let answer = slow.join().unwrap();
    assert!(answer.contains(" 400 ") && begun.elapsed() < moment, "{answer}");
    drop(half);
    let (_, shown) = client.call("GET", "/v1/bandits/news", &Value::Null);
    assert_eq!(shown["decisions"], 1);
}

#[test]
fn tokens_cannot_be_guessed_from_pieces_and_readers_cannot_write() {
    let folder = Scratch::new();
    let (write, look) = ("correct-horse-battery", "correct-horse");
    let service = Service::start(&folder.path("data"), &["--token", write, "--read-token", look]);
    let mut owner = service.client();
    owner.token = Some(write.to_owned());
    assert_eq!(owner.call("PUT", "/v1/bandits/news", &steady()).0, 201);
    let mut client = service.client();
    let try_all = |client: &mut Client| {
        [
            ("GET", "/v1/bandits", Value::Null),
            ("GET", "/v1/bandits/news/snapshot", Value::Null),
            ("GET", "/v1/bandits/news/events", Value::Null),
            ("GET", "/metrics", Value::Null),
            ("POST", "/v1/bandits/news/explain", asked("x")),
            ("POST", "/v1/bandits/news/decisions", asked("x")),
            ("POST", "/v1/bandits/news/renew", Value::Null),
            ("PATCH", "/v1/bandits/news", json!({"mode": "frozen"})),
            ("PUT", "/v1/bandits/other", steady()),
            ("POST", "/bandits/news/personalizer/v1.0/rank", json!({"actions": [{"id": "a"}]})),
        ]
        .map(|(method, path, body)| client.raw(method, path, JSON, body.to_string().as_bytes()).unwrap().0)
    };
    let mut guesses: Vec<String> = (0..=write.len())
        .map(|end| write[..end].to_owned())
        .filter(|guess| guess != look && guess != write)
        .collect();
    guesses.extend([
        format!("{write} "),
        format!("{write}x"),
        write.to_uppercase(),
        "*".to_owned(),
        "null".to_owned(),
    ]);
    // Whitespace at the end of a header is no part of it.
    guesses.retain(|guess| guess.trim() == guess);
    for guess in guesses {
        client.headers = format!("authorization: Bearer {guess}\r\n");
        assert!(try_all(&mut client).iter().all(|status| *status == 401), "{guess:?}");
    }
    for headers in [
        format!("authorization: Basic {write}\r\n"),
        format!("authorization: {write}\r\n"),
        format!("authorization: bearer\r\nx-token: {write}\r\n"),
        format!("cookie: token={write}\r\n"),
    ] {
        client.headers = headers;
        assert!(try_all(&mut client).iter().all(|status| *status == 401), "{}", client.headers);
    }
    client.headers = String::new();
    assert_eq!(client.raw("GET", &format!("/v1/bandits?token={write}"), "", b"").unwrap().0, 401);
    // Who may look sees everything and changes nothing.
    for headers in
        [format!("authorization: Bearer {look}\r\n"), format!("ocp-apim-subscription-key: {look}\r\n")]
    {
        client.headers = headers;
        assert_eq!(try_all(&mut client), [200, 200, 200, 200, 200, 401, 401, 401, 401, 401]);
    }
    let (_, shown) = owner.call("GET", "/v1/bandits/news", &Value::Null);
    assert_eq!((&shown["decisions"], &shown["mode"]), (&json!(0), &json!("live")));
    // Health, the page and the document need none, and tell none.
    for path in ["/healthz", "/", "/page.js", "/openapi.json"] {
        let (status, body) = service.client().raw("GET", path, "", b"").unwrap();
        assert!(status == 200 && !String::from_utf8_lossy(&body).contains(write), "{path}");
    }
    // An empty token would be everybody's.
    let data = folder.path("other");
    let empty =
        truenorth(&["serve", "--listen", "127.0.0.1:0", "--token", "", "--data", data.to_str().unwrap()]);
    assert!(empty.code == 2 && empty.stderr.contains("a token is empty"), "{}", empty.stderr);
}

#[test]
fn pages_of_other_sites_cannot_call() {
    let folder = Scratch::new();
    let service = Service::start(&folder.path("data"), &[]);
    let mut client = service.client();
    assert_eq!(client.call("PUT", "/v1/bandits/news", &steady()).0, 201);
    let before = client.bytes("/v1/bandits/news/snapshot");
    let calls: [(&str, &str, &str, Value); 5] = [
        ("POST", "/v1/bandits/news/renew", "", Value::Null),
        ("POST", "/v1/bandits/news/decisions", JSON, asked("x")),
        ("POST", "/bandits/news/personalizer/v1.0/events/x/activate", "text/plain", Value::Null),
        ("PATCH", "/v1/bandits/news", JSON, json!({"mode": "frozen"})),
        ("GET", "/v1/bandits/news/events", "", Value::Null),
    ];
    for origin in
        ["http://evil.example", "null", "http://localhost:9", "http://localhost.evil.example", "https://"]
    {
        client.headers = format!("origin: {origin}\r\n");
        for (method, path, kind, body) in &calls {
            let (status, answer) = client.raw(method, path, kind, body.to_string().as_bytes()).unwrap();
            assert_eq!(status, 400, "{origin} {path}");
            assert!(String::from_utf8(answer).unwrap().contains("other_origin"));
        }
    }
    // A name that somebody else lets point here: no browser sends it on behalf of this machine.
    let rebound = "GET /v1/bandits/news HTTP/1.1\r\nhost: evil.example:8700\r\n\r\n";
    assert!(send(&service, rebound.as_bytes(), Duration::from_secs(10)).unwrap().contains(" 400 "));
    for own in ["localhost", "127.0.0.1", "[::1]"] {
        let own =
            format!("GET /v1/bandits/news HTTP/1.1\r\nhost: {own}:8700\r\norigin: http://{own}:8700\r\n\r\n");
        assert!(send(&service, own.as_bytes(), Duration::from_secs(10)).unwrap().contains(" 200 "));
    }
    // What a form may send without asking first is no JSON, and nobody is told that others may call.
    client.headers = String::new();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""] {
        let body = asked("x").to_string();
        assert_eq!(
            client.raw("POST", "/v1/bandits/news/decisions", kind, body.as_bytes()).unwrap().0,
            400,
            "{kind}"
        );
    }
    let preflight = "OPTIONS /v1/bandits/news/decisions HTTP/1.1\r\nhost: localhost\r\norigin: http://evil.example\r\naccess-control-request-method: POST\r\n\r\n";
    let mut stream = TcpStream::connect(&service.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    stream.write_all(preflight.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).to_lowercase();
    assert!(answer.starts_with("http/1.1 4") && !answer.contains("access-control"), "{answer}");
    assert_eq!(client.bytes("/v1/bandits/news/snapshot"), before);
}

/// Numbers that look random, and are the same every time.
fn dice(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap()
}

/// A body with something wrong in it, perhaps.
fn damaged(body: &[u8], state: &mut u64) -> Vec<u8> {
    const PIECES: [&[u8]; 16] = [
        b"null",
        b"1e999",
        b"-1e308",
        b"{}",
        b"[]",
        b"\"\"",
        b"[[[[[[[[",
        b"\xff\xfe",
        b"\0",
        b"9223372036854775808",
        b"-0",
        b"\"\\ud800\"",
        b"true",
        b",",
        b"\"id\":\"a\",",
        b"1e-320",
    ];
    let mut body = body.to_vec();
    for _ in 0..=dice(state) % 3 {
        let at = dice(state) % (body.len() + 1);
        let end = (at + dice(state) % 12).min(body.len());
        match dice(state) % 5 {
            0 => body.truncate(at),
            1 => drop(body.splice(at..end, PIECES[dice(state) % PIECES.len()].iter().copied())),
            2 => drop(body.drain(at..end)),
            3 => {
                let copy = body[at..end].to_vec();
                drop(body.splice(at..at, copy));
            }
            _ if at < body.len() => body[at] ^= 1 << (dice(state) % 8),
            _ => {}
        }
    }
    body
}

#[test]
fn no_body_breaks_the_service_and_what_is_refused_changes_nothing() {
    let folder = Scratch::new();
    let service = Service::start(&folder.path("data"), &[]);
    let mut client = service.client();
    assert_eq!(client.call("PUT", "/v1/bandits/news", &steady()).0, 201);
    assert_eq!(client.call("PUT", "/v1/bandits/list", &json!({"dimension": 2, "policy": "oful"})).0, 201);
    let list = json!({"actions": [{"id": "a", "features": [1, 2]}, {"features": [0.5, -1e-3]}]});
    let rank = json!({"contextFeatures": [{"hour": 1}], "actions": [{"id": "a", "features": [{"item": "a"}]}], "excludedActions": [], "eventId": "e", "deferActivation": false});
    let certificate = json!({"dimension": 2, "policy": "truenorth-confidence", "certificate": {"matrix": [[1, 0], [0, 1]], "rho": 0.1}, "noise": 1, "horizon": 100});
    let calls = [
        ("POST", "/v1/bandits/news/decisions", asked("one")),
        ("POST", "/v1/bandits/list/decisions", list),
        ("POST", "/v1/bandits/news/decisions:batch", json!({"decisions": [asked("two"), asked("three")]})),
        ("POST", "/v1/bandits/news/explain", asked("x")),
        ("POST", "/v1/bandits/news/rewards", json!({"decision_id": "one", "reward": 0.5, "played": "b"})),
        (
            "POST",
            "/v1/bandits/news/rewards",
            json!([{"decision_id": "two", "reward": 1}, {"decision_id": "three", "reward": -1e9}]),
        ),
        ("PATCH", "/v1/bandits/news", json!({"mode": "live"})),
        ("PUT", "/v1/bandits/made", certificate),
        ("PUT", "/v1/bandits/news/snapshot", json!("nothing of the kind")),
        ("POST", "/bandits/news/personalizer/v1.0/rank", rank),
        ("POST", "/bandits/news/personalizer/v1.0/events/one/reward", json!({"value": 0.5})),
    ];
    let deep = "[".repeat(100_000);
    let rounds =
        std::env::var("TRUENORTH_BODIES").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1500);
    let (mut state, mut refused) = (1, 0);
    let shown =
        |client: &mut Client| ["news", "list"].map(|name| client.bytes(&format!("/v1/bandits/{name}")));
    let mut before = shown(&mut client);
    for round in 0..rounds {
        let (method, path, body) = &calls[round % calls.len()];
        let body = match round {
            0..11 => deep.as_bytes().to_vec(),
            _ => damaged(body.to_string().as_bytes(), &mut state),
        };
        let (status, answer) = client.raw(method, path, JSON, &body).expect("an answer");
        let body = String::from_utf8_lossy(&body[..body.len().min(500)]).into_owned();
        assert!(status < 500, "{method} {path} {body}: {status}");
        let after = shown(&mut client);
        if status >= 400 {
            refused += 1;
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            let said = answer["error"]["code"].is_string() && answer["error"]["message"].is_string();
            assert!(said && after == before, "{method} {path} {body}: {answer}");
        }
        before = after;
    }
    assert!(refused > rounds / 3, "{refused}");
    service.stop();
    let whole = truenorth(&["verify", folder.path("data").to_str().unwrap()]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
}
