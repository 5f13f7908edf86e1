//! Files parse to the structs that they describe, and the examples play.

use std::fs;
use std::path::{Path, PathBuf};

use rand::RngExt as _;

use crate::switches::{Branches, Layering, Switches, Width};
use crate::world::stream;
use crate::{
    CertificateKind, Contexts, Coverage, Figure, FileError, NormBound, Panel, ParameterLaw, PolicySpec,
    RewardModel, World, play_run,
};
use truenorth::{Explore, Pooling, Preset, Schedule};

/// There are no certificates beside these files.
fn read(path: &Path, text: &str) -> Result<Figure, FileError> {
    let none =
        |path: &Path| Err(FileError { place: path.display().to_string(), reason: "absent".to_owned() });
    Figure::from_toml(path, text.as_bytes(), &none)
}

fn parsed(text: &str) -> Figure {
    read(Path::new("some/folder/spring.toml"), text).unwrap()
}

/// The only panel of a file.
fn panel(text: &str) -> Panel {
    let mut figure = parsed(text);
    assert_eq!(figure.panels.len(), 1);
    figure.panels.remove(0)
}

#[test]
fn every_number_arrives_in_its_field() {
    let figure = parsed(
        r#"
        name = "summer"
        title = "What summer did"
        dimension = 2
        actions = 3
        horizon = 1_000
        runs = 7
        seed = 18446744073709551615
        noise = 0.25
        ridge = 2
        delta = 0.05
        norm_bound = 1.5
        log_rows = 0
        policies = ["oful"]
        parameters = { low = -1, high = 1, scale = 0.5, offset = 0.125, drift = [2, -2] }
        coverage.diversity = 0.1
        "#,
    );
    let world = World {
        dimension: 2,
        parameters: ParameterLaw::ScaledWithOffset {
            low: -1.0,
            high: 1.0,
            scale: 0.5,
            offset: 0.125,
            drift: vec![2.0, -2.0],
        },
        coverage: Coverage::Gaussian { diversity: 0.1 },
        log_rows: 0,
        contexts: Contexts::Gaussian { actions: 3 },
        rewards: RewardModel::Gaussian,
        noise: 0.25,
    };
    let panel = Panel {
        name: "summer".to_owned(),
        world,
        policies: vec![PolicySpec::preset(Preset::Oful)],
        horizon: 1000,
        runs: 7,
        seed: u64::MAX,
        norm_bound: NormBound::Given(1.5),
        ridge: 2.0,
        delta: 0.05,
    };
    let title = "What summer did".to_owned();
    assert_eq!(figure, Figure { name: "summer".to_owned(), title, panels: vec![panel] });
}

#[test]
fn drift_is_live_minus_logged_and_one_number_stands_for_all() {
    let world = panel("dimension = 3\n[parameters]\nlive = 1\ndrift = [0.5, 0, -0.5]").world;
    let logged = vec![0.5, 1.0, 1.5];
    assert_eq!(world.parameters, ParameterLaw::Given { live: vec![1.0; 3], logged });
    let world = panel("dimension = 2\n[parameters]\nlive = [1, 2]").world;
    assert_eq!(world.parameters, ParameterLaw::Given { live: vec![1.0, 2.0], logged: vec![1.0, 2.0] });
}

#[test]
fn drift_goes_with_drawn_and_with_given_coefficients() {
    let cube = |low, high, drift: &[f64]| {
        let drift = drift.to_vec();
        ParameterLaw::ScaledWithOffset { low, high, scale: 1.0, offset: 0.0, drift }
    };
    let alone = panel("dimension = 2\n[parameters]\ndrift = [1, 0]").world.parameters;
    assert_eq!(alone, cube(0.25, 0.55, &[1.0, 0.0]));
    let figure = parsed(
        r"
        dimension = 2
        [parameters]
        low = -1
        high = 1
        drift = 0.5
        [[panel]]
        [[panel]]
        parameters.drift = [0, 1]
        [[panel]]
        parameters.live = [1, 1]
        [[panel]]
        parameters = { live = [1, 1], drift = [0, 1] }
        ",
    );
    let found: Vec<&ParameterLaw> = figure.panels.iter().map(|panel| &panel.world.parameters).collect();
    let given = |logged: [f64; 2]| ParameterLaw::Given { live: vec![1.0; 2], logged: logged.to_vec() };
    // Another kind starts afresh, without the file's drift.
    let expected =
        [cube(-1.0, 1.0, &[0.5, 0.5]), cube(-1.0, 1.0, &[0.0, 1.0]), given([1.0, 1.0]), given([1.0, 0.0])];
    assert_eq!(found, expected.iter().collect::<Vec<_>>());
}

#[test]
fn contexts_may_change_with_the_rounds() {
    let contexts = |text: &str| panel(&format!("horizon = 1000\nactions = 3\n{text}")).world.contexts;
    let shifting =
        |phases, phase_rounds, quiet| Contexts::Shifting { actions: 3, phases, phase_rounds, quiet };
    // Three phases fill the horizon, unless told otherwise.
    assert_eq!(contexts("contexts.phases = 3"), shifting(3, 334, 0.1));
    let text = "contexts = { kind = \"shifting\", phases = 2, phase_rounds = 10, quiet = 0 }";
    assert_eq!(contexts(text), shifting(2, 10, 0.0));
    let turning = |turn_rounds, spread| Contexts::Turning { actions: 3, turn_rounds, spread };
    assert_eq!(contexts("contexts.kind = \"turning\""), turning(1000, 0.3));
    assert_eq!(contexts("contexts = { turn_rounds = 70, spread = 1 }"), turning(70, 1.0));
}

#[test]
fn boxes_and_lists_describe_logs_and_actions() {
    let world = panel(
        r#"
        dimension = 2
        actions = 4
        rewards = "bernoulli"
        [parameters]
        live = 0.5
        logged = [0.25, 0.5]
        [coverage]
        features = [[1, 0], [0, 1]]
        counts = [30, 12]
        [contexts]
        low = 0
        high = [1, 0.5]
        "#,
    )
    .world;
    let features = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
    assert_eq!(world.coverage, Coverage::Counts { features: features.clone(), counts: vec![30, 12] });
    assert_eq!(world.contexts, Contexts::Box { actions: 4, low: vec![0.0; 2], high: vec![1.0, 0.5] });
    // The logs' rows are those of the list, and Bernoulli rewards bring the noise they have.
    assert_eq!((world.log_rows, world.rewards, world.noise), (42, RewardModel::Bernoulli, 0.5));

    let text = "dimension = 2\n[coverage]\nlow = [0, 0]\nhigh = 1\n[contexts]\nfeatures = [[1, 0], [0, 1]]";
    let world = panel(text).world;
    assert_eq!(world.coverage, Coverage::Box { low: vec![0.0; 2], high: vec![1.0; 2] });
    assert_eq!((world.actions(), world.contexts), (2, Contexts::Fixed { features }));
}

#[test]
fn policies_come_by_name_and_by_table() {
    let policies = panel(
        r#"
        policies = ["suplinucb"]
        [[policy]]
        preset = "pooled-only"
        [[policy]]
        name = "mine"
        preset = "ellipsoidal-minucb-3d"
        certificate = "isotropic"
        layering = "flat"
        branches = "pooled"
        pooling = "discounted"
        schedule = "per-round"
        exploration_scale = 0.5
        [[policy]]
        name = "learner"
        preset = "pooled-only"
        certificate = "learned"
        "#,
    )
    .policies;
    let preset = PolicySpec::preset(Preset::EllipsoidalMinUcb3d);
    let mine = PolicySpec {
        name: "mine".to_owned(),
        certificate: Some(CertificateKind::Isotropic),
        switches: Switches {
            layering: Layering::Flat,
            branches: Branches::Pooled,
            pooling: Pooling::Discounted,
            ..preset.switches
        },
        schedule: Some(Schedule::PerRound),
        exploration_scale: 0.5,
        ..preset
    };
    let pooled = PolicySpec::preset(Preset::PooledOnly);
    let learner = PolicySpec {
        name: "learner".to_owned(),
        certificate: Some(CertificateKind::Learned),
        ..pooled.clone()
    };
    assert_eq!(policies, [PolicySpec::preset(Preset::SupLinUcb), pooled, mine, learner]);
}

#[test]
fn a_table_says_how_wide_how_to_explore_and_what_is_told() {
    let policies = panel(
        r#"
        [[policy]]
        name = "sampler"
        preset = "oful"
        width = "posterior"
        explore = "sampling"
        [[policy]]
        name = "curious"
        preset = "greedy"
        epsilon = 0.25
        exploration_scale = 0
        [[policy]]
        name = "careful"
        preset = "truenorth"
        certificate = "trivial"
        width = "confidence"
        explore = "ucb"
        exploration_scale = 1
        told = true
        [[policy]]
        name = "untold"
        preset = "ellipsoidal-minucb"
        layering = "flat"
        pooling = "discounted"
        certificate = "trivial"
        told = false
        "#,
    )
    .policies;
    let named = |name: &str, preset, change: &dyn Fn(&mut PolicySpec)| {
        let mut spec = PolicySpec { name: name.to_owned(), ..PolicySpec::preset(preset) };
        change(&mut spec);
        spec
    };
    let expected = [
        named("sampler", Preset::Oful, &|spec| {
            spec.switches.width = Width::Posterior;
            spec.switches.explore = Explore::Sampling;
        }),
        named("curious", Preset::Greedy, &|spec| {
            spec.switches.explore = Explore::Epsilon(0.25);
            spec.exploration_scale = 0.0;
        }),
        named("careful", Preset::TrueNorth, &|spec| {
            spec.certificate = Some(CertificateKind::Trivial);
            spec.switches.width = Width::Confidence;
            spec.switches.explore = Explore::Ucb;
            spec.exploration_scale = 1.0;
            spec.told = true;
        }),
        named("untold", Preset::EllipsoidalMinUcb, &|spec| {
            spec.switches.layering = Layering::Flat;
            spec.switches.pooling = Pooling::Discounted;
            spec.certificate = Some(CertificateKind::Trivial);
            spec.told = false;
        }),
    ];
    assert_eq!(policies, expected);
}

#[test]
fn without_a_word_the_preset_decides_what_is_told() {
    for preset in Preset::ALL {
        let told = panel(&format!("[[policy]]\npreset = {:?}", preset.name())).policies[0].told;
        // As docs/experiments.md has it.
        assert_eq!(told, !["truenorth", "truenorth-sampling"].contains(&preset.name()), "{}", preset.name());
    }
}

#[test]
fn the_documentation_has_every_key_of_a_policy_and_every_name() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/experiments.md"));
    let page = page.unwrap();
    let table = page.split("### `[[policy]]`").nth(1).unwrap().split("\n## ").next().unwrap();
    let keys: Vec<&str> = super::policies::KEYS.split_whitespace().collect();
    assert_eq!(keys.len(), 12);
    for key in keys {
        assert!(table.contains(&format!("\n| `{key}` |")), "{key}");
    }
    for name in Preset::names() {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn every_preset_is_known_by_its_name() {
    for &preset in Preset::ALL {
        let text = format!("policies = [{:?}]", preset.name());
        assert_eq!(panel(&text).policies, [PolicySpec::preset(preset)]);
    }
}

#[test]
fn panels_override_the_file_key_by_key() {
    let figure = parsed(
        r#"
        dimension = 2
        runs = 3
        log_rows = 100
        policies = ["suplinucb", "oful"]
        [parameters]
        live = [1, 2]
        logged = [1, 1]
        [coverage]
        low = 0
        high = 1
        [contexts]
        low = 0
        high = 1

        [[panel]]

        [[panel]]
        name = "other"
        runs = 4
        parameters.drift = [0, 0.5]
        coverage.high = [1, 0.1]
        contexts.kind = "gaussian"
        [[panel.policy]]
        preset = "oful"

        [[panel]]
        parameters = { low = 0, high = 0.5 }
        coverage = { features = [[1, 0]], counts = [7] }
        contexts.features = [[1, 0], [0, 1], [1, 1]]
        "#,
    );
    let [first, other, third] = &figure.panels[..] else { panic!("{} panels", figure.panels.len()) };
    assert_eq!([&first.name, &other.name, &third.name], ["panel 1", "other", "panel 3"]);
    assert_eq!([first.runs, other.runs, third.runs], [3, 4, 3]);
    assert_eq!([first.policies.len(), other.policies.len(), third.policies.len()], [2, 1, 2]);
    let given = |logged| ParameterLaw::Given { live: vec![1.0, 2.0], logged };
    assert_eq!(first.world.parameters, given(vec![1.0, 1.0]));
    assert_eq!(other.world.parameters, given(vec![1.0, 1.5]));
    let drift = vec![0.0; 2];
    let uniform = ParameterLaw::ScaledWithOffset { low: 0.0, high: 0.5, scale: 1.0, offset: 0.0, drift };
    assert_eq!(third.world.parameters, uniform);
    assert_eq!(other.world.coverage, Coverage::Box { low: vec![0.0; 2], high: vec![1.0, 0.1] });
    assert_eq!(other.world.contexts, Contexts::Gaussian { actions: 5 });
    // `log_rows` of the file is a default for its other panels, not a contradiction.
    assert_eq!((other.world.log_rows, third.world.log_rows, third.world.actions()), (100, 7, 3));
}

#[test]
fn no_text_makes_the_reader_panic() {
    let good = examples().into_iter().map(|path| fs::read_to_string(path).unwrap());
    let odd =
        ["", "\u{feff}", "=", "[[panel]]\n[panel]", "panel = [[]]", "policy = 1", "a.b.c = 1", "\0", "é"];
    for text in good.chain(odd.map(str::to_owned)) {
        for (cut, _) in text.char_indices() {
            let _ = read(Path::new("f.toml"), &text[..cut]);
            let spoiled = [&text[..cut], "-9e9 [", &text[cut..]].concat();
            let _ = read(Path::new("f.toml"), &spoiled);
        }
    }
}

#[test]
fn mutants_of_the_examples_are_read_or_refused_in_one_line() {
    let good: Vec<String> = examples().into_iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let pieces =
        ["", "=", "[", "]", "\"", "{", "-1", "1e60", "99999999999999999999", "kind", "true", "\n[[panel]]\n"];
    let mut rng = stream(1, 0, 0);
    for (mutant, text) in good.iter().cycle().take(2000).enumerate() {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=mutant % 3 {
            let from = rng.random_range(0..bytes.len());
            let to = (from + rng.random_range(0..6)).min(bytes.len());
            bytes.splice(from..to, pieces[rng.random_range(0..pieces.len())].bytes());
        }
        if let Err(error) = read(Path::new("f.toml"), &String::from_utf8_lossy(&bytes)) {
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
        }
    }
}

#[test]
fn every_example_plays() {
    for path in examples() {
        let figure = read(&path, &fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(Some(figure.name.as_str()), path.file_stem().and_then(|stem| stem.to_str()));
        for panel in &figure.panels {
            assert!(panel.horizon * panel.runs <= 100_000, "{} takes long", path.display());
            let short = Panel { horizon: 20, ..panel.clone() };
            let outcome = play_run(&short, 0).unwrap();
            assert_eq!(outcome.policies.len(), panel.policies.len());
        }
    }
}

#[test]
fn the_documentations_examples_play() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/experiments.md"));
    let page = page.unwrap();
    let blocks: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    // Whole experiments, and a policy that needs a file beside it.
    let (whole, parts): (Vec<&str>, Vec<&str>) = blocks.iter().partition(|block| !block.contains(".toml\""));
    assert_eq!((whole.len(), parts.len()), (2, 1));
    for panel in whole.iter().flat_map(|block| parsed(block).panels) {
        play_run(&Panel { horizon: 20, ..panel }, 0).unwrap();
    }
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    assert!(paths.len() >= 5);
    paths
}
