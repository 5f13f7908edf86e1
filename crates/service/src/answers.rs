//! What calls answer; the document for programs is made from these types.

use schemars::JsonSchema;
use serde::Serialize;

use crate::api::{Asked, Decided, Problem, Refusal, Refused};
use crate::spec::Mode;

/// Names of all bandits.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Names {
    pub(crate) bandits: Vec<String>,
}

/// What a bandit does now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Changed {
    pub(crate) mode: Mode,
}

/// A new season has begun.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Renewed {
    pub(crate) renewed: bool,
}

/// A bandit is gone.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Dropped {
    pub(crate) dropped: bool,
}

/// A state was put in place.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Restored {
    pub(crate) restored: bool,
}

/// A reward was accepted, now or before.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Accepted {
    pub(crate) accepted: bool,
}

/// One of several: done, or refused.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Each<T> {
    Done(T),
    Refused(Refusal),
}

impl<T> From<Result<T, Refused>> for Each<T> {
    fn from(done: Result<T, Refused>) -> Self {
        match done {
            Ok(done) => Self::Done(done),
            Err(Refused { code, message, .. }) => Self::Refused(Refusal { error: Problem { code, message } }),
        }
    }
}

/// Several decisions, in their order.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BatchAnswer {
    pub(crate) decisions: Vec<Each<Decided>>,
}

/// Several rewards, in their order.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Paids {
    pub(crate) rewards: Vec<Each<Accepted>>,
}

/// What one reward, or several, are answered.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "a shape for the document")]
pub(crate) enum PaidAnswer {
    One(Accepted),
    Several(Paids),
}

/// What happened over time, since the service was started.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Past {
    /// Seconds that a point stands for; points become longer as time goes by.
    pub(crate) step_s: u32,
    pub(crate) points: Vec<PastPoint>,
    /// Rewards that came, and their mean, in the time of these points.
    pub(crate) rewards: u64,
    pub(crate) mean_reward: Option<f64>,
    /// What the logs alone predicted of the actions that were played, on average over some of the decisions.
    pub(crate) predicted: Option<f64>,
    /// Milliseconds from a call for a decision to its answer: one in two and one in a hundred took longer.
    pub(crate) p50_ms: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
    /// What was asked of late.
    pub(crate) example: Option<Asked>,
}

/// A stretch of time.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PastPoint {
    /// Its beginning, in milliseconds since 1970.
    pub(crate) time: i64,
    /// Seconds so far.
    pub(crate) seconds: u32,
    pub(crate) decisions: u64,
    pub(crate) rewards: u64,
    pub(crate) mean_reward: Option<f64>,
    pub(crate) predicted: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
}

/// A ranking, with the chosen action first.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ranked {
    pub(crate) ranking: Vec<RankedAction>,
    pub(crate) event_id: String,
    pub(crate) reward_action_id: String,
}

/// An action in its place.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RankedAction {
    pub(crate) id: String,
    pub(crate) probability: f64,
}

/// A bandit as Personalizer's clients ask for it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Status {
    pub(crate) name: String,
    pub(crate) mode: Mode,
}
