//! Features by their names: those that are known, and those that turn up.

use std::fmt;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// How many features may be told apart by name where logs are summed up: sums grow with the square of it.
pub const MOST_NAMES: usize = 1000;

/// How many names a bucket of the hash is remembered by.
pub(crate) const EXAMPLES: usize = 3;

/// A feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feature {
    /// The field, `field=level`, products of these with `:` between them, or `#bucket`.
    pub name: String,
    /// For a bucket of the hash: names that fell into it, at most three.
    pub examples: Vec<String>,
}

impl Feature {
    /// A feature that nothing was hashed into.
    pub fn new(name: String) -> Self {
        Self { name, examples: Vec::new() }
    }

    /// Remembers a name that fell into the bucket; of many, the first in the alphabet.
    pub fn add_example(&mut self, name: &str) {
        if let Err(place) = self.examples.binary_search_by(|other| other.as_str().cmp(name)) {
            self.examples.insert(place, name.to_owned());
            self.examples.truncate(EXAMPLES);
        }
    }

    /// The name for people: a bucket of the hash with what fell into it.
    pub fn label(&self) -> String {
        match self.examples.as_slice() {
            [] => self.name.clone(),
            examples => format!("{} ({})", self.name, examples.join(", ")),
        }
    }
}

/// What becomes of a feature that is not known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joining {
    /// It joins; one too many by name is an error.
    UpTo(usize),
    /// It joins, until there are so many; then it shares a feature `term=other`.
    Sharing(usize),
    /// It is counted and left out.
    Never,
}

/// Names of features that may not join, as far as they are kept.
const MOST_UNSEEN: usize = 20;

/// Numbers features in the order in which they turn up.
#[derive(Debug, Clone)]
pub(crate) struct Vocabulary {
    pub(crate) features: Vec<Feature>,
    positions: FxHashMap<String, u32>,
    joining: Joining,
    /// Features that have joined by name, without buckets.
    named: usize,
    /// The first of those that may not join.
    pub(crate) unseen: Vec<String>,
}

impl Vocabulary {
    pub(crate) fn new(features: Vec<Feature>, joining: Joining) -> Self {
        let positions = features.iter().map(|feature| feature.name.clone()).zip(0..).collect();
        Self { features, positions, joining, named: 0, unseen: Vec::new() }
    }

    /// The feature of this name, which a term has made; none if it may not join.
    pub(crate) fn find(&mut self, name: &str, bucket: bool, term: &dyn fmt::Display) -> Result<Option<u32>> {
        if let Some(&position) = self.positions.get(name) {
            return Ok(Some(position));
        }
        match self.joining {
            Joining::Never => {
                if self.unseen.len() < MOST_UNSEEN && !self.unseen.iter().any(|known| known == name) {
                    self.unseen.push(name.to_owned());
                }
                return Ok(None);
            }
            Joining::UpTo(most) if self.named >= most && !bucket => return Err(Error::TooManyFeatures(most)),
            Joining::Sharing(most) if self.features.len() >= most => {
                let other = format!("{term}=other");
                return Ok(Some(match self.positions.get(&other) {
                    Some(&position) => position,
                    None => self.add(other),
                }));
            }
            _ => {}
        }
        self.named += usize::from(!bucket);
        Ok(Some(self.add(name.to_owned())))
    }

    /// Whether a feature is shared by all that could not join.
    pub(crate) fn is_shared(&self, feature: u32) -> bool {
        matches!(self.joining, Joining::Sharing(_))
            && self.features[feature as usize].name.ends_with("=other")
    }

    /// Forgets all features but the first so many.
    pub(crate) fn truncate(&mut self, features: usize) {
        if features < self.features.len() {
            for feature in self.features.drain(features..) {
                self.positions.remove(&feature.name);
            }
            self.named = self.named.min(features);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "far fewer features fit into memory")]
    fn add(&mut self, name: String) -> u32 {
        let position = self.features.len() as u32;
        self.positions.insert(name.clone(), position);
        self.features.push(Feature::new(name));
        position
    }
}

/// The bucket of a name: 64-bit FNV-1a of its UTF-8 bytes, upper half folded onto the lower, modulo the
/// number of buckets. Part of the interface: live features are hashed by other programs, too.
pub fn bucket(name: &str, buckets: u32) -> u32 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let folded = hash ^ (hash >> 32);
    u32::try_from((folded & 0xffff_ffff) % u64::from(buckets.max(1))).unwrap_or(0)
}

/// What the feature of a bucket is called; names of one hash sort as their numbers do.
pub(crate) fn bucket_name(prefix: &str, bucket: u32, buckets: u32) -> String {
    let digits = buckets.saturating_sub(1).to_string().len();
    format!("{prefix}#{bucket:0digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_documented_one() {
        // FNV-1a of "" is the offset basis, of "a" 0xaf63dc4c8601ec8c (published test vectors).
        let folded = |hash: u64| ((hash ^ (hash >> 32)) & 0xffff_ffff) % 1000;
        assert_eq!(u64::from(bucket("", 1000)), folded(0xcbf2_9ce4_8422_2325));
        assert_eq!(u64::from(bucket("a", 1000)), folded(0xaf63_dc4c_8601_ec8c));
        assert_eq!(u64::from(bucket("foobar", 1000)), folded(0x8594_4171_f739_67e8));
        assert_eq!(bucket("x", 1), 0);
    }

    #[test]
    fn buckets_are_filled_evenly() {
        let mut counts = [0; 64];
        for i in 0..64_000 {
            counts[bucket(&format!("user={i}"), 64) as usize] += 1;
        }
        // Mean 1000, standard deviation 31.
        assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
