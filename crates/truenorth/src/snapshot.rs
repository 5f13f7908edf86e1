//! A policy as bytes: versioned, checksummed, restored bit for bit.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Reason, Result};
use crate::frame::{Magic, Unframed, framed, unframed};
use crate::policy::{Family, Policy};
use crate::round::Counts;
use crate::settings::Settings;

const MAGIC: Magic = *b"truenorth";
const VERSION: u32 = 8;

/// What a policy was made from, and what it has learned; all else follows.
#[derive(Serialize, Deserialize)]
struct State<'a> {
    settings: Cow<'a, Settings>,
    counts: Counts,
    before: Counts,
    family: Cow<'a, Family>,
    grown_from: Cow<'a, [usize]>,
    unseen: Cow<'a, [usize]>,
}

impl State<'_> {
    fn restored(self) -> Result<Policy> {
        let Self { settings, counts, before, family, grown_from, unseen } = self;
        let (settings, family) = (settings.into_owned(), family.into_owned());
        Policy::with_state(settings, counts, before, family, grown_from.into_owned(), unseen.into_owned())
    }
}

impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (settings, family) = (Cow::Borrowed(self.settings()), Cow::Borrowed(&self.family));
        let (grown_from, unseen) = (Cow::Borrowed(&*self.grown_from), Cow::Borrowed(&*self.unseen));
        let (counts, before) = (self.counts, self.before);
        State { settings, counts, before, family, grown_from, unseen }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        State::deserialize(deserializer)?.restored().map_err(serde::de::Error::custom)
    }
}

impl Policy {
    /// The whole state, to be continued by [`from_bytes`](Self::from_bytes).
    ///
    /// ```
    /// use truenorth::{Actions, Policy, Preset};
    ///
    /// let mut policy = Policy::builder(2).preset(Preset::Oful).build()?;
    /// let actions = Actions::new(&[0.6, 0.8, 1.0, 0.0], 2)?;
    /// let choice = policy.choose(actions)?;
    /// let mut restored = Policy::from_bytes(&policy.to_bytes())?;
    /// for policy in [&mut policy, &mut restored] {
    ///     policy.learn(choice.rewarded(actions, 0.5))?;
    /// }
    /// assert_eq!(policy.to_bytes(), restored.to_bytes());
    /// # Ok::<(), truenorth::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        framed(MAGIC, VERSION, self)
    }

    /// Continues from what [`to_bytes`](Self::to_bytes) gave; what another version of the format gave is refused by its
    /// number.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let damaged = |reason: String| Reason::SnapshotDamaged { reason };
        let unreadable = |error: postcard::Error| damaged(error.to_string());
        let payload = unframed(MAGIC, VERSION, bytes).map_err(|wrong| match wrong {
            Unframed::TooShort => Reason::NotASnapshot { reason: "it is too short" },
            Unframed::OtherMagic => Reason::NotASnapshot { reason: "it does not start with \"truenorth\"" },
            Unframed::OtherVersion(found) => Reason::SnapshotVersion { found, supported: VERSION },
            Unframed::WrongChecksum => damaged("its checksum does not match its content".to_owned()),
        })?;
        postcard::from_bytes::<State<'_>>(payload).map_err(unreadable)?.restored()
    }
}
