//! Plays figures: on all cores, with a progress bar, resumable.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use truenorth_sim::{Figure, FigureResult, Job, Panel, Results, RunOutcome, Shares, play, summarise};

use crate::failure::Failure;
use crate::journal::Journal;
use crate::output::make_folder;

/// Set by Ctrl-C: runs under way are finished and kept, no new ones start.
pub(crate) static STOP: AtomicBool = AtomicBool::new(false);

/// What was played: the results, and what the results file has no place for.
pub(crate) struct Played {
    pub(crate) results: Results,
    /// For each figure, panel and policy: who decided, over all runs.
    pub(crate) shares: Vec<Vec<Vec<Shares>>>,
    /// For each figure, panel and policy: regret and bound of each run.
    pub(crate) bounds: Vec<Vec<Vec<Vec<RunBound>>>>,
    journal: Option<Journal>,
}

/// Regret of one run, and the bound on it.
#[derive(Debug, Clone)]
pub(crate) struct RunBound {
    pub(crate) regret: f64,
    pub(crate) bound: Option<truenorth_sim::BoundCheck>,
}

impl Played {
    /// To be called when everything is written: forgets the finished runs.
    pub(crate) fn complete(self) -> Result<(), Failure> {
        self.journal.map_or(Ok(()), Journal::remove)
    }
}

/// Plays all runs of all figures. With a folder, finished runs are kept there until the results are
/// complete, and a second call goes on from them.
pub(crate) fn play_figures(
    figures: &[Figure],
    folder: Option<&Path>,
    threads: usize,
) -> Result<Played, Failure> {
    let panels: Vec<Panel> = figures.iter().flat_map(|figure| figure.panels.clone()).collect();
    for panel in &panels {
        panel.check()?;
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(Failure::threads)?;
    let (journal, mut outcomes) = match folder {
        None => (None, HashMap::new()),
        Some(folder) => {
            make_folder(folder)?;
            let version = env!("CARGO_PKG_VERSION");
            let (journal, outcomes) = Journal::open(folder, &format!("{version} {panels:?}"))?;
            if !outcomes.is_empty() {
                eprintln!(
                    "{} finished runs found in {}; going on from there",
                    outcomes.len(),
                    folder.display()
                );
            }
            (Some(journal), outcomes)
        }
    };
    let all = panels.iter().enumerate().flat_map(|(panel, p)| (0..p.runs).map(move |run| Job { panel, run }));
    let all: Vec<Job> = all.collect();
    let left: Vec<Job> = all.iter().copied().filter(|job| !outcomes.contains_key(job)).collect();

    catch_interrupts();
    let progress = progress_bar(all.len(), outcomes.len());
    let finished = |job: Job, outcome: &RunOutcome| {
        progress.inc(1);
        journal.as_ref().map_or(Ok(()), |journal| journal.keep(job, outcome))
    };
    let played = pool.install(|| play::<Failure>(&panels, &left, &STOP, finished));
    progress.finish_and_clear();
    outcomes.extend(played?);
    if outcomes.len() < all.len() {
        let folder = folder.map(Path::to_path_buf);
        return Err(Failure::Interrupted { finished: outcomes.len(), total: all.len(), folder });
    }
    Ok(collect(figures, &outcomes, journal))
}

/// Sorts the outcomes back into figures and panels, runs in their order: sums do not depend on who
/// finished first.
fn collect(figures: &[Figure], outcomes: &HashMap<Job, RunOutcome>, journal: Option<Journal>) -> Played {
    let mut played =
        Played { results: Results { figures: Vec::new() }, shares: Vec::new(), bounds: Vec::new(), journal };
    let mut index = 0;
    for figure in figures {
        let (mut panels, mut shares, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
        for panel in &figure.panels {
            let runs: Vec<&RunOutcome> =
                (0..panel.runs).map(|run| &outcomes[&Job { panel: index, run }]).collect();
            panels.push(summarise(panel, &runs));
            let policies = 0..panel.policies.len();
            shares.push(policies.clone().map(|policy| total_shares(&runs, policy)).collect());
            let bound = |policy: usize| {
                runs.iter()
                    .map(move |run| &run.policies[policy])
                    .map(|outcome| RunBound { regret: outcome.regret.total(), bound: outcome.bound.clone() })
            };
            bounds.push(policies.map(|policy| bound(policy).collect()).collect());
            index += 1;
        }
        played.results.figures.push(FigureResult { name: figure.name.clone(), panels });
        played.shares.push(shares);
        played.bounds.push(bounds);
    }
    played
}

fn total_shares(runs: &[&RunOutcome], policy: usize) -> Shares {
    let mut total = runs[0].policies[policy].shares.clone();
    for run in &runs[1..] {
        total.add(&run.policies[policy].shares);
    }
    total
}

/// From here on Ctrl-C lets what is under way finish; a second one ends the program at once.
pub(crate) fn catch_interrupts() {
    // A second handler cannot be set; commands that play twice share the first.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
        eprintln!("\nfinishing the runs under way; Ctrl-C again quits at once");
    });
}

/// Shown on a terminal only: indicatif hides it in a pipe.
pub(crate) fn progress_bar(total: usize, done: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {pos} of {len} runs, {eta} left");
    let bar = ProgressBar::new(total as u64).with_position(done as u64);
    bar.reset_eta();
    bar.enable_steady_tick(Duration::from_millis(500));
    style.map_or(bar.clone(), |style| bar.with_style(style))
}
