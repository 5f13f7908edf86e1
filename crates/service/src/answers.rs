//! What calls answer; the document for programs is made from these types.

use schemars::JsonSchema;
use serde::Serialize;
use truenorth::{ActionInterval, BranchInterval, Explanation, FeatureView, LayerExplanation};
use truenorth_bandit::{Evidence, Watched, WatchedFeature};

use crate::api::{Asked, Decided, Problem, Refusal, Refused};
use crate::spec::{Mode, Spec};

/// Names of all bandits.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Names {
    pub(crate) bandits: Vec<String>,
}

/// A bandit: what it is, has done and has learned.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Bandit")]
pub(crate) struct Shown {
    pub(crate) name: String,
    pub(crate) policy: String,
    pub(crate) mode: Mode,
    /// Which features there are.
    pub(crate) model: String,
    /// A sentence for each term of the model that cannot change a choice.
    pub(crate) warnings: Vec<String>,
    pub(crate) decisions: u64,
    /// Rewards that were learned.
    pub(crate) rewards: u64,
    /// Rows of others that were learned.
    pub(crate) rows: u64,
    /// Decisions that wait for their rewards.
    pub(crate) open: usize,
    /// Decisions that have waited too long.
    pub(crate) expired: u64,
    /// Features that joined beside those of the logs.
    pub(crate) joined: usize,
    /// Intervals of logs and live data that contradict each other.
    pub(crate) conflicts: u64,
    /// Share of the decisions in which the logs set the upper end of the chosen action's interval.
    pub(crate) pooled_share: f64,
    pub(crate) mean_reward: Option<f64>,
    /// Probability that the logs hold but for a drift in some directions.
    pub(crate) logs_hold: Option<f64>,
    /// Standard deviation of a reward around its mean.
    pub(crate) noise: f64,
    /// Add it to a mean to predict a reward.
    pub(crate) level: f64,
    pub(crate) logged_rows: u64,
    /// What it was made from, but for the summary.
    pub(crate) settings: Spec,
    /// Whether the world has moved on since it began, or since the last season; none for one of very many features.
    pub(crate) watch: Option<Watch>,
    pub(crate) features: Vec<Feature>,
}

/// Whether the world has moved on.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Watch {
    /// Probability of a false alarm at most, however long and often one looks.
    level: f64,
    /// Rewards that were watched.
    rounds: u64,
    /// Whether there were enough of them to watch anything.
    watching: bool,
    moved: bool,
    #[serde(flatten)]
    strength: Strength,
    /// Features that moved.
    features: Vec<WatchFeature>,
}

/// How strong the evidence is that something has moved.
#[derive(Debug, Serialize, JsonSchema)]
struct Strength {
    evidence: f64,
    /// An alarm is given here.
    needed: f64,
    /// The reward of the first alarm, from 1.
    alarm: Option<u64>,
}

/// A feature that moved.
#[derive(Debug, Serialize, JsonSchema)]
struct WatchFeature {
    name: String,
    #[serde(flatten)]
    strength: Strength,
    /// The reward since which they speak for it.
    since: Option<u64>,
    /// By how much its coefficient has moved, roughly.
    shift: f64,
    stderr: f64,
}

impl From<Evidence> for Strength {
    fn from(Evidence { evidence, needed, alarm }: Evidence) -> Self {
        Self { evidence, needed, alarm }
    }
}

impl From<Watched> for Watch {
    fn from(watched: Watched) -> Self {
        let feature = |WatchedFeature { name, moved }: WatchedFeature| {
            let (strength, since) = (moved.evidence.into(), moved.since);
            WatchFeature { name, strength, since, shift: moved.shift, stderr: moved.stderr }
        };
        Self {
            level: watched.level,
            rounds: watched.rounds,
            watching: watched.watching,
            moved: watched.moved,
            strength: watched.evidence.into(),
            features: watched.features.into_iter().map(feature).collect(),
        }
    }
}

/// What has been learned about a feature.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Feature {
    pub(crate) name: String,
    /// Estimated live coefficient.
    pub(crate) estimate: f64,
    /// What the logs know: rows of this feature alone, of size 1, that would tell as much.
    pub(crate) coverage: f64,
    /// Live coefficient minus logged one.
    pub(crate) drift: Option<f64>,
    /// Standard deviation of that.
    pub(crate) stderr: Option<f64>,
    /// How much the logs count here, from 0 to 1.
    pub(crate) trust: f64,
}

impl Feature {
    pub(crate) fn new(name: String, view: &FeatureView) -> Self {
        let FeatureView { estimate, coverage, drift, stderr, trust, .. } = *view;
        Self { name, estimate, coverage, drift, stderr, trust }
    }
}

/// A bandit, and what that means in words.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Report {
    #[serde(flatten)]
    shown: Shown,
    /// Whether the logs are of use.
    sentence: String,
    /// What conflicts mean, if there are any.
    conflicts_sentence: Option<String>,
    /// That the world has moved on, if it has.
    moved_sentence: Option<String>,
}

impl Report {
    pub(crate) fn new(shown: Shown) -> Self {
        let sentence = match shown.logged_rows {
            0 => "There are no logs: all that is known comes from live rewards.".to_owned(),
            _ => about_logs(shown.logs_hold, shown.rewards + shown.rows > 0, &shown.features),
        };
        let conflicts_sentence = (shown.conflicts > 0).then(|| {
            let (conflicts, times) = (shown.conflicts, if shown.conflicts == 1 { "time" } else { "times" });
            format!(
                "{conflicts} {times} what the logs say of an action and what live data says of it could not both be true. \
                 Live data decided there. If it goes on, the certificate, the noise or the norm bound is wrong."
            )
        });
        let moved_sentence = shown.watch.as_ref().filter(|watch| watch.moved).map(|watch| {
            let names: Vec<&str> = watch.features.iter().map(|feature| feature.name.as_str()).collect();
            let which = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
            let when = watch.strength.alarm.map(|alarm| format!(", alarm at reward {alarm} of {}", watch.rounds));
            let when = when.unwrap_or_default();
            format!(
                "The live world has moved on{which}{when}: rewards since then are not what was learned before. Begin a new \
                 season, or find out what happened."
            )
        });
        Self { shown, sentence, conflicts_sentence, moved_sentence }
    }
}

/// Names that the sentence bears.
const NAMES: usize = 3;

/// How far the logs are relied on, in a sentence: doubt of all of them, and what seems to have drifted.
fn about_logs(hold: Option<f64>, live: bool, features: &[Feature]) -> String {
    let how = match hold {
        None => return "This policy does not doubt its logs.".to_owned(),
        Some(hold) if !live => {
            return format!(
                "Too early to tell: no live reward has tested the logs. Until then, they are taken to hold with \
                 probability {hold:.2}."
            );
        }
        Some(hold) if hold < 0.5 => {
            return format!(
                "The logs are probably of no use here: the probability that they hold is {hold:.2}."
            );
        }
        Some(hold) if hold < 0.995 => format!("with probability {hold:.2}"),
        // What rounds to 1 is not certain.
        Some(_) => "almost certainly".to_owned(),
    };
    // Doubt of the logs as a whole takes from all features alike; what has drifted stands out from the rest.
    let logged = || features.iter().filter(|feature| feature.coverage > 0.0);
    let most = logged().map(|feature| feature.trust).fold(0.0, f64::max);
    let mut drifted: Vec<&Feature> = logged().filter(|feature| feature.trust < 0.5 * most).collect();
    drifted.sort_by(|a, b| a.trust.total_cmp(&b.trust));
    let names: Vec<&str> = drifted.iter().take(NAMES).map(|feature| feature.name.as_str()).collect();
    let (names, seem) = (names.join(", "), if drifted.len() == 1 { "seems" } else { "seem" });
    let which = match drifted.len() {
        0 if most < 0.5 => {
            "it is too early to say what has drifted, and until then no feature counts half".to_owned()
        }
        0 => "no feature seems to have drifted".to_owned(),
        1..=NAMES => format!("{names} {seem} to have drifted"),
        all => format!("{names} and {} more {seem} to have drifted", all - NAMES),
    };
    format!("The logs as a whole hold {how}; {which}.")
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

/// Why an action would be played.
fn why(action: &str, actions: &[ExplainedAction], layer: &LayerExplanation) -> String {
    let Some(played) = actions.iter().find(|other| other.id == action) else { return String::new() };
    let rule = &layer.rule;
    // The intervals are of logs and live data, and say nothing of such a choice.
    if layer.is_live_alone() {
        return format!("The logs had no say in the choice of `{action}`: the policy {rule}.");
    }
    let best = actions.iter().max_by(|a, b| a.mean.total_cmp(&b.mean)).unwrap_or(played);
    let reason = if actions.len() == 1 {
        format!("`{action}` is the only action.")
    } else if best.id == action || played.mean >= best.mean {
        format!("No other action has a larger mean than `{action}`.")
    } else if played.ucb >= best.ucb {
        format!(
            "`{}` has a larger mean than `{action}`, but less is known of `{action}`: its interval reaches higher.",
            best.id
        )
    } else {
        format!("`{}` has a larger mean than `{action}`.", best.id)
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

#[cfg(test)]
mod tests {
    use truenorth::{Actions, Policy, RidgeStatistic};

    use super::{ExplainedAction, Feature, about_logs, why};

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

    /// Features a, b, c and so on, on whose logs a policy relies so much.
    fn relied_on(trusts: &[f64]) -> Vec<Feature> {
        let feature = |(name, &trust): (char, &f64)| Feature {
            name: name.to_string(),
            estimate: 0.0,
            coverage: 100.0,
            drift: None,
            stderr: None,
            trust,
        };
        ('a'..).zip(trusts).map(feature).collect()
    }

    #[test]
    fn what_is_almost_certain_is_not_said_to_be_so() {
        let features = relied_on(&[0.9, 0.1, 0.8]);
        assert_eq!(
            about_logs(Some(0.9999), true, &features),
            "The logs as a whole hold almost certainly; b seems to have drifted."
        );
        assert!(about_logs(Some(0.991), true, &features).contains("hold with probability 0.99;"));
        assert!(about_logs(Some(0.2), true, &features).contains("is 0.20"));
    }

    #[test]
    fn doubt_of_all_the_logs_is_not_taken_for_drift_of_each_feature() {
        let told = |trusts: &[f64]| about_logs(Some(0.69), true, &relied_on(trusts));
        let start = "The logs as a whole hold with probability 0.69; ";
        assert_eq!(
            told(&[0.43, 0.43, 0.35]),
            format!("{start}it is too early to say what has drifted, and until then no feature counts half.")
        );
        assert_eq!(told(&[0.6, 0.6, 0.45]), format!("{start}no feature seems to have drifted."));
        assert_eq!(told(&[0.4, 0.1, 0.05]), format!("{start}c, b seem to have drifted."));
        let many = [0.8, 0.1, 0.2, 0.3, 0.15, 0.25];
        assert_eq!(told(&many), format!("{start}b, e, c and 2 more seem to have drifted."));
        // What the logs never had cannot have drifted.
        let mut features = relied_on(&[0.8, 0.0]);
        features[1].coverage = 0.0;
        assert!(about_logs(Some(0.69), true, &features).ends_with("; no feature seems to have drifted."));
        assert_eq!(
            about_logs(Some(0.9), false, &features),
            "Too early to tell: no live reward has tested the logs. Until then, they are taken to hold with probability 0.90."
        );
    }
}
