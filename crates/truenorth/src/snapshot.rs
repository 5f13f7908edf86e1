//! A policy as bytes: versioned, checksummed, restored bit for bit.

use crate::error::{Error, Result};
use crate::frame::{Magic, Unframed, framed, unframed};
use crate::policy::{Policy, Unchecked};

const MAGIC: Magic = *b"truenorth";
const VERSION: u32 = 3;

impl Policy {
    /// The whole state, to be continued by [`restore`](Self::restore).
    ///
    /// ```
    /// use truenorth::{Actions, Observation, Policy, Preset};
    ///
    /// let mut policy = Policy::new(Preset::Oful.params(2)?)?;
    /// let choice = policy.choose(Actions::new(&[0.6, 0.8, 1.0, 0.0], 2)?)?;
    /// let mut restored = Policy::restore(&policy.snapshot())?;
    /// for policy in [&mut policy, &mut restored] {
    ///     policy.learn(Observation { decision: choice.decision, features: &[0.6, 0.8], reward: 0.5 })?;
    /// }
    /// assert_eq!(policy.snapshot(), restored.snapshot());
    /// # Ok::<(), truenorth::Error>(())
    /// ```
    pub fn snapshot(&self) -> Vec<u8> {
        framed(MAGIC, VERSION, self)
    }

    /// Continues from a snapshot.
    pub fn restore(snapshot: &[u8]) -> Result<Self> {
        let damaged = |reason: String| Error::SnapshotDamaged { reason };
        let payload = unframed(MAGIC, VERSION, snapshot).map_err(|wrong| match wrong {
            Unframed::TooShort => Error::NotASnapshot { reason: "it is too short" },
            Unframed::OtherMagic => Error::NotASnapshot { reason: "it does not start with \"truenorth\"" },
            Unframed::OtherVersion(found) => Error::SnapshotVersion { found, supported: VERSION },
            Unframed::WrongChecksum => damaged("its checksum does not match its content".to_owned()),
        })?;
        let read: Unchecked = postcard::from_bytes(payload).map_err(|error| damaged(error.to_string()))?;
        Self::try_from(read)
    }
}
