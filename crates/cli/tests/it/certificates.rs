//! `certificate.toml`: what `truenorth audit` writes, the other commands read; what is wrong is said.

use std::fs;

use insta::assert_snapshot;

use crate::support::{Scratch, golden_folder, linear_table};

const NAMES: [&str; 2] = ["x", "y"];

const EXPERIMENT: &str = r#"title = "One of two coefficients has moved"
dimension = 2
horizon = 50
runs = 2
noise = 0.1
rewards = "gaussian"
norm_bound = "truth"
policies = ["suplinucb"]

[parameters]
live = [1, 1]
drift = [0, -1]

[coverage]
diversity = 0.5

[contexts]
low = 0
high = 1

[[policy]]
name = "told"
preset = "ellipsoidal-minucb"
certificate = "certificate.toml"
"#;

const COMPARE: &str = "compare --offline logs.csv --online live.csv --features x,y --reward reward --round round \
                       --seeds 1 --policies ellipsoidal-minucb";

/// Logs, live rounds, an experiment, a problem, and the certificate for all of them.
fn filled() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("logs.csv", linear_table(&NAMES, &[1.0, 0.5], 400, 1));
    scratch.write("live.csv", linear_table(&NAMES, &[1.0, -0.5], 200, 2));
    scratch.write("experiment.toml", EXPERIMENT);
    scratch.prints("summarize logs.csv --features x,y --reward reward -o logs.tn");
    let (_, said) = scratch.prints_and_says("audit logs.tn --pilot live.csv --certificate certificate.toml");
    assert_eq!(said, "wrote certificate.toml\n");
    fs::create_dir(scratch.path("problem")).unwrap();
    let golden = golden_folder().join("ellipsoidal-fixed-diagonal/problem.json");
    let mut problem: serde_json::Value = serde_json::from_slice(&fs::read(golden).unwrap()).unwrap();
    problem["certificate"] = "../certificate.toml".into();
    scratch.write("problem/problem.json", problem.to_string());
    let rows = scratch.read("logs.csv");
    let without_round = rows.lines().map(|line| line.split_once(',').unwrap().1.to_owned() + "\n");
    scratch.write("problem/offline.csv", without_round.collect::<String>());
    let round = r#"{"actions": [[1.0, 0.0], [0.0, 1.0]], "rewards": [1.0, -0.5]}"#;
    scratch.write("problem/rounds.jsonl", format!("{round}\n{round}\n"));
    scratch
}

#[test]
fn what_an_audit_writes_is_accepted_everywhere() {
    let scratch = filled();
    let certificate = scratch.read("certificate.toml");
    assert!(certificate.contains("features = [\"x\", \"y\"]\nbudgets = ["), "{certificate}");
    assert!(
        scratch.prints(&format!("{COMPARE} --certificate certificate.toml")).contains("ellipsoidal-minucb ")
    );
    let bounds = scratch.prints("bounds summary logs.tn --certificate certificate.toml");
    assert!(bounds.starts_with("before play  c_align"), "{bounds}");
    assert_eq!(scratch.prints("replay --problem problem").lines().count(), 2);
    let (printed, _) = scratch.prints_and_says("simulate experiment.toml --out simulated");
    assert!(printed.contains("told"), "{printed}");
}

#[test]
fn its_features_may_stand_in_any_order() {
    let scratch = filled();
    let json = |certificate: &str| {
        scratch.write("certificate.toml", certificate);
        let bounds = scratch.json("bounds summary logs.tn --certificate certificate.toml");
        let replayed = scratch.prints("replay --problem problem");
        (bounds.to_string(), replayed)
    };
    let plain = json("budgets = [0.1, 1.2]\nrho = 1.0\n");
    assert_eq!(json("features = [\"y\", \"x\"]\nbudgets = [1.2, 0.1]\nrho = 1.0\n"), plain);
    assert_ne!(json("features = [\"y\", \"x\"]\nbudgets = [0.1, 1.2]\nrho = 1.0\n"), plain);
}

/// What each command says to a certificate.
fn said(content: &str) -> [String; 4] {
    let scratch = filled();
    scratch.write("certificate.toml", content);
    [
        scratch.says(&format!("{COMPARE} --certificate certificate.toml")),
        scratch.says("bounds summary logs.tn --certificate certificate.toml"),
        scratch.says("replay --problem problem").replace("problem/../", ""),
        scratch.says("simulate experiment.toml --out simulated"),
    ]
}

/// What all commands say, or all but simulated features, which have no names.
fn all_say(content: &str) -> String {
    let [first, second, third, _] = said(content);
    assert!(first == second && second == third, "{first}{second}{third}");
    first
}

#[test]
fn what_is_no_certificate_is_refused_everywhere() {
    for content in
        ["budgets = [1.0,\n", "budget = [1.0, 1.0]\n", "", "budgets = [1.0, -1.0]\n", "rho = 1.0\n"]
    {
        let [first, others @ ..] = said(content);
        assert!(others.iter().all(|other| *other == first), "{first}{others:?}");
    }
    assert_snapshot!(all_say("budgets = [1.0,\n"), @"truenorth: certificate.toml, line 1: unclosed array, expected `]`");
    assert_snapshot!(all_say("rho = 1.0\nbudgets = \"large\"\n"), @r#"truenorth: certificate.toml, line 2: invalid type: string "large", expected a sequence"#);
    assert_snapshot!(all_say("budget = [1.0, 1.0]\n"), @"truenorth: certificate.toml, line 1: unknown field `budget`, expected one of `features`, `budgets`, `matrix`, `rho`");
    assert_snapshot!(all_say(""), @"truenorth: certificate.toml: either `budgets` or `matrix` is needed");
    assert_snapshot!(all_say("matrix = [[1.0, 0.0], [0.0, 1.0]]\n"), @"truenorth: certificate.toml: `rho` is needed beside the matrix");
    assert_snapshot!(all_say("matrix = [[1.0, 0.0], [0.0]]\nrho = 1.0\n"), @"truenorth: certificate.toml: the certificate's matrix has 2 rows, but row 1 holds 1 numbers");
    assert_snapshot!(all_say("budgets = [1.0, -1.0]\n"), @"truenorth: certificate.toml: `budget` must be between 1e-20 and 1e20, but is -1");
    assert_snapshot!(all_say("budgets = [1.0, 1.0]\nrho = -1.0\n"), @"truenorth: certificate.toml: `rho` must be at least 0 and at most 1e50, but is -1");
}

#[test]
fn what_does_not_fit_the_features_is_refused() {
    let [first, second, third, simulated] = said("budgets = [1.0, 1.0, 1.0]\n");
    assert!(first == second && second == third, "{first}{second}{third}");
    assert_snapshot!(first, @"truenorth: certificate.toml: the certificate is for 3 features, but there are 2");
    assert_snapshot!(simulated, @r#"truenorth: experiment.toml, line 22: policy "told": a row of the certificate's matrix must hold 2 numbers, but holds 3"#);
    let scratch = filled();
    scratch.write("certificate.toml", "features = [\"x\", \"w\"]\nbudgets = [1.0, 1.0]\n");
    assert_snapshot!(scratch.says(&format!("{COMPARE} --certificate certificate.toml")), @"truenorth: certificate.toml: the certificate says nothing about `y`");
    assert_snapshot!(scratch.says("bounds summary logs.tn --certificate certificate.toml"), @"truenorth: certificate.toml: the certificate says nothing about `y`");
    assert_snapshot!(scratch.says("replay --problem problem"), @"truenorth: problem/../certificate.toml: the certificate says nothing about `y`");
    fs::remove_file(scratch.path("certificate.toml")).unwrap();
    assert_snapshot!(scratch.says("simulate experiment.toml --out simulated"), @"truenorth: certificate.toml: No such file or directory (os error 2)");
    assert_snapshot!(scratch.says("replay --problem problem"), @"truenorth: problem/../certificate.toml: No such file or directory (os error 2)");
    assert_snapshot!(scratch.says("bounds summary logs.csv --certificate certificate.toml"), @"truenorth: logs.csv: this is no summary; `truenorth summarize` makes one from logs");
}
