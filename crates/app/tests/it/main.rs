//! Requests without a front end: the same from files and from memory, stopped and resumed, and what is refused.

use std::fs;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator};
use truenorth_app::audit::{Pilot, audit};
use truenorth_app::compare::{Contest, Drift, Rows, Told};
use truenorth_app::{Error, Progress, Source, Work, experiment};
use truenorth_audit::Options;
use truenorth_logs::{Plan, Selection, Summary};

static NEVER: AtomicBool = AtomicBool::new(false);

/// Rows of a round, a feature and a reward, eight of them in four rounds.
fn columns() -> [(&'static str, Vec<f64>); 3] {
    let x: Vec<f64> = (0..8).map(|row| f64::from(row % 5) - 2.0).collect();
    let reward = x.iter().zip(0..).map(|(x, row)| 2.0 * x + 0.1 * f64::from(row % 3)).collect();
    [("round", (0..8).map(|row| f64::from(row / 2)).collect()), ("x", x), ("reward", reward)]
}

fn csv() -> String {
    let [(_, rounds), (_, x), (_, rewards)] = columns();
    let line = |row: usize| format!("{},{},{}\n", rounds[row], x[row], rewards[row]);
    "round,x,reward\n".to_owned() + &(0..8).map(line).collect::<String>()
}

fn in_memory() -> Source {
    let columns = columns().map(|(name, values)| (name, Arc::new(Float64Array::from(values)) as ArrayRef));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let schema = batch.schema();
    Source::Batches(Box::new(RecordBatchIterator::new([Ok(batch)], schema)), "pilot")
}

fn told() -> Told {
    Told {
        policies: None,
        seeds: 1,
        scales: vec![1.0],
        noise: None,
        norm_bound: None,
        drift: None,
        discount: 1.0,
    }
}

#[test]
fn a_pilot_has_the_same_rounds_in_a_file_and_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    fs::write(&path, csv()).unwrap();
    let plan = Plan { selection: Some(Selection::new("x", "reward")), ..Plan::default() };
    let logs: Summary = plan.summarize(std::slice::from_ref(&path), &|_| ()).unwrap();
    let audited = |source: Source, round: Option<&str>| {
        let pilot = Pilot::Source { source, format: None, round };
        audit(&logs, Some(pilot), &Options::default())
    };
    let from_file = audited(Source::Path(path.clone()), None).unwrap().found;
    assert_eq!(from_file.pilot.map(|pilot| (pilot.rows, pilot.independent)), Some((8, 4)));
    assert_eq!(audited(in_memory(), None).unwrap().found, from_file);
    assert_eq!(audited(in_memory(), Some("round")).unwrap().found, from_file);
    // Nobody names a column, and there is none: rows are taken to be independent.
    fs::write(&path, csv().replacen("round", "day", 1)).unwrap();
    let alone = audited(Source::Path(path.clone()), None).unwrap().found;
    assert_eq!(alone.pilot.map(|pilot| pilot.independent), Some(8));
    let refused = audited(Source::Path(path), Some("round")).unwrap_err();
    assert!(refused.to_string().contains("there is no column named `round`"), "{refused}");
}

#[test]
fn settings_are_named_by_their_words() {
    let wrong = [
        (Told { noise: Some(-1.0), ..told() }, "`noise` must be at least 0 and at most 1e50, but is -1"),
        (
            Told { drift: Some(Drift::Length(f64::NAN)), ..told() },
            "`drift` must be at least 0 and at most 1e50, but is NaN",
        ),
        (
            Told { scales: vec![1.0, 0.0], ..told() },
            "a factor of `scales` must be positive and at most 1e9, but is 0",
        ),
        (Told { seeds: 0, ..told() }, "`seeds` must be from 1 to 10000, but is 0"),
    ];
    for (told, sentence) in wrong {
        let error = told.check().unwrap_err();
        assert_eq!(error.to_string(), sentence);
        assert!(error.settings().iter().all(|name| sentence.contains(&format!("`{name}`"))), "{sentence}");
        assert_eq!(error.settings().len(), 1);
    }
}

#[test]
fn arrays_are_checked_and_stopped_comparisons_have_no_result() {
    let refused = Rows::of_arrays("online", &[1.0, 2.0, f64::NAN, 4.0], &[0.0, 1.0], 2).unwrap_err();
    let sentence = "online, row 2: numbers must be finite and at most 1e50 in size, but one is NaN";
    assert_eq!(refused.to_string(), sentence);
    let rows = Rows::of_arrays("online", &[1.0, 0.5, -1.0, 0.3], &[1.0, 0.5, -1.0, 0.3], 2).unwrap();
    let contest = Contest::new(None, &rows).unwrap();
    let entries = contest.entries(&told()).unwrap();
    let play = |stop: bool| {
        contest.play(&entries, 1, Work { threads: 1, stop: &AtomicBool::new(stop), progress: &|_| () })
    };
    assert_eq!(play(false).unwrap().policies.len(), entries.len());
    assert!(matches!(play(true), Err(Error::Interrupted { .. })));
}

#[test]
fn a_stopped_experiment_goes_on_from_what_was_finished() {
    let folder = tempfile::tempdir().unwrap();
    let text = "horizon = 20\nruns = 3\npolicies = [\"oful\"]\n";
    let figure = experiment::from_toml(folder.path(), text.as_bytes(), None).unwrap();
    let (stop, told) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let progress = |progress: Progress| {
        told.lock().unwrap().push(progress);
        if progress == Progress::Finished {
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    };
    let figures = std::slice::from_ref(&figure);
    let first =
        experiment::play(figures, Some(folder.path()), Work { threads: 1, stop: &stop, progress: &progress });
    let Err(Error::Interrupted { finished: 1, total: 3, folder: Some(kept) }) = first else {
        panic!("not stopped after the first run")
    };
    assert_eq!(kept, folder.path());
    let second = Work { threads: 2, stop: &NEVER, progress: &|progress| told.lock().unwrap().push(progress) };
    let played = experiment::play(figures, Some(folder.path()), second).unwrap();
    let started = |done| Progress::Started { done, total: 3 };
    let finished = Progress::Finished;
    assert_eq!(*told.lock().unwrap(), [started(0), finished, started(1), finished, finished]);
    assert_eq!(played.results.figures[0].panels[0].runs, 3);
    played.complete().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn studies_are_found_by_name() {
    assert_eq!(experiment::studies("all").unwrap().len(), 4);
    assert_eq!(experiment::studies("wide").unwrap()[0].name(), "wide");
    let sentence = experiment::studies("mian").err().unwrap().to_string();
    assert!(
        sentence.starts_with("there is no study named \"mian\"; the names are all, main, bias"),
        "{sentence}"
    );
}
