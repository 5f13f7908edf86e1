//! `truenorth verify`: is a folder of data whole?

use std::path::Path;

use crate::engine::read_snapshot;
use crate::hosted::Hosted;
use crate::store::{Store, StoreError};

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Bandits and records that were folded.
    pub bandits: usize,
    /// Records.
    pub records: i64,
    /// What is wrong, a sentence each.
    pub problems: Vec<String>,
}

/// Folds the whole journal of a folder anew, and compares it with its snapshots. It may be served meanwhile.
pub fn verify(folder: &Path) -> Result<Verified, StoreError> {
    let store = Store::look(folder)?;
    let mut found = Verified { records: store.last(), ..Verified::default() };
    found.problems.extend(store.integrity()?);
    for made in store.bandits()? {
        found.bandits += 1;
        let whole = match Hosted::restored(made.clone(), &store, None) {
            Ok(whole) => whole,
            Err(error) => {
                found.problems.push(error.to_string());
                continue;
            }
        };
        let Some(snapshot) = read_snapshot(folder, made.key).filter(|kept| kept.0 <= whole.folded) else {
            continue;
        };
        let name = made.name.clone();
        match Hosted::restored(made, &store, Some(snapshot)) {
            Ok(kept) if kept.folded == whole.folded && kept.bandit.to_bytes() != whole.bandit.to_bytes() => {
                found.problems.push(format!("the snapshot of bandit `{name}` is not what its journal gives"));
            }
            Ok(_) => {}
            Err(error) => found.problems.push(error.to_string()),
        }
    }
    Ok(found)
}
