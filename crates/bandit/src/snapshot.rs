//! A bandit as bytes: versioned, checksummed, restored bit for bit.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use truenorth::Policy;
use truenorth::frame::{Magic, Unframed, framed, unframed};
use truenorth_features::{Feature, Recipe};

use crate::bandit::{Bandit, check_id};
use crate::error::{Error, Result};
use crate::ledger::{Closed, Ledger, Open};
use crate::parts::{Limits, check_names};
use crate::round::is_usable;
use crate::watch::Watch;

const MAGIC: Magic = *b"tn-bandit";
const VERSION: u32 = 3;

#[derive(Serialize, Deserialize)]
struct State<'a> {
    recipe: Cow<'a, Recipe>,
    features: Cow<'a, [Feature]>,
    unknown: Cow<'a, [(String, u64)]>,
    means: Cow<'a, BTreeMap<String, f64>>,
    limits: Limits,
    joined: Cow<'a, [u32]>,
    open: Vec<Cow<'a, Open>>,
    closed: Vec<Cow<'a, Closed>>,
    expired: u64,
    rows: u64,
    reward_sum: f64,
    /// As the policy writes itself, with a version of its own.
    policy: &'a [u8],
    watch: Option<Cow<'a, Watch>>,
}

/// A bandit as it was at a moment. It is soon taken, and becomes bytes while the bandit goes on.
#[derive(Debug, Clone)]
pub struct Image {
    recipe: Recipe,
    features: Vec<Feature>,
    unknown: Vec<(String, u64)>,
    means: BTreeMap<String, f64>,
    limits: Limits,
    joined: Vec<u32>,
    open: Vec<Arc<Open>>,
    closed: Vec<Arc<Closed>>,
    expired: u64,
    rows: u64,
    reward_sum: f64,
    policy: Policy,
    watch: Option<Box<Watch>>,
}

impl Image {
    /// The whole state, to be continued by [`Bandit::from_bytes`].
    pub fn to_bytes(&self) -> Vec<u8> {
        let state = State {
            recipe: Cow::Borrowed(&self.recipe),
            features: Cow::Borrowed(&self.features),
            unknown: Cow::Borrowed(&self.unknown),
            means: Cow::Borrowed(&self.means),
            limits: self.limits,
            joined: Cow::Borrowed(&self.joined),
            open: self.open.iter().map(|open| Cow::Borrowed(&**open)).collect(),
            closed: self.closed.iter().map(|closed| Cow::Borrowed(&**closed)).collect(),
            expired: self.expired,
            rows: self.rows,
            reward_sum: self.reward_sum,
            policy: &self.policy.to_bytes(),
            watch: self.watch.as_deref().map(Cow::Borrowed),
        };
        framed(MAGIC, VERSION, &state)
    }
}

impl Bandit {
    /// The whole state, to be continued by [`from_bytes`](Self::from_bytes).
    pub fn to_bytes(&self) -> Vec<u8> {
        self.image().to_bytes()
    }

    /// The whole state as it is now.
    pub fn image(&self) -> Image {
        let Self { encoder, means, policy, limits, joined, ledger, rows, reward_sum, watch, .. } = self;
        Image {
            recipe: encoder.recipe().clone(),
            features: encoder.features().to_vec(),
            unknown: encoder.unknown_fields().to_vec(),
            means: means.clone(),
            limits: *limits,
            joined: joined.clone(),
            open: ledger.open.values().cloned().collect(),
            closed: ledger.closed.iter().cloned().collect(),
            expired: ledger.expired,
            rows: *rows,
            reward_sum: *reward_sum,
            policy: policy.clone(),
            watch: watch.clone(),
        }
    }

    /// Continues from what [`to_bytes`](Self::to_bytes) gave; what another version of the format gave is refused by its
    /// number.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let payload = unframed(MAGIC, VERSION, bytes).map_err(|wrong| match wrong {
            Unframed::TooShort => Error::damaged("it is too short"),
            Unframed::OtherMagic => Error::damaged("it does not start with \"tn-bandit\""),
            Unframed::WrongChecksum => Error::damaged("its checksum does not match its content"),
            Unframed::OtherVersion(found) => Error::new(
                "other_version",
                format!("the bandit has version {found}, but this build reads version {VERSION}"),
            ),
        })?;
        let state: State<'_> = postcard::from_bytes(payload).map_err(Error::damaged)?;
        let policy = Policy::from_bytes(state.policy).map_err(Error::damaged)?;
        state.check(&policy)?;
        if state.watch.as_ref().is_some_and(|watch| !watch.is_sound(policy.dimension())) {
            return Err(Error::damaged("its parts do not fit together"));
        }
        let State { recipe, features, unknown, means, limits, joined, open, closed, watch, .. } = state;
        let watch = watch.map(Cow::into_owned).map(Box::new);
        let parts = (recipe.into_owned(), features.into_owned(), unknown.into_owned());
        let rounds = policy.counts().rounds;
        let fresh = Self::with_policy(parts, means.into_owned(), policy, limits, joined.into_owned())
            .map_err(Error::damaged)?;
        let open = open.into_iter().map(Cow::into_owned).collect();
        let closed = closed.into_iter().map(Cow::into_owned).collect();
        let ledger = Ledger::restored(limits, (open, closed, state.expired), rounds)?;
        Ok(Self { ledger, rows: state.rows, reward_sum: state.reward_sum, watch, ..fresh })
    }
}

impl State<'_> {
    /// What `choose` and `learn` rely on.
    fn check(&self, policy: &Policy) -> Result<()> {
        check_names(&self.features).map_err(Error::damaged)?;
        for id in self.open.iter().map(|open| &open.id).chain(self.closed.iter().map(|closed| &closed.id)) {
            check_id(id).map_err(Error::damaged)?;
        }
        let count = self.features.len();
        let row = |open: &Open| {
            rising(open.features.iter().map(|entry| entry.0), count)
                && open.features.iter().all(|entry| is_usable(entry.1))
                && open.decision.layer <= policy.last_layer()
        };
        let sound = rising(self.joined.iter().copied(), count)
            && self.open.iter().all(|open| row(open))
            && self.rows <= policy.counts().rewards
            && self.reward_sum.is_finite()
            && self.unknown.iter().all(|&(_, count)| count > 0 && is_count(count))
            && [policy.counts().rounds, policy.counts().rewards, self.expired].into_iter().all(is_count);
        if sound { Ok(()) } else { Err(Error::damaged("its parts do not fit together")) }
    }
}

/// Whether these are features of so many, each once and in their order.
fn rising(features: impl Iterator<Item = u32>, count: usize) -> bool {
    let mut next = 0;
    features.into_iter().all(|feature| {
        let fits = feature >= next && (feature as usize) < count;
        next = feature.saturating_add(1);
        fits
    })
}

/// Whether something can have happened so often. Counts go on by one, and must not end.
fn is_count(count: u64) -> bool {
    count < 1 << 53
}
