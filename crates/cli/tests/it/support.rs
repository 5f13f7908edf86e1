//! Runs the binary, and makes folders to run it on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub(crate) fn truenorth(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_truenorth")).args(arguments).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Recorded problems that the project keeps.
pub(crate) fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// A copy of a recorded problem that a test may spoil; removed at the end.
pub(crate) struct Problem {
    pub(crate) folder: PathBuf,
}

impl Problem {
    pub(crate) fn copy(test: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("truenorth-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        for file in ["problem.json", "offline.csv", "rounds.jsonl"] {
            fs::copy(golden_folder().join("ellipsoidal-fixed-diagonal").join(file), folder.join(file))
                .unwrap();
        }
        Self { folder }
    }

    pub(crate) fn replace(&self, file: &str, from: &str, to: &str) {
        let path = self.folder.join(file);
        let content = fs::read_to_string(&path).unwrap();
        assert!(content.contains(from), "{file} does not contain {from:?}");
        fs::write(path, content.replacen(from, to, 1)).unwrap();
    }

    /// Exit code, and standard error with the folder's name taken out.
    pub(crate) fn replay(&self) -> (i32, String) {
        let folder = self.folder.to_str().unwrap();
        let output = truenorth(&["replay", "--problem", folder]);
        (output.status.code().unwrap(), text(&output.stderr).replace(folder, "DIR"))
    }
}

impl Drop for Problem {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
