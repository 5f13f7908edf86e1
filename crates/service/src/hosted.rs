//! One bandit as it is served: what it is made from, what it knows, who waits for what. Its state is a fold of the journal.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use truenorth::frame::{Magic, framed, unframed};
use truenorth_bandit::{Bandit, Choice, Image};
use truenorth_features::Event;

use crate::api::{Asked, Decided, Form, Refused};
use crate::journal::{Find, Kind, Made, Record, StoreError};
use crate::line::Line;
use crate::personalizer::ADDED;
use crate::records::{self, DecidedRecord, PaidRecord, TimedOutRecord};
use crate::spec::{Mode, Spec};

const MAGIC: Magic = *b"tn-hosted";
const VERSION: u32 = 1;
/// Features from which on a bandit's work is long enough to keep others waiting.
const LARGE: usize = 100;

/// A bandit that is served. Whoever changes it holds its lock, and puts what it did in line before it lets go.
pub(crate) struct Hosted {
    pub(crate) key: i64,
    pub(crate) name: String,
    pub(crate) spec: Spec,
    /// What it was made from, as text.
    pub(crate) made: String,
    pub(crate) form: Form,
    pub(crate) live: Mutex<Live>,
    /// Whether its work takes long.
    pub(crate) large: AtomicBool,
}

/// What changes.
pub(crate) struct Live {
    key: i64,
    pub(crate) spec: Spec,
    pub(crate) form: Form,
    pub(crate) mode: Mode,
    pub(crate) bandit: Bandit,
    /// What there is to know of open decisions besides.
    pub(crate) waits: HashMap<String, Wait>,
    /// Decisions in the order in which their time is over.
    pub(crate) deadlines: VecDeque<(i64, String)>,
    /// The record that the state is after.
    pub(crate) folded: i64,
    /// Records since its last snapshot.
    pub(crate) since: u64,
    /// Whether a fit is under way.
    pub(crate) fitting: bool,
    /// When somebody will look at the deadlines.
    pub(crate) alarm: Option<i64>,
    /// Fields that the model has no use for, so many of which the log has named.
    pub(crate) named: usize,
}

/// What there is to know of an open decision besides.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Wait {
    /// It was ranked, and not shown so far.
    pub(crate) deferred: bool,
    /// What came so far, where rewards add up, and the ids of those that had one.
    pub(crate) sum: Option<f64>,
    pub(crate) parts: Vec<String>,
    /// What came while the bandit was frozen.
    pub(crate) noted: Option<f64>,
}

/// What a snapshot holds.
#[derive(Serialize, Deserialize)]
struct State<B> {
    number: i64,
    mode: Mode,
    waits: HashMap<String, Wait>,
    deadlines: VecDeque<(i64, String)>,
    bandit: B,
}

/// A state as it was at a moment, on its way to the disk.
pub(crate) struct Still(State<Image>);

impl Still {
    /// The record that it is after.
    pub(crate) fn number(&self) -> i64 {
        self.0.number
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let State { number, mode, waits, deadlines, bandit } = self.0;
        framed(MAGIC, VERSION, &State { number, mode, waits, deadlines, bandit: bandit.to_bytes() })
    }
}

impl Hosted {
    /// A new one.
    pub(crate) fn new(made: Made) -> Result<Self, Refused> {
        let spec: Spec =
            serde_json::from_str(&made.spec).map_err(|error| Refused::invalid(error.to_string()))?;
        let bandit = spec.bandit()?;
        let form = Form { numbers: spec.names(), id: bandit.recipe().id.clone() };
        let live = Live {
            key: made.key,
            bandit,
            form: form.clone(),
            mode: spec.mode,
            spec: Spec { summary: None, ..spec.clone() },
            waits: HashMap::new(),
            deadlines: VecDeque::new(),
            folded: 0,
            since: 0,
            fitting: false,
            alarm: None,
            named: 0,
        };
        let hosted = Self {
            key: made.key,
            name: made.name,
            made: made.spec,
            spec: live.spec.clone(),
            form,
            large: AtomicBool::new(false),
            live: Mutex::new(live),
        };
        Ok(hosted)
    }

    /// As it was after a snapshot, if that can be read; a snapshot only shortens the fold.
    pub(crate) fn restored(made: Made, snapshot: Option<&[u8]>) -> Result<Self, StoreError> {
        let failed =
            |name: &str, why: String| StoreError(format!("bandit `{name}` cannot be restored: {why}"));
        let name = made.name.clone();
        let mut hosted = Self::new(made).map_err(|refused| failed(&name, refused.message))?;
        if let Some(bytes) = snapshot {
            let live = hosted.live.get_mut().map_err(|error| failed(&name, error.to_string()))?;
            live.restore(bytes).map_err(|refused| failed(&name, refused.message))?;
        }
        Ok(hosted)
    }

    /// Gives it the key that the journal knows it by.
    pub(crate) fn set_key(&mut self, key: i64) -> Result<(), Refused> {
        self.key = key;
        self.hold()?.key = key;
        Ok(())
    }

    /// Holds it. A panic in the middle of a change leaves nobody knows what, and only a restart mends that.
    pub(crate) fn hold(&self) -> Result<MutexGuard<'_, Live>, Refused> {
        let broken = |_| {
            Refused::unavailable(format!(
                "bandit {:?} broke off in the middle of a call; restart the service",
                self.name
            ))
        };
        self.live.lock().map_err(broken)
    }

    /// Takes note of how much work its next call may be.
    pub(crate) fn weigh(&self, live: &Live) {
        self.large.store(live.bandit.policy().dimension() >= LARGE, Ordering::Relaxed);
    }

    /// Names fields that the model has no use for, each once: they may be misspelt.
    pub(crate) fn name_unknown(&self, live: &mut Live) {
        let unknown = live.bandit.unknown_fields();
        for (field, _) in unknown.iter().skip(live.named).filter(|(field, _)| !ADDED.contains(&&**field)) {
            tracing::warn!(bandit = self.name, field, "the model has no use for a field that came");
        }
        live.named = unknown.len();
    }
}

/// The number of the record that a snapshot is after; none if it is no snapshot.
pub(crate) fn snapshot_number(bytes: &[u8]) -> Option<i64> {
    let payload = unframed(MAGIC, VERSION, bytes).ok()?;
    postcard::take_from_bytes::<i64>(payload).ok().map(|(number, _)| number)
}

/// The snapshot of a bandit that another version of the program wrote, after a record.
#[cfg(test)]
pub(crate) fn of_another_version(number: i64) -> Vec<u8> {
    let (waits, deadlines) = (HashMap::new(), VecDeque::new());
    framed(MAGIC, VERSION, &State { number, mode: Mode::Live, waits, deadlines, bandit: b"another".to_vec() })
}

impl Live {
    /// Its state as it is now.
    pub(crate) fn still(&self) -> Still {
        Still(State {
            number: self.folded,
            mode: self.mode,
            waits: self.waits.clone(),
            deadlines: self.deadlines.clone(),
            bandit: self.bandit.image(),
        })
    }

    pub(crate) fn restore(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        let damaged = || Refused::invalid("its snapshot is damaged, or of another version");
        let payload = unframed(MAGIC, VERSION, bytes).map_err(|_| damaged())?;
        let State { number, mode, waits, deadlines, bandit }: State<&[u8]> =
            postcard::from_bytes(payload).map_err(|_| damaged())?;
        self.bandit = Bandit::from_bytes(bandit)?;
        self.named = self.bandit.unknown_fields().len();
        (self.mode, self.waits, self.deadlines, self.folded) = (mode, waits, deadlines, number);
        Ok(())
    }

    /// Changes the state as a record says.
    pub(crate) fn apply(&mut self, record: &Record, find: Find<'_>) -> Result<(), Refused> {
        match record.kind {
            Kind::Decided => {
                let made: DecidedRecord<'_> = records::read(&record.body)?;
                let mut event = Event::default();
                made.event(&self.form, &mut event)?;
                self.bandit.fold(&event, &made.fact, record.number.cast_unsigned())?;
                self.opened(&made.fact.decision_id, made.deferred, record.at);
            }
            Kind::Rewarded => {
                let paid: PaidRecord = records::read(&record.body)?;
                let instead = self.instead(&paid, find)?;
                self.take(&paid, instead)?;
            }
            Kind::TimedOut => {
                let over: TimedOutRecord = records::read(&record.body)?;
                self.end(&over)?;
            }
            Kind::Fitted => {
                let fit = self.bandit.begin_fit().ok_or_else(|| Refused::invalid("no fit was due"))?;
                self.bandit.finish_fit(fit.run())?;
            }
            Kind::Mode => self.mode = records::read(&record.body)?,
            Kind::Activated => self.activate_now(&records::read::<String>(&record.body)?, record.at),
            Kind::Renewed => self.bandit.renew()?,
            // Journals of before may have states that were told something else.
            Kind::Restored => self.replace(self.read_state(&record.body)?),
        }
        (self.folded, self.since) = (record.number, self.since + 1);
        Ok(())
    }

    /// Takes what a fit has found that a record says came back.
    pub(crate) fn fitted(
        &mut self,
        record: &Record,
        fitted: truenorth::Result<truenorth::Fitted>,
    ) -> Result<(), Refused> {
        self.bandit.finish_fit(fitted)?;
        (self.folded, self.since) = (record.number, self.since + 1);
        Ok(())
    }

    /// Puts what was done in line.
    pub(crate) fn note(&mut self, line: &Line, kind: Kind, at: i64, of: Option<i64>, body: Vec<u8>) {
        (self.folded, self.since) = (line.push(self.key, kind, at, of, body), self.since + 1);
    }

    /// The record of a decision that is remembered.
    pub(crate) fn number(&self, id: &str) -> Option<i64> {
        self.bandit.number(id).map(u64::cast_signed)
    }

    /// Decides.
    pub(crate) fn decide(
        &mut self,
        asked: &Asked,
        event: &Event,
        at: i64,
        line: &Line,
    ) -> Result<Decided, Refused> {
        let played = self.played(asked, event)?;
        let (key, mut number) = (self.key, 0);
        let choice = self.bandit.choose_noted(event, played, |fact| {
            let body = records::body(&DecidedRecord::new(fact.clone(), asked));
            let body = body.unwrap_or_else(|refused| unreachable!("plain data: {refused}"));
            number = line.push(key, Kind::Decided, at, None, body);
            number.cast_unsigned()
        })?;
        if number > 0 {
            (self.folded, self.since) = (number, self.since + 1);
            self.opened(&choice.decision_id, asked.deferred, at);
        }
        Ok(answer(choice))
    }

    /// The answer to a decision that is remembered.
    pub(crate) fn decided_before(&mut self, event: &Event) -> Result<Decided, Refused> {
        let choice = self.bandit.choose_noted(event, None, |_| unreachable!("it is remembered"))?;
        Ok(answer(choice))
    }

    fn opened(&mut self, id: &str, deferred: bool, at: i64) {
        if deferred {
            self.waits.insert(id.to_owned(), Wait { deferred, ..Wait::default() });
        } else {
            self.await_reward(id, at);
        }
        self.tidy();
    }

    /// The place of what the caller plays, in shadow.
    pub(crate) fn played(&self, asked: &Asked, event: &Event) -> Result<Option<usize>, Refused> {
        if self.mode != Mode::Shadow {
            return Ok(None);
        }
        if event.is_empty() {
            return Err(Refused::invalid("the event has no `actions` to choose from"));
        }
        let Some(played) = &asked.played else { return Ok(Some(0)) };
        let unknown = || Refused::invalid(format!("{played:?} was played, but is none of the actions"));
        event.find(played).map(Some).ok_or_else(unknown)
    }

    pub(crate) fn set_mode(&mut self, mode: Mode, at: i64, line: &Line) -> Result<(), Refused> {
        if mode != self.mode {
            let body = records::body(&mode)?;
            self.mode = mode;
            self.note(line, Kind::Mode, at, None, body);
        }
        Ok(())
    }

    pub(crate) fn renew(&mut self, at: i64, line: &Line) -> Result<(), Refused> {
        self.bandit.renew()?;
        self.note(line, Kind::Renewed, at, None, Vec::new());
        Ok(())
    }

    /// Puts another state in place of this one.
    pub(crate) fn put(&mut self, state: Vec<u8>, at: i64, line: &Line) -> Result<(), Refused> {
        let bandit = self.check_state(&state)?;
        self.replace(bandit);
        self.note(line, Kind::Restored, at, None, state);
        Ok(())
    }

    fn read_state(&self, state: &[u8]) -> Result<Bandit, Refused> {
        let bandit = Bandit::from_bytes(state)?;
        if bandit.recipe().model.is_same(&self.bandit.recipe().model) {
            return Ok(bandit);
        }
        Err(other_state("model"))
    }

    /// A state that may be put in place of this one: what is shown of a bandit has to be true of it.
    pub(crate) fn check_state(&self, state: &[u8]) -> Result<Bandit, Refused> {
        let bandit = self.read_state(state)?;
        match self.spec.differs(&bandit)? {
            None => Ok(bandit),
            Some("policy") => Err(other_state("policy")),
            Some(told) => Err(other_state(&format!("`{told}`"))),
        }
    }

    fn replace(&mut self, bandit: Bandit) {
        self.bandit = bandit;
        // What comes of decisions without a reward is said here, and not by whoever sent the state.
        self.bandit.expect_rewards(self.spec.default_reward.is_some());
        self.deadlines.clear();
        self.waits.clear();
    }
}

fn other_state(what: &str) -> Refused {
    let message = format!("the state is that of a bandit with another {what}");
    Refused::new(409, "conflict", message)
}

fn answer(choice: Choice) -> Decided {
    let (action, action_index, ours) = match choice.played {
        Some((index, played)) => (played, index, Some(choice.action)),
        None => (choice.action, choice.index, None),
    };
    Decided {
        decision_id: choice.decision_id,
        action,
        action_index,
        ucb: choice.ucb,
        lcb: choice.lcb,
        mean: choice.mean,
        branch: choice.branch.name(),
        propensity: if ours.is_some() { 1.0 } else { choice.probability },
        ours,
    }
}
