//! What was decided and came of it, as JSON lines that `summarize --format events` reads.

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::IntoResponse as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{DecidedRecord, PaidRecord};
use crate::calls::viewed;
use crate::http::{Answered, Shared};
use crate::store::{Kind, Store, StoreError};

#[derive(Deserialize, JsonSchema)]
pub(crate) struct From {
    /// The decision behind which the export begins.
    after: Option<String>,
}

/// What was decided and came of it, as JSON lines that `summarize --format events` reads.
pub(crate) async fn events(
    State(service): State<Shared>,
    Path(name): Path<String>,
    Query(from): Query<From>,
) -> Answered {
    let view = viewed(&service, &name).await?;
    let folder = service.engine.folder.clone();
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<String, StoreError>>(64);
    tokio::task::spawn_blocking(move || {
        let names = view.spec.names();
        let exported = Store::look(&folder).and_then(|store| {
            let mut begun = from.after.is_none();
            store.read(view.key, 0, |_, record| {
                if record.kind != Kind::Decided {
                    return Ok(());
                }
                if !begun {
                    begun = from.after.as_deref() == Some(&*record.id);
                    return Ok(());
                }
                let paid = store.rewarded(view.key, &record.id)?;
                let line = line(&record, paid.as_deref(), names.as_deref()).ok_or_else(|| {
                    StoreError(format!("the record of decision {:?} cannot be read", record.id))
                })?;
                sender.blocking_send(Ok(line)).map_err(|_| StoreError("nobody reads on".to_owned()))
            })
        });
        if let Err(error) = exported {
            let _ = sender.blocking_send(Err(error));
        }
    });
    let stream = tokio_stream::wrappers::ReceiverStream::new(receiver);
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(stream)).into_response())
}

/// An event with what is known of its end.
fn line(record: &crate::store::Record, paid: Option<&str>, names: Option<&[String]>) -> Option<String> {
    let DecidedRecord { asked, action, propensity } = serde_json::from_str(&record.body).ok()?;
    let mut actions: Value = serde_json::from_str(asked.actions.get()).ok()?;
    for (place, action) in actions.as_array_mut()?.iter_mut().enumerate() {
        if action.get("id").is_none() {
            action["id"] = json!(place.to_string());
        }
        if let (Some(names), Some(list)) = (names, action["features"].as_array()) {
            action["features"] =
                names.iter().cloned().zip(list.iter().cloned()).collect::<serde_json::Map<_, _>>().into();
        }
    }
    let mut event = json!({"actions": actions, "action": action, "probability": propensity,
        "decision_id": record.id, "time": time(record.at)});
    if let Some(context) = &asked.context {
        event["context"] = serde_json::from_str(context.get()).ok()?;
    }
    if let Some(paid) = paid {
        let paid: PaidRecord = serde_json::from_str(paid).ok()?;
        event["reward"] = json!(paid.reward);
        if let Some(played) = paid.played {
            event["action"] = json!(played);
        }
    }
    Some(format!("{event}\n"))
}

/// A time as people write it, in UTC.
fn time(milliseconds: i64) -> String {
    let (days, rest) = (milliseconds.div_euclid(86_400_000), milliseconds.rem_euclid(86_400_000));
    // Days of a calendar whose years begin with March, so that leap days come last.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hours, minutes, seconds) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{:03}Z", rest % 1000)
}
