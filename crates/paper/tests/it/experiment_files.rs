//! Experiment files can say what the studies are.

use std::path::Path;

use truenorth_paper::{Reading, Study};
use truenorth_sim::{Figure, FileError};

/// There are no certificates beside these files.
fn parsed(text: &str) -> Figure {
    let none =
        |path: &Path| Err(FileError { place: path.display().to_string(), reason: "absent".to_owned() });
    Figure::from_toml(Path::new("some/folder/spring.toml"), text.as_bytes(), &none).unwrap()
}

#[test]
fn an_empty_file_is_the_papers_study_without_drift() {
    let mut expected = Study::Bias.figure(&Reading::default());
    "spring".clone_into(&mut expected.name);
    "spring".clone_into(&mut expected.title);
    expected.panels.truncate(1);
    "spring".clone_into(&mut expected.panels[0].name);
    assert_eq!(parsed(""), expected);
}

#[test]
fn every_panel_of_the_studies_can_be_written_down() {
    let main = Study::Main.figure(&Reading::default());
    let text = "[[panel]]\nname = \"s=1.1\"\n\
                parameters = { live = [1.1, 1, 1, 1, 1], logged = [1, 1.1, 1, 1, 1] }";
    assert_eq!(parsed(text).panels, main.panels[..1]);
    let coverage = Study::Coverage.figure(&Reading::default());
    let text = "[[panel]]\nname = \"w=0.5\"\ncoverage = { low = 0, high = [1, 0.5, 0.5, 0.5, 0.5] }";
    assert_eq!(parsed(text).panels, coverage.panels[1..2]);
    let bias = Study::Bias.figure(&Reading::default());
    let text = "[[panel]]\nname = \"c=0.2\"\nparameters = { scale = 0.8, offset = 0.2 }";
    assert_eq!(parsed(text).panels, bias.panels[1..2]);
    let worlds = |text: &str| parsed(text).panels.into_iter().map(|panel| panel.world).collect::<Vec<_>>();
    let shifting = Study::Shifting.figure(&Reading::default());
    let text = "dimension = 6\n\
                [[panel]]\ncontexts.phases = 3\nparameters.drift = [0, 0, 0, 0, 0, 0.5]\n\
                [[panel]]\ncontexts.kind = \"turning\"";
    assert_eq!(worlds(text), [2, 3].map(|place| shifting.panels[place].world.clone()));
    let wide = Study::Wide.figure(&Reading::default());
    let text = "dimension = 50\nactions = 10\nlog_rows = 5000";
    assert_eq!(worlds(text), [wide.panels[0].world.clone()]);
    let misleading = Study::Misleading.figure(&Reading::default());
    let arms = "[[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]";
    let text = format!(
        "parameters = {{ live = [0.5, 0.7, 0.9, 0.3, 0.1], logged = [0.5, 0.7, 0.2, 0.3, 1.2] }}\n\
         coverage = {{ features = {arms}, counts = [400, 400, 400, 400, 400] }}\ncontexts.features = {arms}"
    );
    assert_eq!(worlds(&text), [misleading.panels[3].world.clone()]);
}
