//! Features that turn up while rows are read: levels of categories, names of events.

use std::collections::HashMap;

use crate::error::Problem;
use crate::summary::SummaryFeature;

/// How many features may be told apart by name: sums grow with the square of it.
pub(crate) const MOST_NAMES: usize = 1000;

/// Names whose bucket is remembered, so that most features are not hashed again.
const REMEMBERED: usize = 1 << 16;

/// Numbers features in the order in which they turn up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Vocabulary {
    /// Into how many features names are hashed.
    buckets: u32,
    positions: HashMap<String, usize>,
    /// Buckets that names fell into, for names seen lately.
    remembered: HashMap<String, usize>,
    pub(crate) features: Vec<SummaryFeature>,
    /// Names and text columns are made of two parts.
    buffer: String,
    named: usize,
}

impl Vocabulary {
    pub(crate) fn new(buckets: u32) -> Self {
        Self { buckets: buckets.max(1), ..Self::default() }
    }

    /// The feature with this name, made of parts.
    pub(crate) fn named(&mut self, parts: &[&str]) -> Result<usize, Problem> {
        self.buffer.clear();
        self.buffer.extend(parts.iter().copied());
        if let Some(&position) = self.positions.get(&self.buffer) {
            return Ok(position);
        }
        if self.named == MOST_NAMES {
            return Err(Problem::TooManyFeatures(MOST_NAMES));
        }
        self.named += 1;
        Ok(self.add(self.buffer.clone()))
    }

    /// The feature that this name, made of parts, is hashed to.
    pub(crate) fn hashed(&mut self, parts: &[&str]) -> usize {
        self.buffer.clear();
        self.buffer.extend(parts.iter().copied());
        if let Some(&position) = self.remembered.get(&self.buffer) {
            return position;
        }
        let name = bucket_name(bucket(&self.buffer, self.buckets), self.buckets);
        let position = match self.positions.get(&name) {
            Some(&position) => position,
            None => self.add(name),
        };
        if self.remembered.len() >= REMEMBERED {
            self.remembered.clear();
        }
        self.features[position].add_example(&self.buffer);
        self.remembered.insert(self.buffer.clone(), position);
        position
    }

    fn add(&mut self, name: String) -> usize {
        let position = self.features.len();
        self.positions.insert(name.clone(), position);
        self.features.push(SummaryFeature { name, examples: Vec::new() });
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
fn bucket_name(bucket: u32, buckets: u32) -> String {
    let digits = buckets.saturating_sub(1).to_string().len();
    format!("#{bucket:0digits$}")
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

    #[test]
    fn names_are_counted_and_buckets_remember_examples() {
        let mut vocabulary = Vocabulary::new(2);
        assert_eq!(vocabulary.named(&["colour=", "red"]).unwrap(), 0);
        assert_eq!(vocabulary.named(&["colour=", "blue"]).unwrap(), 1);
        assert_eq!(vocabulary.named(&["colour=r", "ed"]).unwrap(), 0);
        for name in ["d", "c", "b", "a", "e", "f", "g", "h"] {
            vocabulary.hashed(&["user=", name]);
        }
        assert_eq!(vocabulary.features.len(), 4);
        let examples: Vec<usize> = vocabulary.features[2..].iter().map(|f| f.examples.len()).collect();
        assert_eq!(examples, [3, 3]);
        for i in 2..MOST_NAMES {
            vocabulary.named(&[&i.to_string()]).unwrap();
        }
        let refused = vocabulary.named(&["one too many"]).unwrap_err().to_string();
        assert_eq!(refused, "there are more than 1000 features by name; hash them");
    }
}
