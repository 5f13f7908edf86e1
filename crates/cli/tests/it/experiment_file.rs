//! Experiment files with something wrong in them: one sentence with the file, the line and the key or
//! value; exit code 2; nothing written.

use insta::assert_snapshot;

use crate::support::{Scratch, text, truenorth};

const FILE: &str = r#"title = "Two of five coefficients have moved"
dimension = 5
horizon = 100
runs = 2
noise = 0.1
rewards = "gaussian"
norm_bound = "truth"
policies = ["suplinucb", "oful"]

[parameters]
live = [1, 1, 1, 1, 1]
drift = [0.5, -0.5, 0, 0, 0]

[coverage]
diversity = 0.5

[contexts]
low = 0
high = [
    1, 1, 1,
    1, 1,
]

[[policy]]
name = "flat"
preset = "ellipsoidal-minucb"
layering = "flat"

[[panel]]
name = "as it is"

[[panel]]
name = "listed"
contexts = { features = [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]] }
[panel.coverage]
features = [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]]
counts = [10, 20]
"#;

/// What the command says to a file of these bytes.
fn answer(content: &[u8]) -> String {
    let scratch = Scratch::new();
    scratch.write("file.toml", content);
    let [file, out] = ["file.toml", "out"].map(|name| scratch.path(name).display().to_string());
    scratch.says(&format!("simulate {file} --out {out}")).replace(file.trim_end_matches("/file.toml"), "DIR")
}

/// What it says after one change of a good file.
fn says(from: &str, to: &str) -> String {
    assert_eq!(FILE.matches(from).count(), 1, "{from:?}");
    answer(FILE.replace(from, to).as_bytes())
}

#[test]
fn missing_file_is_named() {
    let output = truenorth(&["simulate", "no/such/file.toml", "--out", "no/such/folder"]);
    assert_eq!(output.status.code(), Some(2));
    assert_snapshot!(text(&output.stderr),
        @"truenorth: no/such/file.toml: No such file or directory (os error 2)");
}

#[test]
fn text_that_is_not_toml_is_shown_with_its_line() {
    assert_snapshot!(says("runs = 2", "runs ="),
        @"truenorth: DIR/file.toml, line 4: `runs =` is not TOML: expected a value, with text in quotes");
    assert_snapshot!(says("runs = 2", "horizon = 2"),
        @"truenorth: DIR/file.toml, line 4: `horizon = 2` is not TOML: duplicate key");
    assert_snapshot!(says("[coverage]", "[coverage"),
        @"truenorth: DIR/file.toml, line 14: `[coverage` is not TOML: unclosed table, expected `]`");
    assert_snapshot!(says("    1, 1,\n]", "    1, 1,"),
        @"truenorth: DIR/file.toml, line 23: `[[policy]]` is not TOML: expected a value, with text in quotes");
    assert_snapshot!(answer(b"runs = 2\ntitle = \"caf\xe9\"\n"),
        @"truenorth: DIR/file.toml, line 2: this is not UTF-8 text");
}

#[test]
fn unknown_keys_are_told_the_nearest_ones() {
    assert_snapshot!(says("horizon", "horizn"),
        @"truenorth: DIR/file.toml, line 3: there is no key `horizn`; did you mean `horizon`?");
    assert_snapshot!(says("diversity", "diversty"),
        @"truenorth: DIR/file.toml, line 15: there is no key `diversty` in `coverage`; did you mean `diversity`?");
    assert_snapshot!(says("layering", "layers"),
        @"truenorth: DIR/file.toml, line 27: there is no key `layers` in `policy`; did you mean `layering`?");
    assert_snapshot!(answer(b"\"ru\\nns\" = 1\n"),
        @"truenorth: DIR/file.toml, line 1: there is no key `ru ns`; did you mean `runs`?");
    assert_snapshot!(says("diversity", "colour"),
        @"truenorth: DIR/file.toml, line 15: there is no key `colour` in `coverage`; the keys here are `diversity`, `low`, `high`, `features`, `counts`, `kind`");
    assert_snapshot!(says("diversity = 0.5", "diversity = 0.5\nlog_rows = 10"),
        @"truenorth: DIR/file.toml, line 16: there is no key `log_rows` in `coverage`; it belongs above all [headers], or below a [[panel]]");
    assert_snapshot!(says("name = \"listed\"", "name = \"listed\"\ntitle = \"x\""),
        @"truenorth: DIR/file.toml, line 34: there is no key `title` in `panel`; the keys here are `actions`, `contexts`, `coverage`, `delta`, `dimension`, `horizon`, `log_rows`, `noise`, `norm_bound`, `parameters`, `policies`, `policy`, `rewards`, `ridge`, `runs`, `seed`, `name`");
}

#[test]
fn numbers_out_of_range_are_named_with_their_own_line() {
    assert_snapshot!(says("runs = 2", "runs = 0"),
        @"truenorth: DIR/file.toml, line 4: `runs` must be a whole number from 1 to 1000000, but is 0");
    assert_snapshot!(says("noise = 0.1", "noise = -1"),
        @"truenorth: DIR/file.toml, line 5: `noise` must be a number from 0 to 1e50, but is -1");
    assert_snapshot!(says("horizon = 100", "horizon = 0"),
        @"truenorth: DIR/file.toml, line 3: `horizon` must be a whole number of at least 1, but is 0");
    assert_snapshot!(says("runs = 2", "delta = 1"),
        @"truenorth: DIR/file.toml, line 4: `delta` must be a number strictly between 0 and 1, but is 1");
    assert_snapshot!(says("runs = 2", "ridge = nan"),
        @"truenorth: DIR/file.toml, line 4: `ridge` must be a number from 1e-50 to 1e50, but is nan");
    assert_snapshot!(says("\"truth\"", "-2"),
        @r#"truenorth: DIR/file.toml, line 7: `norm_bound` must be "truth" or a number from 0 to 1e50, but is -2"#);
    assert_snapshot!(says("drift = [0.5, -0.5, 0, 0, 0]", "drift = [\n0.5,\ninf, 0, 0, 0]"),
        @"truenorth: DIR/file.toml, line 14: an entry of `drift` must be a number of at most 1e50 in size, but is inf");
    assert_snapshot!(says("    1, 1,\n", "    1, -1,\n"),
        @"truenorth: DIR/file.toml, line 21: `high` must be at least `low`, but is -1 for feature 4, and `low` is 0");
    assert_snapshot!(answer(b"contexts.phases = 6\n"),
        @"truenorth: DIR/file.toml, line 1: `phases` must be a whole number from 1 to 5, but is 6");
    assert_snapshot!(answer(b"[contexts]\nphases = 2\nphase_rounds = 0\n"),
        @"truenorth: DIR/file.toml, line 3: `phase_rounds` must be a whole number of at least 1, but is 0");
    assert_snapshot!(answer(b"contexts.quiet = 0.5\n"),
        @"truenorth: DIR/file.toml, line 1: `contexts` needs a `phases`");
    assert_snapshot!(answer(b"contexts.spread = -1\n"),
        @"truenorth: DIR/file.toml, line 1: `spread` must be a number from 0 to 1e50, but is -1");
    assert_snapshot!(says("name = \"as it is\"", "name = \"as it is\"\nseed = -7"),
        @"truenorth: DIR/file.toml, line 31: `seed` must be a whole number of at least 0, but is -7");
}

#[test]
fn values_of_a_wrong_type_are_named_with_what_they_are() {
    assert_snapshot!(says("runs = 2", "runs = 2.5"),
        @"truenorth: DIR/file.toml, line 4: `runs` must be a whole number from 1 to 1000000, but is 2.5");
    assert_snapshot!(says("noise = 0.1", "noise = \"high\""),
        @r#"truenorth: DIR/file.toml, line 5: `noise` must be a number from 0 to 1e50, but is "high""#);
    assert_snapshot!(says("drift = [0.5, -0.5, 0, 0, 0]", "drift = true"),
        @"truenorth: DIR/file.toml, line 12: `drift` must be a list of numbers, or one number for all features, but is true");
    assert_snapshot!(says("low = 0", "low = [0, 0, 0, 0, \"0\"]"),
        @r#"truenorth: DIR/file.toml, line 18: an entry of `low` must be a number of at most 1e50 in size, but is "0""#);
    assert_snapshot!(says("[\"suplinucb\", \"oful\"]", "\"suplinucb\""),
        @r#"truenorth: DIR/file.toml, line 8: `policies` must be a list, but is "suplinucb""#);
    assert_snapshot!(says("[[policy]]", "[policy]"),
        @"truenorth: DIR/file.toml, line 24: `policy` must be given as [[policy]] tables, but is a table");
    assert_snapshot!(answer(b"coverage = 3\n"),
        @"truenorth: DIR/file.toml, line 1: `coverage` must be given as a [coverage] table, but is 3");
    assert_snapshot!(answer(b"contexts.features = [1]\n"),
        @"truenorth: DIR/file.toml, line 1: an entry of `features` must be a list of numbers, but is 1");
}

#[test]
fn vectors_of_a_wrong_length_are_named() {
    assert_snapshot!(says("live = [1, 1, 1, 1, 1]", "live = [1, 1, 1, 1]"),
        @"truenorth: DIR/file.toml, line 11: `live` must hold 5 numbers (`dimension`), but holds 4");
    let features = "features = [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]]\ncounts";
    assert_snapshot!(says(features, "features = [\n[1, 0, 0, 0, 0],\n[0, 1]]\ncounts"),
        @"truenorth: DIR/file.toml, line 38: an entry of `features` must hold 5 numbers (`dimension`), but holds 2");
    assert_snapshot!(says("counts = [10, 20]", "counts = [10]"),
        @"truenorth: DIR/file.toml, line 37: `counts` must hold 2 numbers, one for each vector in `features`, but holds 1");
}

#[test]
fn policies_and_switches_that_do_not_exist_are_named() {
    assert_snapshot!(says("\"oful\"", "\"ofull\""),
        @r#"truenorth: DIR/file.toml, line 8: there is no policy named "ofull"; the names are truenorth, truenorth-confidence, truenorth-sampling, suplinucb, ellipsoidal-minucb, ellipsoidal-minucb-3d, warm-suplinucb, warm-lin-ucb, warm-greedy, offline-only, pooled-only, oful, lin-ucb, lin-ts, greedy, epsilon-greedy, min-ucb"#);
    assert_snapshot!(says("layering = \"flat\"", "layering = \"flt\""),
        @r#"truenorth: DIR/file.toml, line 27: `layering` must be `layered` or `flat`, but is "flt""#);
    assert_snapshot!(says("layering = \"flat\"", "branches = \"all\""),
        @r#"truenorth: DIR/file.toml, line 27: `branches` must be one of `online`, `both`, `pooled`, `warm`, `offline`, `arms`, but is "all""#);
    assert_snapshot!(says("layering = \"flat\"", "certificate = \"fixed\""),
        @r#"truenorth: DIR/file.toml, line 27: `certificate` must be one of `coordinate`, `isotropic`, `learned`, `adaptive`, `trivial`, but is "fixed""#);
    assert_snapshot!(says("rewards = \"gaussian\"", "rewards = \"normal\""),
        @r#"truenorth: DIR/file.toml, line 6: `rewards` must be `gaussian` or `bernoulli`, but is "normal""#);
    assert_snapshot!(says("diversity", "kind = \"boxes\"\ndiversity"),
        @r#"truenorth: DIR/file.toml, line 15: `kind` must be one of `gaussian`, `box`, `counts`, but is "boxes""#);
}

#[test]
fn widths_and_ways_to_explore_that_do_not_exist_are_named() {
    let mine = |keys: &str| says("layering = \"flat\"", &format!("layering = \"flat\"\n{keys}"));
    assert_snapshot!(mine("width = \"narrow\""), @r#"truenorth: DIR/file.toml, line 28: `width` must be `confidence` or `posterior`, but is "narrow""#);
    assert_snapshot!(mine("explore = \"thompson\""), @r#"truenorth: DIR/file.toml, line 28: `explore` must be `ucb` or `sampling`, but is "thompson""#);
    // It has a number, and so a key of its own.
    assert_snapshot!(mine("explore = \"epsilon\""), @r#"truenorth: DIR/file.toml, line 28: `explore` must be `ucb` or `sampling`, but is "epsilon""#);
    assert_snapshot!(mine("epsilon = 1.5"), @"truenorth: DIR/file.toml, line 28: `epsilon` must be a number from 0 to 1, but is 1.5");
    assert_snapshot!(mine("epsilon = \"often\""), @r#"truenorth: DIR/file.toml, line 28: `epsilon` must be a number from 0 to 1, but is "often""#);
    assert_snapshot!(mine("told = \"yes\""), @r#"truenorth: DIR/file.toml, line 28: `told` must be true or false, but is "yes""#);
    assert_snapshot!(mine("exploration_scale = -1"), @"truenorth: DIR/file.toml, line 28: `exploration_scale` must be a number from 0 to 1e50, but is -1");
    assert_snapshot!(mine("wide = 1"), @"truenorth: DIR/file.toml, line 28: there is no key `wide` in `policy`; did you mean `width`?");
}

#[test]
fn widths_and_ways_to_explore_that_do_not_go_together_are_named() {
    let mine = |keys: &str| says("layering = \"flat\"", keys);
    assert_snapshot!(mine("explore = \"ucb\"\nepsilon = 0.1"), @"truenorth: DIR/file.toml, line 28: `epsilon` and `explore` exclude each other");
    assert_snapshot!(mine("width = \"posterior\""), @r#"truenorth: DIR/file.toml, line 25: policy "flat": width `posterior` does not go with layers"#);
    assert_snapshot!(mine("layering = \"flat\"\nepsilon = 0.1"), @r#"truenorth: DIR/file.toml, line 25: policy "flat": width `confidence` does not go with exploration other than `ucb`"#);
    assert_snapshot!(mine("layering = \"flat\"\nexplore = \"sampling\""), @r#"truenorth: DIR/file.toml, line 25: policy "flat": width `confidence` does not go with exploration other than `ucb`"#);
    assert_snapshot!(mine("layering = \"flat\"\nexploration_scale = 0"), @r#"truenorth: DIR/file.toml, line 25: policy "flat": `exploration_scale` must be at least 1e-50 and at most 1e50, but is 0"#);
    assert_snapshot!(mine("certificate = \"adaptive\""), @r#"truenorth: DIR/file.toml, line 25: policy "flat": an adaptive certificate does not go with layers"#);
    assert_snapshot!(mine("certificate = \"adaptive\"\nlayering = \"flat\""), @r#"truenorth: DIR/file.toml, line 25: policy "flat": an adaptive certificate does not go with full pooling"#);
    assert_snapshot!(mine("width = \"posterior\"\nlayering = \"flat\"\ncertificate = \"learned\""), @r#"truenorth: DIR/file.toml, line 25: policy "flat": width `posterior` does not go with a certificate learned by epochs"#);
    assert_snapshot!(mine("branches = \"arms\""), @r#"truenorth: DIR/file.toml, line 25: policy "flat": a policy of separate arms does not go with layers"#);
}

#[test]
fn names_that_are_taken_or_unfit_are_named() {
    assert_snapshot!(says("name = \"flat\"", "name = \"oful\""),
        @r#"truenorth: DIR/file.toml, line 25: two policies are named "oful""#);
    assert_snapshot!(says("\"suplinucb\", \"oful\"", "\"oful\",\n\"oful\""),
        @r#"truenorth: DIR/file.toml, line 9: two policies are named "oful""#);
    assert_snapshot!(says("\"listed\"", "\"as it is\""),
        @r#"truenorth: DIR/file.toml, line 33: two panels are named "as it is""#);
    assert_snapshot!(says("\"listed\"", "\"../listed\""),
        @r#"truenorth: DIR/file.toml, line 33: `name` must be a name without slashes, line breaks or a dot at its start, but is "../listed""#);
}

#[test]
fn values_that_do_not_go_together_are_named() {
    assert_snapshot!(says("layering = \"flat\"", "branches = \"offline\""),
        @r#"truenorth: DIR/file.toml, line 25: policy "flat": the offline branch does not go with layers"#);
    assert_snapshot!(says("diversity", "low = 0\ndiversity"),
        @"truenorth: DIR/file.toml, line 16: `diversity` belongs to a `coverage` of kind `gaussian`, not `box`");
    assert_snapshot!(says("drift =", "logged = 1\ndrift ="),
        @"truenorth: DIR/file.toml, line 13: `drift` and `logged` exclude each other: logged is live minus drift");
    assert_snapshot!(says("name = \"listed\"", "name = \"listed\"\nactions = 3"),
        @"truenorth: DIR/file.toml, line 34: `actions` is 3, but `features` says 2; it may be left out");
    assert_snapshot!(says("\"gaussian\"", "\"bernoulli\""),
        @r#"truenorth: DIR/file.toml, line 6: `rewards` = "bernoulli" needs means from 0 to 1, which `coverage` of kind `gaussian` does not have; take `box` or `counts`"#);
    assert_snapshot!(says("preset = \"ellipsoidal-minucb\"\n", ""),
        @"truenorth: DIR/file.toml, line 24: `policy` needs a `preset`");
    assert_snapshot!(says("low = 0\n", ""), @"truenorth: DIR/file.toml, line 17: `contexts` needs a `low`");
    assert_snapshot!(answer(b"runs = 1\npolicies = []\n"),
        @"truenorth: DIR/file.toml, line 2: `policies` must list at least one policy");
    assert_snapshot!(says("low = 0\nhigh", "phases = 2\nlow = 0\nhigh"),
        @"truenorth: DIR/file.toml, line 19: `low` belongs to a `contexts` of kind `box`, not `shifting`");
    assert_snapshot!(answer(b"rewards = \"bernoulli\"\nlog_rows = 0\ncontexts.spread = 0.5\n"),
        @r#"truenorth: DIR/file.toml, line 1: `rewards` = "bernoulli" needs means from 0 to 1, which `contexts` of kind `turning` do not have; take `box` or `fixed`"#);
    assert_snapshot!(says("low = 0\nhigh", "kind = \"fixed\"\nlow = 0\nhigh"),
        @"truenorth: DIR/file.toml, line 19: `low` belongs to a `contexts` of kind `box`, not `fixed`");
}

#[test]
fn bernoulli_means_of_listed_actions_must_be_probabilities() {
    let file = "dimension = 2\nrewards = \"bernoulli\"\nlog_rows = 0\n[parameters]\nlive = [0.5, 1.5]\n\
                [contexts]\nfeatures = [\n[1, 0],\n[0, 1],\n]\n";
    assert_snapshot!(answer(file.as_bytes()),
        @"truenorth: DIR/file.toml, line 9: Bernoulli rewards need means from 0 to 1, but that of a vector in `features` is 1.5");
}
