//! A policy as bytes: versioned, checksummed, restored bit for bit.
//!
//! ```text
//! "truenorth"   9 bytes
//! version       u32, little endian
//! checksum      u32, CRC-32 of the payload
//! payload       the policy in postcard's encoding (floats as their eight bytes)
//! ```

use crate::error::{Error, Result};
use crate::policy::{Policy, Unchecked};

const MAGIC: &[u8; 9] = b"truenorth";
const VERSION: u32 = 2;
const HEADER: usize = MAGIC.len() + 8;

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
    ///
    /// # Panics
    ///
    /// Never: the encoding of a policy into memory has no way to fail.
    pub fn snapshot(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend([0; 4]);
        let mut bytes = postcard::to_extend(self, bytes).expect("plain data has an encoding");
        let checksum = crc32fast::hash(&bytes[HEADER..]);
        bytes[HEADER - 4..HEADER].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Continues from a snapshot.
    pub fn restore(snapshot: &[u8]) -> Result<Self> {
        let Some((header, payload)) = snapshot.split_at_checked(HEADER) else {
            return Err(Error::NotASnapshot { reason: "it is too short" });
        };
        let (magic, numbers) = header.split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(Error::NotASnapshot { reason: "it does not start with \"truenorth\"" });
        }
        let number =
            |at: usize| u32::from_le_bytes([numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]]);
        let (found, checksum) = (number(0), number(4));
        if found != VERSION {
            return Err(Error::SnapshotVersion { found, supported: VERSION });
        }
        if crc32fast::hash(payload) != checksum {
            return Err(Error::SnapshotDamaged {
                reason: "its checksum does not match its content".to_owned(),
            });
        }
        let damaged = |reason: String| Error::SnapshotDamaged { reason };
        let read: Unchecked = postcard::from_bytes(payload).map_err(|error| damaged(error.to_string()))?;
        Self::try_from(read)
    }
}
