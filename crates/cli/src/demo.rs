//! `truenorth demo`: the tour for someone who has never heard of this.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use truenorth::Preset;
use truenorth_report::{Block, Page, Section, Table};
use truenorth_sim::{
    Contexts, Coverage, Figure, NormBound, Panel, ParameterLaw, PolicyResult, PolicySpec, RewardModel, World,
    prepare_run,
};

use crate::experiment::play_figures;
use crate::failure::Failure;
use crate::figures::{decisions_svg, regret_svg, results_json, write_figure};
use crate::output::write_whole;
use crate::table::{number, text};
use crate::{idea, output};

const FEATURES: [&str; 5] = ["price", "season", "loyalty", "hour", "device"];
const LIVE: [f64; 5] = [0.6, -0.4, 0.4, 0.3, 0.2];
const LOGGED: [f64; 5] = [0.6, 0.5, 0.4, 0.3, 0.2];
const HORIZON: u64 = 5_000;
const RUNS: u64 = 20;

pub(crate) fn run(folder: &Path, threads: usize, output: &mut impl io::Write) -> Result<(), Failure> {
    output::make_folder(folder)?;
    let figure = figure();
    let logs = logs_table(&figure.panels[0])?;
    let played = play_figures(std::slice::from_ref(&figure), None, threads)?;
    let policies = &played.results.figures[0].panels[0].policies;

    let regret = regret_svg(&figure, &played.results.figures[0])?;
    let decisions = decisions_svg(&figure, &played.shares[0])?.unwrap_or_default();
    let idea = idea::svg()?;
    for (name, svg) in [("regret", &regret), ("decisions", &decisions), ("idea", &idea)] {
        write_figure(folder, name, svg)?;
    }
    write_whole(&folder.join("results.json"), results_json(&played.results)?.as_bytes())?;
    let paragraphs = story(policies);
    let page = page(&paragraphs, &logs, policies, [idea, regret, decisions]);
    write_whole(&folder.join("index.html"), page.html().as_bytes())?;

    let mut printed = String::new();
    let _ = writeln!(printed, "{}\n\n{}", paragraphs[0], text(&logs));
    let _ = writeln!(printed, "{}\n\n{}", paragraphs[1], text(&regret_table(policies)));
    for paragraph in &paragraphs[2..] {
        let _ = writeln!(printed, "{paragraph}\n");
    }
    let _ = writeln!(printed, "The page with all pictures: {}", folder.join("index.html").display());
    let _ = writeln!(printed, "Next: truenorth reproduce main --runs 10   (the paper's first figure)");
    output.write_all(wrapped(&printed).as_bytes()).map_err(Failure::Output)
}

fn figure() -> Figure {
    let presets = [
        Preset::OfflineOnly,
        Preset::WarmSupLinUcb,
        Preset::SupLinUcb,
        Preset::EllipsoidalMinUcb,
        Preset::Oful,
        Preset::TrueNorth,
    ];
    let panel = Panel {
        name: "the logs are wrong about the season".to_owned(),
        world: World {
            dimension: 5,
            parameters: ParameterLaw::Given { live: LIVE.to_vec(), logged: LOGGED.to_vec() },
            coverage: Coverage::Gaussian { diversity: 1.0 },
            log_rows: 2_000,
            contexts: Contexts::Gaussian { actions: 5 },
            rewards: RewardModel::Gaussian,
            noise: 0.2,
        },
        policies: presets.map(PolicySpec::preset).to_vec(),
        horizon: HORIZON,
        runs: RUNS,
        seed: 42,
        norm_bound: NormBound::Truth,
        ridge: 1.0,
        delta: 0.01,
    };
    let title = "Reward lost against the best choice, summed over the rounds".to_owned();
    Figure { name: "regret".to_owned(), title, panels: vec![panel] }
}

/// What the logs of the first run say about each feature, next to the truth.
fn logs_table(panel: &Panel) -> Result<Vec<Vec<String>>, Failure> {
    let (live, policies) = prepare_run(panel, 0)?;
    let mut rows = vec![["feature", "logs say", "live truth", "drift"].map(str::to_owned).to_vec()];
    for ((feature, estimate), truth) in FEATURES.iter().zip(policies[0].offline().estimate()).zip(live) {
        let drift = truth - estimate;
        let verdict = if drift.abs() > 0.1 { "wrong" } else { "still true" };
        let numbers = [*estimate, truth].map(|value| format!("{value:.2}"));
        let [estimate, truth] = numbers;
        rows.push(vec![(*feature).to_owned(), estimate, truth, verdict.to_owned()]);
    }
    Ok(rows)
}

fn regret_table(policies: &[PolicyResult]) -> Vec<Vec<String>> {
    let mut rows = vec![["policy", "regret", "what it does"].map(str::to_owned).to_vec()];
    let mut sorted: Vec<&PolicyResult> = policies.iter().collect();
    sorted.sort_by(|a, b| a.final_regret.mean.total_cmp(&b.final_regret.mean));
    rows.extend(sorted.into_iter().map(|policy| {
        let does = match policy.name.as_str() {
            "offline-only" => "plays what the logs recommend, for ever",
            "warm-suplinucb" => "starts from the logs as if they were live data",
            "suplinucb" => "layered elimination, ignores the logs",
            "ellipsoidal-minucb" => "the paper's method: the tighter of two intervals",
            "oful" => "optimism on live data, ignores the logs",
            _ => "ours: trusts the logs direction by direction",
        };
        vec![policy.name.clone(), number(policy.final_regret.mean), does.to_owned()]
    }));
    rows
}

/// What was found, in plain words.
fn story(policies: &[PolicyResult]) -> Vec<String> {
    let regret = |name: &str| {
        policies.iter().find(|policy| policy.name == name).map_or(0.0, |policy| policy.final_regret.mean)
    };
    let (offline, warm, live, ours) =
        (regret("offline-only"), regret("warm-suplinucb"), regret("oful"), regret("truenorth"));
    let (layered, paper) = (regret("suplinucb"), regret("ellipsoidal-minucb"));
    vec![
        "A shop has 2,000 logged decisions from last summer. Now it is winter, and it has to choose live, \
         one of five offers a round. The logs are still right about four features and wrong about one:"
            .to_owned(),
        format!(
            "Six policies played \
             {} live rounds, {RUNS} times, all with the same customers and the same luck. Regret is the \
             reward lost against always knowing the best offer; smaller is better:",
            number(HORIZON as f64)
        ),
        format!(
            "Trusting the logs blindly loses {} and keeps losing. Mixing them in as if they were live loses {}. \
             Ignoring them and learning from scratch loses {}. Believing them where they still point true, and \
             live data elsewhere, loses {}.",
            number(offline),
            number(warm),
            number(live),
            number(ours)
        ),
        format!(
            "The paper's layered method is safe but slow: it loses {}, and its layers without any logs {}. \
             RESULTS.md says where it pays and where it does not.",
            number(paper),
            number(layered)
        ),
        "How does truenorth know what to trust? Nobody tells it. Each live reward says how well the logs \
         predict it, and feature by feature they count as far as the rewards bear them out. The paper's method \
         has to be told: a certificate says how far each direction may have drifted."
            .to_owned(),
    ]
}

fn page(
    paragraphs: &[String],
    logs: &[Vec<String>],
    policies: &[PolicyResult],
    [idea, regret, decisions]: [String; 3],
) -> Page {
    let table = |rows: &[Vec<String>], caption: &str| {
        Block::Table(Table { caption: caption.to_owned(), header: rows[0].clone(), rows: rows[1..].to_vec() })
    };
    let paragraph = |text: &str| Block::Paragraph(text.to_owned());
    let drawing = |svg: String, caption: &str| Block::Figure { svg, caption: caption.to_owned() };
    let section = |heading: &str, blocks: Vec<Block>| Section { heading: heading.to_owned(), blocks };
    Page {
        title: "truenorth: old logs, live decisions".to_owned(),
        sections: vec![
            section(
                "The logs",
                vec![paragraph(&paragraphs[0]), table(logs, "What the logs say, and what is true now")],
            ),
            section(
                "What it costs to trust them",
                vec![
                    paragraph(&paragraphs[1]),
                    drawing(regret, "Lines are means over the runs, bands hold 80 % of them."),
                    table(&regret_table(policies), "Regret after the last round"),
                    paragraph(&paragraphs[2]),
                    paragraph(&paragraphs[3]),
                ],
            ),
            section(
                "The idea in two dimensions",
                vec![
                    paragraph(&paragraphs[4]),
                    paragraph(
                        "Two coefficients, one picture: the logs alone are sharp but miss the live truth, because \
                         the second coefficient drifted. Widened by the drift that the certificate allows, their \
                         region holds the truth. Live data starts knowing nothing and closes in. What is \
                         believed is where both regions meet.",
                    ),
                    drawing(idea, "Regions that hold the live parameter with high probability."),
                ],
            ),
            section(
                "Who decided?",
                vec![
                    paragraph(
                        "The paper's method works in layers: layer l plays while some interval is wider than \
                         2^-l, and hands on what is left. Early on, wide intervals are settled in low layers; the \
                         logs' branch decides as long as it is the tighter one.",
                    ),
                    drawing(decisions, "Share of decisions by layer and by branch."),
                ],
            ),
        ],
    }
}

/// Breaks long lines at 96 characters; tables are shorter.
pub(crate) fn wrapped(text: &str) -> String {
    let mut result = String::new();
    for line in text.lines() {
        let mut width = 0;
        if line.chars().count() <= 96 {
            result.push_str(line);
        } else {
            for word in line.split_whitespace() {
                let length = word.chars().count();
                if width > 0 && width + 1 + length > 96 {
                    result.push('\n');
                    width = 0;
                } else if width > 0 {
                    result.push(' ');
                    width += 1;
                }
                result.push_str(word);
                width += length;
            }
        }
        result.push('\n');
    }
    result
}
