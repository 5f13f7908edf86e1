//! `truenorth bounds` and `reproduce hardness`: numbers, refusals, shapes.

use insta::assert_snapshot;
use serde_json::Value;

use crate::support::{Scratch, golden_folder, linear_table, text, truenorth};

fn says(arguments: &[&str]) -> String {
    let output = truenorth(arguments);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    text(&output.stderr).replace(golden_folder().to_str().unwrap(), "GOLDEN")
}

#[test]
fn a_problem_is_bounded_before_it_is_played() {
    let folder = golden_folder().join("ellipsoidal-fixed-diagonal");
    let output = truenorth(&["bounds", "problem", folder.to_str().unwrap()]);
    assert_snapshot!(text(&output.stdout), @r"
    before play  c_align  rho sqrt(c)  beta_off  envelope  Theorem 2  online alone  C_SL rate
    problem        0.798         1.26      1.64      1.02        787         4,048      2,806
    ");
    let flat = golden_folder().join("flat-discounted");
    assert_snapshot!(says(&["bounds", "problem", flat.to_str().unwrap()]), @"truenorth: GOLDEN/flat-discounted/problem.json: the bounds before play need a layered policy with full pooling and a fixed certificate");
}

#[test]
fn the_lower_bound_names_its_subset() {
    let arguments =
        ["bounds", "lower", "--horizon", "10000", "--counts", "100,100,0", "--budgets", "0.1,0.1,0.5"];
    let output = truenorth(&[&arguments[..], &["--smallest-subset", "2", "--json"]].concat());
    let bound: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((bound["subset"].to_string(), bound["exact"].as_bool()), ("[0,1,2]".to_owned(), Some(true)));
    // Ψ({1, 2, 3}) by hand: N = 200, v = 0.1: √(3·10⁸/10200) + min(200·10⁴/10200·0.1, √(3·200·10⁴/10200)).
    let hardness = (3e8f64 / 10_200.0).sqrt() + (2e6f64 / 10_200.0 * 0.1).min((6e6f64 / 10_200.0).sqrt());
    // That is 191, and the theorem caps it at √(dT) = √30000.
    assert!((bound["hardness"].as_f64().unwrap() - hardness.min(30_000f64.sqrt())).abs() < 1e-9);
    let none = truenorth(&arguments);
    assert_snapshot!(text(&none.stdout), @"no bound: the theorem speaks of at least 32 arms, and there are 3");
}

#[test]
fn measured_regret_stands_below_its_bound() {
    let output = truenorth(&["bounds", "study", "bias", "--runs", "2", "--horizon", "500", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let panels: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(panels.as_array().unwrap().len(), 5);
    for policy in panels.as_array().unwrap().iter().flat_map(|panel| panel["policies"].as_array().unwrap()) {
        let number = |key: &str| policy[key].as_f64().unwrap();
        assert!(number("mean_regret") <= number("largest_regret"));
        assert!(number("largest_regret") < number("layerwise_bound"));
        assert!(number("layerwise_bound") <= number("coarse_bound"));
        assert_eq!(policy["runs_above_bound"], 0);
    }
}

#[test]
fn bounds_of_a_summary_are_those_of_its_audit() {
    let scratch = Scratch::new();
    scratch.write("logs.csv", linear_table(&["x", "y"], &[1.0, 0.5], 400, 1));
    scratch.write("live.csv", linear_table(&["x", "y"], &[1.0, -0.5], 200, 2));
    scratch.prints("summarize logs.csv --features x,y --reward reward -o logs.tn");
    for level in ["0.05", "0.2"] {
        let call = format!("audit logs.tn --pilot live.csv --level {level} --certificate c.toml --json");
        let audit: Value = serde_json::from_str(&scratch.prints_and_says(&call).0).unwrap();
        let delta = if level == "0.05" { String::new() } else { format!("--delta {level}") };
        let bounds = scratch.json(&format!("bounds summary logs.tn --certificate c.toml {delta}"));
        for (own, audits) in [("spectral_bound", "with_logs"), ("online_bound", "without_logs")] {
            let (own, audits) = (bounds[own].as_f64().unwrap(), audit["bounds"][audits].as_f64().unwrap());
            assert!((own / audits - 1.0).abs() < 1e-9, "{own} {audits}");
        }
    }
}

#[test]
fn what_cannot_be_bounded_is_refused_before_it_is_played() {
    assert_snapshot!(says(&["bounds", "study", "main", "--constant=-1"]), @"truenorth: `--constant` must be at least 1e-50 and at most 1e50, but is -1");
    assert_snapshot!(says(&["bounds", "study", "main", "--horizon", "1"]), @"truenorth: `--horizon` must be at least 2, but is 1");
    assert_snapshot!(says(&["bounds", "study", "main", "--runs", "18446744073709551615"]), @"truenorth: `--runs` must be at most 1000000, but is 18446744073709552000");
    assert!(says(&["bounds", "study", "mian"]).contains("the studies are main, bias, ablation, coverage"));
}

#[test]
fn hardness_takes_no_flags_of_the_other_studies() {
    for flags in [
        &["--horizon", "10"][..],
        &["--policies", "oful"],
        &["--as-printed"],
        &["--certificate", "isotropic"],
    ] {
        let message = says(&[&["reproduce", "hardness"], flags].concat());
        assert!(message.contains(&format!("{} does not go with hardness", flags[0])), "{message}");
    }
    assert_snapshot!(says(&["reproduce", "hardness", "--runs", "0"]), @"truenorth: `--runs` must be at least 1, but is 0");
}

#[test]
fn hardness_draws_both_lower_bounds_below_every_policy() {
    let folder = std::env::temp_dir().join(format!("truenorth-hardness-{}", std::process::id()));
    let output =
        truenorth(&["reproduce", "hardness", "--runs", "1", "--json", "--out", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let studies: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(studies.as_array().unwrap().len(), 5);
    for point in studies.as_array().unwrap().iter().flat_map(|study| study["points"].as_array().unwrap()) {
        assert!(point["bound"].as_f64().unwrap() > 0.0 && !point["measured"].as_array().unwrap().is_empty());
    }
    for name in ["impossibility.svg", "lower-bound.svg", "hardness.json"] {
        assert!(folder.join(name).exists(), "{name}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
