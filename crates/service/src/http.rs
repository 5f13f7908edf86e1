//! The calls over HTTP.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, FromRequestParts as _, Path, Request, State};
use axum::http::{Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post, put};
use serde::Deserialize;
use serde_json::{Value, json};
use subtle::ConstantTimeEq as _;

use crate::api::{Asked, Paid, Refused};
use crate::engine::{Answer, Call, Engine, View};
use crate::journal::StoreError;
use crate::spec::{Mode, Spec};
use crate::{export, metrics, personalizer};

/// How a service is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Its folder of data.
    pub data: PathBuf,
    /// The token that allows everything; without one, everybody may do everything.
    pub token: Option<String>,
    /// The token that allows to look.
    pub read_token: Option<String>,
    /// Whether it may listen beyond this machine without a token.
    pub open: bool,
    /// How many days the journal is kept; for ever if nobody says so.
    pub keep_days: Option<f64>,
}

/// A service that listens.
pub struct Listening {
    /// Where.
    pub address: SocketAddr,
    listener: tokio::net::TcpListener,
    router: Router,
}

impl std::fmt::Debug for Listening {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Listening").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Listening {
    /// Answers until `stop` is done; then finishes what has begun.
    pub async fn run(self, stop: impl Future<Output = ()> + Send + 'static) -> std::io::Result<()> {
        axum::serve(self.listener, self.router).with_graceful_shutdown(stop).await
    }
}

/// Bodies of calls, and of what may hold a summary or a state.
const LARGEST_BODY: usize = 4 << 20;
const LARGEST_UPLOAD: usize = 64 << 20;
/// How long a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(20);
/// Upper ends of the latency histogram, in seconds.
pub(crate) const BUCKETS: [f64; 10] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0];

pub(crate) struct Service {
    pub(crate) engine: Engine,
    token: Option<String>,
    read_token: Option<String>,
    pub(crate) latency: [AtomicU64; BUCKETS.len() + 1],
    pub(crate) latency_sum: AtomicU64,
    /// Whether a bandit's fields are named as in Personalizer's logs, by its name.
    pub(crate) logged_names: Mutex<HashMap<String, bool>>,
    pub(crate) trusts: metrics::Known,
}

pub(crate) type Shared = Arc<Service>;
pub(crate) type Answered = Result<Response, Refused>;

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = json!({"error": {"code": self.code, "message": self.message}});
        (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
    }
}

/// Opens the folder and starts to listen.
pub async fn serve(options: Options) -> Result<Listening, StoreError> {
    let Options { listen, data, token, read_token, open, keep_days } = options;
    if !listen.ip().is_loopback() && token.is_none() && !open {
        return Err(StoreError(format!(
            "{listen} can be reached from other machines: give a --token, or say --open if everybody may do everything"
        )));
    }
    let listener = tokio::net::TcpListener::bind(listen)
        .await
        .map_err(|error| StoreError(format!("cannot listen at {listen}: {error}")))?;
    let address = listener.local_addr().map_err(|error| StoreError(error.to_string()))?;
    let engine = tokio::task::spawn_blocking(move || Engine::start(&data, keep_days))
        .await
        .map_err(|error| StoreError(format!("the journal cannot be folded: {error}")))??;
    let service = Arc::new(Service {
        engine,
        token,
        read_token,
        latency: Default::default(),
        latency_sum: AtomicU64::new(0),
        logged_names: Mutex::default(),
        trusts: metrics::Known::default(),
    });
    Ok(Listening { address, listener, router: router(service) })
}

fn router(service: Shared) -> Router {
    let bandit = put(create).get(show).patch(change);
    let calls = Router::new()
        .route("/v1/bandits", get(list))
        .route("/v1/bandits/{name}", bandit)
        .route("/v1/bandits/{name}/decisions", post(decide))
        .route("/v1/bandits/{name}/decisions:batch", post(decide_batch))
        .route("/v1/bandits/{name}/explain", post(explain))
        .route("/v1/bandits/{name}/rewards", post(reward))
        .route("/v1/bandits/{name}/renew", post(renew))
        .route("/v1/bandits/{name}/report", get(report))
        .route("/v1/bandits/{name}/snapshot", get(snapshot).put(restore))
        .route("/v1/bandits/{name}/events", get(export::events))
        .route("/bandits/{name}/personalizer/v1.0/rank", post(personalizer::rank))
        .route("/bandits/{name}/personalizer/v1.0/events/{event}/reward", post(personalizer::reward))
        .route("/bandits/{name}/personalizer/v1.0/events/{event}/activate", post(personalizer::activate))
        .route("/bandits/{name}/personalizer/v1.0/status", get(personalizer::status))
        .route("/metrics", get(metrics::metrics))
        .route_layer(middleware::from_fn_with_state(Arc::clone(&service), allowed));
    Router::new()
        .merge(calls)
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/openapi.json", get(|| async { json_text(include_str!("openapi.json").to_owned()) }))
        .route("/", get(page))
        .fallback(any(|| async { Refused::new(404, "unknown_call", "there is no such call") }))
        .method_not_allowed_fallback(|| async { Refused::new(404, "unknown_call", "there is no such call") })
        .layer(middleware::from_fn(logged))
        .with_state(service)
}

/// Says which call was answered how, without its body, its query or its headers, which may hold secrets.
async fn logged(request: Request, next: Next) -> Response {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return next.run(request).await;
    }
    let (method, path, since) = (request.method().clone(), request.uri().path().to_owned(), Instant::now());
    let response = next.run(request).await;
    let (status, seconds) = (response.status().as_u16(), since.elapsed().as_secs_f64());
    tracing::debug!(%method, path, status, seconds, "answered");
    response
}

/// Whether calls are accepted.
async fn ready(State(service): State<Shared>) -> Answered {
    service.engine.check()?;
    Ok("ready\n".into_response())
}

async fn page() -> Response {
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:";
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    (headers, include_str!("page.html")).into_response()
}

/// Lets a call through whose token allows it.
async fn allowed(State(service): State<Shared>, request: Request, next: Next) -> Response {
    let Some(token) = &service.token else { return next.run(request).await };
    let headers = request.headers();
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
    let key = headers.get("ocp-apim-subscription-key").and_then(|value| value.to_str().ok());
    let given = bearer.or(key).unwrap_or_default();
    let is = |token: &str| bool::from(given.as_bytes().ct_eq(token.as_bytes()));
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    // Both are always compared, so that the time tells nothing.
    let (writes, looks) = (is(token), service.read_token.as_deref().is_some_and(is));
    if writes || reads && looks {
        return next.run(request).await;
    }
    Refused::new(401, "unauthorized", "this call needs a token that allows it").into_response()
}

pub(crate) fn check_name(name: &str) -> Result<(), Refused> {
    let usual = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    if (1..=100).contains(&name.len()) && name.chars().all(usual) && !name.starts_with('.') {
        return Ok(());
    }
    Err(Refused::invalid(
        "a bandit's name has 1 to 100 letters, digits, dots, dashes and underscores, and no dot in front",
    ))
}

/// A call with a body of JSON: the bandit's name, the event's id where the path has one, and the body as text.
pub(crate) struct Sent {
    pub(crate) service: Shared,
    pub(crate) name: String,
    pub(crate) event: String,
    pub(crate) text: String,
}

impl FromRequest<Shared> for Sent {
    type Rejection = Refused;

    async fn from_request(request: Request, service: &Shared) -> Result<Self, Refused> {
        let (mut parts, body) = request.into_parts();
        let kind =
            parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.to_ascii_lowercase().contains("json") {
            return Err(Refused::new(400, "not_json", "the content-type must be application/json"));
        }
        let largest = if parts.method == Method::PUT { LARGEST_UPLOAD } else { LARGEST_BODY };
        let bytes = arrived(body, largest).await?;
        let text = String::from_utf8(bytes.into());
        let text = text.map_err(|_| Refused::new(400, "not_json", "the body is not UTF-8"))?;
        let named = Path::<HashMap<String, String>>::from_request_parts(&mut parts, service).await;
        let Path(mut named) = named.map_err(|error| Refused::invalid(error.to_string()))?;
        let mut part = |name: &str| named.remove(name).unwrap_or_default();
        Ok(Self { service: Arc::clone(service), name: part("name"), event: part("event"), text })
    }
}

/// A whole body of at most so many bytes.
async fn arrived(body: Body, largest: usize) -> Result<Bytes, Refused> {
    let read = tokio::time::timeout(PATIENCE, to_bytes(body, largest)).await;
    read.map_err(|_| Refused::new(400, "too_slow", "the body took too long to arrive"))?.map_err(|_| {
        Refused::new(413, "too_large", format!("the body has more than {largest} bytes, or broke off"))
    })
}

/// Reads JSON; what is no JSON at all is another error than what has the wrong shape.
pub(crate) fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Refused> {
    serde_json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => Refused::invalid(error.to_string()),
        _ => Refused::new(400, "not_json", error.to_string()),
    })
}

pub(crate) fn json_text(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

fn answered(status: u16, value: &Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    (status, json_text(value.to_string())).into_response()
}

async fn create(Sent { service, name, text, .. }: Sent) -> Answered {
    check_name(&name)?;
    let spec: Spec = parse(&text)?;
    match service.engine.call(&name, Call::Create(Box::new(spec))).await? {
        Answer::Created(new, view) => Ok(answered(if new { 201 } else { 200 }, &shown(*view).await?)),
        _ => Err(Refused::unavailable("an answer to another call")),
    }
}

pub(crate) async fn viewed(service: &Service, name: &str) -> Result<View, Refused> {
    match service.engine.call(name, Call::View).await? {
        Answer::View(view) => Ok(*view),
        _ => Err(Refused::unavailable("an answer to another call")),
    }
}

/// A bandit as JSON. What is known of features takes a while, so another thread does it.
async fn shown(view: View) -> Result<Value, Refused> {
    let shown = tokio::task::spawn_blocking(move || {
        let views = view.policy.features().map_err(|error| Refused::unavailable(error.to_string()))?;
        let named = |(name, view): (&String, &truenorth::FeatureView)| {
            json!({"name": name, "estimate": view.estimate, "coverage": view.coverage, "drift": view.drift,
                "stderr": view.stderr, "trust": view.trust})
        };
        let counts = view.counts;
        Ok(json!({
            "name": view.name,
            "policy": view.spec.policy.as_deref().unwrap_or("truenorth"),
            "mode": view.mode.name(),
            "model": view.model,
            "warnings": view.warnings,
            "decisions": counts.decisions,
            "rewards": counts.rewards,
            "open": counts.open,
            "expired": counts.expired,
            "joined": counts.joined,
            "conflicts": counts.conflicts,
            "pooled_share": counts.pooled_share,
            "mean_reward": counts.mean_reward,
            "logs_hold": view.policy.logs_hold(),
            "noise": view.policy.noise(),
            "level": view.policy.level(),
            "logged_rows": view.policy.logs().count(),
            "settings": view.spec,
            "features": view.names.iter().zip(&views).map(named).collect::<Vec<_>>(),
        }))
    });
    shown.await.map_err(|error| Refused::unavailable(error.to_string()))?
}

async fn show(State(service): State<Shared>, Path(name): Path<String>) -> Answered {
    Ok(answered(200, &shown(viewed(&service, &name).await?).await?))
}

async fn list(State(service): State<Shared>) -> Answered {
    Ok(answered(200, &json!({"bandits": service.engine.names()})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Changes {
    mode: Mode,
}

async fn change(Sent { service, name, text, .. }: Sent) -> Answered {
    let Changes { mode } = parse(&text)?;
    service.engine.call(&name, Call::Mode(mode)).await?;
    Ok(answered(200, &json!({"mode": mode.name()})))
}

async fn renew(State(service): State<Shared>, Path(name): Path<String>) -> Answered {
    service.engine.call(&name, Call::Renew).await?;
    Ok(answered(200, &json!({"renewed": true})))
}

impl Service {
    fn took(&self, since: Instant) {
        let seconds = since.elapsed().as_secs_f64();
        let bucket = BUCKETS.iter().position(|end| seconds <= *end).unwrap_or(BUCKETS.len());
        self.latency[bucket].fetch_add(1, Ordering::Relaxed);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a time; casts saturate"
        )]
        self.latency_sum.fetch_add((seconds * 1e9) as u64, Ordering::Relaxed);
    }

    pub(crate) async fn decided(
        &self,
        name: &str,
        asked: Vec<Asked>,
    ) -> Result<Vec<Result<crate::api::Decided, Refused>>, Refused> {
        let since = Instant::now();
        let answer = self.engine.call(name, Call::Decide(asked)).await?;
        self.took(since);
        match answer {
            Answer::Decided(decided) => Ok(decided),
            _ => Err(Refused::unavailable("an answer to another call")),
        }
    }

    pub(crate) async fn paid(
        &self,
        name: &str,
        paid: Vec<Paid>,
    ) -> Result<Vec<Result<(), Refused>>, Refused> {
        match self.engine.call(name, Call::Pay(paid)).await? {
            Answer::Paid(paid) => Ok(paid),
            _ => Err(Refused::unavailable("an answer to another call")),
        }
    }
}

/// The only one of a list.
pub(crate) fn only<T>(list: Vec<Result<T, Refused>>) -> Result<T, Refused> {
    list.into_iter().next().unwrap_or_else(|| Err(Refused::unavailable("no answer")))
}

async fn decide(Sent { service, name, text, .. }: Sent) -> Answered {
    let decided = only(service.decided(&name, vec![parse(&text)?]).await?)?;
    Ok(json_text(serde_json::to_string(&decided).map_err(|error| Refused::unavailable(error.to_string()))?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Batch {
    decisions: Vec<Asked>,
}

fn each<T: serde::Serialize>(done: Vec<Result<T, Refused>>) -> Vec<Value> {
    let one = |done: Result<T, Refused>| match done {
        Ok(done) => json!(done),
        Err(refused) => json!({"error": {"code": refused.code, "message": refused.message}}),
    };
    done.into_iter().map(one).collect()
}

async fn decide_batch(Sent { service, name, text, .. }: Sent) -> Answered {
    let Batch { decisions } = parse(&text)?;
    Ok(answered(200, &json!({"decisions": each(service.decided(&name, decisions).await?)})))
}

async fn explain(Sent { service, name, text, .. }: Sent) -> Answered {
    match service.engine.call(&name, Call::Explain(parse(&text)?)).await? {
        Answer::Explained(explained) => Ok(answered(200, &explained)),
        _ => Err(Refused::unavailable("an answer to another call")),
    }
}

async fn reward(Sent { service, name, text, .. }: Sent) -> Answered {
    if text.trim_start().starts_with('[') {
        let done = service.paid(&name, parse(&text)?).await?;
        let done = done.into_iter().map(|done| done.map(|()| json!({"accepted": true}))).collect();
        return Ok(answered(200, &json!({"rewards": each(done)})));
    }
    only(service.paid(&name, vec![parse(&text)?]).await?)?;
    Ok(answered(200, &json!({"accepted": true})))
}

async fn report(State(service): State<Shared>, Path(name): Path<String>) -> Answered {
    let mut shown = shown(viewed(&service, &name).await?).await?;
    let text = |value: &Value| value.as_f64();
    let sentence = match (text(&shown["logs_hold"]), shown["logged_rows"].as_u64()) {
        (_, Some(0) | None) => "There are no logs: all that is known comes from live rewards.".to_owned(),
        (Some(hold), _) if hold < 0.5 => {
            format!("The logs are probably of no use here: the probability that they hold is {hold:.2}.")
        }
        (Some(hold), _) => {
            let trusts =
                shown["features"].as_array().into_iter().flatten().filter_map(|view| text(&view["trust"]));
            let low = trusts.filter(|trust| *trust < 0.5).count();
            format!("The logs hold with probability {hold:.2}; {low} of their features count less than half.")
        }
        (None, _) => "This policy does not doubt its logs.".to_owned(),
    };
    shown["sentence"] = json!(sentence);
    Ok(answered(200, &shown))
}

async fn snapshot(State(service): State<Shared>, Path(name): Path<String>) -> Answered {
    match service.engine.call(&name, Call::Snapshot).await? {
        Answer::Snapshot(bytes) => {
            Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
        }
        _ => Err(Refused::unavailable("an answer to another call")),
    }
}

async fn restore(State(service): State<Shared>, Path(name): Path<String>, content: Body) -> Answered {
    let bytes = arrived(content, LARGEST_UPLOAD).await?;
    service.engine.call(&name, Call::Restore(bytes.into())).await?;
    Ok(answered(200, &json!({"restored": true})))
}
