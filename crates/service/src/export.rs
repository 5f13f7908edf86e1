//! What was decided and came of it, as JSON lines that `summarize --format events` reads.

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::IntoResponse as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use truenorth_features::Event;

use crate::api::{Form, Refused};
use crate::calls::viewed;
use crate::http::{Answered, Shared};
use crate::journal::{Journal, Kind, Record, Result, StoreError};
use crate::records::{self, Becomes, DecidedRecord, PaidRecord, TimedOutRecord};
use crate::store::Store;

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
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<String>>(64);
    // Where it begins is found before anything is answered.
    let (found, begins) = tokio::sync::oneshot::channel();
    tokio::task::spawn_blocking(move || {
        let form = Form { numbers: view.spec.names(), id: view.recipe.id.clone() };
        let mut found = Some(found);
        // Whoever asked may have gone.
        let mut tell = |begins: std::result::Result<(), Refused>| {
            if let Some(found) = found.take() {
                let _ = found.send(begins);
            }
        };
        let exported = Store::look(&folder).and_then(|store| {
            let mut begun = from.after.is_none();
            if begun {
                tell(Ok(()));
            }
            store.read(0, Some(view.key), &mut |record| {
                if record.kind != Kind::Decided {
                    return Ok(());
                }
                let unreadable =
                    |refused: Refused| StoreError(format!("record {}: {}", record.number, refused.message));
                let made: DecidedRecord<'_> = records::read(&record.body).map_err(unreadable)?;
                if !begun {
                    begun = from.after.as_ref() == Some(&made.fact.decision_id);
                    if begun {
                        tell(Ok(()));
                    }
                    return Ok(());
                }
                let paid = paid(&store, record.number)?;
                let line = line(&record, &made, paid, &form).ok_or_else(|| {
                    StoreError(format!("the record of decision {:?} cannot be read", made.fact.decision_id))
                })?;
                sender.blocking_send(Ok(line)).map_err(|_| StoreError("nobody reads on".to_owned()))
            })
        });
        match (exported, from.after) {
            // As an answer where there is none yet, or else in its middle.
            (Err(error), _) => {
                tell(Err(Refused::unavailable(error.0.clone())));
                let _ = sender.blocking_send(Err(error));
            }
            (Ok(()), Some(id)) => {
                let message = format!("there is no decision {id:?} in what is kept");
                tell(Err(Refused::new(404, "unknown_decision", message)));
            }
            (Ok(()), None) => {}
        }
    });
    begins.await.map_err(|error| Refused::unavailable(error.to_string()))??;
    let stream = tokio_stream::wrappers::ReceiverStream::new(receiver);
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(stream)).into_response())
}

/// What a decision has earned in the end, and what was played instead, if that was said with it.
fn paid(journal: &dyn Journal, number: i64) -> Result<Option<(f64, Option<String>)>> {
    let mut earned = None;
    journal.about(number, &mut |record| {
        let unreadable =
            |refused: Refused| StoreError(format!("record {}: {}", record.number, refused.message));
        match record.kind {
            Kind::Rewarded => {
                let paid: PaidRecord = records::read(&record.body).map_err(unreadable)?;
                if paid.becomes != Becomes::Part {
                    earned = Some((paid.reward, paid.played));
                }
            }
            Kind::TimedOut => {
                let over: TimedOutRecord = records::read(&record.body).map_err(unreadable)?;
                earned = over.reward.map(|reward| (reward, None)).or(earned.take());
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(earned)
}

/// An event with what is known of its end.
fn line(
    record: &Record,
    made: &DecidedRecord<'_>,
    paid: Option<(f64, Option<String>)>,
    form: &Form,
) -> Option<String> {
    let choice = &made.fact.choice;
    let mut actions: Value = serde_json::from_str(made.actions).ok()?;
    let listed = actions.as_array_mut()?;
    if listed.iter().any(|action| action["id"].is_null()) {
        let mut event = Event::default();
        made.event(form, &mut event).ok()?;
        for (place, action) in listed.iter_mut().enumerate() {
            action["id"] = json!(event.id(place));
        }
    }
    for action in listed {
        if let (Some(names), Some(list)) = (&form.numbers, action["features"].as_array()) {
            action["features"] =
                names.iter().cloned().zip(list.iter().cloned()).collect::<serde_json::Map<_, _>>().into();
        }
    }
    // What is played for certain, by somebody else, has the probability 1.
    let (taken, probability) = made.fact.played.map_or((choice.action, choice.propensity), |at| (at, 1.0));
    let mut event = json!({"action": actions[taken]["id"], "probability": probability,
        "decision_id": made.fact.decision_id, "time": time(record.at)});
    event["actions"] = actions;
    if let Some(context) = made.context {
        event["context"] = serde_json::from_str(context).ok()?;
    }
    if let Some((reward, played)) = paid {
        event["reward"] = json!(reward);
        if let Some(played) = played {
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
