//! Which files names and globs stand for.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::error::{Problem, Result};

/// Files from names and globs, in the order of the call, those of a glob by name; none of them twice.
pub fn expand(patterns: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for pattern in patterns {
        let text = pattern.to_string_lossy();
        // A file may have such a name itself.
        if !text.contains(['*', '?', '[']) || pattern.exists() {
            paths.push(pattern.clone());
            continue;
        }
        let wrong = |reason: &str| Problem::other(reason).in_file(pattern);
        let found = glob::glob(&text).map_err(|error| wrong(&error.to_string()))?;
        let before = paths.len();
        for path in found {
            let path = path.map_err(|error| {
                let folder = error.path().to_owned();
                Problem::Unreadable(error.into()).in_file(&folder)
            })?;
            if path.is_file() {
                paths.push(path);
            }
        }
        if paths.len() == before {
            return Err(wrong("no file has such a name"));
        }
    }
    let mut seen = HashSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    Ok(paths)
}
