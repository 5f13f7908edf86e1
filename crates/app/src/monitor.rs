//! Whether the live world has moved on since its events began.

use std::path::PathBuf;

use serde::Serialize;
use truenorth_features::{Encoder, Event, Joining};
use truenorth_logs::{EventRows, Format, Missing, Problem, Summary};
use truenorth_monitor::{Evidence, Monitor, Moved, Paid};

use crate::error::{Error, Result};

/// Features at most: the memory of a monitor grows with their square.
const MOST_FEATURES: usize = 2000;
/// Points of the curve at most.
const POINTS: usize = 500;

/// What is asked.
pub struct Request<'a> {
    /// Events in the order of their decisions.
    pub events: &'a [PathBuf],
    /// Format of the files; found out unless given.
    pub format: Option<Format>,
    /// Whose recipe makes features of them.
    pub summary: &'a Summary,
    /// Probability of a false alarm at most, however long and often one looks.
    pub level: f64,
}

/// What was seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Watched {
    /// Probability of a false alarm at most.
    pub level: f64,
    /// Rounds with a reward.
    pub rounds: u64,
    /// Whether there were enough of them to watch anything.
    pub watching: bool,
    /// Whether anything has moved.
    pub moved: bool,
    /// How strong the evidence for that is.
    #[serde(flatten)]
    pub evidence: Evidence,
    /// When the alarm was given, if events tell their times.
    pub time: Option<String>,
    /// Every feature.
    pub features: Vec<Feature>,
    /// The evidence after these rounds.
    pub curve: Vec<(u64, f64)>,
    /// Events without an action or a reward.
    pub without_reward: u64,
    /// Events that lack a value, where those of the logs were left out too.
    pub left_out: u64,
}

/// A feature that was watched.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Feature {
    /// Its name.
    pub name: String,
    /// What is known of its movement.
    #[serde(flatten)]
    pub moved: Moved,
}

/// Watches events, one after another.
pub fn monitor(request: &Request<'_>) -> Result<Watched> {
    let summary = request.summary;
    let intercept = summary.recipe().model.intercept;
    let mut watch = Watch {
        monitor: Monitor::new(summary.dimension(), request.level)?,
        encoder: summary.encoder(Joining::Sharing(MOST_FEATURES.saturating_sub(1))),
        round: Vec::new(),
        id: None,
        time: None,
        alarm_time: None,
        curve: Vec::new(),
        every: 1,
        intercept,
    };
    if summary.dimension() > MOST_FEATURES {
        return Err(Error::Number {
            name: "features",
            range: "at most 2,000",
            value: summary.dimension() as f64,
        });
    }
    let (mut without_reward, mut left_out) = (0, 0);
    let drops = summary.recipe().missing == Missing::Drop;
    for path in request.events {
        let mut events = EventRows::open_to_watch(path, request.format, summary)?;
        while let Some(event) = events.next() {
            let event = match event {
                Err(error) if drops && error.problem.missing().is_some() => {
                    left_out += 1;
                    continue;
                }
                event => event?,
            };
            let (Some(chosen), Some(reward)) = (event.chosen, event.reward) else {
                without_reward += 1;
                continue;
            };
            match watch.event(&event, chosen, reward) {
                Ok(()) => {}
                Err(Refused::Row(error)) if drops && error.missing().is_some() => left_out += 1,
                Err(Refused::Row(error)) => return Err(events.error(error).into()),
                Err(Refused::Round(error)) => {
                    return Err(events.error(Problem::Other(error.to_string())).into());
                }
            }
        }
    }
    watch.end_round()?;
    let monitor = &watch.monitor;
    let names = intercept.then(|| "intercept".to_owned()).into_iter();
    let names = names.chain(watch.encoder.features().iter().map(|feature| feature.name.clone()));
    let feature = |(place, name)| Feature { name, moved: monitor.feature(place) };
    let evidence = monitor.evidence();
    Ok(Watched {
        level: request.level,
        rounds: monitor.rounds(),
        watching: monitor.is_watching(),
        moved: evidence.alarm.is_some(),
        evidence,
        time: watch.alarm_time,
        features: names.take(monitor.dimension()).enumerate().map(feature).collect(),
        curve: watch.curve,
        without_reward,
        left_out,
    })
}

enum Refused {
    Row(truenorth_features::Error),
    Round(truenorth_monitor::Error),
}

impl From<truenorth_monitor::Error> for Refused {
    fn from(error: truenorth_monitor::Error) -> Self {
        Self::Round(error)
    }
}

struct Watch {
    monitor: Monitor,
    encoder: Encoder,
    /// Rows of the round that is being read, and their rewards.
    round: Vec<(Vec<(usize, f64)>, f64)>,
    id: Option<String>,
    time: Option<String>,
    alarm_time: Option<String>,
    curve: Vec<(u64, f64)>,
    every: u64,
    intercept: bool,
}

impl Watch {
    /// Events behind each other with one `decision_id` are a round.
    fn event(&mut self, event: &Event, chosen: usize, reward: f64) -> std::result::Result<(), Refused> {
        self.encoder.row(event, chosen).map_err(Refused::Row)?;
        if self.id.is_none() || self.id != event.decision_id {
            self.end_round()?;
        }
        self.id.clone_from(&event.decision_id);
        self.time.clone_from(&event.time);
        let first = usize::from(self.intercept);
        let mut row: Vec<(usize, f64)> =
            self.encoder.entries().iter().map(|&(at, value)| (first + at as usize, value)).collect();
        row.sort_unstable_by_key(|&(at, _)| at);
        row.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        row.splice(0..0, self.intercept.then_some((0, 1.0)));
        self.round.push((row, reward));
        Ok(())
    }

    fn end_round(&mut self) -> truenorth_monitor::Result<()> {
        if self.round.is_empty() {
            return Ok(());
        }
        self.monitor.grow(usize::from(self.intercept) + self.encoder.features().len());
        let rows: Vec<Paid<'_>> =
            self.round.iter().map(|(features, reward)| Paid { features, reward: *reward }).collect();
        let before = self.monitor.evidence().alarm;
        self.monitor.observe_round(&rows)?;
        self.round.clear();
        let evidence = self.monitor.evidence();
        if before.is_none() && evidence.alarm.is_some() {
            self.alarm_time.clone_from(&self.time);
        }
        let round = self.monitor.rounds();
        if round.is_multiple_of(self.every) {
            self.curve.push((round, evidence.evidence));
            if self.curve.len() > POINTS {
                self.every *= 2;
                let every = self.every;
                self.curve.retain(|(round, _)| round.is_multiple_of(every));
            }
        }
        Ok(())
    }
}
