//! Figures for Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse as _;

use crate::api::Refused;
use crate::calls::viewed;
use crate::http::{Answered, BUCKETS, Shared};
use crate::store::Store;

pub(crate) async fn metrics(State(service): State<Shared>) -> Answered {
    let folder = service.engine.folder.clone();
    let bandits = tokio::task::spawn_blocking(move || Store::look(&folder).and_then(|store| store.bandits()));
    let bandits = bandits.await.map_err(|error| Refused::unavailable(error.to_string()))?;
    let bandits = bandits.map_err(|error| Refused::unavailable(error.to_string()))?;
    let mut text = String::new();
    let (mut gauges, meters) = (Vec::new(), &service.engine.meters);
    for made in bandits.iter().take(1000) {
        let view = viewed(&service, &made.name).await?;
        gauges.push((made.name.clone(), view.counts));
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
    for (name, help, value) in [
        ("truenorth_commits_total", "Groups of records that were synced.", &meters.commits),
        ("truenorth_records_total", "Records written down.", &meters.records),
        ("truenorth_refused_total", "Decisions and rewards that were refused.", &meters.refused),
    ] {
        let _ = writeln!(
            text,
            "# HELP {name} {help}\n# TYPE {name} counter\n{name} {}",
            value.load(Ordering::Relaxed)
        );
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
