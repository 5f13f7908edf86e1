//! Which call does what, takes what and gives what.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Extension;

use crate::answers::{
    BatchAnswer, Changed, Dropped, Names, PaidAnswer, Past, Ranked, Renewed, Restored, Status,
};
use crate::api::{Asked, Batch, Changes, Decided, Paids};
use crate::explained::Explained;
use crate::http::{json_text, ready};
use crate::openapi::{Call, Calls};
use crate::report::{Report, Shown};
use crate::spec::Spec;
use crate::{calls, export, metrics, page, personalizer};

/// All calls.
pub(crate) fn calls() -> Calls {
    others(personalizers(states(decisions(bandits(Calls::new())))))
}

fn bandits(all: Calls) -> Calls {
    all.add(
        &Call::get("/v1/bandits", "listBandits", "Names of all bandits").gives::<Names>(200, "the names"),
        calls::list,
    )
    .add(
        &Call::get("/v1/bandits/{name}", "showBandit", "What it is and has learned")
            .gives::<Shown>(200, "the bandit"),
        calls::show,
    )
    .add(
        &Call::put(
            "/v1/bandits/{name}",
            "createBandit",
            "Make a bandit; the same body again changes nothing",
        )
        .takes::<Spec>()
        .gives::<Shown>(201, "it is made")
        .gives::<Shown>(200, "it was there")
        .refuses(&[409]),
        calls::create,
    )
    .add(
        &Call::patch("/v1/bandits/{name}", "changeBandit", "Change its mode")
            .takes::<Changes>()
            .gives::<Changed>(200, "changed"),
        calls::change,
    )
    .add(
        &Call::delete("/v1/bandits/{name}", "dropBandit", "Drop it; its name is free again")
            .gives::<Dropped>(200, "it is gone"),
        calls::remove,
    )
}

fn decisions(all: Calls) -> Calls {
    all.add(
        &Call::post(
            "/v1/bandits/{name}/decisions",
            "decide",
            "Decide; the same id again gives the same answer",
        )
        .takes::<Asked>()
        .gives::<Decided>(200, "decided")
        .refuses(&[409]),
        calls::decide,
    )
    .add(
        &Call::post("/v1/bandits/{name}/decisions:batch", "decideMany", "Decide several, in their order")
            .takes::<Batch>()
            .gives::<BatchAnswer>(200, "each is decided or refused"),
        calls::decide_batch,
    )
    .add(
        &Call::post("/v1/bandits/{name}/explain", "explain", "Every action's interval; nothing is decided")
            .takes::<Asked>()
            .gives::<Explained>(200, "explained"),
        calls::explain,
    )
    .add(
        &Call::post(
            "/v1/bandits/{name}/rewards",
            "reward",
            "Learn a reward, or a list of them; the same twice counts once",
        )
        .takes::<Paids>()
        .gives::<PaidAnswer>(200, "accepted, or of a list each accepted or refused")
        .refuses(&[409]),
        calls::reward,
    )
}

fn states(all: Calls) -> Calls {
    all.add(
        &Call::post(
            "/v1/bandits/{name}/renew",
            "renew",
            "Begin a new season: all that is known becomes its logs",
        )
        .gives::<Renewed>(200, "it has begun")
        .refuses(&[422]),
        calls::renew,
    )
    .add(
        &Call::get("/v1/bandits/{name}/report", "report", "What it has learned, in words too")
            .gives::<Report>(200, "the report"),
        calls::report,
    )
    .add(
        &Call::get(
            "/v1/bandits/{name}/audit",
            "audit",
            "What its logs cover and are worth, as truenorth audit --json",
        )
        .gives::<HashMap<String, serde_json::Value>>(200, "the audit of its logs"),
        calls::audit,
    )
    .add(
        &Call::get(
            "/v1/bandits/{name}/history",
            "history",
            "What happened over time, since the service was started",
        )
        .gives::<Past>(200, "the past"),
        calls::history,
    )
    .add(
        &Call::get("/v1/bandits/{name}/snapshot", "snapshot", "The whole state").gives_raw::<String>(
            200,
            "the state",
            "application/octet-stream",
        ),
        calls::snapshot,
    )
    .add(
        &Call::put("/v1/bandits/{name}/snapshot", "restore", "Put a state in place of this one")
            .takes_raw::<String>("application/octet-stream")
            .gives::<Restored>(200, "it is in place")
            .refuses(&[409]),
        calls::restore,
    )
    .add(
        &Call::get(
            "/v1/bandits/{name}/events",
            "exportEvents",
            "Decisions and what came of them, as JSON lines",
        )
        .asks::<export::From>()
        .gives_raw::<String>(200, "an event a line", "application/x-ndjson"),
        export::events,
    )
}

fn personalizers(all: Calls) -> Calls {
    all.add(
        &Call::post("/bandits/{name}/personalizer/{version}/rank", "rank", "Personalizer: decide")
            .takes::<personalizer::Rank>()
            .gives::<Ranked>(201, "decided")
            .refuses(&[409]),
        personalizer::rank,
    )
    .add(
        &Call::post(
            "/bandits/{name}/personalizer/{version}/events/{event}/reward",
            "rewardEvent",
            "Personalizer: learn a reward",
        )
        .takes::<personalizer::Reward>()
        .gives_nothing("accepted")
        .refuses(&[409]),
        personalizer::reward,
    )
    .add(
        &Call::post(
            "/bandits/{name}/personalizer/{version}/events/{event}/activate",
            "activateEvent",
            "Personalizer: a ranking that was deferred is shown now",
        )
        .gives_nothing("its waiting time has begun"),
        personalizer::activate,
    )
    .add(
        &Call::get("/bandits/{name}/personalizer/{version}/status", "status", "Personalizer: name and mode")
            .gives::<Status>(200, "the bandit"),
        personalizer::status,
    )
}

fn others(all: Calls) -> Calls {
    let open = |path, id, summary, when, media| {
        Call::get(path, id, summary).gives_raw::<String>(200, when, media).open()
    };
    all.add(
        &Call::get("/metrics", "metrics", "Figures for Prometheus").gives_raw::<String>(
            200,
            "all figures",
            "text/plain",
        ),
        metrics::metrics,
    )
    .add(&open("/healthz", "health", "Whether it runs", "it does", "text/plain"), || async { "ok\n" })
    .add(
        &open("/readyz", "ready", "Whether calls are accepted", "they are", "text/plain").refuses(&[503]),
        ready,
    )
    .add(&open("/", "page", "The page", "for people", "text/html"), page::html)
    .add(&open("/page.css", "style", "How the page looks", "a style sheet", "text/css"), page::style)
    .add(&open("/page.js", "script", "What the page does", "a script", "text/javascript"), page::script)
    .add(
        &Call::get("/openapi.json", "document", "This document")
            .gives::<HashMap<String, serde_json::Value>>(200, "the document")
            .open(),
        |Extension(document): Extension<Arc<str>>| async move { json_text(document.to_string()) },
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::Value;

    use super::*;

    /// Every reference of a document.
    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn the_document_has_every_call_with_its_shapes_and_refusals() {
        let (_, _, document) = calls().finish(true);
        let document: Value = serde_json::from_str(&document).unwrap();
        assert_eq!(document["openapi"], "3.1.0");
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 20);
        for reference in found {
            let place = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(place).is_some(), "{reference}");
        }
        let mut ids = HashSet::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, call) in methods.as_object().unwrap() {
                let what = format!("{method} {path}");
                assert!(ids.insert(call["operationId"].as_str().unwrap()), "{what}: its id is another's");
                let responses = call["responses"].as_object().unwrap();
                assert!(responses.keys().any(|status| status.starts_with('2')), "{what}");
                let open = call["security"] == serde_json::json!([]);
                let mut expected = if open { vec![] } else { vec!["400", "401", "503"] };
                if path.contains("{name}") {
                    expected.push("404");
                }
                if call["requestBody"].is_object() {
                    expected.extend(["413", "422"]);
                }
                for status in expected {
                    let error = &responses[status]["content"]["application/json"]["schema"]["$ref"];
                    assert_eq!(error, "#/components/schemas/Refusal", "{what} {status}");
                }
                for part in path.split('{').skip(1).map(|part| part.split('}').next().unwrap()) {
                    let parameters = call["parameters"].as_array().unwrap();
                    assert!(
                        parameters.iter().any(|known| known["name"] == part && known["in"] == "path"),
                        "{what}"
                    );
                }
            }
        }
        // Those of the interface, and those of Personalizer.
        for id in [
            "createBandit",
            "decide",
            "decideMany",
            "reward",
            "showBandit",
            "report",
            "snapshot",
            "restore",
            "exportEvents",
            "rank",
            "rewardEvent",
            "activateEvent",
            "status",
            "health",
            "ready",
            "metrics",
            "document",
            "page",
        ] {
            assert!(ids.contains(id), "{id}");
        }
    }
}
