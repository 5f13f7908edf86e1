//! What serves all bandits: calls in, answers out, and the threads beside them.
//!
//! A call is done by whoever brings it, who holds the one bandit that it is about. What it did goes into the [line](crate::line),
//! and it is answered when that is on the disk. Fits run on threads of their own; a clock ends the time of decisions without a
//! reward; a keeper takes snapshots.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use truenorth::{Fit, Fitted, Policy};
use truenorth_bandit::{Bandit, Counts, Watched};
use truenorth_features::{Event, Recipe};

use crate::api::{Asked, Decided, Paid, Refused};
use crate::explained::{Explained, ExplainedAction};
use crate::hosted::{Hosted, Live};
use crate::journal::{Journal, Kind, Made, StoreError};
use crate::line::{Line, lock};
use crate::personalizer;
use crate::replicas::Replicas;
use crate::snapshots::{self, Keeping};
use crate::spec::{Mode, Spec};
use crate::store::Store;

/// Calls that may be under way.
const UNDER_WAY: usize = 8192;
/// How long a call waits for the disk.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often the clock looks.
const TICK: Duration = Duration::from_millis(50);

/// What is asked of a bandit.
pub(crate) enum Call {
    Create(Box<Spec>),
    Decide(Vec<Asked>),
    Pay(Vec<Paid>),
    Explain(Asked),
    Activate(String),
    Mode(Mode),
    Renew,
    Restore(Vec<u8>),
    Drop,
    View,
    Counts,
    Snapshot,
}

/// What is answered.
pub(crate) enum Answer {
    /// Whether it is new, and what it is.
    Created(bool, Box<View>),
    Decided(Vec<Result<Decided, Refused>>),
    Paid(Vec<Result<(), Refused>>),
    Explained(Box<Explained>),
    Done,
    View(Box<View>),
    Counts(Counts),
    Snapshot(Vec<u8>),
}

/// A bandit for people.
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) key: i64,
    pub(crate) spec: Spec,
    pub(crate) mode: Mode,
    pub(crate) counts: Counts,
    pub(crate) recipe: Recipe,
    pub(crate) warnings: Vec<String>,
    pub(crate) unknown_fields: Vec<(String, u64)>,
    pub(crate) names: Vec<String>,
    pub(crate) policy: Policy,
    pub(crate) watch: Option<Watched>,
}

/// A fit that is due.
type Due = (Arc<Hosted>, Fit);

/// What all threads share.
pub(crate) struct Shared {
    pub(crate) line: Line,
    pub(crate) bandits: RwLock<BTreeMap<String, Arc<Hosted>>>,
    /// To look at while others write; closed before the other one, which tidies up.
    pub(crate) reader: Mutex<Box<dyn Journal>>,
    pub(crate) journal: Mutex<Box<dyn Journal>>,
    pub(crate) folder: PathBuf,
    /// Whether no fit is taken any more, and whether all is written.
    pub(crate) stopping: AtomicBool,
    pub(crate) stop: AtomicBool,
    fits: Mutex<Option<Sender<Due>>>,
    /// Bandits by when their deadlines are to be looked at.
    alarms: Mutex<BTreeMap<(i64, i64), Arc<Hosted>>>,
    events: Mutex<Vec<Event>>,
    under_way: AtomicUsize,
}

/// A running service of a folder.
pub(crate) struct Engine {
    pub(crate) shared: Arc<Shared>,
    committer: Option<JoinHandle<()>>,
    others: Vec<JoinHandle<()>>,
    pub(crate) folder: PathBuf,
    /// The others, where it is one of several.
    pub(crate) replicas: Option<Arc<Replicas>>,
}

/// Milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A call that is under way, until it is dropped.
struct Seat<'a>(&'a AtomicUsize);

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Engine {
    /// Opens a folder and folds its journal.
    pub(crate) fn start(folder: &Path, keep_days: Option<f64>) -> Result<Self, StoreError> {
        Self::on(Box::new(Store::open(folder)?), folder, keep_days, true)
    }

    /// Folds a journal; snapshots are in a folder. Where it is not `alone`, nothing happens by itself: fits and ends of
    /// times are messages like all else.
    pub(crate) fn on(
        journal: Box<dyn Journal>,
        folder: &Path,
        keep_days: Option<f64>,
        alone: bool,
    ) -> Result<Self, StoreError> {
        let since = Instant::now();
        let reader = journal.reader()?;
        let (bandits, unkept) = snapshots::fold(folder, &*journal)?;
        let (seconds, count) = (since.elapsed().as_secs_f64(), bandits.len());
        tracing::info!(folder = %folder.display(), bandits = count, records = unkept, seconds, "folded");
        let (fits, due) = channel();
        let shared = Arc::new(Shared {
            line: Line::new(journal.last()?, unkept),
            bandits: RwLock::new(bandits),
            journal: Mutex::new(journal),
            reader: Mutex::new(reader),
            folder: folder.to_owned(),
            stopping: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            fits: Mutex::new(alone.then_some(fits)),
            alarms: Mutex::default(),
            events: Mutex::default(),
            under_way: AtomicUsize::new(0),
        });
        for hosted in shared.hosted() {
            if let Ok(mut live) = hosted.hold() {
                live.named = live.bandit.unknown_fields().len();
                if alone {
                    shared.settle(&hosted, &mut live);
                }
            }
        }
        let spawn = |name: &str, run: Box<dyn FnOnce(&Shared) + Send>| {
            let shared = Arc::clone(&shared);
            let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(move || run(&shared));
            spawned.map_err(|error| StoreError(format!("a thread cannot be started: {error}")))
        };
        let committer = spawn("committer", Box::new(|shared| shared.line.run(&shared.journal)))?;
        let due = Arc::new(Mutex::new(due));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut others = vec![
            spawn("clock", Box::new(Shared::watch))?,
            spawn("keeper", Box::new(move |shared| Keeping::new(keep_days).run(shared)))?,
        ];
        for _ in 0..(cores / 2).max(1) {
            let due = Arc::clone(&due);
            others.push(spawn("fitter", Box::new(move |shared| shared.fit(&due)))?);
        }
        Ok(Self { shared, committer: Some(committer), others, folder: folder.to_owned(), replicas: None })
    }

    /// Counts for `/metrics`.
    pub(crate) fn meters(&self) -> &crate::line::Meters {
        &self.shared.line.meters
    }

    /// Refuses where nothing is accepted any more.
    pub(crate) fn check(&self) -> Result<(), Refused> {
        self.replicas.as_ref().map_or(Ok(()), |replicas| replicas.check())?;
        self.shared.line.check()
    }

    /// The names of all bandits, in their order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.shared.bandits.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// Does what is asked, and answers when all that the answer rests on is on the disk.
    pub(crate) async fn call(&self, name: &str, call: Call) -> Result<Answer, Refused> {
        let shared = &*self.shared;
        let seats = shared.under_way.fetch_add(1, Ordering::Relaxed);
        let _seat = Seat(&shared.under_way);
        if seats >= UNDER_WAY {
            return Err(Refused::unavailable("too many calls are under way; try again"));
        }
        shared.line.check()?;
        if let Some(replicas) = &self.replicas {
            return replicas.call(name, call).await;
        }
        let (answer, number) = match call {
            Call::Create(spec) => tokio::task::block_in_place(|| shared.create(name, &spec)),
            call => {
                let Some(hosted) = shared.find(name) else {
                    return Err(Refused::new(404, "unknown_bandit", format!("there is no bandit {name:?}")));
                };
                // What was played instead is looked up in the journal, so it has to be there.
                if matches!(&call, Call::Pay(paid) if paid.iter().any(|paid| paid.played.is_some())) {
                    shared.written(shared.line.last()).await?;
                }
                let quick = matches!(call, Call::Decide(_) | Call::Pay(_) | Call::Counts | Call::Activate(_));
                if quick && !hosted.large.load(Ordering::Relaxed) {
                    shared.answer(&hosted, call)
                } else {
                    // Others are not to wait for this thread.
                    tokio::task::block_in_place(|| shared.answer(&hosted, call))
                }
            }
        };
        shared.written(number).await?;
        answer
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let shared = &self.shared;
        // What is in line is written, then the last snapshots are taken. A fit that is under way is made again.
        lock(&shared.fits).take();
        shared.stopping.store(true, Ordering::Relaxed);
        shared.line.close();
        self.committer.take().map(JoinHandle::join);
        shared.stop.store(true, Ordering::Relaxed);
        let soon = Instant::now() + Duration::from_secs(2);
        for thread in self.others.drain(..) {
            let fitter = thread.thread().name() == Some("fitter");
            while fitter && !thread.is_finished() && Instant::now() < soon {
                std::thread::sleep(Duration::from_millis(1));
            }
            if !fitter || thread.is_finished() {
                let _ = thread.join();
            }
        }
        tracing::info!(folder = %self.folder.display(), "stopped");
    }
}

impl Shared {
    pub(crate) fn find(&self, name: &str) -> Option<Arc<Hosted>> {
        self.bandits.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(crate) fn hosted(&self) -> Vec<Arc<Hosted>> {
        self.bandits.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    pub(crate) fn insert(&self, hosted: Arc<Hosted>) {
        tracing::info!(bandit = hosted.name, "made");
        let mut bandits = self.bandits.write().unwrap_or_else(PoisonError::into_inner);
        bandits.insert(hosted.name.clone(), hosted);
    }

    /// Drops a bandit.
    pub(crate) fn discard(&self, hosted: &Hosted) -> Result<(), Refused> {
        lock(&self.journal).remove(hosted.key)?;
        let mut bandits = self.bandits.write().unwrap_or_else(PoisonError::into_inner);
        if bandits.get(&hosted.name).is_some_and(|found| found.key == hosted.key) {
            bandits.remove(&hosted.name);
        }
        snapshots::remove(&self.folder, hosted.key);
        tracing::info!(bandit = hosted.name, "dropped");
        Ok(())
    }

    async fn written(&self, number: i64) -> Result<(), Refused> {
        let slow = |_| {
            Refused::unavailable(
                "the disk takes too long; the call may count, and with the same id it counts once",
            )
        };
        tokio::time::timeout(PATIENCE, self.line.written(number)).await.map_err(slow)?
    }

    /// The answer, and the record that it rests on.
    fn answer(&self, hosted: &Arc<Hosted>, call: Call) -> (Result<Answer, Refused>, i64) {
        // What is asked is read before anybody waits for it.
        let events = match &call {
            Call::Decide(asked) => asked.iter().map(|asked| self.event(hosted, asked)).collect(),
            _ => Vec::new(),
        };
        let mut live = match hosted.hold() {
            Ok(live) => live,
            Err(refused) => return (Err(refused), 0),
        };
        let answer = self.act(hosted, &mut live, call, &events);
        self.settle(hosted, &mut live);
        let number = live.folded;
        drop(live);
        lock(&self.events).extend(events.into_iter().flatten().take(64));
        (answer, number)
    }

    fn event(&self, hosted: &Hosted, asked: &Asked) -> Result<Event, Refused> {
        let mut event = lock(&self.events).pop().unwrap_or_default();
        asked.event(&hosted.form, &mut event)?;
        Ok(event)
    }

    pub(crate) fn act(
        &self,
        hosted: &Hosted,
        live: &mut Live,
        call: Call,
        events: &[Result<Event, Refused>],
    ) -> Result<Answer, Refused> {
        let (at, line) = (now(), &self.line);
        let refused = |refused: Refused| {
            line.meters.refused.fetch_add(1, Ordering::Relaxed);
            refused
        };
        match call {
            Call::Create(_) => unreachable!("made elsewhere"),
            Call::Decide(asked) => {
                let decide = |(asked, event): (&Asked, &Result<Event, Refused>)| {
                    let event = event.as_ref().map_err(Refused::clone);
                    event.and_then(|event| live.decide(asked, event, at, line)).map_err(refused)
                };
                Ok(Answer::Decided(asked.iter().zip(events).map(decide).collect()))
            }
            Call::Pay(paid) => {
                let find = |number| lock(&self.reader).find(number);
                let mut pay = |paid: &Paid| live.pay(paid, at, &find, line).map_err(refused);
                Ok(Answer::Paid(paid.iter().map(&mut pay).collect()))
            }
            Call::Explain(asked) => {
                explain(live, &asked).map(|explained| Answer::Explained(Box::new(explained)))
            }
            Call::Activate(id) => live.activate(&id, at, line).map(|()| Answer::Done),
            Call::Mode(mode) => live.set_mode(mode, at, line).map(|()| Answer::Done),
            Call::Renew => live.renew(at, line).map(|()| Answer::Done),
            Call::Restore(state) => live.put(state, at, line).map(|()| Answer::Done),
            Call::Drop => self.discard(hosted).map(|()| Answer::Done),
            Call::View => Ok(Answer::View(Box::new(view(hosted, live)))),
            Call::Counts => Ok(Answer::Counts(live.bandit.counts())),
            Call::Snapshot => Ok(Answer::Snapshot(live.bandit.to_bytes())),
        }
    }

    /// Sees to what a change has brought: a fit that is due, a deadline, records for a snapshot.
    fn settle(&self, hosted: &Arc<Hosted>, live: &mut Live) {
        hosted.weigh(live);
        hosted.name_unknown(live);
        if !live.fitting
            && live.bandit.is_fit_due()
            && let Some(fits) = &*lock(&self.fits)
            && let Some(fit) = live.bandit.begin_fit()
        {
            live.fitting = fits.send((Arc::clone(hosted), fit)).is_ok();
        }
        if let (None, Some(&(deadline, _))) = (live.alarm, live.deadlines.front()) {
            live.alarm = Some(deadline);
            lock(&self.alarms).insert((deadline, hosted.key), Arc::clone(hosted));
        }
    }

    /// Makes a bandit, unless the same one is there.
    fn create(&self, name: &str, spec: &Spec) -> (Result<Answer, Refused>, i64) {
        let made = || {
            let text = spec.text().map_err(|error| Refused::invalid(error.to_string()))?;
            if self.find(name).is_some() {
                return self.same(name, &text);
            }
            let mut hosted = Hosted::new(Made { key: 0, name: name.to_owned(), spec: text })?;
            // Whoever else makes one waits here.
            let mut journal = lock(&self.journal);
            if self.find(name).is_some() {
                drop(journal);
                return self.same(name, &hosted.made);
            }
            let key = journal.create(None, name, &hosted.made)?;
            drop(journal);
            hosted.set_key(key)?;
            let made = view(&hosted, &*hosted.hold()?);
            let hosted = Arc::new(hosted);
            self.settle(&hosted, &mut *hosted.hold()?);
            self.insert(hosted);
            Ok((Answer::Created(true, Box::new(made)), 0))
        };
        match made() {
            Ok((answer, number)) => (Ok(answer), number),
            Err(refused) => (Err(refused), 0),
        }
    }

    /// What is answered where a bandit is there already.
    pub(crate) fn same(&self, name: &str, text: &str) -> Result<(Answer, i64), Refused> {
        let known = self.find(name).filter(|known| Spec::is_same(&known.made, text));
        let other = || Refused::new(409, "conflict", format!("there is another bandit {name:?}"));
        let known = known.ok_or_else(other)?;
        let live = known.hold()?;
        Ok((Answer::Created(false, Box::new(view(&known, &live))), live.folded))
    }

    /// Fits what is due, until nobody sends anything any more.
    fn fit(&self, due: &Mutex<Receiver<Due>>) {
        // Decisions go first where cores are few. Elsewhere it would be the whole process.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::nice(10);
        loop {
            let next = lock(due).recv();
            let Ok((hosted, fit)) = next else { return };
            let fitted = self.run(&hosted, fit);
            if self.stopping.load(Ordering::Relaxed) {
                return;
            }
            let Ok(mut live) = hosted.hold() else { continue };
            live.fitting = false;
            // It is of no use where the state was replaced, or has grown, since it began.
            if live.bandit.is_fit_due() && self.line.check().is_ok() && live.bandit.finish_fit(fitted).is_ok()
            {
                live.note(&self.line, Kind::Fitted, now(), None, Vec::new());
            }
            self.settle(&hosted, &mut live);
        }
    }

    /// Runs a fit, and counts it.
    pub(crate) fn run(&self, hosted: &Hosted, fit: Fit) -> truenorth::Result<Fitted> {
        let since = Instant::now();
        let fitted = fit.run();
        let took = since.elapsed();
        self.line.meters.fits.fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.line.meters.fit_micros.fetch_add(micros, Ordering::Relaxed);
        tracing::debug!(bandit = hosted.name, seconds = took.as_secs_f64(), "fitted");
        fitted
    }

    /// Ends the time of decisions without a reward.
    fn watch(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            std::thread::sleep(TICK);
            let at = now();
            let due: Vec<Arc<Hosted>> = {
                let mut alarms = lock(&self.alarms);
                let later = alarms.split_off(&(at + 1, 0));
                std::mem::replace(&mut *alarms, later).into_values().collect()
            };
            for hosted in due {
                let Ok(mut live) = hosted.hold() else { continue };
                live.alarm = None;
                if self.line.check().is_ok()
                    && let Err(refused) = live.tend(at, &self.line)
                {
                    tracing::error!(bandit = hosted.name, why = refused.message, "a time could not be ended");
                }
                self.settle(&hosted, &mut live);
            }
        }
    }
}

/// Fields that the model has no use for, but for those that Personalizer's calls add by themselves.
fn unknown_fields(bandit: &Bandit) -> Vec<(String, u64)> {
    let own = |name: &str| personalizer::ADDED.contains(&name);
    bandit.unknown_fields().iter().filter(|(name, _)| !own(name)).cloned().collect()
}

fn view(hosted: &Hosted, live: &Live) -> View {
    let bandit = &live.bandit;
    View {
        name: hosted.name.clone(),
        key: hosted.key,
        spec: hosted.spec.clone(),
        mode: live.mode,
        counts: bandit.counts(),
        recipe: bandit.recipe_as_seen().clone(),
        warnings: bandit.warnings(),
        unknown_fields: unknown_fields(bandit),
        names: bandit.names().map(str::to_owned).collect(),
        policy: bandit.policy().clone(),
        watch: bandit.watched(),
    }
}

/// Every action's interval, and what would be played. Nothing is decided.
fn explain(live: &mut Live, asked: &Asked) -> Result<Explained, Refused> {
    let mut event = Event::default();
    asked.event(&live.form, &mut event)?;
    let intervals = live.bandit.intervals(&event)?;
    let (action, explanation) = live.bandit.explain(&event)?;
    let actions = intervals.into_iter().map(|(id, interval)| ExplainedAction::new(id, &interval)).collect();
    Ok(Explained::new(action, live.bandit.policy().level(), actions, &explanation))
}
