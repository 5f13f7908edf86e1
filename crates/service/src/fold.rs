//! The fold of the stream: what a replica does with each message, in their order. It is the only one that changes a state.
//!
//! A message says what somebody asked for; what becomes of it is a matter of the state that it meets, which is the same
//! everywhere. What was done is written down in the replica's own folder, as the embedded journal would have it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use truenorth_bandit::Fate;

use crate::api::{Paid, Refused};
use crate::engine::{Answer, Call, Shared};
use crate::hosted::Hosted;
use crate::jetstream::Come;
use crate::journal::{Kind, Made, Record, Result as Stored};
use crate::line::lock;
use crate::records::{self, PaidRecord};
use crate::replicas::{Message, Replicas, What, untoken};

/// Messages after which the states of all bandits are kept for replicas that come later, and those by which a replica is
/// behind that starts from them.
const WORTH_KEEPING: u64 = 50_000;
/// Refusals of messages that callers here may still ask for.
const REFUSALS: usize = 10_000;
/// How long it is waited before the stream is asked again.
const PAUSE: Duration = Duration::from_millis(100);
/// How long messages may not come that are stored before somebody else is asked for them.
const STALLED: Duration = Duration::from_secs(2);

/// The states of all bandits after a message.
#[derive(Serialize, Deserialize)]
struct Kept {
    sequence: u64,
    bandits: Vec<KeptBandit>,
}

#[derive(Serialize, Deserialize)]
struct KeptBandit {
    key: i64,
    name: String,
    made: String,
    state: Vec<u8>,
}

impl Replicas {
    /// Folds messages as they come, until the service stops.
    pub(crate) fn follow(self: Arc<Self>) {
        let mut said = false;
        while !self.stopped() {
            let behind = lock(&self.folded).last;
            match self.runtime.block_on(self.stream.behind(behind)) {
                Err(error) => {
                    if !std::mem::replace(&mut said, true) {
                        tracing::warn!(%error, "trying again");
                    }
                    self.fetch();
                }
                Ok(mut messages) => {
                    said = false;
                    while !self.stopped() {
                        let next = async { tokio::time::timeout(STALLED, messages.next()).await };
                        match self.runtime.block_on(next) {
                            Ok(Some(come)) => self.next(&come),
                            // All is folded, and there is nothing new.
                            Err(_) if self.behind().0 == 0 => {}
                            // The node that sends them may lack them itself: the next one is drawn among all.
                            Ok(None) | Err(_) => break,
                        }
                    }
                }
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Folds messages that are asked for one by one. Who sends them as they come is named by the leader of the cluster; after a
    /// cut, the stream may have its leader, who gives single ones, many seconds before.
    fn fetch(self: &Arc<Self>) {
        while !self.stopped() {
            let next = lock(&self.folded).last + 1;
            let Ok(Some(come)) = self.runtime.block_on(self.stream.find(next)) else { return };
            self.next(&come);
        }
    }

    fn stopped(&self) -> bool {
        self.shared.stopping.load(Ordering::Relaxed)
    }

    fn next(self: &Arc<Self>, come: &Come) {
        let &Come { sequence, pending, .. } = come;
        if sequence <= lock(&self.folded).last {
            return;
        }
        if let Err(refused) = self.fold(come) {
            // One that cannot be is refused by every replica.
            self.refused.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(sequence, why = refused.message, "refused");
            let mut refusals = lock(&self.refusals);
            refusals.insert(sequence, refused);
            while refusals.len() > REFUSALS {
                refusals.pop_first();
            }
        }
        self.last.fetch_max(sequence + pending, Ordering::Relaxed);
        let folded = {
            let mut folded = lock(&self.folded);
            folded.last = sequence;
            let later = folded.waiting.split_off(&(sequence + 1));
            std::mem::replace(&mut folded.waiting, later)
        };
        for told in folded.into_values().flatten() {
            // Whoever waited may have gone.
            let _ = told.send(());
        }
        if sequence.is_multiple_of(WORTH_KEEPING) {
            self.keep(sequence);
        }
    }

    fn fold(self: &Arc<Self>, come: &Come) -> Result<(), Refused> {
        let name = untoken(&come.bandit).ok_or_else(|| Refused::invalid("a subject that is no bandit's"))?;
        let number = come.sequence.cast_signed();
        let Message { at, what } = records::read(&come.body)?;
        let (kind, body) = match what {
            What::Made(spec) => return self.shared.make(number, &name, spec, None),
            What::Dropped => return self.shared.discard(&*self.shared.of(&name, number)?),
            What::Happened(kind, body) => (kind, body),
        };
        let kind = Kind::of(kind).ok_or_else(|| Refused::invalid("a message of a kind that is not known"))?;
        let hosted = self.shared.of(&name, number)?;
        let mut live = hosted.hold()?;
        let (of, body) = match kind {
            Kind::Rewarded => {
                let PaidRecord { decision_id, reward, played, id, .. } = records::read(body)?;
                let due = live.due(&Paid { decision_id, reward, played, id })?;
                let Some(paid) = due else { return Ok(()) };
                (live.number(&paid.decision_id), records::body(&paid)?)
            }
            Kind::TimedOut => {
                let Some(over) = live.timed_out(records::read(body)?) else { return Ok(()) };
                (live.number(&over.decision_id), records::body(&over)?)
            }
            Kind::Activated => (live.number(&records::read::<String>(body)?), body.to_vec()),
            _ => (None, body.to_vec()),
        };
        let record = Record { number, bandit: hosted.key, kind, at, of, body };
        if kind == Kind::Fitted {
            let fit = live.bandit.begin_fit().ok_or_else(|| Refused::invalid("no fit was due"))?;
            // Decisions go on beside it; nobody else changes the state.
            drop(live);
            let fitted = self.shared.run(&hosted, fit);
            live = hosted.hold()?;
            live.fitted(&record, fitted)?;
        } else {
            live.apply(&record, &|number| self.find(number))?;
        }
        // Whose time is over is a matter of what was folded, not of whose clock looked.
        while let Some((_, id)) = live.deadlines.front()
            && live.bandit.fate(id) != Some(Fate::Open)
        {
            live.deadlines.pop_front();
        }
        live.fitting &= kind != Kind::Fitted;
        if live.bandit.is_fit_due() && !live.fitting {
            live.fitting = true;
            self.runtime.spawn(Arc::clone(self).fit(Arc::clone(&hosted), come.sequence));
        }
        hosted.weigh(&live);
        hosted.name_unknown(&mut live);
        self.shared.line.take(record);
        Ok(())
    }

    /// A record, from the folder or else, as every replica has to find it, from the stream.
    fn find(&self, number: i64) -> Stored<Option<Record>> {
        if let Some(record) = self.shared.written_record(number)? {
            return Ok(Some(record));
        }
        loop {
            match self.runtime.block_on(self.stream.find(number.cast_unsigned())) {
                Ok(None) => return Ok(None),
                Ok(Some(come)) => {
                    let happened =
                        records::read(&come.body).ok().and_then(|Message { at, what }| match what {
                            What::Happened(kind, body) => Some((Kind::of(kind)?, at, body.to_vec())),
                            _ => None,
                        });
                    return Ok(happened.map(|(kind, at, body)| Record {
                        number,
                        bandit: 0,
                        kind,
                        at,
                        of: None,
                        body,
                    }));
                }
                Err(refused) if self.stopped() => return Err(crate::StoreError(refused.message)),
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Keeps the states for replicas that come later.
    fn keep(self: &Arc<Self>, sequence: u64) {
        if self.keeping.swap(true, Ordering::Relaxed) {
            return;
        }
        let stills = self.shared.hosted().into_iter().filter_map(|hosted| {
            let still = hosted.hold().ok()?.still();
            Some((hosted, still))
        });
        let (stills, replicas) = (stills.collect::<Vec<_>>(), Arc::clone(self));
        self.runtime.spawn(async move {
            // Not all at once: one of them is enough.
            tokio::time::sleep(Duration::from_millis(replicas.nonce % 5000)).await;
            let bandits = stills.into_iter().map(|(hosted, still)| KeptBandit {
                key: hosted.key,
                name: hosted.name.clone(),
                made: hosted.made.clone(),
                state: still.into_bytes(),
            });
            if let Ok(bytes) = records::body(&Kept { sequence, bandits: bandits.collect() }) {
                match replicas.stream.keep(sequence, &bytes).await {
                    Ok(()) => tracing::info!(sequence, bytes = bytes.len(), "states are kept"),
                    Err(error) => tracing::warn!(%error, "no states are kept"),
                }
            }
            replicas.keeping.store(false, Ordering::Relaxed);
        });
    }
}

impl Shared {
    /// The bandit that a message of a number is about.
    fn of(&self, name: &str, number: i64) -> Result<Arc<Hosted>, Refused> {
        let gone = || Refused::new(404, "unknown_bandit", format!("there is no bandit {name:?}"));
        self.find(name).filter(|hosted| hosted.key < number).ok_or_else(gone)
    }

    /// The answer to a call that changes nothing.
    pub(crate) fn look(&self, hosted: &Hosted, call: Call) -> Result<Answer, Refused> {
        self.act(hosted, &mut *hosted.hold()?, call, &[])
    }

    /// Starts from states that were kept, if they are far enough ahead, and tells after which message they are.
    pub(crate) fn jump(&self, here: u64, kept: &[u8]) -> Result<Option<u64>, Refused> {
        let Ok(Kept { sequence, bandits }) = postcard::from_bytes(kept) else { return Ok(None) };
        if sequence < here + WORTH_KEEPING {
            return Ok(None);
        }
        // Before anything is changed: one that cannot be read, as of another version, is done without.
        for KeptBandit { key, name, made, state } in &bandits {
            let made = Made { key: *key, name: name.clone(), spec: made.clone() };
            if let Err(why) = Hosted::restored(made, Some(state)) {
                tracing::warn!(%why, "done without states that were kept");
                return Ok(None);
            }
        }
        let known: BTreeMap<i64, &KeptBandit> = bandits.iter().map(|kept| (kept.key, kept)).collect();
        for hosted in self.hosted().into_iter().filter(|hosted| !known.contains_key(&hosted.key)) {
            self.discard(&hosted)?;
        }
        for KeptBandit { key, name, made, state } in &bandits {
            self.make(*key, name, made, Some(state))?;
        }
        tracing::info!(sequence, bandits = bandits.len(), "started from states that were kept");
        Ok(Some(sequence))
    }

    /// A bandit that a replica has heard of by a message, whose number is its key; its state, if that is known.
    fn make(&self, key: i64, name: &str, spec: &str, state: Option<&[u8]>) -> Result<(), Refused> {
        match self.find(name) {
            Some(known) if known.key != key => {
                return Err(Refused::new(409, "conflict", format!("there is another bandit {name:?}")));
            }
            Some(known) => {
                let Some(state) = state else { return Ok(()) };
                known.hold()?.restore(state)?;
            }
            None => {
                let made = Made { key, name: name.to_owned(), spec: spec.to_owned() };
                let hosted = Hosted::restored(made, state)?;
                lock(&self.journal).create(Some(key), name, spec)?;
                self.insert(Arc::new(hosted));
            }
        }
        if let Some(state) = state {
            lock(&self.journal).set_base(key, state)?;
        }
        Ok(())
    }

    /// A record of the folder, once it is written down.
    fn written_record(&self, number: i64) -> Stored<Option<Record>> {
        self.line.wait_written(number.min(self.line.last()));
        lock(&self.reader).find(number)
    }
}
