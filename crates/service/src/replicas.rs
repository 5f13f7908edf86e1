//! Several replicas of one service: what one of them decides is a message of the stream, and the state of each is a
//! [fold](crate::fold) of all messages in the order of the stream, so that all are the same to the last bit wherever they have
//! folded as much.
//!
//! A call becomes a message from the state as it is here, which may be behind the others'. Nothing changes before the message
//! comes back by the stream, here as everywhere. A decision is answered when it is stored; all else when it is folded here,
//! so that it is known what became of it. The folder of a replica holds a copy of what it has folded, for a restart and for
//! the export.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use truenorth_features::Event;

use crate::api::{Asked, Decided, Paid, Refused};
use crate::engine::{Answer, Call, Engine, Shared, now};
use crate::hosted::{Hosted, Live};
use crate::jetstream::{Jetstream, Stored};
use crate::journal::{Kind, Made, StoreError};
use crate::line::lock;
use crate::records::{self, Becomes, DecidedRecord};
use crate::spec::Spec;
use crate::store::Store;

/// How long a replica may not know whether it has folded all before it refuses to decide.
const STALEST: Duration = Duration::from_secs(10);
/// How often it asks, and how long a call waits for the fold.
const ASKED: Duration = Duration::from_millis(500);
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a node may know nothing of the stream before another one is asked.
const LEFT: Duration = Duration::from_secs(3);
/// How long a replica that was away may take to fold all.
const CAUGHT_UP: Duration = Duration::from_hours(1);
/// Times that are ended at once.
const TOGETHER: usize = 1000;

/// What a message says.
#[derive(Serialize, Deserialize)]
pub(crate) struct Message<'a> {
    /// Milliseconds since 1970.
    pub(crate) at: i64,
    #[serde(borrow)]
    pub(crate) what: What<'a>,
}

#[derive(Serialize, Deserialize)]
pub(crate) enum What<'a> {
    /// A bandit was made, from this.
    Made(&'a str),
    /// Something of a kind happened to it.
    Happened(i64, &'a [u8]),
    /// It was dropped.
    Dropped,
}

/// The last message that is folded here, and who waits for which.
pub(crate) struct Folded {
    pub(crate) last: u64,
    pub(crate) waiting: BTreeMap<u64, Vec<oneshot::Sender<()>>>,
}

/// This replica among the others.
pub(crate) struct Replicas {
    pub(crate) stream: Jetstream,
    pub(crate) shared: Arc<Shared>,
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) folded: Mutex<Folded>,
    /// The last message that is known to be stored, and when all that was stored was folded here.
    pub(crate) last: AtomicU64,
    pub(crate) fresh: Mutex<Instant>,
    /// For ids of this replica's own.
    pub(crate) nonce: u64,
    count: AtomicU64,
    /// Why messages were refused that callers here may still ask for.
    pub(crate) refusals: Mutex<BTreeMap<u64, Refused>>,
    pub(crate) refused: AtomicU64,
    pub(crate) keeping: AtomicBool,
}

impl Replicas {
    /// Connects, and folds what was stored while this replica was away.
    pub(crate) async fn start(servers: &str, shared: Arc<Shared>) -> Result<Arc<Self>, StoreError> {
        let failed = |refused: Refused| StoreError(format!("{servers}: {}", refused.message));
        let stream = Jetstream::open(servers).await?;
        let here = u64::try_from(shared.line.last()).unwrap_or(0);
        let (start, mut stored) = (Instant::now(), stream.last().await);
        while stored.is_err() && start.elapsed() < PATIENCE {
            // The stream may be about to elect a leader, or others can.
            tokio::time::sleep(ASKED).await;
            if start.elapsed() > LEFT {
                stream.leave().await;
            }
            stored = stream.last().await;
        }
        let stored = stored.map_err(failed)?;
        if here > stored {
            return Err(StoreError(format!(
                "{}: it knows of message {here}, but the stream ends with {stored}: this folder belongs to another stream",
                shared.folder.display()
            )));
        }
        let kept = stream.kept().await;
        let jumped = kept.and_then(|kept| shared.jump(here, &kept).transpose());
        let last = jumped.transpose().map_err(failed)?.unwrap_or(here);
        let replicas = Arc::new(Self {
            stream,
            shared,
            runtime: tokio::runtime::Handle::current(),
            folded: Mutex::new(Folded { last, waiting: BTreeMap::new() }),
            last: AtomicU64::new(stored),
            fresh: Mutex::new(Instant::now()),
            nonce: nonce(),
            count: AtomicU64::new(0),
            refusals: Mutex::default(),
            refused: AtomicU64::new(0),
            keeping: AtomicBool::new(false),
        });
        let follower = Arc::clone(&replicas);
        let thread = std::thread::Builder::new().name("follower".to_owned()).spawn(move || follower.follow());
        thread.map_err(|error| StoreError(format!("a thread cannot be started: {error}")))?;
        replicas.folded_to(stored, CAUGHT_UP).await.map_err(failed)?;
        *lock(&replicas.fresh) = Instant::now();
        tracing::info!(servers, stored, "caught up with the stream");
        tokio::spawn(Arc::clone(&replicas).watch());
        tokio::spawn(Arc::clone(&replicas).end_times());
        Ok(replicas)
    }

    /// Messages that are stored and not folded here, and how long ago that was all of them.
    pub(crate) fn behind(&self) -> (u64, Duration) {
        let behind = self.last.load(Ordering::Relaxed).saturating_sub(lock(&self.folded).last);
        (behind, lock(&self.fresh).elapsed())
    }

    /// Refuses where nobody has said for too long that this replica has folded all.
    pub(crate) fn check(&self) -> Result<(), Refused> {
        let (_, stale) = self.behind();
        if stale > STALEST {
            return Err(Refused::unavailable(format!(
                "this replica has not caught up with the stream for {} s: it has no quorum, or cannot be reached",
                stale.as_secs()
            )));
        }
        Ok(())
    }

    /// Does what is asked.
    pub(crate) async fn call(&self, name: &str, call: Call) -> Result<Answer, Refused> {
        if let Call::Create(spec) = call {
            return self.create(name, &spec).await;
        }
        let mut found = self.shared.find(name);
        if found.is_none() {
            self.catch_up().await?;
            found = self.shared.find(name);
        }
        let unknown = || Refused::new(404, "unknown_bandit", format!("there is no bandit {name:?}"));
        let hosted = found.ok_or_else(unknown)?;
        let meters = &self.shared.line.meters;
        let count = |refused| {
            meters.refused.fetch_add(1, Ordering::Relaxed);
            refused
        };
        match call {
            Call::Decide(asked) => {
                self.check()?;
                let decided = join_all(asked.iter().map(|asked| self.decide(&hosted, asked))).await;
                Ok(Answer::Decided(decided.into_iter().map(|one| one.map_err(count)).collect()))
            }
            Call::Pay(paid) => {
                let paid = join_all(paid.iter().map(|paid| self.pay(&hosted, paid))).await;
                Ok(Answer::Paid(paid.into_iter().map(|one| one.map_err(count)).collect()))
            }
            Call::Activate(id) => {
                self.know(&hosted, &id).await?;
                let body = records::body(&id)?;
                self.happen(&hosted, Kind::Activated, &format!("a.{}", token(&id)), &body).await
            }
            Call::Mode(mode) => {
                self.happen(&hosted, Kind::Mode, &self.new_id(), &records::body(&mode)?).await
            }
            Call::Renew => self.happen(&hosted, Kind::Renewed, &self.new_id(), &[]).await,
            Call::Restore(state) => {
                tokio::task::block_in_place(|| hosted.hold()?.check_state(&state))?;
                self.happen(&hosted, Kind::Restored, &self.new_id(), &state).await
            }
            Call::Drop => {
                let stored = self.send(&hosted, &self.new_id(), What::Dropped).await?;
                self.folded_to(stored.sequence, PATIENCE).await?;
                self.became(stored.sequence).map(|()| Answer::Done)
            }
            call => tokio::task::block_in_place(|| self.shared.look(&hosted, call)),
        }
    }

    async fn decide(&self, hosted: &Hosted, asked: &Asked) -> Result<Decided, Refused> {
        let id = asked.id.clone().unwrap_or_else(|| self.new_id());
        let asked = Asked { id: Some(id.clone()), ..asked.clone() };
        let mut event = Event::default();
        asked.event(&hosted.form, &mut event)?;
        let (body, decided) = {
            let mut live = hosted.hold()?;
            if live.bandit.fate(&id).is_some() {
                return live.again(&id, &event);
            }
            live.propose(&asked, &event)?
        };
        let id_of_message = format!("d.{}", token(&id));
        let stored = self.send(hosted, &id_of_message, What::Happened(Kind::Decided as i64, &body)).await?;
        if stored.again {
            // Another replica was asked the same, and was faster.
            self.folded_to(stored.sequence, PATIENCE).await?;
            return hosted.hold()?.again(&id, &event);
        }
        Ok(decided)
    }

    async fn pay(&self, hosted: &Hosted, paid: &Paid) -> Result<(), Refused> {
        self.know(hosted, &paid.decision_id).await?;
        let due = hosted.hold()?.due(paid)?;
        let Some(record) = due else { return Ok(()) };
        let own = match (&record.becomes, &record.id) {
            (Becomes::Part, Some(id)) => format!("r.{}.{}", token(&record.decision_id), token(id)),
            (Becomes::Part, None) => self.new_id(),
            _ => format!("r.{}", token(&record.decision_id)),
        };
        let body = records::body(&record)?;
        let stored = self.send(hosted, &own, What::Happened(Kind::Rewarded as i64, &body)).await?;
        self.folded_to(stored.sequence, PATIENCE).await?;
        if stored.again {
            // The same reward counts once; another one of the same decision is told so.
            return hosted.hold()?.due(paid).map(drop);
        }
        self.became(stored.sequence)
    }

    /// Stores a message, and waits until it is folded here.
    async fn happen(&self, hosted: &Hosted, kind: Kind, id: &str, body: &[u8]) -> Result<Answer, Refused> {
        let stored = self.send(hosted, id, What::Happened(kind as i64, body)).await?;
        self.folded_to(stored.sequence, PATIENCE).await?;
        self.became(stored.sequence).map(|()| Answer::Done)
    }

    async fn send(&self, hosted: &Hosted, id: &str, what: What<'_>) -> Result<Stored, Refused> {
        let body = records::body(&Message { at: now(), what })?;
        // One that is made again under the same name is another one.
        let id = format!("{}.{id}", hosted.key);
        self.stream.publish(&token(&hosted.name), &id, None, body).await
    }

    /// Makes a bandit, unless the same one is there. Of several that are made at once, the stream takes the first.
    async fn create(&self, name: &str, spec: &Spec) -> Result<Answer, Refused> {
        let text = spec.text().map_err(|error| Refused::invalid(error.to_string()))?;
        Hosted::new(Made { key: 0, name: name.to_owned(), spec: text.clone() })?;
        let last = self.stream.last_of(&token(name)).await?;
        self.folded_to(last, PATIENCE).await?;
        if self.shared.find(name).is_some() {
            return self.shared.same(name, &text).map(|(answer, _)| answer);
        }
        let body = records::body(&Message { at: now(), what: What::Made(&text) })?;
        match self.stream.publish(&token(name), &self.new_id(), Some(last), body).await {
            Ok(stored) => self.folded_to(stored.sequence, PATIENCE).await?,
            Err(refused) if refused.status == 409 => {
                self.catch_up().await?;
                return self.shared.same(name, &text).map(|(answer, _)| answer);
            }
            Err(refused) => return Err(refused),
        }
        match self.shared.same(name, &text)?.0 {
            Answer::Created(_, view) => Ok(Answer::Created(true, view)),
            answer => Ok(answer),
        }
    }

    /// Sees to it that a decision is known here, if it is known anywhere.
    async fn know(&self, hosted: &Hosted, id: &str) -> Result<(), Refused> {
        let known = || -> Result<bool, Refused> { Ok(hosted.hold()?.bandit.fate(id).is_some()) };
        if !known()? {
            self.catch_up().await?;
            if !known()? {
                return Err(Refused::new(404, "unknown_decision", format!("there is no decision {id:?}")));
            }
        }
        Ok(())
    }

    /// Folds all that is stored by now.
    async fn catch_up(&self) -> Result<(), Refused> {
        let last = self.stream.last().await?;
        self.last.fetch_max(last, Ordering::Relaxed);
        self.folded_to(last, PATIENCE).await
    }

    async fn folded_to(&self, sequence: u64, patience: Duration) -> Result<(), Refused> {
        let folded = {
            let mut folded = lock(&self.folded);
            if folded.last >= sequence {
                return Ok(());
            }
            let (tell, told) = oneshot::channel();
            folded.waiting.entry(sequence).or_default().push(tell);
            told
        };
        if matches!(tokio::time::timeout(patience, folded).await, Ok(Ok(()))) {
            return Ok(());
        }
        Err(Refused::unavailable(
            "this replica is behind the stream; the call may count, and with the same id it counts once",
        ))
    }

    /// What became of a message.
    fn became(&self, sequence: u64) -> Result<(), Refused> {
        lock(&self.refusals).get(&sequence).map_or(Ok(()), |refused| Err(refused.clone()))
    }

    fn new_id(&self) -> String {
        format!("{:016x}-{}", self.nonce, self.count.fetch_add(1, Ordering::Relaxed))
    }

    /// Says that a fit is due since a message. All replicas do, and it is stored once.
    pub(crate) async fn fit(self: Arc<Self>, hosted: Arc<Hosted>, since: u64) {
        let fitted = What::Happened(Kind::Fitted as i64, &[]);
        if self.send(&hosted, &format!("f.{since}"), fitted).await.is_err()
            && let Ok(mut live) = hosted.hold()
        {
            live.fitting = false;
        }
    }

    /// Asks how far the stream is, and notes when all of that is folded here. Messages themselves cannot tell: the node that
    /// sends them may be behind the others.
    async fn watch(self: Arc<Self>) {
        let (mut heard, mut awaited) = (Instant::now(), None);
        while !self.shared.stop.load(Ordering::Relaxed) {
            tokio::time::sleep(ASKED).await;
            let asked = Instant::now();
            if let Ok(last) = self.stream.last().await {
                heard = asked;
                self.last.fetch_max(last, Ordering::Relaxed);
                let (then, goal) = *awaited.get_or_insert((asked, last));
                // No longer, as a node that is cut off says nothing and sends nothing.
                let folded = self.folded_to(goal, LEFT).await.is_ok();
                if folded {
                    *lock(&self.fresh) = then;
                }
                if folded || then.elapsed() > STALEST {
                    awaited = None;
                }
            } else if heard.elapsed() > LEFT {
                // The node may be cut off from others that can be reached from here.
                self.stream.leave().await;
                heard = Instant::now();
            }
        }
    }

    /// Ends the time of decisions without a reward.
    async fn end_times(self: Arc<Self>) {
        while !self.shared.stop.load(Ordering::Relaxed) {
            tokio::time::sleep(ASKED).await;
            for hosted in self.shared.hosted() {
                let over = hosted.hold().map(|live| live.over(now(), TOGETHER)).unwrap_or_default();
                join_all(over.iter().map(|id| self.end(&hosted, id))).await;
            }
        }
    }

    async fn end(&self, hosted: &Hosted, decision_id: &str) {
        let Ok(body) = records::body(&decision_id) else { return };
        let id = format!("t.{}", token(decision_id));
        if let Err(refused) = self.happen(hosted, Kind::TimedOut, &id, &body).await {
            tracing::debug!(why = refused.message, "the time of a decision is not over yet");
        }
    }
}

impl Engine {
    /// One of several, whose folder is a copy of a stream.
    pub(crate) async fn join(
        servers: &str,
        folder: PathBuf,
        keep_days: Option<f64>,
    ) -> Result<Self, StoreError> {
        let open = move || Self::on(Box::new(Store::open(&folder)?), &folder, keep_days, false);
        let opened = tokio::task::spawn_blocking(open).await;
        let mut engine =
            opened.map_err(|error| StoreError(format!("the journal cannot be folded: {error}")))??;
        engine.replicas = Some(Replicas::start(servers, Arc::clone(&engine.shared)).await?);
        Ok(engine)
    }
}

impl Live {
    /// Decides without a change: the body of the record, and what is answered once that is stored.
    fn propose(&mut self, asked: &Asked, event: &Event) -> Result<(Vec<u8>, Decided), Refused> {
        let played = self.played(asked, event)?;
        let fact = self.bandit.decide(event, played)?;
        let (choice, ours) = (&fact.choice, event.id(fact.choice.action));
        let decided = Decided {
            decision_id: fact.decision_id.clone(),
            action: played.map_or(ours, |played| event.id(played)).to_owned(),
            action_index: played.unwrap_or(choice.action),
            ucb: choice.ucb,
            lcb: choice.lcb,
            mean: choice.mean,
            branch: choice.branch.name(),
            propensity: if played.is_some() { 1.0 } else { choice.propensity },
            ours: played.map(|_| ours.to_owned()),
        };
        Ok((records::body(&DecidedRecord::new(fact, asked))?, decided))
    }

    /// The answer to a decision that was made already.
    fn again(&mut self, id: &str, event: &Event) -> Result<Decided, Refused> {
        if self.bandit.fate(id).is_none() {
            let message =
                format!("decision {id:?} was asked for, and could not be made; ask with another id");
            return Err(Refused::new(409, "conflict", message));
        }
        self.decided_before(event)
    }
}

/// A number that no other replica has.
fn nonce() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_i64(now());
    hasher.write_u32(std::process::id());
    hasher.finish()
}

/// A name that may be a part of a subject, or of a message's id.
pub(crate) fn token(name: &str) -> String {
    URL_SAFE_NO_PAD.encode(name)
}

/// The name that a part of a subject stands for.
pub(crate) fn untoken(token: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()
}
