//! Decisions: made, written down as facts, and taken note of.

use serde::{Deserialize, Serialize};
use truenorth::{Branch, Decision, Room};
use truenorth_features::Event;

use crate::bandit::{Bandit, check_id};
use crate::error::{Error, Result, shown};
use crate::ledger::{Made, Open};
use crate::round::{Hash, Round};

/// A decision, as it is answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// Hand this back with the reward.
    pub decision_id: String,
    /// The id of the chosen action.
    pub action: String,
    /// Its place among the actions of the event, from 0.
    #[serde(skip)]
    pub index: usize,
    /// Probability with which it was chosen: 1 but for policies with a dice.
    pub probability: f64,
    /// Its estimated reward, without what all rewards have in common: [`Policy::level`](truenorth::Policy::level).
    pub mean: f64,
    /// Lower end of the interval around `mean`.
    pub lcb: f64,
    /// Upper end of the interval around `mean`.
    pub ucb: f64,
    /// What set that end: live data alone, or the logs as well.
    pub branch: Branch,
    /// What was played instead, by its place and id, where that was said.
    #[serde(skip)]
    pub played: Option<(usize, String)>,
}

impl Choice {
    pub(crate) fn new(decision_id: String, made: &Made) -> Self {
        let Made { action, index, probability, mean, lcb, ucb, branch, played, .. } = made.clone();
        Self { decision_id, action, index, probability, mean, lcb, ucb, branch, played }
    }
}

/// A decision that was made, as a journal keeps it beside the event: all that a state has to know of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    /// Its id.
    pub decision_id: String,
    /// What the policy chose, and what it was charged.
    pub choice: truenorth::Choice,
    /// What was played instead, by its place.
    pub played: Option<usize>,
}

impl Bandit {
    /// Chooses an action. A `decision_id` that the event brings is the decision's; the same one again, while it is
    /// remembered, gives the same answer and decides nothing anew.
    pub fn choose(&mut self, event: &Event) -> Result<Choice> {
        self.choose_noted(event, None, |_| 0)
    }

    /// The same for whoever keeps a journal: `note` writes the fact down, once it is certain and if it is new, and tells the
    /// number that [`number`](Self::number) remembers. What is `played` instead of the choice, by its place, is what a reward
    /// is then learned of.
    pub fn choose_noted(
        &mut self,
        event: &Event,
        played: Option<usize>,
        note: impl FnOnce(&Fact) -> u64,
    ) -> Result<Choice> {
        if let Some(known) = self.known(event)? {
            return Ok(known);
        }
        self.whole(|bandit| {
            let round = bandit.round(event)?;
            bandit.place(event);
            let decision_id = bandit.id_of(event, &round);
            check_played(event, played)?;
            let choice = bandit.act(|policy| policy.choose(round.actions(policy)?))?;
            let fact = Fact { decision_id, choice, played };
            let number = note(&fact);
            Ok(bandit.opened(event, round, &fact, choice.decision, number))
        })
    }

    /// Decides as [`choose`](Self::choose) would, but takes no note of it: no decision is made before [`fold`](Self::fold) is
    /// told of it, here and in every copy of this bandit.
    pub fn decide(&mut self, event: &Event, played: Option<usize>) -> Result<Fact> {
        event.decision_id.as_deref().map_or(Ok(()), check_id)?;
        check_played(event, played)?;
        self.look(event, |bandit, round| {
            let policy = bandit.grown()?;
            let choice = policy.decide(round.actions(&policy)?, &mut Room::default())?;
            Ok(Fact { decision_id: bandit.id_of(event, &round), choice, played })
        })
    }

    /// Takes note of a decision that was made on an event and is written down under a number. Nothing is decided again; its round
    /// is the next one here.
    pub fn fold(&mut self, event: &Event, fact: &Fact, number: u64) -> Result<Choice> {
        check_id(&fact.decision_id)?;
        if self.ledger.find(&fact.decision_id).is_some() {
            let message = format!("decision {} is there already", shown(&fact.decision_id));
            return Err(Error::new("conflict", message));
        }
        check_played(event, fact.played)?;
        self.whole(|bandit| {
            let round = bandit.round(event)?;
            bandit.place(event);
            let decision = bandit.act(|policy| policy.record(round.actions(policy)?, &fact.choice))?;
            Ok(bandit.opened(event, round, fact, decision, number))
        })
    }

    /// The answer of a decision that the event names and that is remembered.
    fn known(&mut self, event: &Event) -> Result<Option<Choice>> {
        let Some(id) = &event.decision_id else { return Ok(None) };
        check_id(id)?;
        if self.ledger.find(id).is_none() {
            return Ok(None);
        }
        let content = self.look(event, |_, round| Ok(round.content))?;
        self.again(id, content).map(Some)
    }

    /// Remembers a decision that was made.
    fn opened(
        &mut self,
        event: &Event,
        mut round: Round,
        fact: &Fact,
        decision: Decision,
        number: u64,
    ) -> Choice {
        let Fact { decision_id, choice, played } = fact;
        let named = |action: usize| event.id(action).to_owned();
        let played = played.map(|played| (played, named(played)));
        let made = Made {
            content: round.content,
            action: named(choice.action),
            index: choice.action,
            probability: choice.propensity,
            mean: choice.mean,
            lcb: choice.lcb,
            ucb: choice.ucb,
            branch: choice.branch,
            played,
            number,
        };
        let answer = Choice::new(decision_id.clone(), &made);
        let taken = made.played.as_ref().map_or(choice.action, |(played, _)| *played);
        let features = std::mem::take(&mut round.rows[taken]);
        // What others play counts for no layer but the first: see `Policy::learn_row`.
        let layer = if taken == choice.action { decision.layer } else { 0 };
        let decision = Decision { layer, ..decision };
        self.ledger.open(Open { id: decision_id.clone(), decision, made, features });
        answer
    }

    /// The id that an event brings, or a new one.
    fn id_of(&self, event: &Event, round: &Round) -> String {
        event.decision_id.clone().unwrap_or_else(|| self.new_id(round.content))
    }

    /// The answer of a decision that is remembered, if that is what was asked.
    fn again(&self, id: &str, content: u128) -> Result<Choice> {
        let made = self.ledger.find(id).and_then(|found| found.made().cloned());
        match made {
            Some(made) if made.content == content => Ok(Choice::new(id.to_owned(), &made)),
            Some(_) => {
                let message = format!("decision {} was made on another context or other actions", shown(id));
                Err(Error::new("conflict", message))
            }
            None => {
                let message = format!("{} is the id of a row that was learned, not of a decision", shown(id));
                Err(Error::new("conflict", message))
            }
        }
    }

    /// An id for the next decision: a hash of seed, round and content, and of how often that was taken already.
    fn new_id(&self, content: u128) -> String {
        let (mut hash, round) = (Hash(content), self.policy.counts().rounds + 1);
        hash.word(self.policy.seed());
        hash.word(round);
        loop {
            let id = format!("{:032x}", hash.0);
            if self.ledger.find(&id).is_none() {
                return id;
            }
            hash.word(0);
        }
    }
}

fn check_played(event: &Event, played: Option<usize>) -> Result<()> {
    match played.filter(|played| *played >= event.len()) {
        None => Ok(()),
        Some(played) => {
            Err(Error::invalid(format!("action {played} was played, but there are {}", event.len())))
        }
    }
}
