//! What is done with bytes: by all fuzz targets, and by the test of mutants in `crates/logs`.

use std::io::Write as _;
use std::path::Path;

use truenorth_logs::{Format, Missing, Names, Plan, Selection, Summary, Tolerance};

/// All targets.
pub const TARGETS: [&str; 9] =
    ["csv", "jsonl", "parquet", "arrow", "vw", "dsjson", "obd", "events", "summary"];

/// How many settings there are.
pub const SETTINGS: usize = 48;

/// Reads the bytes as a file of the target's format.
///
/// # Panics
///
/// If what comes out is not finite, or cannot be written, read and merged again.
pub fn check(target: &str, bytes: &[u8], setting: usize) {
    let (ending, format) = match target {
        "csv" if bytes.starts_with(&[0x1f, 0x8b]) => (".csv.gz", Format::Csv),
        "csv" => (".csv", Format::Csv),
        "jsonl" => (".jsonl", Format::JsonLines),
        "parquet" => (".parquet", Format::Parquet),
        "arrow" => (".arrow", Format::Arrow),
        "vw" => (".vw", Format::VowpalWabbit),
        "dsjson" => (".dsjson", Format::Dsjson),
        "obd" => (".csv", Format::OpenBandit),
        "events" => (".jsonl", Format::Events),
        _ => return check_summary(bytes),
    };
    let mut file = tempfile::Builder::new().suffix(ending).tempfile().expect("a temporary file");
    file.write_all(bytes).expect("room for a small file");
    let plan = plan(format, setting);
    if let Ok(summary) = plan.summarize(&[file.path().to_owned()], &|_| {}) {
        check_finite(&summary);
        check_rows(&summary, file.path(), format);
        let again = Summary::from_bytes(&summary.to_bytes()).expect("what was written can be read");
        assert!(again == summary, "what was read is what was written");
    }
}

fn plan(format: Format, setting: usize) -> Plan {
    let tolerance = Tolerance {
        missing: [Missing::Refuse, Missing::Drop, Missing::Mean][setting % 3],
        skip_malformed: setting / 3 % 2 == 1,
        range: (setting / 6 % 2 == 1).then_some((-2.0, 5.0)),
    };
    let other = setting / 12 % 2 == 1;
    let model = setting / 24 % 2 == 1;
    let selection = match (model, other) {
        (false, false) => Selection::new("x*", "r").with_categories("c", "h"),
        // Parquet and Arrow have a faster way for columns that are all numbers.
        (false, true) => Selection::new("x*", "r"),
        (true, false) => Selection::model(Some(MODEL.parse().expect("a model")), "r").with_action("c"),
        (true, true) => Selection::model(None, "r"),
    };
    Plan {
        format: Some(format),
        selection: Some(selection),
        model: (model && !other).then(|| "0 + * + hash(*:id, 5)".parse().expect("a model")),
        buckets: 7,
        names: match (model, other) {
            (true, _) => Names::Model,
            (false, true) => Names::Kept,
            (false, false) => Names::Hashed,
        },
        intercept: other,
        tolerance,
        items: None,
        threads: 1,
    }
}

/// Every kind of term, over the columns of the seeds.
const MODEL: &str = "x* + x*:c + bins(x, 3) + spline(x, 4):c + cyclic(x, 7, 2) + hash(c:h + h, 5) + C(x)";

fn check_finite(summary: &Summary) {
    assert!(summary.scale().is_finite() && summary.mean_reward().is_finite());
    // Sums may be larger than the library takes.
    if let Ok(statistic) = summary.statistic() {
        let gram = statistic.gram();
        let mut numbers = gram.iter().chain(statistic.moment());
        assert!(numbers.all(|x| x.is_finite()) && statistic.sum_squares().is_finite());
        assert!(statistic.count() <= summary.rows());
    }
    let mut twice = summary.clone();
    twice.merge(summary).expect("a summary fits itself");
    assert_eq!(twice.names(), summary.names());
}

fn check_rows(summary: &Summary, path: &Path, format: Format) {
    if let Ok(rows) = summary.read_rows(path, Some(format), None) {
        assert_eq!(rows.features.len(), rows.rewards.len() * summary.dimension());
        assert!(rows.features.iter().chain(&rows.rewards).all(|x| x.is_finite()));
    }
}

/// Bytes as a summary, and as the payload below a header that fits it.
fn check_summary(bytes: &[u8]) {
    let payload = bytes.get(17..).unwrap_or_default();
    let checksum = crc32fast::hash(payload).to_le_bytes();
    let sealed = [&b"tnsummary"[..], &3_u32.to_le_bytes(), &checksum, payload].concat();
    for bytes in [bytes, &sealed] {
        if let Ok(summary) = Summary::from_bytes(bytes) {
            let _ = (summary.statistic(), summary.labels(), summary.scale(), summary.mean_reward());
            let mut twice = summary.clone();
            let _ = twice.merge(&summary);
            assert!(Summary::from_bytes(&summary.to_bytes()).is_ok_and(|again| again == summary));
        }
    }
}
