//! Why an action would be played: the intervals of all, and what the policy made of them.

use schemars::JsonSchema;
use serde::Serialize;
use truenorth::{ActionInterval, BranchInterval, Explanation, LayerExplanation};

/// Every action's interval, and what would be played. Nothing was decided.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Explained {
    /// What would be played.
    pub(crate) action: String,
    /// Why, in words.
    pub(crate) why: String,
    /// Add it to a mean to predict a reward.
    pub(crate) level: f64,
    pub(crate) actions: Vec<ExplainedAction>,
    /// All that was looked at, as a table for people.
    pub(crate) explanation: String,
    /// The same for programs: `round`, `action` and `layers`.
    pub(crate) story: serde_json::Value,
}

/// An action's interval.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExplainedAction {
    pub(crate) id: String,
    /// Estimated reward without the `level` that all rewards have in common.
    pub(crate) mean: f64,
    /// Lower end of the interval around `mean`.
    pub(crate) lcb: f64,
    /// Upper end of it.
    pub(crate) ucb: f64,
    /// What actions are ranked by.
    pub(crate) index: f64,
    /// Who set the upper end: `online`, `pooled`, `warm` or `offline`.
    pub(crate) branch: &'static str,
    /// Whether logs and live data contradict each other here.
    pub(crate) conflict: bool,
    /// Live data alone.
    pub(crate) online: Option<Part>,
    /// Logs and live data.
    pub(crate) informed: Option<Part>,
}

/// One side of an interval: `mean` plus or minus `statistical` and `bias`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Part {
    mean: f64,
    statistical: f64,
    bias: f64,
}

impl From<BranchInterval> for Part {
    fn from(BranchInterval { mean, statistical, bias, .. }: BranchInterval) -> Self {
        Self { mean, statistical, bias }
    }
}

impl ExplainedAction {
    pub(crate) fn new(id: String, interval: &ActionInterval) -> Self {
        Self {
            id,
            mean: interval.mean(),
            lcb: interval.lcb,
            ucb: interval.ucb,
            index: interval.index,
            branch: interval.branch.name(),
            conflict: interval.conflict,
            online: interval.online.map(Part::from),
            informed: interval.informed.map(Part::from),
        }
    }
}

impl Explained {
    pub(crate) fn new(
        action: String,
        level: f64,
        actions: Vec<ExplainedAction>,
        explanation: &Explanation,
    ) -> Self {
        let why = explanation.layers.last().map_or(String::new(), |layer| why(&action, &actions, layer));
        let story = serde_json::to_value(explanation).unwrap_or_default();
        Self { action, why, level, actions, explanation: explanation.to_string(), story }
    }
}

/// A policy's rule, as who sees a table of intervals from here to there understands it.
fn in_words_of_the_table(rule: &str) -> String {
    rule.replace(
        "ucb, wider for what was long left alone",
        "ucb, where what was long left alone counts as somewhat higher",
    )
    .replace("the largest ucb", "the action whose interval reaches highest")
    .replace("the largest mean", "the largest expected reward")
}

/// Why an action would be played.
fn why(action: &str, actions: &[ExplainedAction], layer: &LayerExplanation) -> String {
    let Some(played) = actions.iter().find(|other| other.id == action) else { return String::new() };
    let rule = in_words_of_the_table(&layer.rule);
    // The intervals are of logs and live data, and say nothing of such a choice.
    if layer.is_live_alone() {
        return format!("The logs had no say in the choice of `{action}`: the policy {rule}.");
    }
    let best = actions.iter().max_by(|a, b| a.mean.total_cmp(&b.mean)).unwrap_or(played);
    let reason = if actions.len() == 1 {
        format!("`{action}` is the only action.")
    } else if best.id == action || played.mean >= best.mean {
        format!("No other action has a larger expected reward than `{action}`.")
    } else if played.ucb >= best.ucb {
        format!(
            "`{}` has a larger expected reward than `{action}`, but less is known of `{action}`: its interval reaches higher.",
            best.id
        )
    } else {
        format!("`{}` has a larger expected reward than `{action}`.", best.id)
    };
    let by = match played.branch {
        "online" => "Live data alone set the upper end of its interval.",
        _ => "The logs had their say in the upper end of its interval.",
    };
    let conflicts = actions.iter().filter(|action| action.conflict).count();
    let refuted = match conflicts {
        0 => String::new(),
        _ => format!(
            " For {conflicts} of the actions logs and live data contradict each other, so live data counts alone there."
        ),
    };
    format!("{reason} The policy {rule}. {by}{refuted}")
}

#[cfg(test)]
mod tests {
    use truenorth::{Actions, Policy, RidgeStatistic};

    use super::{ExplainedAction, why};

    #[test]
    fn where_live_data_alone_decides_the_logs_are_said_to_have_no_say() {
        let mut logs = RidgeStatistic::new(2).unwrap();
        for row in 0..200 {
            logs.observe(&[f64::from(row % 2), f64::from((row + 1) % 2)], f64::from(row % 2)).unwrap();
        }
        let mut policy = Policy::builder(2).logs(logs).build().unwrap();
        let actions = Actions::new(&[1.0, 0.0, 0.0, 1.0], 2).unwrap();
        let [mut alone, mut pooled] = [0, 0];
        for _ in 0..100 {
            let (choice, explanation) = policy.choose_explained(actions).unwrap();
            let layer = explanation.layers.last().unwrap();
            let known = |(id, interval)| ExplainedAction::new(id, interval);
            let ids = ["a", "b"].map(str::to_owned);
            let shown: Vec<ExplainedAction> = ids.into_iter().zip(&layer.actions).map(known).collect();
            let told = why(["a", "b"][choice.action], &shown, layer);
            if layer.rule.contains("live data alone") {
                assert!(told.starts_with("The logs had no say") && !told.contains("had their say"), "{told}");
                alone += 1;
            } else if layer.actions[choice.action].branch.name() != "online" {
                assert!(told.contains("The logs had their say"), "{told}");
                pooled += 1;
            }
            policy.learn(choice.rewarded(actions, 1.0 - choice.action as f64)).unwrap();
        }
        assert!(alone > 0 && pooled > 0, "{alone}, {pooled}");
    }
}
