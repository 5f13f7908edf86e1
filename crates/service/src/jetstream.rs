//! The journal of several replicas: one stream of JetStream, which stores a message before it says so and gives all of them
//! one order.
//!
//! | what | where |
//! |---|---|
//! | what happened to a bandit | subject `truenorth.BANDIT` of the stream `TRUENORTH` |
//! | states to start from | the object `states` of the bucket `TRUENORTH_STATES` |
//!
//! One stream holds all bandits: a stream has leaders to elect and files to keep, which a thousand bandits should not need a
//! thousand of. A message has an id, so that one that is sent again, because nobody said that it was stored, is stored once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::consumer::pull::{Config as PullConfig, Stream as Pulled};
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy};
use async_nats::jetstream::context::{Context, ContextBuilder, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::{self, ObjectMetadata, ObjectStore};
use async_nats::jetstream::stream::{self, ClusterInfo, LastRawMessageErrorKind, StorageType, Stream};
use async_nats::{Client, ConnectOptions, ReconnectToServer, ServerAddr};
use tokio::io::AsyncReadExt as _;
use tokio::time::{Instant, sleep};
use tokio_stream::StreamExt as _;

use crate::api::Refused;
use crate::journal::{Result, StoreError};

const STREAM: &str = "TRUENORTH";
const BUCKET: &str = "TRUENORTH_STATES";
const STATES: &str = "states";
/// How long the stream has to say that it has stored a message before it is sent again, and until that is given up: a new
/// leader is elected within this time.
const ACKNOWLEDGED: Duration = Duration::from_secs(1);
const GIVEN_UP: Duration = Duration::from_secs(8);
/// How long the stream remembers ids of messages.
const REMEMBERED: Duration = Duration::from_mins(10);
/// Copies of what is stored, where there are several servers.
const COPIES: usize = 3;
/// How long a cluster may take to be there.
const STARTED: Duration = Duration::from_secs(20);
/// How often whoever sends messages says that it is still there, and how often it is asked anew.
const HEARTBEAT: Duration = Duration::from_millis(500);
const ASKED: Duration = Duration::from_secs(10);
/// Messages that are on their way to this replica.
const TOGETHER: usize = 1000;
/// A server that says nothing is left after three of these.
const SILENT: Duration = Duration::from_secs(1);
/// How long the other nodes may not have answered a leader before it is no longer believed: it asks them every second.
const QUORUM: Duration = Duration::from_secs(3);
/// The first version of NATS whose clusters can be relied on when they are cut in two; of others the log warns. The copies of 2.9 lose count of
/// messages that were sent twice while a leader was elected, so that one of them skips what another has stored; a leader of
/// 2.10 says of the second one that the first is stored while that is still to be seen.
const CLUSTERS: (i64, i64) = (2, 11);

/// A message that is stored.
pub(crate) struct Stored {
    pub(crate) sequence: u64,
    /// Whether one with the same id was stored before, under this sequence.
    pub(crate) again: bool,
}

/// A message that has come.
pub(crate) struct Come {
    pub(crate) sequence: u64,
    /// How many wait behind it, as far as is known.
    pub(crate) pending: u64,
    pub(crate) bandit: String,
    pub(crate) body: Vec<u8>,
}

/// The messages behind one, in their order, until one is missing.
pub(crate) struct Messages {
    pulled: Pulled,
    last: u64,
}

impl Messages {
    /// The next one; none where all has to be asked for anew.
    pub(crate) async fn next(&mut self) -> Option<Come> {
        let message = self.pulled.next().await?.ok()?;
        let info = message.info().ok()?;
        if info.consumer_sequence != self.last + 1 {
            return None;
        }
        self.last += 1;
        let (sequence, pending) = (info.stream_sequence, info.pending);
        Some(Come { sequence, pending, bandit: bandit(&message.subject), body: message.payload.to_vec() })
    }
}

/// The bandit of a subject.
fn bandit(subject: &str) -> String {
    subject.strip_prefix("truenorth.").unwrap_or_default().to_owned()
}

/// A connection to the stream.
#[derive(Clone)]
pub(crate) struct Jetstream {
    client: Client,
    context: Context,
    stream: Stream,
    objects: ObjectStore,
}

fn failed(what: &str) -> impl Fn(&dyn std::fmt::Display) -> StoreError {
    move |error| StoreError(format!("{what}: {error}"))
}

impl Jetstream {
    /// Those of servers such as `nats://one:4222,two:4222`.
    pub(crate) fn addresses(servers: &str) -> Result<Vec<ServerAddr>> {
        let wrong = failed(servers);
        let listed = servers.strip_prefix("nats://").or_else(|| servers.strip_prefix("tls://"));
        let Some(listed) = listed else {
            return Err(wrong(&"a journal is `nats://HOST:PORT[,HOST:PORT..]`, or `tls://..`"));
        };
        let scheme = &servers[..servers.len() - listed.len()];
        let addresses: std::result::Result<Vec<ServerAddr>, _> =
            listed.split(',').map(|server| format!("{scheme}{server}").parse()).collect();
        addresses.map_err(|error| wrong(&error))
    }

    /// Connects to servers, and makes the stream if it is not there.
    pub(crate) async fn open(servers: &str) -> Result<Self> {
        let (wrong, addresses) = (failed(servers), Self::addresses(servers)?);
        let tried = AtomicUsize::new(0);
        let options = ConnectOptions::new()
            .name("truenorth")
            // A server that is not there yet is waited for, as a stream is.
            .retry_on_initial_connect()
            .connection_timeout(Duration::from_secs(2))
            .ping_interval(SILENT)
            .reconnect_delay_callback(|attempts| Duration::from_millis((attempts as u64 * 50).min(500)))
            // One after the other, those that the first one has told of too.
            .reconnect_to_server_callback(move |servers, _| {
                let next = tried.fetch_add(1, Ordering::Relaxed) % servers.len().max(1);
                let addr = servers.get(next).map(|server| server.addr.clone());
                async { addr.map(|addr| ReconnectToServer { addr, delay: None }) }
            });
        let client = options.connect(addresses).await.map_err(|error| wrong(&error))?;
        let context = ContextBuilder::new()
            .timeout(ACKNOWLEDGED)
            .ack_timeout(ACKNOWLEDGED)
            .max_ack_inflight(1 << 16)
            .build(client.clone());
        let (stream, objects) = made(&context).await.map_err(|why| match client.connection_state() {
            State::Connected => wrong(&why),
            _ => wrong(&"no server answers there"),
        })?;
        let (info, (major, minor)) = (client.server_info(), CLUSTERS);
        if info.cluster.is_some() && !client.is_server_compatible(major, minor, 0) {
            tracing::warn!(
                "{servers}: nodes of NATS {} can come to hold different messages when their network is cut, and replicas \
                 with them: take {major}.{minor} or later",
                info.version
            );
        }
        Ok(Self { client, context, stream, objects })
    }

    /// Stores a message, once, whatever happens on the way. `expected` is the last one of the same bandit that the sender
    /// knows of, where it matters that there is none behind it.
    pub(crate) async fn publish(
        &self,
        bandit: &str,
        id: &str,
        expected: Option<u64>,
        body: Vec<u8>,
    ) -> std::result::Result<Stored, Refused> {
        let start = Instant::now();
        let mut message = PublishMessage::build().payload(body.into()).message_id(id);
        if let Some(sequence) = expected {
            message = message.expected_last_subject_sequence(sequence);
        }
        loop {
            let sent = self.context.send_publish(format!("truenorth.{bandit}"), message.clone()).await;
            let error = match sent {
                Ok(stored) => match stored.await {
                    Ok(ack) => return Ok(Stored { sequence: ack.sequence, again: ack.duplicate }),
                    Err(error) => error,
                },
                Err(error) => error,
            };
            match error.kind() {
                PublishErrorKind::WrongLastSequence => {
                    let message = "another replica has changed this bandit meanwhile";
                    return Err(Refused::new(409, "conflict", message));
                }
                PublishErrorKind::MaxPayloadExceeded => {
                    let message =
                        "the call is larger than a message of the stream may be: raise NATS' max_payload";
                    return Err(Refused::new(413, "too_large", message));
                }
                _ if start.elapsed() > GIVEN_UP => return Err(unreachable(&error)),
                _ => sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// The last message that is stored, by the word of a leader who has a quorum.
    pub(crate) async fn last(&self) -> std::result::Result<u64, Refused> {
        let info = self.stream.get_info().await.map_err(|error| unreachable(&error))?;
        if info.cluster.is_some_and(|cluster| !leads(&cluster)) {
            return Err(unreachable(&"whoever answers has no quorum"));
        }
        Ok(info.state.last_sequence)
    }

    /// Goes to the next node, if this one is there but of no use.
    pub(crate) async fn leave(&self) {
        if self.client.connection_state() == State::Connected {
            // Where this cannot be asked for, the service is about to stop.
            let _ = self.client.force_reconnect().await;
        }
    }

    /// The last message of a bandit that is stored; 0 if there is none.
    pub(crate) async fn last_of(&self, bandit: &str) -> std::result::Result<u64, Refused> {
        match self.stream.get_last_raw_message_by_subject(&format!("truenorth.{bandit}")).await {
            Ok(message) => Ok(message.sequence),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(0),
            Err(error) => Err(unreachable(&error)),
        }
    }

    /// One message, if it is stored.
    pub(crate) async fn find(&self, sequence: u64) -> std::result::Result<Option<Come>, Refused> {
        match self.stream.get_raw_message(sequence).await {
            Ok(message) => Ok(Some(Come {
                sequence,
                pending: 0,
                bandit: bandit(&message.subject),
                body: message.payload.to_vec(),
            })),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(unreachable(&error)),
        }
    }

    /// The messages behind a sequence, as they come.
    pub(crate) async fn behind(&self, sequence: u64) -> Result<Messages> {
        let config = PullConfig {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: sequence + 1 },
            ack_policy: AckPolicy::None,
            inactive_threshold: 3 * ASKED,
            memory_storage: true,
            num_replicas: 1,
            ..PullConfig::default()
        };
        let wrong = failed("the stream cannot be followed");
        if self.client.connection_state() != State::Connected {
            // What is asked for meanwhile would be sent later, and all of it at once.
            return Err(wrong(&"there is no connection"));
        }
        let consumer = self.stream.create_consumer(config).await.map_err(|error| wrong(&error))?;
        let asked =
            consumer.stream().heartbeat(HEARTBEAT).expires(ASKED).max_messages_per_batch(TOGETHER).messages();
        Ok(Messages { pulled: asked.await.map_err(|error| wrong(&error))?, last: 0 })
    }

    /// Keeps the states after a message, whole or not at all, unless later ones are kept.
    pub(crate) async fn keep(&self, sequence: u64, states: &[u8]) -> Result<()> {
        let kept = self.objects.info(STATES).await.ok().and_then(|info| info.description);
        if kept.is_some_and(|kept| kept.parse().is_ok_and(|kept: u64| kept >= sequence)) {
            return Ok(());
        }
        let mut states = states;
        let description = Some(sequence.to_string());
        let named = ObjectMetadata { name: STATES.to_owned(), description, ..ObjectMetadata::default() };
        let kept = self.objects.put(named, &mut states).await;
        kept.map(drop).map_err(|error| failed("the states cannot be kept")(&error))
    }

    /// The states that were kept last, if they can be read: they only shorten the fold.
    pub(crate) async fn kept(&self) -> Option<Vec<u8>> {
        let mut object = self.objects.get(STATES).await.ok()?;
        let mut states = Vec::new();
        object.read_to_end(&mut states).await.ok()?;
        Some(states)
    }
}

/// Whether an answer is that of a leader whom a majority has answered lately. A node that knows of no leader answers too, with
/// what it has itself, and so does a leader that does not know yet that it is cut off.
fn leads(cluster: &ClusterInfo) -> bool {
    let answered = cluster.replicas.iter().filter(|node| !node.offline && node.active < QUORUM).count();
    let nodes = cluster.replicas.len() + 1;
    cluster.leader.is_some() && answered + 1 > nodes / 2
}

/// The stream and the bucket, made unless they are there.
async fn made(context: &Context) -> std::result::Result<(Stream, ObjectStore), String> {
    let start = Instant::now();
    let mut copies = COPIES;
    loop {
        let config = stream::Config {
            name: STREAM.to_owned(),
            subjects: vec!["truenorth.*".to_owned()],
            storage: StorageType::File,
            num_replicas: copies,
            duplicate_window: REMEMBERED,
            ..stream::Config::default()
        };
        let why = match context.get_or_create_stream(config).await {
            Ok(stream) => match bucket(context, copies).await {
                Ok(objects) => return Ok((stream, objects)),
                Err(why) => why,
            },
            Err(error) => error.to_string(),
        };
        // One server alone keeps one copy; a cluster that is starting is waited for.
        if why.contains("non-clustered") {
            copies = 1;
        } else if start.elapsed() > STARTED {
            return Err(format!("there is no stream {STREAM}, and none can be made: {why}"));
        } else {
            sleep(Duration::from_millis(250)).await;
        }
    }
}

async fn bucket(context: &Context, copies: usize) -> std::result::Result<ObjectStore, String> {
    if let Ok(objects) = context.get_object_store(BUCKET).await {
        return Ok(objects);
    }
    let config = object_store::Config {
        bucket: BUCKET.to_owned(),
        storage: StorageType::File,
        num_replicas: copies,
        ..object_store::Config::default()
    };
    context.create_object_store(config).await.map_err(|error| error.to_string())
}

fn unreachable(error: &dyn std::fmt::Display) -> Refused {
    Refused::unavailable(format!(
        "the stream has no quorum or cannot be reached ({error}); nothing is promised, ask again with the same id"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a node says of the stream, and the others of which it has heard so many milliseconds ago.
    fn said(leader: Option<&str>, heard: &[(u64, bool)]) -> ClusterInfo {
        let others = heard.iter().map(|(ago, offline)| {
            format!(r#"{{"name":"n","current":true,"active":{},"offline":{offline}}}"#, ago * 1_000_000)
        });
        let others = others.collect::<Vec<_>>().join(",");
        let leader = leader.map_or_else(String::new, |leader| format!(r#""leader":"{leader}","#));
        serde_json::from_str(&format!(r#"{{{leader}"replicas":[{others}]}}"#)).unwrap()
    }

    #[test]
    fn only_a_leader_whom_a_majority_answers_is_believed() {
        assert!(leads(&said(Some("n0"), &[(900, false), (60_000, false)])));
        assert!(leads(&said(Some("n0"), &[])), "one node alone is its own majority");
        // It has been cut off, and does not know yet.
        assert!(!leads(&said(Some("n0"), &[(4_000, false), (4_100, false)])));
        // Nobody was ever heard of since the start, which is said as 0.
        assert!(!leads(&said(Some("n0"), &[(0, true), (0, true)])));
        // A node that knows of no leader lists itself with the others.
        assert!(!leads(&said(None, &[(0, false), (900, false), (900, false)])));
        assert!(!leads(&said(Some("n0"), &[(900, false), (4_000, false), (4_000, false), (4_000, false)])));
    }
}
