//! What happened over time, for the page: bounded, in memory, gone with the process.
//!
//! Every second the counts of the bandits in use are looked at. When a bandit's points are full, neighbours become one, so
//! that all the time since the start is always there, in at most [`POINTS`] points.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, RwLock, Weak};
use std::time::Duration;

use truenorth_bandit::{Bandit, Counts};
use truenorth_features::Event;

use crate::answers::{Past, PastPoint};
use crate::api::{Asked, Form, Refused};
use crate::engine::{Answer, Call, now};
use crate::http::{BUCKETS, Service};
use crate::journal::Journal as _;
use crate::spec::Spec;
use crate::store::Store;

const POINTS: usize = 240;
/// Bandits whose past is kept; of those beyond there is none.
const BANDITS: usize = 1000;
/// Decisions a second of which the logs' prediction is worked out.
const SAMPLES: usize = 8;

type Latency = [u64; BUCKETS.len() + 1];

/// The past of all bandits.
#[derive(Default)]
pub(crate) struct History {
    bandits: RwLock<HashMap<String, Arc<Watched>>>,
}

/// Sums over a stretch of time.
#[derive(Clone, Copy, Default)]
struct Point {
    time: i64,
    seconds: u32,
    decisions: u64,
    rewards: u64,
    reward_sum: f64,
    predictions: u64,
    prediction_sum: f64,
    latency: Latency,
}

impl Point {
    fn add(&mut self, other: &Self) {
        self.seconds += other.seconds;
        self.decisions += other.decisions;
        self.rewards += other.rewards;
        self.reward_sum += other.reward_sum;
        self.predictions += other.predictions;
        self.prediction_sum += other.prediction_sum;
        for (sum, more) in self.latency.iter_mut().zip(other.latency) {
            *sum += more;
        }
    }

    fn shown(&self) -> PastPoint {
        PastPoint {
            time: self.time,
            seconds: self.seconds,
            decisions: self.decisions,
            rewards: self.rewards,
            mean_reward: mean(self.reward_sum, self.rewards),
            predicted: mean(self.prediction_sum, self.predictions),
            p99_ms: milliseconds(&self.latency, 0.99),
        }
    }
}

fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// The time that so large a share of the calls did not exceed, within its bucket by a straight line.
fn milliseconds(latency: &Latency, share: f64) -> Option<f64> {
    let all: u64 = latency.iter().sum();
    if all == 0 {
        return None;
    }
    let (wanted, mut below, mut start) = (share * all as f64, 0.0, 0.0);
    for (&count, end) in latency.iter().zip(BUCKETS) {
        let count = count as f64;
        if below + count >= wanted {
            return Some(1000.0 * (start + (end - start) * (wanted - below) / count.max(1.0)));
        }
        (below, start) = (below + count, end);
    }
    Some(1000.0 * start)
}

/// What the logs alone know of a bandit's actions.
#[derive(Default)]
enum Logs {
    /// Nobody has looked.
    #[default]
    Unread,
    /// There are none.
    Absent,
    Known(Box<Bandit>),
}

/// A bandit in use.
struct Watched {
    past: Mutex<PastSums>,
    /// Apart, because asking them takes a while, and no decision waits for that.
    logs: Mutex<Logs>,
}

struct PastSums {
    points: Vec<Point>,
    /// Seconds that a point stands for.
    step: u32,
    seen: Counts,
    latency: Latency,
    samples: Vec<(Asked, usize)>,
    /// Whether there are no logs to ask.
    without_logs: bool,
    /// Something that was really asked, for people who try a decision by hand.
    example: Option<Asked>,
}

impl Watched {
    fn new(seen: Counts) -> Self {
        let past = PastSums {
            points: Vec::new(),
            step: 1,
            seen,
            latency: Latency::default(),
            samples: Vec::new(),
            without_logs: false,
            example: None,
        };
        Self { past: Mutex::new(past), logs: Mutex::default() }
    }

    /// A second has gone by.
    fn tick(&self, counts: Counts, folder: &Path, name: &str) {
        let Ok(mut past) = self.past.lock() else { return };
        let samples = std::mem::take(&mut past.samples);
        drop(past);
        let (predictions, without_logs) = self.predict(&samples, folder, name);
        let Ok(mut past) = self.past.lock() else { return };
        past.without_logs = without_logs;
        if let Some((asked, _)) = samples.into_iter().next() {
            past.example = Some(Asked { id: None, ..asked });
        }
        past.tick(counts, &predictions);
    }

    /// What the logs alone predict of the rewards of actions, and whether there are no logs.
    fn predict(&self, samples: &[(Asked, usize)], folder: &Path, name: &str) -> (Vec<f64>, bool) {
        let Ok(mut logs) = self.logs.lock() else { return (Vec::new(), true) };
        if matches!(*logs, Logs::Unread) && !samples.is_empty() {
            *logs = read_logs(folder, name).unwrap_or(Logs::Absent);
        }
        let Logs::Known(bandit) = &mut *logs else { return (Vec::new(), matches!(*logs, Logs::Absent)) };
        let predict = |(asked, action): &(Asked, usize)| {
            let mut event = Event::default();
            asked.event(&Form::default(), &mut event).ok()?;
            let (_, interval) = bandit.intervals(&event).ok()?.into_iter().nth(*action)?;
            Some(interval.mean() + bandit.policy().level()).filter(|prediction| prediction.is_finite())
        };
        (samples.iter().filter_map(predict).collect(), false)
    }
}

impl PastSums {
    fn tick(&mut self, counts: Counts, predictions: &[f64]) {
        let sum = |counts: &Counts| counts.mean_reward.unwrap_or(0.0) * counts.rewards as f64;
        let rewards = counts.rewards.saturating_sub(self.seen.rewards);
        let point = Point {
            time: now() - 1000,
            seconds: 1,
            decisions: counts.decisions.saturating_sub(self.seen.decisions),
            rewards,
            reward_sum: if rewards > 0 { sum(&counts) - sum(&self.seen) } else { 0.0 },
            predictions: predictions.len() as u64,
            prediction_sum: predictions.iter().sum(),
            latency: std::mem::take(&mut self.latency),
        };
        self.seen = counts;
        match self.points.last_mut() {
            Some(last) if last.seconds < self.step => last.add(&point),
            _ => self.points.push(point),
        }
        if self.points.len() > POINTS {
            let pairs = self.points.chunks(2).map(|pair| {
                let mut both = pair[0];
                pair.iter().skip(1).for_each(|other| both.add(other));
                both
            });
            self.points = pairs.collect();
            self.step *= 2;
        }
    }
}

/// What a bandit was made from, its summary included.
pub(crate) fn made_from(folder: &Path, name: &str) -> Option<Spec> {
    let made = Store::look(folder).and_then(|store| store.bandits()).ok()?;
    serde_json::from_str(&made.into_iter().find(|made| made.name == name)?.spec).ok()
}

/// A bandit that only ever asks the logs of another one.
fn read_logs(folder: &Path, name: &str) -> Option<Logs> {
    let summary = Some(made_from(folder, name)?.summary?);
    let offline = Spec { summary, policy: Some("offline-only".to_owned()), ..Spec::default() };
    Some(Logs::Known(Box::new(offline.bandit().ok()?)))
}

impl History {
    fn find(&self, name: &str) -> Option<Arc<Watched>> {
        self.bandits.read().ok()?.get(name).cloned()
    }

    /// Something to ask the logs about later, now and then; a bandit is watched from its first decision on.
    pub(crate) async fn sample(
        &self,
        service: &Service,
        name: &str,
        asked: &[Asked],
    ) -> Result<Option<Asked>, Refused> {
        if let Some(watched) = self.find(name) {
            let wanted = watched
                .past
                .lock()
                .is_ok_and(|past| past.samples.len() < if past.without_logs { 1 } else { SAMPLES });
            return Ok(wanted.then(|| asked.first().cloned()).flatten());
        }
        let Answer::Counts(counts) = service.engine.call(name, Call::Counts).await? else { return Ok(None) };
        if let Ok(mut bandits) = self.bandits.write()
            && bandits.len() < BANDITS
        {
            bandits.entry(name.to_owned()).or_insert_with(|| Arc::new(Watched::new(counts)));
        }
        Ok(asked.first().cloned())
    }

    /// A call for decisions was answered.
    pub(crate) fn decided(&self, name: &str, seconds: f64, sample: Option<(Asked, usize)>) {
        if let Some(watched) = self.find(name)
            && let Ok(mut past) = watched.past.lock()
        {
            past.latency[bucket(seconds)] += 1;
            past.samples.extend(sample);
        }
    }

    pub(crate) fn shown(&self, name: &str) -> Past {
        let (mut all, mut points, mut step_s, mut example) = (Point::default(), Vec::new(), 1, None);
        if let Some(watched) = self.find(name)
            && let Ok(past) = watched.past.lock()
        {
            past.points.iter().for_each(|point| all.add(point));
            points = past.points.iter().map(Point::shown).collect();
            (step_s, example) = (past.step, past.example.clone());
        }
        let PastPoint { rewards, mean_reward, predicted, p99_ms, .. } = all.shown();
        let p50_ms = milliseconds(&all.latency, 0.5);
        Past { step_s, points, rewards, mean_reward, predicted, p50_ms, p99_ms, example }
    }

    /// Looks at the bandits in use every second, as long as there is a service.
    pub(crate) async fn keep(service: Weak<Service>) {
        let mut second = tokio::time::interval(Duration::from_secs(1));
        second.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            second.tick().await;
            let Some(service) = service.upgrade() else { return };
            let watched: Vec<_> = match service.history.bandits.read() {
                Ok(bandits) => {
                    bandits.iter().map(|(name, watched)| (name.clone(), Arc::clone(watched))).collect()
                }
                Err(_) => return,
            };
            for (name, watched) in watched {
                let Ok(Answer::Counts(counts)) = service.engine.call(&name, Call::Counts).await else {
                    continue;
                };
                let folder = service.engine.folder.clone();
                let _ = tokio::task::spawn_blocking(move || watched.tick(counts, &folder, &name)).await;
            }
        }
    }
}

/// The bucket of the latency histogram that a time falls into.
pub(crate) fn bucket(seconds: f64) -> usize {
    BUCKETS.iter().position(|end| seconds <= *end).unwrap_or(BUCKETS.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_the_time_since_the_start_is_there_in_a_bounded_number_of_points() {
        let none = Bandit::counts(&Spec { model: Some("a".to_owned()), ..Spec::default() }.bandit().unwrap());
        let watched = Watched::new(none);
        for second in 1..=10_000 {
            let mut counts = none;
            (counts.decisions, counts.rewards, counts.mean_reward) = (second, second, Some(0.5));
            watched.tick(counts, Path::new("nowhere"), "x");
            assert!(watched.past.lock().unwrap().points.len() <= POINTS);
        }
        let watched = watched.past.into_inner().unwrap();
        let mut all = Point::default();
        watched.points.iter().for_each(|point| all.add(point));
        assert_eq!((all.seconds, all.decisions, all.rewards), (10_000, 10_000, 10_000));
        assert!((all.reward_sum - 5_000.0).abs() < 1e-6);
        assert_eq!(watched.step, 64);
    }

    #[test]
    fn quantiles_of_the_histogram_are_within_its_buckets() {
        let mut latency = Latency::default();
        assert_eq!(milliseconds(&latency, 0.5), None);
        latency[1] = 100;
        // Between half a millisecond and one.
        assert_eq!(milliseconds(&latency, 0.5), Some(0.75));
        latency[BUCKETS.len()] = 100;
        assert_eq!(milliseconds(&latency, 0.99), Some(1000.0));
    }
}
