//! One bandit as it is served: what it is made from, what it knows, who waits for what. Its state is a fold of the journal.

use std::collections::{HashSet, VecDeque};
use std::thread::JoinHandle;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use truenorth::Fitted;
use truenorth_bandit::{Bandit, Fate};
use truenorth_features::Event;

use crate::api::{Asked, Decided, DecidedRecord, Paid, PaidRecord, Refused};
use crate::spec::{Mode, Spec};
use crate::store::{Kind, Made, Record, Store, StoreError};

/// A bandit, and what serving it needs besides.
pub(crate) struct Hosted {
    pub(crate) key: i64,
    pub(crate) name: String,
    pub(crate) spec: Spec,
    /// What it was made from, as text.
    pub(crate) made: String,
    pub(crate) mode: Mode,
    pub(crate) bandit: Bandit,
    names: Option<Vec<String>>,
    /// Decisions in the order in which they are given the default reward, if they have none by then.
    deadlines: VecDeque<(i64, String)>,
    /// Decisions that were ranked, and not shown so far.
    deferred: HashSet<String>,
    /// The record that the state is after.
    pub(crate) folded: i64,
    fit: Option<JoinHandle<truenorth::Result<Fitted>>>,
    event: Event,
}

/// What a snapshot holds, but for the bandit, which follows it behind a zero.
#[derive(Serialize, Deserialize)]
struct State {
    mode: Mode,
    deadlines: VecDeque<(i64, String)>,
    deferred: HashSet<String>,
}

/// What an operation adds to the journal, if anything, and what is answered.
pub(crate) type Outcome<T> = Result<(Option<Record>, T), Refused>;

impl Hosted {
    /// A new one.
    pub(crate) fn new(made: Made) -> Result<Self, Refused> {
        let spec: Spec =
            serde_json::from_str(&made.spec).map_err(|error| Refused::invalid(error.to_string()))?;
        Ok(Self {
            bandit: spec.bandit()?,
            names: spec.names(),
            mode: spec.mode,
            key: made.key,
            name: made.name,
            made: made.spec,
            spec,
            deadlines: VecDeque::new(),
            deferred: HashSet::new(),
            folded: 0,
            fit: None,
            event: Event::default(),
        })
    }

    /// As the journal has it, from the last snapshot on.
    pub(crate) fn restored(
        made: Made,
        store: &Store,
        snapshot: Option<(i64, Vec<u8>)>,
    ) -> Result<Self, StoreError> {
        let name = made.name.clone();
        let failed = |error: String| StoreError(format!("bandit `{name}` cannot be restored: {error}"));
        let mut hosted = Self::new(made).map_err(|refused| failed(refused.message))?;
        if let Some((number, bytes)) = snapshot {
            // A snapshot only shortens the fold: one that cannot be read is done without.
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            if let Ok(state) = serde_json::from_slice::<State>(&bytes[..end])
                && let Ok(bandit) = Bandit::from_bytes(bytes.get(end + 1..).unwrap_or_default())
            {
                let State { mode, deadlines, deferred } = state;
                hosted = Self { bandit, mode, deadlines, deferred, folded: number, ..hosted };
            }
        }
        hosted.follow(store)?;
        Ok(hosted)
    }

    /// Folds what has been written down since.
    pub(crate) fn follow(&mut self, store: &Store) -> Result<(), StoreError> {
        let (key, behind, name) = (self.key, self.folded, self.name.clone());
        store.read(key, behind, |number, record| {
            self.apply(&record, store).map_err(|refused| {
                StoreError(format!("bandit `{name}`, record {number}: {}", refused.message))
            })?;
            self.folded = number;
            Ok(())
        })
    }

    pub(crate) fn snapshot(&self) -> Vec<u8> {
        let state =
            State { mode: self.mode, deadlines: self.deadlines.clone(), deferred: self.deferred.clone() };
        let mut bytes = serde_json::to_vec(&state).unwrap_or_default();
        bytes.push(0);
        bytes.extend(self.bandit.to_bytes());
        bytes
    }

    /// Changes the state as a record says; the only way in which it changes.
    fn apply(&mut self, record: &Record, store: &Store) -> Result<(), Refused> {
        let damaged =
            |error: serde_json::Error| Refused::invalid(format!("its body cannot be read: {error}"));
        match record.kind {
            Kind::Decided => {
                let made: DecidedRecord = serde_json::from_str(&record.body).map_err(damaged)?;
                let decided = self.choose(&made.asked, record.at)?;
                if decided.decision_id != record.id || decided.action != made.action {
                    return Err(Refused::invalid("it gives another decision than when it was made"));
                }
            }
            Kind::Rewarded => {
                let paid: PaidRecord = serde_json::from_str(&record.body).map_err(damaged)?;
                self.learn(&record.id, &paid, store)?;
            }
            Kind::Fitted => {
                let fit = self.bandit.begin_fit().ok_or_else(|| Refused::invalid("no fit was due"))?;
                self.bandit.finish_fit(fit.run())?;
            }
            Kind::Mode => self.mode = serde_json::from_str(&record.body).map_err(damaged)?,
            Kind::Activated => self.activate_now(&record.id, record.at),
            Kind::Renewed => self.bandit.renew()?,
            Kind::Restored => self.replace(&record.body)?,
        }
        Ok(())
    }

    fn record(&self, kind: Kind, at: i64, id: &str, body: String) -> Record {
        Record { bandit: self.key, kind, at, id: id.to_owned(), body }
    }

    /// Decides.
    pub(crate) fn decide(&mut self, asked: &Asked, at: i64) -> Outcome<Decided> {
        let known = asked.id.as_deref().is_some_and(|id| self.bandit.decision(id).is_some());
        let decided = self.choose(asked, at)?;
        if known {
            return Ok((None, decided));
        }
        let (action, propensity) = (decided.action.clone(), decided.propensity);
        let made = DecidedRecord { asked: asked.clone(), action, propensity };
        let body = serde_json::to_string(&made).map_err(|error| Refused::invalid(error.to_string()))?;
        Ok((Some(self.record(Kind::Decided, at, &decided.decision_id, body)), decided))
    }

    fn choose(&mut self, asked: &Asked, at: i64) -> Result<Decided, Refused> {
        let mut event = std::mem::take(&mut self.event);
        let read = asked.event(self.names.as_deref(), &mut event);
        let known = asked.id.as_deref().is_some_and(|id| self.bandit.decision(id).is_some());
        let played = read.and_then(|()| self.played(asked, &event));
        let chosen = played.and_then(|played| Ok((played, self.bandit.choose(&event)?)));
        self.event = event;
        let (played, choice) = chosen?;
        if !known {
            if asked.deferred {
                self.deferred.insert(choice.decision_id.clone());
            } else {
                self.await_reward(&choice.decision_id, at);
            }
        }
        let (action, action_index, ours) = match played {
            Some((index, played)) => (played, index, Some(choice.action)),
            None => (choice.action, choice.index, None),
        };
        Ok(Decided {
            decision_id: choice.decision_id,
            action,
            action_index,
            ucb: choice.ucb,
            lcb: choice.lcb,
            mean: choice.mean,
            branch: choice.branch.name(),
            propensity: if ours.is_some() { 1.0 } else { choice.probability },
            ours,
        })
    }

    /// What the caller plays, in shadow.
    fn played(&self, asked: &Asked, event: &Event) -> Result<Option<(usize, String)>, Refused> {
        if self.mode != Mode::Shadow {
            return Ok(None);
        }
        let index = match &asked.played {
            None => 0,
            Some(played) => {
                let unknown =
                    || Refused::invalid(format!("{played:?} was played, but is none of the actions"));
                event.find(played).ok_or_else(unknown)?
            }
        };
        if event.is_empty() {
            return Err(Refused::invalid("the event has no `actions` to choose from"));
        }
        Ok(Some((index, event.id(index).to_owned())))
    }

    fn await_reward(&mut self, id: &str, at: i64) {
        if let (Some(seconds), Some(_)) = (self.spec.reward_timeout_s, self.spec.default_reward) {
            #[expect(clippy::cast_possible_truncation, reason = "a time; casts saturate")]
            self.deadlines.push_back((at.saturating_add((seconds * 1000.0) as i64), id.to_owned()));
        }
    }

    /// Learns a reward.
    pub(crate) fn pay(&mut self, paid: &Paid, at: i64, store: &Store) -> Outcome<()> {
        let id = &paid.decision_id;
        let unavailable = |error: StoreError| Refused::unavailable(error.to_string());
        let other = |before: f64| {
            Refused::new(
                409,
                "already_learned",
                format!("decision {id:?} has had its reward already, which was {before}"),
            )
        };
        match self.bandit.decision(id) {
            Some((_, Fate::Learned(before))) if same(before, paid.reward) => return Ok((None, ())),
            Some((_, Fate::Learned(before))) => return Err(other(before)),
            _ => {}
        }
        if self.mode == Mode::Frozen
            && let Some(body) = store.rewarded(self.key, id).map_err(unavailable)?
        {
            let before = serde_json::from_str::<PaidRecord>(&body).map_or(f64::NAN, |before| before.reward);
            return if same(before, paid.reward) { Ok((None, ())) } else { Err(other(before)) };
        }
        let mut played = paid.played.clone();
        if self.mode == Mode::Shadow && played.is_none() {
            played = self.shadowed(id, store)?;
        }
        let record = PaidRecord { reward: paid.reward, played, learned: self.mode != Mode::Frozen };
        self.learn(id, &record, store)?;
        let body = serde_json::to_string(&record).map_err(|error| Refused::invalid(error.to_string()))?;
        Ok((Some(self.record(Kind::Rewarded, at, id, body)), ()))
    }

    /// What the caller played when this was asked.
    fn shadowed(&self, id: &str, store: &Store) -> Result<Option<String>, Refused> {
        let Some(asked) = self.asked(id, store)? else { return Ok(None) };
        let mut event = Event::default();
        asked.event(self.names.as_deref(), &mut event)?;
        Ok(self.played(&asked, &event)?.map(|(_, id)| id))
    }

    fn asked(&self, id: &str, store: &Store) -> Result<Option<Asked>, Refused> {
        let body = store.decided(self.key, id).map_err(|error| Refused::unavailable(error.to_string()))?;
        let asked = body.map(|body| serde_json::from_str::<DecidedRecord>(&body).map(|made| made.asked));
        asked.transpose().map_err(|error| Refused::unavailable(format!("a record cannot be read: {error}")))
    }

    fn learn(&mut self, id: &str, paid: &PaidRecord, store: &Store) -> Result<(), Refused> {
        if !paid.learned {
            return match self.bandit.decision(id) {
                Some(_) if paid.reward.abs() <= 1e50 => Ok(()),
                Some(_) => Err(Refused::invalid("`reward` must be finite and at most 1e50 in size")),
                None => Err(Refused::new(404, "unknown_decision", format!("there is no decision {id:?}"))),
            };
        }
        let Some(played) = &paid.played else { return Ok(self.bandit.learn(id, paid.reward)?) };
        let chosen = self.bandit.decision(id).and_then(|(choice, _)| choice).map(|choice| choice.action);
        if chosen.as_deref() == Some(played) {
            return Ok(self.bandit.learn(id, paid.reward)?);
        }
        let Some(asked) = self.asked(id, store)?.filter(|_| chosen.is_some()) else {
            return Ok(self.bandit.learn(id, paid.reward)?);
        };
        let mut event = Event::default();
        asked.event(self.names.as_deref(), &mut event)?;
        event.decision_id = Some(id.to_owned());
        event.reward = Some(paid.reward);
        let unknown =
            || Refused::invalid(format!("{played:?} was played, but is none of the decision's actions"));
        event.chosen = Some(event.find(played).ok_or_else(unknown)?);
        Ok(self.bandit.learn_event(&event)?)
    }

    /// Says that a decision that was ranked is shown.
    pub(crate) fn activate(&mut self, id: &str, at: i64) -> Outcome<()> {
        if self.bandit.decision(id).is_none() {
            return Err(Refused::new(404, "unknown_decision", format!("there is no decision {id:?}")));
        }
        if !self.deferred.contains(id) {
            return Ok((None, ()));
        }
        self.activate_now(id, at);
        Ok((Some(self.record(Kind::Activated, at, id, String::new())), ()))
    }

    fn activate_now(&mut self, id: &str, at: i64) {
        if self.deferred.remove(id) {
            self.await_reward(id, at);
        }
    }

    pub(crate) fn set_mode(&mut self, mode: Mode, at: i64) -> Option<Record> {
        let changed = mode != self.mode;
        self.mode = mode;
        changed.then(|| self.record(Kind::Mode, at, "", format!("{:?}", mode.name())))
    }

    pub(crate) fn renew(&mut self, at: i64) -> Outcome<()> {
        self.bandit.renew()?;
        Ok((Some(self.record(Kind::Renewed, at, "", String::new())), ()))
    }

    /// Puts another state in place of this one, as base64.
    pub(crate) fn restore(&mut self, state: &str, at: i64) -> Outcome<()> {
        self.replace(state)?;
        Ok((Some(self.record(Kind::Restored, at, "", state.to_owned())), ()))
    }

    fn replace(&mut self, state: &str) -> Result<(), Refused> {
        let bytes = STANDARD
            .decode(state)
            .map_err(|error| Refused::invalid(format!("the state is not base64: {error}")))?;
        let bandit = Bandit::from_bytes(&bytes)?;
        if !bandit.recipe().model.is_same(&self.bandit.recipe().model) {
            return Err(Refused::new(409, "conflict", "the state is that of a bandit with another model"));
        }
        (self.bandit, self.fit) = (bandit, None);
        self.deadlines.clear();
        self.deferred.clear();
        Ok(())
    }

    /// What time alone brings: default rewards that are due, a fit that has come back. Starts a fit that is due.
    pub(crate) fn tend(&mut self, at: i64, store: &Store, records: &mut Vec<Record>) {
        while self.deadlines.front().is_some_and(|(deadline, _)| *deadline <= at) {
            let Some((_, id)) = self.deadlines.pop_front() else { break };
            let (Some(reward), Some((_, Fate::Open))) = (self.spec.default_reward, self.bandit.decision(&id))
            else {
                continue;
            };
            let paid = Paid { decision_id: id, reward, played: None };
            if let Ok((Some(record), ())) = self.pay(&paid, at, store) {
                records.push(record);
            }
        }
        if let Some(done) = self.fit.take_if(|fit| fit.is_finished())
            && self.bandit.is_fit_due()
            && let Ok(fitted) = done.join()
            && self.bandit.finish_fit(fitted).is_ok()
        {
            records.push(self.record(Kind::Fitted, at, "", String::new()));
        }
        if self.fit.is_none()
            && self.bandit.is_fit_due()
            && let Some(fit) = self.bandit.begin_fit()
        {
            self.fit = Some(std::thread::spawn(move || fit.run()));
        }
    }
}

/// Whether two rewards are the same number.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a - b).abs() <= f64::EPSILON * a.abs()
}
