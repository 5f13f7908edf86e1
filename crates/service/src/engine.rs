//! The writer: takes calls in their order, changes state, writes down what was accepted, and answers when that is on the disk.
//!
//! Calls that arrive while the disk is busy are written down together, so that one sync is enough for all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tokio::sync::oneshot;
use truenorth::Policy;
use truenorth_bandit::{Counts, Watched};
use truenorth_features::Event;
use truenorth_logs::write_whole;

use crate::api::{Asked, Decided, Paid, Refused};
use crate::hosted::Hosted;
use crate::spec::{Mode, Spec};
use crate::store::{Made, Record, Store, StoreError};

/// Calls that may wait for the writer.
const WAITING: usize = 8192;
/// Calls that are written down together.
const TOGETHER: usize = 1024;
/// How often time alone is looked at.
const TICK: Duration = Duration::from_millis(100);
/// Records after which a snapshot is worth while.
const WORTH_KEEPING: i64 = 100_000;

/// What is asked of a bandit.
pub(crate) enum Call {
    Create(Box<Spec>),
    Decide(Vec<Asked>),
    Pay(Vec<Paid>),
    Explain(Asked),
    Activate(String),
    Mode(Mode),
    Renew,
    Restore(String),
    View,
    Snapshot,
}

/// What is answered.
pub(crate) enum Answer {
    /// Whether it is new, and what it is.
    Created(bool, Box<View>),
    Decided(Vec<Result<Decided, Refused>>),
    Paid(Vec<Result<(), Refused>>),
    Explained(serde_json::Value),
    Done,
    View(Box<View>),
    Snapshot(Vec<u8>),
}

/// A bandit for people.
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) key: i64,
    pub(crate) spec: Spec,
    pub(crate) mode: Mode,
    pub(crate) counts: Counts,
    pub(crate) model: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) names: Vec<String>,
    pub(crate) policy: Policy,
    pub(crate) watch: Option<Watched>,
}

struct Request {
    name: String,
    call: Call,
    answer: oneshot::Sender<Result<Answer, Refused>>,
}

/// What is counted for `/metrics`.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Meters {
    pub(crate) commits: AtomicU64,
    pub(crate) records: AtomicU64,
    pub(crate) refused: AtomicU64,
}

/// A running writer.
pub(crate) struct Engine {
    calls: Option<SyncSender<Request>>,
    writer: Option<JoinHandle<()>>,
    keeper: Option<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
    pub(crate) meters: Arc<Meters>,
    pub(crate) folder: PathBuf,
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Where a bandit's snapshot is.
pub(crate) fn snapshot_path(folder: &Path, key: i64) -> PathBuf {
    folder.join(format!("bandit-{key}.snapshot"))
}

/// The last snapshot, if it is whole: the number of its record, then the state.
pub(crate) fn read_snapshot(folder: &Path, key: i64) -> Option<(i64, Vec<u8>)> {
    let bytes = std::fs::read(snapshot_path(folder, key)).ok()?;
    let (sum, rest) = bytes.split_first_chunk::<4>()?;
    let (number, state) = rest.split_first_chunk::<8>()?;
    let whole = crc32fast::hash(rest) == u32::from_le_bytes(*sum);
    whole.then(|| (i64::from_le_bytes(*number), state.to_vec()))
}

fn write_snapshot(folder: &Path, hosted: &Hosted) -> std::io::Result<()> {
    let mut rest = hosted.folded.to_le_bytes().to_vec();
    rest.extend(hosted.snapshot());
    let mut bytes = crc32fast::hash(&rest).to_le_bytes().to_vec();
    bytes.extend(rest);
    write_whole(&snapshot_path(folder, hosted.key), &bytes)
}

impl Engine {
    /// Opens a folder and folds its journal.
    pub(crate) fn start(folder: &Path) -> Result<Self, StoreError> {
        let store = Store::open(folder)?;
        let mut bandits = BTreeMap::new();
        for made in store.bandits()? {
            let snapshot = read_snapshot(folder, made.key).filter(|(number, _)| *number <= store.last());
            bandits.insert(made.name.clone(), Hosted::restored(made, &store, snapshot)?);
        }
        let (calls, requests) = sync_channel(WAITING);
        let (meters, stop) = (Arc::new(Meters::default()), Arc::new(AtomicBool::new(false)));
        let writer = Writer { store, bandits, meters: Arc::clone(&meters), failed: None };
        let writer =
            std::thread::Builder::new().name("writer".to_owned()).spawn(move || writer.run(&requests));
        let (kept_folder, kept_stop) = (folder.to_owned(), Arc::clone(&stop));
        let keeper = std::thread::Builder::new()
            .name("keeper".to_owned())
            .spawn(move || keep_snapshots(&kept_folder, &kept_stop));
        let spawned = |error: std::io::Error| StoreError(format!("a thread cannot be started: {error}"));
        Ok(Self {
            calls: Some(calls),
            writer: Some(writer.map_err(spawned)?),
            keeper: Some(keeper.map_err(spawned)?),
            stop,
            meters,
            folder: folder.to_owned(),
        })
    }

    /// Asks, and waits for the answer.
    pub(crate) async fn call(&self, name: &str, call: Call) -> Result<Answer, Refused> {
        let (answer, answered) = oneshot::channel();
        let request = Request { name: name.to_owned(), call, answer };
        let Some(calls) = &self.calls else { return Err(Refused::unavailable("the service is stopping")) };
        match calls.try_send(request) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => {
                return Err(Refused::unavailable("too many calls are waiting; try again"));
            }
            Err(TrySendError::Disconnected(_)) => return Err(Refused::unavailable("the writer has stopped")),
        }
        answered.await.unwrap_or_else(|_| Err(Refused::unavailable("the writer has stopped")))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Without a sender the writer finishes what is waiting, and ends.
        self.calls.take();
        self.stop.store(true, Ordering::Relaxed);
        for thread in [self.writer.take(), self.keeper.take()].into_iter().flatten() {
            let _ = thread.join();
        }
    }
}

struct Writer {
    store: Store,
    bandits: BTreeMap<String, Hosted>,
    meters: Arc<Meters>,
    /// Why nothing is accepted any more.
    failed: Option<String>,
}

type Pending = (oneshot::Sender<Result<Answer, Refused>>, Result<Answer, Refused>);

impl Writer {
    fn run(mut self, requests: &Receiver<Request>) {
        loop {
            let first = match requests.recv_timeout(TICK) {
                Ok(first) => Some(first),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            let (mut records, mut answers): (Vec<Record>, Vec<Pending>) = (Vec::new(), Vec::new());
            let rest = requests.try_iter().take(TOGETHER);
            for Request { name, call, answer } in first.into_iter().chain(rest) {
                let answered = match &self.failed {
                    Some(why) => Err(Refused::unavailable(why.clone())),
                    None => self.answer(&name, call, &mut records),
                };
                answers.push((answer, answered));
            }
            if self.failed.is_none() {
                let at = now();
                for hosted in self.bandits.values_mut() {
                    hosted.tend(at, &self.store, &mut records);
                }
                self.write(&records, &mut answers);
            }
            for (answer, answered) in answers {
                // Whoever asked may have gone.
                let _ = answer.send(answered);
            }
        }
    }

    /// Writes down what was accepted. If that fails, nothing of it is answered as if it had been, and nothing more is accepted:
    /// what is in memory is ahead of the journal, and only a restart makes them one again.
    fn write(&mut self, records: &[Record], answers: &mut [Pending]) {
        if records.is_empty() {
            return;
        }
        match self.store.append(records) {
            Ok(_) => {
                self.meters.commits.fetch_add(1, Ordering::Relaxed);
                self.meters.records.fetch_add(records.len() as u64, Ordering::Relaxed);
            }
            Err(error) => {
                let why = format!("{error}; what was accepted before is safe, restart when the disk is well");
                for (_, answered) in answers {
                    *answered = Err(Refused::unavailable(why.clone()));
                }
                self.failed = Some(why);
            }
        }
    }

    fn answer(&mut self, name: &str, call: Call, records: &mut Vec<Record>) -> Result<Answer, Refused> {
        if let Call::Create(spec) = call {
            return self.create(name, &spec);
        }
        let Some(hosted) = self.bandits.get_mut(name) else {
            return Err(Refused::new(404, "unknown_bandit", format!("there is no bandit {name:?}")));
        };
        let (at, store) = (now(), &self.store);
        let mut note = |record: Option<Record>| records.extend(record);
        let refused = |refused: Refused| {
            self.meters.refused.fetch_add(1, Ordering::Relaxed);
            refused
        };
        match call {
            Call::Create(_) => unreachable!("made above"),
            Call::Decide(asked) => {
                let decide = |asked: &Asked| {
                    let (record, decided) = hosted.decide(asked, at).map_err(refused)?;
                    note(record);
                    Ok(decided)
                };
                Ok(Answer::Decided(asked.iter().map(decide).collect()))
            }
            Call::Pay(paid) => {
                let pay = |paid: &Paid| {
                    let (record, ()) = hosted.pay(paid, at, store).map_err(refused)?;
                    note(record);
                    Ok(())
                };
                Ok(Answer::Paid(paid.iter().map(pay).collect()))
            }
            Call::Explain(asked) => explain(hosted, &asked).map(Answer::Explained),
            Call::Activate(id) => {
                note(hosted.activate(&id, at)?.0);
                Ok(Answer::Done)
            }
            Call::Mode(mode) => {
                note(hosted.set_mode(mode, at));
                Ok(Answer::Done)
            }
            Call::Renew => {
                note(hosted.renew(at)?.0);
                Ok(Answer::Done)
            }
            Call::Restore(state) => {
                note(hosted.restore(&state, at)?.0);
                Ok(Answer::Done)
            }
            Call::View => Ok(Answer::View(Box::new(view(hosted)))),
            Call::Snapshot => Ok(Answer::Snapshot(hosted.bandit.to_bytes())),
        }
    }

    /// Makes a bandit, unless the same one is there.
    fn create(&mut self, name: &str, spec: &Spec) -> Result<Answer, Refused> {
        let text = serde_json::to_string(spec).map_err(|error| Refused::invalid(error.to_string()))?;
        if let Some(known) = self.bandits.get(name) {
            return if known.made == text {
                Ok(Answer::Created(false, Box::new(view(known))))
            } else {
                Err(Refused::new(409, "conflict", format!("there is another bandit {name:?}")))
            };
        }
        let mut hosted = Hosted::new(Made { key: 0, name: name.to_owned(), spec: text })?;
        hosted.key =
            self.store.create(name, &hosted.made).map_err(|error| Refused::unavailable(error.to_string()))?;
        let made = view(&hosted);
        self.bandits.insert(name.to_owned(), hosted);
        Ok(Answer::Created(true, Box::new(made)))
    }
}

fn view(hosted: &Hosted) -> View {
    let bandit = &hosted.bandit;
    View {
        name: hosted.name.clone(),
        key: hosted.key,
        spec: Spec { summary: None, ..hosted.spec.clone() },
        mode: hosted.mode,
        counts: bandit.counts(),
        model: bandit.recipe().model.to_string(),
        warnings: bandit.warnings(),
        names: bandit.names().map(str::to_owned).collect(),
        policy: bandit.policy().clone(),
        watch: bandit.watched(),
    }
}

/// Every action's interval, and what would be played. Nothing is decided.
fn explain(hosted: &mut Hosted, asked: &Asked) -> Result<serde_json::Value, Refused> {
    let mut event = Event::default();
    asked.event(hosted.spec.names().as_deref(), &mut event)?;
    let intervals = hosted.bandit.intervals(&event)?;
    let (action, explanation) = hosted.bandit.explain(&event)?;
    let actions: Vec<_> = intervals
        .iter()
        .map(|(id, interval)| {
            serde_json::json!({"id": id, "mean": interval.mean(), "lcb": interval.lcb, "ucb": interval.ucb, "index": interval.index})
        })
        .collect();
    Ok(serde_json::json!({"action": action, "actions": actions, "explanation": explanation.to_string()}))
}

/// Follows the journal beside the writer, and keeps a snapshot of each bandit now and then.
fn keep_snapshots(folder: &Path, stop: &AtomicBool) {
    let mut followed: BTreeMap<i64, Hosted> = BTreeMap::new();
    while !stop.load(Ordering::Relaxed) {
        std::thread::sleep(TICK);
        let Ok(store) = Store::look(folder) else { continue };
        let Ok(bandits) = store.bandits() else { continue };
        for made in bandits {
            let key = made.key;
            let kept = followed
                .get(&key)
                .map_or_else(|| read_snapshot(folder, key).map_or(0, |kept| kept.0), |known| known.folded);
            if store.last() - kept < WORTH_KEEPING {
                continue;
            }
            let hosted = match followed.remove(&key) {
                Some(mut known) => known.follow(&store).map(|()| known),
                None => Hosted::restored(made, &store, read_snapshot(folder, key)),
            };
            if let Ok(hosted) = hosted
                && write_snapshot(folder, &hosted).is_ok()
            {
                followed.insert(key, hosted);
            }
        }
    }
}
