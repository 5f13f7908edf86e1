//! `truenorth verify`: is a folder of data whole?

use std::collections::BTreeMap;
use std::path::Path;

use crate::hosted::Hosted;
use crate::journal::{Journal, StoreError};
use crate::snapshots::{follow, restored};
use crate::store::Store;

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
    let mut found = Verified::default();
    found.problems.extend(Store::check_log(folder).err().map(|error| error.to_string()));
    let store = Store::look(folder)?;
    found.problems.extend(store.problems()?);
    let made = store.bandits()?;
    (found.bandits, found.records) = (made.len(), store.last()?);
    let (mut whole, mut kept) = (BTreeMap::new(), BTreeMap::new());
    for made in made {
        // Looked at before the journal is read, which may go on meanwhile.
        let (key, base) = (made.key, store.base(made.key)?);
        kept.insert(key, restored(folder, made.clone(), &store)?);
        whole.insert(key, Hosted::restored(made, base.as_deref())?);
    }
    for bandits in [&mut whole, &mut kept] {
        if let Err(error) = follow(bandits, &store) {
            found.problems.push(error.to_string());
            return Ok(found);
        }
    }
    for (whole, kept) in whole.values().zip(kept.values()) {
        let [whole_live, kept_live] = [whole, kept].map(Hosted::hold);
        let (Ok(whole_live), Ok(kept_live)) = (whole_live, kept_live) else { continue };
        if whole_live.folded == kept_live.folded
            && whole_live.bandit.to_bytes() != kept_live.bandit.to_bytes()
        {
            let name = &whole.name;
            found.problems.push(format!("the snapshot of bandit `{name}` is not what its journal gives"));
        }
    }
    Ok(found)
}
