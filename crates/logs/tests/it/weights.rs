//! Events that stand for others that were dropped before they were logged.

use truenorth_logs::{Names, Plan};

use crate::brute::{Brute, same};
use crate::support::{Dice, Folder, summary};

/// A cost, three features of the action that was taken, and the share of dropped events.
fn line(cost: f64, features: [f64; 3], dropped: Option<f64>) -> String {
    let dropped = dropped.map_or(String::new(), |share| format!(",\"pdrop\":{share:?}"));
    let [x, y, z] = features;
    format!(
        "{{\"_label_cost\":{cost:?},\"_labelIndex\":1,\"c\":{{\"x\":{x:?},\"_multi\":[{{\"y\":9}},\
         {{\"y\":{y:?},\"n\":{{\"z\":{z:?}}}}}]}}{dropped}}}\n"
    )
}

fn rows(count: usize) -> Vec<(f64, [f64; 3])> {
    let mut dice = Dice(77);
    (0..count).map(|_| (dice.number(), [dice.number(), dice.number(), dice.number()])).collect()
}

/// The names are sorted: n.z, x, y.
fn brute(rows: &[(f64, [f64; 3])], weights: Vec<f64>) -> Brute {
    let features = rows.iter().map(|&(_, [x, y, z])| vec![z, x, y]).collect();
    Brute { weights, ..Brute::new(features, rows.iter().map(|row| -row.0).collect()) }
}

const PLAN: Plan = Plan {
    model: None,
    format: None,
    selection: None,
    buckets: 0,
    names: Names::Kept,
    intercept: false,
    tolerance: truenorth_logs::Tolerance {
        missing: truenorth_logs::Missing::Refuse,
        skip_malformed: false,
        range: None,
    },
    items: None,
    threads: 0,
};

#[test]
fn equal_weights_change_nothing() {
    let folder = Folder::new();
    let rows = rows(40);
    let text = |dropped| rows.iter().map(|&(cost, x)| line(cost, x, dropped)).collect::<String>();
    let plain = summary(&PLAN, &[folder.write("plain.dsjson", text(None))]);
    assert_eq!(plain.names(), ["n.z", "x", "y"]);
    brute(&rows, Vec::new()).check_tight(&plain);
    for share in [0.0, 0.5, 0.9, 0.999_999] {
        let weighted = summary(&PLAN, &[folder.write("weighted.dsjson", text(Some(share)))]);
        assert_eq!(weighted.statistic().unwrap().count(), 40);
        same(&plain.statistic().unwrap(), &weighted.statistic().unwrap());
    }
}

#[test]
fn unequal_weights_count_by_the_formula_of_kish() {
    let folder = Folder::new();
    let rows = rows(60);
    // 1 / (1 - share), over all files together.
    let shares = [0.0, 0.5, 0.75, 0.96];
    let weights: Vec<f64> = (0..60).map(|row| 1.0 / (1.0 - shares[row % 4])).collect();
    let lines: Vec<String> = rows
        .iter()
        .zip(0..)
        .map(|(&(cost, x), row): (_, usize)| line(cost, x, Some(shares[row % 4])))
        .collect();
    let paths =
        [0, 1, 2].map(|file| folder.write(&format!("{file}.dsjson"), lines[20 * file..][..20].concat()));
    let found = summary(&PLAN, &paths);
    let brute = brute(&rows, weights.clone());
    brute.check_tight(&found);
    let (sum, squares) = (weights.iter().sum::<f64>(), weights.iter().map(|w| w * w).sum::<f64>());
    let count = sum * sum / squares;
    assert!((found.statistic().unwrap().count() as f64 - count).abs() <= 0.5 && count < 30.0, "{count}");
    let mut merged = summary(&PLAN, &paths[2..]);
    merged.merge(&summary(&PLAN, &paths[..2])).unwrap();
    brute.check_tight(&merged);
}
