//! What goes in and comes out, and what is refused.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use truenorth_features::{Event, Value};

use crate::spec::Mode;

/// A call that is refused: a status, a code for programs, a sentence for people. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Refused {
    pub(crate) status: u16,
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Refused {
    pub(crate) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(422, "invalid", message)
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(503, "unavailable", message)
    }
}

impl From<truenorth_bandit::Error> for Refused {
    fn from(error: truenorth_bandit::Error) -> Self {
        let status = match error.code() {
            "unknown_decision" => 404,
            "already_learned" | "expired" | "conflict" => 409,
            _ => 422,
        };
        Self::new(status, error.code(), error.to_string())
    }
}

impl From<truenorth_features::Error> for Refused {
    fn from(error: truenorth_features::Error) -> Self {
        Self::invalid(error.to_string())
    }
}

/// An object of JSON; serde by itself also takes lists of a type's fields.
#[derive(Debug)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> serde::de::Visitor<'de> for Fields<T> {
            type Value = Object<T>;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
                T::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(Fields(std::marker::PhantomData))
    }
}

/// What is answered to a call that is refused.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Refusal {
    pub(crate) error: Problem,
}

/// Why a call is refused.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// For programs: `invalid`, `not_json`, `too_large`, `too_slow`, `unauthorized`, `other_origin`, `unknown_bandit`,
    /// `unknown_call`, `unknown_decision`, `no_logs`, `already_learned`, `expired`, `conflict`, `damaged`, `other_version`, `unavailable`.
    pub(crate) code: &'static str,
    /// For people.
    pub(crate) message: String,
}

/// What is to be decided; also part of the record of a decision.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Decision", example = example::decision())]
pub(crate) struct Asked {
    /// Fields that all actions share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<FieldsShape>")]
    pub(crate) context: Option<Box<RawValue>>,
    /// What to choose from.
    #[schemars(with = "Vec<ActionShape>", length(min = 1))]
    pub(crate) actions: Box<RawValue>,
    /// Its id; one is made up if there is none. The same one again gives the same answer.
    #[serde(default, deserialize_with = "ids", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WholeIdShape>")]
    pub(crate) id: Option<String>,
    /// The same as `id`, under the name that it has in events and rewards; one of the two is enough.
    #[serde(default, deserialize_with = "ids", skip_serializing)]
    #[schemars(with = "Option<WholeIdShape>")]
    pub(crate) decision_id: Option<String>,
    /// In shadow, what the caller plays; its first action unless it says so.
    #[serde(default, deserialize_with = "ids", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WholeIdShape>")]
    pub(crate) played: Option<String>,
    /// Whether nothing is shown before it is activated.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) deferred: bool,
}

/// What the document shows to people, and tests try first.
pub(crate) mod example {
    use serde_json::{Value, json};

    pub(crate) fn bandit() -> Value {
        json!({"model": "item:(1 + hour)"})
    }

    pub(crate) fn decision() -> Value {
        let action = |id: &str| json!({"id": id, "features": {"item": id}});
        json!({"context": {"hour": 14}, "actions": [action("a"), action("b")], "id": "visit-1"})
    }

    pub(crate) fn batch() -> Value {
        json!({"decisions": [decision()]})
    }

    pub(crate) fn reward() -> Value {
        json!({"decision_id": "visit-1", "reward": 1})
    }

    pub(crate) fn rank() -> Value {
        let action = |id: &str| json!({"id": id, "features": [{"item": id}]});
        json!({"contextFeatures": [{"hour": 14}], "actions": [action("a"), action("b")], "eventId": "visit-1"})
    }
}

/// Fields by name, or numbers in their order.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "a shape for the document")]
enum FieldsShape {
    Named(serde_json::Map<String, serde_json::Value>),
    Numbers(Vec<f64>),
}

/// An action: its id and fields, which may also stand beside the id.
#[derive(JsonSchema)]
#[schemars(rename = "Action")]
#[expect(dead_code, reason = "a shape for the document")]
struct ActionShape {
    id: Option<IdShape>,
    features: Option<FieldsShape>,
}

/// A text, or a number that is taken as such.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "a shape for the document")]
enum IdShape {
    Text(String),
    Number(f64),
}

/// A text, or a whole number that is taken as such.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "a shape for the document")]
enum WholeIdShape {
    Text(String),
    Number(i64),
}

/// An id, as events have it: 5 is "5".
#[derive(Deserialize)]
#[serde(untagged, expecting = "an id must be a text or a whole number")]
enum Id {
    Text(String),
    Number(i64),
}

fn ids<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = |id| match id {
        Id::Text(text) => text,
        Id::Number(number) => number.to_string(),
    };
    Ok(Option::<Id>::deserialize(deserializer)?.map(text))
}

fn id<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    ids(deserializer)?.ok_or_else(|| serde::de::Error::custom("an id must be a text or a whole number"))
}

/// Several decisions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = example::batch())]
pub(crate) struct Batch {
    #[schemars(with = "Vec<Asked>")]
    pub(crate) decisions: Vec<Object<Asked>>,
}

/// What is to be changed of a bandit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Changes {
    pub(crate) mode: Mode,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_false(truth: &bool) -> bool {
    !truth
}

/// How actions of a bandit are written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Form {
    /// Names of the numbers that an action is a list of, if it is one.
    pub(crate) numbers: Option<Vec<String>>,
    /// The field that names an action which has no `id`.
    pub(crate) id: Option<String>,
}

/// An action that is a list of numbers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    #[serde(default, deserialize_with = "ids")]
    id: Option<String>,
    features: Vec<f64>,
}

impl Asked {
    /// With its id under one name.
    pub(crate) fn named(mut self) -> Result<Self, Refused> {
        if let Some(id) = self.decision_id.take()
            && self.id.replace(id).is_some()
        {
            return Err(Refused::invalid(
                "`id` and `decision_id` are two names of the same: give one of them",
            ));
        }
        Ok(self)
    }

    /// The event that is asked about.
    pub(crate) fn event(&self, form: &Form, event: &mut Event) -> Result<(), Refused> {
        let context = self.context.as_ref().map(|context| context.get());
        read_event(context, self.actions.get(), form, event)?;
        event.decision_id.clone_from(&self.id);
        Ok(())
    }
}

/// Reads an event from its parts.
pub(crate) fn read_event(
    context: Option<&str>,
    actions: &str,
    form: &Form,
    event: &mut Event,
) -> Result<(), Refused> {
    event.named_by.clone_from(&form.id);
    if let Some(names) = &form.numbers
        && let Ok(actions) = serde_json::from_str::<Vec<Listed>>(actions)
    {
        // It plays no part here, but what is wrong is wrong.
        if context.is_some_and(|context| !context.starts_with(['{', '[', 'n'])) {
            return Err(Refused::invalid("`context` must be an object"));
        }
        event.clear();
        for (place, Listed { id, features }) in actions.iter().enumerate() {
            event.push_numbered()?;
            if let Some(id) = id {
                event.rename(id);
            }
            if features.len() != names.len() {
                let (id, found, expected) = (event.id(place), features.len(), names.len());
                return Err(Refused::invalid(format!(
                    "action {id:?} has {found} features, but must have {expected}"
                )));
            }
            for (name, value) in names.iter().zip(features) {
                event.push(&[name], Value::Number(*value))?;
            }
        }
        return Ok(event.check(None)?);
    }
    let context = context.unwrap_or("{}");
    Ok(event.read_json(&format!("{{\"context\":{context},\"actions\":{actions}}}"))?)
}

/// A reward, or several.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Rewards")]
#[expect(dead_code, reason = "a shape for the document")]
pub(crate) enum Paids {
    One(Paid),
    Several(Vec<Paid>),
}

/// What a decision has earned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Reward", example = example::reward())]
pub(crate) struct Paid {
    #[serde(deserialize_with = "id")]
    #[schemars(with = "WholeIdShape")]
    pub(crate) decision_id: String,
    #[serde(deserialize_with = "reward")]
    pub(crate) reward: f64,
    /// What was played instead of the choice.
    #[serde(default, deserialize_with = "ids", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WholeIdShape>")]
    pub(crate) played: Option<String>,
    /// Where rewards add up, this one's own id: the same one again counts once.
    #[serde(default, deserialize_with = "ids", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<WholeIdShape>")]
    pub(crate) id: Option<String>,
}

/// A number, or a sentence that says what it is instead.
fn reward<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let wrong = || serde::de::Error::custom(format!("`reward` is {value}, but must be a number"));
    value.as_f64().ok_or_else(wrong)
}

/// The answer to a decision.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Decided {
    pub(crate) decision_id: String,
    pub(crate) action: String,
    pub(crate) action_index: usize,
    /// Upper end of the interval around `mean`.
    pub(crate) ucb: f64,
    /// Lower end of it.
    pub(crate) lcb: f64,
    /// Estimated reward without the `level` that all rewards have in common: it compares actions, and forecasts no reward.
    pub(crate) mean: f64,
    pub(crate) branch: &'static str,
    pub(crate) propensity: f64,
    /// In shadow, what the bandit would have played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ours: Option<String>,
}
