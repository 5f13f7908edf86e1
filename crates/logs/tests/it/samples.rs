//! Logs that others have written, where they are at hand.

use truenorth_logs::{Names, Plan};

use crate::support::shared_data;

/// A file, whether malformed events are left out, and what comes of it.
const SAMPLES: [(&str, bool, &str); 13] = [
    ("obd-bts-women-200.csv", false, "200 rows, 53 features, mean reward 0.0050"),
    ("obd-random-men-200.csv", false, "200 rows, 57 features, mean reward 0.0000"),
    (
        "obd-item_context-men.csv",
        false,
        "obd-item_context-men.csv: this is a table of items, without a column `click`: it goes beside the log it belongs to",
    ),
    (
        "vw-cb-adf-fractional-costs.txt",
        false,
        "10 rows, 8 features, mean reward -0.1000; 5 times no action has a reward, line 9",
    ),
    ("vw-cb-adf-news.txt", false, "113 rows, 11 features, mean reward 0.3628"),
    (
        "vw-cb-adf-small.txt",
        false,
        "10 rows, 8 features, mean reward -0.5000; 5 times no action has a reward, line 9",
    ),
    ("vw-dsjson-cb.json", false, "23 rows, 24 features, mean reward 0.5217"),
    ("vw-dsjson-production.json", false, "3 rows, 32 features, mean reward 0.6667"),
    (
        "vw-dsjson-ccb.json",
        false,
        "vw-dsjson-ccb.json, line 1: this is a multi-slot (ccb or slates) event: only events with one decision are read",
    ),
    (
        "vw-dsjson-ccb.json",
        true,
        "vw-dsjson-ccb.json: no row is left: 59 were left out, the first at vw-dsjson-ccb.json, line 1 (this is a multi-slot (ccb or slates) event: only events with one decision are read)",
    ),
    (
        "vw-dsjson-dangling-rewards.json",
        false,
        "vw-dsjson-dangling-rewards.json, line 8: this is not a JSON object: invalid type: sequence, expected an \
         object at column 1",
    ),
    (
        "vw-dsjson-dangling-rewards.json",
        true,
        "vw-dsjson-dangling-rewards.json: no row is left: 8 were left out, the first at vw-dsjson-dangling-rewards.json, line 1 (marked `_skipLearn`)",
    ),
    (
        "README.md",
        true,
        "README.md: the format is not clear; known endings are .csv, .tsv, .jsonl, .ndjson, .vw, .dsjson, .json (or \
         these with .gz), .parquet, .arrow, .arrows, .feather, .ipc",
    ),
];

#[test]
fn samples_are_read_or_refused_with_the_reason_and_the_line() {
    let Some(folder) = shared_data("log-samples") else { return };
    let place = format!("{}/", folder.display());
    for (name, skip_malformed, expected) in SAMPLES {
        let mut plan = Plan { names: Names::Kept, ..Plan::default() };
        plan.tolerance.skip_malformed = skip_malformed;
        let told = match plan.summarize(&[folder.join(name)], &|_| {}) {
            Ok(found) => {
                let statistic = found.statistic().unwrap();
                assert!(statistic.gram().iter().chain(statistic.moment()).all(|x| x.is_finite()));
                let (rows, features, mean) = (found.rows(), found.dimension(), found.mean_reward());
                let mut told = format!("{rows} rows, {features} features, mean reward {mean:.4}");
                for rejected in found.rejected() {
                    let line = rejected.first.replace(&place, "").replace(name, "");
                    told = format!("{told}; {} times {}{line}", rejected.rows, rejected.reason);
                }
                told
            }
            Err(error) => error.to_string().replace(&place, ""),
        };
        assert_eq!(told, expected);
    }
}
