//! A policy as bytes: versioned, checksummed, restored bit for bit.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::frame::{Magic, Unframed, framed, unframed};
use crate::policy::{Family, Policy};
use crate::round::Counts;
use crate::settings::Settings;

const MAGIC: Magic = *b"truenorth";
const VERSION: u32 = 6;

/// What a policy was made from, and what it has learned; all else follows.
#[derive(Serialize, Deserialize)]
struct State<'a> {
    settings: Cow<'a, Settings>,
    counts: Counts,
    before: Counts,
    family: Cow<'a, Family>,
    unseen: Cow<'a, [usize]>,
}

impl State<'_> {
    fn restored(self) -> Result<Policy> {
        let (settings, family, unseen) = (self.settings.into_owned(), self.family.into_owned(), self.unseen);
        Policy::with_state(settings, self.counts, self.before, family, unseen.into_owned())
    }
}

impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (settings, family) = (Cow::Borrowed(self.settings()), Cow::Borrowed(&self.family));
        let unseen = Cow::Borrowed(&*self.unseen);
        State { settings, counts: self.counts, before: self.before, family, unseen }.serialize(serializer)
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
        let damaged = |reason: String| Error::SnapshotDamaged { reason };
        let unreadable = |error: postcard::Error| damaged(error.to_string());
        let payload = unframed(MAGIC, VERSION, bytes).map_err(|wrong| match wrong {
            Unframed::TooShort => Error::NotASnapshot { reason: "it is too short" },
            Unframed::OtherMagic => Error::NotASnapshot { reason: "it does not start with \"truenorth\"" },
            Unframed::OtherVersion(found) => Error::SnapshotVersion { found, supported: VERSION },
            Unframed::WrongChecksum => damaged("its checksum does not match its content".to_owned()),
        })?;
        postcard::from_bytes::<State<'_>>(payload).map_err(unreadable)?.restored()
    }
}
