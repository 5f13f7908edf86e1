//! A bandit as callers and people see it: what is known, of which features, and whether the logs still hold.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use truenorth::FeatureView;
use truenorth_bandit::{Evidence, Watched, WatchedFeature};
use truenorth_report::numbers::{count, many};

use crate::api::Refused;
use crate::engine::View;
use crate::spec::{Mode, Spec};

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
    /// Fields that came and that the model has no use for, the first hundred: they may be misspelt.
    pub(crate) unknown_fields: Vec<UnknownField>,
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

impl Shown {
    /// What is known of features takes O(d³).
    pub(crate) fn of(view: View) -> Result<Self, Refused> {
        let views = view.policy.features().map_err(|error| Refused::unavailable(error.to_string()))?;
        let counts = view.counts;
        let named = view.names.into_iter().zip(views);
        Ok(Self {
            policy: view.spec.policy.clone().unwrap_or_else(|| "truenorth".to_owned()),
            name: view.name,
            mode: view.mode,
            model: view.recipe.model.to_string(),
            warnings: view.warnings,
            unknown_fields: view
                .unknown_fields
                .into_iter()
                .map(|(name, count)| UnknownField { name, count })
                .collect(),
            decisions: counts.decisions,
            rewards: counts.rewards,
            rows: counts.rows,
            open: counts.open,
            expired: counts.expired,
            joined: counts.joined,
            conflicts: counts.conflicts,
            pooled_share: counts.pooled_share,
            mean_reward: counts.mean_reward,
            logs_hold: view.policy.logs_hold(),
            noise: view.policy.noise(),
            level: view.policy.level(),
            logged_rows: view.policy.logs().count(),
            settings: view.spec,
            watch: view.watch.map(Watch::from),
            features: named.map(|(name, view)| Feature::new(name, &view)).collect(),
        })
    }
}

/// A field that the model has no use for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UnknownField {
    pub(crate) name: String,
    /// How often it came: once for each context and each action that has it.
    pub(crate) count: u64,
}

/// Whether the world has moved on.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Watch {
    /// Probability of a false alarm at most, however long and often one looks.
    level: f64,
    /// Rewards that were watched.
    rounds: u64,
    /// Rewards that are not watched yet: they wait behind decisions without one.
    waiting: usize,
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
    /// The reward since which they spoke for it when the alarm was given.
    since: Option<u64>,
    /// By how much its coefficient had moved by then, roughly.
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
            waiting: watched.waiting,
            watching: watched.watching,
            moved: watched.moved,
            strength: watched.evidence.into(),
            features: watched.features.into_iter().map(feature).collect(),
        }
    }
}

impl Watch {
    /// That the world has moved on, and what to do about it.
    fn sentence(&self, name: &str, can_renew: bool) -> String {
        // What is named later may follow from what was named first.
        let mut named: Vec<&WatchFeature> = self.features.iter().collect();
        named.sort_by_key(|feature| feature.strength.alarm.unwrap_or(u64::MAX));
        let which = match named.as_slice() {
            [] => String::new(),
            [first, later @ ..] => {
                let at = |alarm| format!(" at reward {}", count(alarm));
                let at = first.strength.alarm.map(at).unwrap_or_default();
                let later: Vec<&str> = later.iter().map(|feature| feature.name.as_str()).collect();
                let later =
                    if later.is_empty() { String::new() } else { format!(", later in {}", later.join(", ")) };
                format!("; seen first in {}{at}{later}", first.name)
            }
        };
        let when = |alarm| format!(", alarm at reward {} of {}", count(alarm), count(self.rounds));
        let when = self.strength.alarm.map(when).unwrap_or_default();
        let remedy = if can_renew {
            format!(
                "`POST /v1/bandits/{name}/renew` begins a new season, in which all that is known so far counts as logs"
            )
        } else {
            "begin with a new bandit: one of this policy never doubts what it has learned".to_owned()
        };
        format!(
            "The live world has moved on{when}{which}: rewards since then are not what was learned before. Find out what \
             happened; if it is there to stay, {remedy}."
        )
    }

    /// That rewards are not looked at yet, if there are such.
    fn waiting_sentence(&self) -> Option<String> {
        let rewards = match self.waiting {
            0 => return None,
            1 => "1 reward waits".to_owned(),
            some => format!("{} rewards wait", count(some as u64)),
        };
        Some(format!(
            "{rewards} behind decisions without one before the watch for movements of the world looks at them, in the order of the \
             decisions; a decision whose reward does not come is given up by itself."
        ))
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
    /// That the watch has not looked at all rewards yet, if it has not.
    waiting_sentence: Option<String>,
    /// A decision to try, with all fields of the model.
    example: serde_json::Value,
}

impl Report {
    pub(crate) fn of(view: View) -> Result<Self, Refused> {
        let (example, can_renew) = (example(&view), view.policy.settings().can_renew());
        // What earlier seasons have tested is all in the logs of this one.
        let tested = view.policy.season_rewards() > 0;
        let shown = Shown::of(view)?;
        let moved = shown.watch.as_ref().filter(|watch| watch.moved);
        let mut sentence = match shown.logged_rows {
            0 => "There are no logs: all that is known comes from live rewards.".to_owned(),
            _ => about_logs(shown.logs_hold, tested, &shown.features),
        };
        if moved.is_some() && shown.logged_rows > 0 {
            // Both may well be true, but read as if they contradicted each other.
            sentence.push_str(" This is about the logs; the alarm compares live rewards with earlier ones.");
        }
        let conflicts_sentence = (shown.conflicts > 0).then(|| {
            format!(
                "{} what the logs say of an action and what live data says of it could not both be true. \
                 Live data decided there. If it goes on, the certificate, the noise or the norm bound is wrong.",
                many(shown.conflicts, "time")
            )
        });
        let moved_sentence = moved.map(|watch| watch.sentence(&shown.name, can_renew));
        let waiting_sentence = shown.watch.as_ref().and_then(Watch::waiting_sentence);
        Ok(Self { shown, sentence, conflicts_sentence, moved_sentence, waiting_sentence, example })
    }
}

/// An event to try: lists of numbers where actions are such.
fn example(view: &View) -> serde_json::Value {
    let Some(names) = view.spec.names() else {
        return truenorth_app::bandit::example(&view.recipe, view.names.iter().map(String::as_str));
    };
    let listed = |(place, id): (usize, &str)| {
        let features: Vec<usize> = (0..names.len()).map(|feature| (feature + place) % 2).collect();
        json!({"id": id, "features": features})
    };
    let actions: Vec<_> = ["a", "b"].into_iter().enumerate().map(listed).collect();
    json!({ "actions": actions })
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
                 probability {hold:.2}. Reliance on a feature starts lower, because all coefficients may have drifted too, and \
                 none, little and much are as likely at first."
            );
        }
        Some(hold) if hold < 0.5 => {
            return format!(
                "The logs are probably of no use here: the probability that they hold is {hold:.2}."
            );
        }
        Some(hold) if hold < 0.995 => format!("probability {hold:.2}"),
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
    let part = match drifted.len() {
        0 => "The logs still hold",
        some if 2 * some < logged().count() => "Most of the logs still hold",
        _ => "Part of the logs still holds",
    };
    let which = match drifted.len() {
        0 if most < 0.5 => {
            "it is too early to say what of them has drifted, and until then each feature counts for less than half"
                .to_owned()
        }
        0 => "no feature seems to have drifted".to_owned(),
        1..=NAMES => format!("{names} {seem} to have drifted"),
        all => format!("{names} and {} more {seem} to have drifted", all - NAMES),
    };
    format!("{part} ({how}); {which}.")
}

#[cfg(test)]
mod tests {
    use super::{Feature, Strength, Watch, WatchFeature, about_logs};

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
    fn an_alarm_says_when_it_came_and_which_call_begins_a_new_season() {
        let strength = Strength { evidence: 30.0, needed: 20.0, alarm: Some(1234) };
        let watch = Watch {
            level: 0.05,
            rounds: 5678,
            waiting: 0,
            watching: true,
            moved: true,
            strength,
            features: Vec::new(),
        };
        let told = watch.sentence("shop", true);
        assert!(told.starts_with("The live world has moved on, alarm at reward 1,234 of 5,678: "), "{told}");
        assert!(told.contains("`POST /v1/bandits/shop/renew` begins a new season"), "{told}");
        let feature = |(name, alarm): (&str, u64)| WatchFeature {
            name: name.to_owned(),
            strength: Strength { evidence: 900.0, needed: 800.0, alarm: Some(alarm) },
            since: None,
            shift: 0.5,
            stderr: 0.1,
        };
        let watch =
            Watch { features: [("intercept", 1301), ("item=game", 1250)].map(feature).into(), ..watch };
        let told = watch.sentence("shop", true);
        let said = "moved on, alarm at reward 1,234 of 5,678; seen first in item=game at reward 1,250, later in intercept: rewards";
        assert!(told.contains(said), "{told}");
        let told = watch.sentence("shop", false);
        assert!(told.contains("begin with a new bandit") && !told.contains("renew"), "{told}");
        assert_eq!(watch.waiting_sentence(), None);
        let told = Watch { waiting: 1234, ..watch }.waiting_sentence().unwrap();
        assert!(
            told.starts_with("1,234 rewards wait behind decisions without one before the watch"),
            "{told}"
        );
    }

    #[test]
    fn what_is_almost_certain_is_not_said_to_be_so() {
        let features = relied_on(&[0.9, 0.1, 0.8]);
        assert_eq!(
            about_logs(Some(0.9999), true, &features),
            "Most of the logs still hold (almost certainly); b seems to have drifted."
        );
        assert!(about_logs(Some(0.991), true, &features).contains("hold (probability 0.99);"));
        assert!(about_logs(Some(0.2), true, &features).contains("is 0.20"));
    }

    #[test]
    fn doubt_of_all_the_logs_is_not_taken_for_drift_of_each_feature() {
        let told = |trusts: &[f64]| about_logs(Some(0.69), true, &relied_on(trusts));
        assert_eq!(
            told(&[0.43, 0.43, 0.35]),
            "The logs still hold (probability 0.69); it is too early to say what of them has drifted, and until then each \
             feature counts for less than half."
        );
        assert_eq!(
            told(&[0.6, 0.6, 0.45]),
            "The logs still hold (probability 0.69); no feature seems to have drifted."
        );
        assert_eq!(
            told(&[0.4, 0.1, 0.05]),
            "Part of the logs still holds (probability 0.69); c, b seem to have drifted."
        );
        let many = [0.8, 0.1, 0.2, 0.3, 0.15, 0.25];
        let end = "; b, e, c and 2 more seem to have drifted.";
        assert!(told(&many).ends_with(end), "{}", told(&many));
        // What the logs never had cannot have drifted.
        let mut features = relied_on(&[0.8, 0.0]);
        features[1].coverage = 0.0;
        assert!(about_logs(Some(0.69), true, &features).ends_with("; no feature seems to have drifted."));
        assert_eq!(
            about_logs(Some(0.9), false, &features),
            "Too early to tell: no live reward has tested the logs. Until then, they are taken to hold with probability 0.90. \
             Reliance on a feature starts lower, because all coefficients may have drifted too, and none, little and much are as \
             likely at first."
        );
    }
}
