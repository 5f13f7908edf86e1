//! What a bandit shows of itself: counts, features by name, the rows and intervals of an event.

use serde::Serialize;
use truenorth::{ActionInterval, Explanation, FeatureView, Policy};
use truenorth_features::{Event, Recipe};

use crate::bandit::Bandit;
use crate::choose::Choice;
use crate::error::Result;
use crate::ledger::{Fate, Found, Made};
use crate::parts::Limits;

/// What the feature that is always 1 is called.
const INTERCEPT: &str = "intercept";

/// Counts of what a bandit has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// Decisions made.
    pub decisions: u64,
    /// Rewards learned for these.
    pub rewards: u64,
    /// Rows of others learned.
    pub rows: u64,
    /// Decisions that wait for their rewards.
    pub open: usize,
    /// Decisions that have waited too long.
    pub expired: u64,
    /// Features that joined beside those of logs.
    pub joined: usize,
    /// See [`truenorth::Counts`].
    pub conflicts: u64,
    /// Share of the decisions in which the logs set the upper end of the chosen action's interval.
    pub pooled_share: f64,
    /// Mean of the rewards of decisions.
    pub mean_reward: Option<f64>,
    /// Evidence that the world has moved on, of a bandit that is watched: 1 / level is an alarm.
    pub evidence: Option<f64>,
    /// Whether such an alarm was given.
    pub moved: Option<bool>,
}

/// What has been learned about a feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedFeature {
    /// Its name; `intercept` for the one that is always 1.
    pub name: String,
    /// Estimate, coverage, drift and reliance.
    #[serde(flatten)]
    pub view: FeatureView,
}

/// The row of an action.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Encoded {
    /// The action.
    pub id: String,
    /// Its features that are not 0, the intercept first, if there is one.
    pub features: Vec<(String, f64)>,
}

impl Bandit {
    /// How features are made of raw values.
    pub fn recipe(&self) -> &Recipe {
        self.encoder.recipe()
    }

    /// The same, and which fields belong to the action, also where no logs have said it but decisions have shown it.
    pub fn recipe_as_seen(&self) -> &Recipe {
        self.placed.as_ref().map_or(self.recipe(), |placed| &placed.recipe)
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What may be remembered.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// One sentence for each term of the model that cannot change a choice; without logs, once a decision has shown which
    /// fields belong to the action.
    pub fn warnings(&self) -> Vec<String> {
        self.recipe_as_seen().warnings()
    }

    /// What has been done so far.
    pub fn counts(&self) -> Counts {
        let counts = self.policy.counts();
        let rewards = counts.rewards - self.rows;
        let evidence = self.monitor().map(truenorth_monitor::Monitor::evidence);
        Counts {
            decisions: counts.rounds,
            rewards,
            rows: self.rows,
            open: self.ledger.open.len(),
            expired: self.ledger.expired,
            joined: self.joined.len(),
            conflicts: counts.conflicts,
            pooled_share: counts.pooled_share(),
            mean_reward: (rewards > 0).then(|| self.reward_sum / rewards as f64),
            evidence: evidence.map(|evidence| evidence.evidence),
            moved: evidence.map(|evidence| evidence.alarm.is_some()),
        }
    }

    /// Features that joined beside those of logs, by name, in the order in which they came.
    pub fn joined(&self) -> impl Iterator<Item = &str> {
        self.joined.iter().map(|&feature| &*self.encoder.features()[feature as usize].name)
    }

    /// Fields that came and that the model has no use for, and how often they came; the first hundred.
    pub fn unknown_fields(&self) -> &[(String, u64)] {
        self.encoder.unknown_fields()
    }

    /// A decision that is remembered: what was answered, unless it is a row of others, and how it stands.
    pub fn decision(&self, id: &str) -> Option<(Option<Choice>, Fate)> {
        let found = self.ledger.find(id)?;
        Some((found.made().map(|made| Choice::new(id.to_owned(), made)), found.fate()))
    }

    /// The number under which a decision that is remembered is written down.
    pub fn number(&self, id: &str) -> Option<u64> {
        self.ledger.find(id)?.made().map(|made| made.number)
    }

    /// How a decision that is remembered stands.
    pub fn fate(&self, id: &str) -> Option<Fate> {
        self.ledger.find(id).map(|found| found.fate())
    }

    /// The action of a decision that is remembered which a reward is learned of.
    pub fn taken(&self, id: &str) -> Option<&str> {
        match self.ledger.find(id)? {
            Found::Open(open) => Some(open.made.taken()),
            Found::Closed(closed) => closed.made.as_ref().map(Made::taken),
        }
    }

    /// Names of all features, the intercept first, if there is one.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let intercept = self.recipe().model.intercept.then_some(INTERCEPT);
        intercept.into_iter().chain(self.encoder.features().iter().map(|feature| &*feature.name))
    }

    /// What has been learned about each feature. O(d³).
    pub fn features(&self) -> Result<Vec<NamedFeature>> {
        let views = self.policy.features()?;
        let named = self.names().zip(views).map(|(name, view)| NamedFeature { name: name.to_owned(), view });
        Ok(named.collect())
    }

    /// The rows of an event, as the policy would see them.
    pub fn encode(&mut self, event: &Event) -> Result<Vec<Encoded>> {
        self.look(event, |bandit, round| {
            let features = bandit.encoder.features();
            let intercept = || bandit.recipe().model.intercept.then(|| (INTERCEPT.to_owned(), 1.0));
            let named = |&(at, value): &(u32, f64)| (features[at as usize].name.clone(), value);
            let encoded = round.rows.iter().enumerate().map(|(action, row)| Encoded {
                id: event.id(action).to_owned(),
                features: intercept().into_iter().chain(row.iter().map(named)).collect(),
            });
            Ok(encoded.collect())
        })
    }

    /// Every action's id and interval, as the next decision would start from it. Nothing is decided.
    pub fn intervals(&mut self, event: &Event) -> Result<Vec<(String, ActionInterval)>> {
        self.look(event, |bandit, round| {
            let policy = bandit.grown()?;
            let intervals = policy.intervals(0, round.actions(&policy)?)?;
            Ok(intervals
                .into_iter()
                .map(|interval| (event.id(interval.action).to_owned(), interval))
                .collect())
        })
    }

    /// What would be chosen now, and why; [`Event::id`] tells the ids of its actions. Nothing is decided.
    pub fn explain(&mut self, event: &Event) -> Result<(String, Explanation)> {
        self.look(event, |bandit, round| {
            let mut policy = bandit.grown()?.into_owned();
            let actions = round.actions(&policy)?;
            let (choice, explanation) = policy.choose_explained(actions)?;
            Ok((event.id(choice.action).to_owned(), explanation))
        })
    }
}
