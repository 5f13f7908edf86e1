//! Listening, limits, tokens; which call does what.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use serde::Deserialize;
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;

use crate::api::{Object, Problem, Refusal, Refused};
use crate::engine::{self, Engine};
use crate::history::{History, bucket};
use crate::jetstream::Jetstream;
use crate::journal::StoreError;
use crate::spec::Spec;

use crate::{metrics, personalizer, routes};

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
    /// Bandits that are made unless they are there: a name, and a summary's file or a model.
    pub bandits: Vec<(String, String)>,
    /// How many days the journal is kept; for ever if nobody says so.
    pub keep_days: Option<f64>,
    /// Servers of NATS, where it is one of several replicas: `nats://one:4222,two:4222`.
    pub journal: Option<String>,
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
        let mut http = http1::Builder::new();
        // Whoever sends no request for so long, or too much of a head, is hung up on.
        http.timer(TokioTimer::new())
            .header_read_timeout(IDLE)
            .max_headers(HEADERS)
            .max_buf_size(LARGEST_HEAD);
        let (graceful, connections) = (GracefulShutdown::new(), Arc::new(Semaphore::new(CONNECTIONS)));
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = &mut stop => break,
            };
            let Ok((stream, _)) = accepted else {
                // Too many open files, for example: some will be closed.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let Ok(place) = Arc::clone(&connections).try_acquire_owned() else { continue };
            let _ = stream.set_nodelay(true);
            let service = TowerToHyperService::new(self.router.clone());
            let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
            tokio::spawn(async move {
                // Whoever called may have gone.
                let _ = connection.await;
                drop(place);
            });
        }
        let _ = tokio::time::timeout(PATIENCE, graceful.shutdown()).await;
        Ok(())
    }
}

/// Bodies of calls, and of what may hold a summary or a state.
const LARGEST_BODY: usize = 4 << 20;
pub(crate) const LARGEST_UPLOAD: usize = 64 << 20;
/// All headers together, and how many of them.
const LARGEST_HEAD: usize = 64 << 10;
const HEADERS: usize = 100;
/// How long a connection may be without a whole head of a request; those of clients that call again are kept so long.
const IDLE: Duration = Duration::from_mins(1);
/// How long a body may take to arrive, besides a second a megabyte that it may have; how long the last answers may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long an answer may take.
const WORK: Duration = Duration::from_mins(1);
/// Connections that are open, and calls that are being answered, at one time.
const CONNECTIONS: usize = 4096;
const AT_ONCE: usize = 2048;
/// Upper ends of the latency histogram, in seconds.
pub(crate) const BUCKETS: [f64; 10] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0];

pub(crate) struct Service {
    pub(crate) engine: Engine,
    token: Option<String>,
    read_token: Option<String>,
    /// Whether only programs on this machine may call, and nothing else tells them from others.
    local: bool,
    places: Semaphore,
    pub(crate) latency: [AtomicU64; BUCKETS.len() + 1],
    pub(crate) latency_sum: AtomicU64,
    pub(crate) history: History,
    /// Whether a bandit's fields are named as in Personalizer's logs, by its name.
    pub(crate) logged_names: Mutex<HashMap<String, bool>>,
    pub(crate) trusts: metrics::Known,
}

pub(crate) type Shared = Arc<Service>;
pub(crate) type Answered = Result<Response, Refused>;

impl Service {
    pub(crate) fn needs_token(&self) -> bool {
        self.token.is_some()
    }

    pub(crate) fn took(&self, seconds: f64) {
        self.latency[bucket(seconds)].fetch_add(1, Ordering::Relaxed);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a time; casts saturate"
        )]
        self.latency_sum.fetch_add((seconds * 1e9) as u64, Ordering::Relaxed);
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let refusal = Refusal { error: Problem { code: self.code, message: self.message } };
        (status, json_text(serde_json::to_string(&refusal).unwrap_or_default())).into_response()
    }
}

/// Why nothing is served.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub enum NotServed {
    /// It was told what cannot be, and has touched nothing.
    Told(String),
    /// It cannot listen, or use its folder.
    Failed(#[from] StoreError),
}

impl Options {
    /// Refuses what cannot be before anything is made of it, and gives what bandits are made from.
    fn check(&self) -> Result<Vec<(String, Spec)>, String> {
        let Self { listen, data, token, read_token, open, bandits, keep_days, journal } = self;
        if !listen.ip().is_loopback() && token.is_none() && !open {
            return Err(format!(
                "{listen} can be reached from other machines: give a --token, or say --open if everybody may do everything"
            ));
        }
        if [token, read_token].into_iter().any(|token| token.as_deref() == Some("")) {
            return Err("a token is empty, so that everybody would have it".to_owned());
        }
        if let Some(days) = keep_days.filter(|days| days.is_nan() || *days <= 0.0) {
            return Err(format!("`--keep-days` must be above 0, but is {days}"));
        }
        if data.is_file() {
            return Err(format!("{}: this is a file; a folder is needed", data.display()));
        }
        if let Some(servers) = journal {
            Jetstream::addresses(servers).map_err(|error| error.to_string())?;
        }
        let spec = |(name, told): &(String, String)| {
            check_name(name)?;
            let spec = Spec::from_file_or_model(told)?;
            // Made once more where it is kept; here it shows that it can be.
            spec.bandit()?;
            Ok((name.clone(), spec))
        };
        let named = |bandit: &(String, String)| {
            spec(bandit).map_err(|refused: Refused| format!("bandit `{}`: {}", bandit.0, refused.message))
        };
        bandits.iter().map(named).collect()
    }
}

/// Opens the folder and starts to listen.
pub async fn serve(options: Options) -> Result<Listening, NotServed> {
    let bandits = options.check().map_err(NotServed::Told)?;
    let Options { listen, data, token, read_token, open, keep_days, journal, .. } = options;
    let listener = tokio::net::TcpListener::bind(listen).await.map_err(|error| {
        StoreError(format!("cannot listen at {listen}: {error}; `--listen` names another address"))
    })?;
    let address = listener.local_addr().map_err(|error| StoreError(error.to_string()))?;
    let engine = match journal {
        Some(servers) => Engine::join(&servers, data, keep_days).await?,
        None => tokio::task::spawn_blocking(move || Engine::start(&data, keep_days))
            .await
            .map_err(|error| StoreError(format!("the journal cannot be folded: {error}")))??,
    };
    for (name, spec) in bandits {
        let failed = |refused: Refused| StoreError(format!("bandit `{name}`: {}", refused.message));
        match engine.call(&name, engine::Call::Create(Box::new(spec))).await {
            Err(refused) if refused.status == 409 => tracing::warn!(
                bandit = name,
                "there is one of this name that was made of something else, and it goes on as it is; DELETE /v1/bandits/{name} lets the next start make it anew"
            ),
            made => drop(made.map_err(failed)?),
        }
    }
    let service = Arc::new(Service {
        engine,
        local: listen.ip().is_loopback() && token.is_none() && !open,
        token,
        read_token,
        places: Semaphore::new(AT_ONCE),
        latency: Default::default(),
        latency_sum: AtomicU64::new(0),
        history: History::default(),
        logged_names: Mutex::default(),
        trusts: metrics::Known::default(),
    });
    tokio::spawn(History::keep(Arc::downgrade(&service)));
    Ok(Listening { address, listener, router: router(service) })
}

fn router(service: Shared) -> Router {
    let (guarded, open, document) = routes::calls().finish(service.needs_token());
    let document: Arc<str> = document.into();
    let unknown = || async { unknown_call() };
    guarded
        .route_layer(middleware::from_fn_with_state(Arc::clone(&service), guard))
        .merge(open)
        .layer(axum::Extension(document))
        .fallback(any(unknown))
        .method_not_allowed_fallback(unknown)
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
pub(crate) async fn ready(State(service): State<Shared>) -> Answered {
    service.engine.check()?;
    Ok("ready\n".into_response())
}

fn unknown_call() -> Refused {
    Refused::new(404, "unknown_call", "there is no such call; all calls are at /openapi.json")
}

/// Lets a call through whose token allows it, and which no page of another site has made.
async fn guard(State(service): State<Shared>, request: Request, next: Next) -> Response {
    if let Err(refused) = allowed(&service, &request).and_then(|()| own(&service, request.headers())) {
        return refused.into_response();
    }
    let Ok(_place) = service.places.try_acquire() else {
        return Refused::unavailable("too many calls at once; try again").into_response();
    };
    let answered = tokio::time::timeout(WORK, next.run(request)).await;
    answered.unwrap_or_else(|_| Refused::unavailable("this call takes too long").into_response())
}

fn allowed(service: &Service, request: &Request) -> Result<(), Refused> {
    let Some(token) = &service.token else { return Ok(()) };
    let headers = request.headers();
    let bearer = text(headers, header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    let given = bearer.or_else(|| text(headers, "ocp-apim-subscription-key")).unwrap_or_default();
    let is = |token: &str| bool::from(given.as_bytes().ct_eq(token.as_bytes()));
    let reads =
        matches!(*request.method(), Method::GET | Method::HEAD) || request.uri().path().ends_with("/explain");
    // Both are always compared, so that the time tells nothing.
    let (writes, looks) = (is(token), service.read_token.as_deref().is_some_and(is));
    if writes || reads && looks {
        return Ok(());
    }
    Err(Refused::new(401, "unauthorized", "this call needs a token that allows it"))
}

fn text(headers: &HeaderMap, name: impl header::AsHeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Refuses what a browser sends for a page of another site. Where nothing but the address protects the service, the name that
/// was called must be this machine's, because any site may let a name of its own point here.
fn own(service: &Service, headers: &HeaderMap) -> Result<(), Refused> {
    let host = text(headers, header::HOST).unwrap_or_default();
    let other = headers.contains_key(header::ORIGIN)
        && text(headers, header::ORIGIN).and_then(|origin| origin.split_once("://")).map(|(_, host)| host)
            != Some(host);
    if other || service.local && !is_this_machine(host) {
        return Err(Refused::new(400, "other_origin", "this call comes from a page of another site"));
    }
    Ok(())
}

fn is_this_machine(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()));
    let name = name.map_or(host, |(name, _)| name).trim_matches(['[', ']']);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
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
        let kind = text(&parts.headers, header::CONTENT_TYPE).unwrap_or_default();
        if !kind.to_ascii_lowercase().contains("json") {
            return Err(Refused::new(400, "not_json", "the content-type must be application/json"));
        }
        let largest = if parts.method == Method::PUT { LARGEST_UPLOAD } else { LARGEST_BODY };
        let bytes = arrived(body, largest).await?;
        let text = String::from_utf8(bytes.into());
        let text = text.map_err(|_| Refused::new(400, "not_json", "the body is not UTF-8"))?;
        let Named { name, event, .. } = Named::from_request_parts(&mut parts, service).await?;
        Ok(Self { service: Arc::clone(service), name, event, text })
    }
}

/// What the path names.
pub(crate) struct Named {
    pub(crate) service: Shared,
    pub(crate) name: String,
    pub(crate) event: String,
}

impl FromRequestParts<Shared> for Named {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, service: &Shared) -> Result<Self, Refused> {
        let named = Path::<HashMap<String, String>>::from_request_parts(parts, service).await;
        let Path(mut named) = named.map_err(|error| Refused::invalid(error.to_string()))?;
        if named.get("version").is_some_and(|version| !personalizer::VERSIONS.contains(&version.as_str())) {
            return Err(unknown_call());
        }
        let mut part = |name: &str| named.remove(name).unwrap_or_default();
        Ok(Self { service: Arc::clone(service), name: part("name"), event: part("event") })
    }
}

/// A whole body of at most so many bytes.
pub(crate) async fn arrived(body: Body, largest: usize) -> Result<Bytes, Refused> {
    let patience = PATIENCE + Duration::from_secs(largest as u64 >> 20);
    let read = tokio::time::timeout(patience, to_bytes(body, largest)).await;
    read.map_err(|_| Refused::new(400, "too_slow", "the body took too long to arrive"))?.map_err(|_| {
        Refused::new(413, "too_large", format!("the body has more than {largest} bytes, or broke off"))
    })
}

/// Reads an object of JSON.
pub(crate) fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Refused> {
    parse_list(text).map(|Object(object)| object)
}

/// Reads JSON; what is no JSON at all is another error than what has the wrong shape.
pub(crate) fn parse_list<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Refused> {
    serde_json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Data => Refused::invalid(error.to_string()),
        _ if text.trim().is_empty() => Refused::new(400, "not_json", "nothing was sent"),
        _ => Refused::new(400, "not_json", format!("this is not JSON: {error}")),
    })
}

pub(crate) fn json_text(text: String) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

#[cfg(test)]
mod tests {
    use super::is_this_machine;

    #[test]
    fn only_names_of_this_machine_are_its_own() {
        for own in
            ["localhost", "LOCALHOST:8700", "127.0.0.1", "127.0.0.1:80", "127.1.2.3:1", "[::1]", "[::1]:8700"]
        {
            assert!(is_this_machine(own), "{own}");
        }
        for other in [
            "",
            ":",
            "evil.example",
            "localhost.evil.example:8700",
            "127.0.0.1.evil.example",
            "0.0.0.0",
            "10.0.0.1:8700",
            "[::2]:1",
        ] {
            assert!(!is_this_machine(other), "{other}");
        }
    }
}
