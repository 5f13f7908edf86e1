//! The calls on bandits.

use std::time::Instant;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use serde::Serialize;

use crate::answers::{Accepted, BatchAnswer, Changed, Dropped, Each, Names, Paids, Renewed, Restored};
use crate::api::{Asked, Batch, Changes, Decided, Object, Paid, Refused};
use crate::engine::{Answer, Call, View};
use crate::history::made_from;
use crate::http::{
    Answered, LARGEST_UPLOAD, Sent, Service, Shared, arrived, check_name, json_text, parse, parse_list,
};
use crate::report::{Report, Shown};
use crate::spec::Spec;

/// An answer as JSON.
pub(crate) fn answered(status: StatusCode, answer: &impl Serialize) -> Answered {
    let text = serde_json::to_string(answer).map_err(|error| Refused::unavailable(error.to_string()))?;
    Ok((status, json_text(text)).into_response())
}

fn other() -> Refused {
    Refused::unavailable("an answer to another call")
}

/// What another thread found, as what takes a while must not hold up others.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refused> + Send + 'static,
) -> Result<T, Refused> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Refused::unavailable(error.to_string()))?
}

pub(crate) async fn create(Sent { service, name, text, .. }: Sent) -> Answered {
    check_name(&name)?;
    let spec: Spec = parse(&text)?;
    match service.engine.call(&name, Call::Create(Box::new(spec))).await? {
        Answer::Created(new, view) => {
            let status = if new { StatusCode::CREATED } else { StatusCode::OK };
            answered(status, &aside(move || Shown::of(*view)).await?)
        }
        _ => Err(other()),
    }
}

pub(crate) async fn viewed(service: &Service, name: &str) -> Result<View, Refused> {
    match service.engine.call(name, Call::View).await? {
        Answer::View(view) => Ok(*view),
        _ => Err(other()),
    }
}

pub(crate) async fn show(State(service): State<Shared>, Path(name): Path<String>) -> Answered {
    let view = viewed(&service, &name).await?;
    answered(StatusCode::OK, &aside(move || Shown::of(view)).await?)
}

pub(crate) async fn report(State(service): State<Shared>, Path(name): Path<String>) -> Answered {
    let view = viewed(&service, &name).await?;
    answered(StatusCode::OK, &aside(move || Report::of(view)).await?)
}

pub(crate) async fn list(State(service): State<Shared>) -> Answered {
    answered(StatusCode::OK, &Names { bandits: service.engine.names() })
}

pub(crate) async fn change(Sent { service, name, text, .. }: Sent) -> Answered {
    let Changes { mode } = parse(&text)?;
    service.engine.call(&name, Call::Mode(mode)).await?;
    answered(StatusCode::OK, &Changed { mode })
}

pub(crate) async fn remove(State(service): State<Shared>, Path(name): Path<String>) -> Answered {
    service.engine.call(&name, Call::Drop).await?;
    answered(StatusCode::OK, &Dropped { dropped: true })
}

pub(crate) async fn renew(State(service): State<Shared>, Path(name): Path<String>) -> Answered {
    service.engine.call(&name, Call::Renew).await?;
    answered(StatusCode::OK, &Renewed { renewed: true })
}

/// What became of each of several decisions or rewards.
pub(crate) type Done<T> = Vec<Result<T, Refused>>;

impl Service {
    pub(crate) async fn decided(&self, name: &str, asked: Vec<Asked>) -> Result<Done<Decided>, Refused> {
        let sample = self.history.sample(self, name, &asked).await?;
        let since = Instant::now();
        let answer = self.engine.call(name, Call::Decide(asked)).await?;
        let Answer::Decided(decided) = answer else { return Err(other()) };
        let seconds = since.elapsed().as_secs_f64();
        self.took(seconds);
        let first = decided.first().and_then(|decided| decided.as_ref().ok());
        self.history.decided(name, seconds, sample.zip(first.map(|decided| decided.action_index)));
        Ok(decided)
    }

    pub(crate) async fn paid(&self, name: &str, paid: Vec<Paid>) -> Result<Done<()>, Refused> {
        match self.engine.call(name, Call::Pay(paid)).await? {
            Answer::Paid(paid) => Ok(paid),
            _ => Err(other()),
        }
    }
}

/// The only one of a list.
pub(crate) fn only<T>(list: Done<T>) -> Result<T, Refused> {
    list.into_iter().next().unwrap_or_else(|| Err(Refused::unavailable("no answer")))
}

pub(crate) async fn decide(Sent { service, name, text, .. }: Sent) -> Answered {
    let asked: Asked = parse(&text)?;
    answered(StatusCode::OK, &only(service.decided(&name, vec![asked.named()?]).await?)?)
}

pub(crate) async fn decide_batch(Sent { service, name, text, .. }: Sent) -> Answered {
    let Batch { decisions } = parse(&text)?;
    let decisions: Result<_, _> = decisions.into_iter().map(|Object(asked)| asked.named()).collect();
    let decided = service.decided(&name, decisions?).await?;
    answered(StatusCode::OK, &BatchAnswer { decisions: decided.into_iter().map(Each::from).collect() })
}

pub(crate) async fn explain(Sent { service, name, text, .. }: Sent) -> Answered {
    let asked: Asked = parse(&text)?;
    match service.engine.call(&name, Call::Explain(asked.named()?)).await? {
        Answer::Explained(explained) => answered(StatusCode::OK, &explained),
        _ => Err(other()),
    }
}

pub(crate) async fn reward(Sent { service, name, text, .. }: Sent) -> Answered {
    let accepted = |()| Accepted { accepted: true };
    if text.trim_start().starts_with('[') {
        let several: Vec<Object<Paid>> = parse_list(&text)?;
        let several = several.into_iter().map(|Object(paid)| paid).collect();
        let paid = service.paid(&name, several).await?;
        let rewards = paid.into_iter().map(|paid| Each::from(paid.map(accepted))).collect();
        return answered(StatusCode::OK, &Paids { rewards });
    }
    only(service.paid(&name, vec![parse(&text)?]).await?)?;
    answered(StatusCode::OK, &accepted(()))
}

pub(crate) async fn snapshot(State(service): State<Shared>, Path(name): Path<String>) -> Answered {
    match service.engine.call(&name, Call::Snapshot).await? {
        Answer::Snapshot(bytes) => {
            Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
        }
        _ => Err(other()),
    }
}

pub(crate) async fn restore(
    State(service): State<Shared>,
    Path(name): Path<String>,
    content: Body,
) -> Answered {
    let bytes = arrived(content, LARGEST_UPLOAD).await?;
    service.engine.call(&name, Call::Restore(bytes.into())).await?;
    answered(StatusCode::OK, &Restored { restored: true })
}

pub(crate) async fn history(State(service): State<Shared>, Path(name): Path<String>) -> Answered {
    // Whether there is such a bandit.
    service.engine.call(&name, Call::Counts).await?;
    answered(StatusCode::OK, &service.history.shown(&name))
}

pub(crate) async fn audit(State(service): State<Shared>, Path(name): Path<String>) -> Answered {
    // Whether there is such a bandit.
    service.engine.call(&name, Call::Counts).await?;
    let folder = service.engine.folder.clone();
    let found = aside(move || {
        let none = || Refused::new(404, "no_logs", "this bandit has no logs to audit");
        made_from(&folder, &name).ok_or_else(none)?.audit()?.ok_or_else(none)
    });
    answered(StatusCode::OK, &found.await?.found)
}
