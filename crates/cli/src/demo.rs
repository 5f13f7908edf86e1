//! `truenorth demo`: a newcomer's way from a log to a live decision. It makes a shop's files, runs the commands that one would
//! type, and shows each of them with what it prints, so that the next thing to type is the same with one's own file.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use textwrap::{Options, WordSplitter, fill};
use truenorth_app::bandit::{self, Told};
use truenorth_audit::quoted;
use truenorth_bandit::Answer;
use truenorth_features::Event;
use truenorth_logs::Summary;
use truenorth_report::{AxisScale, Block, Curves, CurvesPanel, Page, Palette, Section, Series};

use crate::failure::Failure;
use crate::figures::write_figure;
use crate::output::{make_folder, write_whole};
use crate::shop::{self, ITEMS, Visit};

/// Visitors since the log.
const VISITS: usize = 600;
/// Visitors between two points of the picture of reliance.
const STEP: usize = 10;
/// Who is compared: ours, no logs, logs as if they were live, logs alone.
const POLICIES: &str = "truenorth,lin-ucb,warm-greedy,offline-only";
/// What the last command is asked.
const STUDENT: &str = r#"{"context":{"customer":"student"},"actions":[{"id":"sunscreen","price":9},{"id":"game","price":14},{"id":"novel","price":11}]}"#;

/// A command and what stands around it.
struct Step {
    heading: &'static str,
    before: &'static str,
    /// As it is typed, and what it prints.
    command: String,
    printed: String,
    after: String,
}

pub(crate) fn run(folder: &Path) -> Result<String, Failure> {
    make_folder(folder)?;
    let visits: Vec<Visit> = shop::visits().take(VISITS).collect();
    let data =
        [("logs.csv", shop::logs()), ("events.jsonl", shop::events()), ("live.csv", shop::live(&visits))];
    check_own(folder, &data, &MADE)?;
    for (name, content) in &data {
        write_whole(&folder.join(name), content.as_bytes())?;
    }
    write_whole(&folder.join("visit.jsonl"), format!("{STUDENT}\n").as_bytes())?;
    let steps = steps(folder)?;
    let reliance = reliance(&visits, &folder.join("logs.tn"))?;
    write_figure(folder, "trust", &reliance, write_whole)?;
    let page = page(folder, &steps, reliance)?.html();
    write_whole(&folder.join("index.html"), page.as_bytes())?;
    let mut told = wrapped(START) + "\n";
    for Step { before, command, printed, after, .. } in &steps {
        let _ = writeln!(told, "{}\n$ {command}\n{printed}", wrapped(before));
        if !after.is_empty() {
            told += &(wrapped(after) + "\n");
        }
    }
    let shown = folder.join("index.html");
    let _ = write!(told, "{}The story with pictures: {}\n\n{}", wrapped(END), shown.display(), next(folder));
    Ok(told)
}

/// Refuses to write over files that no tour wrote: theirs are names that people give to their own.
pub(crate) fn check_own(
    folder: &Path,
    data: &[(&str, String)],
    made: &[&'static str],
) -> Result<(), Failure> {
    let there = |name: &str| folder.join(name).exists();
    let is_other = |(name, content): &&(&str, String)| {
        there(name) && !fs::read(folder.join(name)).is_ok_and(|found| found == content.as_bytes())
    };
    let other = match data.iter().find(is_other) {
        Some((name, _)) => Some(*name),
        // Beside no data of the tour's, what it makes of them is somebody else's.
        None if !data.iter().any(|(name, _)| there(name)) => made.iter().copied().find(|name| there(name)),
        None => None,
    };
    let Some(name) = other else { return Ok(()) };
    let file = folder.join(name);
    Err(Failure::Call(format!(
        "{} is not the tour's own, and would be written over: name another folder with `--out`",
        file.display()
    )))
}

/// What the tour makes of its data.
const MADE: [&str; 3] = ["index.html", "audit.html", "logs.tn"];

const START: &str = "A shop showed each visitor of last summer one of four items, sunscreen more often than the rest, and \
     logged what was bought. Now it is winter. The log is right about most things and wrong about one; nobody has said \
     which.";
const END: &str = "Every live reward tells how well the log predicts it, and feature by feature the log counts as far as \
     rewards bear it out. That is all that the default policy does, and it has to be told nothing.";

/// Runs the commands.
fn steps(folder: &Path) -> Result<Vec<Step>, Failure> {
    let at = |name: &str| folder.join(name).display().to_string();
    let (logs, live, summary) = (at("logs.csv"), at("live.csv"), at("logs.tn"));
    let summarize = vec!["summarize", &logs, "--action", "item,price", "--reward", "bought", "-o", &summary];
    let report = at("audit.html");
    let audit = vec!["audit", &summary, "--pilot", &live, "--out", &report];
    let shown = folder.display().to_string();
    let compare = [
        vec!["compare", "--offline", &summary, "--online", &live, "--reward", "bought", "--round", "round"],
        vec!["--policies", POLICIES, "--seeds", "16", "--out", &shown],
    ]
    .concat();
    let decide = vec!["decide", &summary, "--learn", &live];
    let step = |heading, before, words: Vec<&str>, input: &str, after: String| {
        let command =
            format!("truenorth {}", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
        let command = if input.is_empty() { command } else { format!("echo '{input}' | {command}") };
        let printed = crate::printed(&words, input)?;
        Ok::<_, Failure>(Step { heading, before, command, printed, after })
    };
    Ok(vec![
        step(
            "The log",
            "Three thousand rows in a file: who came, which item was shown at which price, whether it was bought. This sums \
             them up, with features made from the columns:",
            summarize,
            "",
            String::new(),
        )?,
        step(
            "Which of it still holds?",
            "Six hundred visitors of this winter, who were asked about all four items, tell which features have drifted:",
            audit,
            "",
            "Sunscreen, and what goes with it. Most of the rest holds; what is unclear needs more visitors.".to_owned(),
        )?,
        step(
            "What is it worth to know that?",
            "Four ways to choose an item for each of the same visitors: ours, without the log, the log as if it were of \
             this winter, and the log alone:",
            compare,
            "",
            String::new(),
        )?,
        step(
            "A live decision",
            "An event goes in as a line of JSON, a decision comes out. First the bandit learns what the visitors did:",
            decide,
            STUDENT,
            "A student is shown the game. From the log alone it would be the sunscreen: leave --learn out and see. In such an answer, mean and ucb \
             compare the actions: they leave out what all rewards have in common, so that a chance to buy may be below 0.".to_owned(),
        )?,
    ])
}

/// The item that the log is wrong about.
const WRONG: &str = "item=sunscreen";

/// How reliance on what the log says of that item, and of the others, moved while a bandit chose for the visitors.
fn reliance(visits: &[Visit], summary: &Path) -> Result<String, Failure> {
    let mut bandit = bandit::new(bandit::parts(&Summary::read(summary)?)?, Told::default())?;
    let names: Vec<String> = ITEMS.iter().map(|item| format!("item={item}")).collect();
    let (mut rounds, mut wrong, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let mut event = Event::default();
    // The last point is after the last visitor.
    for (round, visit) in visits.iter().map(Some).chain([None]).enumerate() {
        if round % STEP == 0 {
            let features = bandit.features().map_err(truenorth_app::Error::from)?;
            rounds.push(round as f64);
            let of = |wanted: bool| {
                let items = features.iter().filter(|feature| names.contains(&feature.name));
                let trusts = items.filter(|item| (item.name == WRONG) == wanted).map(|item| item.view.trust);
                let (sum, count) = trusts.fold((0.0, 0.0), |(sum, count), trust| (sum + trust, count + 1.0));
                100.0 * sum / f64::max(count, 1.0)
            };
            wrong.push(of(true));
            others.push(of(false));
        }
        let Some(visit) = visit else { break };
        event.read_json(&visit.event().to_string()).map_err(truenorth_app::Error::Model)?;
        let answer = bandit.answer(&event).map_err(truenorth_app::Error::from)?;
        let Answer::Decided(choice) = answer else { unreachable!("it had neither action nor reward") };
        let reward = f64::from(u8::from(visit.bought[choice.index]));
        bandit.learn(&choice.decision_id, reward).map_err(truenorth_app::Error::from)?;
    }
    // Lines of their own would lie on each other.
    let lines = [(WRONG, wrong), ("the other items, on average", others)];
    let palette = Palette::new(lines.iter().map(|(name, _)| *name));
    let series = lines.map(|(name, reliance)| Series::new(name, rounds.clone(), reliance)).to_vec();
    let panel = CurvesPanel { y_scale: AxisScale::Linear, series, ..CurvesPanel::default() };
    let curves = Curves {
        title: "How much the log still counts".to_owned(),
        x_label: "visitors so far".to_owned(),
        y_label: "reliance on the log, in percent".to_owned(),
        palette,
        panels: vec![panel],
        ..Curves::default()
    };
    curves.svg().map_err(Failure::drawing("trust"))
}

fn page(folder: &Path, steps: &[Step], reliance: String) -> Result<Page, Failure> {
    let drawn = |name: &str| {
        let path = folder.join(format!("{name}.svg"));
        fs::read_to_string(&path).map_err(truenorth_app::Error::file(&path))
    };
    let figure = |svg: String, caption: &str| Block::Figure { svg, caption: caption.to_owned() };
    let paragraph = |text: &str| Block::Paragraph(text.to_owned());
    let mut sections = vec![Section { heading: String::new(), blocks: vec![paragraph(START)] }];
    for Step { heading, before, command, printed, after } in steps {
        let mut blocks = vec![paragraph(before), Block::Code(format!("$ {command}\n{printed}"))];
        if !after.is_empty() {
            blocks.push(paragraph(after));
        }
        sections.push(Section { heading: (*heading).to_owned(), blocks });
    }
    let text = "The whole report of the audit".to_owned();
    sections[2].blocks.push(Block::Link { to: "audit.html".to_owned(), text });
    sections[3].blocks.extend([
        figure(drawn("compare")?, "What was earned beyond a random choice, visitor by visitor."),
        paragraph(
            "How does it know what to rely on? At first it shows sunscreen, as the log has it. Nobody buys, and reliance on \
             what the log says of sunscreen falls, while that on the other items wavers at first and comes back:",
        ),
        figure(reliance, "Reliance on the logged coefficients of the items: how much they still count, while visitors come."),
        paragraph(
            "It blames sunscreen alone, where the audit found three features of sunscreen, and the intercept. What changed is much the same for all \
             customers, so that one coefficient explains it, and the policy prefers few that moved to many.",
        ),
        figure(
            drawn("learned")?,
            "What was known of each feature in the end, in one of the 16 orders that compare plays. The picture above is of \
             the visitors as they came; in another order, reliance ends elsewhere.",
        ),
    ]);
    sections.push(Section {
        heading: "Your own logs".to_owned(),
        blocks: vec![paragraph(END), Block::Code(next(folder))],
    });
    Ok(Page { title: "truenorth: from an old log to a live decision".to_owned(), sections })
}

/// What to type next.
fn next(folder: &Path) -> String {
    let own = "Next, with your own file:\n  truenorth summarize YOUR.csv --action ITEM,PRICE --reward REWARD -o logs.tn\n";
    if cfg!(not(feature = "serve")) {
        return own.to_owned();
    }
    let folder = quoted(&folder.display().to_string());
    format!(
        "{own}or the shop with a service and a page that moves:\n  truenorth demo --live --out {folder}\n"
    )
}

/// Breaks long lines at 96 characters; tables are shorter.
pub(crate) fn wrapped(text: &str) -> String {
    let whole_words = Options::new(96).word_splitter(WordSplitter::NoHyphenation);
    fill(text.trim_end(), whole_words) + "\n"
}
