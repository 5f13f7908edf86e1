//! What there is instead of JetStream in a build without the feature `nats`: nothing that could be opened.

use crate::api::Refused;
use crate::journal::{Result, StoreError};

pub(crate) struct Stored {
    pub(crate) sequence: u64,
    pub(crate) again: bool,
}

pub(crate) struct Come {
    pub(crate) sequence: u64,
    pub(crate) pending: u64,
    pub(crate) bandit: String,
    pub(crate) body: Vec<u8>,
}

/// Nobody has one.
#[derive(Clone)]
pub(crate) enum Jetstream {}
pub(crate) enum Messages {}

impl Messages {
    pub(crate) async fn next(&mut self) -> Option<Come> {
        match *self {}
    }
}

impl Jetstream {
    pub(crate) async fn open(servers: &str) -> Result<Self> {
        Self::addresses(servers)
    }

    pub(crate) fn addresses(servers: &str) -> Result<Self> {
        Err(StoreError(format!("{servers}: this build has no NATS; build it with the feature `nats`")))
    }

    pub(crate) async fn publish(
        &self,
        _: &str,
        _: &str,
        _: Option<u64>,
        _: Vec<u8>,
    ) -> std::result::Result<Stored, Refused> {
        match *self {}
    }

    pub(crate) async fn last(&self) -> std::result::Result<u64, Refused> {
        match *self {}
    }

    pub(crate) async fn leave(&self) {
        match *self {}
    }

    pub(crate) async fn last_of(&self, _: &str) -> std::result::Result<u64, Refused> {
        match *self {}
    }

    pub(crate) async fn find(&self, _: u64) -> std::result::Result<Option<Come>, Refused> {
        match *self {}
    }

    pub(crate) async fn behind(&self, _: u64) -> Result<Messages> {
        match *self {}
    }

    pub(crate) async fn keep(&self, _: u64, _: &[u8]) -> Result<()> {
        match *self {}
    }

    pub(crate) async fn kept(&self) -> Option<Vec<u8>> {
        match *self {}
    }
}
