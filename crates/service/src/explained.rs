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
    /// Whether actions were ranked by an `index` above their `ucb`.
    pub(crate) counted: bool,
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
        let layer = explanation.layers.last();
        let why = layer.map_or(String::new(), |layer| why(&action, &actions, layer));
        let counted = layer.is_some_and(|layer| is_counted(&actions, layer));
        let story = serde_json::to_value(explanation).unwrap_or_default();
        Self { action, why, counted, level, actions, explanation: explanation.to_string(), story }
    }
}

/// Whether what was long left alone counts for more than its interval says, and that decides.
fn is_counted(actions: &[ExplainedAction], layer: &LayerExplanation) -> bool {
    layer.rule.contains(LONG_LEFT_ALONE) && actions.iter().any(|action| action.index > action.ucb)
}

/// As the rule of a policy has it that ranks by the index.
const LONG_LEFT_ALONE: &str = "the largest ucb, wider for what was long left alone";

/// A policy's rule, as who sees a table of intervals from here to there understands it.
fn in_words_of_the_table(rule: &str, counted: bool) -> String {
    let largest = if counted {
        "the action that is counted highest. What counts is the upper end of the interval, and more where an action was long left alone"
    } else {
        "the action whose interval reaches highest"
    };
    rule.replace(LONG_LEFT_ALONE, largest)
        .replace("the largest ucb", largest)
        .replace("the largest mean", "the action with the largest expected reward")
}

/// Why an action would be played.
fn why(action: &str, actions: &[ExplainedAction], layer: &LayerExplanation) -> String {
    let Some(played) = actions.iter().find(|other| other.id == action) else { return String::new() };
    let counted = is_counted(actions, layer);
    let rule = in_words_of_the_table(&layer.rule, counted);
    // The intervals are of logs and live data, and say nothing of such a choice.
    if layer.is_live_alone() {
        return format!("`{action}` would be played, and the logs had no say: the policy {rule}.");
    }
    let largest = |value: fn(&ExplainedAction) -> f64| {
        let best = actions.iter().max_by(|a, b| value(a).total_cmp(&value(b))).unwrap_or(played);
        (value(best) > value(played)).then_some(&best.id)
    };
    let (expected, reaching) = (largest(|action| action.mean), largest(|action| action.ucb));
    let reason = match (expected, reaching) {
        _ if actions.len() == 1 => "There is no other action.".to_owned(),
        (None, None) => "No other action has a larger expected reward.".to_owned(),
        (Some(best), None) => format!(
            "`{best}` has a larger expected reward, but less is known of `{action}`, and the interval of `{action}` reaches higher."
        ),
        (_, Some(other)) if counted => format!(
            "The interval of `{other}` reaches higher, but `{action}` was left alone for longer, and is counted higher."
        ),
        (Some(best), Some(_)) => format!("`{best}` has a larger expected reward."),
        (None, Some(other)) => {
            format!(
                "No other action has a larger expected reward, though the interval of `{other}` reaches higher."
            )
        }
    };
    let by = match played.branch {
        "online" => format!("Live data alone set the upper end of the interval of `{action}`."),
        _ => format!("The logs had their say in the upper end of the interval of `{action}`."),
    };
    let conflicts = actions.iter().filter(|action| action.conflict).count();
    let refuted = match conflicts {
        0 => String::new(),
        _ => format!(
            " For {conflicts} of the actions logs and live data contradict each other, so live data counts alone there."
        ),
    };
    format!("`{action}` would be played: the policy {rule}. {reason} {by}{refuted}")
}

#[cfg(test)]
mod tests {
    use truenorth::{Actions, Policy, RidgeStatistic};

    use super::{ExplainedAction, is_counted, why};

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
            let action = ["a", "b"][choice.action];
            let told = why(action, &shown, layer);
            assert!(told.starts_with(&format!("`{action}` would be played")), "{told}");
            if layer.rule.contains("live data alone") {
                assert!(
                    told.contains(", and the logs had no say: ") && !told.contains("had their say"),
                    "{told}"
                );
                alone += 1;
            } else if layer.actions[choice.action].branch.name() != "online" {
                assert!(told.contains("The logs had their say"), "{told}");
                pooled += 1;
            }
            policy.learn(choice.rewarded(actions, 1.0 - choice.action as f64)).unwrap();
        }
        assert!(alone > 0 && pooled > 0, "{alone}, {pooled}");
    }

    #[test]
    fn what_is_counted_as_more_than_its_interval_is_said_to_be_so() {
        let mut policy = Policy::builder(2).build().unwrap();
        let actions = Actions::new(&[1.0, 0.0, 0.0, 1.0], 2).unwrap();
        // The second action was left alone for long, so that the end of an interval is not all that counts.
        let mut told = Vec::new();
        for round in 0..2000 {
            let (choice, explanation) = policy.choose_explained(actions).unwrap();
            let layer = explanation.layers.last().unwrap();
            let ids = ["a", "b"].map(str::to_owned);
            let known = |(id, interval)| ExplainedAction::new(id, interval);
            let shown: Vec<ExplainedAction> = ids.into_iter().zip(&layer.actions).map(known).collect();
            let played = &shown[choice.action];
            let highest = shown.iter().all(|other| other.ucb <= played.ucb);
            if !highest && !layer.is_live_alone() {
                assert!(is_counted(&shown, layer), "{layer:?}");
                assert!(shown.iter().all(|other| other.index <= played.index), "{layer:?}");
                told.push(why(&played.id, &shown, layer));
            }
            let luck = f64::from(round * 7919 % 101) / 101.0;
            policy.learn(choice.rewarded(actions, luck - 0.05 * choice.action as f64)).unwrap();
        }
        assert!(!told.is_empty());
        assert!(
            told.iter()
                .all(|told| told.contains(" reaches higher, but `") && told.contains("is counted higher")),
            "{told:?}"
        );
    }
}
