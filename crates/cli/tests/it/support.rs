//! Runs the binary, and makes folders to run it on.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

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

/// A folder of its own, in which commands run; removed at the end.
pub(crate) struct Scratch(PathBuf);

static FOLDERS: AtomicUsize = AtomicUsize::new(0);

impl Scratch {
    pub(crate) fn new() -> Self {
        let (process, number) = (std::process::id(), FOLDERS.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("truenorth-scratch-{process}-{number}"));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs a call whose words are apart by spaces.
    pub(crate) fn run(&self, call: &str) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_truenorth"));
        command.current_dir(&self.0).args(call.split_whitespace()).output().unwrap()
    }

    /// What a good call prints, and what it says beside.
    pub(crate) fn prints_and_says(&self, call: &str) -> (String, String) {
        let output = self.run(call);
        let [printed, said] = [&output.stdout, &output.stderr].map(|bytes| text(bytes).to_owned());
        assert_eq!(output.status.code(), Some(0), "{call}: {said}");
        (printed, said)
    }

    /// What a good call prints that has nothing to say.
    pub(crate) fn prints(&self, call: &str) -> String {
        let (printed, said) = self.prints_and_says(call);
        assert_eq!(said, "", "{call}");
        printed
    }

    pub(crate) fn json(&self, call: &str) -> Value {
        serde_json::from_str(&self.prints(&format!("{call} --json"))).unwrap()
    }

    /// What is said to a call that fails, prints nothing and leaves all files as they are.
    fn fails(&self, call: &str, code: i32) -> String {
        let before = self.files();
        let output = self.run(call);
        let said = text(&output.stderr).to_owned();
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(code), ""), "{call}: {said}");
        assert!(self.files() == before, "{call}: files have changed");
        said
    }

    /// The one sentence that is said to a call that is wrong.
    pub(crate) fn says(&self, call: &str) -> String {
        let said = self.fails(call, 2);
        assert_eq!(said.lines().count(), 1, "{said}");
        said
    }

    /// The one sentence about work that failed.
    pub(crate) fn gives_up(&self, call: &str) -> String {
        let said = self.fails(call, 1);
        assert_eq!(said.lines().count(), 1, "{said}");
        said
    }

    /// The first line that is said to arguments that cannot be parsed.
    pub(crate) fn refuses(&self, call: &str) -> String {
        self.fails(call, 2).lines().next().unwrap().to_owned()
    }

    /// All files with their content, by name.
    fn files(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = entries.map(|path| (path.clone(), fs::read(path).ok())).collect();
        files.sort();
        files
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Random numbers that are the same in every run (xorshift).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % end
    }
}

/// Names of an object's fields, sorted.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// A table of features and a reward that is linear in them, with a little noise; four rows are a round.
pub(crate) fn linear_table(names: &[&str], coefficients: &[f64], rows: usize, seed: u64) -> String {
    let mut state = seed;
    let mut draw = || {
        // splitmix64, uniform from -1 to 1
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        2.0 * ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 1.0
    };
    let mut table = format!("round,{},reward\n", names.join(","));
    for row in 0..rows {
        let features: Vec<f64> = names.iter().map(|_| draw()).collect();
        let mean: f64 = features.iter().zip(coefficients).map(|(x, c)| x * c).sum();
        let cells: Vec<String> = features.iter().map(|x| format!("{x:.4}")).collect();
        let reward = mean + 0.1 * (draw() + draw());
        let _ = writeln!(table, "{},{},{reward:.4}", row / 4, cells.join(","));
    }
    table
}

/// Real data beside the project; none where it is absent, which is said.
pub(crate) fn shared_data() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !folder.is_dir() {
        println!("skipped: there is no folder {}", folder.display());
        return None;
    }
    Some(folder)
}
