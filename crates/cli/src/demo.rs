//! `truenorth demo`: the tour for someone who has never heard of this.

use std::fmt::Write as _;
use std::path::Path;

use textwrap::{Options, WordSplitter, fill};
use truenorth::Preset;
use truenorth_app::experiment;
use truenorth_report::{Block, Page, Section, Table};
use truenorth_sim::{Figure, Panel, ParameterLaw, PolicyResult, PolicySpec, World, prepare_run};

use crate::experiment::watched;
use crate::failure::Failure;
use crate::figures::{decisions_svg, regret_svg, write_figure};
use crate::output::{json, write_whole};
use crate::table::{number, text};
use crate::{idea, output};

const FEATURES: [&str; 5] = ["price", "season", "loyalty", "hour", "device"];
const LIVE: [f64; 5] = [0.6, -0.4, 0.4, 0.3, 0.2];
const LOGGED: [f64; 5] = [0.6, 0.5, 0.4, 0.3, 0.2];
const HORIZON: u64 = 5_000;
const RUNS: u64 = 20;
const POLICIES: [(Preset, &str); 6] = [
    (Preset::OfflineOnly, "plays what the logs recommend, for ever"),
    (Preset::WarmSupLinUcb, "starts from the logs as if they were live data"),
    (Preset::SupLinUcb, "layered elimination, ignores the logs"),
    (Preset::EllipsoidalMinUcb, "the paper's method: the tighter of two intervals"),
    (Preset::Oful, "optimism on live data, ignores the logs"),
    (Preset::TrueNorth, "ours: trusts the logs direction by direction"),
];

pub(crate) fn run(folder: &Path, threads: usize) -> Result<String, Failure> {
    output::make_folder(folder)?;
    let figure = figure();
    let logs = logs_table(&figure.panels[0])?;
    let figures = std::slice::from_ref(&figure);
    let played = watched(threads, None, |work| experiment::play(figures, None, work))?;
    let policies = &played.results.figures[0].panels[0].policies;
    let regrets = regret_table(policies);

    let regret = regret_svg(&figure, &played.results.figures[0])?;
    let decisions = decisions_svg(&figure, &played.shares[0])?.unwrap_or_default();
    let idea = idea::svg()?;
    for (name, svg) in [("regret", &regret), ("decisions", &decisions), ("idea", &idea)] {
        write_figure(folder, name, svg, write_whole)?;
    }
    write_whole(&folder.join("results.json"), json(&played.results)?.as_bytes())?;
    let story = story(policies);
    let text = |table: &Table| text(table.header.clone(), table.rows.clone());
    let mut printed = format!("{}\n\n{}\n{}\n\n{}\n", story[0], text(&logs), story[1], text(&regrets));
    for paragraph in &story[2..] {
        let _ = writeln!(printed, "{paragraph}\n");
    }
    let path = folder.join("index.html");
    let _ = writeln!(printed, "The page with all pictures: {}", path.display());
    let _ = writeln!(printed, "Next: truenorth reproduce main --runs 10   (the paper's first figure)");
    write_whole(&path, page(story, logs, regrets, [idea, regret, decisions]).html().as_bytes())?;
    Ok(wrapped(&printed))
}

fn figure() -> Figure {
    let panel = Panel {
        name: "the logs are wrong about the season".to_owned(),
        world: World {
            parameters: ParameterLaw::Given { live: LIVE.to_vec(), logged: LOGGED.to_vec() },
            noise: 0.2,
            ..World::default()
        },
        policies: POLICIES.map(|(preset, _)| PolicySpec::preset(preset)).to_vec(),
        horizon: HORIZON,
        runs: RUNS,
        ..Panel::default()
    };
    let title = "Reward lost against the best choice, summed over the rounds".to_owned();
    Figure { name: "regret".to_owned(), title, panels: vec![panel] }
}

/// What the logs of the first run say about each feature, next to the truth.
fn logs_table(panel: &Panel) -> Result<Table, Failure> {
    let (live, policies) = prepare_run(panel, 0)?;
    let features = FEATURES.iter().zip(policies[0].offline().estimate()).zip(live);
    let row = |((feature, estimate), truth): ((&&str, &f64), f64)| {
        let verdict = if (truth - estimate).abs() > 0.1 { "wrong" } else { "still true" };
        vec![(*feature).to_owned(), format!("{estimate:.2}"), format!("{truth:.2}"), verdict.to_owned()]
    };
    Ok(Table {
        caption: "What the logs say, and what is true now".to_owned(),
        header: ["feature", "logs say", "live truth", "drift"].map(str::to_owned).to_vec(),
        rows: features.map(row).collect(),
    })
}

fn regret_table(policies: &[PolicyResult]) -> Table {
    let mut sorted: Vec<_> = policies.iter().zip(POLICIES).collect();
    sorted.sort_by(|(a, _), (b, _)| a.final_regret.mean.total_cmp(&b.final_regret.mean));
    let row = |(policy, (_, does)): (&PolicyResult, (Preset, &str))| {
        vec![policy.name.clone(), number(policy.final_regret.mean), does.to_owned()]
    };
    Table {
        caption: "Regret after the last round".to_owned(),
        header: ["policy", "regret", "what it does"].map(str::to_owned).to_vec(),
        rows: sorted.into_iter().map(row).collect(),
    }
}

/// What was found, in plain words.
fn story(policies: &[PolicyResult]) -> [String; 5] {
    let regrets: Vec<String> = policies.iter().map(|policy| number(policy.final_regret.mean)).collect();
    let [offline, warm, layered, paper, live, ours] = regrets.as_slice() else {
        unreachable!("six policies played")
    };
    let rounds = number(HORIZON as f64);
    [
        "A shop has 2,000 logged decisions from last summer. Now it is winter, and it has to choose live, \
         one of five offers a round. The logs are still right about four features and wrong about one:"
            .to_owned(),
        format!(
            "Six policies played {rounds} live rounds, {RUNS} times, all with the same customers and the same \
             luck. Regret is the reward lost against always knowing the best offer; smaller is better:"
        ),
        format!(
            "Trusting the logs blindly loses {offline} and keeps losing. Mixing them in as if they were live loses \
             {warm}. Ignoring them and learning from scratch loses {live}. Believing them where they still point \
             true, and live data elsewhere, loses {ours}."
        ),
        format!(
            "The paper's layered method is safe but slow: it loses {paper}, and its layers without any logs \
             {layered}. RESULTS.md says where it pays and where it does not."
        ),
        "How does truenorth know what to trust? Nobody tells it. Each live reward says how well the logs \
         predict it, and feature by feature they count as far as the rewards bear them out. The paper's method \
         has to be told: a certificate says how far each direction may have drifted."
            .to_owned(),
    ]
}

fn page(
    [start, played, lost, paper, trust]: [String; 5],
    logs: Table,
    regrets: Table,
    [idea, regret, decisions]: [String; 3],
) -> Page {
    let drawing = |svg: String, caption: &str| Block::Figure { svg, caption: caption.to_owned() };
    let idea_in_words = "Two coefficients, one picture: the logs alone are sharp but miss the live truth, because \
         the second coefficient drifted. Widened by the drift that the certificate allows, their region holds the \
         truth. Live data starts knowing nothing and closes in. What is believed is where both regions meet.";
    let layers_in_words = "The paper's method works in layers: layer l plays while some interval is wider than 2^-l, \
         and hands on what is left. Early on, wide intervals are settled in low layers; the logs' branch decides as \
         long as it is the tighter one.";
    let sections = [
        ("The logs", vec![Block::Paragraph(start), Block::Table(logs)]),
        (
            "What it costs to trust them",
            vec![
                Block::Paragraph(played),
                drawing(regret, "Lines are means over the runs, bands hold 80 % of them."),
                Block::Table(regrets),
                Block::Paragraph(lost),
                Block::Paragraph(paper),
            ],
        ),
        (
            "The idea in two dimensions",
            vec![
                Block::Paragraph(trust),
                Block::Paragraph(idea_in_words.to_owned()),
                drawing(idea, "Regions that hold the live parameter with high probability."),
            ],
        ),
        (
            "Who decided?",
            vec![
                Block::Paragraph(layers_in_words.to_owned()),
                drawing(decisions, "Share of decisions by layer and by branch."),
            ],
        ),
    ];
    Page {
        title: "truenorth: old logs, live decisions".to_owned(),
        sections: sections.map(|(heading, blocks)| Section { heading: heading.to_owned(), blocks }).to_vec(),
    }
}

/// Breaks long lines at 96 characters; tables are shorter.
pub(crate) fn wrapped(text: &str) -> String {
    let whole_words = Options::new(96).word_splitter(WordSplitter::NoHyphenation);
    fill(text.trim_end(), whole_words) + "\n"
}
