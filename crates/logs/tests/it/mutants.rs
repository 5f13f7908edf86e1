//! Files that are nearly right: they are read or refused in words, and never a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use arrow_array::{BooleanArray, Float64Array, Int32Array, StringArray};
use arrow_ipc::CompressionType;
use parquet::basic::Compression as Codec;
use truenorth_logs::{Missing, Plan, Selection};

use crate::fuzz::{SETTINGS, TARGETS, check};
use crate::support::{Dice, Folder, array, gzipped, plan, summary};

const MUTANTS: usize = 10_000;

fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

/// The seeds of a target, by name.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(corpus(target)).unwrap().map(|entry| entry.unwrap().path());
    let mut seeds: Vec<_> = files
        .map(|path| (path.file_name().unwrap().display().to_string(), std::fs::read(path).unwrap()))
        .collect();
    seeds.sort();
    seeds
}

/// Panics of the Parquet and Arrow libraries are caught; nobody needs to read about them.
fn silence() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // Threads that read files have no name.
        let thread = std::thread::current();
        if thread.name().is_some_and(|name| !name.starts_with("mutants::")) {
            before(panic);
        }
    }));
}

/// Runs a check and says what went wrong, if anything did.
fn faults(target: &str, name: &str, bytes: &[u8], setting: usize) -> Option<String> {
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| check(target, bytes, setting)));
    let late = start.elapsed() > Duration::from_secs(2);
    let panic = outcome.err().map(|panic| match panic.downcast::<String>() {
        Ok(said) => *said,
        Err(panic) => panic.downcast::<&str>().map_or_else(|_| "a panic".to_owned(), |said| said.to_string()),
    });
    let what = panic.or_else(|| late.then(|| format!("took {:?}", start.elapsed())))?;
    let kept = std::env::temp_dir().join(format!("truenorth-mutant-{target}"));
    std::fs::write(&kept, bytes).unwrap();
    Some(format!("{target}, {name}, setting {setting}: {what} (kept as {})", kept.display()))
}

#[test]
fn seeds_are_read_with_every_setting() {
    silence();
    for target in TARGETS {
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "{target}");
        for (name, bytes) in &seeds {
            for setting in 0..SETTINGS {
                assert_eq!(faults(target, name, bytes, setting), None);
            }
        }
    }
}

#[test]
fn mutants_are_read_or_refused_but_never_a_panic() {
    silence();
    let mut dice = Dice(0x7275_6e6f_7274_6821);
    let mut found = Vec::new();
    let all: Vec<_> = TARGETS.iter().map(|target| seeds(target)).collect();
    for mutant in 0..MUTANTS {
        let at = mutant % TARGETS.len();
        let (name, seed) = &all[at][dice.below(all[at].len())];
        let mut bytes = seed.clone();
        for _ in 0..=dice.below(4) {
            mutate(&mut bytes, &mut dice, &all[at]);
        }
        // Compressed bytes that are damaged are soon refused; what is inside should be damaged as well.
        if TARGETS[at] == "csv" && !bytes.starts_with(&[0x1f, 0x8b]) && dice.below(4) == 0 {
            bytes = gzipped(&bytes);
        }
        let name = format!("mutant {mutant} of {name}");
        found.extend(faults(TARGETS[at], &name, &bytes, dice.below(SETTINGS)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Changes bytes in one of many ways.
fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice, seeds: &[(String, Vec<u8>)]) {
    const WORDS: [&str; 24] = [
        "1e400",
        "-1e308",
        "1e50",
        "1e-320",
        "99999999999999999999999",
        "NaN",
        "inf",
        "-0",
        "",
        "null",
        "NA",
        "\"",
        "\"\"",
        ",",
        "|",
        ":",
        "{",
        "}",
        "\u{feff}",
        "\0",
        "\r\n",
        "\n\n",
        "shared |",
        "\\u0000",
    ];
    let at = dice.below(bytes.len());
    match dice.below(12) {
        _ if bytes.is_empty() => bytes.push(0),
        0 => bytes[at] ^= 1 << dice.below(8),
        1 => bytes[at] = u8::try_from(dice.below(256)).unwrap(),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..(at + dice.below(9)).min(bytes.len()))),
        4 => {
            let word = WORDS[dice.below(WORDS.len())];
            drop(bytes.splice(at..at, word.bytes()));
        }
        5 | 6 => {
            // A number becomes another word.
            let start = bytes.iter().skip(at).position(u8::is_ascii_digit).map_or(at, |digit| at + digit);
            let end = bytes.iter().skip(start).position(|byte| !byte.is_ascii_digit());
            let end = end.map_or(bytes.len(), |end| start + end);
            drop(bytes.splice(start..end, WORDS[dice.below(WORDS.len())].bytes()));
        }
        7 => {
            let (open, close) = [("[", "]"), ("{\"a\":", "}"), ("\"", "\""), ("(", ")")][dice.below(4)];
            let depth = dice.below(3000);
            drop(bytes.splice(at..at, (open.repeat(depth) + "1" + &close.repeat(depth)).into_bytes()));
        }
        8 | 9 => {
            let mut lines: Vec<Vec<u8>> =
                bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
            let (one, other) = (dice.below(lines.len()), dice.below(lines.len()));
            match dice.below(4) {
                0 => drop(lines.remove(one)),
                1 => lines.insert(other, lines[one].clone()),
                2 => lines.swap(one, other),
                _ => {
                    let times = dice.below(50);
                    let more = vec![lines[one].clone(); times];
                    drop(lines.splice(one..one, more));
                }
            }
            *bytes = lines.concat();
        }
        10 => {
            // Lengths and offsets of binary formats.
            let huge =
                [u64::MAX, 1 << 31, 1 << 40, u64::from(u32::MAX), 0x7fff_ffff_ffff_ffff][dice.below(5)];
            let width = [1, 2, 4, 8][dice.below(4)].min(bytes.len() - at);
            bytes[at..at + width].copy_from_slice(&huge.to_le_bytes()[..width]);
        }
        _ => {
            let other = &seeds[dice.below(seeds.len())].1;
            bytes.truncate(at);
            bytes.extend_from_slice(&other[dice.below(other.len())..]);
        }
    }
}

/// Writes the seeds that are not text.
#[test]
#[ignore = "writes into the repository"]
fn binary_seeds_are_written() {
    let folder = Folder::new();
    let columns = || {
        vec![
            ("x1", array(Float64Array::from(vec![Some(0.5), None, Some(-2.0), Some(1e3), Some(0.0)]))),
            ("x2", array(BooleanArray::from(vec![true, false, true, true, false]))),
            ("c", array(StringArray::from(vec![Some("red"), Some("blue"), None, Some("red"), Some("")]))),
            ("h", array(StringArray::from(vec!["a", "b", "c", "d", "e"]))),
            ("r", array(Int32Array::from(vec![1, 2, 3, 4, 5]))),
        ]
    };
    let numbers =
        || vec![columns()[1].clone(), ("x", array(Float64Array::from(vec![1.0; 5]))), columns()[4].clone()];
    let zstd = Codec::ZSTD(parquet::basic::ZstdLevel::default());
    // Enough of the same to be worth compressing.
    let many = || {
        let constant = |value: f64| array(Float64Array::from(vec![value; 300]));
        vec![("x1", constant(0.5)), ("x2", constant(1.0)), ("r", constant(2.0))]
    };
    let (lz4, zstd_frame) = (Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD));
    let csv = "x1,x2,c,h,r\n1,true,red,a,0.5\n,2,blue,b,0.25\n";
    let path = folder.write("a.csv", csv);
    let mut rich = plan(Selection::new("x*", "r").with_categories("c", "h"));
    rich.tolerance.missing = Missing::Mean;
    let rich = summary(&Plan { buckets: 3, intercept: true, ..rich }, &[path]);
    let events = summary(&Plan::default(), &[folder.write("a.vw", "1:1:0.5 | a b:2\n2:0:0.5 | c\n")]);
    let events_path = folder.path("events.tns");
    events.write(&events_path).unwrap();
    let rich_path = folder.path("rich.tns");
    rich.write(&rich_path).unwrap();
    for (target, name, path) in [
        ("csv", "small.csv.gz", folder.write("small.csv.gz", csv)),
        ("parquet", "plain.parquet", folder.write_parquet("a.parquet", Codec::UNCOMPRESSED, columns())),
        ("parquet", "snappy.parquet", folder.write_parquet("b.parquet", Codec::SNAPPY, columns())),
        ("parquet", "zstd-numbers.parquet", folder.write_parquet("c.parquet", zstd, numbers())),
        ("arrow", "file.arrow", folder.write_arrow("a.arrow", None, columns())),
        ("arrow", "stream.arrows", folder.write_arrow("a.arrows", None, columns())),
        ("arrow", "numbers.arrow", folder.write_arrow("b.arrow", None, numbers())),
        ("arrow", "lz4.arrow", folder.write_arrow("c.arrow", lz4, many())),
        ("arrow", "zstd.arrows", folder.write_arrow("c.arrows", zstd_frame, many())),
        ("summary", "rich.tns", rich_path),
        ("summary", "events.tns", events_path),
    ] {
        std::fs::create_dir_all(corpus(target)).unwrap();
        std::fs::copy(path, corpus(target).join(name)).unwrap();
    }
}
