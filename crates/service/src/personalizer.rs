//! The calls of the retired Personalizer service, so that its client libraries need another endpoint and nothing else.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::api::{Asked, Paid, Refused};
use crate::engine::{Answer, Call};
use crate::http::{Answered, Sent, Service, Shared, json_text, only, parse, viewed};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Rank {
    #[serde(default)]
    context_features: Vec<Value>,
    actions: Vec<RankAction>,
    #[serde(default)]
    excluded_actions: Vec<String>,
    event_id: Option<String>,
    #[serde(default)]
    defer_activation: bool,
}

#[derive(Deserialize)]
struct RankAction {
    id: String,
    #[serde(default)]
    features: Vec<Value>,
}

/// A list of objects as one: objects of the same name become one, and of other values the later one counts.
fn merged(features: &[Value]) -> Value {
    let mut all = Value::Object(Map::new());
    for object in features.iter().filter(|value| value.is_object()) {
        merge(&mut all, object.clone());
    }
    all
}

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

pub(crate) async fn rank(Sent { service, name, text, .. }: Sent) -> Answered {
    let rank: Rank = parse(&text)?;
    let offered: Vec<&RankAction> =
        rank.actions.iter().filter(|action| !rank.excluded_actions.contains(&action.id)).collect();
    if offered.is_empty() {
        return Err(Refused::invalid("there is no action that is not excluded"));
    }
    let logged = as_logged(&service, &name).await?;
    let features = |action: &RankAction| match merged(&action.features) {
        features if logged => json!({"i": {"constant": 1, "id": action.id}, "j": features}),
        features => features,
    };
    let actions: Vec<Value> =
        offered.iter().map(|action| json!({"id": action.id, "features": features(action)})).collect();
    let context = merged(&rank.context_features);
    let context = if logged { json!({"FromUrl": context}) } else { context };
    let raw = |value: &Value| {
        serde_json::value::RawValue::from_string(value.to_string())
            .map_err(|error| Refused::invalid(error.to_string()))
    };
    let asked = Asked {
        context: Some(raw(&context)?),
        actions: raw(&json!(actions))?,
        id: rank.event_id,
        played: None,
        deferred: rank.defer_activation,
    };
    let decided = only(service.decided(&name, vec![asked]).await?)?;
    let others = (offered.len() - 1).max(1) as f64;
    // The chosen one comes first and the others follow in their order; those that were excluded keep their places.
    let mut order = offered.iter().map(|action| &action.id).filter(|id| **id != decided.action);
    let mut first = Some(&decided.action);
    let ranking: Vec<Value> = rank
        .actions
        .iter()
        .map(|action| {
            if rank.excluded_actions.contains(&action.id) {
                return json!({"id": action.id, "probability": 0.0});
            }
            let probability =
                if first.is_some() { decided.propensity } else { (1.0 - decided.propensity) / others };
            let id = first.take().or_else(|| order.next());
            json!({"id": id, "probability": probability})
        })
        .collect();
    let answer =
        json!({"ranking": ranking, "eventId": decided.decision_id, "rewardActionId": decided.action});
    Ok((StatusCode::CREATED, json_text(answer.to_string())).into_response())
}

/// Whether fields are to be named as Personalizer named them in its logs, because the bandit was made from such logs: its model
/// then speaks of `FromUrl`, `i` and `j`.
async fn as_logged(service: &Service, name: &str) -> Result<bool, Refused> {
    let known = service.logged_names.lock().ok().and_then(|names| names.get(name).copied());
    if let Some(logged) = known {
        return Ok(logged);
    }
    let model = viewed(service, name).await?.model;
    let names = model.split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '.' | '_')));
    let logged =
        names.into_iter().any(|name| ["FromUrl.", "i.", "j."].iter().any(|start| name.starts_with(start)));
    if let Ok(mut names) = service.logged_names.lock() {
        names.insert(name.to_owned(), logged);
    }
    Ok(logged)
}

#[derive(Deserialize)]
struct Reward {
    value: f64,
}

pub(crate) async fn reward(Sent { service, name, event, text }: Sent) -> Answered {
    let Reward { value } = parse(&text)?;
    only(
        service.paid(&name, vec![Paid { decision_id: event, reward: value, played: None, id: None }]).await?,
    )?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(crate) async fn activate(
    State(service): State<Shared>,
    Path((name, event)): Path<(String, String)>,
) -> Answered {
    service.engine.call(&name, Call::Activate(event)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(crate) async fn status(State(service): State<Shared>, Path(name): Path<String>) -> Answered {
    match service.engine.call(&name, Call::View).await? {
        Answer::View(view) => Ok(json_text(json!({"name": view.name, "mode": view.mode.name()}).to_string())),
        _ => Err(Refused::unavailable("an answer to another call")),
    }
}
