//! The bandit: choose and learn, with raw values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use truenorth::{Fit, Fitted, Observation, Policy, RidgeStatistic, Row, Settings};
use truenorth_features::{Encoder, Event, Feature, Joining, Recipe, is_same};

use crate::choose::Choice;
use crate::error::{Error, Result, shown};
use crate::ledger::{Fate, Found, Ledger};
use crate::parts::{Limits, Parts, check_names};
use crate::placed::Placed;
use crate::round::{Round, check_action, is_usable, spread, width};
use crate::watch::Watch;

/// How long the id of a decision may be, in bytes.
const LONGEST_ID: usize = 200;
/// Features up to which a policy with logs takes whole rows.
const DENSE: usize = 300;
/// The same for the name of a feature that joins.
const LONGEST_NAME: usize = 1000;

/// What became of an event.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// It was decided.
    Decided(Choice),
    /// It was learned.
    Learned {
        /// Its decision, if it has an id.
        #[serde(skip_serializing_if = "Option::is_none")]
        decision_id: Option<String>,
        /// True.
        learned: bool,
    },
}

/// A recipe and a policy: raw values in, an action's id out.
///
/// [`choose`](Self::choose) takes what the policy takes, and what it takes to make the rows. Its policy is
/// [sparse](Settings::sparse) where the method allows it, if there are no logs or more than 300 features: then a decision costs
/// what its actions touch, and so does a feature that joins. Otherwise an event with new features takes O(d³).
#[derive(Debug, Clone)]
pub struct Bandit {
    pub(crate) encoder: Encoder,
    pub(crate) means: BTreeMap<String, f64>,
    pub(crate) policy: Policy,
    pub(crate) limits: Limits,
    /// Features that joined beside those of logs.
    pub(crate) joined: Vec<u32>,
    pub(crate) ledger: Ledger,
    /// Rows of others that were learned.
    pub(crate) rows: u64,
    /// Sum of the rewards of decisions.
    pub(crate) reward_sum: f64,
    /// Whether the world has moved on since it is watched.
    pub(crate) watch: Option<Box<Watch>>,
    /// Where fields are, once an event has shown it.
    pub(crate) placed: Option<Box<Placed>>,
}

impl Bandit {
    /// From its parts, and the settings of its policy, which has the logs already.
    ///
    /// ```
    /// use truenorth::Preset;
    /// use truenorth_bandit::{Bandit, Parts};
    ///
    /// let parts = Parts::without_logs("topic:(1 + user.*)")?;
    /// let bandit = Bandit::new(parts, |policy| policy.preset(Preset::TrueNorthSampling).seed(42))?;
    /// # Ok::<(), truenorth_bandit::Error>(())
    /// ```
    pub fn new(parts: Parts, settings: impl FnOnce(Settings) -> Settings) -> Result<Self> {
        let Parts { recipe, features, means, logs, limits } = parts;
        check_names(&features)?;
        let width = width(&recipe, features.len());
        let mut builder = Policy::builder(width);
        let logged = logs.is_some();
        if let Some(logs) = logs {
            check_logs(&logs, width)?;
            builder = builder.logs(logs);
        }
        let mut settings = settings(builder);
        // Levels are features that an action has or has not. Where they are many or will be, and nothing is lost by it, the
        // policy costs what an action has.
        if settings.can_be_sparse() && (!logged || width > DENSE) {
            settings = settings.sparse(true);
        }
        let policy = settings.build()?;
        Self::with_policy((recipe, features, Vec::new()), means, policy, limits, Vec::new())
    }

    /// From parts that fit together but for what is checked here.
    pub(crate) fn with_policy(
        (recipe, features, unknown): (Recipe, Vec<Feature>, Vec<(String, u64)>),
        means: BTreeMap<String, f64>,
        policy: Policy,
        limits: Limits,
        joined: Vec<u32>,
    ) -> Result<Self> {
        for (name, value) in [("open", limits.open as u64), ("age", limits.age)] {
            if value == 0 {
                return Err(Error::invalid(format!("`{name}` must be at least 1, but is 0")));
            }
        }
        if let Some((name, mean)) = means.iter().find(|(_, mean)| !is_usable(**mean)) {
            return Err(Error::invalid(format!("the mean of `{name}` is {mean}, but must be finite")));
        }
        let found = policy.dimension();
        let expected = width(&recipe, features.len());
        if found != expected {
            return Err(Error::invalid(format!(
                "the policy has {found} features, but the recipe {expected}"
            )));
        }
        // Those that were there at first, and so many more.
        let most = (features.len() - joined.len()).saturating_add(limits.joining);
        let encoder = Encoder::new(recipe, features, Joining::Sharing(most))
            .with_means(means.clone())
            .with_unknown_fields(unknown);
        let ledger = Ledger::new(limits);
        let (rows, reward_sum, watch, placed) = (0, 0.0, None, None);
        Ok(Self { encoder, means, policy, limits, joined, ledger, rows, reward_sum, watch, placed })
    }

    /// Does what an event asks for: decides it, if it has neither an `action` nor a `reward`, and learns its reward otherwise.
    pub fn answer(&mut self, event: &Event) -> Result<Answer> {
        if event.reward.is_some() {
            self.learn_event(event)?;
            return Ok(Answer::Learned { decision_id: event.decision_id.clone(), learned: true });
        }
        if event.chosen.is_some() || event.played.is_some() {
            let message =
                "the event has an `action`, so there is nothing to decide, but no `reward` to learn";
            return Err(Error::invalid(message));
        }
        Ok(Answer::Decided(self.choose(event)?))
    }

    /// Learns the reward of a decision, once.
    pub fn learn(&mut self, decision_id: &str, reward: f64) -> Result<()> {
        check_reward(reward)?;
        let open = match self.ledger.find(decision_id) {
            Some(Found::Open(open)) => open,
            found => return Err(not_open(decision_id, found.as_ref())),
        };
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        spread(&open.features, self.encoder.recipe().model.intercept, &mut columns, &mut values);
        let features = Row::sparse(&columns, &values);
        let decision = open.decision;
        self.policy.learn(Observation { decision, features, reward })?;
        self.rewarded(decision_id, reward);
        self.watch_row(decision.round, columns.into_iter().zip(values).collect(), reward);
        Ok(())
    }

    /// Learns an event with its `reward`.
    ///
    /// If its decision is open, it is the reward of that: of the action that was chosen, or of the one that the event says
    /// was taken instead. Otherwise it is a row that others decided, of a log or a pilot, which is learned without a decision.
    pub fn learn_event(&mut self, event: &Event) -> Result<()> {
        let Some(reward) = event.reward else {
            return Err(Error::invalid("the event has no `reward` to learn"));
        };
        check_reward(reward)?;
        let id = event.decision_id.as_deref();
        id.map_or(Ok(()), check_id)?;
        let found = id.and_then(|id| self.ledger.find(id));
        let taken = event.chosen.map(|action| event.id(action)).or(event.played.as_deref());
        match (id, found) {
            (Some(id), Some(Found::Open(open))) => {
                if taken.is_none_or(|taken| is_same(taken, open.made.taken())) {
                    return self.learn(id, reward);
                }
                let Some(action) = event.chosen else {
                    return Err(Error::invalid(format!(
                        "decision {} chose {}; to learn {} instead, the event must list its `actions`",
                        shown(id),
                        shown(open.made.taken()),
                        shown(taken.unwrap_or_default())
                    )));
                };
                let (id, round) = (id.to_owned(), open.decision.round);
                let (columns, values) = self.learn_row(event, action, reward)?;
                self.rewarded(&id, reward);
                self.watch_row(round, columns.into_iter().zip(values).collect(), reward);
            }
            (Some(id), Some(found)) if matches!(found.fate(), Fate::Learned(_)) => {
                return Err(not_open(id, Some(&found)));
            }
            (id, found) => {
                let Some(action) = event.chosen else {
                    return Err(match id {
                        Some(id) => not_open(id, found.as_ref()),
                        None => Error::invalid(
                            "a `reward` needs the `decision_id` that it belongs to, or the `actions` and the `action` taken",
                        ),
                    });
                };
                let id = id.map(str::to_owned);
                self.learn_row(event, action, reward)?;
                self.rows += 1;
                if let Some(id) = id {
                    self.ledger.learned(&id, self.policy.counts().rounds, reward);
                }
            }
        }
        Ok(())
    }

    /// Lets an open decision wait for its reward no longer: one that comes later is refused.
    pub fn expire(&mut self, decision_id: &str) -> Result<()> {
        match self.ledger.find(decision_id) {
            Some(Found::Open(_)) => self.ledger.expire(decision_id, self.policy.counts().rounds),
            found => return Err(not_open(decision_id, found.as_ref())),
        }
        Ok(())
    }

    /// Learns the row of an action that this bandit did not choose, and gives it back.
    fn learn_row(&mut self, event: &Event, action: usize, reward: f64) -> Result<(Vec<usize>, Vec<f64>)> {
        self.whole(|bandit| {
            check_action(event.id(action))?;
            bandit.encoder.row(event, action)?;
            let row = bandit.merged(bandit.encoder.entries(), event.id(action))?;
            let intercept = bandit.encoder.recipe().model.intercept;
            let (mut columns, mut values) = (Vec::new(), Vec::new());
            spread(&row, intercept, &mut columns, &mut values);
            bandit.act(|policy| policy.learn_row(Row::sparse(&columns, &values), reward))?;
            Ok((columns, values))
        })
    }

    fn rewarded(&mut self, id: &str, reward: f64) {
        self.ledger.learned(id, self.policy.counts().rounds, reward);
        self.reward_sum += reward;
    }

    /// Adds logs to a running bandit: their features, in the order of their statistic and without its intercept, are matched by
    /// name, and new ones join. Their means are taken for what has none so far.
    pub fn add_logs(
        &mut self,
        features: &[Feature],
        logs: &RidgeStatistic,
        means: &BTreeMap<String, f64>,
    ) -> Result<()> {
        check_names(features)?;
        let recipe = self.encoder.recipe().clone();
        check_logs(logs, width(&recipe, features.len()))?;
        let mut all = self.encoder.features().to_vec();
        let known: BTreeMap<&str, usize> =
            self.encoder.features().iter().enumerate().map(|(at, feature)| (&*feature.name, at)).collect();
        let intercept = usize::from(recipe.model.intercept);
        let mut places: Vec<usize> = (0..intercept).collect();
        for feature in features {
            let at = known.get(&*feature.name).copied().unwrap_or_else(|| {
                all.push(Feature::new(feature.name.clone()));
                all.len() - 1
            });
            feature.examples.iter().for_each(|name| all[at].add_example(name));
            places.push(intercept + at);
        }
        let width = width(&recipe, all.len());
        // Without features, there is a place that none has taken.
        places.resize(logs.dimension(), 0);
        let logs = logs.placed(&places, width)?;
        let mut policy = self.policy.clone();
        policy.grow(width)?;
        policy.add_logs(&logs)?;
        let mut means = means.clone();
        means.extend(self.means.clone());
        let unknown = self.encoder.unknown_fields().to_vec();
        let made =
            Self::with_policy((recipe, all, unknown), means, policy, self.limits, self.joined.clone())?;
        (self.encoder, self.means, self.policy) = (made.encoder, made.means, made.policy);
        Ok(())
    }

    /// Starts a new season: see [`Policy::renew`]. A watch begins anew with it.
    pub fn renew(&mut self) -> Result<()> {
        self.policy.renew()?;
        self.watch_anew()
    }

    /// Whether a fit is due, in a bandit whose policy [fits beside](Settings::fits_beside) its decisions.
    pub fn is_fit_due(&self) -> bool {
        self.policy.is_fit_due()
    }

    /// The fit that is due: see [`Policy::begin_fit`].
    pub fn begin_fit(&self) -> Option<Fit> {
        self.policy.begin_fit()
    }

    /// Takes what a fit has found: see [`Policy::finish_fit`].
    pub fn finish_fit(&mut self, fitted: truenorth::Result<Fitted>) -> Result<()> {
        Ok(self.policy.finish_fit(fitted)?)
    }

    /// Does all of something or, if it is refused, nothing.
    pub(crate) fn whole<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = self.encoder.features().len();
        let done = act(self);
        match done {
            Ok(_) => self.joined.extend(names(before, self.encoder.features().len())),
            Err(_) => self.encoder.take_back(before),
        }
        done
    }

    /// Lets the policy do something, after it has grown by what has joined; if that is refused, it is as it was.
    pub(crate) fn act<T>(&mut self, act: impl FnOnce(&mut Policy) -> truenorth::Result<T>) -> Result<T> {
        match self.grown()? {
            Cow::Borrowed(_) => Ok(act(&mut self.policy)?),
            Cow::Owned(mut grown) => {
                let done = act(&mut grown)?;
                self.policy = grown;
                Ok(done)
            }
        }
    }

    /// The policy with all features of the encoder.
    pub(crate) fn grown(&self) -> Result<Cow<'_, Policy>> {
        let width = width(self.encoder.recipe(), self.encoder.features().len());
        if width == self.policy.dimension() {
            return Ok(Cow::Borrowed(&self.policy));
        }
        // Without an intercept, the first of all features takes the place that was kept for it.
        let known = self.policy.dimension() - usize::from(self.encoder.recipe().model.intercept);
        if let Some(long) =
            self.encoder.features().iter().skip(known).find(|new| new.name.len() > LONGEST_NAME)
        {
            let (name, bytes) = (shown(&long.name), long.name.len());
            return Err(Error::invalid(format!(
                "the name of feature {name} has {bytes} bytes, but may have {LONGEST_NAME}"
            )));
        }
        let mut grown = self.policy.clone();
        grown.grow(width)?;
        Ok(Cow::Owned(grown))
    }

    /// Looks at an event without a trace.
    pub(crate) fn look<T>(
        &mut self,
        event: &Event,
        look: impl FnOnce(&Self, Round) -> Result<T>,
    ) -> Result<T> {
        let before = self.encoder.features().len();
        let seen = self.round(event).and_then(|round| look(self, round));
        self.encoder.take_back(before);
        seen
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the encoder counts features in 32 bits")]
fn names(from: usize, to: usize) -> std::ops::Range<u32> {
    from as u32..to as u32
}

fn check_reward(reward: f64) -> Result<()> {
    if is_usable(reward) {
        return Ok(());
    }
    Err(Error::invalid(format!("`reward` is {reward:?}, but must be finite and at most 1e50 in size")))
}

pub(crate) fn check_id(id: &str) -> Result<()> {
    match id.len() {
        0 => Err(Error::invalid("`decision_id` is empty")),
        1..=LONGEST_ID => Ok(()),
        long => Err(Error::invalid(format!(
            "`decision_id` {} has {long} bytes, but may have {LONGEST_ID}",
            shown(id)
        ))),
    }
}

fn check_logs(logs: &RidgeStatistic, width: usize) -> Result<()> {
    if logs.dimension() == width {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the logs have {} features, intercept included, but {width} are named",
        logs.dimension()
    )))
}

/// Why nothing can be learned for this id.
fn not_open(id: &str, found: Option<&Found<'_>>) -> Error {
    let id = shown(id);
    match found.map(Found::fate) {
        Some(Fate::Learned(reward)) => Error::new(
            "already_learned",
            format!("decision {id} has had its reward already, which was {reward}"),
        ),
        Some(Fate::Expired) => {
            Error::new("expired", format!("decision {id} has expired: it waited too long for its reward"))
        }
        _ => Error::new("unknown_decision", format!("there is no decision {id} that waits for a reward")),
    }
}
