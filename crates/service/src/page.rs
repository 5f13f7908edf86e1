//! The page: a file of markup, one of style, one of script. It calls what everybody may call.

use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};

use crate::http::Shared;

/// The page loads its own style and script and calls its own service, and nobody else has a say in it.
const RULES: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn file(kind: &'static str, text: impl IntoResponse) -> Response {
    let headers: [(HeaderName, &str); 5] = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, RULES),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        // Another version may be served next time.
        (header::CACHE_CONTROL, "no-cache"),
    ];
    (headers, text).into_response()
}

pub(crate) async fn html(State(service): State<Shared>) -> Response {
    let (text, open) = (include_str!("page/page.html"), "data-token=\"no\"");
    let text = if service.needs_token() { text.replace(open, "data-token=\"yes\"") } else { text.to_owned() };
    file("text/html; charset=utf-8", text)
}

pub(crate) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("page/page.css"))
}

pub(crate) async fn script() -> Response {
    file("text/javascript; charset=utf-8", include_str!("page/page.js"))
}
