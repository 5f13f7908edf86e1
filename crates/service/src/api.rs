//! What goes in and comes out, and what is refused.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use truenorth_features::{Event, Value};

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

/// Body of a decision.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) context: Option<Box<RawValue>>,
    pub(crate) actions: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    /// In shadow, what the caller plays; its first action unless it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) played: Option<String>,
    /// Whether nothing is shown before it is activated.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) deferred: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_false(truth: &bool) -> bool {
    !truth
}

/// An action that is a list of numbers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed<'a> {
    #[serde(borrow, default)]
    id: Option<std::borrow::Cow<'a, str>>,
    features: Vec<f64>,
}

impl Asked {
    /// The event that is asked about; `names` are those of the numbers, where actions may be lists of such.
    pub(crate) fn event(&self, names: Option<&[String]>, event: &mut Event) -> Result<(), Refused> {
        let context = self.context.as_ref().map(|context| context.get());
        read_event(context, self.actions.get(), names, event)?;
        event.decision_id.clone_from(&self.id);
        Ok(())
    }
}

/// Reads an event from its parts.
pub(crate) fn read_event(
    context: Option<&str>,
    actions: &str,
    names: Option<&[String]>,
    event: &mut Event,
) -> Result<(), Refused> {
    if let Some(names) = names
        && let Ok(actions) = serde_json::from_str::<Vec<Listed<'_>>>(actions)
    {
        event.clear();
        for (place, Listed { id, features }) in actions.iter().enumerate() {
            let id = id.as_ref().map_or_else(|| place.to_string(), ToString::to_string);
            if features.len() != names.len() {
                let (found, expected) = (features.len(), names.len());
                return Err(Refused::invalid(format!(
                    "action {id:?} has {found} features, but must have {expected}"
                )));
            }
            event.push_action(&id)?;
            for (name, value) in names.iter().zip(features) {
                event.push(&[name], Value::Number(*value))?;
            }
        }
        return Ok(event.check(None)?);
    }
    let context = context.unwrap_or("{}");
    Ok(event.read_json(&format!("{{\"context\":{context},\"actions\":{actions}}}"))?)
}

/// Body of a reward.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Paid {
    pub(crate) decision_id: String,
    #[serde(deserialize_with = "reward")]
    pub(crate) reward: f64,
    /// What was played instead of the choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) played: Option<String>,
    /// Where rewards add up, this one's own id: the same one again counts once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
}

/// A number, or a sentence that says what it is instead.
fn reward<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let wrong = || serde::de::Error::custom(format!("`reward` is {value}, but must be a number"));
    value.as_f64().ok_or_else(wrong)
}

/// The answer to a decision.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Decided {
    pub(crate) decision_id: String,
    pub(crate) action: String,
    pub(crate) action_index: usize,
    pub(crate) ucb: f64,
    pub(crate) lcb: f64,
    pub(crate) mean: f64,
    pub(crate) branch: &'static str,
    pub(crate) propensity: f64,
    /// In shadow, what the bandit would have played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ours: Option<String>,
}
