//! The calls of the retired Personalizer service, so that its client libraries need another endpoint and nothing else.

use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::answers::{Ranked, RankedAction, Status};
use crate::api::{Asked, Object, Paid, Refused, example};
use crate::calls::{answered, only, viewed};
use crate::engine::Call;
use crate::http::{Answered, Named, Sent, Service, parse};

/// The versions of its calls, which are alike: clients for Python and .NET speak the first, those for JavaScript the last.
pub(crate) const VERSIONS: [&str; 4] = ["v1.0", "v1.1-preview.1", "v1.1-preview.2", "v1.1-preview.3"];

/// Fields that are added to each action, as its logs have them, whether the model has a use for them or not.
pub(crate) const ADDED: [&str; 2] = ["i.constant", "i.id"];

/// What is to be ranked. Clients write null for what is not told.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(example = example::rank())]
pub(crate) struct Rank {
    context_features: Option<Vec<Value>>,
    #[schemars(with = "Vec<RankAction>")]
    actions: Vec<Object<RankAction>>,
    excluded_actions: Option<Vec<String>>,
    event_id: Option<String>,
    defer_activation: Option<bool>,
}

/// An action, whose features are objects.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct RankAction {
    id: String,
    features: Option<Vec<Value>>,
}

/// A list of objects as one: objects of the same name become one, and of other values the later one counts.
fn merged(features: Option<&[Value]>) -> Value {
    let mut all = Value::Object(Map::new());
    for object in features.unwrap_or_default().iter().filter(|value| value.is_object()) {
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
    let actions: Vec<RankAction> = rank.actions.into_iter().map(|Object(action)| action).collect();
    let excluded = rank.excluded_actions.unwrap_or_default();
    let offered: Vec<&RankAction> = actions.iter().filter(|action| !excluded.contains(&action.id)).collect();
    if offered.is_empty() {
        return Err(Refused::invalid("there is no action that is not excluded"));
    }
    let logged = as_logged(&service, &name).await?;
    let features = |action: &RankAction| match merged(action.features.as_deref()) {
        features if logged => json!({"i": {"constant": 1, "id": action.id}, "j": features}),
        features => features,
    };
    let shown: Vec<Value> =
        offered.iter().map(|action| json!({"id": action.id, "features": features(action)})).collect();
    let context = merged(rank.context_features.as_deref());
    let context = if logged { json!({"FromUrl": context}) } else { context };
    let raw = |value: &Value| {
        serde_json::value::RawValue::from_string(value.to_string())
            .map_err(|error| Refused::invalid(error.to_string()))
    };
    let asked = Asked {
        context: Some(raw(&context)?),
        actions: raw(&json!(shown))?,
        id: rank.event_id,
        decision_id: None,
        played: None,
        deferred: rank.defer_activation.unwrap_or_default(),
    };
    let decided = only(service.decided(&name, vec![asked]).await?)?;
    let others = (offered.len() - 1).max(1) as f64;
    // The chosen one comes first and the others follow in their order; those that were excluded keep their places.
    let mut order = offered.iter().map(|action| &action.id).filter(|id| **id != decided.action);
    let mut first = Some(&decided.action);
    let ranking = actions
        .iter()
        .map(|action| {
            if excluded.contains(&action.id) {
                return RankedAction { id: action.id.clone(), probability: 0.0 };
            }
            let probability =
                if first.is_some() { decided.propensity } else { (1.0 - decided.propensity) / others };
            let id = first.take().or_else(|| order.next()).cloned().unwrap_or_default();
            RankedAction { id, probability }
        })
        .collect();
    let reward_action_id = decided.action.clone();
    answered(StatusCode::CREATED, &Ranked { ranking, event_id: decided.decision_id, reward_action_id })
}

/// Whether fields are to be named as Personalizer named them in its logs, because the bandit was made from such logs: its model
/// then speaks of `FromUrl`, `i` and `j`.
async fn as_logged(service: &Service, name: &str) -> Result<bool, Refused> {
    let known = service.logged_names.lock().ok().and_then(|names| names.get(name).copied());
    if let Some(logged) = known {
        return Ok(logged);
    }
    let model = viewed(service, name).await?.recipe.model.to_string();
    let names = model.split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '.' | '_')));
    let logged =
        names.into_iter().any(|name| ["FromUrl.", "i.", "j."].iter().any(|start| name.starts_with(start)));
    if let Ok(mut names) = service.logged_names.lock() {
        names.insert(name.to_owned(), logged);
    }
    Ok(logged)
}

/// What an event has earned.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "EventReward")]
pub(crate) struct Reward {
    value: f64,
}

pub(crate) async fn reward(Sent { service, name, event, text }: Sent) -> Answered {
    let Reward { value } = parse(&text)?;
    only(
        service.paid(&name, vec![Paid { decision_id: event, reward: value, played: None, id: None }]).await?,
    )?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(crate) async fn activate(Named { service, name, event }: Named) -> Answered {
    service.engine.call(&name, Call::Activate(event)).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(crate) async fn status(Named { service, name, .. }: Named) -> Answered {
    let view = viewed(&service, &name).await?;
    answered(StatusCode::OK, &Status { name: view.name, mode: view.mode })
}
