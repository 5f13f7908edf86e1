//! Whatever happens to the process or the disk, nothing that was acknowledged is lost or counted twice.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::{Scratch, Served, asked, play, spec, with};
use crate::engine::{Answer, Call, Engine};
use crate::hosted::of_another_version;
use crate::journal::{Journal, Kind, Made, Record, Result, StoreError, Take};
use crate::spec::{Mode, Spec};
use crate::store::{FILE, Store};
use crate::verify::verify;

fn copy(from: &Path, to: &Path, files: &[&str]) {
    std::fs::create_dir_all(to).unwrap();
    for file in files {
        let _ = std::fs::copy(from.join(file), to.join(file));
    }
}

const WAL: &str = "truenorth.db-wal";

/// The next decision, without a trace.
fn next(served: &Served, name: &str) -> String {
    let decided = served.decide(name, &asked(5, None)).unwrap();
    format!("{decided:?}")
}

#[test]
fn the_state_is_a_fold_of_the_journal_with_snapshots_and_without() {
    let folder = Scratch::new();
    let data = folder.path("data");
    let served = Served::start(&data);
    served.make("news", with(&json!({"reward_timeout_s": 3600, "default_reward": 0})));
    served.make("other", json!({"dimension": 2, "policy": "truenorth-sampling"}));
    play(&served, "news", 0..120);
    for mode in [Mode::Shadow, Mode::Frozen, Mode::Live] {
        assert!(served.call("news", Call::Mode(mode)).is_ok());
        play(&served, "news", 200 + 50 * mode as u32..230 + 50 * mode as u32);
    }
    assert!(served.call("news", Call::Renew).is_ok());
    play(&served, "news", 400..420);
    let state = served.state("news");
    drop(served);
    assert!(std::fs::read_dir(&data).unwrap().any(|file| file.unwrap().file_name() == "bandit-1.snapshot"));
    copy(&data, &folder.path("copy"), &[FILE]);
    let next: Vec<String> = ["data", "copy"]
        .map(|name| {
            let served = Served::start(&folder.path(name));
            assert!(served.state("news") == state, "{name}");
            next(&served, "news")
        })
        .into();
    assert_eq!(next[0], next[1]);
    let whole = verify(&data).unwrap();
    assert_eq!((whole.bandits, whole.problems), (2, Vec::new()));
}

#[test]
fn a_log_that_is_cut_anywhere_gives_the_state_after_its_last_whole_transaction() {
    let folder = Scratch::new();
    let data = folder.path("data");
    let served = Served::start(&data);
    served.make("news", json!({"dimension": 1, "policy": "oful", "noise": 1, "norm_bound": 1}));
    let asked =
        |id: u32| json!({"actions": [{"features": [1]}, {"features": [0.5]}], "id": format!("d{id}")});
    let play = |served: &Served, id: u32, mut after: Box<dyn FnMut() + '_>| {
        served.decide("news", &asked(id)).unwrap();
        after();
        served.pay("news", json!({"decision_id": format!("d{id}"), "reward": 1})).unwrap();
        after();
    };
    (0..6).for_each(|id| play(&served, id, Box::new(|| ())));
    let mut states = vec![(0, served.state("news"))];
    drop(served);
    // How long the log is after each call, and the state then.
    let served = Served::start(&data);
    let length = || std::fs::metadata(data.join(WAL)).unwrap().len();
    for id in 6..9 {
        play(&served, id, Box::new(|| states.push((length(), served.state("news")))));
    }
    let killed = folder.path("killed");
    copy(&data, &killed, &[FILE, WAL]);
    drop(served);
    let log = std::fs::OpenOptions::new().write(true).open(killed.join(WAL)).unwrap();
    let [.., before, last] = &states[..] else { unreachable!() };
    // Every byte of the last record, and some of those before; with TRUENORTH_EVERY_BYTE, which takes minutes, every one of all six.
    let every = std::env::var_os("TRUENORTH_EVERY_BYTE").is_some();
    for length in (0..=last.0).rev().filter(|length| every || *length >= before.0 || length % 97 == 0) {
        log.set_len(length).unwrap();
        let store = Store::look(&killed).unwrap();
        let hosted = crate::snapshots::fold(&killed, &store).unwrap().0.remove("news").unwrap();
        let expected = states.iter().rev().find(|(at, _)| *at <= length).unwrap();
        assert!(hosted.hold().unwrap().bandit.to_bytes() == expected.1, "{length}");
    }
}

#[test]
fn a_bit_that_flips_in_the_log_is_said_or_costs_the_torn_end_alone() {
    let folder = Scratch::new();
    let data = folder.path("data");
    let served = Served::start(&data);
    served.make("news", spec());
    play(&served, "news", 0..20);
    let state = served.state("news");
    copy(&data, &folder.path("killed"), &[FILE, WAL]);
    drop(served);
    let whole = std::fs::read(folder.path("killed").join(WAL)).unwrap();
    let hurt = folder.path("hurt");
    let open = |bytes: &[u8]| {
        let _ = std::fs::remove_dir_all(&hurt);
        copy(&folder.path("killed"), &hurt, &[FILE]);
        std::fs::write(hurt.join(WAL), bytes).unwrap();
        Engine::start(&hurt, None).map(Served::on)
    };
    assert!(open(&whole).unwrap().state("news") == state);
    // Anywhere but in the end: it is said.
    for at in (0..whole.len() * 3 / 4).step_by(whole.len() / 23) {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        let error = open(&bytes).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("damaged") || error.contains("has changed since"), "{at}: {error:?}");
    }
}

#[test]
fn a_bit_that_flips_in_the_database_is_said() {
    let folder = Scratch::new();
    let data = folder.path("data");
    let served = Served::start(&data);
    served.make("news", spec());
    play(&served, "news", 0..100);
    let state = served.state("news");
    drop(served);
    std::fs::remove_file(data.join("bandit-1.snapshot")).unwrap();
    let whole = std::fs::read(data.join(FILE)).unwrap();
    let found = whole.windows(2).enumerate().filter(|(_, window)| *window == b"d3").map(|found| found.0);
    let mut said = 0;
    for at in found.take(20) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(data.join(FILE), bytes).unwrap();
        match Engine::start(&data, None) {
            // Room that is not used any more.
            Ok(engine) => assert!(Served::on(engine).state("news") == state, "{at}"),
            Err(error) => {
                said += 1;
                assert!(error.to_string().contains("has changed since it was written"), "{at}: {error}");
                assert!(!verify(&data).is_ok_and(|found| found.problems.is_empty()));
            }
        }
        let _ = std::fs::remove_file(data.join("bandit-1.snapshot"));
    }
    assert!(said > 5, "{said}");
}

#[test]
fn what_is_forgotten_changes_no_state_and_the_rest_is_still_exported() {
    let folder = Scratch::new();
    let data = folder.path("data");
    let served = Served::on(Engine::start(&data, Some(0.0)).unwrap());
    served.make("news", spec());
    served.make("idle", spec());
    play(&served, "idle", 0..3);
    play(&served, "news", 0..200);
    let state = served.state("news");
    drop(served);
    // It is forgotten at a start, and once an hour.
    let served = Served::on(Engine::start(&data, Some(0.0)).unwrap());
    super::until(|| {
        let store = Store::look(&data).unwrap();
        let mut count = 0;
        store
            .read(0, None, &mut |_| {
                count += 1;
                Ok(())
            })
            .unwrap();
        count <= 1
    });
    assert!(served.state("news") == state);
    play(&served, "news", 500..510);
    let (state, idle) = (served.state("news"), served.state("idle"));
    drop(served);
    for _ in 0..2 {
        let served = Served::start(&data);
        assert!(served.state("news") == state && served.state("idle") == idle);
        drop(served);
        assert_eq!(verify(&data).unwrap().problems, Vec::<String>::new());
        // The base is in the journal: snapshots may be lost.
        for key in [1, 2] {
            let _ = std::fs::remove_file(data.join(format!("bandit-{key}.snapshot")));
        }
    }
}

#[test]
fn a_snapshot_that_knows_more_than_the_journal_is_a_loss_that_is_said() {
    let folder = Scratch::new();
    let data = folder.path("data");
    let served = Served::start(&data);
    served.make("news", spec());
    drop(served);
    copy(&data, &folder.path("old"), &[FILE]);
    let served = Served::start(&data);
    play(&served, "news", 0..10);
    drop(served);
    copy(&folder.path("old"), &data, &[FILE]);
    let error = Engine::start(&data, None).err().unwrap().to_string();
    assert!(error.contains("records are lost"), "{error}");
    // One that is damaged is done without.
    std::fs::write(data.join("bandit-1.snapshot"), "rubbish").unwrap();
    assert_eq!(Served::start(&data).counts("news").decisions, 0);
}

#[test]
fn a_snapshot_of_another_version_is_done_without() {
    let folder = Scratch::new();
    let data = folder.path("data");
    let served = Served::start(&data);
    served.make("news", spec());
    play(&served, "news", 0..10);
    drop(served);
    std::fs::write(data.join("bandit-1.snapshot"), of_another_version(5)).unwrap();
    assert_eq!(verify(&data).unwrap().problems, Vec::<String>::new());
    assert_eq!(Served::start(&data).counts("news").decisions, 10);
}

#[test]
fn a_folder_of_another_version_is_refused_and_left_alone() {
    let folder = Scratch::new();
    let data = folder.path("data");
    drop(Served::start(&data));
    let connection = rusqlite::Connection::open(data.join(FILE)).unwrap();
    connection.execute("UPDATE meta SET version = 3", []).unwrap();
    drop(connection);
    let error = Engine::start(&data, None).err().unwrap().to_string();
    assert!(error.contains("has version 3, but this program reads version 2"), "{error}");
}

/// A journal whose disk fails when it is told to.
struct Failing(Store, Arc<AtomicBool>);

impl Journal for Failing {
    fn append(&mut self, records: &[Record]) -> Result<()> {
        if self.1.load(Ordering::Relaxed) {
            return Err(StoreError("the disk is full".to_owned()));
        }
        self.0.append(records)
    }
    fn last(&self) -> Result<i64> {
        self.0.last()
    }
    fn read(&self, behind: i64, bandit: Option<i64>, take: Take<'_>) -> Result<()> {
        self.0.read(behind, bandit, take)
    }
    fn find(&self, number: i64) -> Result<Option<Record>> {
        self.0.find(number)
    }
    fn about(&self, decision: i64, take: Take<'_>) -> Result<()> {
        self.0.about(decision, take)
    }
    fn bandits(&self) -> Result<Vec<Made>> {
        self.0.bandits()
    }
    fn create(&mut self, key: Option<i64>, name: &str, spec: &str) -> Result<i64> {
        self.0.create(key, name, spec)
    }
    fn remove(&mut self, bandit: i64) -> Result<()> {
        self.0.remove(bandit)
    }
    fn base(&self, bandit: i64) -> Result<Option<Vec<u8>>> {
        self.0.base(bandit)
    }
    fn set_base(&mut self, bandit: i64, state: &[u8]) -> Result<()> {
        self.0.set_base(bandit, state)
    }
    fn old(&self, before: i64) -> Result<(i64, Vec<i64>)> {
        self.0.old(before)
    }
    fn forget(&mut self, up_to: i64, most: i64) -> Result<u64> {
        self.0.forget(up_to, most)
    }
    fn problems(&self) -> Result<Vec<String>> {
        self.0.problems()
    }
    fn reader(&self) -> Result<Box<dyn Journal>> {
        self.0.reader()
    }
}

#[test]
fn a_write_that_fails_is_said_and_nothing_that_rests_on_it_is_served() {
    let folder = Scratch::new();
    let (data, fails) = (folder.path("data"), Arc::new(AtomicBool::new(false)));
    let journal = Failing(Store::open(&data).unwrap(), Arc::clone(&fails));
    let served = Served::on(Engine::on(Box::new(journal), &data, None, true).unwrap());
    served.make("news", spec());
    play(&served, "news", 0..30);
    let state = served.state("news");
    fails.store(true, Ordering::Relaxed);
    let refused = served.decide("news", &asked(1, Some("lost"))).unwrap_err();
    assert!(refused.status == 503 && refused.message.contains("the disk is full"), "{refused}");
    fails.store(false, Ordering::Relaxed);
    // What is in memory is ahead of the journal, so nothing of it is shown.
    assert_eq!(served.decide("news", &asked(1, Some("lost"))).unwrap_err().status, 503);
    for call in [Call::View, Call::Counts, Call::Snapshot] {
        assert_eq!(served.call("news", call).err().unwrap().status, 503);
    }
    drop(served);
    let served = Served::start(&data);
    assert!(served.state("news") == state);
    served.decide("news", &asked(1, Some("lost"))).unwrap();
}

#[test]
fn many_bandits_share_one_journal_and_each_has_its_own_order() {
    let folder = Scratch::new();
    let data = folder.path("data");
    let served = Served::start(&data);
    let names: Vec<String> = (0..300).map(|at| format!("b{at}")).collect();
    for name in &names {
        served.make(name, json!({"dimension": 2, "policy": "lin-ucb"}));
    }
    std::thread::scope(|scope| {
        for part in names.chunks(75) {
            let served = &served;
            scope.spawn(move || {
                for id in 0..5 {
                    for name in part {
                        let asked = json!({"actions": [{"features": [1, 0]}, {"features": [0, 1]}], "id": format!("d{id}")});
                        served.decide(name, &asked).unwrap();
                        served.pay(name, json!({"decision_id": format!("d{id}"), "reward": id})).unwrap();
                    }
                }
            });
        }
    });
    let states: Vec<_> = names.iter().map(|name| served.state(name)).collect();
    drop(served);
    for name in &names {
        let key = 1 + name[1..].parse::<i64>().unwrap();
        std::fs::remove_file(data.join(format!("bandit-{key}.snapshot"))).unwrap();
    }
    let served = Served::start(&data);
    assert!(names.iter().zip(&states).all(|(name, state)| served.state(name) == *state));
}

#[test]
fn a_bandit_that_was_dropped_stays_so_and_another_one_may_have_its_name() {
    let folder = Scratch::new();
    let data = folder.path("data");
    let served = Served::start(&data);
    served.make("news", spec());
    served.make("shop", spec());
    play(&served, "news", 0..40);
    play(&served, "shop", 0..40);
    let kept = served.state("shop");
    assert!(matches!(served.call("news", Call::Drop), Ok(Answer::Done)));
    assert_eq!(served.call("news", Call::Drop).err().unwrap().status, 404);
    drop(served);
    let served = Served::start(&data);
    assert_eq!(served.engine().names(), ["shop"]);
    assert_eq!(served.state("shop"), kept);
    // The new one knows nothing of the old one's records.
    served.make("news", spec());
    assert_eq!(served.counts("news").decisions, 0);
    play(&served, "news", 0..3);
    drop(served);
    assert_eq!(Served::start(&data).counts("news").decisions, 3);
    assert_eq!(verify(&data).unwrap().problems, Vec::<String>::new());
}

#[test]
fn a_state_that_was_told_something_else_is_refused_but_folded_where_a_journal_has_it() {
    let folder = Scratch::new();
    let data = folder.path("data");
    let served = Served::start(&data);
    let told = json!({"policy": "truenorth-confidence", "certificate": {"matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "rho": 0.5}});
    let named = json!({"features": ["x", "y", "z"], "horizon": 100, "noise": 1});
    let make = |name: &str, more: &Value| {
        let mut spec = named.clone();
        spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        served.make(name, spec);
    };
    make("news", &json!({}));
    let before = served.state("news");
    let mut others = Vec::new();
    for (place, (more, what)) in [
        (json!({"policy": "lin-ucb"}), "policy"),
        (told, "policy"),
        (json!({"seed": 3}), "`seed`"),
        (json!({"noise": 0.5}), "`noise`"),
        (json!({"norm_bound": 2}), "`norm_bound`"),
        (json!({"horizon": 50}), "`horizon`"),
        (json!({"delta": 0.5}), "`delta`"),
        (json!({"discount": 0.5}), "`discount`"),
        (json!({"half_life": 100}), "`half_life`"),
        (json!({"season": 50}), "`season`"),
        (json!({"exploration_scale": 0.5}), "`exploration_scale`"),
        (json!({"open": 5}), "`open`"),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("other{place}");
        make(&name, &more);
        others.push(served.state(&name));
        let refused = served.call("news", Call::Restore(others[place].clone())).err().unwrap();
        assert_eq!(
            (refused.status, refused.message),
            (409, format!("the state is that of a bandit with another {what}"))
        );
        assert_eq!(served.state("news"), before);
        // The other one takes its own, whatever it was told.
        assert!(served.call(&name, Call::Restore(others[place].clone())).is_ok(), "{name}");
    }
    // Modes and waiting times are the service's own.
    make("waits", &json!({"reward_timeout_s": 5, "mode": "shadow"}));
    assert!(served.call("waits", Call::Restore(before)).is_ok());
    drop(served);
    // A service of before may have taken the first of them.
    let mut store = Store::open(&data).unwrap();
    let number = store.last().unwrap() + 1;
    let restored =
        Record { number, bandit: 1, kind: Kind::Restored, at: 0, of: None, body: others.remove(0) };
    store.append(std::slice::from_ref(&restored)).unwrap();
    drop(store);
    assert_eq!(Served::start(&data).state("news"), restored.body);
}

#[test]
fn a_bandit_that_has_grown_goes_from_one_service_to_another() {
    let folder = Scratch::new();
    let certificate =
        json!({"policy": "pooled-only", "horizon": 1000, "certificate": {"matrix": [[1]], "rho": 0.5}});
    for more in [json!({}), json!({"discount": 0.5}), certificate] {
        let [one, other] =
            [0, 1].map(|place| Served::start(&folder.path(&format!("{more}{place}").replace('/', ""))));
        for served in [&one, &other] {
            served.make("news", with(&more));
        }
        play(&one, "news", 0..60);
        assert_eq!(one.call("news", Call::Renew).is_ok(), more.get("certificate").is_none());
        let state = one.state("news");
        assert!(other.call("news", Call::Restore(state.clone())).is_ok(), "{more}");
        assert_eq!(other.state("news"), state);
    }
}

#[test]
fn unknown_fields_are_counted_alike_before_and_after_a_restart() {
    let folder = Scratch::new();
    let data = folder.path("data");
    let served = Served::start(&data);
    served.make("news", spec());
    let unknown = |served: &Served| match served.call("news", Call::View) {
        Ok(Answer::View(view)) => view.unknown_fields,
        _ => unreachable!(),
    };
    for round in 0..10 {
        let mut asked = asked(round, None);
        asked["context"]["hours"] = json!(1);
        asked["actions"][1]["features"]["i"] = json!({"constant": 1, "id": "b"});
        served.decide("news", &asked).unwrap();
        asked["context"]["hour"] = json!(1e300);
        assert!(served.decide("news", &asked).is_err(), "what is refused is not counted");
    }
    let expected = [("hours".to_owned(), 10)];
    assert_eq!(unknown(&served), expected);
    let state = served.state("news");
    drop(served);
    copy(&data, &folder.path("copy"), &[FILE]);
    for name in ["data", "copy"] {
        let served = Served::start(&folder.path(name));
        assert_eq!(unknown(&served), expected, "{name}");
        assert!(served.state("news") == state, "{name}");
    }
}

#[test]
fn a_bandit_of_before_keeps_its_fits_beside_its_decisions_and_a_new_one_has_them_within() {
    let folder = Scratch::new();
    let data = folder.path("data");
    // What was made before does not say where its fits run.
    Store::open(&data).unwrap().create(None, "old", &spec().to_string()).unwrap();
    let served = Served::start(&data);
    served.make("new", spec());
    let again: Spec = serde_json::from_value(spec()).unwrap();
    for name in ["old", "new"] {
        let made = served.call(name, Call::Create(Box::new(again.clone())));
        assert!(matches!(made, Ok(Answer::Created(false, _))), "{name}");
    }
    play(&served, "old", 0..100);
    play(&served, "new", 0..100);
    let states = ["old", "new"].map(|name| served.state(name));
    drop(served);
    let mut fits = [0, 0];
    let mut count = |record: Record| {
        fits[usize::try_from(record.bandit - 1).unwrap()] += usize::from(record.kind == Kind::Fitted);
        Ok(())
    };
    Store::look(&data).unwrap().read(0, None, &mut count).unwrap();
    assert!(fits[0] > 2 && fits[1] == 0, "{fits:?}");
    for key in [1, 2] {
        std::fs::remove_file(data.join(format!("bandit-{key}.snapshot"))).unwrap();
    }
    let served = Served::start(&data);
    assert!(["old", "new"].map(|name| served.state(name)) == states);
    drop(served);
    assert!(verify(&data).unwrap().problems.is_empty());
}
