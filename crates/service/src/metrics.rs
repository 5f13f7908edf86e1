//! Metrics as Prometheus reads them. The number of series is bounded, whatever the number of bandits and features.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse as _;

use crate::calls::viewed;
use crate::engine::{Answer, Call};
use crate::http::{Answered, BUCKETS, Service, Shared};
use crate::line::lock;
use crate::replicas::Replicas;

/// Bandits that have series of their own; those whose features have, and how many of these each.
const BANDITS: usize = 1000;
const DETAILED: usize = 20;
const FEATURES: usize = 50;
/// How long what is known of features is taken for new: it takes O(d³).
const FRESH: Duration = Duration::from_mins(1);

/// What is known of a bandit's features: name, trust and drift.
type Trusts = Vec<(String, f64, Option<f64>)>;

/// What was known of bandits' features when somebody last asked.
pub(crate) type Known = Mutex<HashMap<String, (Instant, Trusts)>>;

async fn trusts(service: &Service, name: &str) -> Trusts {
    if let Some((then, known)) = lock(&service.trusts).get(name)
        && then.elapsed() < FRESH
    {
        return known.clone();
    }
    let Ok(view) = viewed(service, name).await else { return Trusts::new() };
    let known = tokio::task::spawn_blocking(move || {
        let views = if view.policy.logs().count() > 0 { view.policy.features().ok() } else { None };
        let named = view.names.into_iter().zip(views.unwrap_or_default()).take(FEATURES);
        named.map(|(name, view)| (name, view.trust, view.drift)).collect::<Trusts>()
    });
    let known = known.await.unwrap_or_default();
    lock(&service.trusts).insert(name.to_owned(), (Instant::now(), known.clone()));
    known
}

/// A text between quotes.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// How far a replica is with the stream.
fn stream(replicas: &Replicas, text: &mut String) {
    let (behind, stale) = replicas.behind();
    let refused = replicas.refused.load(Ordering::Relaxed);
    let staleness = "Time since all that was stored was folded here.";
    for (name, kind, help, value) in [
        ("truenorth_stream_behind", "gauge", "Messages that are stored and not folded here.", behind as f64),
        ("truenorth_staleness_seconds", "gauge", staleness, stale.as_secs_f64()),
        ("truenorth_stream_refused_total", "counter", "Messages that no replica takes.", refused as f64),
    ] {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
    }
}

pub(crate) async fn metrics(State(service): State<Shared>) -> Answered {
    let mut text = String::new();
    let (mut gauges, meters) = (Vec::new(), service.engine.meters());
    let names = service.engine.names();
    for name in names.iter().take(BANDITS) {
        if let Answer::Counts(counts) = service.engine.call(name, Call::Counts).await? {
            gauges.push((name, counts));
        }
    }
    let mut family =
        |name: &str, kind: &str, help: &str, value: &dyn Fn(&truenorth_bandit::Counts) -> f64| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (bandit, counts) in &gauges {
                let _ = writeln!(text, "{name}{{bandit=\"{bandit}\"}} {}", value(counts));
            }
        };
    family("truenorth_decisions_total", "counter", "Decisions made.", &|counts| counts.decisions as f64);
    family("truenorth_rewards_total", "counter", "Rewards learned.", &|counts| counts.rewards as f64);
    family("truenorth_open_decisions", "gauge", "Decisions that wait for a reward.", &|counts| {
        counts.open as f64
    });
    family("truenorth_expired_total", "counter", "Decisions that waited too long.", &|counts| {
        counts.expired as f64
    });
    family("truenorth_conflicts_total", "counter", "Intervals that contradict each other.", &|counts| {
        counts.conflicts as f64
    });
    family("truenorth_pooled_share", "gauge", "Share of decisions that the logs informed.", &|counts| {
        counts.pooled_share
    });
    family("truenorth_world_evidence", "gauge", "Evidence that the world has moved on.", &|counts| {
        counts.evidence.unwrap_or(f64::NAN)
    });
    family("truenorth_world_moved", "gauge", "1 once the world is known to have moved on.", &|counts| {
        counts.moved.map_or(f64::NAN, |moved| f64::from(u8::from(moved)))
    });
    for (name, help, value) in [
        ("truenorth_commits_total", "Groups of records that were synced.", &meters.commits),
        ("truenorth_records_total", "Records written down.", &meters.records),
        ("truenorth_refused_total", "Decisions and rewards that were refused.", &meters.refused),
        ("truenorth_fits_total", "Fits of beliefs.", &meters.fits),
        ("truenorth_snapshots_total", "Snapshots that were kept.", &meters.snapshots),
    ] {
        let _ = writeln!(
            text,
            "# HELP {name} {help}\n# TYPE {name} counter\n{name} {}",
            value.load(Ordering::Relaxed)
        );
    }
    if let Some(replicas) = &service.engine.replicas {
        stream(replicas, &mut text);
    }
    let name = "truenorth_fit_seconds_total";
    let seconds = meters.fit_micros.load(Ordering::Relaxed) as f64 / 1e6;
    let _ = writeln!(text, "# HELP {name} Time that fits took.\n# TYPE {name} counter\n{name} {seconds}");
    let mut known = Vec::new();
    for bandit in names.iter().take(DETAILED) {
        let of = |(feature, trust, drift)| (bandit, quoted(feature), trust, drift);
        known.extend(
            trusts(&service, bandit).await.iter().map(|(name, trust, drift)| of((name, *trust, *drift))),
        );
    }
    for (name, help) in [
        ("truenorth_feature_trust", "How much the logs count for a feature, from 0 to 1."),
        ("truenorth_feature_drift", "Live coefficient of a feature minus the logged one."),
    ] {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        for (bandit, feature, trust, drift) in &known {
            if let Some(value) = if name.ends_with("trust") { Some(*trust) } else { *drift } {
                let _ = writeln!(text, "{name}{{bandit=\"{bandit}\",feature=\"{feature}\"}} {value}");
            }
        }
    }
    let name = "truenorth_decision_seconds";
    let _ = writeln!(
        text,
        "# HELP {name} Time from a call to its answer, the disk included.\n# TYPE {name} histogram"
    );
    let mut count = 0;
    for (place, bucket) in service.latency.iter().enumerate() {
        count += bucket.load(Ordering::Relaxed);
        let end = BUCKETS.get(place).map_or_else(|| "+Inf".to_owned(), f64::to_string);
        let _ = writeln!(text, "{name}_bucket{{le=\"{end}\"}} {count}");
    }
    let sum = service.latency_sum.load(Ordering::Relaxed) as f64 / 1e9;
    let _ = writeln!(text, "{name}_sum {sum}\n{name}_count {count}");
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response())
}
